"""The text of a slide: a cell's prose, shortened by rule.

Holds `shown`, the rule, and functions that split prose into blocks and sentences. The speaker notes have the
whole prose.
"""

import re

THE_END = "What you can do now"
QUESTION = "Question"
ROOM = 520  # characters on a slide of prose
ROOM_TO_ASK = 800  # on one that asks for a guess: who votes has to know the whole question
TITLE = 90  # characters of a sentence that becomes a title of prose
LONG = 130  # characters above which a title is set smaller
COSTS = {"formula": 90, "fence": 200, "table": 250, "item": 20}  # in characters

HEADING = re.compile(r"^(#{1,3}) (.+?)\s*$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)]*\)")
NOT_PROSE = re.compile(r'</?details[^>]*>|<summary>.*?</summary>|<div class="guess [^>]*></div>')
WHOLE = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]+\$|\*\*.+?\*\*", re.DOTALL)
ENDING = re.compile(r"(?<=[.!?\x02])[\"”’)*]*\s+(?=[\"“(*]*[A-Z0-9\x00])")
NOT_AN_END = re.compile(r"\b(?:e\.g|i\.e|vs|etc|al)\.$")
ASIDE = re.compile(r"\(.*\)", re.DOTALL)
WITHIN = re.compile(r" \([^()]{20,}\)")  # an aside in a sentence
FOOT = re.compile(r"^(?:Sources?|Source and sources?)\b.*?:")


def html(text):
    """Convert Markdown to HTML, with links replaced by their text.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    from nbconvert.filters import markdown2html

    return markdown2html(HEADING.sub(r"**\2**\n\n", LINK.sub(r"\1", text)))


def inline(text):
    """Convert one paragraph of Markdown to HTML without the paragraph's tag.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return html(text).strip().removeprefix("<p>").removesuffix("</p>")


def parts(source):
    """Split a cell's prose at its headings.

    Parameters
    ----------
    source : str

    Returns
    -------
    list of (int, str, str)
        Level, heading and text. The text before the first heading, which may be empty, has level 0.

    Examples
    --------
    >>> parts("Before.\\n\\n## Say it\\n\\nAfter.")
    [(0, '', 'Before.'), (2, 'Say it', 'After.')]
    """
    source = NOT_PROSE.sub("", source).strip()
    unfenced = FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    found = [*HEADING.finditer(unfenced)]
    starts, ends = [match.end() for match in found], [match.start() for match in found] + [len(source)]
    above = [(0, "", source[: ends[0]].strip())]
    return above + [
        (len(match[1]), match[2], source[start:end].strip())
        for match, start, end in zip(found, starts, ends[1:], strict=True)
    ]


def bold(source):
    """Return the first text in bold, or the first sentence."""
    match = re.search(r"\*\*(.+?)\*\*", source, re.DOTALL)
    return match[1] if match else (sentences_of(source) or [""])[0]


def blocks(text):
    """Split text into paragraphs, lists, tables, formulas and fenced code, in order.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (str, str)
        The kind, "paragraph", "list", "table", "formula" or "fence", and the text.
    """
    found, lines = [], []
    for line in [*text.split("\n"), ""]:
        inside = "\n".join(lines).lstrip()
        opened = next((mark for mark in ("```", "~~~", "$$") if inside.startswith(mark)), None)
        if line.strip() or (opened and inside.count(opened) < 2):
            lines.append(line)
        elif lines:
            found.append((_kind(inside), "\n".join(lines).strip("\n")))
            lines = []
    return found


def sentences(text):
    """Split one paragraph into sentences.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> sentences("Take `a. B`, and $x. Y$. Does it fit? (It does.) Two: 3.1 and 4.")
    ['Take `a. B`, and $x. Y$.', 'Does it fit?', '(It does.)', 'Two: 3.1 and 4.']
    """
    kept = []

    def keep(match):
        kept.append(match[0])
        ends = re.search(r"[.!?]\*\*$", match[0])
        return f"\x00{len(kept) - 1}\x01" + ("\x02" if ends else "")

    hidden, found, start = WHOLE.sub(keep, " ".join(text.split())), [], 0
    for match in [*ENDING.finditer(hidden), None]:
        part = hidden[start : match.end() if match else None].strip()
        if match and (NOT_AN_END.search(part) or part.count("(") > part.count(")")):
            continue
        found.append(part.replace("\x02", ""))
        start = match.end() if match else None
    return [re.sub("\x00(\\d+)\x01", lambda match: kept[int(match[1])], part) for part in found if part]


def without_asides(sentence):
    """Remove longer text in parentheses from a sentence, unless all of it is in parentheses.

    Parameters
    ----------
    sentence : str

    Returns
    -------
    str

    Examples
    --------
    >>> without_asides("The loss falls (it is a mean over an epoch), and stays above f(x).")
    'The loss falls, and stays above f(x).'
    """
    return WITHIN.sub("", sentence) or sentence


def sentences_of(text):
    """Return the sentences of all of a text's paragraphs."""
    return [part for kind, block in blocks(text) if kind == "paragraph" for part in sentences(block)]


def shown(text, section="", first=1, room=ROOM):
    """Shorten a cell's prose to the text of a slide.

    Parameters
    ----------
    text : str
        Without its heading.
    section : str
        The section of the chapter: *Question* shows every question, and *What you can do now* every sentence,
        as a list.
    first : int
        The number of the first sentence.
    room : int
        The number of characters after which the slide is full.

    Returns
    -------
    str
        Markdown: whole sentences and whole items, until the slide is full. A displayed formula is always
        included, with the sentence before it; a sentence in parentheses is never included.
    """
    count, found = 0, []
    pieces = blocks(text)
    for place, (kind, block) in enumerate(pieces):
        if kind == "paragraph" and not FOOT.match(block):
            chosen, all_of_it = [], sentences(block)
            before_formula = pieces[place + 1 : place + 2] and pieces[place + 1][0] == "formula"
            for number, sentence in enumerate(all_of_it, 1):
                count += 1
                wanted = section == QUESTION and sentence.endswith("?")
                wanted = wanted or (before_formula and number == len(all_of_it)) or not (chosen or found)
                if count < first or ASIDE.fullmatch(sentence):
                    continue
                if room >= len(sentence) or wanted:
                    chosen.append(sentence)
                    room -= len(sentence)
                else:
                    room = 0
            if chosen:
                listed = "\n".join(f"- {one}" for one in chosen)
                found.append(listed if section == THE_END else " ".join(chosen))
        elif kind != "paragraph" and (first == 1 or count >= first):
            if kind == "formula" or kind == "list" or room >= COSTS[kind]:
                block, room = _items(block, room) if kind == "list" else (block, room - COSTS[kind])
                found.append(block)
    return "\n\n".join(filter(None, found))


def _items(block, room):
    """Return a list's items that fit, each cut to its first sentence, and the remaining room."""
    items = re.split(r"\n(?=(?:[-*]|\d+\.) )", block)
    kept = []
    for item in items:
        mark, _, text = item.partition(" ")
        first = sentences(text)[0]
        if room < len(first) + COSTS["item"]:
            break
        room -= len(first) + COSTS["item"]
        kept.append(f"{mark} {first}")
    return "\n".join(kept), room


def _kind(block):
    """Return the kind of a block."""
    for kind, mark in (("fence", r"```|~~~"), ("formula", r"\$\$"), ("list", r"(?:[-*]|\d+\.) ")):
        if re.match(mark, block):
            return kind
    return "table" if block.startswith("|") else "paragraph"
