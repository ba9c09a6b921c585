"""Figures with sliders: `explore` draws all stops in advance, `live` redraws with the kernel.

Both take a drawing function. `strip_live` removes the parts of a stored notebook that need a kernel.
Used from chapter 01 on.
"""

import hashlib
import json
from base64 import b64encode
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from itertools import product
from math import prod
from string import Template

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image, ImageDraw, ImageFont

from course.colours import INK, THEMED
from course.figures import IN_A_BROWSER, PIXELS, Figure, png_of
from course.figures.moving import without_script

LIVE = "application/vnd.jupyter.widget-view+json"
AGAIN = "Run this cell in JupyterLab to move the picture."
# Without the kernel, JupyterLab shows an error in an empty box; this replaces it with AGAIN.
GONE = f"""\
<style>
.jp-OutputArea-child:has([data-by-kernel]) + * .jupyter-widgets:not(:has(*)) {{ font-size: 0 }}
.jp-OutputArea-child:has([data-by-kernel]) + * .jupyter-widgets:not(:has(*))::before {{
  content: "{AGAIN}"; font-size: var(--jp-code-font-size)
}}
</style>"""
MAX_PICTURES = 40  # at about 15 kB each, a notebook stays under a megabyte
GAP, BAND, LETTER = 40, 44, 22  # pixels of the printed sheet: between pictures, above each, font size

# The script adds the controls: without it there are no dead sliders. If the book has inlined the first
# drawing as SVG, the others replace it there, with its colours for light and dark pages. The attribute
# data-lm-suppress-shortcuts keeps JupyterLab from using the arrow keys as shortcuts.
PAGE = Template("""\
<div class="$name" style="max-width:720px">
$figure
<div></div>
</div>
<script>
(function ([controls, texts, drawings, alts, words, themed]) {
  document.querySelectorAll(".$name").forEach(function (box) {
    box.querySelector(":scope > div").innerHTML = controls;
    const picture = box.querySelector("img, svg");
    const inputs = box.querySelectorAll("input");
    function draw(place) {
      if (picture.tagName === "IMG") {
        picture.src = "data:image/svg+xml," + encodeURIComponent(drawings[place]);
        picture.alt = alts[place];
        return;
      }
      const drawing = new DOMParser().parseFromString(drawings[place], "image/svg+xml").documentElement;
      picture.innerHTML = themed.reduce(function (inner, [colour, name]) {
        return inner.replaceAll(": " + colour, ": var(" + name + ", " + colour + ")");
      }, drawing.innerHTML);
      picture.setAttribute("viewBox", drawing.getAttribute("viewBox"));
      picture.setAttribute("aria-label", alts[place]);
    }
    function show() {
      let place = 0;
      inputs.forEach(function (input, index) {
        const text = texts[index][input.value];
        place = place * texts[index].length + Number(input.value);
        input.setAttribute("aria-valuetext", text);
        input.nextElementSibling.textContent = text;
      });
      draw(place);
      const caption = box.querySelector("figcaption");
      const number = caption.querySelector(".figure-number");
      caption.innerHTML = (number ? number.outerHTML + " " : "") + words[place];
    }
    inputs.forEach(function (input) { input.addEventListener("input", show); });
  });
})($data);
</script>
""")
CONTROL = Template("""\
<label style="display:flex;gap:8px;align-items:center;margin:2px 0">
<span style="min-width:6em">$label</span>
<input type="range" min="0" max="$last" step="1" value="$stop" autocomplete="off" style="flex:1"
 aria-label="$label" aria-valuetext="$text" data-lm-suppress-shortcuts="true">
<span style="min-width:5em" aria-hidden="true">$text</span>
</label>
""")


@dataclass(frozen=True)
class Slider:
    """One slider of a widget.

    Parameters
    ----------
    label : str
        The quantity that the slider changes.
    values : sequence
        The stops, in order: numbers or words.
    start : one of `values`
        The first value.
    unit : str
        Written after the value.

    Raises
    ------
    ValueError
        If there are fewer than two values, two with the same text, or `start` is not one of them.

    Examples
    --------
    >>> Slider("step h", values=(1.0, 0.5, 0.25), start=0.5).texts
    ('1', '0.5', '0.25')
    """

    label: str
    values: tuple
    start: object
    unit: str = ""

    def __post_init__(self):
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) < 2:
            raise ValueError(f"the slider {self.label!r} needs at least two values, got {self.values}.")
        if len(set(self.texts)) < len(self.values):
            raise ValueError(
                f"two values of the slider {self.label!r} have the same text: {', '.join(self.texts)}."
            )
        if self.start not in self.values:
            raise ValueError(
                f"the slider {self.label!r} starts at {self.start!r}, which is not one of {self.values}."
            )

    @property
    def texts(self):
        """The values as shown to the reader, with their unit."""
        texts = (value if isinstance(value, str) else f"{value:g}" for value in self.values)
        return tuple(f"{text} {self.unit}".strip() for text in texts)


class Widget:
    """A figure with sliders, made by `explore`.

    Parameters
    ----------
    draw : function, the value of each slider by name -> Figure
    sliders : dict of str to Slider

    Attributes
    ----------
    start : tuple of int
        The first stop of each slider.
    figures : dict of tuple of int to Figure
        The figure at every combination of stops, all drawn in advance.
    """

    def __init__(self, draw, sliders):
        self.sliders = tuple(sliders.values())
        self.start = tuple(slider.values.index(slider.start) for slider in self.sliders)
        self.figures = {}
        for stops in product(*(range(len(slider.values)) for slider in self.sliders)):
            values = (slider.values[stop] for slider, stop in zip(self.sliders, stops, strict=True))
            figure = draw(**dict(zip(sliders, values, strict=True)))
            if not isinstance(figure, Figure):
                raise TypeError(f"draw must return a Figure of course.figures, got {type(figure).__name__}.")
            self.figures[stops] = figure

    def position(self, stops):
        """Return the position of the sliders in words."""
        places = zip(self.sliders, stops, strict=True)
        return ", ".join(f"{slider.label} = {slider.texts[stop]}" for slider, stop in places)

    def html(self):
        """Return the version for a screen: range inputs, and a script that changes the picture."""
        controls = "".join(map(_control, self.sliders, self.start))
        texts = [slider.texts for slider in self.sliders]
        figures = self.figures.values()
        faces = [[getattr(figure, face) for figure in figures] for face in ("svg", "alt", "words")]
        themed = [(colour.lower(), name) for colour, name in THEMED.items()]
        data = json.dumps([controls, texts, *faces, themed])
        return PAGE.substitute(
            name=f"explore-{hashlib.sha256(data.encode()).hexdigest()[:12]}",
            figure=self.figures[self.start].html,
            data=data.replace("</", "<\\/"),  # careful: a label must not be able to end the script
        )

    def sheet(self):
        """Return the version for paper: up to four stops of one slider, or both ends of two, two in a row."""
        shown = {self.position(stops): _bitmap(self.figures[stops]) for stops in printed_stops(self.sliders)}
        width, height = np.max([picture.size for picture in shown.values()], axis=0)
        rows = -(-len(shown) // 2)
        sheet = Image.new("RGB", (2 * width + GAP, rows * (height + BAND)), "white")
        for place, (words, picture) in enumerate(shown.items()):
            corner = place % 2 * (width + GAP), place // 2 * (height + BAND)
            ImageDraw.Draw(sheet).text(corner, words, INK, ImageFont.load_default(LETTER))
            sheet.paste(picture, (corner[0], corner[1] + BAND))
        return png_of(sheet, 2 * PIXELS)

    def __repr__(self):
        return f"{self.figures[self.start].alt} Here {self.position(self.start)}."

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return all representations; a frontend shows the richest it supports."""
        faces = {"text/html": self.html()}
        if not IN_A_BROWSER:
            faces["image/png"] = b64encode(self.sheet()).decode()
        return faces | {"text/plain": repr(self)}


def printed_stops(sliders):
    """Return the stops to print: up to four of one slider, or both ends of each of two.

    Parameters
    ----------
    sliders : sequence of Slider

    Returns
    -------
    iterator of tuple of int

    Examples
    --------
    >>> [*printed_stops([Slider("step h", values=range(9), start=0)])]
    [(0,), (3,), (5,), (8,)]
    """
    most = 4 if len(sliders) == 1 else 2  # of each slider
    counts = [len(slider.values) for slider in sliders]
    ends = (np.linspace(0, count - 1, min(most, count)).round().astype(int).tolist() for count in counts)
    return product(*ends)


def _bitmap(figure):
    """Return a figure as a Pillow image."""
    canvas = FigureCanvasAgg(figure.drawing)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def _control(slider, stop):
    """Return the HTML of one slider."""
    label, text = escape(slider.label), escape(slider.texts[stop])
    return CONTROL.substitute(label=label, text=text, last=len(slider.values) - 1, stop=stop)


def explore(draw, **sliders):
    """Return a figure with one or two sliders under it, to be shown as the last line of a cell.

    Parameters
    ----------
    draw : function, the value of each slider by name -> Figure
        Each stop has its own title, caption and alternative text.
    **sliders : Slider
        One or two, named like the arguments of `draw`; at most 40 pictures in all.

    Returns
    -------
    Widget

    Raises
    ------
    ValueError
        If there is no slider, more than two, or more than 40 pictures.
    TypeError
        If a slider is not a Slider, or `draw` does not return a Figure.

    Notes
    -----
    The output has two representations: on a screen a plain range input, which needs neither kernel nor
    network, and in print a sheet of up to four stops. All figures are drawn in advance, so the slider still
    works when a stored notebook is opened; without scripts, the first figure is shown.
    """
    if not 1 <= len(sliders) <= 2:
        raise ValueError(f"explore takes one or two sliders, got {len(sliders)}.")
    for name, slider in sliders.items():
        if not isinstance(slider, Slider):
            raise TypeError(f"{name} must be a Slider(label, values, start), got {type(slider).__name__}.")
    count = prod(len(slider.values) for slider in sliders.values())
    if count > MAX_PICTURES:
        raise ValueError(
            f"these sliders make {count} pictures; at most {MAX_PICTURES} are allowed, since the book stores "
            "each. Give the sliders fewer values."
        )
    return Widget(draw, sliders)


class Live:
    """A figure that the kernel redraws when a slider is released; made by `live`.

    Parameters
    ----------
    draw : function, a number for each slider by name -> Figure
    ranges : dict of str to (float, float)

    Attributes
    ----------
    figure : Figure
        The figure at the middle of all ranges.
    """

    def __init__(self, draw, ranges):
        self.draw, self.ranges = draw, ranges
        self.figure = draw(**{name: (low + high) / 2 for name, (low, high) in ranges.items()})

    def _ipython_display_(self):
        """Show the figure, and the controls below it as a separate output.

        A saved notebook contains the last figure drawn; the controls need the kernel.
        """
        import ipywidgets
        from IPython.display import display

        sliders = {
            name: ipywidgets.FloatSlider(
                min=low,
                max=high,
                value=(low + high) / 2,
                step=(high - low) / 100,
                description=name,
                continuous_update=False,
            )
            for name, (low, high) in self.ranges.items()
        }
        shown = display(_kept(self.figure), raw=True, display_id=True)

        def redraw(change):
            values = {name: slider.value for name, slider in sliders.items()}
            shown.update(_kept(self.draw(**values)), raw=True)

        for slider in sliders.values():
            slider.observe(redraw, names="value")
        controls = ipywidgets.VBox([*sliders.values()])
        display({LIVE: controls._repr_mimebundle_()[LIVE], "text/plain": AGAIN}, raw=True)

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the figure alone, for a page without a kernel."""
        return self.figure._repr_mimebundle_()


def _kept(figure):
    """Return a figure's representations, with the style that hides controls without a kernel."""
    faces = figure._repr_mimebundle_()
    return faces | {"text/html": f"<div data-by-kernel>{faces['text/html']}</div>{GONE}"}


def live(draw, **ranges):
    """Return a figure with continuous sliders, to be shown as the last line of a cell.

    Parameters
    ----------
    draw : function, a number for each slider by name -> Figure
        Called each time a slider is released.
    **ranges : (float, float)
        The minimum and maximum of each slider, named like the arguments of `draw`.

    Returns
    -------
    Live

    Notes
    -----
    It needs a kernel. Use it for a function that the reader changes, and `explore` for all others.
    """
    return Live(draw, ranges)


def strip_live(notebook):
    """Return a notebook without the controls of `live`, which need a kernel, and without scripts.

    Parameters
    ----------
    notebook : NotebookNode or dict
        Not changed.

    Returns
    -------
    same type
        A copy without the widget views in its outputs and the widget state in its metadata; each interactive
        picture keeps only its host with the still picture, since a page loads its script from one place. The
        copy is the same in every run.

    Examples
    --------
    >>> data = {LIVE: {"model_id": "1f"}, "text/html": "<p>still here</p>"}
    >>> strip_live({"metadata": {"widgets": {}}, "cells": [{"outputs": [{"data": data}]}]})
    {'metadata': {}, 'cells': [{'outputs': [{'data': {'text/html': '<p>still here</p>'}}]}]}
    """
    notebook = deepcopy(notebook)
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            data.pop(LIVE, None)
            if "text/html" in data:
                data["text/html"] = without_script(data["text/html"])
    return notebook
