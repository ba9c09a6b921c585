"""The secant computes what Python computes, to the last bit, and is dragged by hand and by keys."""

import math

import numpy as np
import pytest

from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser


def savings(rate):
    """Chapter 01's program."""
    money = 0.0
    for _ in range(30):
        money = money * (1 + rate / 100) + 1000
        if money > 20000:
            money = money - 0.01 * (money - 20000)
    return money


def cube(x):
    return x * x * x


PROGRAMS = {"savings": savings, "cube": cube}


def cases():
    """Drawn places and nudges of all sizes, and those of the chapter."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        name = str(rng.choice(list(PROGRAMS)))
        yield {"f": name, "x": float(rng.uniform(-0.5, 5.5)), "h": float(10 ** rng.uniform(-15, 0.5))}
    for power in range(16):
        for digit in (3, 1):
            yield {"f": "cube", "x": 3, "h": float(f"{digit}e-{power}")}


def test_values_and_differences_are_pythons_to_the_last_bit(node):
    drawn = list(cases())
    expression = """(({ f }) => ({
        value: f(one.x),
        right: module.forward(f, one.x, one.h),
        both: module.central(f, one.x, one.h),
    }))(module.FUNCTIONS[one.f])"""
    for case, answer in zip(drawn, computed(node, "secant", expression, drawn), strict=True):
        f, x, h = PROGRAMS[case["f"]], case["x"], case["h"]
        assert answer["value"] == f(x)
        assert answer["right"] == (f(x + h) - f(x)) / h
        assert answer["both"] == (f(x + h) - f(x - h)) / (2 * h)


def test_the_slope_that_is_carried_through_the_loop_is_the_one_that_nudging_finds(node):
    rates = np.random.default_rng(2).uniform(-0.5, 5.5, size=40).tolist()
    found = computed(node, "secant", "module.FUNCTIONS.savings.slope(one)", rates)
    nudged = [(savings(rate + 1e-5) - savings(rate - 1e-5)) / 2e-5 for rate in rates]
    assert np.allclose(found, nudged, rtol=1e-7)


def test_the_nudges_are_those_of_the_chapter_and_errors_have_their_cause(node):
    (nudges,) = computed(node, "secant", "module.NUDGES", [0])
    assert nudges == [float(f"{digit}e-{power}") for power in range(16) for digit in (3, 1)]
    found = computed(node, "secant", 'module.errorsOf("cube", 3, one)', nudges)
    tips = math.sqrt(2**-52 * 27 / 9), math.cbrt(2**-52 * 27)  # where 27 eps / h is 9 h, and h²
    for nudge, answer in zip(nudges, found, strict=True):
        right, both = answer["errors"]
        assert right == (cube(3 + nudge) - 27) / nudge - 27
        assert both == (cube(3 + nudge) - cube(3 - nudge)) / (2 * nudge) - 27
        assert answer["causes"] == ["the bend" if nudge > tip else "rounding" for tip in tips]


def test_a_moment_is_sent_to_the_picture_of_its_function(node):
    moment = {"f": "savings", "x": 3, "h": 0.5}
    link = '"#" + new URLSearchParams(module.momentOf(one))'
    expression = f'[module.fromLink({link}, "savings"), module.fromLink({link}, "cube")]'
    assert computed(node, "secant", expression, [moment]) == [[{"x": 3, "h": 0.5}, None]]
    assert computed(node, "secant", expression, [{**moment, "h": 5}]) == [[None, None]]  # too long


WHOLE = """
const said = () => page.locator(".say").innerText();
const [point, nudge] = [page.getByLabel("The point x"), page.getByLabel("The nudge h")];
const centre = async (handle) => {
  const box = await handle.locator(".ring").boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
const drag = async (handle, dx) => {
  const [x, y] = await centre(handle);
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let part = 1; part <= 4; part += 1) await page.mouse.move(x + (part * dx) / 4, y);
  await page.mouse.up();
};
found.opens = await said();
const halve = page.getByRole("button", { name: "Halve the nudge" });
await halve.tap();
found.two = await said();
await halve.focus();
await page.keyboard.press("Enter");
found.one = await said();
for (let press = 3; press <= 8; press += 1) await page.keyboard.press("Enter");
found.eighth = await said();
await page.keyboard.press("Enter");
found.ninth = await said();
await page.getByRole("button", { name: "Start again" }).tap();
const unit = ((await centre(nudge))[0] - (await centre(point))[0]) / 4;
await drag(nudge, -2 * unit);
found.dragged = [await nudge.getAttribute("aria-valuenow"), await point.getAttribute("aria-valuenow")];
await drag(point, -unit);
found.moved = [await nudge.getAttribute("aria-valuenow"), await point.getAttribute("aria-valuenow")];
await point.focus();
for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
await nudge.focus();
await page.keyboard.press("ArrowUp");
found.keys = [await nudge.getAttribute("aria-valuetext"), await point.getAttribute("aria-valuetext")];
found.link = await page.evaluate(() => window.location.hash);
found.writes = await frames(`(ground, call) => {
  const key = call % 2 ? "ArrowLeft" : "ArrowRight";
  ground.querySelector(".handle").dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}`);
await page.goto(`${address}/index.html#secant=savings&x=5.3&h=0.01`);
await page.reload();
found.linked = await said();
"""


@pytest.mark.frames
def test_the_secant_is_dragged_by_hand_and_by_keys_on_a_phone(node, chromium, tmp_path):
    found = driven(node, chromium, tmp_path, "secant", WHOLE, {"x": 3, "h": 4})
    assert found["opens"].endswith("own slope at 3 is 6,924, so the secant is too steep by 3,460.")
    assert found["two"].endswith("too steep by 1,495. Half the nudge left 43 % of the error.")
    assert found["one"].endswith("too steep by 702. Half the nudge left 47 % of the error.")
    assert "Half the nudge" in found["eighth"] and "Half the nudge" not in found["ninth"]
    (h, x), (h_moved, x_moved) = found["dragged"], found["moved"]
    assert abs(float(h) - 2) < 0.1 and x == "3" and h_moved == h and abs(float(x_moved) - 2) < 0.1
    assert found["keys"][1] == f"{float(x_moved) + 0.5:.3g} percent"
    assert found["keys"][0].startswith(f"{float(h) + 0.25:.3g} percent, slope ")
    assert found["link"] == f"#secant=savings&x={float(x_moved) + 0.5:.3g}&h={float(h) + 0.25:.3g}"
    excess = (savings(5.31) - savings(5.3)) / 0.01 - (savings(5.3 + 1e-6) - savings(5.3)) / 1e-6
    amount = found["linked"].rsplit(" by ", 1)[1].rstrip(".").replace(",", "")
    assert ("too flat" in found["linked"]) == (excess < 0) and np.isclose(
        float(amount), abs(excess), rtol=0.01
    )
    assert 0 < found["writes"] <= 45


NEAR = """
const said = () => page.locator(".say").innerText();
const knob = page.getByLabel("The nudge h");
found.opens = await said();
await page.getByRole("button", { name: "Shrink the nudge" }).tap();
found.shrunk = await said();
found.drawn = await ground.evaluate((ground) => [...ground.querySelectorAll(".errors path")]
  .map((path) => (path.getAttribute("d").match(/M/g) ?? []).length));
await knob.focus();
await page.keyboard.press("Home");
found.gone = [await said(), await knob.getAttribute("aria-valuetext")];
for (let press = 0; press < 10; press += 1) await page.keyboard.press("PageUp");
found.risen = await said();
const box = await knob.locator(".ring").boundingBox();
const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
await page.mouse.move(x, y);
await page.mouse.down();
for (let part = 1; part <= 4; part += 1) await page.mouse.move(x + part * 15, y);
await page.mouse.up();
found.dragged = Number(await knob.getAttribute("aria-valuenow"));
found.writes = await frames(`(ground, call) => {
  const key = call % 2 ? "ArrowLeft" : "ArrowRight";
  ground.querySelector(".handle").dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}`);
"""


@pytest.mark.frames
def test_the_v_draws_itself_while_the_nudge_shrinks(node, chromium, tmp_path):
    options = {"f": "cube", "x": 3, "h": 3, "near": True}
    found = driven(node, chromium, tmp_path, "secant", NEAR, options)
    right, both = (
        "looking to the right is off by 36, by the bend",
        "looking both ways is off by 9, by the bend",
    )
    best = "Best so far: h = 3e−8 to the right, 3e−6 both ways."
    assert found["opens"] == f"With h = 3, {right}; {both}. {best}"  # the Vs stand, as the caption says
    assert "With h = 1e−15" in found["shrunk"] and "The curve is a staircase here" in found["shrunk"]
    assert found["drawn"].count(len(range(32))) == 2  # every nudge of the chapter, for both differences
    assert "x + h is x" in found["gone"][0] and found["gone"][1] == "1e−16"
    assert found["risen"].startswith("With h = 1e−6, looking to the right is off by 9e−6, by the bend;")
    assert "by rounding" in found["risen"] and "Best so far: h = 3e−8 to the right, 3e−6" in found["risen"]
    assert -6 < found["dragged"] < -1
    assert 0 < found["writes"] <= 40
