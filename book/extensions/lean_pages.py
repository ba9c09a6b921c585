"""Remove unused styles and icons from the site, and load the pictures of sliders when needed.

The theme has styles for all its components, and a font of two thousand icons. When the pages are written,
style sheets keep only the rules whose classes occur in a page or a script, and icon fonts only the icons that
a rule uses. All pictures of a slider but the first are in a separate file, which _static/book.js fetches when
the slider comes into view; the slider's controls are above the caption.
"""

import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import tinycss2
from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.transforms.post_transforms import SphinxPostTransform

SHEETS = ("styles/*.css", "basic.css", "copybutton.css")  # not myst-nb's: later builds would not restore it
ICONS = "vendor/fontawesome/webfonts/*.woff2"
NOT_PAGES = {"_static", "lite", "slides"}
SLIDERS = "sliders"
CONTROLS = '<div class="controls"></div>\n'  # above the caption
NAME = re.compile(r"[A-Za-z_][\w-]*")
ICON = re.compile("[\ue000-\uf8ff]")  # the private use area
NESTED = ("media", "supports", "layer")
SLIDER = re.compile(r'(<div class="(explore-\w+)".*)<script>(.*)</script>', re.DOTALL)


def lean(sheet, names):
    """Remove the rules for unused classes, and comments, from a style sheet.

    Parameters
    ----------
    sheet : str
    names : set of str
        The classes in use. Classes inside `:is()`, `:not()` and similar functions are ignored.

    Returns
    -------
    str

    Examples
    --------
    >>> lean(".a, .b { top: 0 } @media print { .b p { top: 0 } .a:not(.b) { top: 0 } }", {"a"})
    '.a{ top: 0 }@media print {.a:not(.b){ top: 0 }}'
    """
    kept = _kept(tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True), names)
    return ICON.sub(lambda icon: rf"\{ord(icon[0]):x} ", kept)


def _kept(rules, names):
    """Serialize the rules to keep."""
    texts = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [one for one in _selectors(rule.prelude) if _matches(one, names)]
            if selectors:
                texts.append(f"{','.join(map(_text, selectors))}{{{_text(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED and rule.content is not None:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if inside := _kept(inner, names):
                texts.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inside}}}")
        else:
            texts.append(rule.serialize())
    return "".join(texts)


def _selectors(prelude):
    """Return the selectors between the commas of a rule, each as a list of tokens."""
    selectors = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        elif token.type != "comment":
            selectors[-1].append(token)
    return selectors


def _matches(selector, names):
    """Report whether all classes of a selector are in use."""
    after = zip(selector[:-1], selector[1:], strict=True)
    return all(name.value in names for dot, name in after if dot == "." and name.type == "ident")


def _text(tokens):
    """Return tokens as CSS, without comments."""
    return tinycss2.serialize([token for token in tokens if token.type != "comment"]).strip()


class _Classes(HTMLParser):
    """Collects the classes of a page."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def handle_starttag(self, tag, attributes):
        """Collect a tag's classes, and those in its data attributes, which a script may set."""
        for key, value in attributes:
            if value and (key == "class" or key.startswith("data-bs-")):
                self.names.update(value.split())


def names_in(site):
    """Collect the classes in a site's pages, and all words in its scripts, which may set others.

    Parameters
    ----------
    site : Path

    Returns
    -------
    set of str
    """
    pages = _Classes()
    for page in site.glob("**/*.html"):
        if page.relative_to(site).parts[0] not in NOT_PAGES:
            pages.feed(page.read_text(encoding="utf-8"))
    scripts = (script.read_text(encoding="utf-8") for script in (site / "_static").glob("**/*.js"))
    return pages.names.union(*map(NAME.findall, scripts))


def thin_icons(static):
    """Keep in each icon font only the icons that a style sheet uses.

    Parameters
    ----------
    static : Path
        The static folder of a site.
    """
    sheets = "".join(sheet.read_text(encoding="utf-8") for sheet in static.glob("**/*.css"))
    icons = [int(number, 16) for number in re.findall(r"\\([ef][0-9a-f]{3})\b", sheets)]
    for path in static.glob(ICONS):
        font = TTFont(path)
        subsetter = subset.Subsetter(subset.Options(layout_features=[]))
        subsetter.populate(unicodes=icons)
        subsetter.subset(font)
        font.flavor = "woff2"
        font.save(path)


class LazySliders(SphinxPostTransform):
    """Make sliders fetch their other pictures when they come into view."""

    default_priority = 6  # when representations are chosen and drawings are inlined
    builders = ("html",)

    def run(self, **kwargs):
        """Move each slider's script to a file."""
        for html in self.document.findall(nodes.raw):
            if slider := SLIDER.search(html.astext()):
                file = Path(self.app.outdir) / "_static" / SLIDERS / f"{slider[2]}.js"
                file.parent.mkdir(parents=True, exist_ok=True)
                script = slider[3].replace('":scope > div"', '".controls"')
                file.write_text(script, encoding="utf-8")
                mark = sha256(script.encode()).hexdigest()[:8]
                waiting = f'<div class="{slider[2]}" data-slider="{slider[2]}.js?v={mark}"'
                before = slider[1].replace(f'<div class="{slider[2]}"', waiting, 1)
                before = before.replace("<div></div>", "").replace("<figcaption", f"{CONTROLS}<figcaption", 1)
                html[:] = [nodes.Text(html.astext().replace(slider[0], before))]


def _after_building(app, failure):
    """Reduce the static files after all pages have been written."""
    if failure is None and app.builder.name == "html":
        static = Path(app.outdir) / "_static"
        names = names_in(static.parent)
        for pattern in SHEETS:
            for sheet in static.glob(pattern):
                sheet.write_text(lean(sheet.read_text(encoding="utf-8"), names), encoding="utf-8")
        thin_icons(static)


def setup(app):
    """Connect both steps to Sphinx."""
    app.add_post_transform(LazySliders)
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
