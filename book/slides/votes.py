"""The fields of a guess on a slide: a class votes by raised hands, and the next step shows the answers.

Holds `html`, which writes them, `notes`, which tells the speaker what wrong answers mean, and `in_words`.
"""

import json
import re
from string import ascii_uppercase as LETTERS

from book.slides import words

STEP = 'fragment" data-fragment-index="0"'  # all answers of a guess come at once
OPTIONS = ("choice", "choices", "order")


def html(fields):
    """Write the fields of a guess: lettered options, or a line to be filled, and the answers as a next step.

    Parameters
    ----------
    fields : list of dict
        Each as `course.guesses.questions` returns it.

    Returns
    -------
    str
        HTML.
    """
    return '<div class="asked">\n' + "\n".join(map(_field, fields)) + "\n</div>"


def notes(fields):
    """Tell the speaker the answers, how near a guess has to be, and what wrong answers mean.

    Parameters
    ----------
    fields : list of dict

    Returns
    -------
    str
        Markdown: an item for each field that has an answer, and below it one for each wrong answer.
    """
    lines = []
    for field in fields:
        if "is" in field:
            within = f" (within {field['within']})" if "within" in field else ""
            lines.append(f"- *{_label(field)}:* {in_words(field, field['is'])}{within}")
            for key, meaning in field.get("others", {}).items():
                lines.append(f"    - {in_words(field, json.loads(key))}? {meaning}")
    return "\n".join(lines)


def in_words(field, value):
    """Say an answer in words.

    Parameters
    ----------
    field : dict
    value : int, float or list
        A number, numbers, or indices of options.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> in_words({"kind": "choices", "options": ["the mean", "the sum", "none"]}, [0, 1])
    '**A** the mean and **B** the sum'
    >>> in_words({"kind": "numbers"}, [[16384, -0.5], [0, 1e-9]])
    '16,384, −0.5, 0 and 1e-9'
    """
    kind, values = field["kind"], _flat(value)
    if kind == "shape":
        return f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"
    if kind in OPTIONS:
        options = field["options"]
        named = (
            options
            if _are_letters(options)
            else [f"**{LETTERS[at]}** {options[at]}" for at in range(len(options))]
        )
        return (
            ", ".join(named[at] for at in values)
            if kind == "order"
            else _joined([named[at] for at in values])
        )
    unit = f" {field['unit']}" if "unit" in field else ""
    return _joined(list(map(_number, values))) + unit


def _field(field):
    """Write a field: its label, and a line or the options."""
    answer = words.inline(in_words(field, field["is"])) if "is" in field else ""
    shown = f'<span class="answer {STEP}>{answer}</span>' if answer else ""
    label = f'<p class="label">{words.inline(_label(field))}</p>'
    if field["kind"] not in OPTIONS:
        return f'{label}<p class="blank {field["kind"]}">{shown}</p>'
    options, right = field["options"], _flat(field["is"]) if field["kind"] != "order" else ()
    mark = f' <span class="mark {STEP} aria-hidden="true">✓</span>'
    items = "".join(
        f"<li>{words.inline(option)}{mark if at in right else ''}</li>" for at, option in enumerate(options)
    )
    letters = "" if _are_letters(options) else ' type="A"'
    return f'{label}<div class="vote"><ol{letters}>{items}</ol><p>{shown}</p></div>'


def _label(field):
    """Return the label of a field, which may have none."""
    return field.get("label", "Your guess")


def _are_letters(options):
    """Tell whether all options are letters already."""
    return all(option in LETTERS for option in options)


def _flat(value):
    """Return the entries of a number, or of lists in lists."""
    return [entry for part in value for entry in _flat(part)] if isinstance(value, list) else [value]


def _number(value):
    """Write a number as the book does (``shown`` in guesses.js)."""
    text = f"{value:,}" if isinstance(value, int) else f"{float(f'{value:.4g}'):g}"
    return re.sub(r"e([+-]?)0*", lambda sign: "e" + sign[1].strip("+"), re.sub(r"^-", "−", text))


def _joined(texts):
    """Join texts with commas and an *and*."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]])) or "none of them"
