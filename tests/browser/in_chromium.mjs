// Runs notebooks of the site in Chromium, as a learner would: node in_chromium.mjs CHROMIUM SITE VISITS [PICTURES]
//
// SITE is the address of the site, and PICTURES a folder for screenshots. VISITS is JSON, a list of
// {notebook: a path in the site, write: {a part of a cell: what the cell shall be}, slide: whether to move the first
// slider, beside: another notebook that is opened in the same window, app, width}. The first visit meets a browser that has seen nothing before; those after it find what the
// earlier have left. Prints a line of JSON for each visit.

import { chromium } from "playwright-core";

const [executablePath, site, visits, pictures] = process.argv.slice(2);
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const context = await browser.newContext();
const foreign = [], lost = [];
context.on("request", (request) => {
  if (!request.url().startsWith(site) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
});
context.on("response", (response) => {
  if (response.status() >= 400 && !response.url().endsWith("/favicon.ico")) lost.push(`${response.status()} ${response.url()}`);
});

// In the page: runs every cell of a notebook that is being opened, and returns the cells.
async function runAll([notebook, write]) {
  const app = window.jupyterapp;
  const there = () => app.shell.currentWidget?.context?.path === notebook && app.shell.currentWidget.context.isReady;
  while (!there()) await new Promise((go) => setTimeout(go, 50));
  const { content, context } = app.shell.currentWidget;
  await context.sessionContext.ready;
  for (const [place, cell] of content.widgets.entries()) {
    if (cell.model.type !== "code") continue;
    for (const [part, source] of Object.entries(write)) {
      if (cell.model.sharedModel.getSource().includes(part)) cell.model.sharedModel.setSource(source);
    }
    content.activeCellIndex = place;
    await app.commands.execute("notebook:run-cell"); // one by one: "run all" ends where a cell raises on purpose
    const raised = cell.model.toJSON().outputs.some((output) => output.output_type === "error");
    if (raised && !(cell.model.getMetadata("tags") ?? []).includes("raises-exception")) break;
  }
  return content.model.toJSON().cells;
}

// In the page: opens another notebook beside the one that ran, whose kernel has been told a name; returns of each the
// title of its tab, and whether its kernel knows the name.
async function open([path]) {
  const { commands, shell } = window.jupyterapp;
  const run = (panel, code) => panel.context.sessionContext.session.kernel.requestExecute({ code }).done;
  const first = shell.currentWidget;
  await run(first, "told = True");
  const second = await commands.execute("docmanager:open", { path });
  await second.context.ready;
  await second.context.sessionContext.ready;
  const both = [];
  for (const panel of [first, second]) both.push([panel.title.label, (await run(panel, "told")).content.status]);
  return both;
}

// Moves the first slider by one stop with the keyboard, and tells whether its picture changed.
async function slide(page) {
  const widget = page.locator("[class^=explore-]").first();
  await widget.scrollIntoViewIfNeeded();
  const picture = widget.locator("img").first();
  const before = await picture.getAttribute("src");
  await widget.locator("input").first().focus();
  await page.keyboard.press("ArrowRight");
  for (let wait = 0; wait < 600 && (await picture.getAttribute("src")) === before; wait++) await page.waitForTimeout(100);
  return (await picture.getAttribute("src")) !== before;
}

for (const { notebook, write = {}, slide: toSlide = false, beside, app = "lab", width = 1280 } of JSON.parse(visits)) {
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 900 });
  const began = performance.now();
  const since = () => (performance.now() - began) / 1000;
  await page.goto(`${site}/${app}/index.html?path=${notebook}`);
  await page.locator(".jp-NotebookPanel .jp-Cell").first().waitFor({ timeout: 300_000 });
  const shown = since();
  const first = page.locator(".jp-OutputArea-output:visible").first().waitFor({ timeout: 600_000 }).then(since, () => null);
  const cells = await page.evaluate(runAll, [notebook, write]);
  const [firstOutput, ended] = [await first, since()];
  const slid = toSlide ? await slide(page) : null;
  const both = beside ? await page.evaluate(open, [beside]) : null;
  if (pictures) await page.screenshot({ path: `${pictures}/${notebook.replaceAll("/", "_")}_${app}_${width}.png` });
  await page.evaluate(() => window.jupyterapp.commands.execute("docmanager:save"));
  console.log(JSON.stringify({ notebook, shown, firstOutput, ended, slid, both, foreign, lost, cells }));
  await page.close();
}
await browser.close();
