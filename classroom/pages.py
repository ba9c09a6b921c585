"""HTML pages as trees of elements: text is escaped when the tree is written, so that none becomes a tag.

Holds `element` and `page`. The pages' contents are in ``classroom.feedback_pages`` and other modules.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

from course import colours

STYLE = colours.CSS + Path(__file__).with_name("report.css").read_text("utf-8")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"  # a page runs nothing and loads nothing
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def page(title, body, script=None):
    """Return a complete page as HTML.

    Parameters
    ----------
    title : str
    body : list of Element or str
    script : str, optional
        The only script that may run in the page; without it, none may.

    Returns
    -------
    str
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", **{"http-equiv": "Content-Security-Policy", "content": _policy(script)}),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", STYLE),
    )
    scripts = [element("script", script)] if script else []
    whole = element("html", head, element("body", element("main", *body), *scripts), lang="en")
    return "<!doctype html>\n" + ElementTree.tostring(whole, encoding="unicode", method="html") + "\n"


def _policy(script):
    """Write the page's Content-Security-Policy: load nothing, and run only one script, given by its hash."""
    if script is None:
        return POLICY
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"


def element(tag, *children, of=None, **attributes):
    """Make an element. A str among its children is text, whatever it contains."""
    element = ElementTree.Element(tag, {} if of is None else {"class": of})
    for name, value in attributes.items():
        element.set(name, UNPRINTABLE.sub("\ufffd", value))
    for child in children:
        if not isinstance(child, str):
            element.append(child)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + UNPRINTABLE.sub("\ufffd", child)
        else:
            element.text = (element.text or "") + UNPRINTABLE.sub("\ufffd", child)
    return element
