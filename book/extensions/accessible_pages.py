"""Puts right what the tools that write the pages leave hard to reach or to hear.

Each line of MENDS is one such thing: what they write, what the book writes, and why.
"""

import re

MENDS = (
    # A list may hold only list items, and docutils puts entries of a withdrawn kind into it.
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r' role="doc-biblioentry"'), ""),
    # myst-nb names the words that open a fold otherwise than they read.
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # A paragraph may hold no list, and Sphinx puts the list of what a function returns into one.
    (re.compile(r'<p>(<ul class="simple">.*?</ul>)\s*</p>', re.DOTALL), r"\1"),
)


def mend(html):
    """Return the text of a page with all mends made."""
    for written, better in MENDS:
        html = written.sub(better, html)
    return html


def _on_page(app, page, template, context, doctree):
    """Mend each page before it is written."""
    if "body" in context:
        context["body"] = mend(context["body"])


def setup(app):
    """Tell Sphinx when to mend."""
    app.connect("html-page-context", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
