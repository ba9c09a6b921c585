"""What a student wrote as the answer to an exercise: a definition of the notebook, or a cell of words.

Holds `code_of`, `words_of`, `definitions` and `form`. Code is read, and never
run. Leaves out what is judged of it.
Not taught in a chapter: it belongs to the classroom.
"""

import ast
import json

from classroom.faults import Refused
from classroom.submission import read


def definitions(data):
    """Return what a notebook defines at the top of its cells: by name, the last definition of each.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict of str to ast.stmt
        Empty for what is no notebook; a cell that is not Python is left out.
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
    """Return the source of the definition under a name, written as Python writes it; empty without one."""
    statement = definitions(data).get(name)
    return ast.unparse(statement) if statement else ""


def words_of(data, name):
    """Return the text of the cell that was handed out for an answer in words; empty without one.

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

    Two answers have one form if one becomes the other by other names and another layout. What is called
    under a name of the library's or of NumPy's keeps it.

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
