"""Preview links: show the beginning of the target, such as a term's meaning or a chapter's promise.

The text is copied from the target page when the book is built; the theme's own tooltips (Bootstrap's) show it
on hover and on focus. The script for these is in _static/book.js.
"""

import posixpath
import re
from html import escape
from urllib.parse import urldefrag

from docutils import nodes
from formulas import mathml
from sphinx.transforms.post_transforms import SphinxPostTransform

LONGEST = 420  # characters
FORMULA = re.compile(r"\\\((.+?)\\\)")


class previewed(nodes.reference):
    """A link with a preview; for builders other than HTML, an ordinary link."""


class Previews(SphinxPostTransform):
    """Give each link to another page, or to an anchor with text, the target's text as a preview."""

    default_priority = 900  # after all links have been resolved
    builders = ("html",)

    def run(self, **kwargs):
        """Replace links with links that have a preview."""
        here = self.env.current_document.docname
        for link in list(self.document.findall(nodes.reference)):
            if not link.get("internal") or isinstance(link.parent, nodes.title) or not link.astext().strip():
                continue
            address, anchor = urldefrag(link.get("refuri", "") or f"#{link.get('refid', '')}")
            page = posixpath.normpath(posixpath.join(posixpath.dirname(here), address)) if address else here
            words = self._words(page.removesuffix(".html"), anchor)
            if words:
                twin = previewed("", "", *[child.deepcopy() for child in link.children], **link.attributes)
                twin["preview"] = words
                link.replace_self(twin)

    def _words(self, page, anchor):
        """Return the text at an anchor of the book, or "" if no short text is there."""
        if page not in self.env.found_docs:
            return ""
        document = self.env.get_doctree(page)
        if anchor:
            target = next((node for node in document.findall(nodes.Element) if anchor in node["ids"]), None)
            if target is not None and "caption" in target:
                return target["caption"]  # of a figure
            if isinstance(target, nodes.term):
                target = target.parent.next_node(nodes.definition)
            elif isinstance(target, nodes.section):
                target = target.next_node(nodes.paragraph)
        else:
            target = document.next_node(nodes.paragraph)
        return _shortened(target)


def _shortened(node):
    """Return a node's text, cut off after a word if it is long."""
    if node is None:
        return ""
    parts = [_text(part) for part in node.findall(nodes.paragraph)] if node.children else []
    text = " ".join(" ".join(parts or [_text(node)]).split())
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rpartition(" ")[0] + " …"


def _text(node):
    """Return a node's text, with formulas as marked TeX."""
    if isinstance(node, nodes.math):
        return rf"\({node.astext()}\)"
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(_text(child) for child in node.children)


def _drawn(words):
    """Convert text to HTML, with formulas as MathML."""
    parts = enumerate(FORMULA.split(words))  # every second part is a formula
    return "".join(mathml(part) if place % 2 else escape(part, quote=False) for place, part in parts)


def visit_previewed(translator, node):
    """Write a link as usual, and add the preview to its tag."""
    place = len(translator.body)
    translator.visit_reference(node)
    words = escape(node["preview"], quote=True)
    data = f'<a data-bs-toggle="tooltip" data-bs-custom-class="preview" data-bs-title="{words}" '
    if FORMULA.search(node["preview"]):
        data += f'data-formulas="{escape(_drawn(node["preview"]), quote=True)}" '
    translator.body[place] = translator.body[place].replace("<a ", data, 1)


def depart_previewed(translator, node):
    """Close a link as usual."""
    translator.depart_reference(node)


def setup(app):
    """Add the transform and the node to Sphinx."""
    app.add_node(previewed, html=(visit_previewed, depart_previewed))
    app.add_post_transform(Previews)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
