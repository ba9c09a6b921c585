"""Harmless damages: what happens to an honest notebook on its way, and costs it nothing.

A damage is a function of the notebook, a dict as JSON gives it: it changes that in place, or returns bytes.
"""

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path

from course.curriculum import exercises_path

SOLUTIONS = Path(__file__).parents[2] / "solutions"
STEMS = ("04_closures", "05_chains", "06_losses", "11_graphs", "00_start")


@cache
def stored(stem):
    return (SOLUTIONS / exercises_path(stem)).read_bytes()


def code(*sources, **fields):
    bare = {"cell_type": "code", "outputs": [], "metadata": {}}
    return [bare | {"source": source} | fields for source in sources]


def text(cell):
    return "".join(cell["source"])


def is_code(cell):
    return cell["cell_type"] == "code"


def answers(cell):
    return "### BEGIN SOLUTION" in text(cell)


def dumped(notebook, **options):
    return json.dumps(notebook, **options).encode()


# ways to damage a notebook and leave its answers right: a function of the notebook, and the bytes that follow

DAMAGES = {}


def damage(function):
    """A function from a notebook to bytes, or one that changes it in place."""
    DAMAGES[function.__name__] = function
    return function


def in_bytes(**ways):
    DAMAGES.update(ways)


def in_cells(**ways):
    """Functions that change each cell in place."""
    for name, change in ways.items():

        def change_all(notebook, change=change):
            for cell in notebook["cells"]:
                change(cell)

        DAMAGES[name] = change_all


def in_code(**ways):
    """Functions from the source of a code cell to another source."""
    for name, change in ways.items():

        def change_all(notebook, change=change):
            for cell in filter(is_code, notebook["cells"]):
                cell["source"] = change(text(cell))

        DAMAGES[name] = change_all


def among_cells(**sources):
    """Cells that are put between the others, everywhere."""
    for name, source in sources.items():

        def put(notebook, source=source):
            cells = notebook["cells"]
            notebook["cells"] = [each for cell in cells for each in (cell, *code(source))]

        DAMAGES[name] = put


def encoded(encoding, accents="é = 'naïve – “quoted”'  # à côté", begin=b""):
    def encode(notebook):
        notebook["cells"][:0] = code(accents)
        return begin + json.dumps(notebook, ensure_ascii=False).encode(encoding, "replace")

    return encode


in_bytes(
    untouched=dumped,
    bom=encoded("utf-8-sig"),
    utf_16=encoded("utf-16"),
    utf_16_without_bom=encoded("utf-16-be"),
    utf_32=encoded("utf-32"),
    cp1252=encoded("cp1252"),
    latin_1=encoded("latin-1", "é = 'naïve \x81'  # à côté"),
    crlf=lambda notebook: dumped(notebook, indent=1).replace(b"\n", b"\r\n"),
    cr=lambda notebook: dumped(notebook, indent=1).replace(b"\n", b"\r"),
    on_one_line=lambda notebook: dumped(notebook, separators=(",", ":")),
    sorted_keys=lambda notebook: dumped(notebook, sort_keys=True, indent=4),
    blank_lines_around=lambda notebook: b"\n\n  " + dumped(notebook) + b"\n\r\n\n",
    not_a_number=lambda notebook: dumped(notebook | {"metadata": {"score": float("nan")}}),
    keys_twice=lambda notebook: b'{"nbformat": 3, "cells": [], ' + dumped(notebook)[1:],
)
in_bytes(
    without_metadata=lambda notebook: dumped({"cells": notebook["cells"]}),
    metadata_null=lambda notebook: dumped(notebook | {"metadata": None}),
    other_kernel=lambda notebook: dumped(notebook | {"metadata": {"kernelspec": {"name": "julia-1.9"}}}),
    minor_0=lambda notebook: dumped(notebook | {"nbformat_minor": 0}),
    minor_2=lambda notebook: dumped(notebook | {"nbformat_minor": 2}),
    minor_99=lambda notebook: dumped(notebook | {"nbformat_minor": 99}),
    format_is_text=lambda notebook: dumped(notebook | {"nbformat": "4"}),
    format_5=lambda notebook: dumped(notebook | {"nbformat": 5}),
    extra_keys=lambda notebook: dumped(notebook | {"author": "me", "worksheets": None, "signature": 3}),
)


def _worksheets(notebook, count):
    old = {"cell_type": "code", "language": "python", "prompt_number": 3, "outputs": []}
    cells = [old | {"input": cell["source"]} if is_code(cell) else cell for cell in notebook["cells"]]
    size = -(-len(cells) // count)
    sheets = [{"cells": cells[start : start + size]} for start in range(0, len(cells), size)]
    return dumped({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": sheets})


in_bytes(
    format_3=lambda notebook: _worksheets(notebook, 1),
    format_3_in_two_worksheets=lambda notebook: _worksheets(notebook, 2),
)
in_cells(
    no_ids=lambda cell: cell.pop("id", None),
    one_id_for_all=lambda cell: cell.update(id="a"),
    ids_null=lambda cell: cell.update(id=None),
    cell_metadata_lost=lambda cell: cell.pop("metadata"),
    cell_metadata_null=lambda cell: cell.update(metadata=None),
    cell_metadata_a_list=lambda cell: cell.update(metadata=[1, 2]),
    one_grade_id_for_all=lambda cell: cell["metadata"].update(nbgrader={"grade_id": "a", "locked": True}),
    outputs_lost=lambda cell: cell.pop("outputs", None),
    outputs_null=lambda cell: cell.update(outputs=None),
    outputs_strange=lambda cell: cell.update(outputs=[{"output_type": "pyout"}, 7]),
    counts_lost=lambda cell: cell.pop("execution_count", None),
    counts_text=lambda cell: cell.update(execution_count="In [*]"),
    types_lost=lambda cell: cell.pop("cell_type") if is_code(cell) else None,
    cells_with_extra_keys=lambda cell: cell.update(collapsed=True, prompt_number=1, slideshow={}),
    source_is_text=lambda cell: cell.update(source=text(cell)),
    source_is_lines=lambda cell: cell.update(source=text(cell).splitlines(keepends=True)),
    lines_without_ends=lambda cell: cell.update(source=text(cell).split("\n")),
    a_null_among_the_lines=lambda cell: cell.update(source=[None, *text(cell).splitlines(keepends=True)]),
    words_lost=lambda cell: None if is_code(cell) else cell.pop("source"),
    words_are_numbers=lambda cell: None if is_code(cell) else cell.update(source=7),
    half_a_surrogate_pair=lambda cell: cell.update(source=text(cell) + "\n# \ud83d"),
)
in_code(
    source_crlf=lambda source: source.replace("\n", "\r\n"),
    source_cr=lambda source: source.replace("\n", "\r"),
    tabs=lambda source: source.replace("    ", "\t"),
    blanks_behind_lines=lambda source: source.replace("\n", "   \n") + "   \n\n\n",
    bom_in_the_source=lambda source: "\ufeff" + source,
    semicolon_at_the_end=lambda source: source + "\n0;",
    indented=lambda source: "\n" + re.sub("^", "    ", source, flags=re.MULTILINE),
    pasted_from_python=lambda source: ">>> " + source.replace("\n", "\n... "),
    pasted_from_ipython=lambda source: "In [3]: " + source.replace("\n", "\n   ...: "),
    time_cell=lambda source: "%%time\n" + source,
    time_cell_below_blank_lines=lambda source: "\n\n  %%time\n" + source,
    capture_cell=lambda source: "%%capture output --no-stderr\n" + source,
    capture_and_time=lambda source: "%%capture\n%%time\n\n" + source,
    unknown_cell_command=lambda source: "%%timed_by_my_extension 3\n" + source,
    matplotlib_first=lambda source: "%matplotlib inline\n" + source,
    pip_first=lambda source: "!pip install -q numpy && \\\n    echo done\n" + source,
    magics_first=lambda source: "%load_ext autoreload\n%autoreload 2\n%config A.b = 'c'\n" + source,
    magics_last=lambda source: source + "\nplaces = !ls\nwhere = %pwd\n%timeit -n 1 0\nnp.sum?\n?np",
    magic_in_a_block=lambda source: "if True:\n    %time\n    !ls {1 + 1}\n" + source,
    help_at_the_end=lambda source: source + "\nprint??",
    # careful: all of str's line ends, of which Python knows three
    strange_line_ends=lambda source: "x = 'a\u2028b\x0c'\n%pwd\n" + source,
)
among_cells(
    pip="!pip install numpy matplotlib\n%pip install tqdm",
    bash="%%bash\nfor f in *; do echo $f; done",
    html="%%html\n<b>right</b>",
    writefile="%%writefile notes.txt\nnot Python at all",
    asks="name = input('Your name? ')\nprint('Hello', name.title())",
    raises="1 / 0",
    no_python="this is what I thought first",
    not_there="import a_library_of_mine",
    warns="import warnings\nwarnings.warn('old', DeprecationWarning)",
    to_stderr="import sys\nprint('hm', file=sys.stderr)",
    plots="import matplotlib.pyplot as plt\nfig, (ax, _) = plt.subplots(1, 2)\nax.plot([1, 2])\nplt.show();",
    widgets="from ipywidgets import interact\n@interact(x=(0, 9))\ndef show_it(x):\n    return x",
    displays="from IPython.display import Markdown\ndisplay(Markdown('*mine*'))",
    times="%time total = sum(range(9))\nassert total == 36",
    unicode_names="größe = 1\nσ = größe / 2  # ½",
    empty="",
    blank="   \n\n",
    comment="# TODO",
    leaves_at_once="raise SystemExit",
)


def in_list(**ways):
    """Functions from the list of cells to another list."""
    for name, change in ways.items():
        DAMAGES[name] = lambda notebook, change=change: notebook.update(cells=change(notebook["cells"]))


def is_check(cell):
    return text(cell).startswith("check(")


STREAM = {"output_type": "stream", "text": "a" * 4_000_000}
RAW = {"cell_type": "raw", "source": "1 / 0", "metadata": {}}
HEADING = {"cell_type": "heading", "level": 1, "source": "X"}
in_list(
    huge_outputs=lambda cells: code("0", outputs=[STREAM]) + cells,
    no_words=lambda cells: [cell for cell in cells if is_code(cell)],
    raw_cells=lambda cells: [each for cell in cells for each in (RAW, cell)],
    unknown_cells=lambda cells: [*cells, HEADING, None, 7, [], {}, {"outputs": 1}],
    no_checks=lambda cells: [cell for cell in cells if not is_check(cell)],
    checks_at_the_end=lambda cells: sorted(cells, key=is_check),
    answers_twice=lambda cells: [each for cell in cells for each in [cell] * (1 + answers(cell))],
    set_up_twice=lambda cells: cells + deepcopy([cell for cell in cells if "import" in text(cell)]),
    all_in_one_cell=lambda cells: code("\n\n".join(text(cell) for cell in cells if is_code(cell))),
)


@damage
def answers_from_last_to_first(notebook):
    cells = notebook["cells"]
    places = [place for place, cell in enumerate(cells) if answers(cell)]
    for place, cell in zip(places, [cells[place] for place in reversed(places)], strict=True):
        cells[place] = cell


@damage
def a_wrong_try_before(notebook):
    solved = "\n".join(map(text, filter(answers, notebook["cells"])))
    names = re.findall(r"^(?:def|class) (\w+)", solved, re.MULTILINE)
    notebook["cells"][:0] = code(*(f"def {name}(*everything):\n    return 0" for name in names))


@damage
def marks_of_solutions_lost(notebook):
    for cell in notebook["cells"]:
        cell["source"] = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", text(cell))


def damaged(name, stem):
    notebook = json.loads(stored(stem))
    data = DAMAGES[name](notebook)
    return data if isinstance(data, bytes) else dumped(notebook)
