// In the lab of the site: a notice where Python cannot be loaded, and one where a learner's saved copy of a notebook was
// made from an older edition of it than the site's. JupyterLab cuts its own notifications at 140 letters.
const here = new URL(".", document.currentScript.src);
const PATIENCE = 30_000; // milliseconds until the address that Python comes from must have answered
const CORNER = "position: fixed; right: 8px; bottom: 32px; z-index: 1000; max-width: min(480px, calc(100vw - 16px));";
const CARD = `margin-top: 8px; padding: 12px 16px; font: 14px/1.5 var(--jp-ui-font-family, sans-serif); color: var(--jp-ui-font-color1, #212121);
  background: var(--jp-layout-color1, #fff); border: 1px solid var(--jp-border-color0, #757575);
  border-left: 6px solid var(--jp-warn-color0, #e65100); overflow-wrap: anywhere;`;
const BUTTON = "margin: 8px 8px 0 0; padding: 6px 12px; font: inherit; cursor: pointer;";

const corner = Object.assign(document.createElement("div"), { style: CORNER });

// Shows sentences that stay until a button is pressed; `name` is what the first button says, and `act` what it does.
function notice(sentences, name, act) {
  const card = Object.assign(document.createElement("section"), { className: "lite-notice", style: CARD });
  card.setAttribute("role", "alert");
  for (const sentence of sentences) {
    card.append(Object.assign(document.createElement("p"), { textContent: sentence, style: "margin: 0 0 4px" }));
  }
  for (const [label, press] of [[name, act], ["Close", () => {}]]) {
    const button = Object.assign(document.createElement("button"), { textContent: label, style: BUTTON });
    button.onclick = async () => {
      await press();
      card.remove();
    };
    card.append(button);
  }
  corner.append(card);
  document.body.append(corner);
}

// Python: asked for as the kernel asks for it, so that what the browser keeps of it counts.
async function lookForPython() {
  const { pyodide } = await (await fetch(new URL("live.json", here))).json();
  const address = new URL(pyodide, here);
  const { ok } = await fetch(new URL("pyodide.mjs", address), { cache: "force-cache", signal: AbortSignal.timeout(PATIENCE) }).catch(() => ({}));
  if (ok) return;
  const sentences = [
    `Python could not be loaded from ${address}, so no cell can run. You can still read and write; what you save is kept.`,
    "Are you online? If you are, a firewall may block this address: ask your teacher for a site that carries Python itself (make lite PYODIDE=folder), or download the course and open it with make lab.",
  ];
  notice(sentences, "Try again", () => location.reload());
}

// Editions: a notebook carries the name of the edition that it was made from, and so does a learner's copy of it.
function compare({ content, context }, editions) {
  const { path } = context;
  const today = path.replace(/^(exercises\/([^/]+)\/\2)\.ipynb$/, "$1_exercises.ipynb"); // the name of exercises before
  if (!editions[today] || content.model.getMetadata("minigrad")?.edition === editions[today]) return;
  const [folder, file] = [path.slice(0, path.lastIndexOf("/")), path.split("/").at(-1)];
  const { commands, serviceManager } = window.jupyterapp;
  const sentences = [
    `Your copy of ${file} was made from an older edition of it than this site has.`,
    `To get the new one and lose nothing: your copy, with all that you wrote, becomes “${file.replace(".ipynb", " (mine).ipynb")}” in the same folder, and the new one opens.`,
  ];
  notice(sentences, "Keep mine and open the new one", async () => {
    const taken = (await serviceManager.contents.get(folder, { content: true })).content.map(({ name }) => name);
    const mine = (number) => file.replace(".ipynb", number > 1 ? ` (mine ${number}).ipynb` : " (mine).ipynb");
    let number = 1;
    while (taken.includes(mine(number))) number++;
    await context.save();
    await context.rename(mine(number));
    await fetch(new URL(`files/${today}`, here), { cache: "reload" }); // past what the browser keeps of it
    await commands.execute("docmanager:open", { path: today });
  });
}

async function lookAtEditions() {
  const editions = await (await fetch(new URL("editions.json", here), { cache: "no-cache" })).json();
  const seen = new WeakSet();
  setInterval(() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    if (!panel?.context?.isReady || !panel.content?.model?.getMetadata || seen.has(panel)) return;
    seen.add(panel);
    compare(panel, editions);
  }, 500);
}

lookForPython();
lookAtEditions();
