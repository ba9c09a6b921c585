"""Links that plain Markdown cannot write, so that a chapter reads the same in JupyterLab and in the book.

Where prose says "chapter 08", the book links to that chapter, if it is there. Where a word stands in italics
or in bold and the glossary has it, the book links to the glossary. In JupyterLab both are just words.
"""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

CHAPTER = re.compile(r"\b[Cc]hapter (\d\d)\b")
LINKS = (nodes.reference, pending_xref)  # careful: a link inside a link ends the outer one
NOT_PROSE = (*LINKS, nodes.title, nodes.literal, nodes.literal_block, nodes.math, nodes.math_block)


class ChapterLinks(SphinxPostTransform):
    """Turn "chapter 08" into a link to that chapter."""

    default_priority = 5

    def run(self, **kwargs):
        """Replace each mention in prose by text, link, text."""
        here = self.env.current_document.docname
        pages = {name for name in self.env.found_docs if name.startswith("notebooks/")} - {here}
        chapters = {page.removeprefix("notebooks/")[:2]: page for page in pages}
        for text in list(self.document.findall(nodes.Text)):
            if not CHAPTER.search(text) or _inside(text, NOT_PROSE):
                continue
            parts, done = [], 0
            for mention in CHAPTER.finditer(text):
                if mention[1] in chapters:
                    words = nodes.inline(text=mention[0])
                    link = make_refnode(self.app.builder, here, chapters[mention[1]], None, words)
                    parts += [nodes.Text(text[done : mention.start()]), link]
                    done = mention.end()
            text.parent.replace(text, [*parts, nodes.Text(text[done:])])


class GlossaryLinks(SphinxPostTransform):
    """Turn an italic or bold word of the glossary, singular or plural, into a link to its entry."""

    default_priority = 5

    def run(self, **kwargs):
        """Ask the glossary for each word in italics or in bold."""
        here = self.env.current_document.docname
        glossary = self.env.domains.standard_domain
        for word in list(self.document.findall(nodes.Element)):
            if not isinstance(word, (nodes.emphasis, nodes.strong)) or _inside(word, NOT_PROSE):
                continue
            name = word.astext().lower()
            for term in (name, name.removesuffix("s")):
                asked = (self.env, here, self.app.builder, "term", term, pending_xref(), word.deepcopy())
                if link := glossary.resolve_xref(*asked):
                    word.replace_self(link)
                    break


def _inside(node, kinds):
    """Say whether a node stands inside one of these kinds of node."""
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node is not None


def setup(app):
    """Add both to Sphinx."""
    app.add_post_transform(ChapterLinks)
    app.add_post_transform(GlossaryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
