"""The chain computes what minigrad computes, and is walked by hand in a browser."""

import numpy as np
import pytest

from minigrad import Linear, as_layer, chain
from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser
LAYERS = {
    "square": lambda X: (X * X, lambda dY: 2 * X * dY),
    "double": lambda X: (2 * X, lambda dY: 2 * dY),
    "add 1": lambda X: (X + 1, lambda dY: dY),
    "sine": lambda X: (np.sin(X), lambda dY: np.cos(X) * dY),
}
W = 2.0  # of the layer "times w"


def cases():
    """Chains of one to four layers, drawn, and numbers to send through them."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        names = [str(name) for name in rng.choice([*LAYERS, "times w"], size=rng.integers(1, 5))]
        yield {"names": names, "x": round(float(rng.normal()), 3), "memory": "closure", "rounds": 1}


def asked(node, cases):
    """What the module says of some cases."""
    moment = "module.momentOf({ ...one, step: 1 })"
    return computed(
        node,
        "chain",
        f"""{{
            const {{ steps, Y, dX, grad }} = module.run(one.names, one.x, one.memory, one.rounds);
            const link = module.fromLink("#" + new URLSearchParams({moment}));
            const nudged = module.nudged(one.names, one.x);
            return {{ Y, dX, grad, nudged, last: steps.at(-1).phase, steps: steps.length, link }};
        }}""",
        cases,
    )


def test_a_chain_of_closures_has_the_values_and_gradients_of_minigrad(node):
    drawn = list(cases())
    for case, answer in zip(drawn, asked(node, drawn), strict=True):
        times_w = Linear(1, 1, rng=0)
        times_w.W.data[...], times_w.b.data[...] = W, 0.0
        layers = [times_w if name == "times w" else as_layer(LAYERS[name]) for name in case["names"]]
        whole = chain(*layers) if len(layers) > 1 else layers[0]
        Y, backward = whole(np.array([[case["x"]]]))
        assert np.isclose(answer["Y"], Y.item(), rtol=1e-12)
        assert np.isclose(answer["dX"], backward(np.ones_like(Y)).item(), rtol=1e-12)
        assert np.isclose(answer["grad"], times_w.W.grad.item(), rtol=1e-12)
        assert np.isclose(answer["nudged"], answer["dX"], rtol=1e-5, atol=1e-6)  # nudged by 1e-5
        assert answer["steps"] == 2 * len(layers)
        assert answer["link"] == {**case, "step": 1}


def test_a_layer_that_remembers_on_itself_forgets_its_first_place(node):
    twice, once = asked(
        node,
        [
            {"names": ["square", "square"], "x": 3, "memory": "layer"},
            {"names": ["square", "sine"], "x": 3, "memory": "layer"},
        ],
    )
    assert (twice["Y"], twice["dX"]) == (81, 2 * 9 * 2 * 9) and np.isclose(twice["nudged"], 108)
    assert np.isclose(once["dX"], once["nudged"])


def test_back_again_adds_to_the_weight_and_a_cleared_closure_refuses(node):
    twice, cleared, free = asked(
        node,
        [
            {"names": ["times w", "square"], "x": 3, "memory": "closure", "rounds": 2},
            {"names": ["times w", "square"], "x": 3, "memory": "cleared", "rounds": 2},
            {"names": ["double", "add 1"], "x": 3, "memory": "cleared", "rounds": 2},
        ],
    )
    times_w = Linear(1, 1, rng=0)
    times_w.W.data[...], times_w.b.data[...] = W, 0.0
    Y, backward = chain(times_w, as_layer(LAYERS["square"]))(np.array([[3.0]]))
    dX = [backward(np.ones_like(Y)).item() for _ in range(2)]
    assert dX == [twice["dX"]] * 2 and times_w.W.grad.item() == twice["grad"]
    assert cleared["last"] == "refused" and cleared["dX"] is None
    assert free["dX"] == 2 and free["steps"] == 6  # who remembers nothing has nothing to clear


DRIVER = """
const said = () => page.locator(".say").innerText();
found.calm = await said();
await page.getByLabel("where a layer remembers").selectOption("layer");
const step = page.getByRole("button", { name: "Step", exact: true });
await step.focus();
for (let press = 0; press < 4; press += 1) await page.keyboard.press("Enter");
found.wrong = await said();
found.link = await page.evaluate(() => window.location.hash);
await page.getByLabel("where a layer remembers").selectOption("closure");
for (let press = 0; press < 4; press += 1) await step.tap();
found.right = await said();
await page.getByLabel("layer at place 1").selectOption("times w");
for (let press = 0; press < 4; press += 1) await step.tap();
const again = page.getByRole("button", { name: "Go back once more" });
await again.tap();
await step.tap();
found.again = await said();
await page.getByLabel("where a layer remembers").selectOption("cleared");
for (let press = 0; press < 4; press += 1) await step.tap();
await again.focus();
await page.keyboard.press("Enter");
found.cleared = await said();
await page.goto(`${address}/index.html#chain=double&x=5&memory=closure&step=1`);
await page.reload();
found.linked = await said();
found.writes = await frames(`(ground, call) => [...ground.querySelectorAll("button")]
  .find((button) => button.textContent === (call % 2 ? "Step back" : "Step")).click()`);
"""


FOUR = """
const four = ["square", "square", "square", "square"].join(",");
await page.goto(`${address}/index.html#chain=${four}&x=3&memory=closure&step=8`);
await page.reload();
found.past = await ground.evaluate((ground) => {
  const edge = ground.getBoundingClientRect();
  const inside = [...ground.querySelectorAll(".value, .layer, select, .memory")];
  const places = inside.map((one) => one.getBoundingClientRect());
  return places.filter(({ left, right }) => left < edge.left || right > edge.right).length;
});
found.values = await ground.locator(".value").allInnerTexts();
"""


@pytest.mark.parametrize("width", [736, 390])  # what a figure has at 1280 pixels, and on a phone
def test_four_layers_fit(node, chromium, tmp_path, width):
    found = driven(node, chromium, tmp_path, "chain", FOUR, width=width)
    assert found["past"] == 0
    assert len(found["values"]) == 5 and "43046721" in found["values"][-1]


@pytest.mark.frames
def test_the_chain_is_walked_by_keyboard_and_by_hand_on_a_phone(node, chromium, tmp_path):
    found = driven(node, chromium, tmp_path, "chain", DRIVER)
    assert "returns 108" in found["calm"] and "Nudging the input finds the same slope, 108" in found["calm"]
    assert "Nudging the input finds 108, so 324 is wrong" in found["wrong"]
    assert found["link"] == "#chain=square%2Csquare&x=3&memory=layer&step=4"
    assert "finds the same slope, 108" in found["right"]
    assert "now 72" in found["again"] and "w.grad now holds everything twice" in found["again"]
    assert "finds its closure empty" in found["cleared"]
    assert found["linked"].startswith("double takes 5 and returns 10")
    assert 0 < found["writes"] <= 60
