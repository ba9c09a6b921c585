"""Add the glossary's links: a row of letters, index entries, and search results for its terms.

Each entry ends with the chapter that teaches the term, where it first occurs in italics or in bold. The index
of site and PDF lists that place. A search for the term first shows its meaning and that place's section;
_static/scorer.js puts the chapter at the top of the list. A search for a public name of the library first
shows its docstring and the chapter that builds it.
"""

import inspect
import json
import re
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

import minigrad
from course.curriculum import CHAPTERS

CHAPTER = re.compile(r"\s*Chapter (\d\d)\.$")
ENTRY = re.compile(r"^(\w.*)\n((?:  .+\n)+)", re.MULTILINE)
PAGE = re.compile(r"notebooks/(\d\d)_")
FILE = "taught.js"
IN_A_CHAPTER = re.compile(r'(<a href="notebooks/(\d\d)_[^"]*">)(?:<strong>)?\[\d+\](?:</strong>)?</a>')


def entries(document):
    """Yield (term, id, meaning, chapter) for each entry of a page's glossary."""
    for item in document.findall(nodes.definition_list_item):
        if not isinstance(item.parent.parent, addnodes.glossary):
            continue
        meaning = " ".join(item.next_node(nodes.definition).astext().split())
        chapter = CHAPTER.search(meaning)
        for term in item.findall(nodes.term):
            yield term.astext(), term["ids"][0], CHAPTER.sub("", meaning), chapter and chapter[1]


def first_mark(chapter, term):
    """Return the first node of a chapter with a term in italics or in bold, or None."""
    for mark in chapter.findall(lambda node: isinstance(node, nodes.emphasis | nodes.strong)):
        if mark.astext().lower() in (term.lower(), f"{term.lower()}s"):
            return mark
    return None


def where_taught(chapter, term):
    """Return the id of the first section of a chapter with a term in italics or in bold, or ""."""
    mark = first_mark(chapter, term)
    while mark is not None and not isinstance(mark, nodes.section):
        mark = mark.parent
    return mark["ids"][0] if mark is not None else ""


def chapters_of(glossary):
    """Return the chapter that teaches each term of a glossary in Markdown.

    Parameters
    ----------
    glossary : str

    Returns
    -------
    dict of str to str
        Term to chapter; terms that no chapter teaches are left out.

    Examples
    --------
    >>> chapters_of("closure\\n  A function that remembers. Chapter 04.\\n")
    {'closure': '04'}
    """
    listed = ((term, CHAPTER.search(meaning.rstrip())) for term, meaning in ENTRY.findall(glossary))
    return {term: chapter[1] for term, chapter in listed if chapter}


class IndexEntries(SphinxTransform):
    """Add a chapter's terms to the index, each where it is taught."""

    default_priority = 700

    def apply(self, **kwargs):
        """Find the first occurrence of each term."""
        glossary = Path(self.env.srcdir) / "glossary.md"
        chapter = PAGE.match(self.env.docname)
        if chapter and glossary.exists():
            self.env.note_dependency(glossary)
            taught = chapters_of(glossary.read_text(encoding="utf-8"))
            for term in (term for term, number in taught.items() if number == chapter[1]):
                if (mark := first_mark(self.document, term)) is not None:
                    place = nodes.make_id(f"taught-{term}")
                    entry = addnodes.index(entries=[("single", term, place, "main", None)])
                    target = nodes.target("", "", ids=[place])
                    mark.parent[mark.parent.index(mark) : mark.parent.index(mark)] = [entry, target]


def taught(env, glossary="glossary"):
    """Return the meaning and the place of each term of the glossary and each public name.

    Parameters
    ----------
    env : BuildEnvironment
    glossary : str
        The name of its page.

    Returns
    -------
    dict of str to dict
        Term in lower case to "term", "meaning", "how", "page", "anchor" and "title".
    """
    chapters = {name.split("/")[1][:2]: name for name in env.found_docs if name.startswith("notebooks/")}
    built = [
        (name, "Built in", inspect.getdoc(getattr(minigrad, name)).splitlines()[0], chapter.stem[:2])
        for chapter in CHAPTERS
        for name in chapter.builds
        if hasattr(minigrad, name)
    ]
    known = [(term, "Taught in", *rest) for term, _, *rest in entries(env.get_doctree(glossary))]
    places = {}
    for term, how, meaning, number in built + known:
        if number in chapters:
            page = chapters[number]
            places[term.lower()] = {
                "term": term,
                "meaning": meaning,
                "how": how,
                "page": page,
                "anchor": where_taught(env.get_doctree(page), term),
                "title": env.titles[page].astext(),
            }
    return places


class Letters(SphinxPostTransform):
    """Insert a row of letters above the glossary, each a link to its first term."""

    default_priority = 950  # after previews: letters need none
    formats = ("html",)

    def run(self, **kwargs):
        """Add the row."""
        for glossary in list(self.document.findall(addnodes.glossary)):
            row = nodes.paragraph(classes=["letters"])
            for letter, terms in groupby(entries(self.document), key=lambda entry: entry[0][0].upper()):
                row += [nodes.reference("", letter, internal=True, refid=next(terms)[1]), nodes.Text(" ")]
            glossary.parent.insert(glossary.parent.index(glossary), row)


def _write(app, failure):
    """Write the script with data for the search page."""
    if failure is None and app.builder.name == "html" and "glossary" in app.env.found_docs:
        text = json.dumps(taught(app.env), ensure_ascii=False, indent=0)
        (Path(app.outdir) / "_static" / FILE).write_text(f"const TAUGHT = {text};\n", encoding="utf-8")


def _on_search_page(app, page, template, context, doctree):
    """Make the search page, and no other, load the script."""
    if page == "search" and "glossary" in app.env.found_docs:
        app.add_js_file(FILE, priority=100)


def _name_chapters(app, failure):
    """Replace [1] in the index with the chapter's number."""
    index = Path(app.outdir) / "genindex.html"
    if failure is None and app.builder.name == "html" and index.exists():
        named = IN_A_CHAPTER.sub(r"\1chapter \2</a>", index.read_text(encoding="utf-8"))
        index.write_text(named, encoding="utf-8")


def setup(app):
    """Connect all steps to Sphinx."""
    app.add_transform(IndexEntries)
    app.add_post_transform(Letters)
    app.connect("html-page-context", _on_search_page)
    app.connect("build-finished", _name_chapters)
    app.connect("build-finished", _write, priority=400)  # before the checks of all files of the site
    return {"parallel_read_safe": True, "parallel_write_safe": True}
