"""Fix the accessibility of generated HTML.

Each entry of FIXES has a pattern, its replacement, and a comment with the reason.
"""

import re

FIXES = (
    # A list may contain only list items, and docutils gives the entries a deprecated role.
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r' role="doc-biblioentry"'), ""),
    # myst-nb gives the summary of a fold a label that differs from its text.
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # A paragraph must not contain a list, and Sphinx wraps a function's list of return values in a paragraph.
    (re.compile(r'<p>(<ul class="simple">.*?</ul>)\s*</p>', re.DOTALL), r"\1"),
)


def fix(html):
    """Apply all fixes to the HTML of a page."""
    for written, better in FIXES:
        html = written.sub(better, html)
    return html


def _on_page(app, page, template, context, doctree):
    """Fix each page before it is written."""
    if "body" in context:
        context["body"] = fix(context["body"])


def setup(app):
    """Connect the fixes to Sphinx."""
    app.connect("html-page-context", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
