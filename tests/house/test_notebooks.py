"""The rules of notebooks: structure, order, figures and stored outputs.

A rule is a function from a notebook and its stem to sentences, one for each problem. Each rule is also tested
on notebooks that break it, and all of them on one that keeps them.
"""

import ast
import json
import re
from copy import deepcopy
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from itertools import dropwhile, groupby
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authoring.guesses import HOST
from classroom.guesses import fitted, holds
from course.curriculum import BUILT
from course.guesses import KINDS

PROJECT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(PROJECT.glob("notebooks/*.ipynb"))
SOLUTIONS = sorted(PROJECT.glob("solutions/*/*.ipynb"))
EXERCISES = sorted(PROJECT.glob("exercises/*/*.ipynb"))

DEEPER = "Deeper: a topic"  # beside the main line
SECTIONS = (
    "Question",
    "See it",
    "Say it",
    "By hand",
    "In code",
    "Check it",
    "Use it",
    "Break it",
    DEEPER,
    "Exercises",
    "What the library gained",
    "What you can do now",
)
ENDS = ("Exercises", "What the library gained", "What you can do now")
LINES, LINES_TAGGED = 20, 30  # of a code cell; tagged cells hold a whole class of the library
WORDS = 120
KILOBYTES = 900
TAGGED = ("same-as-", "textbook-")
# Numbers that an answer shares by chance with open text after it, by chapter; each was checked by hand.
BY_CHANCE = {"01": "2.2e-16", "03": "12", "10": "0.1414", "12": "63", "15": "29", "17": "36", "19": "2022"}
COUNTS = set("two three four five six seven eight nine ten eleven twelve twice thrice".split())
FIELD = {"kind", "label", "options", "within", "unit", "later"}  # what a guess's field may have
WITH_OPTIONS = ("choice", "choices", "order")
OF_NUMBERS = ("number", "numbers", "shape")
ONE_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+|/\d+)?")
WITHIN = re.compile(r"[±×]\d+(\.\d+)?|±\d+(\.\d+)?%")
ASKING = {"nbval-ignore-output", "remove-cell"}  # tags of the cell that shows the fields in JupyterLab
POWERS = {str(2**power) for power in range(17)}
PROOF = re.compile(r"# proof\n# [A-Za-z0-9`(].+[^.]\n")
HAPPENS = "# what happens\n"
ANSWER = re.compile(
    r'<details class="answer"><summary>Show what happens</summary>\n\n(\S.*\S)\n\n</details>', re.DOTALL
)
# Words that ask for a guess.
GUESS = re.compile(
    r"(?:^|[.!?:;] |\n)(?:Guess\b|Predict\b|Write (?:it|them|your|down)\b)"
    r"|(?:Before|before) you \w+[^.!?:]{0,40}\bguess\b|[Ww]rite it down[.:]"
)
# Words that no chapter may use, with their replacements.
UNSAID = {
    r"\bshall\b": "should, will, or an imperative",
    r"\bsays school\b": "you know from school that",
    r"\bit is told\b|\bis told as\b": "is given as",
    r"\b(?:are|is) wanted\b": "we need, or: you need",
    r"\bWhat you should have found:": "a whole sentence, such as: You should have found that",
    r"\b(?:is|are|was|were) no (?:way|function|layer|number|matrix|class|network|error|proof)\b": "is not a",
    r"\bHad you not\b|\bWere it not\b": "Without, or: if",
}


# reading


@cache
def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell):
    return cell.metadata.get("tags", [])


def syntax(cell):
    """The tree of a code cell, without IPython's own lines."""
    return ast.parse(re.sub(r"^\s*[%!?].*$", "", cell.source, flags=re.MULTILINE))


def prose(cell):
    """The words of a Markdown cell: no code, no displayed formulas, no addresses, no tags."""
    text = re.sub(r"```.*?```|~~~.*?~~~|\$\$.*?\$\$|<!--.*?-->", " ", cell.source, flags=re.DOTALL)
    text = re.sub(r"\$[^$]+\$", "formula", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<[^>]*>", " ", text)


def headings(notebook, level):
    found = (
        re.findall(rf"^#{{{level}}} (.+?)\s*$", prose(cell), re.MULTILINE) for cell in prose_cells(notebook)
    )
    return [heading for cell in found for heading in cell]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def bundles(notebook):
    return [output.data for output in outputs(notebook) if "data" in output]


def minigrad_names(notebook):
    """The names of the library that a notebook's code uses."""
    used = set()
    for node in (node for cell in code_cells(notebook) for node in ast.walk(syntax(cell))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "minigrad":
            used |= {node.module} if node.module in BUILT else {alias.name for alias in node.names}
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "minigrad"
        ):
            used.add(node.attr)
        elif isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names if alias.name.startswith("minigrad.")}
            used |= {
                f"minigrad as {alias.asname}"
                for alias in node.names
                if alias.name == "minigrad" and alias.asname
            }
    return used


class Images(HTMLParser):
    """Collect the alternative texts of the images in a piece of HTML; None for an image without one."""

    def __init__(self, html):
        super().__init__()
        self.texts = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.texts.append(dict(attributes).get("alt"))


def is_sentence(text):
    return bool(text) and len(text.split()) >= 5 and text.rstrip()[-1] in ".!?"


# the rules of every notebook that is stored with outputs


def ran_once_from_top_to_bottom(notebook, stem):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return [] if counts == list(range(1, len(counts) + 1)) else [f"execution counts are {counts}"]


def errors_are_announced(notebook, stem):
    """Check that a cell is tagged raises-exception if, and only if, its stored output is an error."""
    problems = []
    for place, cell in enumerate(notebook.cells):
        raised = any(output.output_type == "error" for output in cell.get("outputs", ()))
        if raised != ("raises-exception" in tags(cell)):
            problems.append(f"cell {place}: raised {raised}, tags {tags(cell)}")
    return problems


def outputs_are_of_no_machine(notebook, stem):
    """Check for warnings, paths and memory addresses, which differ in the next run."""
    personal = re.compile(
        r"(?<![\w.])/(?:home|root|tmp|usr|opt|mnt|Users)/|[A-Z]:\\Users|site-packages|\b0x[0-9a-f]{6,}"
    )
    problems = [
        f"written to stderr: {output.text[:80]}"
        for output in outputs(notebook)
        if output.get("name") == "stderr"
    ]
    for output in outputs(notebook):
        texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", ())]
        texts += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
        for text in texts:
            found = personal.search(re.sub(r"data:image/[^\"')]*", "", text))
            problems += (
                [f"an output says {text[max(0, found.start() - 30) : found.end() + 30]!r}"] if found else []
            )
    return problems


def images_are_told_in_words(notebook, stem):
    html = [bundle["text/html"] for bundle in bundles(notebook) if "text/html" in bundle]
    texts = [
        text
        for piece in html + [cell.source for cell in prose_cells(notebook)]
        for text in Images(piece).texts
    ]
    texts += [text for cell in prose_cells(notebook) for text in re.findall(r"!\[(.*?)\]\(", cell.source)]
    return [f"an image is told as {text!r}" for text in texts if not is_sentence(text)]


def pictures_travel_with_their_words(notebook, stem):
    """Check that a picture's text is in HTML, since JupyterLab and the book drop its metadata."""
    pictures = [bundle for bundle in bundles(notebook) if any(kind.startswith("image/") for kind in bundle)]
    silent = [bundle for bundle in pictures if not Images(bundle.get("text/html", "")).texts]
    return [f"{len(silent)} pictures without words beside them: return a Figure"] if silent else []


def names_come_in_order(notebook, stem):
    late = [name for name in sorted(minigrad_names(notebook)) if BUILT.get(name, 99) > int(stem[:2])]
    return [
        f"{name} is built in chapter {BUILT[name]}" if name in BUILT else f"{name} is not public"
        for name in late
    ]


def prose_is_short(notebook, stem):
    paragraphs = [part for cell in prose_cells(notebook) for part in re.split(r"\n\s*\n", prose(cell))]
    counts = [len(re.findall(r"\S*\w\S*", paragraph)) for paragraph in paragraphs]
    return [f"a paragraph of {count} words" for count in counts if count > WORDS]


def lists_are_meant(notebook, stem):
    """Check that no sentence begins with a number such as "173.", which would be shown as a list item."""
    problems, last = [], 0
    for cell in prose_cells(notebook):
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", cell.source, flags=re.MULTILINE)]
        if len(numbers) == 1 and numbers[0] not in (1, last + 1):
            problems.append(f"a line begins with {numbers[0]}.")
        last = numbers[-1] if numbers else last
    return problems


# the rules of chapters


def code_is_short(notebook, stem):
    """Check the number of code lines; imports do not count, since they are quick to read."""
    problems = []
    for cell in code_cells(notebook):
        limit = LINES_TAGGED if any(tag.startswith((*TAGGED, "proof")) for tag in tags(cell)) else LINES
        imports = [line for line in syntax(cell).body if isinstance(line, ast.Import | ast.ImportFrom)]
        count = len(cell.source.splitlines())
        count -= sum(line.end_lineno - line.lineno + 1 for line in imports)
        if count > limit:
            problems.append(f"a cell of {count} lines: {cell.source.splitlines()[0]}")
    return problems


def prose_stands_between_code(notebook, stem):
    in_sight = [cell for cell in notebook.cells if not {"proof", "answer"} & set(tags(cell))]
    runs = [
        len(list(group)) for kind, group in groupby(in_sight, lambda cell: cell.cell_type) if kind == "code"
    ]
    return [f"{run} code cells in a row" for run in runs if run > 3]


def ends_as_every_chapter(notebook, stem):
    """Check the names of the last sections; all others are the chapter's own."""
    found = headings(notebook, 2)
    ends = [heading for heading in found if heading in SECTIONS]
    problems = [f"two sections are called {heading}" for heading in set(found) if found.count(heading) > 1]
    if ends != [heading for heading in ENDS if heading in found] or found[-len(ends) :] != ends:
        problems.append(f"a chapter ends with some of {ENDS}, and has none of {SECTIONS[:8]}; got {found}")
    return problems + ([] if "Exercises" in ends else ["a chapter has a section of exercises"])


def begins_with_its_title(notebook, stem):
    titles = headings(notebook, 1)
    first = notebook.cells[0].source if notebook.cells else ""
    if len(titles) != 1 or not re.match(rf"# {stem[:2]} \S", first):
        return [f"titles {titles}; the first cell begins {first[:30]!r}"]
    return []


def setup_is_imports_only(notebook, stem):
    imports = (ast.Import, ast.ImportFrom)
    trees = [syntax(cell).body for cell in code_cells(notebook) if asks_for(cell) is None]
    setup = next((tree for tree in trees if any(isinstance(line, imports) for line in tree)), [])
    return [f"set-up line: {ast.unparse(line)}" for line in setup if not isinstance(line, imports)]


# the rules of chapters that read like a book


def calls(cell, *names):
    """Whether a cell calls a function of one of these names."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ast.walk(syntax(cell))
    )


def asks_for(cell):
    """The chapter whose fields a cell shows, by guesses.ask, or None."""
    calls = (node for node in ast.walk(syntax(cell)) if isinstance(node, ast.Call))
    asked = (call.args[0] for call in calls if ast.unparse(call.func) == "guesses.ask")
    return next(map(ast.literal_eval, asked), None)


def asserts(cell):
    return any(isinstance(node, ast.Assert) for node in ast.walk(syntax(cell)))


def folds(cell, *parts):
    """Whether JupyterLab folds these parts of a cell, and no others."""
    folded = {
        part for part in ("source", "outputs") if cell.metadata.get("jupyter", {}).get(f"{part}_hidden")
    }
    return folded == set(parts)


def figures_tell_themselves(notebook, stem):
    """Check that a figure is the last line of a cell, with title, caption and alternative text."""
    problems = []
    for cell in code_cells(notebook):
        if calls(cell, "show") or any(
            isinstance(node, ast.keyword) and node.arg == "alt" for node in ast.walk(syntax(cell))
        ):
            problems.append(f"a figure is described in the chapter: {cell.source[:60]!r}")
    return problems


def proofs_stand_apart(notebook, stem):
    """Check that assertions are in folded cells of their own, unless they are part of the argument."""
    problems = []
    for cell in code_cells(notebook):
        kinds = {"proof", "argument"} & set(tags(cell))
        first = cell.source.partition("\n")[0]
        if len(kinds) > 1 or (asserts(cell) and not kinds):
            problems.append(f"an assertion needs one of the tags proof and argument: {first!r}")
        elif "argument" in kinds and not asserts(cell):
            problems.append(f"an argument without an assertion: {first!r}")
        elif "proof" in kinds:
            if not PROOF.match(cell.source):
                problems.append(f"a proof begins `# proof` and `# what it proves`, no full stop: {first!r}")
            if not asserts(cell) or cell.outputs:
                problems.append(f"a proof asserts, and shows nothing: {first!r}")
            if not folds(cell, "source"):
                problems.append(f"a proof is folded by jupyter.source_hidden: {first!r}")
        elif folds(cell, "source"):
            problems.append(f"only proofs and answers are folded: {first!r}")
    return problems


def answers_are_folded(notebook, stem):
    problems = []
    for cell in notebook.cells:
        first = cell.source.partition("\n")[0]
        is_answer = "answer" in tags(cell)
        if cell.cell_type == "markdown":
            match = ANSWER.fullmatch(cell.source)
            if is_answer != ("<details" in cell.source) or (is_answer and not match):
                problems.append(f"an answer in prose is tagged, and is one fold from end to end: {first!r}")
            if match and re.search(r"^#+ ", match[1], re.MULTILINE):
                problems.append(f"a heading stands in a fold: {first!r}")
        elif is_answer and "proof" not in tags(cell) and not folds(cell, "source", "outputs"):
            problems.append(f"an answer in code is folded, source and outputs: {first!r}")
        elif is_answer and not cell.source.startswith((HAPPENS, "# proof\n")):
            problems.append(f"the lab shows the first line of what it folds, `# what happens`: {first!r}")
    return problems


def is_quiet(cell):
    """Whether a cell gives no answer: an interactive picture, or code that only prepares."""
    if cell.cell_type != "code" or {"answer", "proof"} & set(tags(cell)):
        return False
    faces = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
    return not cell.outputs or calls(cell, "explore") or "data-interactive=" in faces


def guesses_come_before_answers(notebook, stem):
    """Check that a cell that asks for a guess is tagged, and that the first answer is folded."""
    problems = []
    for place, cell in enumerate(notebook.cells):
        asks = cell.cell_type == "markdown" and "answer" not in tags(cell) and GUESS.search(prose(cell))
        if bool(asks) != ("guess" in tags(cell)):
            problems.append(f"the tag guess belongs where a guess is asked for: {cell.source[:60]!r}")
        if "guess" in tags(cell):
            after = [*dropwhile(is_quiet, notebook.cells[place + 1 :])]
            if not after or not {"answer", "guess"} & set(tags(after[0])):
                problems.append(f"no answer is folded after the guess: {cell.source[-60:]!r}")
    return problems


def numbers_of(text):
    """The numbers of a text, without their signs."""
    numbers = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)
    return {f"{float(number.replace(',', '')):g}" for number in numbers}


def numbers_that_tell(text, digits=2):
    """The distinctive numbers of a text, unlikely to recur by chance: not 7, 100 or 64, but 27 and 0.95."""
    return {value for value in numbers_of(text) if len(re.sub(r"e.*|[0.]", "", value)) >= digits} - POWERS


def fields_of(cell):
    return cell.metadata.get("guess", [])


def labels_of(cell):
    """The words at a guess's fields, without the options."""
    return "\n".join(f"{field.get('label', '')} {field.get('unit', '')}" for field in fields_of(cell))


def options_of(cell):
    return "\n".join(option for field in fields_of(cell) for option in field.get("options", ()))


def answers_in(notebook):
    """The answers to a notebook's guesses: for each guess the place of their cell, and their list."""
    found = {}
    for place, cell in enumerate(notebook.cells):
        for name, answers in cell.metadata.get("right", {}).items():
            found.setdefault(name, []).append((place, answers))
    return found


def wrong_with_field(field):
    """List what is wrong with a guess's field by itself."""
    kind, options = field.get("kind"), field.get("options", [])
    problems = [f"no key is called {key}" for key in sorted(field.keys() - FIELD)]
    problems += [] if kind in KINDS else [f"no kind is called {kind}"]
    if (kind in WITH_OPTIONS) != ("options" in field):
        problems.append(f"a {kind} has options {options}")
    if "options" in field and (len(options) < 2 or len(set(options)) < len(options)):
        problems.append(f"options are at least two, and differ; got {options}")
    if "within" in field and (kind not in OF_NUMBERS[:2] or not WITHIN.fullmatch(field["within"])):
        problems.append(f"{kind} within {field['within']!r}: write ±3, ±5% or ×2, for numbers")
    if "unit" in field and kind not in OF_NUMBERS[:2]:
        problems.append(f"only numbers have a unit, but a {kind} has {field['unit']}")
    return problems


def wrong_with_answer(field, answer):
    """List what is wrong with the answer to a guess's field."""
    if field["kind"] == "text":
        return [f"a text has no answer, but this has {dict(answer)}"] if answer else []
    if "from" not in answer or "is" not in answer or answer.keys() - {"from", "is", "others"}:
        return [f"an answer has from and is, and may have others; got {sorted(answer)}"]
    problems = []
    for key in answer.get("others", {}):
        numbers = [part for part in re.split(r"[\s,;()[\]]+", key) if part]
        if not all(map(ONE_NUMBER.fullmatch, numbers)):
            problems.append(f"{key}, among the others, is not numbers")
            continue
        said = [int(one) if one.denominator == 1 else float(one) for one in map(Fraction, numbers)]
        said = fitted(field, said[0] if field["kind"] in ("number", "choice") and len(said) == 1 else said)
        if said is None:
            problems.append(f"{key}, among the others, does not fit the kind {field['kind']}")
        elif holds(field | {"is": answer["is"]}, said):
            problems.append(f"{key} is right, but among the others")
    return problems


def guesses_have_fields(notebook, stem):
    """Check the fields and answers of guesses, and the cell that shows them in JupyterLab."""
    problems, right = [], answers_in(notebook)
    places = {cell.id: place for place, cell in enumerate(notebook.cells) if "guess" in tags(cell)}
    shown = [
        place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code" and asks_for(cell)
    ]
    for cell in (notebook.cells[place] for place in shown):
        if asks_for(cell) != stem or not ASKING <= set(tags(cell)):
            problems.append(f"the cell that asks has the tags {ASKING} and asks for {stem}: {cell.source!r}")
    if places and (len(shown) != 1 or shown[0] > min(places.values())):
        problems.append(f'one cell, before the first guess, has guesses.ask("{stem}"); got cells {shown}')
    problems += [f"{name} has an answer, but is not a guess" for name in right.keys() - places.keys()]
    for name, place in places.items():
        cell, fields = notebook.cells[place], fields_of(notebook.cells[place])
        found = right.get(name, [])
        if not fields or not cell.source.endswith(HOST.format(name)):
            problems.append(f"{name}: a guess has fields, and ends with {HOST.format(name).strip()}")
        problems += [f"{name}: {problem}" for field in fields for problem in wrong_with_field(field)]
        if len(found) != 1 or found[0][0] <= place or len(found[0][1]) != len(fields):
            problems.append(f"{name}: one later cell has an answer for each field; got {found}")
        elif all(field.get("kind") in KINDS for field in fields):
            answers = zip(fields, found[0][1], strict=True)
            problems += [f"{name}: {problem}" for pair in answers for problem in wrong_with_answer(*pair)]
    return problems


def shown_by(cell):
    """The printed output of a code cell, and the captions of its figures."""
    faces = [output.get("data", {}) for output in cell.outputs]
    captions = re.findall(r"<figcaption>.*?</figcaption>", str(faces), re.DOTALL)
    texts = [face.get("text/plain", "") for face in faces if "text/html" not in face]
    printed = [output.get("text", "") for output in cell.outputs]
    return re.sub(r"<[^>]+>", " ", "\n".join([*captions, *texts, *printed]))


def open_numbers(cell):
    """The numbers visible in a cell before any fold is opened, except short ones in code."""
    if {"answer", "proof"} & set(tags(cell)):
        return set()
    if cell.cell_type == "markdown":
        at_fields = f"{labels_of(cell)}\n{options_of(cell)}"
        return numbers_that_tell(f"{cell.source}\n{at_fields}") | counts_in_headings(cell)
    return numbers_that_tell(cell.source, digits=3) | numbers_that_tell(shown_by(cell))


def words_of(text):
    return set(re.findall(r"\w+", text.lower()))


def counts_in_headings(cell):
    """The numbers that a cell's headings write as words."""
    heads = " ".join(re.findall(r"^#+ .*", cell.source, re.MULTILINE)) if cell.cell_type == "markdown" else ""
    return COUNTS & words_of(heads)


def right_numbers(question, right):
    """The answers to a guess's fields of numbers, as texts."""
    found = (answers for _, answers in right.get(question.id, ()))
    pairs = zip(fields_of(question), next(found, ()), strict=False)
    return [json.dumps(answer.get("is")) for field, answer in pairs if field["kind"] in OF_NUMBERS]


def no_answer_is_in_sight(notebook, stem):
    """Check that up to the next question no number of the answer is visible outside its fold.

    The words at the question's fields are visible, too; its options contain the answer among others.
    """
    problems, right = [], answers_in(notebook)
    places = [place for place, cell in enumerate(notebook.cells) if "guess" in tags(cell)]
    for place, end in zip(places, [*places[1:], None], strict=True):
        question, *after = notebook.cells[place:end]
        text = question.source.removesuffix(HOST.format(question.id))
        labels, rights = labels_of(question), right_numbers(question, right)
        answers = [cell for cell in after if "answer" in tags(cell)]
        shown = [prose(cell) if cell.cell_type == "markdown" else shown_by(cell) for cell in answers]
        answer = "\n".join([*shown, *rights])
        known = set().union(*map(open_numbers, notebook.cells[:place])) | words_of(text)
        known |= numbers_that_tell(f"{text}\n{options_of(question)}") | {BY_CHANCE.get(stem[:2])}
        told = numbers_that_tell(labels) & numbers_that_tell(answer) - known
        new = numbers_of(labels) - numbers_of(text)
        told = told.union(*(numbers for one in rights if (numbers := numbers_of(one)) and numbers <= new))
        if told:
            problems.append(f"{', '.join(sorted(told))} stands at a field of {text[:50]!r}")
        for cell in after:
            if told := open_numbers(cell) & (numbers_that_tell(answer) | words_of(answer)) - known:
                where = f"{text[:50]!r} in {cell.source[:50]!r}"
                problems.append(f"{', '.join(sorted(told))} stands open, and answers {where}")
    return problems


def words_are_those_of_the_course(notebook, stem):
    texts = [prose(cell) for cell in prose_cells(notebook)]
    texts += ["\n".join(re.findall("#.*", cell.source)) for cell in code_cells(notebook)]
    return [
        f"{match[0]!r}: write {instead}"
        for text in texts
        for pattern, instead in UNSAID.items()
        for match in re.finditer(pattern, text)
    ]


STORED_RULES = (
    ran_once_from_top_to_bottom,
    errors_are_announced,
    outputs_are_of_no_machine,
    images_are_told_in_words,
    pictures_travel_with_their_words,
    names_come_in_order,
    prose_is_short,
    lists_are_meant,
)
CHAPTER_RULES = (
    code_is_short,
    prose_stands_between_code,
    ends_as_every_chapter,
    begins_with_its_title,
    setup_is_imports_only,
    figures_tell_themselves,
    proofs_stand_apart,
    answers_are_folded,
    guesses_come_before_answers,
    guesses_have_fields,
    no_answer_is_in_sight,
    words_are_those_of_the_course,
)


@pytest.mark.parametrize("rule", STORED_RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS + SOLUTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_stored_notebook(path, rule):
    assert rule(read(path), path.stem) == []


@pytest.mark.parametrize("rule", CHAPTER_RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter(path, rule):
    assert rule(read(path), path.stem) == []


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_every_exercise_notebook(path):
    assert names_come_in_order(read(path), path.stem) == []


# the rules of the whole course


def copied_bodies(notebooks):
    """List the untagged functions and classes of more than five lines that are in two notebooks."""
    seen = {}
    for stem, notebook in notebooks.items():
        for cell in code_cells(notebook):
            if any(tag.startswith(TAGGED) for tag in tags(cell)):
                continue
            for node in ast.walk(syntax(cell)):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                    if len("\n".join(map(ast.unparse, body)).splitlines()) > 5:
                        seen.setdefault("".join(map(ast.dump, body)), []).append(f"{stem}: {node.name}")
    return [places for places in seen.values() if len({place.split(":")[0] for place in places}) > 1]


def test_there_are_chapters_to_test():
    assert CHAPTERS and SOLUTIONS and EXERCISES


def test_no_body_is_copied_from_notebook_to_notebook():
    assert (
        copied_bodies({f"{path.parent.name}/{path.stem}": read(path) for path in CHAPTERS + SOLUTIONS}) == []
    )


def test_a_chapter_its_exercises_solutions_and_checks_share_a_stem():
    checks = {path.stem.removeprefix("ch") for path in PROJECT.glob("course/checks/ch*.py")}
    stems = [{path.parent.name for path in paths} for paths in (SOLUTIONS, EXERCISES)]
    assert {path.stem for path in CHAPTERS} == stems[0] == stems[1] == checks


def test_no_chapter_and_exercises_have_the_same_name():
    assert all(path.name == f"{path.parent.name}_exercises.ipynb" for path in SOLUTIONS + EXERCISES)


def test_stored_notebooks_are_small():
    sizes = {path.name: path.stat().st_size for path in CHAPTERS + SOLUTIONS + EXERCISES}
    assert {name: size for name, size in sizes.items() if size > KILOBYTES * 1000} == {}


# tests of the rules


def code(source, count=1, outputs=(), tags=()):
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata={"tags": list(tags)})


def displayed(**data):
    return new_output("display_data", {kind.replace("_", "/"): content for kind, content in data.items()})


def proof(source, count=1, **folded):
    cell = code(source, count, tags=["proof"])
    cell.metadata.jupyter = folded or {"source_hidden": True}
    return cell


def answer(source, count=1):
    cell = code(source, count, tags=["answer"])
    cell.metadata.jupyter = {"source_hidden": True, "outputs_hidden": True}
    return cell


def asked(text, *tags, **metadata):
    return new_markdown_cell(text, metadata={"tags": list(tags), **metadata})


def guess(field, found, end=None, text="How many? Guess first."):
    """A guess with one field, and its answer."""
    end = HOST.format("a") if end is None else end
    question = new_markdown_cell(text + end, id="a", metadata={"guess": [field], "tags": ["guess"]})
    return [question, new_markdown_cell(FOLDED, metadata={"right": {"a": [found]}, "tags": ["answer"]})]


FOLDED = '<details class="answer"><summary>Show what happens</summary>\n\nIt is.\n\n</details>'
WORDS_OF_A_FIGURE = '<img alt="The loss falls from three to one." src="data:image/png;base64,AA">'
OF_27 = FOLDED.replace("It is.", "It is 27, twice, and 2.75.")
TELLING = displayed(text_html="<img alt='x'><figcaption><strong>It falls to 27.</strong></figcaption>")
ASK = code('from course import guesses\n\nguesses.ask("04_closures")', 1, tags=ASKING)
NUMBER, CHOICE = {"kind": "number"}, {"kind": "choice", "options": ["yes", "no"]}
TWO, YES = {"from": "1 + 1", "is": 2}, {"from": "0", "is": 0, "others": {"1": "It is even."}}
PICTURE = displayed(image_png="AA", text_html=WORDS_OF_A_FIGURE)
GOOD = new_notebook(
    cells=[
        new_markdown_cell(
            "# 04 Functions that remember\n\nOne promise. ![The map of the whole course.](map.png)"
        ),
        new_markdown_cell("## A box that learns"),
        ASK,
        code("from minigrad import Linear", 2),
        new_markdown_cell("## Three gradients from one"),
        code("class Linear:\n" + "    a = 1\n" * 29, 3, tags=["same-as-minigrad.Linear"]),
        code("1 / 0", 4, [new_output("error", ename="ZeroDivisionError", evalue="")], ["raises-exception"]),
        code("library.five_ways(errors)", 5, [PICTURE]),
        proof("# proof\n# one is one\nassert 1 == 1", 6),
        *guess(CHOICE, YES, text="Is 2 prime? Write it down."),
        answer("# what happens\nexplore(f)", 7),
        new_markdown_cell(
            "Move it. Guess first." + HOST.format("b"),
            id="b",
            metadata={
                "guess": [{**NUMBER, "within": "±1", "unit": "m"}, {"kind": "text"}],
                "tags": ["guess"],
            },
        ),
        code("f = 1", 8),
        code("explore(f, h=Slider())", 9, [PICTURE]),
        new_markdown_cell(
            FOLDED, metadata={"right": {"b": [{**TWO, "others": {"3.5": "No."}}, {}]}, "tags": ["answer"]}
        ),
        code("assert 2 * 3 == 6", 10, tags=["argument"]),
        new_markdown_cell("## Deeper: functions of functions"),
        new_markdown_cell("## Exercises\n\n```python\n# no heading\n```"),
        new_markdown_cell("## What you can do now"),
    ]
)
ERROR = new_output("error", ename="ZeroDivisionError", evalue="")
BROKEN = {
    ran_once_from_top_to_bottom: [[code("1", 2)], [code("1", None)], [code("1", 1), code("1", 1)]],
    errors_are_announced: [[code("1 / 0", outputs=[ERROR])], [code("1", tags=["raises-exception"])]],
    outputs_are_of_no_machine: [
        [code("f", outputs=[displayed(text_plain="<function f at 0x7f12ab34cd56>")])],
        [code("f", outputs=[new_output("stream", name="stderr", text="UserWarning")])],
        [code("f", outputs=[new_output("stream", name="stdout", text="in /home/ada/minigrad")])],
    ],
    images_are_told_in_words: [
        [code("f", outputs=[displayed(text_html='<img src="x">')])],
        [code("f", outputs=[displayed(text_html='<img src="x" alt="A plot.">')])],
        [new_markdown_cell("![](map.png)")],
    ],
    pictures_travel_with_their_words: [
        [code("f", outputs=[displayed(image_png="AA")])],
        [code("f", outputs=[displayed(image_png="AA", text_html="<p>a plot</p>"), PICTURE])],
    ],
    names_come_in_order: [
        [code("from minigrad import Linear, SGD")],
        [code("import minigrad\nminigrad.SGD()")],
        [code("from minigrad.optimizers import SGD")],
        [code("import minigrad as m")],
        [code("from minigrad.shapes import shape_of")],
        [code("from minigrad.beyond.graph import Variable")],
    ],
    prose_is_short: [[new_markdown_cell("word " * 121)]],
    lists_are_meant: [[new_markdown_cell("173. The bytes are down.")]],
    code_is_short: [[code("x = 1\n" * 21)], [code("x = 1\n" * 31, tags=["same-as-minigrad.Linear"])]],
    prose_stands_between_code: [[code("1") for _ in range(4)]],
    ends_as_every_chapter: [
        [new_markdown_cell("## Use it"), new_markdown_cell("## Say it")],
        [new_markdown_cell("## Conclusion")],
        [new_markdown_cell("## Use it\n\n## Use it")],
        [new_markdown_cell("## Deeper: too early\n\n## Break it")],
        [new_markdown_cell("## Deeper")],
    ],
    begins_with_its_title: [
        [new_markdown_cell("## Question")],
        [new_markdown_cell("# 05 Chains")],
        [new_markdown_cell("# 04 One"), new_markdown_cell("# Two")],
    ],
    setup_is_imports_only: [[ASK, code("import numpy as np\nX = np.ones(3)")]],
    figures_tell_themselves: [
        [code("show(ax)")],
        [code('explore(draw, alt="A line.", h=Slider())')],
        [code('library.draw(errors, alt="A line.")')],
    ],
    proofs_stand_apart: [
        [code("x = 1\nassert x == 1")],
        [code("x = 1", tags=["argument"])],
        [code("assert 1", tags=["argument", "proof"])],
        [proof("assert 1 == 1")],
        [proof("# proof: one is one\nassert 1 == 1")],
        [proof("# proof\n# one is one.\nassert 1 == 1")],
        [proof("# proof\n# one is one\nx = 1")],
        [proof("# proof\n# one is one\nassert 1 == 1", source_hidden=False)],
        [proof("# proof\n# one is one\nassert 1 == 1", source_hidden=True, outputs_hidden=True)],
        [nbformat.from_dict({**code("x = 1"), "metadata": {"jupyter": {"source_hidden": True}}})],
    ],
    answers_are_folded: [
        [answer("print(3)")],
        [asked(FOLDED)],
        [asked("It is.", "answer")],
        [asked(f"Before. {FOLDED}", "answer")],
        [asked(FOLDED.replace("It is.", "## Yes"), "answer")],
        [code("x", tags=["answer"])],
    ],
    guesses_come_before_answers: [
        [asked("Is it prime? Write it down."), asked(FOLDED, "answer"), asked("So.")],
        [asked("Guess the number."), asked(FOLDED, "answer"), asked("So.")],
        [asked("How many? Guess first.", "guess"), code("print(3)"), asked("Three.")],
        [asked("How many? Guess first.", "guess"), code("explore(f)"), asked("Three.")],
        [asked("It is.", "guess"), asked(FOLDED, "answer"), asked("So.")],
        [asked("How many? Guess first.", "guess")],
    ],
    guesses_have_fields: [
        [ASK, asked("How many? Guess first." + HOST.format("a"), "guess"), *guess(NUMBER, TWO)[1:]],
        *[
            [ASK, *guess(field, found)]
            for field, found in [
                ({"kind": "digit"}, TWO),
                ({**NUMBER, "is": 2}, TWO),
                ({**NUMBER, "options": ["2", "3"]}, TWO),
                ({**NUMBER, "within": "0.5"}, TWO),
                ({**NUMBER, "within": "×5%"}, TWO),
                ({"kind": "shape", "within": "±1"}, {"from": "X.shape", "is": [2]}),
                ({"kind": "text", "unit": "m"}, {}),
                ({"kind": "choice"}, YES),
                ({"kind": "choice", "options": ["yes"]}, {"from": "0", "is": 0}),
                ({"kind": "choice", "options": ["yes", "yes"]}, YES),
                ({"kind": "text"}, TWO),
                (NUMBER, {"from": "1 + 1"}),
                (NUMBER, {"is": 2}),
                (NUMBER, {**TWO, "why": "It is."}),
                (NUMBER, {**TWO, "others": {"4/2": "So it is."}}),
                ({**NUMBER, "within": "±1"}, {**TWO, "others": {"3": "Close."}}),
                (
                    {"kind": "numbers"},
                    {"from": "X", "is": [[1, 2], [3, 4]], "others": {"[1, 2, 3, 4]": "So."}},
                ),
                (CHOICE, {**YES, "others": {"2": "It is not."}}),
                (
                    {**CHOICE, "kind": "choices"},
                    {"from": "[0, 1]", "is": [0, 1], "others": {"[1, 0]": "So."}},
                ),
                (NUMBER, {**TWO, "others": {"[3, 4]": "No."}}),
                (NUMBER, {**TWO, "others": {"three": "No."}}),
            ]
        ],
        [ASK, *guess(NUMBER, TWO, end="")],
        [ASK, *guess(NUMBER, TWO, end=HOST.format("b"))],
        [ASK, *guess(NUMBER, TWO)[::-1]],
        [ASK, *guess(NUMBER, TWO)[:1]],
        [ASK, *guess(NUMBER, TWO)[1:]],
        [ASK, *guess(NUMBER, TWO), *guess(NUMBER, TWO)[1:]],
        [ASK, *guess(NUMBER, TWO)[:1], asked(FOLDED, "answer", right={"a": [TWO, TWO]})],
        guess(NUMBER, TWO),
        [*guess(NUMBER, TWO), ASK],
        [ASK, code(ASK.source, tags=ASKING), *guess(NUMBER, TWO)],
        [code('guesses.ask("05_chains")', tags=ASKING), *guess(NUMBER, TWO)],
        [code('guesses.ask("04_closures")', tags=["remove-cell"]), *guess(NUMBER, TWO)],
    ],
    no_answer_is_in_sight: [
        [asked("How many? Guess first.", "guess"), asked(OF_27, "answer"), new_markdown_cell("So 27 it is.")],
        [asked("How many? Guess first.", "guess"), code("2.75"), asked(OF_27, "answer")],
        [asked("How many? Guess first.", "guess"), asked(OF_27, "answer"), code("f()", outputs=[TELLING])],
        [asked("How many? Guess first.", "guess"), asked(OF_27, "answer"), asked("## Ten, twice")],
        guess({**NUMBER, "label": "Up to 2"}, TWO),
        guess({**NUMBER, "unit": "of 2"}, TWO),
        guess({"kind": "shape", "label": "Not (3, 7)"}, {"from": "X.shape", "is": [3, 7]}),
        guess({"kind": "text", "label": "Nearly 27"}, {})[:1] + [asked(OF_27, "answer")],
        [*guess(NUMBER, {**TWO, "is": 27}), new_markdown_cell("So 27 it is.")],
    ],
    words_are_those_of_the_course: [
        [new_markdown_cell("A list shall be turned round.")],
        [new_markdown_cell("The slope is 2, says school.")],
        [code("x = 1  # what shall be")],
        [new_markdown_cell("A list is no function of it.")],
    ],
}


@pytest.mark.parametrize("rule", STORED_RULES + CHAPTER_RULES, ids=lambda rule: rule.__name__)
def test_each_rule_passes_a_good_notebook_and_refuses_broken_ones(rule):
    assert rule(GOOD, "04_closures") == []
    for cells in BROKEN[rule]:
        assert rule(new_notebook(cells=deepcopy(cells)), "04_closures") != [], cells


def test_a_copied_body_is_found_whatever_its_name_and_docstring():
    body = "".join(f"    x = {line}\n" for line in range(6))
    one, two = (
        new_notebook(cells=[code(f"def {name}(x):\n{doc}{body}")])
        for name, doc in (("f", ""), ("g", "    'doc'\n"))
    )
    assert len(copied_bodies({"04": one, "05": two})) == 1
    assert copied_bodies({"04": one}) == []
    two.cells[0].metadata.tags = ["textbook-minigrad.Linear"]
    assert copied_bodies({"04": one, "05": two}) == []
