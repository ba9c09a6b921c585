// Runs the chain on cases from the standard input, and prints what it found.
import { readFileSync } from "node:fs";
import { fromLink, nudged, run, toLink } from "../../book/_static/interactives/chain.js";

const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = cases.map(({ names, x, memory }) => {
  const { steps, Y, dX } = run(names, x, memory);
  const link = fromLink(toLink({ names, x, memory, step: 1 }));
  return { Y, dX, nudged: nudged(names, x), steps: steps.length, link };
});
process.stdout.write(JSON.stringify(answers));
