"""The steps that make notebooks: run a chapter and store it, make exercises/, copy both to work/.

Holds `run`, `try_all`, `make_exercises` and `copy_to_work`, and the command line:
``python -m course.build run 04``. Leaves out what is done to a solutions notebook (``course.release``).
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context

import nbformat

from course import store
from course.release import UnmarkedCell, learners_copy, mark_cells

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = ("jupyter", "mystnb", "nbgrader", "tags")  # all else comes from an editor, and goes
ENVIRONMENT = {store.VARIABLE: "", "PYTHONHASHSEED": "0"}  # nothing stored, sets in the same order every time
SECONDS = 300  # for one cell
PAGES = ("glossary.md", "notation.md", "references.*", "sources.md", "speed.md", "_static/speed_*.png")
COPIED = {"notebooks": ("**/*",), "exercises": ("**/*",), "book": PAGES}  # what chapters link to, as globs
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class BuildError(Exception):
    """A notebook that cannot be made, and why."""


def run(chapter, project=store.PROJECT):
    """Execute a chapter and its solutions from clean, and store them with their outputs.

    Parameters
    ----------
    chapter : str
        Its number: ``"04"``.
    project : Path

    Raises
    ------
    BuildError
        If there is no such chapter, or a cell raised that is not tagged ``raises-exception``; then the file
        is left as it was.
    """
    solutions = [*project.glob(f"solutions/{chapter}_*/{chapter}_*.ipynb")]
    paths = [*project.glob(f"notebooks/{chapter}_*.ipynb"), *solutions]
    if not paths:
        raise BuildError(f"There is neither notebooks/{chapter}_*.ipynb nor a solution of it.")
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        if path in solutions:
            mark_cells(notebook, path.stem)
        execute(notebook, path)
        store.write(path, _text(tidy(notebook)))


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


def try_all(project=store.PROJECT):
    """Execute every chapter in a kernel of its own, and store nothing: a proof that this machine can.

    Parameters
    ----------
    project : Path

    Raises
    ------
    BuildError
        At the first cell that raises and is not tagged ``raises-exception``.
    """
    alone = {"max_workers": 1, "mp_context": get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(**alone) as processes:  # a fresh one each: sockets of many kernels get mixed up
        for path in sorted(project.glob("notebooks/*.ipynb")):
            processes.submit(_try, path).result()


def _try(path):
    execute(nbformat.read(path, as_version=4), path)


def make_exercises(project=store.PROJECT, check=False):
    """Make exercises/ from solutions/.

    Parameters
    ----------
    project : Path
    check : bool
        Write nothing.

    Returns
    -------
    list of Path
        What was written; with `check`, what is out of date. An exercise without a solution is among them.
    """
    changed, wanted = [], set()
    for path in sorted(project.glob("solutions/*/*.ipynb")):
        notebook = tidy(nbformat.read(path, as_version=4))
        mark_cells(notebook, path.stem)
        text, target = (
            _text(learners_copy(notebook)),
            project / "exercises" / path.relative_to(project / "solutions"),
        )
        wanted.add(target)
        if not target.exists() or target.read_text("utf-8") != text:
            changed.append(target)
            if not check:
                store.write(target, text)
    for stale in sorted(set(project.glob("exercises/*/*.ipynb")) - wanted):
        changed.append(stale)
        if not check:
            stale.unlink()
    return changed


def copy_to_work(project=store.PROJECT):
    """Copy chapters, exercises and book pages to the work folder, never over what the learner changed.

    Parameters
    ----------
    project : Path

    Returns
    -------
    dict of str to dict of str to list of str
        For "notebooks", "exercises" and "book": which files are "new", "refreshed", "unchanged", or "yours".

    Raises
    ------
    BuildError
        If storing is off.

    Notes
    -----
    A file is the learner's as soon as it differs from the copy made last, whose hash stands in
    ``.copied.json``; of a notebook only what is written in its cells counts: opening it changes the rest.
    Notebooks are copied without their outputs, which would answer every guess.
    """
    work = store.folder()
    if work is None:
        raise BuildError(f"There is nowhere to copy to: storing is off ({store.VARIABLE} is empty).")
    record = work / ".copied.json"
    last = _hashes(record)
    report = {kind: {"new": [], "refreshed": [], "unchanged": [], "yours": []} for kind in COPIED}
    for source in (path for kind, names in COPIED.items() for path in _files(project / kind, names)):
        name, content = source.relative_to(project).as_posix(), _for_the_learner(source)
        there = (work / name).read_bytes() if (work / name).exists() else None
        if there is None:
            found = "new"
        elif _written(there) == _written(content):
            found = "unchanged"
        else:
            known = last.get(name) in (_hash(_written(there)), _hash(there))
            found = "refreshed" if known else "yours"
        if found in ("new", "refreshed"):
            store.write(work / name, content)
        if found != "yours":
            last[name] = _hash(_written(content))
        report[source.relative_to(project).parts[0]][found].append(source.name)
    store.write(record, json.dumps(last, indent=1, sort_keys=True) + "\n")
    return report


def main(arguments=None):
    """Run one step from the command line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m course.build", description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("run", help="execute chapters and solutions, store outputs").add_argument(
        "chapters", nargs="+"
    )
    exercises = steps.add_parser("exercises", help="make exercises/ from solutions/")
    exercises.add_argument(
        "--check", action="store_true", help="write nothing; fail if exercises/ is out of date"
    )
    steps.add_parser("try", help="execute every chapter, and store nothing")
    steps.add_parser("work", help="copy chapters and exercises to work/, never over what you changed")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.step == "run":
            for chapter in chosen.chapters:
                run(chapter)
        elif chosen.step == "try":
            try_all()
            print("Every chapter runs on this machine.")
        elif chosen.step == "work":
            for kind, files in copy_to_work().items():
                print(_told(kind, files))
        else:
            return _report_exercises(make_exercises(check=chosen.check), chosen.check)
    except (BuildError, UnmarkedCell) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _report_exercises(changed, check):
    """Print what was made or is out of date, and return the exit status."""
    names = ", ".join(path.stem for path in changed)
    if check and changed:
        print(
            f"exercises/ is out of date ({names}): run `python -m course.build exercises`.", file=sys.stderr
        )
        return 1
    print(f"exercises: {len(changed)} made" + (f" ({names})" if names else ", all were up to date"))
    return 0


def _for_the_learner(source):
    """Return what a learner gets of a file: a notebook without outputs, a page in plain Markdown."""
    if source.suffix == ".ipynb":
        return without_outputs(nbformat.read(source, as_version=4))
    if source.suffix == ".md":
        return _plain(source.read_text("utf-8")).encode()
    return source.read_bytes()


def _plain(page):
    """Return a page in the Markdown that JupyterLab shows: terms as headings, citations as keys."""

    def headed(glossary):
        return re.sub(r"^(?=\S)", "#### ", glossary[1], flags=re.MULTILINE)

    page = re.sub(r"^```\{glossary\}\n(.*?)^```$", headed, page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"\{cite:\w+\}`([^`]+)`", r"(\1)", page)
    return page.replace("```{bibliography}\n```", "The list is the file [references.bib](references.bib).")


def without_outputs(notebook):
    """Return, as bytes, a notebook whose outputs, which would answer every guess, are gone."""
    from nbconvert.preprocessors import ClearOutputPreprocessor

    cleared, _ = ClearOutputPreprocessor().preprocess(notebook, {})
    return _text(cleared).encode()


def _told(kind, files):
    """Return one line that says what was done with the files of a kind."""
    counts = ", ".join(
        f"{len(names)} {found}" for found, names in files.items() if names and found != "yours"
    )
    line = f"{kind}: {counts or 'nothing copied'}"
    if files["yours"]:
        line += f"; {len(files['yours'])} left alone, because you changed it: {', '.join(files['yours'])}"
    return line


def _files(folder, names):
    """Return the files in a folder that globs name, without what editors hide there."""
    paths = sorted(path for name in names for path in folder.glob(name) if path.is_file())
    return [
        path
        for path in paths
        if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
    ]


def _hashes(record):
    """Return the hashes of the copies made last; none if they are lost, and then no file is overwritten."""
    try:
        return dict(json.loads(record.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _written(content):
    """Return what is written in the cells of a notebook; another file as it is."""
    try:
        cells = json.loads(content)["cells"]
        return json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells]).encode()
    except (ValueError, KeyError, TypeError):
        return content


def _hash(content):
    """Return the hash of a file's content."""
    return sha256(content).hexdigest()


def _text(notebook):
    """Return a notebook as it stands in its file."""
    return nbformat.writes(notebook, version=4) + "\n"


if __name__ == "__main__":
    sys.exit(main())
