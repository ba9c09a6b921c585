"""A widget has two faces that show the same pictures, and its second face needs nothing but a browser."""

import json
import re
import sys
from base64 import b64decode
from copy import deepcopy
from html import unescape
from io import BytesIO

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from PIL import Image

from course import widgets
from course.figures import slopes
from course.widgets import LIVE, Slider, Widget, explore, strip_live

ALT = "A parabola with two points on it and the line through them."
STEP = Slider("step h", values=(1.0, 0.5, 0.25), start=0.5, unit="m")
POINT = Slider("point x", values=(0, 1), start=1)


def draw(h, x=1):
    return slopes.draw_secant(np.square, x, h, x_range=(-1, 3))


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr("IPython.display.display", outputs.append)
    return outputs


def alts(html):
    return [unescape(alt) for alt in re.findall('<img [^>]*alt="([^"]*)"', html)]


def data_of(html):
    """Return what the script of the second face is given."""
    return json.loads(re.search(r"^\}\)\((.*)\);$", html, re.MULTILINE)[1])


def test_explore_shows_one_output_with_two_faces(shown):
    explore(draw, alt=ALT, h=STEP)
    bundle = shown[0]._repr_mimebundle_()
    assert set(bundle) == {LIVE, "text/html", "image/png", "text/plain"}
    on_the_page = re.search('<img [^>]*src="data:image/png;base64,([^"]*)"', bundle["text/html"])[1]
    sizes = [Image.open(BytesIO(b64decode(picture))).size for picture in (on_the_page, bundle["image/png"])]
    assert sizes[1] == tuple(2 * side for side in sizes[0])  # paper is finer
    assert bundle["text/plain"] == f"{ALT} Here step h = 0.5 m."
    assert alts(bundle["text/html"]) == [bundle["text/plain"]]
    assert plt.get_fignums() == []


def test_the_live_face_shows_another_picture_when_a_slider_moves():
    widget = Widget(draw, ALT, {"x": POINT, "h": STEP})
    image, point, step = widget.live().children
    assert alts(image.value) == [f"{ALT} Here point x = 1, step h = 0.5 m."]
    assert (point.description, step.description) == ("point x", "step h")
    first = image.value
    step.value = 2
    assert image.value == widget.img_at((1, 2)) != first
    point.value = 0
    assert alts(image.value) == [f"{ALT} Here point x = 0, step h = 0.25 m."]


def test_the_second_face_holds_every_picture_in_the_order_of_the_sliders():
    widget = Widget(draw, ALT, {"x": POINT, "h": STEP})
    controls, texts, descriptions, pictures = data_of(widget.html())
    assert texts == [["0", "1"], ["1 m", "0.5 m", "0.25 m"]]
    assert len(set(pictures)) == len(pictures) == 6
    place = 1 * len(texts[1]) + 2  # what the script computes for point x = 1, step h = 0.25
    assert descriptions[place] == f"{ALT} Here point x = 1, step h = 0.25 m."
    assert pictures[place] in widget.img_at((1, 2))
    assert controls.count('type="range"') == 2


def test_the_second_face_can_be_heard_and_reached():
    controls = data_of(Widget(draw, ALT, {"h": STEP}).html())[0]
    for words in (
        "<label",
        'aria-label="step h"',
        'aria-valuetext="0.5 m"',
        'min="0" max="2" step="1" value="1"',
    ):
        assert words in controls


def test_the_second_face_asks_nobody():
    html = Widget(draw, ALT, {"h": STEP}).html()
    assert "http" not in html
    assert re.findall(r'src="(?!data:image/png;base64,)', html) == []


def test_two_widgets_on_one_page_do_not_answer_to_the_same_name():
    names = [
        re.search(r'class="(explore-\w+)"', Widget(one, ALT, {"h": STEP}).html())[1]
        for one in (draw, draw, lambda h: draw(2 * h))
    ]
    assert names[0] == names[1] != names[2]


def test_an_output_is_the_same_in_every_run():
    assert Widget(draw, ALT, {"h": STEP}).html() == Widget(draw, ALT, {"h": STEP}).html()


def test_a_label_cannot_break_the_page():
    slider = Slider("</script><b>", values=("<i>", "&"), start="&")
    html = Widget(lambda word: draw(1.0), ALT, {"word": slider}).html()
    page, script = html.split("<script>")
    assert script.count("</script>") == 1
    assert "<b>" not in page
    assert "<b>" not in data_of(html)[0]
    assert data_of(html)[1] == [["<i>", "&"]]


def test_without_ipywidgets_the_second_face_stands_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert set(Widget(draw, ALT, {"h": STEP})._repr_mimebundle_()) == {"text/html", "image/png", "text/plain"}


def test_forty_pictures_are_enough(monkeypatch):
    many = {"x": Slider("x", range(7), 0), "h": Slider("h", range(1, 7), 1)}
    with pytest.raises(ValueError, match="these sliders make 42 pictures; 40 are the most"):
        explore(draw, alt=ALT, **many)


@pytest.mark.parametrize(
    ("sliders", "error", "sentence"),
    [
        ({}, ValueError, "one or two sliders, got 0"),
        ({"a": STEP, "b": STEP, "c": STEP}, ValueError, "one or two sliders, got 3"),
        ({"h": [1, 2]}, TypeError, r"h must be a Slider\(label, values, start\), got list"),
    ],
)
def test_explore_refuses_what_is_no_widget(sliders, error, sentence):
    with pytest.raises(error, match=sentence):
        explore(draw, alt=ALT, **sliders)


def test_explore_wants_a_sentence_before_it_draws():
    with pytest.raises(ValueError, match="whole sentence"):
        explore(lambda h: pytest.fail("drawn"), alt="secant", h=STEP)


@pytest.mark.parametrize(
    ("values", "start", "sentence"),
    [
        ((1,), 1, "needs at least two values"),
        ((1, 2), 3, r"starts at 3, none of \(1, 2\)"),
        ((1.00000001, 1.0), 1.0, "read the same: 1, 1"),
    ],
)
def test_a_slider_that_cannot_move_is_refused(values, start, sentence):
    with pytest.raises(ValueError, match=sentence):
        Slider("step h", values, start)


def test_a_stored_notebook_keeps_only_what_lives_without_a_kernel():
    faces = {"text/html": "<p>", "text/plain": "p"}
    output = nbformat.v4.new_output("display_data", {LIVE: {"model_id": "1f"}, **faces})
    stream = nbformat.v4.new_output("stream", text="5 times too small")
    cells = [nbformat.v4.new_markdown_cell("#"), nbformat.v4.new_code_cell(outputs=[output, stream])]
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {}, "kernelspec": kernel})
    before = deepcopy(notebook)
    stripped = strip_live(notebook)
    assert notebook == before
    assert stripped.metadata == {"kernelspec": kernel}
    assert stripped.cells[1].outputs == [{**output, "data": faces}, stream]
    assert strip_live(stripped) == stripped


def test_the_type_of_a_live_output_is_the_one_jupyter_uses():
    import ipywidgets

    assert widgets.LIVE in ipywidgets.IntSlider()._repr_mimebundle_()
