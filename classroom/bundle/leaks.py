"""Is an answer in what a class is given? The right answers, those of the tests too, are looked for as code.

Two pieces of code are the same if Python reads them alike: comments, spaces and brackets do not count. Leaves
out answers in words, which no program recognizes.
"""

import ast
import re
from itertools import chain

import nbformat

from authoring.exercises import BEGIN

FUNCTIONS = ast.FunctionDef, ast.Lambda
FEWEST = 10  # parts of an answer as Python reads it: less than `return X.sum(axis=0)` is said everywhere


def leaks(files, project):
    """Return what must not be in a student's bundle, in sentences.

    Parameters
    ----------
    files : dict of str to bytes
        By their places.
    project : Path
        Whose solutions/ and tests/answers/ hold the answers.

    Returns
    -------
    list of str
        Empty if all is well.
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
        said = set(chain.from_iterable(_bodies(source, ast.walk) for source in sources))
        found += [f"{place} answers {name}" for name, bodies in secret if bodies <= said]
    return found


def _answers(project):
    """Return the right answers of solutions and tests: pairs of a name and the bodies of functions."""
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
    """Yield the functions that stand in no other one, methods among them."""
    waiting = [tree]
    for node in waiting:
        if isinstance(node, FUNCTIONS):
            yield node
        else:
            waiting += ast.iter_child_nodes(node)


def _bodies(source, walk):
    """Return the bodies of functions in a piece of code, as Python reads them, if they are not tiny."""
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
