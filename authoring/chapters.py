"""Run and store a chapter, or try all chapters on this machine.

Holds `run` and `try_all`. The steps for one notebook are in ``authoring.notebooks``.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import nbformat

from authoring.exercises import mark_cells
from authoring.notebooks import BuildError, as_text, execute, tidy
from course import store


def run(chapter, project=store.PROJECT):
    """Execute a chapter and its solutions in new kernels, and store them with their outputs.

    Parameters
    ----------
    chapter : str
        Its number: ``"04"``.
    project : Path

    Raises
    ------
    BuildError
        If there is no such chapter, or a cell without the tag ``raises-exception`` raised. The file is then
        unchanged.
    """
    solutions = [*project.glob(f"solutions/{chapter}_*/{chapter}_*.ipynb")]
    paths = [*project.glob(f"notebooks/{chapter}_*.ipynb"), *solutions]
    if not paths:
        raise BuildError(f"There is neither notebooks/{chapter}_*.ipynb nor a solution to it.")
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        if path in solutions:
            mark_cells(notebook, path.parent.name)
        execute(notebook, path)
        store.write(path, as_text(tidy(notebook)))


def try_all(project=store.PROJECT):
    """Execute every chapter in its own kernel without storing it, to test this machine.

    Parameters
    ----------
    project : Path

    Raises
    ------
    BuildError
        At the first cell that raises without the tag ``raises-exception``.
    """
    alone = {"max_workers": 1, "mp_context": get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(
        **alone
    ) as processes:  # a new process for each, since the sockets of many kernels get mixed up
        for path in sorted(project.glob("notebooks/*.ipynb")):
            processes.submit(_try, path).result()


def _try(path):
    execute(nbformat.read(path, as_version=4), path)
