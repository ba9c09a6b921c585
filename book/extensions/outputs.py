"""Wrap long lines of printed outputs, except in tables, whose columns would no longer align.

An output is a table if two neighbouring lines have aligned columns or are rows of an array. A table keeps its
lines, up to the 80 columns that fit on a page, and scrolls sideways on a phone. A longer line, such as one
that ends in a sentence, is wrapped and indented. _static/book.css wraps all other outputs.
"""

import re
from itertools import pairwise
from textwrap import wrap

from docutils import nodes
from sphinx.transforms import SphinxTransform

COLUMNS = 80
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
ROW = re.compile(r".*\[+ *-?\d")


def is_table(text):
    """Report whether text has lines whose columns are aligned.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_table("W  (3, 7)  ok\\nb  (7,)    ok"), is_table("W (3, 7) is ok.\\nb (7,) is ok.")
    (True, False)
    """
    return any(
        len(_edges(above) & _edges(below)) >= 2
        or (len(above.rstrip("]")) == len(below.rstrip("]")) and ROW.match(above) and ROW.match(below))
        for above, below in pairwise(text.splitlines())
    )


def _edges(line):
    """Return the positions at which the gaps of a line begin and end."""
    return {edge for gap in GAP.finditer(line) for edge in (("begins", gap.start()), ("ends", gap.end()))}


def within_columns(text):
    """Wrap a table's lines at 80 columns, and indent the rest of a line by four spaces.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return "\n".join(part for line in text.split("\n") for part in _parts(line))


def _parts(line):
    """Wrap one line."""
    if len(line) <= COLUMNS:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return wrap(line, COLUMNS, subsequent_indent=indent, break_on_hyphens=False)


class Outputs(SphinxTransform):
    """Mark the outputs that are tables."""

    default_priority = 700

    def apply(self, **kwargs):
        """Check all text that a cell has printed or returned."""
        for output in self.document.findall(_is_output):
            for text in output.findall(nodes.literal_block):
                if "traceback" not in text["classes"] and is_table(text.astext()):
                    table = within_columns(text.astext())
                    text.rawsource, text[:] = table, [nodes.Text(table)]
                    text["classes"].append("aligned")


def _is_output(node):
    """Report whether a node has a cell's outputs."""
    return isinstance(node, nodes.container) and "cell_output" in node["classes"]


def setup(app):
    """Add the transform to Sphinx."""
    app.add_transform(Outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
