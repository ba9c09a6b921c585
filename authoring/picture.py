"""The README's picture: a figure from the stored outputs of a chapter.

Holds `picture`, which finds it, and `write_picture`.
"""

import re
from base64 import b64decode

import nbformat

from authoring.notebooks import BuildError
from course import store

CHAPTER, DRAWN_BY = "notebooks/04_closures.ipynb", "closures.five_ways("
PLACE = "book/_static/five_ways.svg"
DRAWING = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
GROUND = '<rect width="100%" height="100%" fill="white"/>'  # black letters would be invisible on a dark page


def picture(project=store.PROJECT):
    """Return the stored figure as SVG, on a white background.

    Parameters
    ----------
    project : Path

    Returns
    -------
    str

    Raises
    ------
    BuildError
        If no cell of the chapter draws the figure, or its output is not stored.
    """
    cells = nbformat.read(project / CHAPTER, as_version=4).cells
    for output in (output for cell in cells if DRAWN_BY in cell.source for output in cell.get("outputs", ())):
        if match := DRAWING.search(output.get("data", {}).get("text/html", "")):
            svg = b64decode(match[1]).decode()
            end_of_tag = svg.index(">", svg.index("<svg")) + 1
            return svg[:end_of_tag] + GROUND + svg[end_of_tag:]
    raise BuildError(f"{CHAPTER} stores no figure of {DRAWN_BY}...): run the chapter first.")


def write_picture(project=store.PROJECT):
    """Write the picture, which the README shows."""
    store.write(project / PLACE, picture(project))
