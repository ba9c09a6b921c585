"""A slider that moves a figure: live beside a kernel, and still moving in the book, where there is none.

Holds Slider, explore, and strip_live, which leaves in a stored notebook only what works without a kernel.
Leaves out what is drawn: explore is given a drawing function. Used from chapter 01 on.
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

from course.figures import figure_of, img, light_and_sharp, png, require_alt, source

LIVE = "application/vnd.jupyter.widget-view+json"
MAX_PICTURES = 40  # at about 15 kB each, a notebook stays under a megabyte

# The script brings the controls: where it does not run, nothing looks alive that is not. The attribute
# data-lm-suppress-shortcuts keeps JupyterLab from taking the arrow keys for itself.
PAGE = Template("""\
<div class="$name" style="max-width:704px;padding:4px;background:white;color:#262626;color-scheme:light">
$image
<div></div>
</div>
<script>
(function ([controls, texts, alts, pictures]) {
  document.querySelectorAll(".$name").forEach(function (box) {
    box.querySelector("div").innerHTML = controls;
    const image = box.querySelector("img");
    const inputs = box.querySelectorAll("input");
    function show() {
      let place = 0;
      inputs.forEach(function (input, index) {
        const text = texts[index][input.value];
        place = place * texts[index].length + Number(input.value);
        input.setAttribute("aria-valuetext", text);
        input.nextElementSibling.textContent = text;
      });
      image.src = pictures[place];
      image.alt = alts[place];
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
    """What one slider of a widget offers.

    Parameters
    ----------
    label : str
        What the reader moves, in words.
    values : sequence
        The stops, in order: numbers or words.
    start : one of `values`
        Where it stands first.
    unit : str
        Written after the value.

    Raises
    ------
    ValueError
        If there are fewer than two values, two that read the same, or `start` is none of them.

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
                f"two values of the slider {self.label!r} read the same: {', '.join(self.texts)}."
            )
        if self.start not in self.values:
            raise ValueError(f"the slider {self.label!r} starts at {self.start!r}, none of {self.values}.")

    @property
    def texts(self):
        """The values as the reader sees them, with their unit."""
        texts = (value if isinstance(value, str) else f"{value:g}" for value in self.values)
        return tuple(f"{text} {self.unit}".strip() for text in texts)


class Widget:
    """A figure with sliders, as notebooks show it; made by `explore`.

    Parameters
    ----------
    draw : function, the value of each slider by name -> axes or figure
    alt : str
    sliders : dict of str to Slider

    Attributes
    ----------
    start : tuple of int
        The stop at which each slider stands first.
    pictures : dict of tuple of int to bytes
        The picture at every combination of stops, drawn once for both faces, so that a move costs no drawing.
    sharp : bytes
        The first picture, for whoever shows no HTML.
    """

    def __init__(self, draw, alt, sliders):
        self.alt, self.sliders = require_alt(alt), tuple(sliders.values())
        self.start = tuple(slider.values.index(slider.start) for slider in self.sliders)
        self.pictures = {}
        for stops in product(*(range(len(slider.values)) for slider in self.sliders)):
            values = (slider.values[stop] for slider, stop in zip(self.sliders, stops, strict=True))
            figure = figure_of(draw(**dict(zip(sliders, values, strict=True))))
            if stops == self.start:
                self.pictures[stops], self.sharp = light_and_sharp(figure)
            else:
                self.pictures[stops] = png(figure)

    def alt_at(self, stops):
        """Return the alternative text with the sliders at these stops."""
        places = zip(self.sliders, stops, strict=True)
        stands = ", ".join(f"{slider.label} = {slider.texts[stop]}" for slider, stop in places)
        return f"{self.alt} Here {stands}."

    def img_at(self, stops):
        """Return the HTML of the picture with the sliders at these stops."""
        return img(self.pictures[stops], self.alt_at(stops))

    def html(self):
        """Return the face that needs no kernel: range inputs, and a script that changes the picture."""
        controls = "".join(map(_control, self.sliders, self.start))
        texts = [slider.texts for slider in self.sliders]
        alts, pictures = map(self.alt_at, self.pictures), map(source, self.pictures.values())
        data = json.dumps([controls, texts, list(alts), list(pictures)])
        return PAGE.substitute(
            name=f"explore-{hashlib.sha256(data.encode()).hexdigest()[:12]}",
            image=self.img_at(self.start),
            data=data.replace("</", "<\\/"),  # careful: a label must not be able to end the script
        )

    def live(self):
        """Return the face that lives beside a kernel, or None where ipywidgets is not installed."""
        try:
            import ipywidgets
        except ImportError:
            return None  # the other face stands alone
        image = ipywidgets.HTML(self.img_at(self.start))
        controls = [
            ipywidgets.SelectionSlider(
                options=[(text, stop) for stop, text in enumerate(slider.texts)],
                value=stop,
                description=slider.label,
                style={"description_width": "initial"},
                layout={"width": "95%", "max_width": "700px"},
            )
            for slider, stop in zip(self.sliders, self.start, strict=True)
        ]

        def redraw(change):
            image.value = self.img_at(tuple(control.value for control in controls))

        for control in controls:
            control.observe(redraw, names="value")
        return ipywidgets.VBox([image, *controls])

    def __repr__(self):
        return self.alt_at(self.start)

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return both faces, and a sharp picture; whoever shows the output takes the first it can."""
        live = self.live()
        faces = {} if live is None else {LIVE: live._repr_mimebundle_()[LIVE]}
        faces |= {"text/html": self.html(), "image/png": b64encode(self.sharp).decode()}
        return faces | {"text/plain": repr(self)}


def _control(slider, stop):
    """Return the HTML of one slider."""
    label, text = escape(slider.label), escape(slider.texts[stop])
    return CONTROL.substitute(label=label, text=text, last=len(slider.values) - 1, stop=stop)


def explore(draw, alt, **sliders):
    """Show a figure with one or two sliders under it.

    Parameters
    ----------
    draw : function, the value of each slider by name -> axes or figure
    alt : str
        What the picture shows, in a sentence that is true at every stop; the stops are added to it.
    **sliders : Slider
        One or two, named like the arguments of `draw`; at most 40 pictures together.

    Raises
    ------
    ValueError
        If there is no slider, more than two, or more than 40 pictures; if `alt` is no sentence.
    TypeError
        If something else than a Slider is given.

    Notes
    -----
    One output with two faces: beside a kernel a live widget, elsewhere a plain range input, which needs
    neither kernel nor network. Both move through pictures that are drawn once, now. Where scripts are off,
    the first picture stays.
    """
    from IPython.display import display

    if not 1 <= len(sliders) <= 2:
        raise ValueError(f"explore takes one or two sliders, got {len(sliders)}.")
    for name, slider in sliders.items():
        if not isinstance(slider, Slider):
            raise TypeError(f"{name} must be a Slider(label, values, start), got {type(slider).__name__}.")
    count = prod(len(slider.values) for slider in sliders.values())
    if count > MAX_PICTURES:
        raise ValueError(
            f"these sliders make {count} pictures; {MAX_PICTURES} are the most, since the book keeps each. "
            "Give the sliders fewer values."
        )
    display(Widget(draw, alt, sliders))


def strip_live(notebook):
    """Return a notebook without its live widgets, which are dead once its kernel is gone.

    Parameters
    ----------
    notebook : NotebookNode or dict
        Left as it is.

    Returns
    -------
    same type
        A copy without the widget views in its outputs and the widget state in its metadata. What stays is the
        face that works without a kernel, and that is the same in every run.

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
            output.get("data", {}).pop(LIVE, None)
    return notebook
