"""Reading submissions: the sources are found even in damaged notebooks, and everything else is ignored."""

import builtins
import re
import sys
import time
import warnings
from pathlib import Path

import nbformat
import pytest

from classroom import stand_ins, submission
from classroom.faults import GradingFault, Refused
from course.checks import exercises
from tests.classroom.damaged import DAMAGES, SOLUTIONS, STEMS, code, damaged, dumped, stored


def as_names(sources, monkeypatch):
    """Run the cells as the sandbox does, among stand-ins, and return the names they leave."""
    names = {"display": stand_ins.Inert(), "get_ipython": stand_ins.Shell, "input": lambda prompt="": ""}
    modules = "course matplotlib matplotlib.pyplot ipywidgets IPython IPython.display".split()
    with monkeypatch.context() as context, warnings.catch_warnings(action="ignore"):
        for module in modules:
            context.setitem(sys.modules, module, stand_ins.Inert())
        for source in sources:
            try:
                exec(compile(source, "cell", "exec"), names)
            except (Exception, SystemExit):
                pass  # an accident of one cell
    return names


def pairs():
    """Every damage on the fourth chapter's notebook, and each on one of the others in turn."""
    others = [(name, STEMS[1 + place % (len(STEMS) - 1)]) for place, name in enumerate(DAMAGES)]
    return [(name, STEMS[0]) for name in DAMAGES] + others


def test_every_damage_changes_the_notebook():
    assert all(damaged(name, STEMS[0]) != stored(STEMS[0]) for name in DAMAGES)


@pytest.mark.parametrize(("name", "stem"), pairs())
def test_a_right_notebook_that_was_damaged_still_answers_every_exercise(name, stem, monkeypatch, capsys):
    names = as_names(submission.read(damaged(name, stem)), monkeypatch)
    asked = [exercise for exercise in exercises() if exercise.stem == stem and not exercise.by_hand]
    assert asked
    for exercise in asked:
        exercise.judge(names[exercise.short])  # raises where it is not right


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_a_whole_notebook_is_read_as_nbformat_reads_it(path):
    cells = nbformat.read(path, as_version=4).cells
    assert submission.read(path.read_bytes()) == [cell.source for cell in cells if cell.cell_type == "code"]


# sources


def notebook_of(*sources):
    return dumped({"cells": code(*sources)})


@pytest.mark.parametrize(
    ("source", "becomes"),
    [
        ("x = 5 % 3", "x = 5 % 3"),
        ("%pwd", "get_ipython().run_line_magic('pwd', '')\n"),
        ("!ls", "get_ipython().system('ls')\n"),
        ("%%time\nx = 1", "x = 1"),
        ("%%time", ""),
        ("%%bash\nls", ""),
        ("%%time\n%%bash\nls", ""),
        ("'''\n%pwd\n'''", "'''\n%pwd\n'''\n"),  # text, not a command
        (["x = 1", "y = 2"], "x = 1\ny = 2"),
        ([], ""),
        (None, ""),
    ],
)
def test_a_source(source, becomes):
    assert submission.read(notebook_of(source)) == [becomes]


def test_a_cell_that_ipython_cannot_read_stays_as_it_is(monkeypatch):
    from IPython.core.inputtransformer2 import TransformerManager

    def give_up(self, cell):
        raise RuntimeError("Input transformation still changing after 500 iterations.")

    monkeypatch.setattr(TransformerManager, "transform_cell", give_up)
    assert submission.read(notebook_of("%pwd")) == ["%pwd"]


@pytest.mark.parametrize(
    "source",
    [
        "%pwd\n" * 600,  # read again 600 times
        "x = 1\n" * 40_000 + "%pwd",
        "a" * 2000 + " ?",  # one line, in which a name is looked for from every place
    ],
    ids=["many commands", "long cell", "long line"],
)
def test_slow_sources_are_not_passed_to_ipython(source):
    assert submission.read(notebook_of(source, "%pwd"))[0].rstrip("\n") == source.rstrip("\n")


def test_all_cells_together_may_not_keep_ipython_long():
    source = "%pwd\n" * 100
    read = submission.read(notebook_of(*[source] * 100))
    assert read[0] != source and read[-1] == source


def test_reading_runs_nothing(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a submission was compiled or run")

    for name in ("compile", "exec", "eval"):
        monkeypatch.setattr(builtins, name, refuse)
    assert submission.read(notebook_of("x = 1", "%%time\ny = 2")) == ["x = 1", "y = 2"]


# refusals


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (bytes(range(256)) * 9, "not JSON"),  # hostile/malformed.py has more of each
        (b"[" * 100_000, "nested too deep"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "a number in it is too long"),
        (b"null", "not a notebook"),
        (b"{}", "not a notebook with cells"),
        (b'{"worksheets": [3, {"cells": 4}, {}]}', "not a notebook with cells"),
        (b" " * 5_000_001, "5.0 MB, and the limit is 5 MB"),
        (notebook_of(*["0"] * 501), "501 cells, and the limit is 500"),
    ],
)
def test_a_file_without_sources_is_refused_with_the_reason(data, reason):
    with pytest.raises(Refused, match=re.escape(reason)) as refused:
        submission.read(data)
    assert str(refused.value).endswith(".") and len(str(refused.value)) < 120


def test_submissions_at_the_limits_are_read():
    data = notebook_of(*["0"] * 500)
    assert len(submission.read(data + b" " * (5_000_000 - len(data)))) == 500


# files


def test_a_file_is_read_whole_and_a_link_is_refused(tmp_path):
    path, link = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    path.write_bytes(b"{}")
    link.symlink_to(path)
    assert submission.read_file(path) == b"{}"
    with pytest.raises(Refused, match="the file is a link"):
        submission.read_file(link)


def test_a_folder_or_a_file_that_is_too_large_is_refused(tmp_path):
    with pytest.raises(Refused, match="not a regular file"):
        submission.read_file(tmp_path)
    with pytest.raises(Refused, match="not a regular file"):
        submission.read_file(tmp_path / "missing.ipynb")
    with open(tmp_path / "large.ipynb", "wb") as file:
        file.truncate(6_000_000)
    with pytest.raises(Refused, match="without its outputs, the file has 6.0 MB"):
        submission.read_file(tmp_path / "large.ipynb")
    with open(tmp_path / "larger.ipynb", "wb") as file:
        file.truncate(21_000_000)
    with pytest.raises(Refused, match="21.0 MB, and the limit is 20 MB: clear its outputs"):
        submission.read_file(tmp_path / "larger.ipynb")


@pytest.mark.parametrize(
    "piece", [b"[],", b'"outputs":[],', b'"outputs":[', b'"",', b'"x"outputs":[', b'"', b"\\", b'\\"']
)
def test_a_large_file_of_strange_outputs_is_refused_soon(piece):
    data = b'{"cells": [{"outputs": [' + piece * (19_000_000 // len(piece))
    begin = time.process_time()
    with pytest.raises(Refused):
        submission.read(data)
    assert time.process_time() - begin < 10


def test_a_file_that_the_machine_cannot_read_is_the_grader_s_fault(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"{}")

    def broken(self):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "read_bytes", broken)
    with pytest.raises(GradingFault, match="not graded, because the file cannot be read: Input/output error"):
        submission.read_file(path)
