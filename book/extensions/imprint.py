"""Add each page's footer: the date of its last change, the course's citation, links to report mistakes.

The last commit that changed the page gives the date; without a history, there is none. The links for mistakes
need the repository's address in pyproject.toml; those to the PDF and the EPUB need the output of `make pdf`
and `make epub`.
"""

import re
import subprocess
from datetime import date
from html import escape
from pathlib import Path
from urllib.parse import quote

PROJECT = Path(__file__).parents[2]
WRITTEN_IN = {"notebooks": "notebooks", "exercises": "solutions"}
SEPARATED = "\0"


def last_changes(project):
    """Return the date of the last change to each of a project's files.

    Parameters
    ----------
    project : Path

    Returns
    -------
    dict of str to date
        Path to date; empty if there is no history, or only a part of it.
    """
    if _git(project, "rev-parse", "--is-shallow-repository") != "false":
        return {}
    changes = {}
    log = _git(project, "log", "--format=%x00%cs", "--name-only", "--no-renames", "--relative")
    for commit in log.split(SEPARATED)[1:]:
        day, *paths = commit.split("\n")
        for path in filter(None, paths):
            changes.setdefault(path, date.fromisoformat(day))
    return changes


def _git(project, *words):
    """Return the output of a git command, or "" if it fails or git is missing."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=project, capture_output=True, text=True, encoding="utf-8", check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip("\n ") if done.returncode == 0 else ""


def source_of(page):
    """Return the path of a page's source file, relative to the project.

    Parameters
    ----------
    page : str

    Returns
    -------
    str

    Examples
    --------
    >>> source_of("exercises/04/04"), source_of("speed")
    ('solutions/04/04.ipynb', 'book/speed.md')
    """
    folder, _, rest = page.partition("/")
    return f"{WRITTEN_IN[folder]}/{rest}.ipynb" if folder in WRITTEN_IN else f"book/{page}.md"


def citation(project, year):
    """Return the citation of the course in BibTeX.

    Parameters
    ----------
    project : Path
        The folder with ``CITATION.cff``, which has title and version; a class's bundle has no such file.
    year : int or None

    Returns
    -------
    str
    """
    path = project / "CITATION.cff"
    if not path.exists():
        return ""
    facts = path.read_text(encoding="utf-8")
    title, version = (
        re.search(rf'^{name}: "?(.*?)"?$', facts, re.MULTILINE)[1] for name in ("title", "version")
    )
    author = re.search(r"^  - name: (.*)$", facts, re.MULTILINE)[1]
    lines = [f"author = {{{{{author}}}}}", f"title = {{{title}}}", f"note = {{Version {version}}}"]
    if year:
        lines.append(f"year = {{{year}}}")
    return "@misc{minigrad,\n" + "".join(f"  {line},\n" for line in lines) + "}"


def imprint(changed, cited, links):
    """Return the HTML of a page's footer.

    Parameters
    ----------
    changed : date or None
    cited : str
        Returned by `citation`.
    links : list of (str, str)
        Texts and URLs.

    Returns
    -------
    str
    """
    items = [f"Last changed <time>{changed.day} {changed:%B %Y}</time>"] if changed else []
    items += [f'<a href="{escape(address)}">{words}</a>' for words, address in links]
    listed = "".join(f"<li>{item}</li>" for item in items)
    parts = [f"<ul>{listed}</ul>"] if items else []
    if cited:
        parts.append(
            f'<details class="cite"><summary>Cite this course</summary><pre>{escape(cited)}</pre></details>'
        )
    return '<footer class="imprint">\n{}\n</footer>'.format("\n".join(parts)) if parts else ""


def _add(app, page, template, context, doctree):
    """Add the imprint below the text of each page."""
    if app.builder.name != "html" or doctree is None:
        return
    if not hasattr(app, "last_changes"):
        app.last_changes = last_changes(PROJECT)
    changes, address = app.last_changes, app.config.repository
    up = "../" * page.count("/")
    links = []
    if address:
        title = quote(f"{app.env.titles[page].astext()}: ")
        links += [("Report a mistake", f"{address}/issues/new?title={title}")]
        links += [("Known mistakes", f"{address}/issues?q=label%3Aerratum")]
    if app.config.html_extra_path:
        links += [("PDF", f"{up}minigrad.pdf"), ("EPUB", f"{up}minigrad.epub")]
    newest = max(changes.values(), default=None)
    cited = citation(PROJECT, newest and newest.year)
    context["body"] += imprint(changes.get(source_of(page)), cited, links)


def setup(app):
    """Connect the imprint to Sphinx."""
    app.connect("html-page-context", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
