"""The reader of digits computes what minigrad computes, sees strokes as the data was made, and is taught."""

import json
import re

import numpy as np
import pytest

import minigrad
from authoring.moving import dequantized, put_in
from course.figures.moving import FOLDER
from minigrad import SGD, Linear, ReLU, Softmax, cross_entropy, digits
from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser
DATA = json.loads((FOLDER / "digit.json").read_text(encoding="utf-8"))
DOTS, INK, MIDDLE, WIDEST, THIN, THICK = 32, 312, 16.4, 27, 1.6, 4.4  # as in the module


def network():
    """The stored weights in the library's layers."""
    model = Linear(64, 64, rng=0) >> ReLU() >> Linear(64, 10, rng=0)
    return put_in(model, dequantized(DATA))


def arc(x, y, across, down, start, end, points=24):
    """Points on a part of an ellipse, from one angle to another, in degrees; 0 is at the right."""
    angles = np.radians(np.linspace(start, end, points))
    return np.column_stack([x + across * np.cos(angles), y + down * np.sin(angles)]).tolist()


# Ten digits as a pen writes them: strokes of points, from the upper left corner to the lower right.
WRITTEN = {
    0: [arc(0.5, 0.5, 0.25, 0.35, -90, 270)],
    1: [[[0.35, 0.3], [0.55, 0.1], [0.55, 0.9]]],
    2: [[*arc(0.5, 0.3, 0.22, 0.2, 190, 380), [0.3, 0.9], [0.75, 0.9]]],
    3: [[*arc(0.45, 0.3, 0.22, 0.2, -150, 90), *arc(0.45, 0.7, 0.26, 0.2, -90, 150)]],
    4: [[[0.45, 0.1], [0.2, 0.6], [0.8, 0.6]], [[0.6, 0.3], [0.6, 0.9]]],
    5: [[[0.7, 0.1], [0.35, 0.1], [0.32, 0.45], *arc(0.46, 0.64, 0.24, 0.24, -120, 140)]],
    6: [[[0.62, 0.1], [0.4, 0.3], *arc(0.5, 0.67, 0.2, 0.22, -170, 190)]],
    7: [[[0.25, 0.12], [0.75, 0.12], [0.45, 0.9]], [[0.35, 0.5], [0.7, 0.5]]],
    8: [[*arc(0.5, 0.3, 0.18, 0.2, 90, 450), *arc(0.5, 0.7, 0.22, 0.2, -90, 270)]],
    9: [[*arc(0.5, 0.32, 0.2, 0.21, 0, 360), [0.68, 0.55], [0.6, 0.9]]],
}


def distances(strokes):
    """How far each of 32 by 32 dots lies from strokes, which are in dots."""
    y, x = np.divmod(np.arange(DOTS**2), DOTS)
    dots = np.column_stack([x, y])[:, None] + 0.5
    starts = np.concatenate([stroke[:-1] if len(stroke) > 1 else stroke for stroke in strokes])
    ends = np.concatenate([stroke[1:] if len(stroke) > 1 else stroke for stroke in strokes])
    ways = ends - starts
    along = ((dots - starts) * ways).sum(axis=-1) / np.maximum((ways**2).sum(axis=-1), 1e-300)
    nearest = starts + np.clip(along, 0, 1)[..., None] * ways
    return np.linalg.norm(dots - nearest, axis=-1).min(axis=1)


def squares(distance, radius):
    """The dots of ink in each square of 4 by 4, as shares."""
    ink = (distance < radius).reshape(8, 4, 8, 4)
    return ink.sum(axis=(1, 3)).ravel() / 16


def picture(strokes, centred):
    """What the module makes of strokes, in NumPy."""
    strokes = [np.array(stroke, dtype=float) for stroke in strokes]
    if not centred:
        return squares(distances([DOTS * stroke for stroke in strokes]), 2.4)
    points, radius = np.concatenate(strokes), 2.4
    low, high = points.min(axis=0), points.max(axis=0)
    for _ in range(2):
        tall = (DOTS - 2 * radius) / max(high[1] - low[1], 0.05)
        wide = min(tall, (WIDEST - 2 * radius) / max(high[0] - low[0], 1e-9))
        middle = np.array([MIDDLE, DOTS / 2])
        placed = [middle + [wide, tall] * (stroke - (low + high) / 2) for stroke in strokes]
        distance = distances(placed)
        radius = np.clip(np.sort(distance)[INK], THIN, THICK)
    return squares(distance, radius)


def zigzags():
    """Strokes from left to right in steps longer than a dot, so that no point is left out."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        steps = rng.integers(2, 7, size=rng.integers(1, 4))
        yield [np.column_stack([np.linspace(0.1, 0.9, count), rng.random(count)]).tolist() for count in steps]


def test_strokes_become_pictures_as_in_numpy(node):
    cases = [{"strokes": strokes, "centred": at % 2 == 0} for at, strokes in enumerate(zigzags())]
    cases += [
        {"strokes": strokes, "centred": True} for strokes in ([[[0.5, 0.5]]], [[[0.1, 0.4], [0.9, 0.4]]])
    ]
    for case, answer in zip(
        cases, computed(node, "digit", "module.picture(one.strokes, one.centred)", cases), strict=True
    ):
        assert np.abs(answer - picture(**case)).sum() <= 1 / 16  # a dot at the very edge
    assert computed(node, "digit", "module.picture(one)", [[], [[]]]) == [[0] * 64] * 2


def test_where_and_how_large_a_digit_is_drawn_does_not_matter_and_the_ink_is_that_of_the_data(node):
    rng, cases = np.random.default_rng(1), []
    for strokes in WRITTEN.values():
        for _ in range(3):
            scale, move = rng.uniform(0.3, 1), rng.uniform(-0.2, 0.2, size=2)
            cases.append([(scale * (np.array(stroke) - 0.5) + 0.5 + move).tolist() for stroke in strokes])
    pictures = np.array(computed(node, "digit", "module.picture(one)", cases)).reshape(10, 3, 64)
    assert (
        np.abs(pictures - pictures[:, :1]).max() <= 3 / 16
    )  # dots at the edge, by what is left out as too near
    X, _ = digits()
    rows = (X.reshape(-1, 8, 8) > 0).any(axis=2)
    assert rows[:, 0].all() and rows[:, 7].all()  # every digit of the data fills the height
    assert abs(16 * X.sum(axis=1).mean() - INK) < 2
    columns = np.argwhere((X.reshape(-1, 8, 8) > 0).any(axis=1))
    ends = np.array([columns[columns[:, 0] == row, 1][[0, -1]] for row in range(len(X))])
    assert abs(4 * (ends.sum(axis=1) + 1).mean() / 2 - MIDDLE) < 0.1
    drawn = pictures[:, 0].reshape(10, 8, 8)
    assert (drawn[:, [0, 7]].max(axis=2) > 0).all()
    assert (np.abs(16 * drawn.sum(axis=(1, 2)) - INK) < 60).all()  # some is cut off at the edge


def test_ten_digits_of_a_pen_are_read(node):
    expression = "module.answerOf(module.read(module.networkOf(data), module.picture(one)))"
    answers = computed(node, "digit", expression, list(WRITTEN.values()))
    assert answers == list(WRITTEN)


def test_reading_going_back_and_learning_are_those_of_minigrad(node):
    rng = np.random.default_rng(2)
    X = np.round(rng.random((30, 64)) * (rng.random((30, 64)) > 0.5), 2)
    cases = [{"x": x.tolist(), "t": int(rng.integers(10))} for x in X]
    asked = "[module.read(network, one.x), module.gradientOf(network, one.x, one.t)]"
    asked = f"{{ const network = module.networkOf(data); return {asked}; }}"
    for case, (P, gradient) in zip(cases, computed(node, "digit", asked, cases), strict=True):
        Y, backward = network()(np.array([case["x"]]))
        assert np.allclose(P, Softmax().predict(Y)[0], rtol=1e-9)
        dX = backward(cross_entropy(Y, np.array([case["t"]]))[1]())
        assert np.allclose(gradient, dX[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("among", [False, True])
def test_a_lesson_is_gradient_descent_on_half_of_each_loss(node, among):
    rng = np.random.default_rng(3)
    cases = [
        {"X": rng.random((n, 64)).round(2).tolist(), "T": rng.integers(10, size=n).tolist()} for n in (1, 9)
    ]
    old = "module.digitsOf(data.learned)" if among else "null"
    asked = f"Object.values(module.taught(module.networkOf(data), one, {old}, 7, 0.1))"
    answers = computed(node, "digit", f"{asked}.map(({{ values }}) => [...values])", cases)
    learned = [part[:120] for part in minigrad.split(*digits())[0]]
    for case, weights in zip(cases, answers, strict=True):
        model, sgd = network(), SGD(0.1)
        parts = [(np.array(case["X"]), np.array(case["T"]))] + [learned] * among
        for _ in range(7):
            model.zero_grad()
            for X, T in parts:
                Y, backward = model(X)
                backward(cross_entropy(Y, T)[1](1 / len(parts)))
            sgd.step(model.parameters())
        for values, parameter in zip(weights, model.parameters(), strict=True):
            assert np.allclose(values, parameter.data.ravel(), rtol=1e-8, atol=1e-10)


def test_the_accuracy_is_that_on_the_chapters_test_digits(node):
    (share,) = computed(
        node, "digit", "module.accuracy(module.networkOf(data), module.digitsOf(data.test))", [0]
    )
    X, T = minigrad.split(*digits())[2]
    assert (X == np.array(computed(node, "digit", "module.digitsOf(data.test).X", [0])[0])).all()
    assert share == minigrad.accuracy(network().predict(X), T) > 0.97


def test_a_moment_goes_through_a_link(node):
    moment = {"strokes": [[[0.1, 0.2], [0.9, 0.5]], [[0.3, 0.3]]], "centred": False, "truth": 7}
    link = 'module.fromLink("#" + new URLSearchParams(module.momentOf(one)))'
    (back,) = computed(node, "digit", link, [moment])
    assert (back["centred"], back["truth"]) == (False, 7)
    assert all(
        np.allclose(*pair, atol=0.006) for pair in zip(back["strokes"], moment["strokes"], strict=True)
    )
    links = ["#digit=5,x%20300,2-1,1&truth=12", "#valley=1"]
    broken, other = computed(node, "digit", "module.fromLink(one)", links)
    assert broken == {"strokes": [[[1 / 99, 1 / 99]]], "centred": True, "truth": None} and other is None


DRIVER = """
const said = () => page.locator(".say").innerText();
const pad = page.getByRole("application");
const button = (name) => page.getByRole("button", { name });
const draw = async (strokes) => {
  const box = await pad.boundingBox();
  for (const stroke of strokes) {
    const places = stroke.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height]);
    await page.mouse.move(...places[0]);
    await page.mouse.down();
    for (const place of places.slice(1)) await page.mouse.move(...place);
    await page.mouse.up();
  }
};
const written = await ground.evaluate((ground) => JSON.parse(ground.parentNode.host.dataset.options).written);
found.empty = await said();
await draw(written.three);
found.three = await said();
found.link = await page.evaluate(() => window.location.hash);
await page.getByLabel("what did it look at").check();
found.looking = await said();
found.spots = await page.locator(".seen circle:visible").count();
await button("Clear").tap();
await pad.focus();
await page.keyboard.press(" ");
for (let press = 0; press < 9; press += 1) await page.keyboard.press("ArrowDown");
await page.keyboard.press(" ");
found.one = await said();
await page.getByLabel("centre and scale").uncheck();
await page.getByLabel("centre and scale").check();
await page.keyboard.press("Tab");
await pad.focus();
await page.keyboard.press("Delete");
found.cleared = await said();
await page.getByLabel("what did it look at").uncheck();
await draw(written.open);
found.open = await said();
await button(/^4/).tap();
found.meant = await said();
await button("Keep it as 4").tap();
found.kept = await page.locator(".yours p").innerText();
for (let lesson = 0; lesson < 3; lesson += 1) await button("Train it").tap();
await page.locator("button.main:enabled").waitFor();
found.taught = await page.locator(".yours p").innerText();
found.chart = await page.locator(".chart").getAttribute("aria-label");
await button("Forget the lessons").tap();
await page.getByLabel("among 120").check();
await button("Train it").tap();
await page.locator("button.main:enabled").waitFor();
found.among = await page.locator(".yours p").innerText();
await button("Forget the lessons").tap();
found.forgotten = await page.locator(".yours p").innerText();
await draw(written.three);
found.writes = await frames(`(ground, call) => {
  const pad = ground.querySelector(".pad");
  const { left, top, width, height } = pad.getBoundingClientRect();
  const [x, y] = [0.5 + 0.3 * Math.sin(call), call / 50];
  const place = { clientX: left + width * x, clientY: top + height * y, pointerId: 1 };
  pad.dispatchEvent(new PointerEvent(call % 10 ? "pointermove" : "pointerdown", place));
}`);
const touched = "button, input";
found.small = await ground.evaluate((ground, touched) => Math.min(...[...ground.querySelectorAll(touched)]
  .map((one) => (one.closest("label") ?? one).getBoundingClientRect()).map(({ height }) => height)), touched);
"""


@pytest.mark.frames
def test_digits_are_drawn_by_hand_and_by_keyboard_kept_and_taught(node, chromium, tmp_path):
    open_four = [[[0.3, 0.1], [0.28, 0.5], [0.72, 0.5]], [[0.7, 0.1], [0.68, 0.9]]]
    written = {"three": WRITTEN[3], "open": open_four}
    found = driven(node, chromium, tmp_path, "digit", DRIVER, {"written": written})
    assert found["empty"].startswith("Nothing is drawn yet.")
    assert found["three"].startswith("It reads 3, and is sure of it")
    assert found["link"].startswith("#digit=") and found["link"].endswith("&centred=yes")
    assert "To make it surer of 3" in found["looking"] and found["spots"] > 20
    assert found["one"].startswith("It reads 1") and found["cleared"] == found["empty"]
    assert found["open"].startswith("It reads 9")
    assert found["meant"].endswith("You meant 4: keep it, and train on it.")
    assert found["kept"] == "It read 0 of your 1 when you drew it, and reads 265 of the 270 test digits."
    lessons = r"After [13]0 steps it reads 1 of your 1, and (\d+) of the 270 test digits. Before .* 265."
    alone, among = (int(re.fullmatch(lessons, found[name])[1]) for name in ("taught", "among"))
    assert alone < 230 < 245 < among  # what it learned from keeps it from forgetting
    assert (
        "right of yours, from 0\u00a0% to 100\u00a0%" in found["chart"]
        and found["forgotten"] == found["kept"]
    )
    assert 0 < found["writes"] <= 300
    assert found["small"] >= 24  # pixels, the least that a finger should have to hit


GIVEN = """
const said = () => page.locator(".say").innerText();
found.given = await said();
found.spots = await page.locator(".seen circle:visible").count();
const pad = page.getByRole("application");
await pad.focus();
for (const key of [" ", "ArrowDown", "ArrowDown", " "]) await page.keyboard.press(key);
found.drawn = await said();
await page.getByRole("button", { name: "Clear" }).tap();
found.cleared = await said();
"""


def test_the_reader_begins_with_the_picture_that_its_caption_describes(node, chromium, tmp_path):
    one = [round(float(ink), 4) for ink in digits()[0][5]]
    found = driven(node, chromium, tmp_path, "digit", GIVEN, {"first": one})
    assert found["given"].startswith("It reads 5 ") and found["given"].endswith(
        "Now draw a digit of your own."
    )
    assert found["spots"] > 20
    assert found["drawn"].endswith("What did you mean? Tap it.")
    assert found["cleared"].startswith("Nothing is drawn yet.")
