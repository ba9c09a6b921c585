// Looks at what the lab says is wrong: node notices.mjs CHROMIUM SITE [PICTURES]
//
// SITE is the address of the site, and PICTURES a folder for screenshots. Prints one line of JSON; what must be in it,
// test_site.py says.

import { chromium } from "playwright-core";

const [executablePath, site, pictures] = process.argv.slice(2);
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const NOTEBOOK = "notebooks/00_start.ipynb";
const BEFORE = "exercises/00_start/00_start.ipynb"; // the name that its exercises had
const found = {};

const ready = (page, path) =>
  page.waitForFunction((path) => {
    const context = window.jupyterapp?.shell.currentWidget?.context;
    return context?.path === path && context.isReady;
  }, path);

async function opened(context, notebook) {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${site}/lab/index.html?path=${notebook}`);
  await ready(page, notebook);
  return page;
}

const notices = async (page) => {
  await page.waitForTimeout(3000); // the page looks twice a second
  return page.locator(".lite-notice").allInnerTexts();
};
const first = (page) => page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.getSource());
const source = (page, path) =>
  page.evaluate(async (path) => (await window.jupyterapp.serviceManager.contents.get(path, { content: true })).content.cells[0].source, path);

async function pictured(page, name) {
  if (!pictures) return;
  for (const [width, theme] of [[1280, "Light"], [390, "Light"], [1280, "Dark"], [390, "Dark"]]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme.toLowerCase() });
    await page.waitForTimeout(2000);
    await page.screenshot({ path: `${pictures}/${name}_${width}_${theme}.png` });
  }
}

// Python's address is blocked.
{
  const context = await browser.newContext();
  await context.route("**/pyodide.mjs", (route) => route.abort());
  const page = await opened(context, NOTEBOOK);
  await page.locator(".lite-notice").waitFor();
  found.blocked = await notices(page);
  await pictured(page, "blocked");
  await context.close();
}

// A learner writes and saves; then the site has a new edition; then a name of today for old exercises.
{
  const context = await browser.newContext({ serviceWorkers: "block" }); // they would pass the new edition by
  const written = await opened(context, NOTEBOOK);
  await written.evaluate(async (before) => {
    const { shell, serviceManager } = window.jupyterapp;
    const { content, context } = shell.currentWidget;
    content.widgets[0].model.sharedModel.setSource("mine");
    await context.save();
    const { content: notebook } = await serviceManager.contents.get(context.path, { content: true });
    await serviceManager.contents.save(before, { type: "notebook", format: "json", content: notebook });
  }, BEFORE);
  found.same = await notices(written);
  await written.close();

  await context.route("**/editions.json", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), [NOTEBOOK]: "new" } });
  });
  await context.route(`**/files/${NOTEBOOK}`, async (route) => {
    const response = await route.fetch();
    const notebook = await response.json();
    notebook.cells[0].source = "the new edition";
    notebook.metadata.minigrad.edition = "new";
    await route.fulfill({ response, json: notebook });
  });
  const old = await opened(context, NOTEBOOK);
  await old.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.setSource("mine, not saved"));
  found.older = await notices(old);
  await pictured(old, "older");
  await old.getByRole("button", { name: "Keep mine" }).click();
  await old.locator(".lite-notice").waitFor({ state: "detached" });
  await ready(old, NOTEBOOK);
  found.now = [await first(old), await source(old, "notebooks/00_start (mine).ipynb"), await notices(old)];
  await old.close();

  const later = await opened(context, NOTEBOOK);
  found.later = [await first(later), await notices(later)];
  await later.close();

  const renamed = await opened(context, BEFORE);
  await renamed.getByRole("button", { name: "Keep mine" }).click();
  await ready(renamed, BEFORE.replace(".ipynb", "_exercises.ipynb"));
  found.renamed = await source(renamed, "exercises/00_start/00_start (mine).ipynb");
}
console.log(JSON.stringify(found));
await browser.close();
