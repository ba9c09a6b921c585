"""Add the row of links under a chapter's title: run it, download it, rebuild it from memory.

The pages of chapters and of exercise notebooks have this row. *Run* leads to the JupyterLite site in lite/,
and *Slides* to the output of `make slides` in slides/; a link without a target is omitted, and so are the
first page's blocks, between two comments, about running the notebooks and about the PDF. The copies to
rebuild from memory are made with the pages, in recall/. If answers are folded, a switch opens them all.
"""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote

import nbformat
from sphinx.errors import ExtensionError

from authoring import colab
from authoring.recall import recall_copy
from course.curriculum import exercises_name

LITE = "lite/lab/index.html"
WHERE = re.compile(r"<!-- where (notebooks run|there is paper) -->\n(.*?)<!-- end -->\n", re.DOTALL)
LINK = '<li><a href="{}"{}><i class="fa-solid fa-{}" aria-hidden="true"></i>{}</a></li>'
ANSWERS = '<li><label><input type="checkbox" class="show-answers"> Show all answers</label></li>'
COUNTER = '<li class="guess-count">{} guesses</li>'  # guesses.js says there how many were made
ROW = '<nav class="chapter-tools" aria-label="This notebook">\n<ul>\n{}\n</ul>\n</nav>'


def write_recall_copies(book, site):
    """Write the chapters' recall copies into a site, and remove copies of deleted chapters.

    Parameters
    ----------
    book, site : Path
        The folders of notebooks/ and of recall/.
    """
    wanted = set()
    for path in sorted((book / "notebooks").glob("*.ipynb")):
        if copy := recall_copy(nbformat.read(path, as_version=4)):
            (site / "recall").mkdir(parents=True, exist_ok=True)
            nbformat.write(copy, site / "recall" / path.name)
            wanted.add(path.name)
    for path in (site / "recall").glob("*.ipynb"):
        if path.name not in wanted:
            path.unlink()


def _find_lite(app, config):
    """Look for the JupyterLite site, unless conf.py or the command line sets the option."""
    if config.run_in_browser is None:
        config.run_in_browser = (Path(app.outdir) / LITE).exists()


def _conditions(app):
    """Map each kind of conditional block on the first page to whether it applies to this book."""
    printed = app.builder.name == "html" and bool(app.config.html_extra_path)
    return {"notebooks run": bool(app.config.run_in_browser), "there is paper": printed}


def _drop_untrue_blocks(app, docname, source):
    """Remove the first page's blocks about running notebooks and about the PDF if they do not apply."""
    is_true = _conditions(app)
    source[0] = WHERE.sub(lambda block: block[2] if is_true[block[1]] else "", source[0])


def _read_again(app, env, added, changed, removed):
    """Read the first page again if the JupyterLite site or the PDF has been added or removed."""
    before, env.conditions = getattr(env, "conditions", None), _conditions(app)
    return [] if before == env.conditions else [app.config.root_doc]


def _before_writing(app):
    """Make the recall copies before the pages that link to them."""
    if app.builder.name == "html":
        write_recall_copies(Path(app.srcdir), Path(app.outdir))


def _add_row(app, page, template, context, doctree):
    """Put the row of links under the title of a notebook's page."""
    folder, _, rest = page.partition("/")
    if app.builder.name != "html" or doctree is None or folder not in ("notebooks", "exercises"):
        return
    items = _links(app, page, folder, rest.split("/")[0])
    if '<details class="answer">' in context["body"]:
        items.append(ANSWERS)
    if guesses := context["body"].count('<div class="guess guess-'):
        items.append(COUNTER.format(guesses))
    title, end, text = context["body"].partition("</h1>")
    if not end:
        raise ExtensionError(f"{page} has no title.")
    context["body"] = f"{title}{end}\n{ROW.format(chr(10).join(items))}{text}"


def _links(app, page, folder, stem):
    """Return the items of the row: links that run the notebook, and links to its companions."""

    def link(icon, words, target, more=""):
        return LINK.format(escape(_beside(page, target)), more, icon, words)

    items = []
    what = "chapter" if folder == "notebooks" else "notebook"
    if app.config.run_in_browser:
        items.append(link("play", f"Run this {what}", f"{LITE}?path={quote(page)}.ipynb"))
    if address := app.config.repository:
        for name, where in (("Binder", colab.on_binder), ("Colab", colab.on_colab)):
            items.append(LINK.format(escape(where(address, f"{page}.ipynb")), "", "cloud", name))
    items.append(link("download", "Download", f"_sources/{page}.ipynb", " download"))
    if folder == "notebooks":
        if (Path(app.outdir) / "recall" / f"{stem}.ipynb").exists():
            items.append(link("rotate", "Rebuild from memory", f"recall/{stem}.ipynb", " download"))
        exercises = f"exercises/{stem}/{exercises_name(stem)}"
        if exercises in app.env.found_docs:
            items.append(link("pencil", "Exercises", f"{exercises}.html"))
        if (Path(app.outdir) / "slides" / f"{stem}.html").exists():
            items.append(link("person-chalkboard", "Slides", f"slides/{stem}.html"))
    elif f"notebooks/{stem}" in app.env.found_docs:
        items.append(link("book-open", "The chapter", f"notebooks/{stem}.html"))
    return items


def _edit_the_source(app, page, template, context, doctree):
    """Point the theme's edit link at a notebook's source, which is not in book/."""
    folder, _, rest = page.partition("/")
    if app.config.repository and folder in ("notebooks", "exercises"):
        written = {"notebooks": "notebooks", "exercises": "solutions"}[folder]
        address = f"{app.config.repository}/edit/main/{written}/{rest}.ipynb"
        context["get_edit_provider_and_url"] = lambda: ("GitHub", address)


def _beside(page, target):
    """Return the URL of one of the site's files, relative to a page."""
    return "../" * page.count("/") + target


def setup(app):
    """Add the row, the copies, and the option for running chapters in the browser."""
    app.add_config_value("run_in_browser", None, "html", types=(bool, type(None)))
    app.add_config_value("repository", "", "html", types=(str,))
    app.connect("config-inited", _find_lite)
    app.connect("source-read", _drop_untrue_blocks)
    app.connect("env-get-outdated", _read_again)
    app.connect("env-updated", lambda app, env: _before_writing(app))
    app.connect("html-page-context", _add_row)
    app.connect("html-page-context", _edit_the_source, priority=501)  # after the theme's, at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
