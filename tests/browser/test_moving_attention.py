"""Attention in the page is that of chapter 16, at each of its updates, and is looked at by hand."""

import json

import numpy as np
import pytest

import minigrad
from authoring.moving import dequantized, put_in
from course.figures.moving import FOLDER
from tests.browser.moving import computed, driven

pytestmark = pytest.mark.browser
DATA = json.loads((FOLDER / "attention.json").read_text(encoding="utf-8"))
PI = [3, 1, 4, 1, 5, 9, 2, 6]


def reverser(update):
    """The stored weights after some updates in the library's layers."""
    model = (
        minigrad.Embedding(10, 16, rng=0)
        >> minigrad.Positions(8, 16, rng=0)
        >> minigrad.MultiHeadAttention(16, rng=0)
        >> minigrad.Linear(16, 10, rng=0)
    )
    return put_in(model, dequantized(DATA["models"][DATA["updates"].index(update)]))


def looked(node, cases):
    """What the module computes of each list of digits, after each number of updates."""
    model = "module.modelOf(data.models[data.updates.indexOf(one.update)])"
    return computed(node, "attention", f"module.look({model}, one.digits)", cases)


def test_weights_and_answers_are_those_of_minigrad_at_every_update(node):
    rng = np.random.default_rng(0)
    assert DATA["updates"] == list(range(0, 41, 2))
    cases = [
        {"update": update, "digits": rng.integers(10, size=8).tolist()} for update in DATA["updates"] * 2
    ]
    for case, answer in zip(cases, looked(node, cases), strict=True):
        model, X = reverser(case["update"]), np.array([case["digits"]])
        embedding, positions, attention, _ = model.layers
        A = attention.weights((embedding >> positions).predict(X))[0, 0]
        assert np.allclose(answer["A"], A, rtol=1e-9)
        Y = model.predict(X)
        assert np.allclose(answer["P"], minigrad.Softmax().predict(Y)[0], rtol=1e-9)
        assert answer["written"] == Y[0].argmax(axis=-1).tolist()


def test_before_training_it_looks_at_digits_and_afterwards_at_places(node):
    rng = np.random.default_rng(1)
    lists = [PI, *rng.integers(10, size=(40, 8)).tolist()]
    before = looked(node, [{"update": 0, "digits": digits} for digits in lists])
    after = looked(node, [{"update": 40, "digits": digits} for digits in lists])
    aims = [np.argmax(answer["A"], axis=1).tolist() for answer in (before[0], after[0])]
    assert aims[0][1] == aims[0][3] == 2 and aims[1] == [7, 6, 5, 4, 3, 2, 1, 0]
    right = [answer["written"] == digits[::-1] for answer, digits in zip(after, lists, strict=True)]
    assert np.mean(right) > 0.9


def test_what_is_typed_and_linked_is_read(node):
    cases = ["#attention=12345678&step=3&update=20", "#attention=9x&step=9&update=21", "#valley=1"]
    right, broken, other = computed(node, "attention", "module.fromLink(one, data.updates)", cases)
    assert right == {"digits": [1, 2, 3, 4, 5, 6, 7, 8], "step": 3, "update": 20} and other is None
    assert broken == {"digits": [9, 0, 0, 0, 0, 0, 0, 0], "step": 0, "update": 0}


DRIVER = """
const said = () => page.locator(".say").innerText();
const step = (at) => page.getByRole("button", { name: `step ${at} holds` });
found.start_words = await said();
await step(3).tap();
found.tapped = await said();
await page.getByRole("button", { name: "Train" }).tap();
found.trained = await said();
found.link = await page.evaluate(() => window.location.hash);
await step(3).focus();
await page.keyboard.press("ArrowLeft");
await page.keyboard.press("ArrowUp");
await page.keyboard.press("8");
found.typed = await page.getByLabel("the list").inputValue();
found.pressed = await said();
await page.getByLabel("the list").fill("00000007");
found.list = await said();
await page.getByLabel("the list").fill("31");
await page.keyboard.press("Enter");
found.short = await said();
await page.getByLabel("the list").fill("00000007");
await page.getByRole("slider", { name: "updates" }).focus();
await page.keyboard.press("Home");
found.untrained = await said();
await page.getByRole("button", { name: "Another list" }).tap();
await page.goto(`${address}/index.html#attention=11111112&step=0&update=40`);
await page.reload();
found.linked = await said();
found.writes = await frames(`(ground, call) => {
  const slider = ground.querySelector("input[type=range]");
  slider.value = call % 21;
  slider.dispatchEvent(new Event("input"));
}`);
found.small = await ground.evaluate((ground) => Math.min(
  ...[...ground.querySelectorAll("button, input, .token rect")]
  .map((one) => one.getBoundingClientRect()).flatMap(({ width, height }) => [width, height])));
"""


@pytest.mark.frames
def test_steps_are_tapped_digits_typed_and_the_model_trained_on_a_phone(node, chromium, tmp_path):
    found = driven(node, chromium, tmp_path, "attention", DRIVER)
    first = "Before training, step 1, which holds 1, looks most at step 2, which holds 4: weight 0."
    assert found["start_words"].startswith(first) and "It should write 2, and writes" in found["start_words"]
    assert found["tapped"].startswith("Before training, step 3, which holds 1, looks most at step 2")
    assert found["trained"].startswith("After 40 updates, step 3, which holds 1, looks most at step 4")
    assert "It writes 5, which is right. 8 of 8 digits are right." in found["trained"]
    assert found["link"] == "#attention=31415926&step=3&update=40"
    assert found["short"] == "A list has eight digits, and you typed 2: the others are as before."
    assert found["typed"] == "31815926" and "step 2, which holds 8, looks most at step 5" in found["pressed"]
    assert "which holds 0:" in found["list"] and found["untrained"].startswith("Before training, step 2")
    assert found["linked"].startswith(
        "After 40 updates, step 0, which holds 1, looks most at step 7, which holds 2"
    )
    assert 0 < found["writes"] <= 450
    assert found["small"] >= 24  # pixels, the least that a finger should have to hit
