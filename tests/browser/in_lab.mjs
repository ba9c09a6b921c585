// Opens notebooks in JupyterLab in Chromium, one visit after the other: node in_lab.mjs CHROMIUM LAB VISITS
//
// LAB is the address of a running JupyterLab, without a slash at its end. VISITS is JSON, a list of {notebook: a path in
// the lab, run: whether to run all its cells}. Each visit, in a page of its own, moves every slider by one stop, saves the
// notebook and ends its kernel. Prints a line of JSON for each: what every cell of code showed, and which sliders moved.

import { chromium } from "playwright-core";

const [executablePath, lab, visits] = process.argv.slice(2);
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });

async function moved(page, cell, slider) {
  const picture = cell.locator("img").first();
  const before = await picture.getAttribute("src");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  const changed = () => picture.getAttribute("src").then((src) => src !== before);
  for (let wait = 0; wait < 100 && !(await changed()); wait += 1) await page.waitForTimeout(100);
  return changed();
}

for (const { notebook, run } of JSON.parse(visits)) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 2400 } });
  page.setDefaultTimeout(120_000);
  await page.goto(`${lab}/lab?reset`);
  await page.waitForFunction(() => window.jupyterapp);
  await page.evaluate(async ([path, toRun]) => {
    const { commands, restored } = window.jupyterapp;
    await restored;
    const panel = await commands.execute("docmanager:open", { path });
    await panel.context.ready;
    await panel.context.sessionContext.ready;
    if (toRun) await commands.execute("notebook:run-all-cells");
  }, [notebook, run]);
  const cells = [];
  for (const cell of await page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").all()) {
    const output = cell.locator(".jp-Cell-outputArea");
    await output.locator("img").first().waitFor();
    await output.getByText("Loading widget").waitFor({ state: "hidden" });
    const sliders = await output.locator("input[type=range], .noUi-handle").all();
    const moves = [];
    for (const slider of sliders) moves.push(await moved(page, output, slider));
    const words = await output.locator(".jupyter-widgets").evaluateAll((all) => all.map((one) => [
      getComputedStyle(one).fontSize === "0px" ? "" : one.innerText, getComputedStyle(one, "::before").content,
    ]));
    const pictures = await output.locator("img").evaluateAll((all) => all.filter((one) => one.naturalWidth > 0).length);
    cells.push({ pictures, moves, words, text: await output.innerText() });
  }
  console.log(JSON.stringify(cells));
  await page.evaluate(async () => {
    const { context } = window.jupyterapp.shell.currentWidget;
    await context.save();
    await context.sessionContext.shutdown();
  });
  await page.close();
}
await browser.close();
