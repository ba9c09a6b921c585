// Looks at pages in Chromium, as readers would who have a wide window and daylight, a phone and night, paper, or
// a keyboard alone: node pages.mjs CHROMIUM SITE PAGE...
//
// SITE is an address. A page's name that ends with # is also walked through with the Tab key, which takes a while
// where there are many links. Prints a line of JSON for each page; what must be in it, test_pages.py says.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, site, ...pages] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const QUIET = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...QUIET] });
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const OF_COLOUR_AND_SIZE = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];

// Waits so many milliseconds, and before and after them until the page has been drawn, however long that takes.
const drawn = (page, milliseconds) => page.evaluate(async (milliseconds) => {
  const frame = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  await frame();
  await new Promise((go) => setTimeout(go, milliseconds));
  await frame();
}, milliseconds);

async function findings(page, runOnly) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
  await drawn(page, 500); // what was folded takes the colours of the page only then
  const { violations } = await page.evaluate((runOnly) => window.axe.run({ runOnly, preload: false, resultTypes: ["violations"] }), runOnly);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}: ${node.any[0]?.message ?? ""}`));
}

// Presses Tab until the focus is back where it began, and tells what it did not reach or did not show.
async function keyboard(page) {
  if (await page.locator("div.guess").count()) { // its fields come when it comes near
    await page.evaluate(() => document.querySelector("div.guess").scrollIntoView());
    await page.locator(".guess-box").first().waitFor();
  }
  const count = await page.evaluate(() => {
    const controls = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const byArrows = (one) => one.type === "radio" && document.getElementsByName(one.name)[0] !== one; // Tab meets a group once
    window.waiting = new Set([...document.querySelectorAll(controls)].filter((one) => !byArrows(one) &&
      one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.getClientRects().length > 0));
    window.unseen = new Set();
    document.activeElement?.blur();
    window.scrollTo(0, 0);
    document.addEventListener("focusin", ({ target }) => {
      window.waiting.delete(target);
      const framed = target.shadowRoot?.querySelector(".ground") ?? target; // a picture that moves frames its ground
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(framed);
      if ((outlineStyle === "none" || outlineWidth === "0px") && boxShadow === "none") window.unseen.add(target);
    });
    // A picture that moves brings controls of its own, which the Tab key passes through.
    const inside = [...document.querySelectorAll("[data-interactive]")].map((host) =>
      host.shadowRoot?.querySelectorAll(controls).length ?? 0);
    return inside.reduce((sum, more) => sum + more, window.waiting.size);
  });
  for (let pressed = 0; pressed < count + 20; pressed += 10) {
    for (let i = 0; i < 10; i++) await page.keyboard.press("Tab");
    if (await page.evaluate(() => window.waiting.size === 0)) break;
  }
  return page.evaluate(() => {
    const told = (controls) => [...controls].map((one) => one.outerHTML.slice(0, 120));
    return { unreached: told(window.waiting), unseen: told(window.unseen) };
  });
}

// Scrolls each slider into view, which fetches its controls.
async function fetchSliders(page) {
  for (const slider of await page.locator("[data-slider]").all()) {
    if (!(await slider.isVisible())) continue;
    await slider.scrollIntoViewIfNeeded();
    await slider.locator("input[type=range]").first().waitFor().catch(() => {});
  }
}

// Moves each slider by a key, and tells which moved no picture or did not say where it stands.
async function sliders(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
  await fetchSliders(page);
  const dead = [];
  const waiting = await page.locator("[data-slider]:not(:has(input))").count();
  if (waiting) dead.push(`${waiting} sliders without controls`);
  const all = page.locator("[class^=explore-] input[type=range]"); // a picture that moves has a test of its own
  const count = await all.count();
  for (let i = 0; i < count; i++) {
    const state = () => all.nth(i).evaluate((input) => {
      const picture = input.closest("[class^=explore-]").querySelector("img, svg");
      const alt = picture.alt ?? picture.getAttribute("aria-label");
      return [input.value, picture.src ?? picture.innerHTML, alt, input.getAttribute("aria-valuetext")];
    });
    const before = await state();
    await all.nth(i).focus();
    await page.keyboard.press(before[0] === "0" ? "ArrowRight" : "ArrowLeft");
    const after = await state();
    before.forEach((value, part) => {
      if (value === after[part]) dead.push(`slider ${i}: its ${["value", "picture", "alternative text", "aria-valuetext"][part]} stays`);
    });
    const label = await all.nth(i).getAttribute("aria-label");
    if (!label) dead.push(`slider ${i} has no name`);
  }
  return { count, dead };
}

// When the page first painted something, in milliseconds.
const painted = (page) => page.evaluate(async () => {
  const first = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  while (first() === undefined) await new Promise((go) => setTimeout(go, 20));
  return first();
});

// How far what stood in the window moved while the page came up: 0 is not at all, and 1 out of the window.
const SHIFTS = () => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
  }).observe({ type: "layout-shift", buffered: true });
};
const shifted = async (page) => {
  await page.evaluate(() => document.fonts.ready);
  await drawn(page, 300);
  return page.evaluate(() => window.shifted);
};

async function look(name) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await context.addInitScript(SHIFTS);
  const page = await context.newPage();
  const foreign = [], lost = [], errors = [], sizes = [];
  context.on("request", (r) => { if (!r.url().startsWith(site) && !/^(data|blob):/.test(r.url())) foreign.push(r.url()); });
  context.on("response", (r) => { if (r.status() >= 400) lost.push(r.url()); });
  context.on("requestfinished", (r) => sizes.push(r.sizes().then(({ responseBodySize }) => responseBodySize, () => 0))); // 0: closed before it came
  page.on("pageerror", (error) => errors.push(String(error)));
  const shifts = {};

  await page.goto(`${site}/${name}`, { waitUntil: "load" });
  const paint = await painted(page);
  shifts[1280] = await shifted(page);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  const past = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const clipped = await page.evaluate(() => [...document.querySelectorAll(".cell_input pre")]
    .filter((pre) => pre.scrollWidth > pre.clientWidth && pre.textContent.split("\n").every((line) => line.length <= 80))
    .map((pre) => pre.textContent.slice(0, 120)));
  const keys = name.endsWith("#") ? await keyboard(page) : {};
  const moved = await sliders(page);
  await page.evaluate(axe);
  const results = await page.locator("#search-results li").count();
  const passages = await page.locator("#search-results li:has(> a[href*='#']) > .passage mark").count();
  const light = await findings(page, { type: "tag", values: RULES });

  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  for (const width of [768, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("about:blank"); // a page that is loaded again would begin where it was scrolled to
    await page.goto(`${site}/${name}`, { waitUntil: "load" });
    shifts[width] = await shifted(page);
  }
  await page.evaluate(axe);
  const { theme } = await page.evaluate(() => document.documentElement.dataset);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  const picture = await page.screenshot({ fullPage: true, scale: "css" });
  const moving = await page.evaluate(() => {
    const restless = [...document.querySelectorAll("*")].filter((one) => {
      const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
      return /[1-9]/.test(transitionDuration) || animationName !== "none" || scrollBehavior !== "auto";
    });
    return restless.map((one) => one.outerHTML.slice(0, 120));
  });
  const dark = await findings(page, { type: "rule", values: OF_COLOUR_AND_SIZE });

  await page.emulateMedia({ media: "print", colorScheme: "light" });
  await page.setViewportSize({ width: 680, height: 1000 }); // what A4 leaves between its margins
  const cut = await page.evaluate(() => [...document.querySelectorAll("article :is(pre, table, div.math math)")]
    .filter((box) => Math.max(box.scrollWidth, box.getBoundingClientRect().width) > box.closest("div, article").clientWidth + 1)
    .map((box) => box.textContent.slice(0, 120)));
  await context.close();
  return { page: name, paint, bytes, shifts, past, clipped, foreign, lost, errors, ...keys, moved, results, passages, light, theme, dark, width, picture: picture.readUInt32BE(16), moving, cut };
}

for (const name of pages) console.log(JSON.stringify(await look(name)));
await browser.close();
