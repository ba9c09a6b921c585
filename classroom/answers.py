"""A student's answer to an exercise: a definition in the notebook, or a text cell.

Holds `code_of`, `words_of`, `definitions` and `form`. Code is parsed, never run.
"""

import ast
import json

from classroom.faults import Refused
from classroom.submission import read


def definitions(data):
    """Find the top-level definitions of a notebook, the last one of each name.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict of str to ast.stmt
        Empty if `data` is not a notebook; cells that are not Python are skipped.
    """
    found = {}
    try:
        sources = read(data)
    except Refused:
        return found
    for source in sources:
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found |= {s.name: s for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
    return found


def code_of(data, name):
    """Return the source of a definition, as `ast.unparse` writes it; "" if there is none."""
    statement = definitions(data).get(name)
    return ast.unparse(statement) if statement else ""


def words_of(data, name):
    """Return the text of the cell for an answer in words; "" if there is none.

    Parameters
    ----------
    data : bytes
    name : str
        The exercise without its chapter: the cell's ``grade_id``.
    """
    try:
        cells = json.loads(data)["cells"]
        marked = [c for c in cells if c.get("metadata", {}).get("nbgrader", {}).get("grade_id") == name]
        source = marked[0]["source"] if marked else ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def form(statement):
    r"""Return the form of a definition: its syntax tree without comments, docstrings and own names.

    Two answers have the same form if they differ only in names and layout. Names of the library and of NumPy
    count as part of the form.

    Parameters
    ----------
    statement : ast.stmt

    Returns
    -------
    str

    Examples
    --------
    >>> one = ast.parse("def f(X):\n    Y = X + 1\n    return Y").body[0]
    >>> other = ast.parse("def f(A):\n    'Add.'\n    B = A + 1\n    return B").body[0]
    >>> form(one) == form(other)
    True
    """
    tree = ast.parse(ast.unparse(statement))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and isinstance(body[0], ast.Expr):
            if isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
                del body[0]
    own = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            own.setdefault(node.arg, f"v{len(own)}")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.setdefault(node.id, f"v{len(own)}")
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node is not tree.body[0]:
            own.setdefault(node.name, f"v{len(own)}")
    for node in ast.walk(tree):
        for field in ("arg", "id", "name"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, own.get(getattr(node, field), getattr(node, field)))
    return ast.dump(tree)
