"""How a picture that moves is tested: what it computes in Node, and how it behaves under a hand in Chromium.

Holds computed, which asks a module of ``course/static/interactives``, and driven, which works it in a page as
the book makes them. Leaves out what the answers should be: each picture has a test file.
"""

import json
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest

from course.figures.moving import FOLDER
from tests.browser.conftest import BUSY, HERE, served

BOOK = Path(__file__).parents[2] / "book" / "_static"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A picture that moves</title>
<link rel="icon" href="data:,"><body style="margin:8px">
<div data-interactive="{name}" data-options="{options}"><img alt="still" src="data:,"></div>
<script src="_static/book.js"></script>"""

START, FRAME = 200, 16  # milliseconds that a picture should take: until it stands, and for a frame

# What each driver is given: page, the host's ground as a locator, and frames(action), which calls a function
# in the page again and again, a quoted (ground, call) => .... It returns the most writes of a call: a write
# sets an attribute, changes a text, or puts a node in. How long a call takes, layout included, goes to
# found.frames with them, and how long a loop takes that is always the same: milliseconds, medians.
DRIVER = """
import { chromium } from "playwright-core";
const [executablePath, address, viewport] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const hand = { reducedMotion: "reduce", hasTouch: true };
const page = await browser.newPage({ ...hand, viewport: JSON.parse(viewport) });
const problems = [];
page.on("pageerror", (error) => problems.push(String(error)));
page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
page.on("request", (request) => request.url().startsWith(address) || request.url().startsWith("data:")
  || request.url().startsWith("blob:") || problems.push(`asked ${request.url()}`));
await page.goto(`${address}/index.html`);
const ground = page.locator("[data-interactive] .ground");
await ground.waitFor();
const begun = await page.evaluate(() => performance.getEntriesByType("measure")[0].duration);
const found = { start: begun, frames: [] };
const frames = async (action) => {
  const one = await page.evaluate(`(async () => {
    const root = document.querySelector("[data-interactive]").shadowRoot;
    const ground = root.querySelector(".ground");
    const act = ${action};
    const observer = new MutationObserver(() => {});
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    const nodes = (one) => 1 + [...one.childNodes].reduce((sum, child) => sum + nodes(child), 0);
    const put = ({ type, addedNodes }) =>
      type === "childList" ? [...addedNodes].reduce((sum, one) => sum + nodes(one), 0) : 1;
    const timed = (work) => {
      const start = performance.now();
      work();
      return performance.now() - start;
    };
    const loop = () => {
      let sum = 0;
      for (let turn = 0; turn < 100_000; turn += 1) sum += Math.sin(turn);
      return sum;
    };
    const [writes, frame, fixed] = [[], [], []];
    for (let call = 0; call < 50; call += 1) {
      fixed.push(timed(loop));
      observer.takeRecords();
      frame.push(timed(() => {
        act(ground, call);
        ground.getBoundingClientRect();
      }));
      writes.push(observer.takeRecords().reduce((sum, record) => sum + put(record), 0));
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const median = (times) => times.sort((a, b) => a - b)[25];
    return { writes: Math.max(...writes), frame: median(frame), loop: median(fixed) };
  })()`);
  found.frames.push(one);
  return one.writes;
};
%s
found.wide = await page.evaluate(() => document.documentElement.scrollWidth);
await browser.close();
process.stdout.write(JSON.stringify({ ...found, problems }));
"""


def computed(node, name, expression, cases):
    """Return what a module computes of each case.

    The expression says it in JavaScript of `module`, its `data`, and `one`, the case.
    """
    program = f"""
import {{ readFileSync }} from "node:fs";
import * as module from "{(FOLDER / f"{name}.js").as_uri()}";
const file = "{(FOLDER / f"{name}.json").as_posix()}";
const data = module.DATA ? JSON.parse(readFileSync(file, "utf8")) : null;
const cases = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(cases.map((one) => {expression})));
"""
    done = subprocess.run(
        [node, "--input-type=module", "-e", program],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def driven(node, chromium, folder, name, steps, options=(), width=360):
    """Return what `steps`, in JavaScript of `page`, `ground`, `frames` and `found`, leaves in `found`.

    Without an error in the page, without a request to another host, with nothing cut at the right, and in no
    more than ten times the time that it should take.
    """
    if not (HERE / "node_modules" / "playwright-core").exists():
        pytest.skip("tests/browser/node_modules/ is not there: `make browser-tools` fetches it.")
    shutil.copytree(FOLDER, folder / "_static" / "interactives")
    shutil.copy(BOOK / "book.js", folder / "_static")
    page = PAGE.format(name=name, options=escape(json.dumps(dict(options))))
    (folder / "index.html").write_text(page, encoding="utf-8")
    viewport = json.dumps({"width": width, "height": 800})
    with served(folder) as address:
        done = subprocess.run(
            [node, "--input-type=module", "-", chromium, address, viewport],
            input=DRIVER % steps,
            cwd=HERE,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["problems"], found["problems"]
    assert found["wide"] <= width
    assert found["start"] < BUSY * START
    for one in found["frames"]:
        assert one["frame"] < BUSY * FRAME
        print(
            f"\n{name}: a frame takes {one['frame']:.1f} ms (goal: {FRAME}) and {one['writes']} writes, "
            f"the start {found['start']:.0f} ms (goal: {START}), a fixed loop {one['loop']:.1f} ms",
            end=" ",
        )
    return found
