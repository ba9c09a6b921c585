"""The floors of the house, as its imports make them: a page writes `{house-floors}` where their table stands.

A file stands one row above the highest file that it imports. Leaves out which imports are allowed, and why: a
test holds that rule.
"""

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

SOURCES = ("minigrad/**/*.py", "course/**/*.py")
HOUSES = {"course": "The course", "minigrad": "The library"}  # from the top


def read_imports(project):
    """Return which files of the house each file imports.

    Parameters
    ----------
    project : Path

    Returns
    -------
    dict of str to set of str
        "minigrad.layer", "minigrad.layers.linear"; of the course its parts: "course.checks", "course.store".
        A public name, ``from minigrad import Linear``, counts for the file that holds it.
    """
    paths = {
        ".".join(path.relative_to(project).with_suffix("").parts): path
        for pattern in SOURCES
        for path in sorted(project.glob(pattern))
    }
    public = dict(
        reversed(dotted.rpartition(".")[::2]) for dotted in _imported_names(paths["minigrad.__init__"])
    )

    def part(dotted):
        """Return the file of the library, or the part of the course, that a dotted name belongs to."""
        house, *names = dotted.split(".")
        if house == "course":
            return ".".join([house, *names[:1]])
        if house == "minigrad" and names and names[0] in public:
            return public[names[0]]
        while house == "minigrad" and names and ".".join([house, *names]) not in paths:
            names.pop()
        return ".".join([house, *names])

    imports = {}
    for name, path in paths.items():
        if name not in ("minigrad.__init__", "minigrad.layers.__init__", "course.__init__"):
            imports.setdefault(part(name), set()).update(map(part, _imported_names(path)))
    return {name: (used & set(imports)) - {name} for name, used in imports.items()}


def _imported_names(path):
    """Return the dotted names that a file imports, also inside its functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def floors(imports, house):
    """Return the files of one house in rows, from the top.

    Parameters
    ----------
    imports : dict of str to set of str
        What each file imports.
    house : str
        "minigrad" or "course".

    Returns
    -------
    list of list of str

    Raises
    ------
    ExtensionError
        If files import each other in a circle.
    """
    inside = {
        name: {lower for lower in used if lower.startswith(f"{house}.")}
        for name, used in imports.items()
        if name.startswith(f"{house}.")
    }
    height = {}
    try:
        for name in TopologicalSorter(inside).static_order():
            height[name] = 1 + max((height[lower] for lower in inside[name]), default=-1)
    except CycleError as error:
        circle = ", ".join(error.args[1])
        raise ExtensionError(f"these files import each other in a circle: {circle}.") from None
    return [
        sorted(name for name in height if height[name] == row)
        for row in range(max(height.values(), default=-1), -1, -1)
    ]


def floors_as_table(imports):
    """Return, in Markdown, a table of the floors in which each file says how many files import it."""
    users = Counter(lower for used in imports.values() for lower in used)
    lines = []
    for house, title in HOUSES.items():
        rows = floors(imports, house)
        lines += ["", f"| Row | {title}: its files, and how many import each |", "|--:|---|"]
        for place, names in enumerate(rows):
            cells = (f"`{name.removeprefix(f'{house}.')}` {users[name] or ''}".strip() for name in names)
            lines.append(f"| {len(rows) - 1 - place} | {', '.join(cells)} |")
    return "\n".join(lines)


class HouseFloors(SphinxDirective):
    """The table."""

    def run(self):
        """Make it out of the files as they are."""
        project = Path(self.env.srcdir).parent
        for pattern in SOURCES:
            for path in project.glob(pattern):
                self.env.note_dependency(path)
        return self.parse_text_to_nodes(floors_as_table(read_imports(project)), allow_section_headings=False)


def setup(app):
    """Tell Sphinx the word."""
    app.add_directive("house-floors", HouseFloors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
