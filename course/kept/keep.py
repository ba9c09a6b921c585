"""The learner's own library, which grows exercise by exercise.

`keep` stores the source of a right answer; `mine` returns it in any later notebook, or the course's version
if there is none. Checking is in ``course.checks``, the work folder in ``course.store``. Used from chapter 04
on.
"""

import ast
import inspect
import linecache
import textwrap
from importlib import import_module
from types import ModuleType

import minigrad
from course import store
from course.checks import CheckFailed, exercises
from course.store import folder

__all__ = ["NotKept", "folder", "keep", "mine"]


class NotKept(Exception):
    """An answer cannot be kept in the learner's library; the message says why."""

    def _render_traceback_(self):
        """Return the lines a notebook shows instead of a traceback."""
        return textwrap.wrap(f"Not kept. {self}", 96)


def keep(thing):
    """Store the source of an answer that passes its check in the learner's own library.

    Parameters
    ----------
    thing : function or class
        The learner's own, defined in a notebook.

    Raises
    ------
    NotKept
        If no exercise keeps this name, if the source cannot be found, or if the source, run without the rest
        of the notebook, does not pass the exercise's check.
    """
    name = getattr(thing, "__name__", type(thing).__name__).lower()
    exercise = _exercise_that_keeps(name)
    if folder() is None:
        print(f"{name}: not stored, because storing is off (MINIGRAD_WORK is empty).")
        return
    source = f'"""{name}: kept from the exercise {exercise.name}."""\n\n{_with_imports(thing)}'
    try:
        exercise.judge(_made_by(source, _file(name)))
    except CheckFailed as no:
        alone = " (It was run on its own: define what it needs inside it, or import it there.)"
        raise NotKept(f"{no}{alone if isinstance(no.__cause__, NameError) else ''}") from no
    store.write(_file(name), source)
    print(f'{name}: kept. In any later notebook, mine("{name}") returns it.')


def mine(name):
    """Return the learner's own version, or the library's if none works; print which one it is.

    Parameters
    ----------
    name : str
        The name under which it was kept: ``"linear"``.

    Returns
    -------
    function or class

    Raises
    ------
    NotKept
        If no exercise keeps this name.
    """
    exercise = _exercise_that_keeps(name)
    instead = f"{name}: {exercise.ours}"
    if folder() is None:
        print(f"{instead}, because storing is off (MINIGRAD_WORK is empty).")
    elif not _file(name).exists():
        print(f"{instead}, until you keep your own: it is the exercise {exercise.name}.")
    else:
        try:
            theirs = _made_by(_file(name).read_text("utf-8"), _file(name))
            exercise.judge(theirs)
        except (CheckFailed, OSError, ValueError) as no:
            print(f"{instead}, because yours no longer passes its check: {no}")
        else:
            print(f"{name}: yours, kept from the exercise {exercise.name}.")
            return theirs
    module, _, attribute = exercise.ours.rpartition(".")
    return getattr(import_module(module), attribute)


def _exercise_that_keeps(name):
    """Return the exercise whose answer is kept under a name."""
    known = {exercise.keeps: exercise for exercise in exercises() if exercise.keeps}
    if name in known:
        return known[name]
    what = ", ".join(f"{kept} ({exercise.name})" for kept, exercise in known.items())
    raise NotKept(f"No exercise keeps {name!r}; exercises keep {what}.")


def _file(name):
    """Return the path of a kept answer."""
    return folder() / "library" / f"{name}.py"


def _with_imports(thing):
    """Return the source of a function or class, after the imports that it needs."""
    source, scope = _source(thing)
    used = sorted(
        {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)} & set(scope)
    )
    modules = [name for name in used if isinstance(scope[name], ModuleType)]
    public = [name for name in used if name in minigrad.__all__ and scope[name] is getattr(minigrad, name)]
    lines = [f"import {scope[name].__name__} as {name}" for name in modules]
    if public:
        lines.append(f"from minigrad import {', '.join(public)}")
    return "\n".join([*lines, "\n", source]) if lines else f"\n{source}"


def _source(thing):
    """Return the source of a function or class, and its global names.

    Notes
    -----
    ``inspect.getsource`` cannot find a class defined in a notebook; the code of its methods names the cell.
    """
    parts = vars(thing).values() if isinstance(thing, type) else [thing]
    for function in filter(inspect.isfunction, map(inspect.unwrap, parts)):
        lines = linecache.getlines(function.__code__.co_filename)
        for node in ast.walk(ast.parse("".join(lines))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == thing.__name__:
                first = min(part.lineno for part in [node, *node.decorator_list])
                if first <= function.__code__.co_firstlineno <= node.end_lineno:
                    source = textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
                    return source.rstrip() + "\n", function.__globals__
    raise NotKept(
        f"The source of {thing.__name__} cannot be found: write it with def or class in a cell of its own."
    )


def _made_by(source, path):
    """Run the source of a kept answer in its own namespace, and return the answer."""
    module = ModuleType(f"library.{path.stem}")
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except Exception as error:
        raise CheckFailed(f"it does not load: {type(error).__name__}: {error}") from error
    for key, thing in vars(module).items():
        if key.lower() == path.stem and getattr(thing, "__module__", None) == module.__name__:
            return thing
    raise CheckFailed(f"it defines nothing called {path.stem}")
