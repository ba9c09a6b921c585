"""The project's import graph, and its picture: a house in which each floor imports only lower floors.

Holds `imported_names`, for one file; `read_imports`, for all; `floors`, which puts each file one floor above
its highest import; and `write_house`. ``tests/house/test_floors.py`` has the rule for imports.
"""

import ast
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

from authoring.notebooks import BuildError
from course import store
from course.colours import INK

PLACE = "book/_static/house.svg"
FOLDERS = {  # folders with code, and their contents
    "tests": "the tests",
    "book": "the published book",
    "benchmarks": "timing",
    "classroom": "grading a class",
    "authoring": "making the course",
    "notebooks": "the chapters",
    "solutions": "solved exercises",
    "course": "modules for the notebooks",
    "minigrad": "the library: NumPy only",
}
OPEN = ("course", "minigrad")  # folders drawn with their files


def imported_names(source, everywhere=True):
    r"""Return the dotted names that a piece of code imports.

    Parameters
    ----------
    source : str
    everywhere : bool
        Include imports inside functions; otherwise only those at the top.

    Returns
    -------
    set of str

    Raises
    ------
    BuildError
        If an import is relative.

    Examples
    --------
    >>> sorted(imported_names("import ast\nfrom minigrad.layer import Layer"))
    ['ast', 'minigrad.layer.Layer']
    """
    tree = ast.parse(source)
    nodes = list(ast.walk(tree)) if everywhere else tree.body
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise BuildError(f"line {node.lineno}: write the import in full, without dots.")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def sources(project=store.PROJECT):
    """Collect the project's code: every Python file, and the cells of every notebook.

    Returns
    -------
    dict of str to str
        Dotted name to code: "minigrad.layer", "notebooks.04_closures"; a package has its folder's name.
    """
    code, transform_cell = {}, TransformerManager().transform_cell  # %timeit becomes a call
    for folder in FOLDERS:
        for path in sorted((project / folder).rglob("*.py")):
            dotted = ".".join(path.relative_to(project).with_suffix("").parts)
            code[dotted.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
        for path in (
            sorted((project / folder).rglob("*.ipynb")) if folder in ("notebooks", "solutions") else ()
        ):
            cells = nbformat.read(path, as_version=4).cells
            importing = (
                cell.source for cell in cells if cell.cell_type == "code" and "import" in cell.source
            )
            code[f"{folder}.{path.stem}"] = "\n".join(filter(_is_python, map(transform_cell, importing)))
    return code


def _is_python(source):
    """Report whether a cell is valid Python; a cell with a syntax error imports nothing."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def read_imports(code):
    """Find the project's files that each file imports; an imported name counts as its file.

    Parameters
    ----------
    code : dict of str to str
        Returned by `sources`.

    Returns
    -------
    dict of str to set of str

    Examples
    --------
    >>> read_imports({"a": "", "b": "from a import x"})
    {'a': set(), 'b': {'a'}}
    """
    imports = {}
    for name, source in code.items():
        imports[name] = set()
        for used in imported_names(source):
            while used and used not in code:
                used = used.rpartition(".")[0]
            imports[name] |= {used} - {"", name}
    return imports


def gathered(imports, room):
    """Group imports by room; `room` maps a file to its room, or to None.

    Examples
    --------
    >>> gathered({"a.x": {"a.y", "b.z"}, "a.y": set(), "b.z": set()}, lambda name: name[0])
    {'a': {'b'}, 'b': set()}
    """
    rooms = {}
    for name, used in imports.items():
        if room(name) is not None:
            rooms.setdefault(room(name), set()).update(map(room, used))
    return {name: used - {name, None} for name, used in rooms.items()}


def floors(imports):
    """Sort the rooms into floors, from the top; each room is one floor above its highest import.

    Parameters
    ----------
    imports : dict of str to set of str

    Returns
    -------
    list of list of str

    Raises
    ------
    BuildError
        If rooms import each other in a cycle.

    Examples
    --------
    >>> floors({"layer": {"shapes"}, "shapes": set(), "losses": {"shapes"}})
    [['layer', 'losses'], ['shapes']]
    """
    height = {}
    try:
        for name in TopologicalSorter(imports).static_order():
            height[name] = 1 + max((height[lower] for lower in imports.get(name, ())), default=-1)
    except CycleError as error:
        circle = ", ".join(error.args[1])
        raise BuildError(f"these import each other in a cycle: {circle}.") from None
    top = max(height.values(), default=-1)
    return [sorted(name for name in height if height[name] == row) for row in range(top, -1, -1)]


def _room_inside(folder):
    """Return a function from a file to its room inside a folder: a file or a subfolder."""

    def room(name):
        top, _, rest = name.partition(".")
        return rest.partition(".")[0] if top == folder and rest else None

    return room


# ---- the drawing

WIDTH, MARGIN, GAP = 960, 16, 8
ROW, HEAD, LETTER = 28, 30, 8.4  # heights of a row of files and of a folder's name; width of a letter


@dataclass(frozen=True)
class Box:
    """A rectangle with text: x, y, width and height in pixels, a CSS class, a name and a note."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    name: str
    note: str = ""

    def svg(self):
        """Draw the box as SVG, with a folder's text at its top left and a file's in the middle."""
        frame = (
            f'<rect class="{self.kind}" x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" '
            f'height="{self.height:g}" rx="4"/>'
        )
        if self.kind == "file":
            x, y = self.x + self.width / 2, self.y + self.height / 2 + 4.5
            return f'{frame}\n<text class="code middle" x="{x:g}" y="{y:g}">{escape(self.name)}</text>'
        words = f'<tspan class="code strong">{escape(self.name)}/</tspan>'
        words += f'<tspan dx="10">{escape(self.note)}</tspan>'
        return f'{frame}\n<text x="{self.x + 12:g}" y="{self.y + 20:g}">{words}</text>'


def _in_rows(names, width):
    """Break names into rows of at most `width` pixels."""
    rows, used = [[]], 0.0
    for name in names:
        needed = len(name) * LETTER + 16 + GAP
        if rows[-1] and used + needed > width:
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += needed
    return rows


def _spans(names, x, width, words=len):
    """Return (name, x, width) for names side by side, each as wide as its text needs."""
    free = width - GAP * (len(names) - 1) - LETTER * sum(map(words, names))
    spans = []
    for name in names:
        wide = LETTER * words(name) + free / len(names)
        spans.append((name, x, wide))
        x += wide + GAP
    return spans


def _storey(name, imports, x, y, width):
    """Return the boxes of one folder: its frame and, if it is open, its files in rows."""
    boxes, bottom = [], y + HEAD
    if name in OPEN:
        bottom += 6
        for floor in floors(gathered(imports, _room_inside(name))):
            for row in _in_rows(floor, width - 2 * MARGIN):
                spans = _spans(row, x + MARGIN, width - 2 * MARGIN)
                boxes += [Box(left, bottom, wide, ROW - 4, "file", file) for file, left, wide in spans]
                bottom += ROW
            bottom += 4
        bottom += 4
    return [Box(x, y, width, bottom - y, "folder", name, FOLDERS[name]), *boxes], bottom


def _length_of_words(folder):
    """Return the number of letters in a folder's frame."""
    return len(folder) + len(FOLDERS[folder])


def house(project=store.PROJECT):
    """Draw the picture of the house as SVG.

    Parameters
    ----------
    project : Path

    Returns
    -------
    str
    """
    imports = read_imports(sources(project))
    boxes, y = [], 2.0
    for row in floors(gathered(imports, lambda name: name.partition(".")[0])):
        bottoms = []
        for name, x, width in _spans(sorted(row, key=list(FOLDERS).index), 2, WIDTH - 4, _length_of_words):
            more, bottom = _storey(name, imports, x, y, width)
            boxes += more
            bottoms.append(bottom)
        y = max(bottoms) + GAP
    drawn = "\n".join(box.svg() for box in boxes)
    return FRAME.format(width=WIDTH, height=y + 4, style=STYLE, ground=y - GAP / 2 + 1, drawn=drawn)


DAY = f"--ink: {INK}; --soft: #5c5c5c; --line: #c9c3d6; --room: #faf8fd; --file: #ece6f6;"
NIGHT = "--ink: #e8e6ec; --soft: #b5b1bd; --line: #55506a; --room: #1d1b24; --file: #322c42;"
STYLE = f"""
.house {{ {DAY} }}
@media (prefers-color-scheme: dark) {{ .house {{ {NIGHT} }} }}
html[data-theme="light"] .house {{ {DAY} }}
html[data-theme="dark"] .house {{ {NIGHT} }}
"""
STYLE += """.house { margin-bottom: 1.15rem; }
.house text { font: 15px var(--pst-font-family-base, Georgia, serif); fill: var(--soft); }
.house .code { font: 14px var(--pst-font-family-monospace, Menlo, Consolas, monospace); fill: var(--ink); }
.house .strong { font-weight: 600; }
.house .middle { text-anchor: middle; }
.house .folder { fill: var(--room); stroke: var(--line); }
.house .file { fill: var(--file); }
.house .ground { stroke: var(--ink); stroke-width: 3; }
"""
FRAME = """<svg class="house" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" role="img" \
aria-labelledby="house-title house-words">
<title id="house-title">The house, from the ground up</title>
<desc id="house-words">Each folder and each file is above everything that it imports.</desc>
<style>{style}</style>
{drawn}
<line class="ground" x1="0" x2="{width}" y1="{ground:g}" y2="{ground:g}"/>
</svg>
"""


def write_house(project=store.PROJECT):
    """Write the picture, which CONTRIBUTING and the book show."""
    store.write(project / PLACE, house(project))
