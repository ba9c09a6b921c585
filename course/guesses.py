"""A chapter's guesses: the fields in JupyterLab, what was guessed, and the answers of the chapter's own run.

The cell of a guess says in its metadata what is asked (``guess``), and a later cell how the answer is
computed (``right``); ``authoring.guesses`` stores its value. The fields are drawn by
``course/static/guesses.js``, in the book as in JupyterLab. `ask` shows them, `questions` reads them, `tell`
computes the answers; what was guessed is stored beside the progress. Used from chapter 00 on.
"""

import io
import json
import math
import warnings
from contextlib import redirect_stdout
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from course import store

__all__ = ["ask", "counts", "entries", "note", "questions", "tell"]

MODULE = Path(__file__).with_name("static") / "guesses.js"
KINDS = ("number", "numbers", "shape", "choice", "choices", "order", "text")
LIVE = "application/vnd.jupyter.widget-view+json"
DIGITS = 6  # of an answer that is no whole number

# JupyterLab serves no files of the course, so the script brings the module. It fills the hosts in the page's
# Markdown, also those that JupyterLab draws later.
SCRIPT = Template("""\
<p>$words</p>
<p class="guess-count" data-guesses-of="$chapter"></p>
<script type="module" data-live>
const text = $module;
const module = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
module.inLab($data);
</script>""")
WORDS = (
    "This chapter asks you to guess {}. In JupyterLab each of these questions has a field: fill it in before "
    "you read on, and it shows your guess beside the answer. Elsewhere, write your guesses down."
)

LOST = (
    "The fields for your guesses need {}.ipynb, which is neither in this folder nor in the course's: "
    "write your guesses down."
)

_memory = {}  # what was guessed, if storing is off


def ask(chapter):
    """Show the fields of a chapter's guesses, in JupyterLab.

    Parameters
    ----------
    chapter : str
        The name of its notebook, without ``.ipynb``: ``"04_closures"``.

    Returns
    -------
    Asked
        To be shown as the last line of a cell. If the notebook is neither in the project nor in the current
        folder, as on Colab, it has no fields, and says so.
    """
    paths = [folder / f"{chapter}.ipynb" for folder in (store.PROJECT / "notebooks", Path.cwd())]
    found = next((path for path in paths if path.exists()), None)
    return Asked(chapter, questions(json.loads(found.read_text("utf-8"))) if found else [])


class Asked:
    """The fields of a chapter's guesses; made by `ask`.

    Parameters
    ----------
    chapter : str
    asked : list of dict
        As `questions` returns them.
    """

    def __init__(self, chapter, asked):
        self.chapter, self.asked = chapter, asked

    def _ipython_display_(self):
        """Show the fields, and a hidden widget that hands every guess to Python."""
        import ipywidgets
        from IPython.display import display

        said = json.dumps(entries().get(self.chapter, {}))
        record = ipywidgets.Text(said, layout=ipywidgets.Layout(display="none"))
        record.add_class(f"guesses-of-{self.chapter}")
        record.observe(lambda change: note(self.chapter, json.loads(change["new"])), "value")
        display({LIVE: record._repr_mimebundle_()[LIVE], "text/plain": ""}, raw=True)
        display(self._repr_mimebundle_(), raw=True)

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the fields' script, and a sentence for a page without scripts."""
        if not self.asked:
            words = LOST.format(self.chapter)
            return {"text/plain": words, "text/html": f"<p>{escape(words)}</p>"}
        times = f"{len(self.asked)} times" if len(self.asked) > 1 else "once"
        data = {"chapter": self.chapter, "asked": self.asked}
        script = SCRIPT.substitute(
            words=WORDS.format(times),
            chapter=self.chapter,
            module=_in_script(MODULE.read_text("utf-8")),
            data=_in_script(data),
        )
        return {"text/plain": f"{times}, a guess", "text/html": script}


def _in_script(thing):
    """Return a thing as JSON that may stand in a script."""
    return json.dumps(thing).replace("<", "\\u003c")


def questions(notebook):
    """List the guesses of a notebook, with their fields and answers.

    Parameters
    ----------
    notebook : dict
        As JSON, or a NotebookNode.

    Returns
    -------
    list of dict
        For each guess its ``id`` and its ``fields``, each with the answer under ``is``, and under ``others``
        what wrong answers would mean. A field of kind ``text`` has no answer.
    """
    right = {}
    for cell in notebook["cells"]:
        right |= cell["metadata"].get("right", {})
    return [
        {
            "id": cell["id"],
            "fields": [
                {**field, **{key: answer[key] for key in ("is", "others") if key in answer}}
                for field, answer in zip(cell["metadata"]["guess"], right[cell["id"]], strict=True)
            ],
        }
        for cell in notebook["cells"]
        if "guess" in cell["metadata"]
    ]


def tell(expressions, names):
    """Print, as JSON, the values of expressions, or what each raised: the answers of a chapter's run.

    Parameters
    ----------
    expressions : list of str
    names : dict
        The variables of the notebook.

    Examples
    --------
    >>> tell(["w / 3", "w.shape"], {"w": np.ones(2)})
    [[0.333333, 0.333333], [2]]
    """
    print(json.dumps([_value(expression, names) for expression in expressions]))


def _value(expression, names):
    """Return the value of an expression as JSON has it, or a dict with what it raised."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # only the value counts
            return _plain(eval(expression, names))
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"}


def _plain(value):
    """Return numbers, arrays and tuples as JSON has them, fractions with DIGITS digits."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and math.isfinite(value):
        value = float(f"{value:.{DIGITS}g}")
        return int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"an answer is a finite number, an index, or a list of these; got {value!r}")
    return value


def entries():
    """Return what was guessed in all chapters; a file that cannot be read is renamed, with a message.

    Returns
    -------
    dict of str to dict
        By chapter and the id of a guess: ``{"said": [...], "held": True, False or None}``, with ``"waits":
        True`` until the chapter's later answer is opened; or ``{"shown": True}`` where the answer was opened
        without a guess.
    """
    if store.folder() is None:
        return _memory
    try:
        return _stored()
    except OSError as error:
        print(f"Your guesses could not be read ({error.strerror}).")
        return {}


def _stored():
    """Return what was guessed, from the file."""
    try:
        found = json.loads(_file().read_text("utf-8"))
        if not all(isinstance(one, dict) for said in found.values() for one in said.values()):
            raise ValueError("not a record of guesses")
        return found
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError):
        _file().replace(_file().with_name("guesses.json.broken"))
        print("guesses.json could not be read. It has been renamed to guesses.json.broken.")
        return {}


def note(chapter, said):
    """Store what was guessed in a chapter, in place of what was stored for it before.

    Parameters
    ----------
    chapter : str
    said : dict
        By the id of a guess, as in `entries`.
    """
    if store.folder() is None:
        _memory[chapter] = said
        return
    try:  # a file that cannot be read is not written over
        known = {**_stored(), chapter: said}
        store.write(_file(), json.dumps(known, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        print(f"Your guess could not be stored ({error.strerror}).")


def counts():
    """Count the guesses of each chapter.

    Returns
    -------
    dict of str to (int, int, int)
        How many were made, how many of these could be judged, and how many held.

    Examples
    --------
    >>> note("04_closures", {"a": {"said": [6], "held": True}, "b": {"shown": True}})
    >>> counts()["04_closures"]
    (1, 1, 1)
    """
    known = entries().items()
    made = {name: [one.get("held") for one in said.values() if "said" in one] for name, said in known}
    return {name: (len(held), len(held) - held.count(None), held.count(True)) for name, held in made.items()}


def _file():
    """Return the path of the file."""
    return store.folder() / "guesses.json"
