// The chain: values go out, closures stay behind, gradients come back. A picture that moves under the hand.
//
// `run` computes; tests compare it with minigrad. `mount` draws it into a host. A moment can be linked:
// #chain=square,square&x=3&memory=layer&step=4
import { calm, element, ground as groundIn, linkedTo, linkMoment, number } from "./parts.js";

// A layer of one number: there, its slope, and whether its backward function needs X. "times w" has a weight.
const W = 2;
export const LAYERS = {
  square: { forward: (x) => x * x, slope: (x) => 2 * x, remembers: true },
  double: { forward: (x) => 2 * x, slope: () => 2, remembers: false },
  "add 1": { forward: (x) => x + 1, slope: () => 1, remembers: false },
  sine: { forward: Math.sin, slope: Math.cos, remembers: true },
  "times w": { forward: (x) => W * x, slope: () => W, remembers: true, weight: true },
};
export const MEMORIES = { closure: "in a closure", layer: "on the layer (self.X)", cleared: "in a closure, cleared after use" };
const MOST = 4; // layers
const PAUSE = 1100; // milliseconds between two steps that play by themselves

// Go there and back through a chain, back `rounds` times, and return every step of it.
//
// memory "closure": each call keeps its own X. memory "layer": each layer keeps the X of its last call, so a
// layer that is used twice forgets its first input. memory "cleared": as in a closure, until it was used once.
// A layer of one name is one layer: "times w" in two places has one w, and both ways back add to one w.grad.
export function run(names, x, memory = "closure", rounds = 1) {
  const steps = [];
  const onLayer = {};
  let value = x;
  names.forEach((name, place) => {
    const X = value;
    value = LAYERS[name].forward(X);
    onLayer[name] = X;
    steps.push({ phase: "forward", place, name, X, Y: value });
  });
  const Y = value;
  let [gradient, grad] = [1, 0];
  for (let round = 1; round <= rounds; round += 1) {
    gradient = 1;
    for (let place = names.length - 1; place >= 0; place -= 1) {
      const name = names[place];
      if (memory === "cleared" && round > 1 && LAYERS[name].remembers) {
        steps.push({ phase: "refused", place, name });
        return { steps, Y, dX: null, grad };
      }
      const used = memory === "layer" ? onLayer[name] : steps[place].X;
      const dY = gradient;
      gradient = LAYERS[name].slope(used) * dY;
      if (LAYERS[name].weight) grad += used * dY;
      steps.push({ phase: "backward", round, place, name, used, dY, dX: gradient, grad });
    }
  }
  return { steps, Y, dX: gradient, grad };
}

// The slope that nudging finds: no closure, no memory, two runs.
export function nudged(names, x, h = 1e-5) {
  const through = (start) => names.reduce((value, name) => LAYERS[name].forward(value), start);
  return (through(x + h) - through(x - h)) / (2 * h);
}

// Say one step in a sentence.
export function sentence(step, memory) {
  const { name, place } = step;
  if (step.phase === "forward") {
    const there = `${name} takes ${number(step.X)} and returns ${number(step.Y)}`;
    if (!LAYERS[name].remembers) return `${there}. Its backward function needs no memory.`;
    return memory === "layer"
      ? `${there}, and writes self.X = ${number(step.X)} on the layer.`
      : `${there}, and leaves a function behind that remembers ${number(step.X)}.`;
  }
  if (step.phase === "refused") {
    return `Back again to place ${place + 1}: ${name} finds its closure empty. It was cleared after the first backward `
      + "pass, to free its memory early. Go forward again first.";
  }
  const again = step.round > 1 ? "Back again" : "Back";
  const reads = LAYERS[name].remembers ? `, finds X = ${number(step.used)},` : "";
  const adds = LAYERS[name].weight
    ? ` It adds X · dY = ${number(step.used * step.dY)} to w.grad, which is now ${number(step.grad)}.` : "";
  return `${again} through place ${place + 1}: ${name} is given dY = ${number(step.dY)}${reads} and returns ${number(step.dX)}.${adds}`;
}

const STYLE = `
.ground { container-type: inline-size; }
.row { display: flex; align-items: stretch; gap: .4rem; }
.value { display: flex; flex-direction: column; justify-content: space-between; align-items: center;
  min-width: 3.6rem; padding: .3rem 0; font-variant-numeric: tabular-nums; font-size: .95rem; }
.value b { font-weight: 600; min-height: 1.4em; }
.there { color: var(--forward); } .back { color: var(--backward); }
.there:not(:empty)::after { content: " →"; } .back:not(:empty)::before { content: "← "; }
.layer { flex: 1 1 0; min-width: 6.2rem; border: 1.5px solid var(--muted); border-radius: 8px;
  padding: .45rem; display: flex; flex-direction: column; gap: .35rem; align-items: center; }
.layer.now { border-color: currentColor; box-shadow: 0 0 0 2px var(--primary); }
.memory { border: 1.5px dashed var(--forward); border-radius: 6px; padding: .2rem .4rem; font-size: .8rem;
  min-height: 3.3em; width: 100%; display: grid; place-content: center; text-align: center; opacity: 0; transition: opacity .25s; }
.memory.kept { opacity: 1; } .memory.used { border-style: solid; border-color: var(--backward); }
.memory.free { border-color: transparent; }
.weight { font-size: .8rem; font-variant-numeric: tabular-nums; }
.judgement.wrong { font-weight: 600; }
@container (min-width: 601px) {
  .many { gap: .2rem; } .many .value { min-width: 2.6rem; font-size: .8rem; }
  .many .layer { min-width: 4.8rem; padding: .3rem; } .many select { width: 100%; padding: 0; font-size: .8rem; }
}
@container (max-width: 600px) {
  .row { flex-direction: column; }
  .value { flex-direction: row; gap: 1.2rem; justify-content: center; min-width: 0; }
  .there:not(:empty)::after { content: " ↓"; } .back:not(:empty)::before { content: "↑ "; }
  .layer { flex-direction: row; } .memory { min-height: 2.6em; }
}
@media (prefers-reduced-motion: reduce) { .memory { transition: none; } }
`;

// Read what a link says: #chain=square,sine&x=2&memory=layer&step=3
export function fromLink(hash) {
  const said = linkedTo("chain", hash);
  if (!said) return null;
  const names = (said.get("chain") ?? "").split(",").filter((name) => name in LAYERS);
  if (!names.length || names.length > MOST) return null;
  const x = Number(said.get("x") ?? 3);
  const memory = said.get("memory") in MEMORIES ? said.get("memory") : "closure";
  const step = Math.max(Math.trunc(Number(said.get("step") ?? 0)) || 0, 0);
  const rounds = step > 2 * names.length ? 2 : 1; // who is further has gone back again
  return { names, x: Number.isFinite(x) ? x : 3, memory, rounds, step: Math.min(step, 3 * names.length) };
}

export function momentOf({ names, x, memory, step }) {
  return { chain: names.join(","), x, memory, step };
}

// Draw the chain into a host. A chain that waits does nothing before it is asked: its reader has a guess to make.
export function mount(host, options) {
  const { names, x, memory, waits, linked } = { names: ["square", "square"], x: 3, memory: "closure", ...options };
  const sent = linked ? fromLink(window.location.hash) : null;
  const state = sent ?? { names: [...names], x, memory, rounds: 1, step: 0 };
  if (!sent && !waits && calm()) state.step = 2 * state.names.length;
  let timer = null;

  const { root, ground } = groundIn(host, "A chain of layers, step by step", STYLE);
  const row = element("div", { class: "row" });
  const say = element("p", { class: "say", "aria-live": "polite" });
  const bar = element("div", { class: "bar" });
  ground.append(row, say, bar);

  const changed = (by) => {
    Object.assign(state, by);
    if (state.step <= 2 * state.names.length) state.rounds = 1;
    state.step = Math.min(state.step, last());
    linkMoment(momentOf(state), linked);
    draw();
  };
  const stop = () => {
    window.clearInterval(timer);
    timer = null;
  };
  const byHand = (by) => {
    stop();
    changed(by);
  };
  const last = () => run(state.names, state.x, state.memory, state.rounds).steps.length;
  const play = (remember = true) => {
    if (timer) return byHand({});
    if (state.step === last()) Object.assign(state, { step: 0, rounds: 1 });
    timer = window.setInterval(() => {
      state.step += 1;
      if (state.step >= last()) stop();
      if (remember) changed({});
      else draw();
    }, PAUSE);
    draw();
  };

  function values(place, steps) {
    const there = place === 0 ? state.x : steps.find((s) => s.phase === "forward" && s.place === place - 1)?.Y;
    const atEnd = place === state.names.length;
    const newest = steps.at(-1)?.round ?? 1; // who goes back again sees the gradients of that way only
    const backward = steps.filter((s) => s.phase === "backward" && s.round === newest);
    const back = atEnd
      ? backward.length || steps.length >= state.names.length ? 1 : undefined
      : backward.find((s) => s.place === place)?.dX;
    const spoken = [
      there === undefined ? "" : `value ${number(there)}`,
      back === undefined ? "" : `gradient ${number(back)}`,
    ].filter(Boolean).join(", ") || "nothing yet";
    return element("div", { class: "value", role: "img", "aria-label": spoken },
      element("b", { class: "there" }, there === undefined ? "" : number(there)),
      element("b", { class: "back" }, back === undefined ? "" : number(back)));
  }

  function layer(place, steps, now) {
    const name = state.names[place];
    const forward = steps.find((s) => s.phase === "forward" && s.place === place);
    const backward = steps.find((s) => s.phase === "backward" && s.place === place);
    const written = state.memory === "layer"
      ? steps.filter((s) => s.phase === "forward" && s.name === name).at(-1)?.X
      : forward?.X;
    const kept = state.memory === "layer" ? written !== undefined : Boolean(forward);
    const free = !LAYERS[name].remembers;
    const remembered = state.memory === "layer" ? "self.X" : "backward remembers X";
    const cleared = state.memory === "cleared" && backward;
    const words = free ? "nothing to remember" : cleared ? "cleared" : kept ? `${remembered} = ${number(written)}` : "";
    const grad = steps.findLast((s) => s.phase === "backward" && LAYERS[s.name].weight)?.grad ?? 0;
    const weight = LAYERS[name].weight ? [element("div", { class: "weight" }, `w = ${W}, w.grad = ${number(grad)}`)] : [];
    const choice = element("select", {
      "aria-label": `layer at place ${place + 1}`,
      onchange: (event) => byHand({ names: state.names.map((n, at) => (at === place ? event.target.value : n)), step: 0 }),
    }, ...Object.keys(LAYERS).map((one) => element("option", { value: one, selected: one === name }, one)));
    return element("div", { class: `layer${now?.place === place ? " now" : ""}` }, choice,
      element("div", { class: `memory${kept ? " kept" : ""}${backward ? " used" : ""}${free ? " free" : ""}` }, words),
      ...weight);
  }

  function button(text, action, options = {}) {
    return element("button", { type: "button", onclick: action, ...options }, text);
  }

  // The verdict at the end of a backward pass.
  function judgement(round, dX) {
    if (round > 1) {
      const weighs = state.names.some((name) => LAYERS[name].weight);
      return `The same gradient as before.${weighs ? " But w.grad now holds everything twice: a backward pass adds." : ""}`;
    }
    const truth = nudged(state.names, state.x);
    const right = Math.abs(dX - truth) <= 1e-6 * Math.max(1, Math.abs(truth));
    return element("span", { class: right ? "judgement" : "judgement wrong" }, right
      ? `Nudging the input finds the same slope, ${number(truth)}.`
      : `Nudging the input finds ${number(truth)}, so ${number(dX)} is wrong: a layer that is used twice kept only its last X.`);
  }

  function draw() {
    const focused = [...ground.querySelectorAll("select, button, input")].indexOf(root.activeElement);
    const { steps, dX } = run(state.names, state.x, state.memory, state.rounds);
    const shown = steps.slice(0, state.step);
    const now = shown.at(-1);
    row.classList.toggle("many", state.names.length === MOST);
    row.replaceChildren(values(0, shown), ...state.names.flatMap((_, place) =>
      [layer(place, shown, now), values(place + 1, shown)]));
    const done = state.step === last();
    say.replaceChildren(now ? sentence(now, state.memory) : "Nothing has happened yet. Step, and watch what stays behind.");
    if (done && now.phase === "backward") say.append(" ", judgement(now.round, dX));
    bar.replaceChildren(
      button("Step", () => byHand({ step: state.step + 1 }), { class: "main", disabled: done }),
      button("Step back", () => byHand({ step: state.step - 1 }), { disabled: state.step === 0 }),
      button("Go back once more", () => byHand({ rounds: 2, step: state.step + 1 }), { disabled: !done || state.rounds > 1, title: "call the same backward functions a second time" }),
      button(timer ? "Stop" : "Play", () => play()),
      element("label", {}, "X = ", element("input", { type: "number", step: "0.5", value: state.x, style: "width:5rem",
        onchange: (event) => byHand({ x: Number.isFinite(event.target.valueAsNumber) ? event.target.valueAsNumber : 3, step: 0 }) })),
      button("Add a layer", () => byHand({ names: [...state.names, "sine"], step: 0 }), { disabled: state.names.length === MOST }),
      button("Remove one", () => byHand({ names: state.names.slice(0, -1), step: 0 }), { disabled: state.names.length === 1 }),
      element("label", {}, "remember ", element("select", {
        "aria-label": "where a layer remembers",
        onchange: (event) => byHand({ memory: event.target.value, step: 0 }),
      }, ...Object.entries(MEMORIES).map(([value, words]) =>
        element("option", { value, selected: state.memory === value }, words)))));
    if (focused >= 0) ground.querySelectorAll("select, button, input")[focused]?.focus();
  }

  draw();
  if (!sent && !waits && !calm()) {
    const seen = new IntersectionObserver(([entry]) => {
      if (entry.isIntersecting) {
        seen.disconnect();
        if (state.step === 0 && !timer) play(false);
      }
    }, { threshold: 0.6 });
    seen.observe(host);
  }
  return { state, draw };
}
