"""Follows every link between the pages once they are built: one that leads nowhere is a warning."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)

NOT_OURS = {"_static", "lite"}  # the theme's templates, and the JupyterLite site, where links are programs


def broken_links(site):
    """List, in sentences, the links of a site's pages that lead to no file of it, or to no place in the file.

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
                sentences.append(f"{name} links to {address}, which is not there.")
            elif parts.fragment and unquote(parts.fragment) not in read(target).places:
                sentences.append(f"{name} links to {address}, and there is no such place in that page.")
    return sentences


class _Page(HTMLParser):
    """Collects where a page's links lead, and the places in it that a link can lead to."""

    def __init__(self):
        super().__init__()
        self.links, self.places = [], {"", "top"}

    @classmethod
    def read(cls, path):
        """Return what is found in a file; in one that is no page, nothing."""
        page = cls()
        if path.suffix == ".html":
            page.feed(Path(path).read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag, attributes):
        """Note the link, or the place."""
        given = dict(attributes)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}


def _after_building(app, failure):
    """Follow the links when the site is complete."""
    if failure is None and app.builder.name == "html":
        for sentence in broken_links(Path(app.outdir)):
            logger.warning(sentence)


def setup(app):
    """Tell Sphinx when to follow."""
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
