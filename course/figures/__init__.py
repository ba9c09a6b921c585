"""Showing a figure together with its alternative text, small and the same everywhere.

Holds show, which a cell calls on what a drawing function returned, and the steps it is made of. Importing
this package puts the course's style on. Leaves out the drawing functions: each part of the course has its
file here, with pure functions `draw_...(data, ax=None) -> ax`.
"""

import sys
from base64 import b64encode
from html import escape
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from course import style

style.use()

# Dots for each pixel of a page, along each side, in the picture for paper. From a browser nobody prints.
SHARP = 1 if sys.platform == "emscripten" else 2
SENTENCE = 30  # characters; "A plot of the loss." tells a listener nothing


def require_alt(alt):
    """Return alternative text, or refuse what is less than a sentence.

    Parameters
    ----------
    alt : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If alt is no text, or too short to tell what is to be seen.

    Examples
    --------
    >>> require_alt("The loss falls from 2.3 to 0.1 within five epochs.")
    'The loss falls from 2.3 to 0.1 within five epochs.'
    """
    if not isinstance(alt, str) or len(alt.strip()) < SENTENCE or alt.strip()[-1] not in ".!?":
        raise ValueError(
            f"alt tells the picture to a reader who cannot see it, in a whole sentence; got {alt!r}. "
            'Say what is to be seen, for example alt="The loss falls from 2.3 to 0.1 within five epochs."'
        )
    return alt.strip()


def figure_of(drawn):
    """Return the figure of what a drawing function returned: axes, or the figure itself.

    Parameters
    ----------
    drawn : matplotlib Axes or Figure

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(drawn, Axes):
        return drawn.figure
    if isinstance(drawn, Figure):
        return drawn
    raise TypeError(
        f"expected the axes or the figure that a drawing function returns, got {type(drawn).__name__}."
    )


def png(figure, sharpness=1):
    """Draw a figure, close it, and return its picture: the same bytes at every call.

    Parameters
    ----------
    figure : matplotlib Figure
    sharpness : int
        How many times as fine as the figure's own resolution.

    Returns
    -------
    bytes
        A PNG file, which knows its resolution, so that on paper it is as large as the figure.

    Notes
    -----
    128 colours are enough for lines, text and fields, and make the file three times smaller. They are chosen
    to cover all colours of the figure, also those of few pixels, such as one end of a colour bar.
    """
    canvas, dpi = FigureCanvasAgg(figure), figure.dpi
    figure.dpi = fine = dpi * sharpness
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    plt.close(figure)
    figure.dpi = dpi
    file = BytesIO()
    few = picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(file, "PNG", dpi=(fine, fine))
    return file.getvalue()


def light_and_sharp(figure):
    """Return the picture of a figure twice: for a page, which shall stay light, and for paper.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    tuple of (bytes, bytes)
        PNG files.
    """
    light = png(figure)
    return light, png(figure, SHARP) if SHARP > 1 else light


def source(picture):
    """Return a PNG picture as an address that holds the picture itself, for the src of an image.

    Parameters
    ----------
    picture : bytes

    Returns
    -------
    str

    Examples
    --------
    >>> source(b"abc")
    'data:image/png;base64,YWJj'
    """
    return f"data:image/png;base64,{b64encode(picture).decode()}"


def img(picture, alt):
    """Return the HTML of a picture with its alternative text.

    Parameters
    ----------
    picture : bytes
        A PNG file.
    alt : str

    Returns
    -------
    str

    Notes
    -----
    The class tells the book's theme to leave the picture as it is in dark mode: black on white.

    Examples
    --------
    >>> img(b"abc", "W & b")
    '<img class="dark-light" alt="W &amp; b" src="data:image/png;base64,YWJj" style="max-width:100%">'
    """
    return f'<img class="dark-light" alt="{escape(alt)}" src="{source(picture)}" style="max-width:100%">'


class Picture:
    """A picture with its alternative text, as notebooks show it: to one reader an image, to another a text.

    Parameters
    ----------
    picture, sharp : bytes
        PNG files: for a page, which shall stay light, and for paper.
    alt : str
    """

    def __init__(self, picture, sharp, alt):
        self.picture, self.sharp, self.alt = picture, sharp, alt

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the picture in each form a reader may want."""
        return {
            "text/plain": self.alt,
            "text/html": img(self.picture, self.alt),
            "image/png": b64encode(self.sharp).decode(),
        }


def show(drawn, alt):
    """Show a figure with its alternative text, and close it.

    Parameters
    ----------
    drawn : matplotlib Axes or Figure
        What a drawing function returned.
    alt : str
        The picture told in at least one sentence, for a reader who cannot see it.

    Raises
    ------
    ValueError
        If alt is missing or less than a sentence.
    TypeError
        If `drawn` is neither axes nor figure.

    Notes
    -----
    JupyterLab and the book drop the metadata of an image; hence the text travels in `<img alt=...>`, beside
    the image itself. Outside a notebook the alternative text is printed.

    References
    ----------
    WCAG 2.2, success criterion 1.1.1.
    """
    from IPython.display import display

    alt = require_alt(alt)
    display(Picture(*light_and_sharp(figure_of(drawn)), alt))
