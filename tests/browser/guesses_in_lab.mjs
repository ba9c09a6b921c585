// Guesses in chapter 04 in JupyterLab in Chromium: node guesses_in_lab.mjs CHROMIUM LAB [PICTURES]
//
// LAB is the address of a running JupyterLab, without a slash at its end, with 04_closures.ipynb. PICTURES is a folder for
// screenshots. Prints one line of JSON; what must be in it, test_lab.py says.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, lab, pictures] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.setDefaultTimeout(120_000);
const found = { problems: [], barriers: {} };
process.on("uncaughtExceptionMonitor", () => console.error(JSON.stringify(found))); // how far it came
page.on("pageerror", (error) => found.problems.push(String(error)));
const [ASK, TEXT, LINE, TWO, FOUR, STEPS] = ["guesses-04", "a620fa7c-1", "337ffdd6-1", "c3ea0cf3-1", "ddc6ecbb-1", "0434f4c7-1"];

async function open() {
  await page.goto(`${lab}/lab?reset`);
  await page.waitForFunction(() => window.jupyterapp);
  await page.evaluate(async () => {
    const { commands, restored } = window.jupyterapp;
    await restored;
    const panel = await commands.execute("docmanager:open", { path: "04_closures.ipynb" });
    await panel.context.ready;
    await panel.context.sessionContext.ready;
  });
}

const run = () => page.evaluate(async (id) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = content.widgets.findIndex((cell) => cell.model.id === id);
  await window.jupyterapp.commands.execute("notebook:run-cell");
}, ASK);

// Scrolls to the cell of a guess, which may not have been drawn before, and returns its host.
async function guess(id) {
  await page.evaluate(async (id) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    await content.scrollToItem(content.widgets.findIndex((cell) => cell.model.id === id), "center");
  }, id);
  const host = page.locator(`.guess-${id}`);
  await host.locator(".guess-box").waitFor();
  return host;
}

const shows = () => page.evaluate(() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return [content.mode, content.activeCell.model.id, content.widgets.map(({ model }) => `${model.type} ${model.sharedModel.getSource()}`)];
});
const rendered = () => page.evaluate(() => window.jupyterapp.shell.currentWidget.content.activeCell.rendered);
const save = () => page.evaluate(() => window.jupyterapp.shell.currentWidget.context.save());

await open();
await run();

let host = await guess(TEXT);
let input = host.locator("input");
await input.click();
found.before = await shows();
await page.keyboard.type("add a bmx map, zoo"); // each letter means something to a cell
found.typed = await input.inputValue();
found.after = await shows();
await page.keyboard.press("Enter");
found.entered = await host.locator("li").allInnerTexts();

host = await guess(LINE);
await host.locator("input").first().focus();
await page.keyboard.press("Space");
const [, active] = await shows();
await page.keyboard.press("ArrowDown");
found.arrows = [await host.locator("input:checked").getAttribute("value"), (await shows())[1] === active, active === LINE];

host = await guess(FOUR);
await host.locator("input").first().dblclick();
await host.locator(".guess-label").first().dblclick();
found.clicked = [await host.locator("input").count(), await rendered()];

host = await guess(TWO);
await host.locator("input").first().fill("12");
await host.locator("input").last().fill("10");
await host.getByRole("button", { name: "Compare" }).click();
found.compared = await host.locator("li").allInnerTexts();
found.fold = await page.locator("details.answer", { hasText: "They return 6 and 10" }).getAttribute("open").then((open) => open !== null);

await page.evaluate(axe);
for (const theme of ["Light", "Dark"]) {
  await page.evaluate((name) => window.jupyterapp.commands.execute("apputils:change-theme", { theme: name }), `JupyterLab ${theme}`);
  await page.locator(`body[data-jp-theme-light="${theme === "Light"}"]`).waitFor({ state: "attached" });
  found.barriers[theme] = [];
  for (const id of [TWO, FOUR]) {
    await guess(id);
    const { violations } = await page.evaluate((id) => window.axe.run(`.guess-${id}`), id);
    found.barriers[theme].push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`)));
    if (pictures) await page.screenshot({ path: `${pictures}/lab_${id}_${theme}.png` });
  }
}

// The page is opened again, while the kernel runs: a guess more does not lose those before.
await save();
await open();
found["opened again"] = await (await guess(TWO)).locator("li").allInnerTexts();
host = await guess(STEPS);
await host.getByText("less than one percent").first().click();
await host.getByText("more than the whole entry").last().click();
await host.getByRole("button", { name: "Compare" }).click();
await run();
found["run again"] = await (await guess(TWO)).locator("li").allInnerTexts();

await save();
await page.evaluate(() => window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown());
await open();
await page.locator("[data-guesses-of]").waitFor({ state: "attached" }); // its script has run
await page.waitForTimeout(2000);
found["without a kernel"] = await page.locator(".guess-box").count();
await browser.close();
console.log(JSON.stringify(found));
