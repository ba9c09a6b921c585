"""Check that pages load nothing from the network, and empty one of the theme's large scripts.

A page that loads a file from elsewhere causes a warning. The theme's script that draws icons, 1.5 MB, is
emptied: the theme's font has the same icons.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)

ICON_SCRIPT = "scripts/fontawesome.js"
LOADING_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
NOT_PAGES = {"_static", "lite"}  # the theme's templates, and the JupyterLite site, which has its own tests
CSS_LOADS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


def empty_icon_script(static):
    """Empty the theme's script for icons; the theme's font has the same icons."""
    script = static / ICON_SCRIPT
    if not script.exists():
        raise ExtensionError(f"the theme no longer has {ICON_SCRIPT}: remove it from offline_pages.py.")
    script.write_text("/* The theme's font draws the icons. */\n", encoding="utf-8")


def unmet_loads(site):
    """List, in sentences, the files that pages would load from the network, and missing files."""
    sentences = []
    own = [path for path in site.glob("**/*") if NOT_PAGES.isdisjoint(path.relative_to(site).parts[:1])]
    pages = [path for path in own if path.suffix == ".html"]
    for page in sorted(pages):
        loads = _Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        for address in loads.found:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                sentences.append(f"{page.relative_to(site)} would load {address} from the network.")
            elif not (page.parent / unquote(parts.path)).exists():
                sentences.append(f"{page.relative_to(site)} loads {address}, which does not exist.")
    for sheet in sorted(
        path for path in site.glob("**/*.css") if "lite" not in path.relative_to(site).parts[:1]
    ):
        for address in CSS_LOADS.findall(sheet.read_text(encoding="utf-8")):
            sentences.append(f"{sheet.relative_to(site)} would load {address} from the network.")
    return sentences


class _Loads(HTMLParser):
    """Collect the URLs that a browser fetches by itself to show a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        """Collect the URLs that a tag loads."""
        given = dict(attributes)
        if tag == "link" and LOADING_LINKS & set(given.get("rel", "").split()):
            self.found.append(given["href"])
        self.found += [given[name] for name in ("src", "data", "poster") if given.get(name)]


def _after_building(app, failure):
    """Empty the script for icons, then check every page."""
    if failure is None and app.builder.format == "html":
        if app.builder.name == "html":
            empty_icon_script(Path(app.outdir) / "_static")
        for sentence in unmet_loads(Path(app.outdir)):
            logger.warning(sentence)


def setup(app):
    """Connect the check to Sphinx."""
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
