"""How a check, a hint and the progress look: HTML in a notebook, plain text elsewhere.

Holds `card`, `text`, `report` and `table`. Colours are a stripe and a tint over the page's own background,
so that dark pages stay readable. Leaves out failures: they are exceptions (``course.checks.exercise``).
"""

import sys
from html import escape

NAME = "text-align: left; white-space: nowrap"
HEAD = ("chapter", "done", "points", "exercises")
GREEN, BLUE = "0, 158, 115", "0, 114, 178"
CARD = (
    '<div style="border-left: 5px solid rgb({colour}); background: rgba({colour}, 0.1); padding: 0.5em 1em;'
    ' margin: 0.3em 0; max-width: 60em">{body}</div>'
)


def card(title, text="", colour=BLUE):
    """Show a title and a sentence beside a stripe.

    Parameters
    ----------
    title, text : str
        Words between backquotes are shown as code; the text may have several lines.
    colour : str
        Red, green, blue of the stripe.
    """
    body = f"<b>{_marked(title)}</b>" + (f"<br>{_marked(text)}" if text else "")
    _show({"text/html": CARD.format(colour=colour, body=body), "text/plain": f"{title}\n{text}".strip()})


def text(title, markdown):
    """Show a longer text under a title.

    Parameters
    ----------
    title, markdown : str
    """
    markdown = f"**{title}**\n\n{markdown}"
    _show({"text/markdown": markdown, "text/plain": markdown})


def report(found):
    """Show what a check found: gradcheck's report, or a picture.

    Parameters
    ----------
    found : Report, or any object with str and `_repr_html_`
    """
    _show({"text/html": found._repr_html_(), "text/plain": str(found)})


def table(rows):
    """Show how far each chapter is done.

    Parameters
    ----------
    rows : list of (str, int, int, list of (str, bool))
        A chapter: its stem, points earned, points in all, and its exercises with whether each is done; None
        for one that a person reads.
    """
    earned, points = (sum(row[place] for row in rows) for place in (1, 2))
    rows = [*rows, ("together", earned, points, [])]
    html = "".join(
        f'<tr><td style="{NAME}">{escape(stem)}</td>'
        f'<td><progress value="{earned}" max="{points}" aria-label="{escape(stem)}"></progress></td>'
        f'<td style="white-space: nowrap">{earned} of {points} points</td>'
        f'<td style="text-align: left">{", ".join(map(_ticked, done))}</td></tr>'
        for stem, earned, points, done in rows
    )
    width = max(len(stem) for stem, *_ in rows)
    lines = (
        f"{stem:{width}}  {'#' * round(10 * earned / max(points, 1)):.<10}  {earned} of {points} points  "
        + ", ".join(map(_ticked, done))
        for stem, earned, points, done in rows
    )
    head = "".join(f'<th scope="col" style="text-align: left">{word}</th>' for word in HEAD)
    html = f'<table style="color: inherit"><tr>{head}</tr>{html}</table>'
    _show({"text/html": html, "text/plain": "\n".join(map(str.rstrip, lines))})


def _ticked(exercise):
    """Return the name of an exercise, with a tick if it is done, or who reads it; no line ends between."""
    name, done = exercise
    if done is None:
        return f"{name} (a person reads it)"
    return f"✓\N{NO-BREAK SPACE}{name}" if done else f"–\N{NO-BREAK SPACE}{name}"


def _marked(text):
    """Return a text as HTML, with the words between backquotes as code."""
    pieces = escape(text, quote=False).split("`")
    pieces = (f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return "".join(pieces).replace("\n", "<br>")


def _show(bundle):
    """Show a bundle in a notebook, and its plain text anywhere else."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        from IPython.display import display

        display(bundle, raw=True)
    else:
        print(bundle["text/plain"])
