"""Make slides of each chapter from its notebook; they open from a folder, without the network.

Make them from the root of the project, or with `make slides`:

    python -m book.slides

Cells with a tag become slides: `slide`, or `slide-3` if the slide's text begins with the third sentence. A
chapter without tags gets its headings and its figures. Holds `make`, and `slides_of` and `page`, which
convert one notebook to one page. ``book.slides.words`` shortens the prose of a cell, and
``book.slides.votes`` lets a class vote on a guess.
"""

import ast
import importlib.util
import re
import shutil
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

import nbformat

from book.slides import votes, words
from course import colours
from course.guesses import questions
from course.store import write

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "book" / "_build" / "html"
STATIC = PROJECT / "book" / "_static"
TAG = re.compile(r"slide(?:-([1-9]))?")
BY_RULE = ("Question", "Say it", "By hand", "Break it", words.THE_END)  # sections that become slides
MOST = 14  # slides of a chapter without tags
LINES = 12  # lines of a printed output
REVEAL = ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js", "LICENSE")
ANSI = re.compile(r"\x1b\[[\d;]*m")
FOR_THE_LAB = re.compile(r"\A# (?:what happens|proof)\n")  # folds.py
PAGE, INDEX = (Path(__file__).with_name(name) for name in ("page.html", "index.html"))


class SlidesError(Exception):
    """The reason why slides cannot be made, and what to do."""


@dataclass
class Slide:
    """The content of one slide.

    Parameters
    ----------
    kind : str
        "title", "prose", "figure" or "code".
    title, body : str
        HTML.
    section : str
        The chapter's section.
    notes : list of str
        Speaker notes in Markdown.
    """

    kind: str
    title: str
    body: str
    section: str
    notes: list = field(default_factory=list)

    def html(self):
        """Write the slide as a section of the page."""
        heading = "h1" if self.kind == "title" else "h2"
        small = ' class="small"' if len(self.title) > words.LONG else ""
        above = f'<p class="section">{escape(self.section)}</p>' if self.section else ""
        notes = "".join(words.html(note) for note in self.notes if note.strip())
        return (
            f'<section class="{self.kind}">\n{above}<{heading}{small}>{self.title}</{heading}>\n'
            f'<div class="body">\n{self.body}\n</div>\n<aside class="notes">\n{notes}</aside>\n</section>\n'
        )


def make(project=PROJECT, site=SITE):
    """Write the slides of every chapter, and their index page.

    Parameters
    ----------
    project, site : Path
        The folders of notebooks/ and of slides/.

    Returns
    -------
    dict of str to int
        Name of the notebook to number of slides.

    Raises
    ------
    SlidesError
        If a package is missing, or there are no chapters.
    """
    paths = sorted((project / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    if not paths:
        raise SlidesError(f"There is no chapter in {project / 'notebooks'}.")
    copy_programs(site)
    counts, rows = {}, []
    for path in paths:
        slides = slides_of(nbformat.read(path, as_version=4))
        write(site / "slides" / f"{path.stem}.html", page(slides))
        counts[path.stem] = len(slides)
        rows.append(f'<li><a href="{path.stem}.html">{slides[0].title}</a>{slides[0].body}</li>')
    write(site / "slides" / "index.html", _filled(INDEX, rows="\n".join(rows)))
    for old in (site / "slides").glob("[0-9][0-9]_*.html"):
        if old.stem not in counts:
            old.unlink()
    return counts


def copy_programs(site):
    """Copy reveal.js and MathJax from the packages that contain them into a site.

    Parameters
    ----------
    site : Path

    Raises
    ------
    SlidesError
        If one of the two packages is not installed.
    """
    missing = [name for name in ("sphinx_revealjs", "sphinx-mathjax-offline") if not _found(name)]
    if missing:
        names = " and ".join(name.replace("_", "-") for name in missing)
        raise SlidesError(f"the slides need {names}, from the extra `book`: pip install {names}")
    carried = Path(_found("sphinx_revealjs").origin).parent / "_static" / "revealjs"
    for name in REVEAL:
        if not (carried / name).is_file():
            raise SlidesError(f"sphinx-revealjs no longer has {name}: the slides need version 3.")
        write(site / "slides" / "reveal" / Path(name).name, (carried / name).read_bytes())
    write(site / "slides" / "colours.css", colours.CSS)
    for path in Path(__file__).parent.glob("slides.*"):
        write(site / "slides" / path.name, path.read_bytes())
    for path in [STATIC / "type.css", *(STATIC / "fonts").iterdir()]:  # the book's typefaces
        write(site / "slides" / path.relative_to(STATIC), path.read_bytes())
    math = Path(_found("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    target = site / "_static" / "mathjax"
    for name in ("tex-chtml.js", "output/chtml/fonts", "input/tex/extensions", "a11y", "sre/mathmaps"):
        if not (target / name).exists():  # already copied with earlier slides
            copy = shutil.copytree if (math / name).is_dir() else shutil.copyfile
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            copy(math / name, target / name)


def page(slides):
    """Return the page of a chapter's slides.

    Parameters
    ----------
    slides : list of Slide
        The first is the title.

    Returns
    -------
    str
    """
    title = escape(re.sub(r"<[^>]*>", "", slides[0].title), quote=False)
    return _filled(PAGE, title=title, slides="\n".join(slide.html() for slide in slides))


def slides_of(chapter):
    """Make the slides of a chapter, in order.

    Parameters
    ----------
    chapter : NotebookNode
        The chapter with its outputs.

    Returns
    -------
    list of Slide
    """
    chosen = tagged(chapter) or by_rule(chapter)
    guesses = {guess["id"]: guess["fields"] for guess in questions(chapter)}
    slides, section = [], ""
    for place, cell in enumerate(chapter.cells):
        if cell.cell_type == "markdown":
            if place in chosen:
                slides += _of_prose(cell.source, chosen[place], section, guesses.get(cell.id))
            section = next((head for level, head, _ in words.parts(cell.source)[:0:-1] if level > 1), section)
        elif place in chosen:
            before, after = (_prose_beside(chapter, place, step) for step in (-1, +1))
            slide = (_of_figure if _figures(cell) else _of_code)(cell, chosen[place], before[1], after[1])
            slide.section = section
            slide.notes += [text for at, text in (before, after) if at not in chosen]
            slides.append(slide)
    return slides


def tagged(chapter):
    """Find the cells with a tag for slides.

    Parameters
    ----------
    chapter : NotebookNode

    Returns
    -------
    dict of int to int or None
        Index of the cell to the number of the first sentence on its slide, if the tag has one.
    """
    chosen = {}
    for place, cell in enumerate(chapter.cells):
        for tag in cell.metadata.get("tags", []):
            if match := TAG.fullmatch(tag):
                chosen[place] = int(match[1]) if match[1] else None
    return chosen


def by_rule(chapter):
    """Choose the cells that become slides in a chapter without tags: headings and figures.

    Parameters
    ----------
    chapter : NotebookNode

    Returns
    -------
    dict of int to None
        As returned by `tagged`: the title, one cell of some sections, and as many figures as fit.
    """
    chosen = {
        place
        for place, cell in enumerate(chapter.cells)
        if cell.cell_type == "markdown"
        and any(level == 1 or head in BY_RULE for level, head, _ in words.parts(cell.source))
    }
    figures = [place for place, cell in enumerate(chapter.cells) if _figures(cell)]
    return dict.fromkeys(sorted(chosen.union(figures[: max(0, MOST - len(chosen))])))


def _of_prose(source, first, section, guess):
    """Make the slides of a cell of prose: usually one, but two for a title with the question below it.

    The last has the fields of the cell's guess, if there is one.
    """
    parts = words.parts(source)
    worth = [part for part in parts if part[0] == 1 or part[1] in BY_RULE] or parts[1:2] or parts
    slides = []
    for level, head, text in worth:
        if level == 1:
            promise = f'<p class="promise">{words.inline(words.bold(text))}</p>'
            slides.append(Slide("title", words.inline(head), promise, "", [text]))
            continue
        shown = words.shown(text, head or section, first or 1, words.ROOM_TO_ASK if guess else words.ROOM)
        if not head:
            sentence = (words.sentences_of(shown) or [""])[0]
            fits = len(sentence) <= words.TITLE and "$" not in sentence
            if fits and shown.startswith(sentence) and shown != sentence:
                head, shown = sentence, shown[len(sentence) :].strip()
                if head.startswith("**") and head.endswith("**"):
                    head = head.strip("*").rstrip(".")
        above = section if head and level == 0 else ""
        slides.append(Slide("prose", words.inline(head or section), words.html(shown), above, [text]))
    slides[-1].notes = [text for part, text in zip(parts, map(_whole, parts), strict=True) if part[0] != 1]
    if guess:
        slides[-1].body += votes.html(guess)
        slides[-1].notes.append(votes.notes(guess))
    return slides


def _whole(part):
    """Return a part of a cell's prose with its heading."""
    level, head, text = part
    return f"{'#' * level} {head}\n\n{text}" if head else text


def _of_figure(cell, first, before, after):
    """Make the slide of a cell with a figure: the figure, with the finding as its title."""
    sentences = words.sentences_of(after) or words.sentences_of(_alternative(cell))
    title = words.without_asides(sentences[min(first or 1, len(sentences)) - 1])
    body = "\n".join(_figures(cell))
    return Slide("figure", words.inline(title), body, "", [f"*The figure:* {_alternative(cell)}"])


def _of_code(cell, first, before, after):
    """Make the slide of a cell of code: the question before it, the code and, as a next step, its output."""
    from nbconvert.filters import Highlight2HTML

    sentences = words.sentences_of(before) or ["In code"]
    title = words.without_asides(sentences[first - 1 if first and first <= len(sentences) else -1])
    body = Highlight2HTML(pygments_lexer="python")(_to_be_seen(cell))
    printed = "\n".join(filter(None, map(_printed, cell.outputs))).strip("\n")
    if printed:
        lines = printed.splitlines()
        lines = lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"]
        body += f'<pre class="output fragment">{escape(chr(10).join(lines))}</pre>'
    return Slide("code", words.inline(title), body, "")


def _to_be_seen(cell):
    """Remove a code cell's line for JupyterLab, and its assertions, which repeat the slide's text."""
    source = FOR_THE_LAB.sub("", cell.source)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    raised = any(output.output_type == "error" for output in cell.outputs)
    if raised or all(isinstance(line, ast.Assert) for line in tree.body):
        tree.body = []
    lines = source.split("\n")
    for line in reversed(tree.body):
        if isinstance(line, ast.Assert):
            del lines[line.lineno - 1 : line.end_lineno]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _prose_beside(chapter, place, step):
    """Return the index of the prose cell before or after a cell, and its part next to the cell."""
    at = place + step
    while 0 <= at < len(chapter.cells) and chapter.cells[at].cell_type != "markdown":
        at += step
    if not 0 <= at < len(chapter.cells):
        return None, ""
    parts = words.parts(chapter.cells[at].source)
    return at, (parts[0] if step > 0 else parts[-1])[2]


def _figures(cell):
    """Return the HTML of a cell's figures and widgets."""
    faces = [output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ())]
    return [face for face in faces if "<img" in face]


def _alternative(cell):
    """Return the alternative text of a cell's figures."""
    faces = [output.get("data", {}) for output in cell.outputs]
    return " ".join(face["text/plain"] for face in faces if "<img" in face.get("text/html", ""))


def _printed(output):
    """Return the text of an output; for an error, its last line."""
    if output.output_type == "error":
        return f"{output.ename}: {ANSI.sub('', output.evalue)}"
    return ANSI.sub("", output.get("text") or output.get("data", {}).get("text/plain", ""))


def _found(package):
    """Find a package's spec, or None."""
    return importlib.util.find_spec(package)


def _filled(path, **parts):
    """Fill a template."""
    return Template(path.read_text(encoding="utf-8")).substitute(parts)
