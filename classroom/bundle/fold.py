"""A file of checks as a student gets it: without right answers, and folded up.

A check needs its typical mistakes, to name the one that was made, and some of them are a right answer that is
used wrongly. What nobody needs goes; what is left is packed, so that nobody who only looks around reads it.
It is a curtain, not a lock.
"""

import ast
import base64
import textwrap
import zlib

PACKED = '''"""The checks of {what}, folded up: what is wrong is found by asking, not by reading."""

import base64
import zlib

FOLDED = """
{text}
"""
exec(compile(zlib.decompress(base64.b64decode(FOLDED)), __file__, "exec"))
'''


def folded(source, what):
    """Return a file of checks without the right answers that no mistake needs, folded up.

    Parameters
    ----------
    source : str
    what : str
        Whose checks they are, for the reader.

    Returns
    -------
    str
    """
    packed = base64.b64encode(zlib.compress(without_answers(source).encode(), 9)).decode()
    return PACKED.format(what=what, text="\n".join(textwrap.wrap(packed, 100)))


def unfolded(source):
    """Return what a folded file holds, or the file itself.

    Examples
    --------
    >>> unfolded(folded("import math", "nothing")), unfolded("x = 2")
    ('import math', 'x = 2')
    """
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "FOLDED":
            return zlib.decompress(base64.b64decode(statement.value.value)).decode()
    return source


def without_answers(source):
    r"""Return a file of checks without the right answers that no mistake needs, and what only they use.

    Parameters
    ----------
    source : str

    Returns
    -------
    str

    Examples
    --------
    >>> source = "@a.right\ndef shift(n):\n  return half(n)\ndef half(n):\n  return n >> 1\na = halve()"
    >>> print(without_answers(source))
    a = halve()
    """
    body = [statement for statement in ast.parse(source).body if not _is_call_of_right(statement)]
    for statement in filter(is_right, body):  # plain functions now, which go with the rest that nobody uses
        statement.decorator_list = [call for call in statement.decorator_list if not _names_right(call)]
    while True:
        used = {node.id for statement in body for node in ast.walk(statement) if _is_read(node)}
        kept = [statement for statement in body if _asks(statement) or _named(statement) & used]
        if len(kept) == len(body):
            return "\n\n".join(ast.unparse(statement) for statement in body)
        body = kept


def _is_read(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def is_right(statement):
    """Say whether a statement attaches a right answer: by a decorator, or by a call."""
    decorators = getattr(statement, "decorator_list", [])
    return _is_call_of_right(statement) or any(map(_names_right, decorators))


def _is_call_of_right(statement):
    called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return called and _names_right(statement.value.func)


def _names_right(call):
    return isinstance(call, ast.Attribute) and call.attr == "right"


def _named(statement):
    """Return the names that a function, a class or an assignment gives."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and not _is_read(node)}


def _asks(statement):
    """Say whether a statement stays whoever uses it: an exercise, a check, a mistake, an import."""
    plain = isinstance(statement, ast.FunctionDef | ast.ClassDef) and not statement.decorator_list
    constant = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Call)
    return not plain and not constant
