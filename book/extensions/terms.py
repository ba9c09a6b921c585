"""What the book makes of its glossary: letters to jump to, and a search that leads to where a term is taught.

Each entry ends with its chapter. There the term is taught, in the section that first has it in italics or in
bold. A search for it shows what it means, and that section, before anything else; _static/scorer.js puts the
chapter at the top of the list.
"""

import json
import re
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

CHAPTER = re.compile(r"\s*Chapter (\d\d)\.$")
FILE = "taught.js"


def entries(document):
    """Yield (term, its id, what it means, its chapter) for each entry of a page with a glossary."""
    for item in document.findall(nodes.definition_list_item):
        if not isinstance(item.parent.parent, addnodes.glossary):
            continue
        meaning = " ".join(item.next_node(nodes.definition).astext().split())
        chapter = CHAPTER.search(meaning)
        for term in item.findall(nodes.term):
            yield term.astext(), term["ids"][0], CHAPTER.sub("", meaning), chapter and chapter[1]


def where_taught(chapter, term):
    """Return the id of the section of a chapter that first has a term in italics or in bold, or ""."""
    for mark in chapter.findall(lambda node: isinstance(node, nodes.emphasis | nodes.strong)):
        if mark.astext().lower() in (term.lower(), f"{term.lower()}s"):
            while mark is not None and not isinstance(mark, nodes.section):
                mark = mark.parent
            return mark["ids"][0] if mark is not None else ""
    return ""


def taught(env, glossary="glossary"):
    """Return, for each term of the glossary, what it means and where it is taught.

    Parameters
    ----------
    env : BuildEnvironment
    glossary : str
        The name of its page.

    Returns
    -------
    dict of str to dict
        By the term in small letters: "term", "meaning", "page", "anchor" and "title" of the place.
    """
    chapters = {name.split("/")[1][:2]: name for name in env.found_docs if name.startswith("notebooks/")}
    places = {}
    for term, _, meaning, number in entries(env.get_doctree(glossary)):
        if number in chapters:
            page = chapters[number]
            places[term.lower()] = {
                "term": term,
                "meaning": meaning,
                "page": page,
                "anchor": where_taught(env.get_doctree(page), term),
                "title": env.titles[page].astext(),
            }
    return places


class Letters(SphinxPostTransform):
    """Put a row of letters above the glossary; each leads to its first term."""

    default_priority = 950  # after previews, of which a letter needs none
    formats = ("html",)

    def run(self, **kwargs):
        """Add the row."""
        for glossary in list(self.document.findall(addnodes.glossary)):
            row = nodes.paragraph(classes=["letters"])
            for letter, terms in groupby(entries(self.document), key=lambda entry: entry[0][0].upper()):
                row += [nodes.reference("", letter, internal=True, refid=next(terms)[1]), nodes.Text(" ")]
            glossary.parent.insert(glossary.parent.index(glossary), row)


def _write(app, failure):
    """Write what the search page reads, beside the other scripts."""
    if failure is None and app.builder.name == "html" and "glossary" in app.env.found_docs:
        text = json.dumps(taught(app.env), ensure_ascii=False, indent=0)
        (Path(app.outdir) / "_static" / FILE).write_text(f"const TAUGHT = {text};\n", encoding="utf-8")


def _on_search_page(app, page, template, context, doctree):
    """Let the search page, and no other, load it."""
    if page == "search" and "glossary" in app.env.found_docs:
        app.add_js_file(FILE, priority=100)


def setup(app):
    """Tell Sphinx when to add and when to write."""
    app.add_post_transform(Letters)
    app.connect("html-page-context", _on_search_page)
    app.connect("build-finished", _write, priority=400)  # before what looks at all files of the site
    return {"parallel_read_safe": True, "parallel_write_safe": True}
