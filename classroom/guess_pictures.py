"""The picture of a class's guesses for one question: a panel per field, with the right answer or without it.

Holds `picture`, and `texts` for what is not drawn. Guesses are blue and the right answer is black, as
predictions and targets are in all figures of the course.
"""

import textwrap
from collections import Counter
from io import BytesIO
from statistics import median

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from classroom.guesses import holds, in_words, is_right, label, shown
from course.colours import FORWARD, GROUND, TRUTH
from course.curriculum import CHAPTERS
from course.figures import style

FEW = 8  # distinct numbers to be drawn as bars
ROWS = 5  # of other distinct answers, if there are many
BINS, TICKS = 12, 8  # of a histogram, at most
POWERS = 2  # of ten: numbers that span more get a logarithmic axis
STEPS = (1 / 3, 1, 2, 5, 10, 20)  # powers of ten that a logarithmic bin can span
WIDE, LINE, HEAD, HISTOGRAM = 6.4, 0.27, 0.6, 2.3  # inches: the picture, a bar, a title, a histogram
WORDS = 30  # characters of a line beside the bars
RIGHT, CLOSE = "right", "close enough"
DPI = 200


def drawn(question, said):
    """Return the places of the fields that are drawn: those not for text, with a value at least."""
    return [
        place
        for place, field in enumerate(question.fields)
        if field["kind"] != "text" and any(one[place] is not None for one in said)
    ]


def picture(question, said, hide=False):
    """Draw the guesses of a class for one question.

    Parameters
    ----------
    question : Question
    said : list of list
        From ``classroom.guesses.guessed``; for one of the `drawn` fields, it has a value.
    hide : bool
        Draw nothing from which the right answer can be read.

    Returns
    -------
    figure : matplotlib Figure
    description : list of str
        The same in words: the title, and a sentence for each panel.
    """
    panels = [
        _panel(question.fields[place], [one[place] for one in said if one[place] is not None], hide)
        for place in drawn(question, said)
    ]
    chapter = next(known for known in CHAPTERS if known.stem == question.chapter)
    students = f"{len(said)} student{'s' * (len(said) != 1)}"
    title = f"{chapter.number:02} {chapter.title}, guess {question.number}: n = {students}"
    with plt.style.context(style.STYLE):
        heights = [panel.height for panel in panels]
        figure = Figure(figsize=(WIDE, 2 * HEAD + sum(heights)))
        head = f"{textwrap.fill(question.words, 68)}\n{title}"
        figure.suptitle(head, x=0.015, ha="left", size=11, weight="bold", parse_math=False)
        axes = figure.subplots(len(panels), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        for panel, ax in zip(panels, axes, strict=True):
            ax.set_title(textwrap.fill(panel.label, 48), size=10, weight="normal", parse_math=False)
            panel.draw(ax)
    return figure, [f"{title}.", *(panel.description for panel in panels)]


def as_file(figure, kind, description):
    """Return the bytes of a picture, which are the same at every call.

    Parameters
    ----------
    figure : matplotlib Figure
    kind : str
        ``"svg"`` or ``"png"``.
    description : list of str
        Stored in the file.

    Returns
    -------
    bytes
    """
    file, about = BytesIO(), {"Title": description[0], "Description": "\n".join(description[1:])}
    with plt.style.context(style.STYLE):
        undated = {"Date": None} if kind == "svg" else {}
        figure.savefig(file, format=kind, dpi=DPI, metadata=about | undated)
    return file.getvalue()


def texts(question, said):
    """List what the class wrote into the fields for text, in alphabetical order, so without an author.

    Parameters
    ----------
    question : Question
    said : list of list

    Returns
    -------
    list of str
        A line for each text, with how often it came; before them the field's label, if it has one.
    """
    lines = []
    for place, field in enumerate(question.fields):
        if field["kind"] == "text":
            counts = Counter(one[place] for one in said if one[place] is not None)
            lines += [f"{label(field) or 'In words'}:"]
            for text in sorted(counts, key=str.casefold):
                lines.append(f"  {text}" + (f" ({counts[text]} times)" if counts[text] > 1 else ""))
    return lines


def _panel(field, values, hide):
    """Return the panel of a field: a histogram for numbers of many kinds, else bars."""
    is_many = len({in_words(field, value) for value in values}) > FEW
    return (_Histogram if field["kind"] == "number" and is_many else _Bars)(field, values, hide)


class _Bars:
    """A horizontal bar per option, or per distinct answer.

    Attributes
    ----------
    rows : list of (str, int, str)
        What was guessed, in words, how often, and what is said of it: RIGHT, CLOSE or nothing.
    """

    def __init__(self, field, values, hide):
        self.label, self.count = label(field), len(values)
        rows = _of_options if field["kind"] in ("choice", "choices") else _of_answers
        self.rows = [(words, count, "" if hide else note) for words, count, note in rows(field, values, hide)]
        self.words = [textwrap.fill(words, WORDS) for words, _, _ in self.rows]
        self.row = LINE * (0.4 + 0.6 * max(words.count("\n") + 1 for words in self.words))
        self.height = HEAD + self.row * len(self.rows)

    def draw(self, ax):
        """Draw the bars, with their numbers and notes at the ends."""
        places, counts = range(len(self.rows)), [count for _, count, _ in self.rows]
        colours = [TRUTH if note else FORWARD for _, _, note in self.rows]
        bars = ax.barh(places, counts, height=0.72 * LINE / self.row, color=colours)
        for bar, (_, count, note) in zip(bars, self.rows, strict=True):
            words, middle = "  ".join(filter(None, (str(count), note))), bar.get_y() + bar.get_height() / 2
            _write_at(ax, words, (count, middle), 4, va="center", weight="bold" if note else "normal")
        ax.set_yticks(places, self.words, parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set(xlim=(0, 1.3 * max(*counts, 1)), ylim=(len(self.rows) - 0.5, -0.5), xticks=[])
        ax.spines["bottom"].set_visible(False)

    @property
    def description(self):
        """The bars in a sentence."""
        told = [f"{words}: {count}" + (f" ({note})" if note else "") for words, count, note in self.rows]
        return f"{_begin(self)}{'; '.join(told)}."


class _Histogram:
    """The numbers of a class between their smallest and largest, and a line at the right one."""

    def __init__(self, field, values, hide):
        self.label, self.count, self.height = label(field), len(values), HISTOGRAM
        self.values, self.unit = values, field.get("unit", "")
        self.right = None if hide else field["is"]
        self.note = "" if hide else f"{RIGHT}: {in_words(field, field['is'])}"
        if not hide and field.get("within"):
            self.note += f" (within {field['within']})"
        self.held = sum(is_right(one, field["is"], field.get("within", "")) for one in values)
        self.place, self.edges, self.ticks = _axis([*values] if hide else [*values, float(field["is"])])

    def draw(self, ax):
        """Draw the bars and the line."""
        ax.hist(self.place(self.values), self.edges, color=FORWARD, edgecolor=GROUND, linewidth=1)
        ax.set(xlabel=self.unit, ylabel="students", xlim=(self.edges[0], self.edges[-1]))
        ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        if self.ticks is None:
            is_whole = all(value.is_integer() for value in self.values)
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=is_whole))
        else:
            ax.set_xticks(self.place(self.ticks), [_at_tick(tick) for tick in self.ticks])
        if self.right is not None:
            top, right = ax.get_ylim()[1], self.place([self.right])[0]
            ax.set_ylim(0, 1.25 * top)
            ax.axvline(right, color=TRUTH, linestyle="-", marker="")
            far, side = (5, "left") if right < (self.edges[0] + self.edges[-1]) / 2 else (-5, "right")
            _write_at(ax, self.note, (right, 1.22 * top), far, ha=side, va="top", weight="bold", color=TRUTH)

    @property
    def description(self):
        """The numbers in a sentence."""
        low, middle, high = (shown(of(self.values)) for of in (min, median, max))
        held = "" if self.right is None else f"; {self.note}, {self.held} held"
        return f"{_begin(self)}from {low} to {high}, half of them up to {middle}{held}."


def _write_at(ax, words, place, points, **how):
    """Write words some points to the right of a place."""
    ax.annotate(words, place, (points, 0), textcoords="offset points", **how)


def _begin(panel):
    """Return the beginning of a panel's description."""
    return f"{panel.label or 'Guesses'} (n = {panel.count}): "


def _of_options(field, values, hide):
    """Return the rows of a choice: how many chose each option."""
    many = field["kind"] == "choices"
    chosen = Counter(place for value in values for place in (value if many else [value]))
    right = set(field["is"] if many else [field["is"]])
    rows = [
        (in_words({**field, "kind": "choice"}, place), chosen[place], RIGHT if place in right else "")
        for place in range(len(field["options"]))
    ]
    none = values.count(())
    if none or (many and not right and not hide):
        rows.append((in_words(field, ()), none, "" if right else RIGHT))
    return rows


def _of_answers(field, values, hide):
    """Return the rows of distinct answers, the rarest as one; numbers by size, others by their counts."""
    exact, is_number = in_words(field, field["is"]), field["kind"] == "number"
    counts = Counter(in_words(field, value) for value in values)
    if not hide:
        counts[exact] += 0  # a row, even if nobody said it
    size = {in_words(field, value): value for value in [*values, field["is"]]}
    order = sorted(counts, key=lambda words: size[words] if is_number else (-counts[words], words))
    kept = order if is_number or len(order) <= ROWS + 1 else order[:ROWS]
    if not hide and exact not in kept:
        kept.append(exact)
    held = {in_words(field, value) for value in values if holds(field, value)}
    rows = [
        (words, counts[words], RIGHT if words == exact else CLOSE if words in held else "") for words in kept
    ]
    if others := [counts[words] for words in order if words not in kept]:
        rows.append((f"{len(others)} other answers", sum(others), ""))
    return rows


def _axis(numbers):
    """Choose an axis for numbers: where each is on it, the edges of the bins there, and the numbers at ticks.

    It is linear, with ticks by Matplotlib, unless the numbers span more than POWERS of ten. Then it is
    logarithmic or, if some are not positive, linear around 0 and logarithmic on both sides.
    """
    low, high = min(numbers), max(numbers)
    sizes = [abs(number) for number in numbers if number]
    least, most = np.log10([min(sizes), max(sizes)])
    if most - least <= POWERS:
        if all(number.is_integer() for number in numbers):  # each bar is around its numbers
            step = np.ceil((high - low + 1) / BINS)
            return np.array, np.arange(low - 0.5, high + step, step), None
        return np.array, MaxNLocator(BINS).tick_values(low, high), None
    powers = np.arange(np.ceil(least), most + 1, np.ceil((most - least) / (TICKS if low > 0 else TICKS // 2)))
    ticks = [tick for tick in (*-(10 ** powers[:0:-1]), 0, *10 ** powers[low <= 0 :]) if low <= tick <= high]
    if low > 0:
        step = next(step for step in STEPS if most - least <= BINS * step)
        edges = step * np.arange(np.floor(least / step), np.ceil(most / step) + 1)
        return lambda some: np.log10(some).clip(edges[0], edges[-1]), edges, ticks

    def place(some):
        return np.arcsinh(np.array(some) / min(sizes))

    return place, np.linspace(*place([low, high]), BINS + 1), ticks


def _at_tick(number):
    """Return 0 or a positive or negative power of ten, in few characters."""
    if abs(number) < 1e6:
        return shown(number)
    return f"{'−' if number < 0 else ''}1e{round(np.log10(abs(number)))}"
