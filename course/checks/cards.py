"""The display of checks, hints and progress: HTML in a notebook, plain text elsewhere.

A card is a coloured stripe and a tint over the page's own background, so that dark pages stay readable.
Failures are exceptions instead (``course.checks.exercise``).
"""

import builtins
from dataclasses import dataclass
from html import escape

NAME = "text-align: left; white-space: nowrap"
HEAD = ("chapter", "minutes", "done", "points", "guesses", "exercises")
NO_BREAK = "\N{NO-BREAK SPACE}"
MARKS = {"passed": f"✓{NO_BREAK}{{}}", "tried": f"…{NO_BREAK}{{}}", "new": f"–{NO_BREAK}{{}}"}
MARKS["by hand"] = "{} (graded by a person)"
KEY = f"✓{NO_BREAK}passed, …{NO_BREAK}tried, –{NO_BREAK}not yet"
UNOPENED = "not started yet"
GREEN, BLUE = "0, 158, 115", "0, 114, 178"
CARD = (
    '<div style="border-left: 5px solid rgb({colour}); background: rgba({colour}, 0.1); padding: 0.5em 1em;'
    ' margin: 0.3em 0; max-width: 60em">{body}</div>'
)


def card(title, text="", colour=BLUE):
    """Show a title and a text beside a stripe.

    Parameters
    ----------
    title, text : str
        Words between backticks are shown as code; the text may have several lines.
    colour : str
        The stripe's red, green and blue: ``"0, 158, 115"``.
    """
    body = f"<b>{_marked(title)}</b>" + (f"<br>{_marked(text)}" if text else "")
    _show({"text/html": CARD.format(colour=colour, body=body), "text/plain": f"{title}\n{text}".strip()})


def text(title, markdown):
    """Show a title and a longer text in Markdown.

    Parameters
    ----------
    title, markdown : str
    """
    markdown = f"**{title}**\n\n{markdown}"
    _show({"text/markdown": markdown, "text/plain": markdown})


def report(found):
    """Show a check's report: that of gradcheck, or a picture.

    Parameters
    ----------
    found : Report, or any object with `__str__` and `_repr_html_`
    """
    _show({"text/html": found._repr_html_(), "text/plain": str(found)})


@dataclass(frozen=True)
class Row:
    """The progress on one chapter.

    Attributes
    ----------
    stem : str
    minutes : int or None
        The time that its main line takes, if known.
    earned, points : int
        The points earned, and the points available from checks.
    exercises : list of (str, str)
        The names of its exercises, each with a key of `MARKS`; empty if the chapter is not started.
    guesses : (int, int, int)
        How many guesses were made, how many of these could be judged, and how many held.
    """

    stem: str
    minutes: int | None
    earned: int
    points: int
    exercises: list
    guesses: tuple = (0, 0, 0)

    @property
    def time(self):
        """Return its minutes in words, or an empty str."""
        return f"{self.minutes} min" if self.minutes else ""

    @property
    def score(self):
        """Return its points in words."""
        return f"{self.earned} of {self.points} points"

    @property
    def guessed(self):
        """Return its guesses in words, or an empty str."""
        made, judged, held = self.guesses
        return f"{made} made" + (f", {held} of {judged} held" if judged else "") if made else ""

    @property
    def details(self):
        """Return its exercises, each with its mark before it, joined by a no-break space."""
        marked = [MARKS[state].format(name) for name, state in self.exercises]
        return ", ".join(marked) or UNOPENED


def table(title, rows, counted, note):
    """Show the progress on each chapter and the total.

    Parameters
    ----------
    title : str
        The course, or a route.
    rows, counted : list of Row
        The rows shown, and the rows whose points and minutes are added up in the last line.
    note : str
        A sentence below the table.
    """
    sums = (sum(getattr(row, what) or 0 for row in counted) for what in ("minutes", "earned", "points"))
    guesses = tuple(sum(row.guesses[place] for row in counted) for place in range(3))
    whole = Row(title, *sums, [], guesses)
    html = "".join(_html_row(row, row.details) for row in rows) + _html_row(whole, "")
    head = "".join(f'<th scope="col" style="text-align: left">{word}</th>' for word in HEAD)
    html = f'<table style="color: inherit"><tr>{head}</tr>{html}</table><p>{KEY}. {_marked(note)}</p>'
    width = max(len(row.stem) for row in [*rows, whole])
    lines = [_text_row(row, width, row.details) for row in rows] + [_text_row(whole, width, "")]
    _show({"text/html": html, "text/plain": "\n".join([*lines, f"{KEY}. {note}"])})


def _html_row(row, details):
    """Return a row of the table as HTML."""
    return (
        f'<tr><td style="{NAME}">{escape(row.stem)}</td><td style="white-space: nowrap">{row.time}</td>'
        f'<td><progress value="{row.earned}" max="{row.points}" aria-label="{escape(row.stem)}">'
        "</progress></td>"
        f'<td style="white-space: nowrap">{row.score}</td><td style="white-space: nowrap">{row.guessed}</td>'
        f'<td style="text-align: left">{details}</td></tr>'
    )


def _text_row(row, width, details):
    """Return a row of the table as a line of text."""
    bar = "#" * round(10 * row.earned / max(row.points, 1))
    guessed = f"{row.guessed} (guesses)  " if row.guessed else ""
    return f"{row.stem:{width}}  {row.time:>8}  {bar:.<10}  {row.score}  {guessed}{details}".rstrip()


def _marked(text):
    """Return a text as HTML, with the words between backticks as code."""
    pieces = escape(text, quote=False).split("`")
    pieces = (f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return "".join(pieces).replace("\n", "<br>")


def _show(bundle):
    """Display a MIME bundle in a notebook or a page of the book, or print its plain text elsewhere."""
    display = getattr(builtins, "display", None)  # set by IPython, and by a page of the book
    if display is None:
        print(bundle["text/plain"])
    else:
        display(bundle, raw=True)
