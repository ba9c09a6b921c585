// Changes and runs cells of the book's pages in Chromium, as a reader would: node live.mjs CHROMIUM SITE
//
// SITE is the address of a book with the lab beside it. Prints one line of JSON; what must be in it, test_live.py says.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, site] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
context.setDefaultTimeout(120_000); // what else the machine does can only add to it
const found = { problems: [] };
process.on("uncaughtExceptionMonitor", () => console.error(JSON.stringify(found))); // how far it came
const asked = [];
context.on("request", (request) => {
  asked.push(request.url());
  if (!request.url().startsWith(site) && !/^(data|blob):/.test(request.url())) found.problems.push(`asked ${request.url()}`);
});
context.on("response", (response) => response.status() >= 400 && found.problems.push(`lost ${response.url()}`));
context.on("weberror", (error) => found.problems.push(String(error.error())));

// Keeps all that a status says, however briefly.
function listen() {
  window.said = [];
  new MutationObserver((changes) => changes.forEach(({ target }) => {
    if (target.role === "status") window.said.push(target.textContent);
  })).observe(document.body, { childList: true, subtree: true });
}

// Opens a page, and returns what a test does with its cells: each is named by a part of its code.
async function opened(name) {
  const page = await context.newPage();
  await page.goto(`${site}/${name}`);
  const answers = page.locator("input.show-answers"); // what answers a guess is changed and run, too
  if (await answers.count()) await answers.check();
  await page.evaluate(listen);
  const codes = await page.locator("div.cell").evaluateAll((all) => all.map((one) => one.querySelector(".cell_input").textContent));
  const cell = (part) => page.locator("div.cell").nth(codes.findIndex((code) => code.includes(part)));
  const idle = async (one) => {
    await one.locator(".live-run:not([aria-disabled])").waitFor();
    return one.locator("[role=status]").innerText();
  };
  const shown = (one) => one.locator(".live-output").innerText();
  const open = async (one) => {
    await one.locator(".live-open").focus();
    await page.keyboard.press("Enter");
  };
  return { page, cell, idle, shown, open };
}

// Python's address is blocked.
{
  await context.route("**/pyodide.mjs", (route) => route.abort());
  const { page, cell, idle, open } = await opened("notebooks/01_slope.html");
  const first = cell("def savings(rate)");
  await open(first);
  await page.keyboard.press("Shift+Enter");
  found.blocked = await idle(first);
  await page.close();
  await context.unroute("**/pyodide.mjs");
  asked.length = 0;
}

// Chapter 01: nothing is fetched before somebody asks; a change; an error; what stood there; a figure; a stop.
{
  const { page, cell, idle, shown, open } = await opened("notebooks/01_slope.html");
  const ofPython = () => asked.filter((address) => /\/lite\/|pyodide|worker|\.whl/.test(address));
  const first = cell("def savings(rate)");
  const second = cell("def per_percent");
  const stored = await second.locator(".cell_output").innerText();
  await open(second);
  const editor = second.locator("textarea");
  await editor.fill((await editor.inputValue()).replace("0.1, 0.01, 0.001, 0.0001", "0.5"));
  found.before = ofPython();
  const seconds = async (end) => {
    const begun = Date.now();
    await page.keyboard.press("Shift+Enter");
    await end();
    return (Date.now() - begun) / 1000;
  };
  found.cold = await seconds(() => first.locator(".live-output").waitFor()); // the first cell above shows something
  found.end = await idle(second);
  await editor.focus();
  found.warm = await seconds(() => idle(second));
  found.said = await page.evaluate(() => window.said);
  found.changed = await shown(second);
  found.firstRan = await shown(first);
  found.after = ofPython().length;

  await open(first);
  await first.locator("textarea").fill("1 / 0");
  await page.keyboard.press("Control+Enter");
  await idle(first);
  found.error = await shown(first);
  await second.locator(".live-run").click();
  found.stopsAt = await idle(second);
  await page.reload();
  found.kept = [await first.locator("textarea").inputValue(), await second.locator("textarea").inputValue()];
  await first.getByRole("button", { name: "Reset", exact: true }).click();
  await second.getByRole("button", { name: "Reset", exact: true }).click();
  found.reset = [await second.locator("pre").first().innerText(), (await second.locator(".cell_output").innerText()) === stored];
  found.focus = await page.evaluate(() => document.activeElement.className);

  // Two changed cells, and one that ran above them, are put back at once.
  for (const one of [first, second]) {
    await open(one);
    const editor = one.locator("textarea");
    await editor.fill(`print(6 * 7)\n${await editor.inputValue()}`);
  }
  await page.keyboard.press("Shift+Enter");
  await idle(second);
  found.both = [await shown(first), await shown(second)].map((text) => text.split("\n")[0]);
  await second.getByRole("button", { name: "Reset all cells" }).click();
  found.resetAll = [await page.locator(".live-output, .live-editor").count(), (await second.locator(".cell_output").innerText()) === stored,
    await page.evaluate(() => document.activeElement.closest(".cell").textContent.includes("per_percent"))];

  // Keys alone: the code is entered, indented and left.
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("for h in (1, 2):\nprint(h * savings(0.0))");
  found.typed = await editor.inputValue();
  await page.keyboard.press("Escape");
  found.left = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await idle(second);
  found.byKeys = await shown(second);
  await page.keyboard.press("Tab");
  found.next = await page.evaluate(() => document.activeElement.textContent);

  const figure = cell("slopes.savings_secant");
  await open(figure);
  await figure.locator("textarea").fill("slopes.savings_secant(savings, rate=3, h=2)");
  await page.keyboard.press("Shift+Enter");
  await idle(figure);
  found.figure = await figure.locator("figcaption").innerText();
  found.drawn = await figure.locator("[data-interactive]").count();

  await figure.locator("textarea").fill("while True: pass");
  await page.keyboard.press("Shift+Enter");
  await figure.locator("[role=status]", { hasText: "Running" }).waitFor();
  await figure.getByRole("button", { name: "Stop" }).click();
  found.stopped = await idle(figure);

  await page.evaluate(axe);
  found.barriers = {};
  for (const [colorScheme, width] of [["light", 1280], ["dark", 360]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(500);
    const { violations } = await page.evaluate(() => window.axe.run("article", { preload: false, resultTypes: ["violations"] }));
    found.barriers[colorScheme] = violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
  }
  found.width = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.emulateMedia({ media: "print" });
  const controls = page.locator(".live-open, .live-bar, .live-editor, .live-mark, .live-lab");
  found.printed = await controls.evaluateAll((all) => all.filter((one) => one.checkVisibility()).length);
  await page.close();
}

// Chapter 04's exercises: a wrong answer, a right one, without the exercises above.
{
  const { page, cell, idle, shown, open } = await opened("exercises/04_closures/04_closures_exercises.html");
  const answer = cell("def reduce_mean");
  const check = cell("04_closures.reduce_mean");
  await open(answer);
  const write = (back) => answer.locator("textarea").fill(
    `def reduce_mean(X):\n    steps = X.shape[1]\n    return X.mean(axis=1), lambda dY: ${back}`);
  const spread = "np.repeat(dY[:, None, :], steps, axis=1)";
  await write(spread);
  await open(check);
  await page.keyboard.press("Shift+Enter");
  await idle(check);
  found.wrong = await shown(check);
  await write(`${spread} / steps`);
  await check.locator(".live-run").click();
  await idle(check);
  found.right = await shown(check);
  found.passedOver = await cell("04_closures.three_calls").locator(".live-output").count();
  await page.close();
}

// A finger on a phone opens a cell and runs it; a cell that takes long says so first.
{
  const phone = await browser.newContext({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true, colorScheme: "dark" });
  phone.setDefaultTimeout(120_000);
  const page = await phone.newPage();
  await page.goto(`${site}/notebooks/01_slope.html`);
  const first = page.locator("div.cell").first();
  await first.locator(".live-open").tap();
  await first.locator("textarea").fill("print(6 * 7)");
  await first.evaluate((cell) => cell.classList.add("tag_slow"));
  await page.evaluate(listen);
  await first.locator(".live-run").tap();
  await first.locator(".live-output").waitFor();
  found.warned = (await page.evaluate(() => window.said)).some((words) => words.includes("This takes long"));
  found.byTouch = (await first.locator(".live-output").innerText()).split("\n")[0];
  found.phone = await page.evaluate(() => document.documentElement.scrollWidth);
  await phone.close();
}

// A heading leads to the lab, which opens at it.
{
  const { page } = await opened("notebooks/01_slope.html");
  await page.getByRole("link", { name: "Run from “Downhill” in the browser lab" }).click();
  const heading = page.locator(".jp-Notebook h2", { hasText: "Downhill" });
  await heading.waitFor({ state: "attached" });
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.content.activeCellIndex > 0);
  const inView = (one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top > 0 && bottom < 900;
  };
  found.inTheLab = await page.waitForFunction(inView, await heading.elementHandle()).then(() => true, () => false);
}
await browser.close();
console.log(JSON.stringify(found));
