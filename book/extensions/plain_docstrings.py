"""Lets Sphinx show the library's docstrings, which are written to be read as they stand, as they stand.

They follow numpydoc's sections, and their words are plain text: |x| is a length, and a formula has its line.
What comes out is what napoleon and reStructuredText understand.
"""

import re

SECTION = re.compile(r"^-+$")
PLAIN = re.compile(r"(\\|\*|\||_(?=\W|$))")  # what reStructuredText would read as its own marks


def as_markup(lines):
    """Return the lines of a docstring as markup: marks escaped, and each formula of the notes in its line.

    Examples stay as they are.

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
    """Mark up a docstring before napoleon reads it."""
    lines[:] = as_markup(lines)


def setup(app):
    """Come before napoleon."""
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
