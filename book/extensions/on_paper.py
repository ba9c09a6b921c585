"""Prepare the book for PDF and EPUB, without folds and sliders.

A fold becomes its title and its text, and a slider one picture of all its stops. In the PDF the first page is
a chapter, and each caption of its tables of contents starts a part; exercises and reference pages are in
smaller type. The teacher's guide is a separate book. The pages for contributors are not printed, nor is the
library's reference, which `help` also shows.
"""

import re
from html import escape
from pathlib import Path
from zipfile import ZipFile

import nbformat
from formulas import well_formed
from library_reference import table

from book import cover
from book.fonts import as_truetype

PAPER = ("latex", "epub")
PAGE_SIZE, READER = (8.25, 11.0), (6.0, 9.0)  # inches; the first is in paper.sty, too
SUBTITLES = {
    "minigrad": "a neural-network library\nthat you build yourself",
    "minigrad-teaching": "a guide for those\nwho teach it",
}
IN_SMALLER_TYPE = ("Exercises", "To look things up")
NOT_PRINTED = "For teachers and contributors"
FOLD = re.compile(r"<details[^>]*>\s*<summary>(.*?)</summary>", re.DOTALL)
TITLE = re.compile(r"\A# .+\n")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
LIST = re.compile(r"^(```\{toctree\}\n:hidden:\n):caption: ([^\n]+)\n(.*?```\n)", re.MULTILINE | re.DOTALL)
NO_FOOTNOTES = re.compile(r'<p class="rubric">Footnotes</p>\s*\Z')
SLIDER = re.compile(r'<div class="explore-.*?(<figure.*?</figure>).*</script>', re.DOTALL)
IMAGE = re.compile(r"<img [^>]*>")
PAGE = re.compile(r'<item id="[^"]+" href="([^"]+)"')
PROPERTIES = {b"<math": "mathml", b"<svg": "svg"}  # properties of a page in an EPUB
PLACE = re.compile(r'<itemref idref="([^"]+)" />\n?')


def laid_flat(notebook):
    """Remove a notebook's folds and sliders, and double empty lines from its code.

    Parameters
    ----------
    notebook : NotebookNode
        Changed in place.

    Returns
    -------
    NotebookNode
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = FOLD.sub(r"**\1**\n", cell.source).replace("</details>", "")
        else:
            cell.source = cell.source.replace("\n\n\n", "\n\n")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            html = data.get("text/html", "")
            if html:
                data["text/html"] = well_formed(html)
            if slider := SLIDER.search(html):
                address = f"data:image/png;base64,{data['image/png']}"
                sheet = f'<img alt="{escape(data["text/plain"])}" src="{address}"/>'
                data["text/html"] = well_formed(IMAGE.sub(lambda image, sheet=sheet: sheet, slider[1]))
    return notebook


def bound(page):
    """Convert the first page of the book for the PDF.

    Parameters
    ----------
    page : str
        The page in MyST. Its headings would become chapters; all later text, part of the last chapter.

    Returns
    -------
    str
    """
    page = TITLE.sub(r"\g<0>\n```{raw} latex\n\\chapter{About this course}\n```\n", page)
    page = page.replace("\ngenindex\n", "\n")  # TeX makes its own index
    page = HEADING.sub(r"```{rubric} \1\n:heading-level: 2\n```", page)
    return LIST.sub(_part, page)


def _part(contents):
    """Return a table of contents with the start of its part, in the part's type size."""
    opening, part, pages = contents.groups()
    if part == NOT_PRINTED:
        return ""
    size = "small" if part in IN_SMALLER_TYPE else "normalsize"
    return f"```{{raw}} latex\n\\part{{{part}}}\n\\{size}\n```\n\n{opening}{pages}"


def _on_reading(app, page, source):
    """Flatten each notebook, after exercise_boxes adds hints and answers; convert the first page."""
    if app.builder.name == "latex" and page == app.config.root_doc:
        source[0] = bound(source[0])
    if app.builder.name == "latex" and page == "reference":
        source[0] = source[0].replace("```{library-files}\n```\n", table())  # without the pages of files
    if app.builder.name in PAPER and page.startswith(("notebooks/", "exercises/")):
        source[0] = nbformat.writes(laid_flat(nbformat.reads(source[0], as_version=4)))


def _on_writing(app, page, template, context, doctree):
    """Remove the heading of an empty list of footnotes, and the styles of live cells."""
    if app.builder.name == "epub":
        context["body"] = NO_FOOTNOTES.sub("", context.get("body", ""))
        context["css_files"] = [css for css in context["css_files"] if "mystnb" not in css.filename]


def _bring_fonts_and_cover(app):
    """Write fonts and cover next to the TeX file, or into the EPUB's folder."""
    out = Path(app.outdir)
    if app.builder.name == "latex":
        app.config.suppress_warnings.append("toc.not_included")  # the unprinted pages
        as_truetype(out / "fonts")
        for name, subtitle in SUBTITLES.items():
            cover.draw(out / f"cover-{name}.pdf", PAGE_SIZE, subtitle)
    elif app.builder.name == "epub":
        app.builder.media_types = app.builder.media_types | {".woff2": "font/woff2"}
        (out / "_static").mkdir(parents=True, exist_ok=True)
        cover.draw(out / "_static" / "cover.png", READER, SUBTITLES["minigrad"])


def _declare(app, error):
    """Declare which pages of an EPUB have formulas and drawings, and list its index once."""
    if error or app.builder.name != "epub":
        return
    path = Path(app.outdir) / f"{app.config.epub_basename}.epub"
    with ZipFile(path) as book:
        parts = {entry: book.read(entry) for entry in book.infolist()}
    with ZipFile(path, "w") as book:
        for entry, part in parts.items():
            if entry.filename == "content.opf":
                part = declared(part.decode(), {other.filename: parts[other] for other in parts}).encode()
            book.writestr(entry, part)


def declared(package, parts):
    """Complete the package file of an EPUB as the standard requires.

    Parameters
    ----------
    package : str
        The file content.opf, as written by Sphinx.
    parts : dict of str to bytes
        All files by name. Pages are searched for MathML and SVG.

    Returns
    -------
    str

    Examples
    --------
    >>> declared('<item id="1" href="a.xhtml" />', {"a.xhtml": b"<math/>"})
    '<item id="1" href="a.xhtml" properties="mathml" />'
    """
    read = set()

    def once(place):
        again = place[1] in read
        read.add(place[1])
        return "" if again else place[0]

    def with_properties(page):
        text = parts.get(page[1], b"") if page[1].endswith(".xhtml") else b""
        held = [name for tag, name in PROPERTIES.items() if tag in text]
        return f'{page[0]} properties="{" ".join(held)}"' if held else page[0]

    return PLACE.sub(once, PAGE.sub(with_properties, package))


def setup(app):
    """Connect the steps for PDF and EPUB to Sphinx; HTML pages do not change."""
    app.connect("builder-inited", _bring_fonts_and_cover)
    app.connect("build-finished", _declare)
    app.connect("source-read", _on_reading, priority=900)
    app.connect("html-page-context", _on_writing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
