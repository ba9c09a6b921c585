"""Lets a reader change and run the cells of code in the page itself.

Where the JupyterLite site lies beside the pages, the pages of notebooks load `_static/live/live.js`, which
gives each cell its controls, and fetches Python only when somebody runs one: from where `live.json` of that
site says. Elsewhere nothing is loaded, and nothing is promised. Leaves out how Python gets there
(`book/lite.py`).
"""

FOLDERS = ("notebooks/", "exercises/")


def _make_live(app, page, template, context, doctree):
    """Let the page of a notebook load what makes its cells live."""
    if app.config.run_in_browser and doctree is not None and page.startswith(FOLDERS):
        app.add_js_file("live/live.js", type="module")
        app.add_css_file("live/live.css")


def setup(app):
    """Tell Sphinx when to add it; whether chapters can be run is asked in chapter_tools.py."""
    app.connect("html-page-context", _make_live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
