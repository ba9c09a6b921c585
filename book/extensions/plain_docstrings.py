"""Let Sphinx show the library's docstrings, which are plain text, unchanged.

The docstrings have numpydoc's sections, but no markup: |x| is an absolute value, and each formula has its own
line. They are converted to markup for napoleon and reStructuredText.
"""

import re

SECTION = re.compile(r"^-+$")
PLAIN = re.compile(r"(\\|\*|\||_(?=\W|$))")  # characters that are markup in reStructuredText


def as_markup(lines):
    """Convert a docstring's lines to markup: escape characters, and keep each formula in Notes on its line.

    Examples are unchanged.

    Parameters
    ----------
    lines : list of str

    Returns
    -------
    list of str
    """
    found, section, ended = [], "", True
    for place, line in enumerate(lines):
        if place + 1 < len(lines) and SECTION.match(lines[place + 1]):
            section, ended = line, True
        if section == "Examples" or SECTION.match(line):
            found.append(line)
            continue
        text = PLAIN.sub(r"\\\1", line)
        if section == "Notes" and line not in ("", section):
            text = ("| " if ended else "  ") + text
            ended = line.endswith(".")
        found.append(text)
    return found


def _on_docstring(app, what, name, thing, options, lines):  # noqa: PLR0913  as Sphinx calls it
    """Convert a docstring before napoleon reads it."""
    lines[:] = as_markup(lines)


def setup(app):
    """Connect the conversion to Sphinx, before napoleon."""
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
