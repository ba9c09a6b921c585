"""The notebooks for Colab: a first cell fetches the course, there and nowhere else, and the links lead on."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from authoring import colab

ROOT = Path(__file__).parents[2]
ADDRESS = "https://github.com/someone/the-course"
COPIES = "https://colab.research.google.com/github/someone/the-course/blob/colab"
RELATIVE = re.compile(r"\]\((?!https?://|#)[^()\s]*\.\w+(#[^()]*)?\)")


def project(folder, setting):
    """Make a project of one chapter and its exercises, whose pyproject.toml has a setting."""
    (folder / "pyproject.toml").write_text(f"[tool.minigrad]\n{setting}\n", encoding="utf-8")
    prose = new_markdown_cell("[back](03_gradcheck.ipynb#say-it)")
    code = new_code_cell(
        "6 * 7", outputs=[new_output("execute_result", {"text/plain": "42"}, execution_count=1)]
    )
    for place in ("notebooks/04_closures.ipynb", "exercises/04_closures/04_closures_exercises.ipynb"):
        (folder / place).parent.mkdir(parents=True)
        nbformat.write(new_notebook(cells=[prose, code]), folder / place)
    return folder


@pytest.fixture
def pip(monkeypatch):
    """What is asked of any program, which is not started."""
    asked = []

    def run(command, **options):
        assert options == {"check": True}
        asked.append(command)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a program was started"))
    return asked


def copied(*cells):
    """Return the cells of the copy of a chapter that has some cells."""
    chapter = new_notebook(cells=list(cells))
    return colab.colab_copy(chapter, "notebooks/04_closures.ipynb", ADDRESS).cells


def first_cell(*cells):
    """Return the code of the first cell of such a copy."""
    return copied(*cells)[0].source


def test_the_first_cell_does_nothing_elsewhere(pip):
    names = {}
    before = set(sys.modules)
    exec(first_cell(), names)
    assert pip == [] and set(names) == {"__builtins__", "sys"} and set(sys.modules) == before


def test_the_first_cell_fetches_the_course_on_colab(pip, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    exec(first_cell(), {})
    wanted = ["minigrad-course @ git+https://github.com/someone/the-course"]
    assert pip == [[sys.executable, "-m", "pip", "install", "--quiet", *wanted]]


def test_a_chapter_of_many_processes_fetches_what_starts_them(pip, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    exec(first_cell(new_code_cell("from course.stand_ins import mpi")), {})
    assert pip[0][5:] == ["minigrad-course @ git+https://github.com/someone/the-course", "mpi4py", "mpich"]


def test_every_copy_is_a_sound_notebook_whose_links_are_whole():
    paths = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*/*.ipynb")]
    stems = [path.stem.removesuffix("_exercises") for path in paths]
    assert len(stems) == 2 * len(set(stems)) >= 50  # each chapter, and its exercises
    for path in paths:
        copy = colab.colab_copy(nbformat.read(path, 4), path.relative_to(ROOT).as_posix(), ADDRESS)
        nbformat.validate(copy)
        prose = "\n".join(cell.source for cell in copy.cells if cell.cell_type == "markdown")
        assert RELATIVE.search(prose) is None, path.name
        for place in re.findall(re.escape(COPIES) + r"/([^)]*)", prose):
            assert (ROOT / place).exists(), f"{path.name} links to {place}"
        for place in re.findall(re.escape(ADDRESS) + r"/blob/HEAD/([^)#]*)", prose):
            assert (ROOT / place).exists(), f"{path.name} links to {place}"


def test_links_lead_to_the_copies_and_code_stays_as_it_is():
    prose = (
        "[a](05_chains.ipynb#in-code) [b](../exercises/04_closures/04_closures_exercises.ipynb) "
        "[c](../book/glossary.md) "
        "[d](https://example.org/e.md) [f](#here) `backwards[i](dY)` and [0](x.shape)"
    )
    assert copied(new_markdown_cell(prose))[1].source == (
        f"[a]({COPIES}/notebooks/05_chains.ipynb) "
        f"[b]({COPIES}/exercises/04_closures/04_closures_exercises.ipynb) "
        f"[c]({ADDRESS}/blob/HEAD/book/glossary.md) "
        "[d](https://example.org/e.md) [f](#here) `backwards[i](dY)` and [0](x.shape)"
    )


def test_copies_are_written_without_outputs_and_old_ones_go(tmp_path):
    course = project(tmp_path, f'repository = "{ADDRESS}"')
    (tmp_path / "out/notebooks").mkdir(parents=True)
    (tmp_path / "out/notebooks/03_gone.ipynb").write_text("{}", encoding="utf-8")
    written = colab.write_copies(tmp_path / "out", course)
    assert sorted(written) == sorted((tmp_path / "out").glob("**/*.ipynb")) and len(written) == 2
    copy = nbformat.read(written[0], as_version=4)
    assert copy.cells[0].source == first_cell() and copy.cells[2].outputs == []
    original = nbformat.read(course / "notebooks/04_closures.ipynb", as_version=4)
    assert original.cells[1].outputs and "back](03" in original.cells[0].source


def test_without_an_address_nothing_is_written_and_the_error_says_what_to_do(tmp_path, monkeypatch, capsys):
    course = project(tmp_path, 'repository = ""')
    with pytest.raises(ValueError, match=r"has no address: write.* into the table \[tool.minigrad\]"):
        colab.write_copies(tmp_path / "out", course)
    monkeypatch.setattr(colab, "write_copies", lambda out: (_ for _ in ()).throw(ValueError("no address")))
    assert colab.main(["--out", str(tmp_path / "out")]) == 1 and capsys.readouterr().err == "no address\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        '"https://github.com/someone/the-course.git"',
        '"https://github.com/someone/the-course/"',
        '"https://github.com/someone"',
        '"http://github.com/someone/the-course"',
        '"git@github.com:someone/the-course"',
        '"https://example.org/someone/the-course"',
        '"https://github.com/someone/the course"',
        "5",
    ],
)
def test_an_address_that_is_none_is_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match='Write "https://github.com/OWNER/NAME"'):
        colab.repository(project(tmp_path, f"repository = {wrong}"))


def test_an_address_is_read_and_need_not_be_there(tmp_path):
    assert colab.repository(tmp_path) == ""
    assert colab.repository(project(tmp_path, f'repository = "{ADDRESS}"')) == ADDRESS
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert colab.repository(tmp_path) == ""
