"""Tables of the course's chapters and routes, made from `course.curriculum`.

In a page, `{chapters}` makes a table of the chapters' promises, `{parts}` the sidebar's contents, part by
part, and `{routes}` a table of the routes through the course.
"""

from course.curriculum import CHAPTERS, PARTS, ROUTES

TOCTREE = """```{{toctree}}
:hidden:
:caption: {part}

{pages}
```
"""


def chapters_as_table():
    """Return, in Markdown, a table of the chapters and their promises."""
    rows = [
        f"| {_link(chapter, f'{chapter.stem[:2]} {chapter.title}')} | {chapter.promise} |"
        for chapter in CHAPTERS
    ]
    return "\n".join(["| Chapter | What it promises |", "|---|---|", *rows])


def parts_as_contents():
    """Return, in Markdown, a table of contents for each part."""
    return "\n".join(
        TOCTREE.format(
            part=part,
            pages="\n".join(f"/notebooks/{chapter.stem}" for chapter in CHAPTERS if chapter.part == part),
        )
        for part in PARTS
    )


def routes_as_table():
    """Return, in Markdown, a table of the routes: their aims, chapters and hours."""
    rows = []
    for name, route in ROUTES.items():
        chapters = " ".join(_link(chapter, chapter.stem[:2]) for chapter in route.chapters)
        rows.append(
            f"| **{route.title}**, `{name}` | {route.aim} | {chapters} | {round(route.minutes / 60)} hours |"
        )
    return "\n".join(
        ["| Route | Where it leads | Chapters | Without exercises |", "|---|---|---|---|", *rows]
    )


def _link(chapter, text):
    """Return, in Markdown, a link to a chapter from any page of the book."""
    return f"[{text}](/notebooks/{chapter.stem}.ipynb)"


WORDS = {"chapters": chapters_as_table, "parts": parts_as_contents, "routes": routes_as_table}


def filled(page):
    """Replace the three directives in a page's Markdown with their tables."""
    for word, make in WORDS.items():
        page = page.replace(f"```{{{word}}}\n```\n", f"{make()}\n")
    return page


def _fill(app, docname, source):
    """Fill in a page's tables before Sphinx reads it."""
    source[0] = filled(source[0])


def setup(app):
    """Fill in tables before other extensions read a page's contents."""
    app.connect("source-read", _fill, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
