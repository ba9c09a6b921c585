"""An exercise as one object, and the exception that says no to an answer.

Holds Exercise, to which decorators attach its check and the mistakes that it names, and CheckFailed. Leaves
out the questions that checks share (``course.checks.questions``), what the learner calls (``course.checks``),
and the answers by which the checks are tested.
"""

import inspect
import io
import re
import textwrap
import traceback
import warnings
import zlib
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path

import numpy as np

KINDS = ("predict", "fill", "repair", "derive", "explain")
FRESH = 3  # between SAME and OTHER: other numbers, and the shapes of the first round
TERM = Path(__file__).parents[1] / "term.txt"  # in a bundle for a class: `classroom.bundle`
BY_HAND = ("derive", "explain")  # may be left without a check: a person reads them
FIRST, SAME, OTHER = range(3)  # a check is put to an answer, put once more, and with other numbers
SHOWN = "shown"  # a check is put to an answer to see what its first layer gives, and no further
_round = ContextVar("round", default=FIRST)
BOLD_RED, FAINT, PLAIN = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"
WIDTH = 96  # characters; a page that does not break lines must not be scrolled


class CheckFailed(Exception):
    """An answer is not right yet, and why, in one sentence.

    Parameters
    ----------
    sentence : str
        What was found, and what was expected; the full stop may be left out.
    place : str
        Where in the learner's code: ``"(your line 4: ...)"``.
    name : str
        What is known of a mistake like this one, as a sentence of its own.
    report : object, optional
        What is shown above the sentence: a gradcheck Report, or anything that has words (str) and HTML
        (`_repr_html_`), such as two tables that are drawn.

    Attributes
    ----------
    next_step : str
        What to do next; a notebook shows it on a line of its own.
    """

    def __init__(self, sentence, place="", name="", report=None):
        whole = " ".join(filter(None, (sentence.removesuffix("."), place)))
        whole += "" if whole.endswith(("?", "!")) else "."
        super().__init__(f"{whole} {name}".strip())
        self.sentence, self.place, self.report = sentence, place, report
        self.next_step = ""

    def _render_traceback_(self):
        """Return what a notebook shows instead of a traceback."""
        first, *rest = textwrap.wrap(f"Not yet. {self}", WIDTH)
        lines = [first.replace("Not yet.", f"{BOLD_RED}Not yet.{PLAIN}", 1), *rest]
        return [*lines, f"{FAINT}{self.next_step}{PLAIN}"] if self.next_step else lines


class Shown(Exception):
    """What the first layer that a check asks gives, there and back: what tells two answers apart."""


class Exercise:
    """One exercise: what it asks, how it is checked, and what goes wrong in it.

    Parameters
    ----------
    name : str
        ``"NN_stem.short_name"``: the chapter's stem, and the name of the cell that answers.
    title : str
    points : int
    kind : {"predict", "fill", "repair", "derive", "explain"}
    minutes : int
        How long a reader may need.
    answer : {"function", "class"}
        What the answer is.
    hints : tuple of three str
        From a nudge to nearly the answer.
    keeps : str, optional
        The name under which ``keep`` stores a right answer in the learner's library.
    ours : str, optional
        What ``mine`` gives where the learner has none: ``"minigrad.Linear"``.
    remote : bool
        False if the check must look inside the answer, and cannot ask it from another process, or if its yes
        is not enough for a mark: then a class is marked by hand.
    changes : bool
        True if the answer has to change what it is given: an array, a parameter, a node.

    Notes
    -----
    The answer itself stands in the solutions notebook, and is run against the check by the tests.

    Examples
    --------
    >>> hints = "divide", "by two", "see the worked solution"
    >>> halve = Exercise("90_demo.halve", title="Half", points=1, kind="fill", minutes=2, hints=hints)
    >>> @halve.check
    ... def _(answer, rng):
    ...     x = rng.normal()
    ...     if answer(x) != x / 2:
    ...         raise CheckFailed(f"half of {x:.3g} is {x / 2:.3g}, yours says {answer(x):.3g}")
    ...     return "a number drawn just now"
    >>> halve.judge(lambda x: 0.5 * x)
    'a number drawn just now'
    """

    def __init__(  # noqa: PLR0913  each is one line of an exercise's description
        self,
        name,
        *,
        title,
        points,
        kind,
        minutes,
        hints,
        answer="function",
        keeps=None,
        ours=None,
        remote=True,
        changes=False,
    ):
        if not re.fullmatch(r"\d\d_\w+\.\w+", name):
            raise ValueError(f'an exercise is named like "04_closures.linear_backward", got {name!r}.')
        if kind not in KINDS:
            raise ValueError(f"{name}: kind must be one of {', '.join(KINDS)}, got {kind!r}.")
        if answer not in ("function", "class"):
            raise ValueError(f'{name}: answer must be "function" or "class", got {answer!r}.')
        if len(hints) != 3 or not all(hints):
            raise ValueError(f"{name}: three hints are wanted, got {hints!r}.")
        if (keeps is None) != (ours is None):
            raise ValueError(
                f"{name}: keeps and ours go together: what is stored, and what stands in for it."
            )
        self.name, self.title, self.points, self.kind, self.minutes = name, title, points, kind, minutes
        self.hints, self.answer, self.keeps, self.ours = tuple(hints), answer, keeps, ours
        self.remote, self.changes = remote, changes
        self.stem, self.short = name.split(".")
        self.mistakes = []
        self._check = self._probe = None

    def __repr__(self):
        return f"Exercise({self.name!r}, {self.kind}, {self.points} points)"

    # what the chapter's check file attaches

    def check(self, function):
        """Attach the check: ``check(answer, rng)`` raises CheckFailed at the first no.

        The same answer is put to it four times: twice with the same numbers, since no call may leave
        anything behind for the next, then with others of the same shapes, and then with other shapes. It may
        return, in a few words, what it verified.
        """
        self._check = function
        return function

    def mistake(self, sentence):
        """Attach a typical wrong answer that the check's own words do not explain, and its name.

        Parameters
        ----------
        sentence : str
            A whole sentence. It is added to the check's own where an answer fails just as this one does.

        Raises
        ------
        ValueError
            If the sentence does not begin with a capital letter: it has to stand alone.
        """
        if not sentence[:1].isupper():
            raise ValueError(
                f"{self.name}: a mistake is named in a whole sentence, got {sentence!r}. If these are "
                "words of the check's own, the answer belongs to its tests: tests/answers."
            )

        def attach(answer):
            self.mistakes.append((sentence, answer))
            return answer

        return attach

    def probe(self, function):
        """Attach what tells two answers apart where their check says the same of both.

        ``probe(answer, rng)`` returns numbers, arrays, or tuples of them. A *predict* exercise needs none:
        what its answer returns is compared. Nor does one whose check calls `expect_layer`: what the first
        layer that is asked there gives is compared.
        """
        self._probe = function
        return function

    # what is asked of an answer

    @property
    def by_hand(self):
        """Whether a person marks this exercise."""
        return self._check is None and self.kind in BY_HAND

    def judge(self, answer, attempt=0):
        """Run the check on an answer.

        Parameters
        ----------
        answer : function or class
        attempt : int
            Each attempt draws other data; the same attempt draws the same.

        Returns
        -------
        str
            What was verified, in a few words; may be empty.

        Raises
        ------
        CheckFailed
            At the first no.
        ValueError
            If a person marks this exercise.
        """
        if self._check is None:
            raise ValueError(f"{self.name} has no check to run.")
        try:
            return self._ask(answer, attempt)
        except CheckFailed as no:
            sentence = no.sentence if no.sentence.startswith(self.short) else f"{self.short}: {no.sentence}"
            mistake = self._name_of_mistake(answer, no, attempt)
            name = "" if mistake in sentence else mistake
            raise CheckFailed(sentence, no.place, name, no.report) from no.__cause__

    def _ask(self, answer, attempt):
        """Run the check, and turn what the answer raises into one sentence."""
        self._refuse_what_is_called_already(answer)
        try:
            verified = self._check(answer, self._rng(attempt)) or ""
            with _again(SAME, "asked the same once more, "):
                self._check(answer, self._rng(attempt))
            for number, others in ((FRESH, 2), (OTHER, 1)):
                with _again(number, "with other numbers, "):
                    self._check(answer, self._rng(attempt, others))
            return verified
        except CheckFailed:
            raise
        except NotImplementedError as error:
            raise CheckFailed(
                f"{self.short} is not written yet: replace `raise NotImplementedError` with your code."
            ) from error
        except Exception as error:
            place = _place(error, answer)
            raise CheckFailed(f"{'it' if place else 'using it'} raises {_words(error)}", place) from error

    def _refuse_what_is_called_already(self, answer):
        """Refuse a result where the function or class itself is wanted."""
        if not callable(answer) or (self.answer == "class" and not isinstance(answer, type)):
            raise CheckFailed(
                f"check wants the {self.answer} itself, and got {described(answer)}: "
                "give its name, without brackets behind it"
            )

    def _name_of_mistake(self, answer, no, attempt):
        """Return the sentence of the mistake that fails just as this answer does, or an empty str."""
        if not self.mistakes:
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = self._seen(answer, attempt)
            near = ""  # of a mistake that fails as this answer does, but for which entry is the worst
            for sentence, mistake in self.mistakes:
                if not _same(self._seen(mistake, attempt), seen):  # often cheap, where a check is not
                    continue
                try:
                    self._ask(mistake, attempt)
                except CheckFailed as its_no:
                    if _gist(its_no.sentence) == _gist(no.sentence):
                        return sentence
                    if seen is not None and _without_entry(its_no.sentence) == _without_entry(no.sentence):
                        near = near or sentence
        return near

    def _seen(self, answer, attempt):
        """Return what the probe sees of an answer, on the data of an attempt; None if there is nothing."""
        probe = self._probe or (_returned if self.kind == "predict" else self._up_to_a_layer)
        try:
            return probe(answer, self._rng(attempt))
        except Exception as error:
            return _gist(_words(error))

    def _up_to_a_layer(self, answer, rng):
        """Run the check as far as its first layer, and return what that gives."""
        token = _round.set(SHOWN)
        try:
            self._check(answer, rng)
        except Shown as shown:
            return shown.args
        finally:
            _round.reset(token)
        return None

    def _rng(self, attempt, *others):
        """Return the generator of an attempt, and of its other numbers; each term of a class has its own."""
        term = [zlib.crc32(TERM.read_bytes())] if TERM.exists() else []
        return np.random.default_rng([zlib.crc32(self.name.encode()), attempt, *term, *others])


@contextmanager
def _again(number, words):
    """Put a check to an answer that has passed it; a refusal begins with the words.

    What the answer prints has been seen in the first round.
    """
    token = _round.set(number)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    except CheckFailed as no:
        raise CheckFailed(f"{words}{no.sentence}", no.place, report=no.report) from no.__cause__
    finally:
        _round.reset(token)


def is_first_round():
    """Say whether an answer meets its check for the first time: what takes long is asked then, and once.

    Returns
    -------
    bool
    """
    return _round.get() == FIRST


def are_numbers_other():
    """Say whether an answer meets its check with sizes other than in the first round, and other numbers.

    Returns
    -------
    bool
    """
    return _round.get() == OTHER


def is_only_shown():
    """Say whether all that is asked of an answer is what its first layer gives.

    Returns
    -------
    bool
    """
    return _round.get() == SHOWN


def described(thing):
    """Return what a thing is, in a few words.

    Examples
    --------
    >>> described(3), described(np.ones((5, 3))), described(None)
    ('an int', 'one array of shape (5, 3)', 'nothing (is a `return` missing?)')
    """
    if thing is None:
        return "nothing (is a `return` missing?)"
    if isinstance(thing, np.ndarray):
        return f"one array of shape {thing.shape}"
    name = type(thing).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _returned(answer, rng):
    """Return what a function without arguments returns."""
    return answer()


def _same(one, other):
    """Say whether two things that probes saw are equal, but for rounding."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    try:
        one, other = np.asarray(one), np.asarray(other)
    except ValueError:  # arrays of several shapes in a tuple, and no tuple beside it
        return False
    if one.dtype.kind in "biufc" and other.dtype.kind in "biufc":
        return one.shape == other.shape and np.allclose(one, other, equal_nan=True)
    return np.array_equal(one, other)


def _gist(sentence):
    """Return a sentence without a learner's own names: of variables, which Python quotes, and of a class."""
    sentence = sentence.replace("using it raises", "it raises")  # whose line it was is not the same for all
    sentence = re.sub(r"(Error: )\w+\(.*?\): ", r"\1", sentence)
    return re.sub(r"(name|variable) '[^']*'", r"\1 '...'", sentence)


def _without_entry(sentence):
    """Return the gist without the entry that it shows: which one is the worst can depend on rounding."""
    return re.sub(
        r"\[[\d, ]+\] is \S+, (it must be|nudging that entry says) [^\s;]+", "[...]", _gist(sentence)
    )


def _words(error):
    """Return what an exception says, in one line."""
    message = str(error).strip().partition("\n")[0]
    inner = re.search(r"matmul: .*\(size (\d+) is different from (\d+)\)", message)
    if inner:
        message = f"the left factor of @ has {inner[2]} columns, and the right one {inner[1]} rows"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _place(error, answer):
    """Return the line of the learner's code where an exception came up, or nothing."""
    if hasattr(error, "place"):  # it came up in another process, which says where
        return error.place
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    codes = [getattr(inspect.unwrap(part), "__code__", None) for part in parts]
    files = {code.co_filename for code in codes if code}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if not lines:
        return ""
    return f"(your line {lines[-1].lineno}" + (f": `{lines[-1].line}`)" if lines[-1].line else ")")
