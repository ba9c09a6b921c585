"""A figure that shows itself: a drawing with its title, its caption and its alternative text.

Holds Figure, which every drawing function returns, and the files it is shown from: SVG for a screen, PDF for
paper. Importing this package puts the course's style on. Leaves out the drawing functions: each part of the
course has its file here, whose functions take data, draw it, and write about it.
"""

import re
import sys
import warnings
from base64 import b64encode
from functools import cached_property
from html import escape
from io import BytesIO

import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from course.colours import TRUTH
from course.figures import style

style.use()

IN_A_BROWSER = sys.platform == "emscripten"  # from where nobody prints
PIXELS = 110  # to an inch of a figure, on a page; a bitmap inside a drawing has twice as many
SENTENCE = 30  # characters; "A plot of the loss." tells a listener nothing
UNDATED = {"svg": ("Date", "Creator", "Format", "Type"), "pdf": ("CreationDate", "Creator", "Producer")}

# What a drawing says that no browser needs, or says to more digits than a screen shows.
NOT_SHOWN = re.compile(r"\A.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
STYLE = re.compile(r'<defs>\s*<style type="text/css">\*\{(.*?)\}</style>\s*</defs>')
WHOLE_DRAWING = '<g id="figure_1">'
IDENTITY = re.compile(r' id="([^"]*)"')
REFERENCE = re.compile(r'(?:href="|url\()#([^")]*)')
PLACES = re.compile(r'(?<= d=")[^"]*|(?<= points=")[^"]*|(?<= [xy]=")[^"]*|(?<=translate\()[^)]*')
BITMAP = re.compile(r"(?<=base64,)[^\"]*")
DIGITS = re.compile(r"-?\d+\.\d+")


class Figure:
    """A drawing with its title, its caption and its alternative text; as the last line of a cell it is shown.

    Parameters
    ----------
    drawn : matplotlib Axes or Figure
        What was drawn; nothing may be added to it afterwards. Its own titles stay empty.
    title : str
        The message, as a sentence without a full stop.
    caption : str
        How to read the picture, and what to notice in it, in one to three sentences.
    alt : str
        The picture told in at least one sentence, for a reader who cannot see it.
    moving : course.figures.moving.Moving, optional
        What the drawing becomes on a screen; it stays as it is on paper, and where scripts are off.

    Raises
    ------
    ValueError
        If the title has fewer than three words or ends with a full stop, or the caption or the alternative
        text is less than a sentence.
    TypeError
        If `drawn` is neither axes nor figure.

    Notes
    -----
    JupyterLab and the book drop the metadata of an output; hence all words travel in HTML, ``<figure
    class="figure"><img alt><figcaption>``, with the drawing as SVG in the address of the image. An image
    cannot see whether the page around it is dark: it brings a white ground along, as a style of ``<img>``.
    The drawing itself has no ground. The book takes it out of the address, puts it into the page, and gives
    the colours of `course.colours.THEMED` a second value at night.

    References
    ----------
    WCAG 2.2, success criterion 1.1.1.
    """

    def __init__(self, drawn, title, caption, alt, moving=None):
        self.drawing = figure_of(drawn)
        plt.close(self.drawing)
        self.title = require_title(title)
        self.caption, self.alt = require_text("caption", caption), require_text("alt", alt)
        self.moving = moving

    @cached_property
    def svg(self):
        """The drawing for a screen: the same text at every call."""
        return slim(_saved(self.drawing, "svg").decode())

    @property
    def words(self):
        """The title and the caption as HTML."""
        end = "" if self.title[-1] in "?!" else "."
        return f"<strong>{escape(self.title)}{end}</strong> {escape(self.caption)}"

    @property
    def img(self):
        """The drawing and its alternative text as HTML."""
        width = round(self.drawing.get_figwidth() * PIXELS)
        return (
            f'<img alt="{escape(self.alt)}" src="{address("image/svg+xml", self.svg.encode())}" '
            f'style="width:{width}px;max-width:100%;height:auto;background:white;border-radius:6px">'
        )

    @property
    def html(self):
        """The drawing with all its words as HTML."""
        picture = self.moving.host(self.img) if self.moving else self.img
        return (
            f'<figure class="figure" style="margin:0;max-width:720px">\n{picture}\n'
            f"<figcaption>{self.words}</figcaption>\n</figure>"
        )

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the figure in each form a reader may want."""
        script = self.moving.script() if self.moving else ""
        faces = {"text/plain": self.alt, "text/html": self.html + script}
        if not IN_A_BROWSER:
            faces["application/pdf"] = b64encode(_saved(self.drawing, "pdf")).decode()
        return faces


def require_title(title):
    """Return a title, or refuse what is no message.

    Parameters
    ----------
    title : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it has fewer than three words or ends with a full stop.

    Examples
    --------
    >>> require_title("Smaller nudges help, until rounding wins")
    'Smaller nudges help, until rounding wins'
    """
    if not isinstance(title, str) or len(title.split()) < 3 or title.strip()[-1] == ".":
        raise ValueError(
            f"title says the message of the figure as a sentence without a full stop; got {title!r}. "
            'For example title="Smaller nudges help, until rounding wins".'
        )
    return title.strip()


def require_text(name, text):
    """Return a caption or an alternative text, or refuse what is less than a sentence.

    Parameters
    ----------
    name : str
        What it is, for the message.
    text : str

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If it is no text, or too short to tell what is to be seen.

    Examples
    --------
    >>> require_text("alt", "The loss falls from 2.3 to 0.1 within five epochs.")
    'The loss falls from 2.3 to 0.1 within five epochs.'
    """
    if not isinstance(text, str) or len(text.strip()) < SENTENCE or text.strip()[-1] not in ".!?":
        raise ValueError(
            f"{name} tells the picture in a whole sentence; got {text!r}. "
            f'Say what is to be seen, for example {name}="The loss falls from 2.3 to 0.1 within five epochs."'
        )
    return text.strip()


def figure_of(drawn):
    """Return the figure of what was drawn: of axes, or the figure itself.

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
    if isinstance(drawn, matplotlib.figure.Figure):
        return drawn
    raise TypeError(f"expected the axes or the figure that were drawn on, got {type(drawn).__name__}.")


def slim(svg):
    """Return a drawing of Matplotlib's without what no screen shows: a third of its size.

    Parameters
    ----------
    svg : str

    Returns
    -------
    str
        One `svg` element, which can stand in the address of an image or in a page. Names that nothing refers
        to are gone, places are rounded to a hundredth of a point, and the style of the page stays as it is:
        what Matplotlib says to all elements is said to the drawing alone, and black, which it leaves unsaid,
        is said.
    """
    svg = NOT_SHOWN.sub("", svg)
    (rules,) = STYLE.findall(svg)
    svg = STYLE.sub("", svg).replace(WHOLE_DRAWING, f'<g style="fill: {TRUTH}; {rules}">', 1)
    used = set(REFERENCE.findall(svg))
    svg = IDENTITY.sub(lambda name: name[0] if name[1] in used else "", svg)
    svg = PLACES.sub(lambda place: DIGITS.sub(_rounded, " ".join(place[0].split())), svg)
    svg = BITMAP.sub(lambda bitmap: "".join(bitmap[0].split()), svg)
    return re.sub(r">\s+<", "><", svg).strip()


def _rounded(number):
    """Return a matched number with at most two digits after the point."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _saved(figure, kind):
    """Return a file of a figure, without a ground and without a date."""
    file = BytesIO()
    nothing = dict.fromkeys(UNDATED[kind])
    with plt.rc_context({"figure.constrained_layout.use": False}):  # or who has no layout would get one
        figure.savefig(file, format=kind, transparent=True, dpi=2 * PIXELS, metadata=nothing)
    return file.getvalue()


def make_bitmap(field):
    """Let a field be a bitmap inside its drawing, where Matplotlib can; an older one keeps it as lines.

    Parameters
    ----------
    field : matplotlib Artist
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Rasterization of", category=UserWarning)
        field.set_rasterized(True)


def png(figure):
    """Draw a figure, close it, and return its picture: the same bytes at every call.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    bytes
        A PNG file, which knows its resolution, so that on paper it is as large as the figure.

    Notes
    -----
    128 colours are enough for lines, text and fields, and make the file three times smaller. They are chosen
    to cover all colours of the figure, also those of few pixels, such as one end of a colour bar.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    plt.close(figure)
    return png_of(picture, figure.dpi)


def png_of(picture, dpi):
    """Return a picture as a PNG file of 128 colours.

    Parameters
    ----------
    picture : PIL Image
    dpi : float

    Returns
    -------
    bytes
    """
    file = BytesIO()
    few = picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(file, "PNG", dpi=(dpi, dpi))
    return file.getvalue()


def address(kind, picture):
    """Return a picture as an address that holds the picture itself, for the src of an image.

    Parameters
    ----------
    kind : str
        Its MIME type.
    picture : bytes

    Returns
    -------
    str

    Examples
    --------
    >>> address("image/png", b"abc")
    'data:image/png;base64,YWJj'
    """
    return f"data:{kind};base64,{b64encode(picture).decode()}"
