"""The student editions: each has the names of its chapters so far, and every solution runs with its own."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import course
import minigrad
from authoring.house import imported_names
from classroom import edition, stand_ins, submission
from course.curriculum import BUILT

PROJECT = Path(__file__).parents[2]
SOLUTIONS = sorted(PROJECT.glob("solutions/*/*.ipynb"))
STEMS = [path.parent.name for path in SOLUTIONS]
BEGIN = f"""
import json, sys
sys.path[:0] = [sys.argv[1], {str(Path(stand_ins.__file__).parent)!r}]
import stand_ins
stand_ins.install()
"""
RUN = """
names, accidents = {}, []
for place, source in enumerate(json.loads(sys.stdin.read())):
    try:
        exec(compile(source, f"<cell {place}>", "exec"), names)
    except BaseException as error:
        accidents.append(f"cell {place}: {type(error).__name__}: {error}")
files = {module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "minigrad"}
print("\\n" + json.dumps([accidents, sorted(names), sorted(files)]))
"""
MODULES = [f"minigrad.{name}" for name in ("beyond.graph", "beyond.bridge", "checkpoint", "learner")]
LOOK = """
import importlib, minigrad
names, modules = json.loads(sys.stdin.read())
there, importable = [], []
for name in names:
    there += [name] if callable(getattr(minigrad, name, None)) else []  # a file may have the name
    try:
        scope = {}
        exec(f"from minigrad import {name}", scope)
        importable += [name] if callable(scope[name]) else []
    except ImportError:
        pass
for name in modules:
    try:
        importlib.import_module(name)
        importable.append(name)
    except ModuleNotFoundError:
        pass
print(json.dumps([there, importable, minigrad.__all__, minigrad.__version__]))
"""


def python(folder, program, given="", *options):
    """Run a program among the stand-ins, with an edition and NumPy alone, as the sandbox does."""
    command = [sys.executable, "-I", "-W", "error", *options, "-c", BEGIN + program, str(folder)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def answer(folder, program, given=""):
    return json.loads(python(folder, program, given).stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def editions(tmp_path_factory):
    """A function that makes the edition of a chapter, once."""
    made = {}

    def of(stem):
        if stem not in made:
            made[stem] = tmp_path_factory.mktemp(stem)
            edition.make(stem, made[stem])
        return made[stem]

    return of


def sources(folder):
    return {path.relative_to(folder / "minigrad").as_posix(): path for path in folder.rglob("*.py")}


def defined_in(path):
    """The names that a file defines itself; not what it imports."""
    nodes = ast.parse(path.read_text("utf-8")).body
    return {
        name
        for node in nodes
        if not isinstance(node, ast.Import | ast.ImportFrom)
        for name in edition._defined(node)
    }


def homes(chapter):
    """Where the names that the chapters up to one have built are defined: dotted names of modules."""
    names = [name for name, built in BUILT.items() if built <= chapter]
    return {name if "." in name else getattr(minigrad, name).__module__ for name in names}


@pytest.mark.parametrize("path", SOLUTIONS, ids=STEMS)
def test_every_solution_runs_against_its_edition(path, editions):
    cells = submission.read(path.read_bytes())
    accidents, names, files = answer(editions(path.parent.name), RUN, cells)
    assert accidents == []
    asked = re.findall(rf'check\("{path.parent.name}\.(\w+)"', "\n".join(cells))
    assert asked and set(asked) <= set(names)
    assert all(file.startswith(str(editions(path.parent.name))) for file in files)


@pytest.mark.parametrize("stem", STEMS)
def test_an_edition_has_the_names_up_to_its_chapter_and_no_later_ones(stem, editions):
    built = [name for name in minigrad.__all__ if BUILT[name] <= int(stem[:2])]
    there, importable, public, version = answer(editions(stem), LOOK, [minigrad.__all__, MODULES])
    assert there == built and public == built and version == minigrad.__version__
    assert sorted(importable) == sorted([*built, *homes(int(stem[:2])) & set(MODULES)])


def imported_by(path):
    """The modules of the library from which a file imports."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.module for node in nodes if isinstance(node, ast.ImportFrom)} & set(sys.modules)


@pytest.mark.parametrize("stem", STEMS)
def test_every_file_has_built_names_or_their_dependencies(stem, editions):
    there = {edition._module(place): path for place, path in sources(editions(stem)).items()}
    needed = homes(int(stem[:2]))
    assert needed <= set(there)
    while more := set().union(*(imported_by(there[module]) for module in needed)) & set(there) - needed:
        needed |= more
    packages = {"minigrad", "minigrad.beyond", "minigrad.check", "minigrad.layers"}
    assert set(there) - needed <= packages
    assert (editions(stem) / "minigrad/digits.npz").exists() == (BUILT["digits"] <= int(stem[:2]))


# Names of later chapters that an earlier definition needs: they are in its file, but not in `minigrad`.
NEEDED = {
    "ShapeError": range(1, 12),
    "Layer": range(3, 4),  # gradcheck makes layers of functions
    "Parameter": range(3, 4),
    "Sequential": range(3, 5),  # `>>` makes one
    "as_layer": range(3, 5),
    "observed": range(3, 12),  # Layer.initialize looks on
    "Buffer": range(3, 10),  # the walk through a model looks for them
    "lecun": range(4, 10),  # where Linear starts
    "array_module": range(4, 21),
    "to_numpy": range(4, 21),  # `like` asks for it
}


@pytest.mark.parametrize("stem", STEMS)
def test_only_names_needed_by_earlier_code_are_in_a_file_before_their_chapter(stem, editions):
    chapter = int(stem[:2])
    defined = set().union(*(defined_in(path) for path in sources(editions(stem)).values()))
    early = {name for name in defined & set(BUILT) if BUILT[name] > chapter}
    early -= {"ReLU"} if chapter >= 11 else set()  # graph.py has its own
    assert early == {name for name, chapters in NEEDED.items() if chapter in chapters}


def test_definitions_are_those_of_the_library(editions):
    for stem in STEMS:
        for place, path in sources(editions(stem)).items():
            text = (edition.LIBRARY / place).read_text("utf-8")
            for part in re.split(r"\n\n\n", path.read_text("utf-8")):
                if part.lstrip().startswith(("def ", "class ", "@")):
                    assert part.strip("\n") in text


def test_the_last_edition_is_the_library(editions):
    last = sources(editions("99_end"))
    library = {path.relative_to(edition.LIBRARY).as_posix() for path in edition.LIBRARY.rglob("*.py")}
    assert set(last) == library
    for place, path in last.items():
        assert path.read_text("utf-8") == (edition.LIBRARY / place).read_text("utf-8")


def test_an_edition_is_compiled_so_that_it_is_imported_fast(editions):
    compiled = python(editions("21_gpu"), "import minigrad; print(minigrad.layer.__cached__)").stdout.strip()
    assert Path(compiled).is_file()


def test_an_edition_may_be_made_again(editions, tmp_path):
    for _ in range(2):
        edition.make("07_learning", tmp_path)
    assert sources(tmp_path).keys() == sources(editions("07_learning")).keys()
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]  # no passing names


# cutting, on files small enough to be read

LIBRARY = {
    "lib.a": "import os\nfrom lib.b import one, two\n\n# why early\nearly = one\n\n# why\nlate = two, os\n",
    "lib.b": "one, three = 1, 3\ntwo = 2\nprint(three)\n",
    "lib.c": "def within():\n    from lib.b import two\n    return two\n",
}
BODIES = {module: ast.parse(text).body for module, text in LIBRARY.items()}


def test_what_a_name_needs_is_followed_through_imports_and_into_functions():
    needed = edition._needed({("lib.a", "early")}, BODIES)
    assert {("lib.a", "one"), ("lib.b", "one"), ("lib.b", "three")} <= needed  # print(three) runs as well
    assert not {("lib.b", "two"), ("lib.a", "os")} & needed
    assert ("lib.b", "two") in edition._needed({("lib.c", "within")}, BODIES)


def test_a_cut_takes_comments_along_and_shortens_imports():
    cut = edition._cut(LIBRARY["lib.a"], {"early", "one"})
    assert cut == "\nfrom lib.b import one\n\n# why early\nearly = one\n".removeprefix("\n")
    assert edition._cut(LIBRARY["lib.a"], {"early", "one", "late", "two", "os"}) == LIBRARY["lib.a"]
    assert edition._cut(LIBRARY["lib.b"], {"one"}) == "one, three = 1, 3\nprint(three)\n"


# the stand-ins


def test_the_names_of_course_exist(editions):
    names = sorted(set(course.__all__))
    program = (
        "from course import *\nprint(json.dumps(sorted({*json.loads(sys.stdin.read())} & {*globals()})))"
    )
    assert answer(editions("04_closures"), program, names) == names


STAND_INS = {
    "modules": "import matplotlib.pyplot as plt, IPython.display, ipywidgets as w, course.figures.slopes",
    "names": "from matplotlib import pyplot, cm\nfrom IPython.display import HTML, display\nHTML('a')",
    "unpacking": "fig, ((a, b), c) = plt.subplots(2, 2)\nline, = a.plot([1])\nn, _, _ = plt.hist(X)",
    "unpacking some": "first, *rest = plt.subplots(2)",
    "iterating": "assert [ax for ax in plt.subplots()] == list(zip(plt.axes, X)) == []",
    "settings": "rc = plt.rcParams\nrc['a'] = 1\nrc.update({'b': 2})\ndel rc['a']\nrc.x = 3\ndel rc.x",
    "with": "with plt.style.context('dark'):\n    plt.show()",
    "text": "assert f'{plt.a:.3f}{plt.b!r}{plt.c}' == str(plt.d) == ''",
    "numbers": "assert int(plt.a) == float(plt.b) == len(plt.c) == 0 and [7][plt.d] == 7",
    "operators": "plt.a + 1, 2 * plt.b, -plt.c, plt.d @ X, X * plt.e, plt.a < 1, 1 - plt.a, plt.a ** 2",
    "truth": "assert not plt.a and 1 not in plt.a and plt.a != plt.b and not isinstance(1, plt.Axes)",
    "arrays": "assert np.asarray(plt.a).size == 0",
    "copies": "import copy\ncopy.deepcopy(plt.a), copy.copy(plt.b)",
    "decorators": "@w.interact(x=1)\ndef f(x):\n    return x\nassert f(3) == 3",
    "bare decorators": "@w.interact\nclass A:\n    x = 3\nassert A.x == 3",
    "classes": "class Mine(w.Box):\n    def __init__(self):\n        super().__init__(1, a=2)\nMine().b.c()",
    "checks": "from course import check, hint, keep\ncheck('a', f), hint('a'), keep(f)",
    "guesses": "from course import guesses\nguesses.ask('04_closures')",
    "own things": "from course import mine\nimport minigrad\nassert mine('linear') is minigrad.Linear",
    "things of nobody": "from course import mine\nmine('sgd')(3)",
    "gpu": "from course import stand_in, gpu\nimport sys\n"
    "with stand_in() as cupy:\n    import cupy as own\n    assert cupy is own and cupy.ones(3).sum() == 3\n"
    "    len(cupy.transfers), cupy.cuda.Device(0)\n"
    "assert 'cupy' not in sys.modules\nassert gpu() is sys.modules.pop('cupy')",
    "bars": "from tqdm.auto import tqdm, trange\nbar = tqdm(range(3), desc='a')\n"
    "assert [i for i in bar if not bar.set_postfix(a=1)] == [0, 1, 2] == list(trange(3)) and len(bar) == 3\n"
    "with tqdm(total=3) as bar:\n    bar.update()",
    "input": "assert input() == input('Name? ') == ''\nbreakpoint()",
    "display": "display(3, 4)",
    "commands": "get_ipython().system('exit 1')\nget_ipython().run_line_magic('pwd', '')",
    "output of commands": "files = get_ipython().getoutput('ls')\nfiles[0], [file for file in files]",
    "timed": "get_ipython().run_line_magic('time', 'timed = 4')\nassert timed == 4",
    "timed value": "assert get_ipython().run_line_magic('timeit', '-n 1 -r1 -q 2 * 3') == 6",
    "timed inside": "def f(X):\n    return get_ipython().run_line_magic('time', 'X + 1')\nassert f(2) == 3",
    "timed option alone": "get_ipython().run_line_magic('time', '-1')",
    "asked by Python": "assert not hasattr(plt.a, '__array__') and not hasattr(plt, '__path_of_mine__')",
}
SCENE = """
import numpy as np
import matplotlib.pyplot as plt, ipywidgets as w
accidents, X = [], np.ones(3)
def f(X): return X
for name, source in json.loads(sys.stdin.read()).items():
    try:
        exec(compile(source, name, "exec"), dict(np=np, plt=plt, w=w, X=X, f=f))
    except BaseException as error:
        accidents.append(f"{name}: {type(error).__name__}: {error}")
print("\\n" + json.dumps(accidents))
"""


def test_stand_ins_accept_anything(editions):
    assert answer(editions("04_closures"), SCENE, STAND_INS) == []


def test_modules_without_a_stand_in_are_missing(editions):
    wrong = {
        "missing": "import a_library_of_mine",
        "wrong": "get_ipython().run_line_magic('time', 'a b')",
        "later": "import minigrad.beyond.graph",
    }
    accidents = [accident.split(": ")[1] for accident in answer(editions("04_closures"), SCENE, wrong)]
    assert accidents == ["ModuleNotFoundError", "SyntaxError", "ModuleNotFoundError"]


def test_stand_ins_need_numpy_and_the_standard_library_alone():
    names = imported_names(Path(stand_ins.__file__).read_text("utf-8"))
    assert {name.partition(".")[0] for name in names} <= {"numpy"} | sys.stdlib_module_names


def test_editions_of_processes_that_are_gone_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    kept = [f"edition-{os.getpid()}-a", "edition-x-y", "edition-1-other", "another-5-a"]
    for name in (*kept, f"edition-{gone.pid}-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "child.py").write_text("")
        os.utime(tmp_path / name, (0, 0))
    kept.append(f"edition-{gone.pid}-new")
    (tmp_path / kept[-1]).mkdir()
    edition.remove_orphans(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)
