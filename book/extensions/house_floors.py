"""The picture of the floors, drawn out of the imports: a page writes `{house-floors}` where it shall stand.

The rows are those of tests/floors.py, which a test enforces; the numbers are counted in the files. Leaves out
which floor a file belongs to, and why.
"""

import base64
import io
from collections import Counter
from pathlib import Path

from docutils import nodes
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.textpath import TextPath
from sphinx.util.docutils import SphinxDirective

from course.style import CONTEXT, FORWARD, INK, STYLE_SHEET
from tests.floors import AROUND, FIRST, GROUND, LAYERS, TOP, imports

LIBRARY = {  # from the top
    "a model in use": TOP,
    "layers": [f"layers.{name}" for name in LAYERS],
    "what every model needs": FIRST,
    "the ground: NumPy alone": GROUND,
}
WIDTH, GUTTER = 330, 34  # points: on a telephone a point is a pixel, and the picture as wide as the page
BOX, GAP, PADDING = 19, 5, 5
SIZE, SMALL = 10.5, 8.5


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
        for path in sorted([*project.glob("minigrad/**/*.py"), *project.glob("course/**/*.py")])
    }
    exported = imports(paths["minigrad.__init__"])
    public = {name.rpartition(".")[2]: name.rpartition(".")[0] for name in exported}

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

    found = {}
    for name, path in paths.items():
        if name not in ("minigrad.__init__", "minigrad.layers.__init__", "course.__init__"):
            found.setdefault(part(name), set()).update(map(part, imports(path)))
    return {name: (used & set(found)) - {name} for name, used in found.items()}


def rows_of_the_course(found):
    """Return the parts of the course in rows, from the top: each imports from lower rows alone."""
    level = {}
    for name in AROUND["course"]:  # lowest first
        below = [level[part] for part in found.get(f"course.{name}", ()) if part in level]
        level[f"course.{name}"] = 1 + max(below, default=-1)
    highest = max(level.values())
    return [[name for name in level if level[name] == row] for row in range(highest, -1, -1)]


def floors_in_words(found):
    """Return what the picture shows, in words."""
    library = "; ".join(f"{title}: {', '.join(names)}" for title, names in LIBRARY.items())
    course = "; ".join(", ".join(part.partition(".")[2] for part in row) for row in rows_of_the_course(found))
    users = Counter(name for names in found.values() for name in names)
    most = ", ".join(f"{name.partition('.')[2]} {count}" for name, count in users.most_common(3))
    return (
        "Floors of boxes, one box for each file; arrows lead only downwards. "
        f"The course stands above the library. Its rows from the top: {course}. "
        f"The library's floors from the top: {library}. The boxes that most files import: {most}."
    )


def draw_floors(found):
    """Draw the floors: a box for each file, with how many files import it, and arrows to lower floors.

    Parameters
    ----------
    found : dict of str to set of str
        What each file imports.

    Returns
    -------
    matplotlib Figure
    """
    users = Counter(name for names in found.values() for name in names)
    boxes, titles, floors, y = [], [], {}, 0

    def lay(names):
        """Lay boxes side by side, in as many lines as they need; return where they end."""
        nonlocal y
        x = GAP
        for name in names:
            label, count = name.split(".", 1)[1].removeprefix("layers."), str(users[name] or "")
            width = _width(label, SIZE) + 2 * PADDING + (_width(count, SMALL) + 8 if count else 2)
            if x + width > WIDTH - GUTTER:
                x, y = GAP, y - BOX - GAP
            boxes.append((x, y - BOX, width, label, count, name.startswith("minigrad")))
            x += width + GAP
        y -= BOX

    titles.append((y - 14, "course", 12))
    y -= 22
    for row in rows_of_the_course(found):
        lay(row)
        y -= 2 * GAP
    above = y + GAP
    titles.append((y - 16, "minigrad", 12))
    y -= 26
    for title, names in LIBRARY.items():
        titles.append((y - 9, title, 9.5))
        y -= 15
        top = y
        lay([f"minigrad.{name}" for name in names])
        floors[title] = (top + y) / 2
        y -= 2 * GAP

    with rc_context(fname=STYLE_SHEET, rc={"figure.constrained_layout.use": False}):
        figure = Figure(figsize=(WIDTH / 72, -y / 72))
        ax = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(y, 0))
        ax.set_axis_off()
        for height, text, size in titles:
            ax.text(GAP, height, text, fontsize=size, weight="bold" if size > 10 else "normal", color=INK)
        for x, bottom, width, label, count, ours in boxes:
            edge = FORWARD if ours else CONTEXT
            shape = "round,pad=0,rounding_size=4"
            ax.add_patch(
                FancyBboxPatch((x, bottom), width, BOX, boxstyle=shape, facecolor="white", edgecolor=edge)
            )
            ax.text(x + PADDING, bottom + 5.5, label, fontsize=SIZE, color=INK)
            ax.text(x + width - PADDING, bottom + 5.5, count, fontsize=SMALL, color=CONTEXT, ha="right")
        _draw_arrow(ax, (WIDTH - GUTTER, above), (WIDTH - GUTTER, above - 24))
        for lane, (start, ends) in enumerate(_arrows(found, floors)):
            x = WIDTH - GUTTER + 14 + 8 * (len(floors) - 2 - lane)
            lowest = min(ends)
            ax.plot([WIDTH - GUTTER, x, x], [start, start, lowest], color=CONTEXT, lw=1, ls="-", marker="")
            for end in ends:
                _draw_arrow(ax, (x, end), (WIDTH - GUTTER, end))
    return figure


def _arrows(found, floors):
    """Return for each floor of the library where its arrows start, and where they end: lower floors."""
    order = list(LIBRARY)
    for above, title in enumerate(order[:-1]):
        used = set().union(*(found[f"minigrad.{name}"] for name in LIBRARY[title]))
        lower = [name for name in order[above + 1 :] if used & {f"minigrad.{file}" for file in LIBRARY[name]}]
        # careful: a little apart, so that arrows that start and end on one floor do not meet
        yield floors[title] + 4, [floors[name] - 4 + 4 * above for name in lower]


def _draw_arrow(ax, start, end):
    """Draw a straight arrow."""
    style = {"arrowstyle": "-|>", "mutation_scale": 8, "color": CONTEXT, "linewidth": 1}
    ax.add_patch(FancyArrowPatch(start, end, shrinkA=0, shrinkB=0, **style))


def _width(text, size):
    """Return how wide a text is, in points."""
    return TextPath((0, 0), text, size=size).get_extents().width if text else 0


class HouseFloors(SphinxDirective):
    """The picture, with its words."""

    def run(self):
        """Draw it out of the files as they are."""
        project = Path(self.env.srcdir).parent
        for path in [*project.glob("minigrad/**/*.py"), *project.glob("course/**/*.py")]:
            self.env.note_dependency(path)
        found, picture = read_imports(project), io.BytesIO()
        draw_floors(found).savefig(picture, format="png", dpi=216, metadata={"Software": None})
        uri = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
        image = nodes.image(uri=uri, alt=floors_in_words(found), width="480px")
        return [nodes.paragraph("", "", image)]


def setup(app):
    """Tell Sphinx the word."""
    app.add_directive("house-floors", HouseFloors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
