"""The valley's optimizers take minigrad's steps; ball, knob and sliders move by hand and by keys."""

import numpy as np
import pytest

import minigrad
from minigrad import Parameter
from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser
MAKERS = {
    "plain": lambda rate, momentum: minigrad.SGD(rate),
    "momentum": lambda rate, momentum: minigrad.SGD(rate, momentum=momentum),
    "RMSProp": lambda rate, momentum: minigrad.RMSProp(rate),
    "Adam": lambda rate, momentum: minigrad.Adam(rate),
}


def turn(degrees):
    sin, cos = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]])


def race(optimizer, valley, start, steps):
    """The walk of an optimizer of minigrad's in a valley."""
    w, path = Parameter(start), [np.array(start)]
    for _ in range(steps):
        w.zero_grad()
        w.grad += valley @ w.data
        optimizer.step([w])
        path.append(w.data.copy())
    return np.array(path)


def cases():
    """Drawn valleys, starts, rates and shares, for each optimizer."""
    rng = np.random.default_rng(0)
    for name in MAKERS:
        for _ in range(15):
            yield {
                "name": name,
                "curvatures": np.sort(10 ** rng.uniform(-0.5, 1.7, size=2)).tolist(),
                "degrees": int(rng.integers(-90, 91)),
                "start": rng.uniform(-5, 5, size=2).tolist(),
                "rate": float(10 ** rng.uniform(-3, -1.3)),
                "momentum": float(rng.uniform(0, 0.95)),
            }


def test_every_optimizer_of_the_valley_walks_the_path_of_minigrads(node):
    drawn = list(cases())
    expression = """(() => {
        const matrix = module.valley(one.curvatures, one.degrees);
        const path = module.walk(one.name, one, one.rate, matrix, one.start, 30);
        return { matrix, path, losses: path.map((w) => module.loss(matrix, w)) };
    })()"""
    for case, answer in zip(drawn, computed(node, "valley", expression, drawn), strict=True):
        valley = turn(case["degrees"]) @ np.diag(case["curvatures"]) @ turn(case["degrees"]).T
        assert np.allclose(answer["matrix"], valley, rtol=1e-12, atol=1e-13)
        valley = np.array(answer["matrix"])
        path = race(MAKERS[case["name"]](case["rate"], case["momentum"]), valley, case["start"], 30)
        assert np.allclose(answer["path"], path, rtol=1e-10, atol=1e-10)
        losses = 0.5 * np.einsum("si,ij,sj->s", path, valley, path)
        assert np.allclose(answer["losses"], losses, rtol=1e-10, atol=1e-10)


def test_the_best_rate_is_the_one_that_the_chapter_chooses(node):
    angles = [{"name": name, "degrees": degrees} for name in MAKERS for degrees in (0, 20, 45)]
    found = computed(
        node,
        "valley",
        """module.bestRate(one.name, { momentum: 0.6 }, module.valley([1, 50], one.degrees),
            module.turned([-4, 1.5], one.degrees), 30)""",
        angles,
    )
    rates = np.geomspace(0.01, 3, 101)
    for case, rate in zip(angles, found, strict=True):
        T = turn(case["degrees"])
        valley, start = T @ np.diag([1.0, 50.0]) @ T.T, T @ [-4.0, 1.5]
        late = []
        for tried in rates:
            with np.errstate(all="ignore"):  # some rates are too large
                path = race(MAKERS[case["name"]](tried, 0.6), valley, start, 30)
                losses = 0.5 * np.einsum("si,ij,sj->s", path, valley, path)[-5:]
            late.append(losses.max() if np.isfinite(losses).all() else np.inf)
        assert np.isclose(rate, rates[np.argmin(late)], rtol=1e-12)


def test_a_walk_climbs_out_above_its_limit_and_stays_below_it(node):
    shares = [
        {"name": name, "momentum": share} for name in ("plain", "momentum") for share in (0.3, 0.6, 0.9)
    ]
    found = computed(
        node,
        "valley",
        """[0.99, 1.01].map((part) => {
            const matrix = module.valley([1, 50], 30);
            const rate = part * module.limit(one.name, one, matrix);
            return Math.hypot(...module.walk(one.name, one, rate, matrix, [-4, 1.5], 1500).at(-1));
        })""",
        shares,
    )
    assert all(below < 1e-3 and above > 1e3 for below, above in found)


def test_a_moment_can_be_sent(node):
    moment = {
        "place": [-4, 1.5],
        "degrees": 20,
        "rates": [0.039, 0.06],
        "momentum": 0.6,
        "best": False,
        "step": 7,
    }
    link = '"#" + new URLSearchParams(module.momentOf(one))'
    assert computed(node, "valley", f"module.fromLink({link}, 2)", [moment]) == [moment]
    assert computed(node, "valley", f"module.fromLink({link}, 4)", [moment]) == [None]  # another race


DRIVER = """
const said = () => page.locator(".say").innerText();
const box = await page.getByLabel("The valley from above").boundingBox();
const at = (x, y) => [box.x + (box.width * (x + 5)) / 10, box.y + (box.height * (5 - y)) / 10];
const drag = async (from, to) => {
  await page.mouse.move(...at(...from));
  await page.mouse.down();
  for (let part = 1; part <= 4; part += 1) {
    await page.mouse.move(...at(...from.map((start, axis) => start + (part / 4) * (to[axis] - start))));
  }
  await page.mouse.up();
};
const ball = page.getByLabel("The ball");
const knob = page.getByLabel("Turn the valley");
found.opens = await said();
await drag([4.5, 0], [3.2, 3.2]);
const place = (handle) => handle.getAttribute("aria-valuetext");
found.turned = [await place(knob), await place(ball), await said()];
await knob.focus();
await page.keyboard.press("Home");
await page.getByLabel("steps taken").focus();
await page.keyboard.press("End");
found.thrown = await said();
await page.getByLabel("learning rate of plain").focus();
await page.keyboard.press("End");
found.out = [await said(), await page.getByLabel("each at its best").isChecked()];
await ball.focus();
for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
found.keys = await place(ball);
await page.touchscreen.tap(...at(-2, -3));
found.tapped = await place(ball);
await page.getByLabel("The ball").focus();
await drag([-2, -3], [1, 2]);
found.dragged = await place(ball);
await page.locator(".heard", { hasText: await said() }).waitFor({ state: "attached" });
found.heard = (await page.locator(".heard").textContent()) === (await said());
found.link = await page.evaluate(() => window.location.hash);
await page.getByRole("button", { name: "Step back" }).tap();
found.back = await said();
await page.getByLabel("each at its best").check();
found.writes = await frames(`(ground, call) => {
  const ball = ground.querySelector(".handle[aria-roledescription]");
  const key = call % 2 ? "ArrowLeft" : "ArrowRight";
  ball.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}`);
const rates = "0.045,0.06,0.1,0.2";
await page.goto(`${address}/index.html#valley=-4,1.5&degrees=0&rates=${rates}&momentum=0.6&best=no&step=10`);
await page.reload();
found.linked = await said();
"""


@pytest.mark.frames
def test_the_valley_is_moved_by_hand_and_by_keys_on_a_phone(node, chromium, tmp_path):
    found = driven(node, chromium, tmp_path, "valley", DRIVER, {"best": True, "step": 30})
    assert found["opens"].startswith(
        "After 30 steps, RMSProp is lowest, at 9.1e−15; momentum at 4.4e−6, Adam"
    )
    knob, ball, said = found["turned"]
    assert knob == "turned by 45 degrees" and ball == "first parameter −3.89, second −1.77"
    assert "turned by 45°, momentum is lowest, at 4.4e−6; RMSProp at 0.47" in said
    assert found["thrown"].endswith("and was thrown out again.") and "RMSProp at 4.3" in found["thrown"]
    said, best = found["out"]
    assert "Plain steps climb out: their rate is above their limit here, 0.04." in said and not best
    assert found["keys"] == "first parameter −3.5, second 1.75"
    assert found["tapped"] == "first parameter −2, second −3"
    assert found["dragged"] == "first parameter 1, second 2"
    assert found["heard"] and found["link"].startswith("#valley=1%2C2&degrees=0&rates=3%2C")
    assert found["back"].startswith("After 59 steps")
    assert "their limit here, 0.04" in found["linked"] and found["linked"].startswith("After 10 steps")
    assert 0 < found["writes"] <= 50


BOWL = {
    "curvatures": [1, 10],
    "runners": ["plain"],
    "rates": [0.05],
    "step": 20,
    "steps": 20,
    "judged": 0,
    "turns": False,
    "range": [0.01, 0.3],
    "lowest": -5,
}


def test_a_bowl_has_one_walk_and_names_its_limits(node, chromium, tmp_path):
    steps = """
    const rate = page.getByLabel("learning rate of plain");
    const said = async (position) => {
      await rate.fill(String(position));
      return [await rate.getAttribute("aria-valuetext"), await page.locator(".say").innerText()];
    };
    found.said = [];
    for (const position of [40, 90, 95, 100, 101]) found.said.push(await said(position));
    found.handles = await page.locator(".handle").count();
    """
    found = driven(node, chromium, tmp_path, "valley", steps, BOWL, width=720)
    said = dict(found["said"])
    assert list(said) == ["0.05", "0.1", "0.15", "0.2", "0.21"] and found["handles"] == 1
    assert "lands on the floor" in said["0.1"] and "jumps across the floor" in said["0.15"]
    assert "to and fro forever" in said["0.2"] and "climb out" in said["0.21"]
    assert said["0.05"].endswith(".") and "floor" not in said["0.05"]
