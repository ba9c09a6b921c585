"""Give each figure of a chapter its number, its anchor, and its caption in the PDF.

A figure is an output whose HTML has ``<figure class="figure">`` with a ``<figcaption>``, as `course.figures`
makes it. Chapter 04's second figure becomes "Figure 4.2" at #figure-4-2; mentions in prose link to it. In
HTML pages its drawing is inlined, in colours that follow light and dark mode.
"""

import re
from base64 import b64decode
from html import unescape
from urllib.parse import unquote_to_bytes

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from course.colours import THEMED

CHAPTER = re.compile(r"notebooks/(\d\d)_")
FIGURE = re.compile(r'<figure\b([^>]*\bclass="[^"]*\bfigure\b[^"]*"[^>]*)>')
PLACE = re.compile(r'<figure data-place="(\d+)" ')
CAPTION = re.compile(r"(<figcaption\b[^>]*>)(.*?)(</figcaption>)", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
DRAWING = re.compile(r'<img\b[^>]*\bsrc="data:image/svg\+xml(;base64)?,([^"]*)"[^>]*>')
ALT = re.compile(r'\balt="([^"]*)"')
BEFORE_SVG = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)
WIDTH = re.compile(r"\bwidth:\s*(\d+px)")
OWN_SIZE = re.compile(r'\A(<svg\b[^>]*?)\swidth="[^"]*"([^>]*?)\sheight="[^"]*"')
REFERENCE = re.compile(r'(\bid="|\burl\(#|\bhref="#)')
NAMES = {colour.lower(): name for colour, name in THEMED.items()}
COLOUR = re.compile(r"(?<=[:\s])(" + "|".join(NAMES) + r")(?=[;\"\s])", re.IGNORECASE)


def numbered(html, number):
    """Add a figure's number to its HTML; return the HTML, and the caption as text.

    Parameters
    ----------
    html : str
    number : str
        For example "4.2".

    Returns
    -------
    tuple of (str, str)
        The HTML, and the caption as plain text.

    Raises
    ------
    ExtensionError
        If the figure has no caption.
    """
    caption = CAPTION.search(html)
    if not caption:
        raise ExtensionError(
            f"Figure {number} has no <figcaption>: its drawing function must give it a caption."
        )
    label = f'{caption[1]}<span class="figure-number">Figure {number}</span> '
    html = html[: caption.start()] + label + html[caption.end(1) :]
    return html, " ".join(unescape(TAG.sub("", caption[2])).split())


def anchor(number):
    """Return a figure's anchor in its page: "figure-4-2" for "4.2"."""
    return f"figure-{number.replace('.', '-')}"


def in_the_page(html, prefix):
    """Inline the drawings of a page as SVG, in the theme's colours.

    Parameters
    ----------
    html : str
    prefix : str
        A prefix that makes the ids inside each drawing unique in the page.

    Returns
    -------
    str
    """
    drawings = iter(range(1, 1 + html.count("<img")))

    def inline(image):
        content = b64decode(image[2]) if image[1] else unquote_to_bytes(unescape(image[2]))
        svg = BEFORE_SVG.sub("", content.decode("utf-8"))
        name = f"{prefix}-{next(drawings)}-"
        svg = REFERENCE.sub(lambda mark: mark[1] + name, svg)
        svg = COLOUR.sub(lambda colour: f"var({NAMES[colour[1].lower()]}, {colour[1]})", svg)
        alt, width = ALT.search(image[0]), WIDTH.search(image[0])
        spoken = f'role="img" aria-label="{alt[1]}"' if alt else 'aria-hidden="true"'
        size = f'style="width:{width[1] if width else "100%"}"'
        return OWN_SIZE.sub(r"\1\2", svg, count=1).replace("<svg ", f"<svg {spoken} {size} ", 1)

    return DRAWING.sub(inline, html)


class FigureNumbers(SphinxTransform):
    """Number the figures of a chapter when its page is read."""

    default_priority = 700

    def apply(self, **kwargs):
        """Number each output that is a figure, and give its picture the caption for the PDF."""
        chapter = CHAPTER.match(self.env.docname)
        bundles = list(self.document.findall(_is_output)) if chapter else []
        count = 0
        for bundle in bundles:
            html = next((raw for raw in bundle.findall(nodes.raw) if FIGURE.search(raw.astext())), None)
            if html is None:
                continue
            count += 1
            place = PLACE.search(html.astext())  # on paper, where answers come last
            number = f"{int(chapter[1])}.{place[1] if place else count}"
            text, caption = numbered(html.astext(), number)
            html[:] = [nodes.Text(text)]
            html["figure"] = anchor(number)
            bundle["caption"] = caption
            bundle["names"].append(anchor(number))
            self.document.note_explicit_target(bundle)
            for image in list(bundle.findall(nodes.image)):
                words = nodes.caption(
                    "", "", nodes.strong(text=f"Figure {number}"), nodes.Text(f"  {caption}")
                )
                image.replace_self(nodes.figure("", image.deepcopy(), words, ids=[anchor(number)]))


def _is_output(node):
    """Report whether a node has the representations of one output of a cell."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "mime_bundle"


class DrawnInThePage(SphinxPostTransform):
    """Inline the drawings of figures in HTML pages, where they follow light and dark mode."""

    default_priority = 5  # when Sphinx chooses each output's representation
    builders = ("html",)

    def run(self, **kwargs):
        """Replace images by inline drawings."""
        for html in self.document.findall(nodes.raw):
            if "figure" in html:
                html[:] = [nodes.Text(in_the_page(html.astext(), html["figure"]))]


def setup(app):
    """Add both transforms to Sphinx."""
    app.add_transform(FigureNumbers)
    app.add_post_transform(DrawnInThePage)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
