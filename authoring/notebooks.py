"""Run one notebook in a new kernel, and store it without anything that changes from run to run.

Holds `execute`, `tidy`, `without_outputs` and `as_text`.
"""

import os
import re
from collections import Counter
from hashlib import sha256

import nbformat

from authoring.guesses import WrongGuess, settle, with_probes
from course import store

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = (
    "guess",
    "jupyter",
    "mystnb",
    "nbgrader",
    "right",
    "tags",
)  # all other metadata comes from an editor
ENVIRONMENT = {store.VARIABLE: "", "PYTHONHASHSEED": "0"}  # store nothing; iterate over sets in a fixed order
SECONDS = 300  # for one cell
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class BuildError(Exception):
    """Raised when a notebook cannot be built."""


def execute(notebook, path):
    """Run all cells of a notebook in a new kernel, in the notebook's folder.

    Parameters
    ----------
    notebook : NotebookNode
        Its outputs are replaced.
    path : Path
        The notebook's file.

    Raises
    ------
    BuildError
        If a cell raised without the tag ``raises-exception``, took too long, or ended its kernel; or if the
        answer to a guess cannot be computed.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError
    from tqdm import tqdm

    probed = with_probes(notebook)
    with tqdm(total=len(probed.cells), desc=f"{path.parent.name}/{path.name}", unit=" cells") as bar:
        client = NotebookClient(
            probed,
            resources={"metadata": {"path": str(path.parent)}},
            timeout=SECONDS,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],  # hide the kernel's own warnings
            on_cell_start=lambda cell, cell_index: bar.update(),
        )
        try:
            client.execute(env={**os.environ, **ENVIRONMENT})
        except (CellControlSignal, DeadKernelError) as error:
            what = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error)
            line = probed.cells[bar.n - 1].source.partition("\n")[0]
            raise BuildError(f"{path.name} is unchanged. Cell {bar.n}, `{line}`, failed: {what}") from error
    try:
        settle(probed)
    except WrongGuess as problems:
        raise BuildError(f"{path.name} is unchanged. Its guesses:\n{problems}") from problems


def tidy(notebook):
    """Return a notebook without anything that depends on the run or the machine.

    Parameters
    ----------
    notebook : NotebookNode
        Not changed.

    Returns
    -------
    NotebookNode
        Cells keep their ids; a cell without an id gets one made from its source.
    """
    from course.figures.widgets import strip_live

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
            if output.output_type == "error":  # file frames contain paths on this machine
                output.traceback = [
                    part for part in output.traceback if not COLOUR.sub("", part).startswith("File ")
                ]
    return notebook


def without_outputs(notebook):
    """Return a notebook as bytes without its outputs, which would give away the answers."""
    from nbconvert.preprocessors import ClearOutputPreprocessor

    cleared, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    return as_text(cleared).encode()


def as_text(notebook):
    """Return the text of a notebook's file."""
    return nbformat.writes(notebook, version=4) + "\n"
