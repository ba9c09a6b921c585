"""Exercise, the description of one exercise, and CheckFailed, the exception for a wrong answer.

Decorators attach the check and the known mistakes to an Exercise. The requirements that checks share
are in ``course.checks.questions``, the functions a learner calls in ``course.checks``, and the answers that
test the checks in ``tests/answers``.
"""

import io
import re
import textwrap
import traceback
import warnings
import zlib
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path

import numpy as np

from course.checks.again import explained_by, files_of
from course.checks.calls import PAST, Watched, asking, changed, same, shown, unrepeated

KINDS = ("predict", "fill", "repair", "derive", "explain")
FRESH = 3  # after SAME, before OTHER: new data with the shapes of the first round
TERM = Path(__file__).parents[1] / "term.txt"  # only in a bundle for a class, from `classroom.bundle`
BY_HAND = ("derive", "explain")  # may have no check: a person grades them
FIRST, SAME, OTHER = range(3)  # rounds of a check: the first; again with the same data; with other sizes
SHOWN = "shown"  # the check runs only as far as its first layer, to record what that returns
_round = ContextVar("round", default=FIRST)
BOLD_RED, FAINT, PLAIN = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"
WIDTH = 96  # characters per line of a message, for pages that do not wrap


class CheckFailed(Exception):
    """An answer is not right yet; the message explains why.

    Parameters
    ----------
    sentence : str
        What was found and what was expected; the full stop may be left out.
    place : str
        The line of the learner's code: ``"(your line 4: ...)"``.
    name : str
        A sentence that explains a known mistake, if the answer makes one.
    report : object, optional
        Shown above the message: a gradcheck Report, or any object with `__str__` and `_repr_html_`, such as
        two drawn tables.
    found : tuple of (str, array, array), optional
        The name of a wrong value, the value and the right one, which `course.checks.again` explains.

    Attributes
    ----------
    next_step : str
        What to do next; a notebook shows it on a line of its own.
    """

    def __init__(self, sentence, place="", name="", report=None, found=None):
        whole = " ".join(filter(None, (sentence.removesuffix("."), place)))
        whole += "" if whole.endswith(("?", "!")) else "."
        super().__init__(f"{whole} {name}".strip())
        self.sentence, self.place, self.name, self.report, self.found = sentence, place, name, report, found
        self.next_step = ""

    def after(self, words):
        """Return the same failure with these words in front."""
        found = self.found and (f"{words}{self.found[0]}", *self.found[1:])
        return CheckFailed(f"{words}{self.sentence}", self.place, self.name, self.report, found)

    def _render_traceback_(self):
        """Return the lines a notebook shows instead of a traceback."""
        first, *rest = textwrap.wrap(f"Not yet. {self}", WIDTH)
        lines = [first.replace("Not yet.", f"{BOLD_RED}Not yet.{PLAIN}", 1), *rest]
        return [*lines, f"{FAINT}{self.next_step}{PLAIN}"] if self.next_step else lines


class Shown(Exception):
    """Carries the results of the first layer that a check calls, which tell two answers apart."""


class Exercise:
    """One exercise: its task, its check, and its typical mistakes.

    Parameters
    ----------
    name : str
        ``"NN_stem.short_name"``: the chapter's stem, and the name of the answer cell.
    title : str
    points : int
    kind : {"predict", "fill", "repair", "derive", "explain"}
    minutes : int
        Estimated time.
    answer : {"function", "class"}
        The kind of answer.
    hints : tuple of three str
        From a nudge to nearly the answer.
    keeps : str, optional
        The name under which ``keep`` stores a right answer in the learner's library.
    ours : str, optional
        What ``mine`` returns if the learner has stored no answer: ``"minigrad.Linear"``.
    remote : bool
        False if the check must look inside the answer and cannot call it in another process, or if passing
        the check is not enough for a grade: then a person grades it.
    changes : bool
        True if the answer must change its arguments in place: an array, a parameter, a node.

    Notes
    -----
    The worked solution is in the solutions notebook; the tests run the check on it.

    Examples
    --------
    >>> hints = "divide", "by two", "see the worked solution"
    >>> halve = Exercise("90_demo.halve", title="Half", points=1, kind="fill", minutes=2, hints=hints)
    >>> @halve.check
    ... def _(answer, rng):
    ...     x = rng.normal()
    ...     if answer(x) != x / 2:
    ...         raise CheckFailed(f"half of {x:.3g} is {x / 2:.3g}, yours returns {answer(x):.3g}")
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
            raise ValueError(f'an exercise has a name like "04_closures.linear_backward", got {name!r}.')
        if kind not in KINDS:
            raise ValueError(f"{name}: kind must be one of {', '.join(KINDS)}, got {kind!r}.")
        if answer not in ("function", "class"):
            raise ValueError(f'{name}: answer must be "function" or "class", got {answer!r}.')
        if len(hints) != 3 or not all(hints):
            raise ValueError(f"{name}: hints must be three nonempty str, got {hints!r}.")
        if (keeps is None) != (ours is None):
            raise ValueError(
                f"{name}: give both keeps and ours, the name to store and its replacement, or neither."
            )
        self.name, self.title, self.points, self.kind, self.minutes = name, title, points, kind, minutes
        self.hints, self.answer, self.keeps, self.ours = tuple(hints), answer, keeps, ours
        self.remote, self.changes = remote, changes
        self.stem, self.short = name.split(".")
        self.mistakes = []
        self._check = self._probe = None

    def __repr__(self):
        return f"Exercise({self.name!r}, {self.kind}, {self.points} points)"

    # decorators for the chapter's check file

    def check(self, function):
        """Attach the check: ``check(answer, rng)`` raises CheckFailed at the first failure.

        It runs four times on the same answer: twice with the same data, since a call must not affect the
        next one, then with other data of the same shapes, and then with other shapes. It may return, in a
        few words, what it verified.
        """
        self._check = function
        return function

    def mistake(self, sentence):
        """Attach a typical wrong answer, with a sentence that explains it if the check's message does not.

        Parameters
        ----------
        sentence : str
            A whole sentence. It is added to the check's message if an answer fails in the same way.

        Raises
        ------
        ValueError
            If the sentence does not begin with a capital letter.
        """
        if not sentence[:1].isupper():
            raise ValueError(
                f"{self.name}: a mistake needs a whole sentence, got {sentence!r}. If the check itself says "
                "this, move the answer to tests/answers."
            )

        def attach(answer):
            self.mistakes.append((sentence, answer))
            return answer

        return attach

    def slips(self, table):
        """Attach typical wrong predictions from a table, each as `mistake` attaches an answer.

        Parameters
        ----------
        table : dict of object to str
            What a wrong answer returns, and the sentence that explains it.

        Examples
        --------
        >>> hints = "divide", "by two", "see the worked solution"
        >>> half = Exercise("90_demo.half", title="Half", points=1, kind="predict", minutes=2, hints=hints)
        >>> half.slips({(8, 4): "You doubled: divide by 2."})
        >>> [(sentence, wrong()) for sentence, wrong in half.mistakes]
        [('You doubled: divide by 2.', (8, 4))]
        """
        for returned, sentence in table.items():
            self.mistake(sentence)(lambda returned=returned: returned)

    def probe(self, function):
        """Attach a function that tells two answers apart when the check's message is the same for both.

        ``probe(answer, rng)`` returns numbers, arrays, or tuples of them. A *predict* exercise needs none:
        the returned values are compared. A check that calls `expect_layer` needs none, either: the results
        of the first layer called there are compared.
        """
        self._probe = function
        return function

    # checking an answer

    @property
    def by_hand(self):
        """Whether a person grades this exercise."""
        return self._check is None and self.kind in BY_HAND

    def judge(self, answer, attempt=0):
        """Run the check on an answer.

        Parameters
        ----------
        answer : function or class
        attempt : int
            Different attempts draw different data; the same attempt draws the same data.

        Returns
        -------
        str
            What was verified, in a few words; may be empty.

        Raises
        ------
        CheckFailed
            At the first failure.
        ValueError
            If a person grades this exercise.
        """
        if self._check is None:
            raise ValueError(f"{self.name} has no check to run.")
        calls = []
        try:
            return self._ask(answer, attempt, calls)
        except CheckFailed as no:
            sentence = no.sentence if no.sentence.startswith(self.short) else f"{self.short}: {no.sentence}"
            past, name = PAST.get(), no.name
            mistake = self._name_of_mistake(answer, no, attempt)
            PAST.set(past)  # asking the mistakes began another
            if not mistake and no.found:
                with suppress(Exception):  # an answer may do anything when it is asked more
                    name = explained_by(answer, calls, no, partial(self._ask, answer, attempt))
            elif mistake not in f"{sentence} {name}":
                name = mistake
            raise CheckFailed(sentence, no.place, name, no.report) from no.__cause__

    def _ask(self, answer, attempt, calls=None):
        """Run the check, turning an exception in the answer into CheckFailed; note the answer's calls."""
        self._require_kind(answer)
        calls = [] if calls is None else calls
        PAST.set([])
        is_asked = self.answer == "function" and self.kind != "predict" and not self.changes
        asked, earlier = Watched(answer, calls) if is_asked else answer, []
        try:
            verified = self._round(asked, self._rng(attempt), calls, earlier)
            with _again(SAME, "when called again, "):
                self._round(asked, self._rng(attempt), calls, earlier)
            for number, others in ((FRESH, 2), (OTHER, 1)):
                with _again(number, "with other numbers, "):
                    self._round(asked, self._rng(attempt, others), calls, earlier)
            return verified
        except CheckFailed:
            raise
        except NotImplementedError as error:
            raise CheckFailed(
                f"{self.short} is not written yet: replace `raise NotImplementedError` with your code."
            ) from error
        except Exception as error:
            place, when = _place(error, answer), getattr(error, "asked", "")
            when = when or shown(getattr(error, "steps", ()))
            sentence = f"{when}{'it' if place else 'using it'} raises {_words(error)}"
            raise CheckFailed(sentence, place, getattr(error, "reason", "") or _reason(error)) from error

    def _round(self, answer, rng, calls, earlier):
        """Run the check once; then ask what is asked of every function that changes no argument."""
        if not isinstance(answer, Watched):
            return self._check(answer, rng) or ""
        calls.clear()
        verified = self._check(answer, rng) or ""
        own = [call for call in calls if len(call.steps) == 1]
        earlier += own
        with asking("called again with the same arguments, "), redirect_stdout(io.StringIO()):
            sentence = changed(earlier) or (unrepeated(own) if is_first_round() else "")
            if sentence:
                raise CheckFailed(sentence)
        return verified

    def _require_kind(self, answer):
        """Raise CheckFailed if the answer is a result, not the function or class itself."""
        if not callable(answer) or (self.answer == "class" and not isinstance(answer, type)):
            raise CheckFailed(
                f"check needs the {self.answer} itself, but got {described(answer)}: "
                "pass its name, without parentheses"
            )

    def _name_of_mistake(self, answer, no, attempt):
        """Return the explanation of the known mistake that fails as this answer does, or an empty str."""
        if not self.mistakes:
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = self._seen(answer, attempt)
            near = ""  # the sentence of a mistake that differs only in which entry is worst
            for sentence, mistake in self.mistakes:
                if not same(self._seen(mistake, attempt), seen):  # a probe is usually cheaper than a check
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
        """Return the probe's result for an answer on the data of an attempt, or None."""
        probe = self._probe or (_returned if self.kind == "predict" else self._up_to_a_layer)
        try:
            return probe(answer, self._rng(attempt))
        except Exception as error:
            return _gist(_words(error))

    def _up_to_a_layer(self, answer, rng):
        """Run the check as far as its first layer, and return that layer's results."""
        token = _round.set(SHOWN)
        try:
            self._check(answer, rng)
        except Shown as shown:
            return shown.args
        finally:
            _round.reset(token)
        return None

    def _rng(self, attempt, *others):
        """Return the generator for an attempt; it differs for each term of a class."""
        term = [zlib.crc32(TERM.read_bytes())] if TERM.exists() else []
        return np.random.default_rng([zlib.crc32(self.name.encode()), attempt, *term, *others])


@contextmanager
def _again(number, words):
    """Repeat a check inside this context, and prefix the message of a failure.

    Output is dropped: the first round has shown it.
    """
    token = _round.set(number)
    try:
        with redirect_stdout(io.StringIO()), asking(words):
            yield
    except CheckFailed as no:
        raise no.after(words) from no.__cause__
    finally:
        _round.reset(token)


def is_first_round():
    """Return whether this is the first round of a check; slow requirements are checked only then.

    Returns
    -------
    bool
    """
    return _round.get() == FIRST


def are_numbers_other():
    """Return whether this round uses different sizes and data from the first.

    Returns
    -------
    bool
    """
    return _round.get() == OTHER


def is_only_shown():
    """Return whether the check should stop after its first layer.

    Returns
    -------
    bool
    """
    return _round.get() == SHOWN


def described(thing):
    """Describe an object in a few words.

    Examples
    --------
    >>> described(3), described(int), described(np.ones((5, 3))), described(None)
    ('an int', 'the class int', 'one array of shape (5, 3)', 'nothing (is a `return` missing?)')
    """
    if thing is None:
        return "nothing (is a `return` missing?)"
    if isinstance(thing, np.ndarray):
        return f"one array of shape {thing.shape}"
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    name = type(thing).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _returned(answer, rng):
    """Call a function without arguments."""
    return answer()


def _gist(sentence):
    """Return a sentence without the learner's own names of variables and classes."""
    sentence = sentence.replace("using it raises", "it raises")  # depends on where it is raised
    sentence = re.sub(r"(Error: )\w+\(.*?\): ", r"\1", sentence)
    return re.sub(r"(name|variable) '[^']*'", r"\1 '...'", sentence)


def _without_entry(sentence):
    """Return the gist without the entry shown: which one is worst can depend on rounding."""
    return re.sub(
        r"\[[\d, ]+\] is \S+, (it must be|nudging that entry says) [^\s;]+", "[...]", _gist(sentence)
    )


def _words(error):
    """Return an exception's type and message in one line."""
    message = str(error).strip().partition("\n")[0]
    inner = re.search(r"matmul: .*\(size (\d+) is different from (\d+)\)", message)
    if inner:
        message = f"the left factor of @ has {inner[2]} columns, and the right one {inner[1]} rows"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _reason(error):
    """Return the sentence on an exception that has the same cause in every exercise, or an empty str."""
    message = str(error)
    if "truth value of an array" in message:
        return "`if`, `and`, `or` and `not` need one truth value; np.where, & and | work entry by entry."
    if isinstance(error, KeyError):
        return "A dictionary has no value for a key before one is stored: `setdefault` stores the first."
    if "values to unpack" in message:
        return "The names on the left and the values on the right of `=` are not equally many."
    if "cannot reshape array" in message:
        size, *shape = map(int, re.findall(r"\d+", message))
        return f"That shape has {np.prod(shape)} places, for {size} numbers."
    number = r"\((\d+(?:, ?\d+)*),?\)"
    shapes = [tuple(map(int, found.split(","))) for found in re.findall(number, message)]
    if "could not be broadcast together" in message and len(shapes) == 2:
        many, few = sorted(shapes, key=len, reverse=True)
        if len(many) == 2 and few == many[:1]:
            column = f"a column, {(*few, 1)}"
            return f"One number for each row must be {column}: keepdims=True or [:, None] makes one."
        if len(few) == 1 and few[0] == np.prod(many):
            return f"The one with the shape {few} is flattened: keep the shape {many}."
    if "non-broadcastable output operand" in message and len(shapes) == 2 and shapes[1][1:] == shapes[0]:
        return f"The value has one axis more, of length {shapes[1][0]}: sum over it, axis 0."
    return ""


def _place(error, answer):
    """Return the line of the learner's code that raised an exception, or an empty str."""
    if hasattr(error, "place"):  # raised in another process, which gives the line
        return error.place
    files = files_of(answer)
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if not lines:
        return ""
    line = lines[-1].line
    if lines[-1].name == "<lambda>":  # in a table of mistakes, what stands before it explains it
        line = line[max(line.find("lambda"), 0) :]
    return f"(your line {lines[-1].lineno}" + (f": `{line}`)" if line else ")")
