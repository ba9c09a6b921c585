"""A figure with sliders needs only a browser; one whose sliders stop anywhere leaves its picture behind."""

import json
import re
from base64 import b64decode
from copy import deepcopy
from html import unescape
from io import BytesIO
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances
from PIL import Image

from course.colours import INK, THEMED
from course.figures import slopes, widgets
from course.figures.widgets import AGAIN, LIVE, Slider, Widget, explore, live, strip_live

STEP = Slider("step h", values=(1.0, 0.5, 0.25), start=0.5, unit="m")
POINT = Slider("point x", values=(0, 1), start=1)


def draw(h, x=1):
    return slopes.secant(np.square, x, h, x_range=(-1, 3))


def alts(html):
    return [unescape(alt) for alt in re.findall('<img [^>]*alt="([^"]*)"', html)]


def data_of(html):
    """Return what the script of the page is given."""
    return json.loads(re.search(r"^\}\)\((.*)\);$", html, re.MULTILINE)[1])


def test_explore_returns_one_output_that_no_kernel_moves():
    bundle = explore(draw, h=STEP)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    figure = draw(0.5)
    assert bundle["text/plain"] == f"{figure.alt} Here step h = 0.5 m."
    assert alts(bundle["text/html"]) == [figure.alt]
    assert figure.html in bundle["text/html"]
    assert plt.get_fignums() == []


def test_a_live_figure_is_drawn_anew_where_a_slider_is_let_go(monkeypatch):
    shown, updated = [], []

    def display(data, **options):
        shown.append(data)
        return SimpleNamespace(update=lambda faces, raw: updated.append(faces))

    monkeypatch.setattr("IPython.display.display", display)
    live(lambda x, h: draw(h, x), x=(-1, 3), h=(1, 2))._ipython_display_()
    picture, controls = shown
    assert draw(1.5, 1).html in picture["text/html"] and picture["text/plain"] == draw(1.5, 1).alt
    assert set(controls) == {LIVE, "text/plain"} and controls["text/plain"] == AGAIN
    x, h = _instances[controls[LIVE]["model_id"]].children
    x.value = 3
    assert draw(1.5, 3).html in updated[-1]["text/html"]
    h.value = 1
    assert draw(1, 3).html in updated[-1]["text/html"]


def test_a_live_figure_is_a_figure_where_there_is_no_kernel():
    assert (
        live(lambda x: draw(1, x), x=(0, 2))._repr_mimebundle_().keys() == draw(1)._repr_mimebundle_().keys()
    )


def test_the_page_holds_every_figure_in_the_order_of_the_sliders():
    widget = Widget(draw, {"x": POINT, "h": STEP})
    controls, texts, drawings, descriptions, words, themed = data_of(widget.html())
    assert texts == [["0", "1"], ["1 m", "0.5 m", "0.25 m"]]
    assert len(set(drawings)) == len(drawings) == len(descriptions) == len(words) == 6
    place = 1 * len(texts[1]) + 2  # what the script computes for point x = 1, step h = 0.25
    figure = draw(0.25, 1)
    assert (drawings[place], descriptions[place], words[place]) == (figure.svg, figure.alt, figure.words)
    assert controls.count('type="range"') == 2
    assert [INK, THEMED[INK]] in themed


def test_the_page_can_be_heard_and_reached():
    controls = data_of(Widget(draw, {"h": STEP}).html())[0]
    for words in (
        "<label",
        'aria-label="step h"',
        'aria-valuetext="0.5 m"',
        'min="0" max="2" step="1" value="1"',
    ):
        assert words in controls


def test_the_page_asks_nobody():
    html = Widget(draw, {"h": STEP}).html()
    names = {name for drawing in data_of(html)[2] for name in namespaces(drawing)}
    assert set(re.findall(r"https?://[\w./]+", html)) == names
    assert re.findall(r'src="(?!data:image/svg[+]xml;base64,)', html) == []


def namespaces(drawing):
    """The names of what a drawing is written in; they are addresses, but nobody goes there."""
    assert ElementTree.fromstring(drawing) is not None
    return re.findall(r'xmlns(?::\w+)?="([^"]*)"', drawing)


def test_on_paper_there_are_up_to_four_stops():
    def sheet(*sliders):
        picture = Widget(lambda **stops: draw(0.5), sliders=dict(zip("xh", sliders, strict=False))).sheet()
        return Image.open(BytesIO(picture)).size

    one = 704, 396
    two_in_a_row = 2 * one[0] + widgets.GAP, one[1] + widgets.BAND
    assert sheet(POINT) == two_in_a_row
    for sliders in ([STEP], [Slider("many", range(9), 0)], [POINT, STEP]):
        assert sheet(*sliders) == (two_in_a_row[0], 2 * two_in_a_row[1])
    bundle = Widget(draw, {"h": STEP})._repr_mimebundle_()
    assert Image.open(BytesIO(b64decode(bundle["image/png"]))).size == sheet(STEP)


def test_the_stops_on_paper_are_spread_from_end_to_end():
    def places(*counts):
        sliders = [Slider(str(place), range(count), 0) for place, count in enumerate(counts)]
        return [*widgets.printed_stops(sliders)]

    assert places(3) == [(0,), (1,), (2,)]
    assert places(9) == [(0,), (3,), (5,), (8,)]
    assert places(7, 5) == [(0, 0), (0, 4), (6, 0), (6, 4)]


def test_two_widgets_on_one_page_do_not_answer_to_the_same_name():
    names = [
        re.search(r'class="(explore-\w+)"', Widget(one, {"h": STEP}).html())[1]
        for one in (draw, draw, lambda h: draw(2 * h))
    ]
    assert names[0] == names[1] != names[2]


def test_an_output_is_the_same_in_every_run():
    assert Widget(draw, {"h": STEP}).html() == Widget(draw, {"h": STEP}).html()


def test_a_label_cannot_break_the_page():
    slider = Slider("</script><b>", values=("<i>", "&"), start="&")
    html = Widget(lambda word: draw(1.0), {"word": slider}).html()
    page, script = html.split("<script>")
    assert script.count("</script>") == 1
    assert "<b>" not in page
    assert "<b>" not in data_of(html)[0]
    assert data_of(html)[1] == [["<i>", "&"]]


def test_forty_pictures_are_enough():
    many = {"x": Slider("x", range(7), 0), "h": Slider("h", range(1, 7), 1)}
    with pytest.raises(ValueError, match="these sliders make 42 pictures; at most 40"):
        explore(draw, **many)


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
        explore(draw, **sliders)


def test_explore_wants_figures():
    with pytest.raises(TypeError, match="draw must return a Figure of course.figures, got Axes"):
        explore(lambda h: plt.subplots()[1], h=STEP)
    plt.close("all")


@pytest.mark.parametrize(
    ("values", "start", "sentence"),
    [
        ((1,), 1, "needs at least two values"),
        ((1, 2), 3, r"starts at 3, which is not one of \(1, 2\)"),
        ((1.00000001, 1.0), 1.0, "have the same text: 1, 1"),
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
