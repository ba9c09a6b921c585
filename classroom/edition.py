"""The folder that the sandbox sees: the student edition of the library, and the files of the sandbox's end.

An edition has what the chapters up to a given one have built, and its dependencies. A definition is complete
or left out, never rewritten. No edition's `minigrad` exports a name of a later chapter; a few such names are
in its files, because an earlier definition uses them (Linear initializes with `lecun`). ``course.curriculum``
lists what each chapter builds.
"""

import ast
import compileall
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import copy, rmtree
from tempfile import TemporaryDirectory, gettempdir

import minigrad
from course.checks import interrupt
from course.curriculum import BUILT
from course.store import write

LIBRARY, HERE = Path(minigrad.__file__).parent, Path(__file__).parent
RECENT = 3600  # seconds; a process in another container only seems to have ended


def make(stem, folder):
    """Write the student edition of `minigrad` for a chapter.

    Parameters
    ----------
    stem : str
        The chapter: ``"04_closures"``.
    folder : Path
        The folder for the package, which is compiled so that it is imported as fast as the library.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     make("01_slope", Path(folder))
    ...     sorted(path.name for path in Path(folder, "minigrad").rglob("*.py"))
    ['__init__.py', '__init__.py', 'numerical.py', 'shapes.py']
    """
    for place, content in files(int(stem[:2])).items():
        write(folder / "minigrad" / place, content)
    compileall.compile_dir(folder / "minigrad", quiet=2)


def folder(chapter):
    """Return the folder that the sandbox sees: the child, and the library up to the chapter."""
    return Path(_temporary(chapter).name)


@cache
def _temporary(chapter):
    """Write an edition's folder; the cache keeps the object that removes it when this process ends."""
    remove_orphans(Path(gettempdir()))
    temporary = TemporaryDirectory(prefix=f"edition-{os.getpid()}-", ignore_cleanup_errors=True)
    place = Path(temporary.name)
    try:
        make(chapter, place)
        for path in (HERE / "child.py", HERE / "wire.py", HERE / "stand_ins.py", Path(interrupt.__file__)):
            copy(path, place / path.name)
        compileall.compile_dir(place, quiet=2)  # once here, instead of at every start of a sandbox
    except BaseException:
        temporary.cleanup()
        raise
    return temporary


def remove_orphans(folder):
    """Remove editions left by killed processes, unless they are less than an hour old.

    Parameters
    ----------
    folder : Path
        The system's folder for temporary files; an edition's is called ``edition-PROCESS-...``.
    """
    for place in folder.glob("edition-*-*"):
        with suppress(ValueError, OverflowError, OSError):  # not an edition, or gone already
            if time.time() - place.stat().st_mtime < RECENT:
                continue
            try:
                os.kill(int(place.name.split("-")[1]), 0)
            except ProcessLookupError:
                rmtree(place, ignore_errors=True)


@cache
def files(chapter):
    """Return the files of a chapter's edition: path in the package to contents. `chapter` is a number."""
    places = {path.relative_to(LIBRARY).as_posix(): path for path in sorted(LIBRARY.rglob("*.py"))}
    texts = {_module(place): path.read_text("utf-8") for place, path in places.items()}
    bodies = {module: ast.parse(text).body for module, text in texts.items()}
    names = {name for name, built in BUILT.items() if built <= chapter}
    modules = names & set(bodies)  # modules that `minigrad` does not export are included whole
    roots = {("minigrad", name) for name in {"__version__", "__all__"} | names - modules}
    roots |= {(module, name) for module in modules for node in bodies[module] for name in _defined(node)}
    kept = _needed(roots, bodies)
    modules = {module for module, _ in kept}
    kept_files = {
        place: _cut(texts[module], {name for owner, name in kept if owner == module})
        for place, module in ((place, _module(place)) for place in places)
        if any(f"{other}.".startswith(f"{module}.") for other in modules)
    }
    data = {path.name: path.read_bytes() for path in LIBRARY.glob("*.npz")}
    used = {name: d for name, d in data.items() if any(name in text for text in kept_files.values())}
    return kept_files | used


def _module(place):
    """Return the dotted name of one of the library's files."""
    return ".".join(["minigrad", *place.removesuffix(".py").split("/")]).removesuffix(".__init__")


def _needed(roots, bodies):
    """Return the (module, name) pairs on which `roots` depend, `roots` included."""
    needed, waiting = set(), list(roots)
    while waiting:
        module, name = waiting.pop()
        if module in bodies and (module, name) not in needed:
            needed.add((module, name))
            for statement in bodies[module]:
                defined = _defined(statement)
                if name in defined or not defined:  # a statement that defines nothing always runs
                    waiting += _uses(statement, module, name)
    return needed


def _defined(statement):
    """Return the names that a top-level statement defines."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {_bound(alias) for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _bound(alias):
    """Return the name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _uses(statement, module, name):
    """Return the (module, name) pairs that a statement uses; of a top-level import, only those of `name`."""
    found = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.append((module, node.id))
        elif isinstance(node, ast.ImportFrom):
            wanted = [alias for alias in node.names if node is not statement or _bound(alias) == name]
            found += [(node.module, alias.name) for alias in wanted]
    return found


def _cut(text, kept):
    """Reduce a file to the names in `kept`; a comment belongs to the statement below it."""
    lines, pieces, end = text.splitlines(keepends=True), [], 0
    for statement in ast.parse(text).body:
        above, end = end, statement.end_lineno
        defined = _defined(statement)
        if defined <= kept:
            pieces += lines[above:end]
        elif defined & kept and isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [alias for alias in statement.names if _bound(alias) in kept]
            pieces += [*lines[above : statement.lineno - 1], ast.unparse(statement), "\n"]
        elif defined & kept:  # two names in one assignment
            pieces += lines[above:end]
    return "".join(pieces)
