"""Convert formulas to MathML, which browsers and e-readers draw without a script.

docutils converts a subset of TeX to MathML. `_static/type.css` sets the font, loaded only by pages with a
formula. Slides use MathJax (`book.slides`).
"""

import re
from html import unescape

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

EMPTY_TAG = re.compile(r"<(img|br|hr|input|col)\b([^>]*?)\s*/?>")
NAMED_LETTER = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w*;")
APPLIED = re.compile(
    "(<mo>\u2061</mo>)(?=<m(?!o|row))"
)  # a function followed by an argument without parentheses
THIN_SPACE = r'\1<mspace width="0.1667em"/>'
STOPS = re.compile(r"[.,;:!?)’”]+")
BETWEEN_TAGS = re.compile(r">\n\s*<")
SAME_IN_PLAINER_TEX = (  # docutils supports a subset of TeX
    (re.compile(r"\\dots(?![a-z])"), r"\\ldots"),
    (re.compile(r"\\[td]?frac(\d)(\d)"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\[td]frac(?![a-z])"), r"\\frac"),  # an EPUB cannot set the size of a fraction
    (re.compile(r"\\[Bb]igg?[lr]?(?![a-z])"), ""),
    (re.compile(r"^(?=[\^_])"), "{}"),
    (re.compile(r"(\\(?:log|max|min)_(?:\w|\{[^}]*\}))\s*(?=[\w\\])"), r"\1\,"),
)


def mathml(formula, as_block=False):
    """Convert a formula from TeX to MathML, with its lines and columns.

    Parameters
    ----------
    formula : str
    as_block : bool
        Whether it is a displayed formula.

    Returns
    -------
    str

    Raises
    ------
    ExtensionError
        If docutils cannot parse it.

    Examples
    --------
    >>> mathml("x^2")
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>x</mi><mn>2</mn></msup></math>'
    """
    for tex, plainer in SAME_IN_PLAINER_TEX:
        formula = tex.sub(plainer, formula)
    several = r"\\" in formula or "&" in formula
    written = (
        rf"\begin{{aligned}}{formula}\end{{aligned}}" if several and "begin{" not in formula else formula
    )
    try:
        made = latex2mathml.tex2mathml(written, as_block=as_block)
    except (MathError, SyntaxError, IndexError) as error:
        raise ExtensionError(
            f"docutils cannot parse ${formula}$: {error}. Write it in simpler TeX."
        ) from error
    return APPLIED.sub(THIN_SPACE, BETWEEN_TAGS.sub("><", well_formed(made).strip()))


def well_formed(html):
    """Convert HTML to well-formed XML: close empty tags, and replace named entities except XML's own."""
    return NAMED_LETTER.sub(lambda name: unescape(name[0]), EMPTY_TAG.sub(r"<\1\2/>", html))


def _inline(translator, node):
    """Write an inline formula."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator, node):
    """Write a displayed formula, which scrolls by itself if it is wider than the page."""
    translator.body.append(f'<div class="math notranslate">{mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


class Stops(SphinxPostTransform):
    """Keep a formula and its punctuation on one line; a browser might break the line between them."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        """Put formula and punctuation into one span without a line break."""
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(descend=False, siblings=True)
            stops = STOPS.match(after.astext()) if isinstance(after, nodes.Text) else None
            if stops:
                after.parent.replace(after, nodes.Text(after.astext()[stops.end() :]))
                kept = nodes.inline("", "", formula.deepcopy(), nodes.Text(stops[0]), classes=["whole"])
                formula.replace_self(kept)


def setup(app):
    """Add the math renderer to Sphinx."""
    app.add_post_transform(Stops)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
