"""The ring holds what chapter 22 holds, waits where the stand-in waits, and is worked by hand and by keys."""

import json
from pathlib import Path

import numpy as np
import pytest

from course.stand_ins import mpi
from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser
CHAPTER = Path(__file__).parents[2] / "notebooks" / "22_workers.ipynb"


def ring_states():
    """The function of that name, as the chapter builds it."""
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    (source,) = ("".join(c["source"]) for c in cells if "".join(c["source"]).startswith("def ring_states("))
    names = {"np": np}
    exec(source, names)
    return names["ring_states"]


def test_every_table_is_that_of_the_chapter(node):
    rng = np.random.default_rng(22)
    drawn = [rng.normal(size=(count, count)).tolist() for count in range(2, 9) for _ in range(6)]
    drawn += [[[10**rank] * 4 for rank in range(4)]]
    for arrays, tables in zip(drawn, computed(node, "ring", "module.ringStates(one)", drawn), strict=True):
        assert np.array_equal(tables, ring_states()(arrays))


def walk_round(world, rank, step, folder):
    """Chapter 22's ring, in which one worker goes home before a step; each notes how many it has taken."""
    mine, before = np.full(world.size, 10.0**world.rank), (world.rank - 1) % world.size
    for taken in range(2 * (world.size - 1)):
        (Path(folder) / str(world.rank)).write_text(str(taken), encoding="utf-8")
        if (world.rank, taken) == (rank, step):
            return
        out, into = (world.rank - taken) % world.size, (world.rank - taken - 1) % world.size
        came = np.empty(1)
        world.Sendrecv(mine[out : out + 1], dest=(world.rank + 1) % world.size, recvbuf=came, source=before)
        mine[into] = mine[into] + came[0] if taken < world.size - 1 else came[0]
    (Path(folder) / str(world.rank)).write_text(str(2 * (world.size - 1)), encoding="utf-8")


def stuck(count, rank, step, folder):
    """How many steps each of the stand-in's workers takes, when one stops before a step of its own."""
    folder.mkdir()
    try:
        mpi.run(walk_round, workers=count, pretend=True, rank=rank, step=step, folder=str(folder))
    except mpi.WorkersFailed as error:
        assert "each worker waits for another" in str(error)
    return [int((folder / str(one)).read_text(encoding="utf-8")) for one in range(count)]


def test_workers_wait_where_those_of_the_stand_in_wait(node, tmp_path):
    cases = [
        {"count": count, "rank": rank, "step": step}
        for count, rank in ((2, 1), (3, 0), (4, 2), (6, 5))
        for step in range(2 * (count - 1))
    ]
    expression = """(() => {
        let state = { done: Array(one.count).fill(0), stopped: [] };
        for (let step = 0; step < 40; step += 1) {
            if (state.done[one.rank] === one.step) state = { ...state, stopped: [one.rank] };
            state = module.tick(state);
        }
        const unread = module.unread(state, one.rank);
        const freed = { ...state, stopped: [] };
        let steps = 0;
        for (let now = freed; module.able(now).some(Boolean); steps += 1) now = module.tick(now);
        return { done: state.done, unread, steps };
    })()"""
    for number, (case, answer) in enumerate(
        zip(cases, computed(node, "ring", expression, cases), strict=True)
    ):
        assert answer["done"] == stuck(**case, folder=tmp_path / str(number))
        before = answer["done"][case["rank"] - 1]
        last = 2 * (case["count"] - 1)
        assert answer["unread"] == min(last, before + 1) - case["step"]
        assert answer["steps"] >= last - case["step"]  # freed, everyone comes to the end


def test_a_moment_can_be_sent_if_the_ring_can_come_to_it(node):
    moments = [{"done": [2, 3, 1, 1], "stopped": [2]}, {"done": [2, 3, 4, 2], "stopped": []}]
    moments += [{"done": [4, 0, 1, 2], "stopped": []}]  # worker 0 cannot be so far ahead of worker 3
    link = 'module.fromLink("#" + new URLSearchParams(module.momentOf(one)))'
    assert computed(node, "ring", link, moments) == [*moments[:2], None]


DRIVER = """
const said = () => page.locator(".say").innerText();
const step = page.getByRole("button", { name: "Step", exact: true });
const rows = () => ground.locator(".worker")
  .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
found.opens = await said();
found.counts = [];
for (let press = 0; press < 6; press += 1) {
  await step.tap();
  found.counts.push((await said()).match(/(\\d+) of 16|every piece/)?.[0]);
}
found.ends = [await said(), await step.isDisabled(), (await rows())[2]];
await page.addStyleTag({ content: "body { font-family: DejaVu Sans; }" }); // wide digits, here in bold
found.gaps = await ground.locator(".words").evaluateAll((all) => all.flatMap((one) => {
  const sums = [...one.querySelectorAll("text:not(.label)")].map((text) => text.getBoundingClientRect());
  return sums.slice(1).map((box, place) => box.left - sums[place].right);
}));
await page.getByRole("button", { name: "Start again" }).tap();
await step.focus();
await page.keyboard.press("Enter");
const two = ground.getByRole("button", { name: /^Worker 2/ });
await two.focus();
await page.keyboard.press("Space");
found.pressed = await two.getAttribute("aria-pressed");
await step.focus();
for (let press = 0; press < 2; press += 1) await page.keyboard.press("Enter");
found.stuck = [await said(), await rows()];
found.link = await page.evaluate(() => window.location.hash);
found.letters = await ground.locator(".letter").count();
await two.tap();
for (let press = 0; press < 20 && !(await step.isDisabled()); press += 1) await step.tap();
found.freed = await said();
await page.getByRole("button", { name: "Step back" }).tap();
found.back = await said();
await page.getByLabel("how many workers").selectOption("8");
let presses = 0;
for (; !(await step.isDisabled()); presses += 1) await step.tap();
found.eight = [await said(), presses];
found.writes = await frames(`(ground, call) => [...ground.querySelectorAll("button")]
  .find((button) => button.textContent === (call % 2 ? "Step" : "Step back")).click()`);
await page.goto(`${address}/index.html#ring=3&done=2,1,1&stopped=1`);
await page.reload();
found.linked = await said();
"""


@pytest.mark.frames
def test_the_ring_is_walked_and_stopped_by_hand_and_by_keys_on_a_phone(node, chromium, tmp_path):
    found = driven(node, chromium, tmp_path, "ring", DRIVER, {"workers": 4})
    assert found["opens"].startswith("4 workers have 4 pieces each.")
    assert found["counts"] == ["0 of 16", "0 of 16", "4 of 16", "8 of 16", "12 of 16", "every piece"]
    said, at_the_end, row = found["ends"]
    assert said.startswith("After 6 steps, 2 · (4 − 1), every worker has every piece") and at_the_end
    assert row == "Worker 2: 1111, 1111, 1111, 1111. Stop it"
    assert len(found["gaps"]) == 4 * 3 and min(found["gaps"]) > 0  # no number runs into the next
    assert found["pressed"] == "true"
    said, rows = found["stuck"]
    assert said == (
        "Worker 2 is stopped. Worker 3 waits for 2, after 1 step; 0 waits for 3, after 2 steps; "
        "1 waits for 0, after 3 steps. Nobody can go on."
    )
    assert rows[1] == "Worker 1, waits for 0: 11, 10, 1111, 1011. Stop it"
    assert found["link"] == "#ring=4&done=2%2C3%2C1%2C1&stopped=2" and found["letters"] == 3
    assert found["freed"].startswith("After 6 steps") and not found["back"].startswith("After 6 steps")
    assert found["eight"] == ["After 14 steps, 2 · (8 − 1), every worker has every piece of the sum.", 14]
    assert found["linked"].startswith("Worker 1 is stopped.")
    assert 0 < found["writes"] <= 160


def test_pieces_fly_where_motion_is_welcome(node, chromium, tmp_path):
    steps = """
    await page.emulateMedia({ reducedMotion: "no-preference" });
    const step = page.getByRole("button", { name: "Step", exact: true });
    await page.clock.install();  // a flight ends when the test says so, and not while it still looks
    await page.clock.pauseAt(Date.now() + 1000);
    await step.click();
    found.flying = await ground.locator(".flying").allTextContents();
    await step.click();  // lands the first, and starts the second
    found.first = await page.locator(".say").innerText();
    found.again = await ground.locator(".flying").count();
    await page.clock.runFor(1000);
    found.second = await page.locator(".say").innerText();
    """
    found = driven(node, chromium, tmp_path, "ring", steps, {"workers": 3}, width=720)
    assert found["flying"] == ["100", "1", "10"] and found["again"] == 3
    assert found["first"].startswith("After 1 step,") and found["second"].startswith("After 2 steps,")
