"""Let readers edit and run code cells in the page itself.

If the JupyterLite site is next to the pages, the pages of notebooks load `_static/live/live.js`. It adds
controls to each cell; when a cell is first run, it fetches Python from the address in the site's `live.json`.
Without the site, nothing is added. `book/lite.py` builds the site.
"""

FOLDERS = ("notebooks/", "exercises/")


def _make_live(app, page, template, context, doctree):
    """Make a notebook's page load the scripts for live cells."""
    if app.config.run_in_browser and doctree is not None and page.startswith(FOLDERS):
        app.add_js_file("live/live.js", type="module")
        app.add_css_file("live/live.css")


def setup(app):
    """Connect live cells to Sphinx; chapter_tools.py has the option for running chapters."""
    app.connect("html-page-context", _make_live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
