"""Write the passages for search results: the section and the sentence of each page found.

The text of a page's sections is in a small file in passages/; the search page
(_static/scorer.js) fetches the files of the results that come into view.
"""

import json
from pathlib import Path

from docutils import nodes

FOLDER = "passages"
LEFT_OUT = (nodes.raw, nodes.comment, nodes.literal_block, nodes.math_block, nodes.section, nodes.title)


def passages(document):
    """Return [anchor, title, text] for each section of a page.

    Parameters
    ----------
    document : docutils document

    Returns
    -------
    list of list of str
    """
    found = []
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        text = "\n".join(" ".join(text.split()) for text in _texts(section))
        found.append([section["ids"][0], title.astext() if title else "", text])
    return found


def _texts(node):
    """Yield the text of each paragraph of a section, without its subsections."""
    for child in node.children:
        if isinstance(child, nodes.definition_list_item):
            terms = ", ".join(term.astext() for term in child.findall(nodes.term))
            yield f"{terms}: {child.next_node(nodes.definition).astext()}"
        elif isinstance(child, nodes.TextElement) and not isinstance(child, LEFT_OUT):
            yield child.astext()
        elif not isinstance(child, LEFT_OUT):
            yield from _texts(child)


def file_of(page):
    """Return the path of a page's file in the site, with dots instead of slashes in the page's name."""
    return f"{FOLDER}/{page.replace('/', '.')}.js"


def _write(app, failure):
    """Write the passages of all pages."""
    if failure is None and app.builder.name == "html":
        (Path(app.outdir) / FOLDER).mkdir(exist_ok=True)
        for page in sorted(app.env.found_docs):
            text = json.dumps([page, passages(app.env.get_doctree(page))], ensure_ascii=False)
            (Path(app.outdir) / file_of(page)).write_text(f"tellPassages({text});\n", encoding="utf-8")


def setup(app):
    """Connect the writing to Sphinx."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
