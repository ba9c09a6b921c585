"""Code cells that a reader can edit and run in the page itself.

If the JupyterLite site is beside the pages, the pages of notebooks load `_static/live/live.js`, which adds
controls to each cell, and fetches Python only when a cell is first run, from the address in that site's
`live.json`. Otherwise nothing is added. `book/lite.py` builds the site.
"""

FOLDERS = ("notebooks/", "exercises/")


def _make_live(app, page, template, context, doctree):
    """Let the page of a notebook load the scripts for live cells."""
    if app.config.run_in_browser and doctree is not None and page.startswith(FOLDERS):
        app.add_js_file("live/live.js", type="module")
        app.add_css_file("live/live.css")


def setup(app):
    """Connect live cells to Sphinx; chapter_tools.py has the option for running chapters."""
    app.connect("html-page-context", _make_live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
