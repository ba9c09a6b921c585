// Measures what stands on pages in Chromium, in windows of three widths: node whole.mjs CHROMIUM SITE PAGE...
//
// Each cell of code, output, figure, formula and table must fit into its box, or move sideways in a box with a shadow
// that says so; nothing may lie over another. Everything is unfolded first. Prints a line of JSON for each page: how
// many boxes were measured, how many move sideways, and the faults in sentences.

import { chromium } from "playwright-core";

const [executablePath, site, ...pages] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const WIDTHS = [1280, 768, 390];

// In the page: look at every box.
function measure() {
  const BOXES = ".cell_input, .cell_output > *, figure, .highlight, .math, article table, [data-interactive], details > pre";
  const root = document.querySelector("article") ?? document.body;
  const boxes = [...root.querySelectorAll(BOXES)].filter((box) => box.checkVisibility() && box.getClientRects().length);
  const named = (box) => `${box.tagName.toLowerCase()}.${[...box.classList].join(".")}: ${box.textContent.trim().slice(0, 60)}`;
  const scrolls = (box) => /auto|scroll/.test(getComputedStyle(box).overflowX);
  const faults = new Set();
  const moving = new Set();
  const right = Math.min(root.getBoundingClientRect().right, document.documentElement.clientWidth);

  // The boxes from one up to the page, through the shadow roots of pictures that move.
  function* around(one) {
    for (let box = one; box && box !== root; box = box.parentElement ?? box.getRootNode().host) yield box;
  }

  // A shadow lies behind what moves, so whatever is painted opaque at the edge hides it.
  const shadowed = (box) => getComputedStyle(box).backgroundAttachment.includes("local")
    && getComputedStyle(box).backgroundImage.includes("gradient");
  const hidden = (box) => {
    const { left, right: edge } = box.getBoundingClientRect();
    return [...box.querySelectorAll("*")].some((inner) => {
      const { left: from, right: to } = inner.getBoundingClientRect();
      const { backgroundColor, mixBlendMode } = getComputedStyle(inner);
      const [, alpha = "1"] = backgroundColor.match(/rgba\(.*, ([\d.]+)\)/) ?? [];
      const opaque = Number(alpha) > 0.5 || inner.tagName === "IMG";
      return from < edge - 6 && to > edge - 6 && left < edge && opaque && mixBlendMode === "normal";
    });
  };

  const everything = boxes.flatMap((box) => [box, ...box.querySelectorAll("*"),
    ...[...box.querySelectorAll("*"), box].flatMap((one) => one.shadowRoot ? [...one.shadowRoot.querySelectorAll("*")] : [])]);
  for (const one of new Set(everything)) {
    if (!one.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) || one.closest("svg") !== (one.tagName === "svg" ? one : null)) continue;
    const style = getComputedStyle(one);
    if (style.position === "absolute" || style.clipPath !== "none") continue; // what is heard, or laid over
    const here = one.getBoundingClientRect();
    if (!here.width || !here.height) continue;
    // What is written in it, and wider than it.
    if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth && style.display !== "inline" && style.display !== "contents") {
      if (scrolls(one)) {
        moving.add(one);
        if (!shadowed(one)) faults.add(`moves sideways without a shadow: ${named(one)}`);
        else if (hidden(one)) faults.add(`hides the shadow: ${named(one)}`);
      } else if (style.overflowX !== "visible") faults.add(`cut: ${named(one)}`);
    }
    // Its own edge, past what holds it.
    let outer = right;
    for (const box of around(one.parentElement ?? one.getRootNode().host)) {
      if (scrolls(box)) { outer = Infinity; break; }
    }
    const inner = document.createRange();
    inner.selectNodeContents(one);
    const words = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const edge = Math.max(here.right, words && style.overflowX === "visible" ? inner.getBoundingClientRect().right : 0);
    if (edge > outer + 1) faults.add(`past the page by ${Math.round(edge - outer)} px: ${named(one)}`);
  }

  // Neighbours, and what a moving picture holds side by side.
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const stands = (one) => one.checkVisibility() && one.getClientRects().length
    && !/absolute|fixed|sticky/.test(getComputedStyle(one).position) && getComputedStyle(one).float === "none";
  const parents = new Set(boxes.map((box) => box.parentElement));
  for (const box of boxes) if (box.shadowRoot) box.shadowRoot.querySelectorAll("div").forEach((one) => parents.add(one));
  for (const parent of parents) {
    const inside = [...parent.children].filter(stands);
    const places = inside.map((one) => one.getBoundingClientRect());
    for (let i = 0; i < inside.length; i += 1) {
      for (let j = i + 1; j < inside.length; j += 1) {
        if (over(places[i], places[j])) faults.add(`overlap: ${named(inside[i])} and ${named(inside[j])}`);
      }
    }
  }

  // The words of a drawing, but not those of an axis, which Matplotlib sets close.
  for (const drawing of root.querySelectorAll("figure svg")) {
    const words = [...drawing.querySelectorAll("text")].filter((one) => one.textContent.trim() && !one.closest("[id*=axis]"));
    const frame = drawing.getBoundingClientRect();
    for (const one of words) {
      const { left, right: end, width, height } = one.getBoundingClientRect();
      const room = Math.min(width, height) / 3; // a line is taller than its letters
      if (left < frame.left - room || end > frame.right + 1) faults.add(`cut by its drawing: ${one.textContent} in ${drawing.getAttribute("aria-label")?.slice(0, 40)}`);
    }
  }
  return { boxes: boxes.length, moving: moving.size, faults: [...faults] };
}

for (const name of pages) {
  const found = { page: name, boxes: {}, moving: {}, faults: {} };
  const page = await browser.newPage({ viewport: { width: WIDTHS[0], height: 900 }, reducedMotion: "reduce" });
  await page.goto(`${site}/${name}`, { waitUntil: "load" });
  await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
  for (const host of await page.locator("[data-interactive], [data-slider]").all()) {
    await host.scrollIntoViewIfNeeded().catch(() => {});
    await page.waitForTimeout(50);
  }
  await page.evaluate(() => document.fonts.ready);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
    const { boxes, moving, faults } = await page.evaluate(measure);
    Object.assign(found.boxes, { [width]: boxes });
    Object.assign(found.moving, { [width]: moving });
    if (faults.length) found.faults[width] = faults;
  }
  await page.close();
  console.log(JSON.stringify(found));
}
await browser.close();
