"""Check every link between the built pages; a broken one is a warning."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)

NOT_OURS = {"_static", "lite"}  # the theme's templates, and the JupyterLite site, where links are programs


def broken_links(site):
    """List a site's broken links, to files or to anchors, in one sentence each.

    Parameters
    ----------
    site : Path

    Returns
    -------
    list of str
    """
    read = cache(_Page.read)
    sentences = []
    for page in sorted(site.glob("**/*.html")):
        name = page.relative_to(site)
        if name.parts[0] in NOT_OURS:
            continue
        for address in read(page).links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
            if target.is_relative_to(site.resolve() / "lite"):
                continue
            if not target.is_file():
                sentences.append(f"{name} links to {address}, which does not exist.")
            elif parts.fragment and unquote(parts.fragment) not in read(target).places:
                sentences.append(f"{name} links to {address}, but that page has no such anchor.")
    return sentences


class _Page(HTMLParser):
    """Collect the links and the anchors of a page."""

    def __init__(self):
        super().__init__()
        self.links, self.places = [], {"", "top"}

    @classmethod
    def read(cls, path):
        """Collect a file's links and anchors; it has none if it is not HTML."""
        page = cls()
        if path.suffix == ".html":
            page.feed(Path(path).read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag, attributes):
        """Collect a tag's link or anchor."""
        given = dict(attributes)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}


def _after_building(app, failure):
    """Check the links after the site has been written."""
    if failure is None and app.builder.name == "html":
        for sentence in broken_links(Path(app.outdir)):
            logger.warning(sentence)


def setup(app):
    """Connect the check to Sphinx."""
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
