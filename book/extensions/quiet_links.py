"""Make links from plain words, so that a chapter reads the same in JupyterLab and in the book.

In prose, "chapter 08" becomes a link to that chapter, if it exists, and "Figure 8.2" a link to that figure,
which must exist. A glossary term in italics or in bold becomes a link to its entry. In JupyterLab these are
plain words.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import NoUri
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import make_refnode
from terms import PAGE, chapters_of

logger = logging.getLogger(__name__)

MENTION = re.compile(r"\b[Cc]hapter (\d\d)\b|\bFigure (\d+\.\d+)\b")
LINKS = (nodes.reference, pending_xref)  # careful: a link inside a link ends the outer link
NOT_PROSE = (*LINKS, nodes.title, nodes.caption)
NOT_PROSE += (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


class MentionLinks(SphinxPostTransform):
    """Turn "chapter 08" into a link to that chapter, and "Figure 8.2" into a link to that figure."""

    default_priority = 5

    def run(self, **kwargs):
        """Replace each mention in prose with text, link, text."""
        here = self.env.current_document.docname
        pages = {name for name in self.env.found_docs if name.startswith("notebooks/")} - {here}
        chapters = {page.removeprefix("notebooks/")[:2]: (page, None) for page in pages}
        for text in list(self.document.findall(nodes.Text)):
            if not MENTION.search(text) or _inside(text, NOT_PROSE):
                continue
            parts, done = [], 0
            for mention in MENTION.finditer(text):
                target = chapters.get(mention[1]) if mention[1] else self._figure(mention[2], text)
                if target and (link := self._link(here, target, mention[0])):
                    parts += [nodes.Text(text[done : mention.start()]), link]
                    done = mention.end()
            text.parent.replace(text, [*parts, nodes.Text(text[done:])])

    def _link(self, here, target, words):
        """Return a link, or None if its target is not in this PDF."""
        try:
            return make_refnode(self.app.builder, here, *target, nodes.inline(text=words))
        except NoUri:
            return None

    def _figure(self, number, text):
        """Return the page and the anchor of a figure; warn and return None if there is no such figure."""
        place = f"figure-{number.replace('.', '-')}"
        if place not in self.env.domains.standard_domain.anonlabels:
            logger.warning("there is no Figure %s, which is mentioned here.", number, location=text.parent)
            return None
        return self.env.domains.standard_domain.anonlabels[place]


class GlossaryLinks(SphinxPostTransform):
    """Turn a term's first italic or bold mention in a section, singular or plural, into a link to its entry.

    Capitals must match, so that names of buttons do not become links. Before the chapter that teaches a term,
    the term is an ordinary word.
    """

    default_priority = 5

    def run(self, **kwargs):
        """Look up each word in italics or in bold in the glossary."""
        here, linked = self.env.current_document.docname, set()
        if "glossary" not in self.env.found_docs:
            return
        taught = chapters_of(Path(self.env.doc2path("glossary")).read_text(encoding="utf-8"))
        chapter = PAGE.match(here)
        for word in list(self.document.findall(nodes.Element)):
            if not isinstance(word, (nodes.emphasis, nodes.strong)):
                continue
            if _inside(word, (*NOT_PROSE, nodes.block_quote)):
                continue
            name = word.astext()
            term = next((term for term in (name, name.removesuffix("s")) if term in taught), None)
            if term is None or (chapter and chapter[1] < taught[term]) or (_section(word), term) in linked:
                continue
            if link := self._link(here, term, word):
                word.replace_self(link)
                linked.add((_section(word), term))

    def _link(self, here, term, word):
        """Return a link, or None if this PDF has no glossary."""
        asked = (self.env, here, self.app.builder, "term", term, pending_xref(), word.deepcopy())
        try:
            return self.env.domains.standard_domain.resolve_xref(*asked)
        except NoUri:
            return None


def _section(node):
    """Return the id of the section that contains a node."""
    while node is not None and not isinstance(node, nodes.section):
        node = node.parent
    return node["ids"][0] if node is not None else ""


def _inside(node, kinds):
    """Report whether a node is inside a node of one of these kinds."""
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node is not None


def setup(app):
    """Add both transforms to Sphinx."""
    app.add_post_transform(MentionLinks)
    app.add_post_transform(GlossaryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
