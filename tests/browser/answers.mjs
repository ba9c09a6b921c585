// Opens all answers of a page by its switch, visits another page, and closes them there:
// node answers.mjs CHROMIUM SITE PAGE OTHER
//
// Prints, in a line of JSON, how many answers were open at the beginning, after the click, on the other page, on the
// first page after they were closed on the other, and on paper.

import { chromium } from "playwright-core";

const [executablePath, site, first, other] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic"] });
const page = await browser.newPage();
const open = () => page.evaluate(() => document.querySelectorAll("details.answer[open]").length);
const visit = (name) => page.goto(`${site}/${name}`, { waitUntil: "load" });
const found = [];

await visit(first);
found.push(await open());
await page.locator("input.show-answers").click();
found.push(await open());
await visit(other);
found.push(await open());
await page.locator("input.show-answers").click();
await visit(first);
found.push(await open());
await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
found.push(await open());
console.log(JSON.stringify(found));
await browser.close();
