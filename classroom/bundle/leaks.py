"""Search the students' bundle for answers, both from the solutions and from the tests.

Two pieces of code are equal if their syntax trees are; comments, spaces and brackets are ignored. Answers in
words are not found.
"""

import ast
import re
from itertools import chain

import nbformat

from authoring.exercises import BEGIN

FUNCTIONS = ast.FunctionDef, ast.Lambda
FEWEST = 10  # nodes of an answer's syntax tree; code shorter than `return X.sum(axis=0)` is common


def leaks(files, project):
    """List, in sentences, the contents that must not be in the students' bundle.

    Parameters
    ----------
    files : dict of str to bytes
        Path to contents.
    project : Path
        The project, which has the answers in solutions/ and tests/answers/.

    Returns
    -------
    list of str
        Empty if nothing was found.
    """
    found, secret = [], _answers(project)
    for place, content in files.items():
        if place.startswith(("solutions/", "tests/")):
            found.append(f"{place} is for teachers")
        if place.endswith(".ipynb"):
            notebook = nbformat.reads(content.decode(), 4)
            sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
            if any(cell.get("outputs") for cell in notebook.cells):
                found.append(f"{place} has outputs")
            if any(BEGIN in cell.source for cell in notebook.cells):
                found.append(f"{place} has a solution")
        else:
            sources = [content.decode()] if place.endswith(".py") else []
        present = set(chain.from_iterable(_bodies(source, ast.walk) for source in sources))
        found += [f"{place} answers {name}" for name, bodies in secret if bodies <= present]
    return found


def _answers(project):
    """Collect the right answers of solutions and tests, as pairs of a name and function bodies."""
    answers = []
    for path in sorted(project.glob("solutions/*/*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "code" and BEGIN in cell.source:
                name = cell.metadata.get("nbgrader", {}).get("grade_id")
                answers.append((f"{path.parent.name}.{name}", _bodies(cell.source, _outermost)))
    for path in sorted(project.glob("tests/answers/ch*.py")):
        for statement in ast.parse(path.read_text("utf-8")).body:
            if re.search(r"^@?right\(", ast.unparse(statement), re.MULTILINE):
                name = f"an exercise of {path.stem}, in line {statement.lineno}"
                answers.append((name, _bodies(ast.unparse(statement), _outermost)))
    return [(name, bodies) for name, bodies in answers if bodies]


def _outermost(tree):
    """Yield the functions and methods that are not inside another function."""
    waiting = [tree]
    for node in waiting:
        if isinstance(node, FUNCTIONS):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _bodies(source, walk):
    """Dump the syntax trees of the function bodies in a piece of code, except tiny ones."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with a magic command, or one that is broken on purpose
        return set()
    bodies = set()
    for node in walk(tree):
        if isinstance(node, FUNCTIONS):
            body = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
            if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):  # the docstring
                body = body[1:]
            if sum(1 for statement in body for _ in ast.walk(statement)) >= FEWEST:
                bodies.add("\n".join(map(ast.dump, body)))
    return bodies
