// Python in a thread of its own, for the cells of a page. The page sends {load}, then {run} for one cell at a time;
// what a cell shows comes back as it appears, and {kind: "done"} at its end. To end a run, the page ends this thread.

const HERE = import.meta.url;
const CORE = ["numpy"]; // what every page needs; the other packages draw
let pyodide, cells, facts, drawing;
let from; // the address that Python comes from, until it is loaded
let bytes = 0;

// Whatever Pyodide fetches is counted on its way.
const fetchIt = self.fetch.bind(self);
self.fetch = async (...request) => {
  const response = await fetchIt(...request);
  if (!response.ok || !response.body) return response;
  const count = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      self.postMessage({ kind: "loading", bytes });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(count), { status, statusText, headers });
};

async function load({ site, kept, draws }) {
  from = site;
  facts = await (await fetchIt(new URL("live.json", site))).json();
  const source = fetchIt(new URL("cells.py", HERE)).then((answer) => answer.text());
  const core = new URL(facts.pyodide, site);
  from = core.href;
  self.postMessage({ kind: "expecting", bytes: facts.bytes });
  const { loadPyodide } = await import(new URL("pyodide.mjs", core));
  pyodide = await loadPyodide({ indexURL: core.href, packages: draws ? facts.packages : CORE });
  await install([new URL(facts.wheel, site).href]);
  if (draws) drawing = Promise.resolve();
  await pyodide.runPythonAsync(await source, { globals: (cells = pyodide.toPy({ __name__: "cells" })) });
  cells.set("tell", (message) => self.postMessage(JSON.parse(message)));
  cells.get("keep")(kept);
  from = null;
}

const install = (packages) => pyodide.loadPackage(packages, { messageCallback: () => {} });

async function run({ source, number, draws }) {
  if (draws) await (drawing ??= install(facts.packages));
  const well = await cells.get("run")(source, number);
  self.postMessage({ kind: "done", well, kept: cells.get("kept")() });
}

self.onmessage = async ({ data }) => {
  try {
    if (data.load) {
      await load(data.load);
      self.postMessage({ kind: "ready" });
    } else await run(data.run);
  } catch (error) {
    self.postMessage({ kind: "lost", why: String(error?.message ?? error), from });
  }
};
