"""The copy for recall: without prose and outputs, with empty functions, and complete once they are filled."""

import ast

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authoring.recall import STUB, emptied_source, recall_copy
from course.store import PROJECT

CHAPTERS = sorted(PROJECT.glob("notebooks/*.ipynb"))
DECORATED = '''class Root:
    """A root."""

    power = 0.5

    @property
    def half(self):
        """Return a half."""

        # the comment gives it away
        @remembered
        def inner():
            return 1

        return inner() / 2

    def of(self, x): return x ** self.power


print(Root().of(4))
'''


def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def signatures(source):
    """The names, arguments and docstrings of the functions of a cell that stand in no other one."""
    found, nodes = [], list(ast.parse(source).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
            nodes += node.body
        elif isinstance(node, ast.FunctionDef):
            found.append((node.name, ast.unparse(node.args), ast.get_docstring(node)))
    return found


def calls(source):
    """What a cell does besides defining: its calls, its assertions."""
    nodes = ast.parse(source).body
    return [ast.unparse(node) for node in nodes if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def test_bodies_go_and_names_arguments_docstrings_and_calls_stay():
    assert (
        emptied_source(DECORATED)
        == '''class Root:
    """A root."""

    power = 0.5

    @property
    def half(self):
        """Return a half."""
        raise NotImplementedError

    def of(self, x): return x ** self.power


print(Root().of(4))
'''
    )
    assert emptied_source("%matplotlib inline") == "%matplotlib inline"


def test_what_a_chapter_builds_is_its_tagged_cells():
    function, output = "def f(x):\n    return x", new_output("stream", text="5")
    empty = f"def f(x):\n    {STUB}"
    tagged = new_code_cell(function, metadata={"tags": ["same-as-minigrad.Linear", "raises-exception"]})
    chapter = new_notebook(
        cells=[
            new_markdown_cell("# 04 One\n\nWords.\n\n```python\n# no heading\n```"),
            new_code_cell(function, outputs=[output], execution_count=1),
            tagged,
            new_markdown_cell("Only words."),
            new_markdown_cell("## In code\n\nWords."),
            new_code_cell(f"{function}\n\n\nassert f(5) == 5"),
        ]
    )
    copy = recall_copy(chapter)
    nbformat.validate(copy)
    assert code(copy) == [function, empty, f"{function}\n\n\nassert f(5) == 5"]
    assert [cell.source for cell in copy.cells if cell.cell_type == "markdown"][::2] == [
        "# 04 One",
        "## In code",
    ]
    assert [cell.metadata.tags for cell in copy.cells if cell.cell_type == "code"][1] == ["raises-exception"]
    assert [cell.outputs for cell in copy.cells if cell.cell_type == "code"] == [[], [], []]


def test_a_chapter_that_builds_nothing_loses_all_bodies_and_one_without_functions_has_no_copy():
    title, function = new_markdown_cell("# 02 Two"), new_code_cell("def f(x):\n    return x")
    assert code(recall_copy(new_notebook(cells=[title, function]))) == [f"def f(x):\n    {STUB}"]
    assert recall_copy(new_notebook(cells=[title, new_code_cell("x = 5")])) is None


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_chapter_can_be_rebuilt_from_its_copy(path):
    chapter = nbformat.read(path, as_version=4)
    copy = recall_copy(chapter)
    if copy is None:
        assert path.stem == "00_start"
        return
    nbformat.validate(copy)
    pairs = list(zip(code(chapter), code(copy), strict=True))
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    assert changed
    for before, after in changed:
        assert STUB in after and signatures(before) == signatures(after)
        assert calls(before) == calls(after)
