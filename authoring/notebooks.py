"""One notebook: run from clean in a kernel of its own, and stored without what changes from run to run.

Holds `execute`, `tidy`, `without_outputs` and `as_text`. Leaves out which notebooks (``authoring.chapters``,
``authoring.exercises``, ``authoring.work``).
"""

import os
import re
from collections import Counter
from hashlib import sha256

import nbformat

from course import store

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("jupyter", "mystnb", "nbgrader", "tags")  # all else comes from an editor, and goes
ENVIRONMENT = {store.VARIABLE: "", "PYTHONHASHSEED": "0"}  # nothing stored, sets in the same order every time
SECONDS = 300  # for one cell
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class BuildError(Exception):
    """A notebook that cannot be made, and why."""


def execute(notebook, path):
    """Run a notebook's cells from the first to the last in a kernel of its own, in the notebook's folder.

    Parameters
    ----------
    notebook : NotebookNode
        Its outputs are replaced.
    path : Path
        Where it stands.

    Raises
    ------
    BuildError
        If a cell raised that is not tagged ``raises-exception``, took too long, or ended its kernel.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError
    from tqdm import tqdm

    with tqdm(total=len(notebook.cells), desc=f"{path.parent.name}/{path.name}", unit=" cells") as bar:
        client = NotebookClient(
            notebook,
            resources={"metadata": {"path": str(path.parent)}},
            timeout=SECONDS,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],  # what the kernel warns of is not the reader's business
            on_cell_start=lambda cell, cell_index: bar.update(),
        )
        try:
            client.execute(env={**os.environ, **ENVIRONMENT})
        except (CellControlSignal, DeadKernelError) as error:
            what = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error)
            line = notebook.cells[bar.n - 1].source.partition("\n")[0]
            raise BuildError(f"{path.name} is left as it was. Cell {bar.n}, `{line}`, says {what}") from error


def tidy(notebook):
    """Return a notebook without what changes from run to run and from machine to machine.

    Parameters
    ----------
    notebook : NotebookNode
        Left as it is.

    Returns
    -------
    NotebookNode
        Cells keep their ids; those without get one made from their source.
    """
    from course.widgets import strip_live

    notebook = strip_live(notebook)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": {"name": "python"}})
    notebook.nbformat_minor = 5
    twins = Counter()
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in CELL_METADATA if cell.metadata.get(key)}
        cell.metadata = nbformat.from_dict(kept)
        if not cell.get("id"):
            made = sha256(f"{cell.cell_type} {cell.source}".encode()).hexdigest()[:8]
            twins[made] += 1
            cell.id = f"{made}-{twins[made]}"
        for output in cell.get("outputs", ()):
            if output.output_type == "error":  # the frames of files say where they stand on this machine
                output.traceback = [
                    part for part in output.traceback if not COLOUR.sub("", part).startswith("File ")
                ]
    return notebook


def without_outputs(notebook):
    """Return, as bytes, a notebook whose outputs, which would answer every guess, are gone."""
    from nbconvert.preprocessors import ClearOutputPreprocessor

    cleared, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    return as_text(cleared).encode()


def as_text(notebook):
    """Return a notebook as it stands in its file."""
    return nbformat.writes(notebook, version=4) + "\n"
