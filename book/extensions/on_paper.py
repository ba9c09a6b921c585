"""The book as a PDF and as an EPUB, where nothing folds and nothing slides.

A fold becomes its title and its text, and a slider the sheet of stops that it brings along. In the PDF the
first page is a chapter, and each caption of its lists of pages opens a part. Formulas of an EPUB are MathML,
which docutils makes of TeX: -D html_math_renderer=mathml.
"""

import re
from html import escape, unescape
from pathlib import Path
from zipfile import ZipFile

import nbformat
from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.errors import ExtensionError

from book import cover
from book.fonts import as_truetype

PAPER = ("latex", "epub")
A4, READER = (8.27, 11.69), (6.0, 9.0)  # inches
FOLD = re.compile(r"<details[^>]*>\s*<summary>(.*?)</summary>", re.DOTALL)
TITLE = re.compile(r"\A# .+\n")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
LIST = re.compile(r"^(```\{toctree\}\n:hidden:\n):caption: (.+)\n", re.MULTILINE)
NO_FOOTNOTES = re.compile(r'<p class="rubric">Footnotes</p>\s*\Z')
SLIDER = re.compile(r'<div class="explore-.*?(<figure.*?</figure>).*</script>', re.DOTALL)
IMAGE = re.compile(r"<img [^>]*>")
PAGE = re.compile(r'<item id="[^"]+" href="([^"]+)"')
PLACE = re.compile(r'<itemref idref="([^"]+)" />\n?')

EMPTY_TAG = re.compile(r"<(img|br|hr|input|col)\b([^>]*?)\s*/?>")
NAMED_LETTER = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w*;")
SAME_IN_PLAINER_TEX = (  # docutils reads a part of TeX
    (re.compile(r"\\dots(?![a-z])"), r"\\ldots"),
    (re.compile(r"\\[td]?frac(\d)(\d)"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\[td]frac(?![a-z])"), r"\\frac"),  # an EPUB allows no size of a fraction
    (re.compile(r"\\[Bb]igg?[lr]?(?![a-z])"), ""),
    (re.compile(r"^(?=[\^_])"), "{}"),
)


def laid_flat(notebook):
    """Return a notebook without folds and sliders.

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
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            html = data.get("text/html", "")
            if html:
                data["text/html"] = _well_formed(html)
            if slider := SLIDER.search(html):
                address = f"data:image/png;base64,{data['image/png']}"
                sheet = f'<img alt="{escape(data["text/plain"])}" src="{address}"/>'
                data["text/html"] = _well_formed(IMAGE.sub(lambda image, sheet=sheet: sheet, slider[1]))
    return notebook


def bound(page):
    """Return the first page of the book as its PDF has it.

    Parameters
    ----------
    page : str
        In MyST. Its headings would be chapters, and all that follows them would stand inside the last.

    Returns
    -------
    str
    """
    page = TITLE.sub(r"\g<0>\n```{raw} latex\n\\chapter{About this course}\n```\n", page)
    page = page.replace("\ngenindex\n", "\n")  # TeX makes its own
    page = HEADING.sub(r"```{rubric} \1\n:heading-level: 2\n```", page)
    return LIST.sub(r"```{raw} latex\n\\part{\2}\n```\n\n\1", page)


def _on_reading(app, page, source):
    """Lay each notebook flat, after exercises have got their hints and answers; bind the first page."""
    if app.builder.name == "latex" and page == app.config.root_doc:
        source[0] = bound(source[0])
    if app.builder.name in PAPER and page.startswith(("notebooks/", "exercises/")):
        source[0] = nbformat.writes(laid_flat(nbformat.reads(source[0], as_version=4)))


def _on_writing(app, page, template, context, doctree):
    """Take away the heading under which Sphinx found no footnote, and the style of live cells."""
    if app.builder.name == "epub":
        context["body"] = NO_FOOTNOTES.sub("", context.get("body", ""))
        context["css_files"] = [css for css in context["css_files"] if "mystnb" not in css.filename]


def _bring_fonts_and_cover(app):
    """Put fonts and cover beside the file that TeX will read, and let an EPUB hold them."""
    out = Path(app.outdir)
    if app.builder.name == "latex":
        as_truetype(out / "fonts")
        cover.draw(out / "cover.pdf", A4)
    elif app.builder.name == "epub":
        app.builder.media_types = app.builder.media_types | {".woff2": "font/woff2"}
        (out / "_static").mkdir(parents=True, exist_ok=True)
        cover.draw(out / "_static" / "cover.png", READER)


def _declare(app, error):
    """Say in an EPUB which pages hold formulas, and name its index once: its rules ask for both."""
    if error or app.builder.name != "epub":
        return
    path = Path(app.outdir) / f"{app.config.epub_basename}.epub"
    with ZipFile(path) as book:
        parts = {entry: book.read(entry) for entry in book.infolist()}
    with ZipFile(path, "w") as book:
        for entry, part in parts.items():
            if entry.filename == "content.opf":
                with_formulas = {other.filename for other in parts if b"<math" in parts[other]}
                part = declared(part.decode(), with_formulas).encode()
            book.writestr(entry, part)


def declared(package, with_formulas):
    """Return the list of an EPUB's parts as its rules ask for it.

    Parameters
    ----------
    package : str
        The file content.opf as Sphinx writes it.
    with_formulas : set of str
        The pages that hold MathML.

    Returns
    -------
    str

    Examples
    --------
    >>> declared('<item id="1" href="a.xhtml" />', {"a.xhtml"})
    '<item id="1" href="a.xhtml" properties="mathml" />'
    """
    read = set()

    def once(place):
        again = place[1] in read
        read.add(place[1])
        return "" if again else place[0]

    package = PAGE.sub(
        lambda page: f'{page[0]} properties="mathml"' if page[1] in with_formulas else page[0], package
    )
    return PLACE.sub(once, package)


def _inline(translator, node):
    """Write a formula in a line."""
    translator.body.append(_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(translator, node):
    """Write a formula that stands alone."""
    translator.body.append(_mathml(node.astext(), as_block=True))
    raise nodes.SkipNode


def _mathml(formula, as_block):
    """Return a formula of TeX as MathML, with lines and columns where it has them."""
    for tex, plainer in SAME_IN_PLAINER_TEX:
        formula = tex.sub(plainer, formula)
    several = r"\\" in formula or "&" in formula
    written = (
        rf"\begin{{aligned}}{formula}\end{{aligned}}" if several and "begin{" not in formula else formula
    )
    try:
        return _well_formed(latex2mathml.tex2mathml(written, as_block=as_block))
    except (MathError, SyntaxError, IndexError) as error:
        raise ExtensionError(
            f"docutils cannot read ${formula}$: {error}. Write it in plainer TeX."
        ) from error


def _well_formed(html):
    """Return HTML as XML wants it: empty tags closed, and no names of letters but XML's own."""
    return NAMED_LETTER.sub(lambda name: unescape(name[0]), EMPTY_TAG.sub(r"<\1\2/>", html))


def setup(app):
    """Add what paper needs; the pages in a browser stay as they are."""
    app.connect("builder-inited", _bring_fonts_and_cover)
    app.connect("build-finished", _declare)
    app.connect("source-read", _on_reading, priority=900)
    app.connect("html-page-context", _on_writing)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
