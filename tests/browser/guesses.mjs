// Guesses in the book's pages in Chromium, by mouse, by keys and by touch: node guesses.mjs CHROMIUM SITE [PICTURES]
//
// SITE is the address of a book with the chapters 04, 07 and 13 and a page where.html that counts their guesses. PICTURES
// is a folder for screenshots. Prints one line of JSON; what must be in it, test_guesses.py says.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, site, pictures] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const found = { problems: [], barriers: [] };
process.on("uncaughtExceptionMonitor", () => console.error(JSON.stringify(found))); // how far it came
const CLOSURES = "notebooks/04_closures";
const LEARNING = "notebooks/07_learning";
const SHARING = "notebooks/13_sharing";

// A reader with a storage of their own, and what a test does with their page.
async function reader(name, options, act) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(120_000); // what else the machine does can only add to it
  context.on("request", (request) => {
    if (!request.url().startsWith(site) && !/^(data|blob):/.test(request.url())) found.problems.push(`asked ${request.url()}`);
  });
  context.on("response", (response) => response.status() >= 400 && found.problems.push(`lost ${response.url()}`));
  context.on("weberror", (error) => found.problems.push(String(error.error())));
  const page = await context.newPage();
  const box = (id) => page.locator(`.guess-${id}`);
  const on = {
    page,
    box,
    open: async (path) => {
      await page.goto(`${site}/${path}.html`, { waitUntil: "domcontentloaded" });
      await page.evaluate(() => document.querySelector("div.guess")?.scrollIntoView()); // its fields come when it comes near
      await page.locator(".guess-box, .where-you-are td").first().waitFor();
    },
    counted: () => page.locator(".guess-count").innerText(),
    input: (id, place) => box(id).locator("input").nth(place),
    press: (id, name) => box(id).getByRole("button", { name })[options.hasTouch ? "tap" : "click"](),
    lines: (id) => box(id).locator("li").allInnerTexts(),
    status: (id) => box(id).locator("[role=status]").innerText(),
    opened: () => page.locator("details.answer[open]").allInnerTexts(),
    stored: () => page.evaluate(() => JSON.parse(localStorage.getItem("minigrad.guesses") ?? "{}")),
    // Where the focus is: a box, a button's words, or the place of a field among those of its box.
    focus: () => page.evaluate(() => {
      const one = document.activeElement;
      if (one.tagName === "BUTTON") return one.textContent;
      const fields = [...(one.closest(".guess-box")?.querySelectorAll("input, select") ?? [])];
      return one.matches("input, select") ? fields.indexOf(one) : one.className;
    }),
    // What axe finds in the reader's theme.
    look: async (state, ...where) => {
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate((include) => window.axe.run({ include }), where.map((one) => [one]));
      if (!passes.some(({ id }) => id === "color-contrast")) found.problems.push(`axe saw no colours: ${name}, ${state}`);
      found.barriers.push(...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name}, ${state}: ${id}: ${html.slice(0, 120)}`)));
      if (pictures) await page.screenshot({ path: `${pictures}/${name}_${state}.png` });
    },
  };
  found[name] = {};
  await act(on, found[name]);
  await context.close();
}

const WIDE = { viewport: { width: 1280, height: 900 }, colorScheme: "light" };
const PHONE = { viewport: { width: 390, height: 800 }, colorScheme: "dark", hasTouch: true, isMobile: true };
const [TEXT, TWO, PAIR, CHOICE, BARS, MARKS] = ["a620fa7c-1", "c3ea0cf3-1", "093f7351-1", "66856cc1-1", "982acd28-1", "507c816e-1"];
const EDGES = "091eb00f-1"; // of chapter 07
const ORDER = "e706b6d4-1"; // of chapter 13

await reader("mouse", WIDE, async ({ page, box, open, counted, input, press, lines, status, opened, stored, focus, look }, seen) => {
  const fetched = [];
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname.split("/").at(-1)));
  await page.goto(`${site}/${CLOSURES}.html`, { waitUntil: "networkidle" });
  seen.early = [fetched.includes("book.js"), fetched.includes("guesses.js"), await counted()];
  seen.asks = {};
  for (const path of [SHARING, LEARNING, CLOSURES]) {
    await open(path);
    seen.asks[path] = Object.fromEntries(await page.locator("div.guess").evaluateAll((all) =>
      all.map((one) => [[...one.classList].find((word) => word.startsWith("guess-")).slice(6), one.innerText])));
  }
  seen.counted = [await counted()];
  await look("fields", ".guess-box", ".chapter-tools");

  seen.unread = [];
  for (const words of [["seven", ""], ["12", ""], ["12", "1 0"]]) {
    await input(TWO, 0).fill(words[0]);
    await input(TWO, 1).fill(words[1]);
    await press(TWO, "Compare");
    seen.unread.push([await status(TWO), await focus()]);
  }
  seen.described = await input(TWO, 1).evaluate((one) => document.getElementById(one.getAttribute("aria-describedby")).innerText);
  await look("error", ".guess-box", ".chapter-tools");
  seen.counted.push(await counted());
  await input(TWO, 1).fill("10");
  await press(TWO, "Compare");
  seen.compared = [await lines(TWO), await focus(), await status(TWO)];
  seen.opened = await opened();
  seen.counted.push(await counted());

  await input(PAIR, 0).fill("4 and 16");
  await press(PAIR, "Compare");
  await box(CHOICE).getByText("works").click();
  await press(CHOICE, "Compare");
  await box(MARKS).getByText("a queue").first().click();
  await box(MARKS).getByText("on self").last().click();
  await box(MARKS).getByText("a stack").last().click();
  await press(MARKS, "Compare");
  await input(TEXT, 0).fill("the <b>targets</b>");
  await press(TEXT, "Compare");
  seen.others = await Promise.all([PAIR, CHOICE, MARKS, TEXT].map(lines));
  seen.counted.push(await counted());

  const before = (await opened()).length;
  await press(BARS, "Show me");
  seen.shown = [await status(BARS), await focus(), (await opened()).length - before];
  seen.counted.push(await counted());
  await look("answers", ".guess-box", ".chapter-tools");

  await page.emulateMedia({ media: "print" });
  seen.printed = await page.locator(".guess-box").evaluateAll((all) => all.map((one) => [
    getComputedStyle(one, "::before").content, [...one.children].filter((child) => child.checkVisibility()).length,
  ]));
  await page.emulateMedia({ media: "screen" });

  await page.reload();
  await page.locator(".guess-box").first().waitFor();
  seen.kept = [await lines(TWO), await box(BARS).innerText(), await counted()];

  // A new edition: a label has changed, and one question has one field more.
  const edition = async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replace(/(<script [^>]*class="guesses"[^>]*>)(.*?)(<\/script>)/, (_, start, data, end) => {
      const asked = JSON.parse(data);
      const fields = (id) => asked.find((one) => one.id === id).fields;
      fields(TWO)[0].label = "From 3";
      fields(PAIR).push({ kind: "text" });
      return start + JSON.stringify(asked) + end;
    });
    await route.fulfill({ response, body: text });
  };
  await page.route(`**/${CLOSURES}.html`, edition);
  await open(CLOSURES);
  seen.edition = [await lines(TWO), await input(PAIR, 0).count()];
  await page.unroute(`**/${CLOSURES}.html`);

  await open(CLOSURES);
  await press(TWO, "Guess again");
  seen.again = [await focus(), await input(TWO, 0).inputValue()];
  await input(TWO, 0).fill("6");
  await input(TWO, 1).fill("10");
  await press(TWO, "Compare");
  seen.again.push(await status(TWO), await counted());

  await open(LEARNING);
  seen.learning = [await counted()];
  await input(EDGES, 0).fill("0.105");
  await input(EDGES, 1).fill("0,3");
  await press(EDGES, "Compare");
  seen.learning.push(await lines(EDGES), await counted());
  await open(CLOSURES);
  seen.closures = await counted();
  seen.stored = await stored();

  await open("where");
  const rows = () => page.locator(".where-you-are tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  seen.rows = await rows();
  seen.links = await page.locator(".where-you-are a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  await look("where", "article");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download my guesses" }).click();
  const file = await download;
  seen.file = [file.suggestedFilename(), JSON.parse(readFileSync(await file.path(), "utf8"))];
  const clear = async (answer) => {
    page.once("dialog", (dialog) => dialog[answer]());
    await page.getByRole("button", { name: "Clear my guesses" }).click();
    return rows();
  };
  seen.dismissed = await clear("dismiss");
  seen.cleared = [await clear("accept"), await stored(), await focus()];
  await open(CLOSURES);
  seen.cleared.push(await counted());
});

await reader("keys", WIDE, async ({ page, box, open, counted, input, lines, status, focus, stored }, seen) => {
  const keys = async (...names) => {
    for (const name of names) await page.keyboard.press(name);
  };
  await open(CLOSURES);
  await input(TWO, 0).focus();
  await page.keyboard.type("6");
  await keys("Tab");
  await page.keyboard.type("-10");
  seen.tabs = [];
  for (const key of ["Tab", "Tab", "Shift+Tab", "Enter", "Tab"]) {
    await keys(key);
    seen.tabs.push(await focus());
  }
  seen.numbers = await lines(TWO);
  await keys("Enter");
  seen.again = [await focus(), await counted()];

  await input(CHOICE, 0).focus();
  await keys("Space", "ArrowDown", "Enter", "Tab", "Enter"); // only Compare compares
  seen.choice = [await lines(CHOICE), await focus()];
  await input(MARKS, 0).focus();
  await keys("Space", "Tab", "Tab", "Space", "Tab", "Tab", "Tab", "Space", "Tab", "Space", "Tab", "Tab", "Tab", "Tab", "Enter");
  seen.choices = await lines(MARKS);
  await box(BARS).getByRole("button", { name: "Show me" }).focus();
  await keys("Enter");
  seen.shown = [await status(BARS), await focus()];
  seen.counted = [await counted()];
  page.once("dialog", (dialog) => dialog.accept());
  await page.locator(".guess-count button").focus();
  await keys("Enter");
  seen.counted.push(await counted(), await focus(), await stored());
  seen.fields = await page.locator(".guess-box form").count();

  await open(SHARING);
  seen.order = [];
  for (const downs of [[3, 3, 1], [3, 1, 2], [3, 2, 1]]) {
    if (seen.order.length > 1) await box(ORDER).getByRole("button", { name: "Guess again" }).click();
    await box(ORDER).locator("select").first().focus();
    for (const many of downs) await keys("Home", ...Array(many).fill("ArrowDown"), "Tab");
    await keys("Enter");
    seen.order.push(await status(ORDER));
  }
});

await reader("touch", PHONE, async ({ page, box, open, input, press, lines, focus, look }, seen) => {
  seen.small = [];
  seen.wide = [];
  const measure = async (state) => {
    const inBox = ":is(button, select, input[type=text], label:has([type=radio], [type=checkbox]))";
    const targets = page.locator(`.guess-box ${inBox}, .guess-count button, .guess-tools button`);
    seen.small.push(...(await targets.evaluateAll((all) => all.filter((one) => {
      const { width, height } = one.getBoundingClientRect();
      return width < 24 || height < 24;
    }).map((one) => one.outerHTML))));
    seen.wide.push([state, await page.evaluate(() => document.documentElement.scrollWidth)]);
  };
  for (const path of [LEARNING, SHARING, CLOSURES]) {
    await open(path);
    await measure(path);
  }
  await look("fields", ".guess-box", ".chapter-tools");
  await input(TWO, 0).fill("3");
  await press(TWO, "Compare");
  seen.unread = await focus();
  await measure("an error");
  await look("error", ".guess-box", ".chapter-tools");
  await input(TWO, 1).fill("10.5");
  await press(TWO, "Compare");
  await box(CHOICE).getByText("works").tap();
  await press(CHOICE, "Compare");
  await box(MARKS).getByText("a queue").first().tap();
  await box(MARKS).getByText("a node").last().tap();
  await press(MARKS, "Compare");
  seen.compared = await Promise.all([TWO, CHOICE, MARKS].map(lines));
  await measure("answers");
  await look("answers", ".guess-box", ".chapter-tools");
  const long = `<code>${"long".repeat(30)}</code>`;
  for (const place of [".guess-options span", ".guess-label", "li"]) {
    await page.locator(`.guess-box ${place}`).first().evaluate((one, long) => (one.innerHTML = long), long);
  }
  await measure("long words");
  await open("where");
  await measure("where");
  await look("where", "article");
});
await browser.close();
console.log(JSON.stringify(found));
