"""A newcomer's steps: README's equal the Makefile's, and git finds its drivers."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "classroom/bundle"
NEEDS_MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="this machine has no make")
# Parts of a command that do not change its effect.
ASIDE = r"@|OMP_NUM_THREADS=1 |\$\(BIN\)/| --quiet| --compile-bytecode| \$\(LAB_ARGS\)|\s+#.*"
STEP = (
    r"\s*((?:python -m (?:pip install -?-[cr]|pip install --no-deps|authoring (?:lab|work)\b)|jupyter lab).*)"
)


def steps(text):
    """Return the steps in a text that set up the course and open it without make."""
    plain = re.sub(ASIDE, "", text).replace("uv pip install --python python", "python -m pip install")
    return re.findall(f"^{STEP}$", plain, re.MULTILINE)


def targets(text, *names):
    """Return the recipes of several of the Makefile's targets, in order."""
    return "\n".join(
        re.search(rf"^{re.escape(name)}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1] for name in names
    )


@pytest.mark.parametrize(
    ("page", "makefile", "ready"),
    [
        (ROOT / "README.md", ROOT / "Makefile", "$(READY)"),
        (BUNDLE / "student.md", BUNDLE / "student.mk", ".venv/ready"),
    ],
    ids=["the course", "a student's bundle"],
)
def test_the_plain_steps_are_those_of_make_lab(page, makefile, ready):
    plain = steps(page.read_text(encoding="utf-8"))
    assert plain == steps(targets(makefile.read_text(encoding="utf-8"), ready, "lab"))
    assert plain[-3:-1] == ["python -m authoring lab", "python -m authoring work"]
    assert plain[-1] == "jupyter lab --LabApp.default_url=lab/tree/work/notebooks/00_start.ipynb"


def test_the_workflow_runs_the_plain_steps_up_to_jupyterlab():
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))["jobs"]
    runs = [step["run"] for step in jobs["without-make"]["steps"] if "run" in step]
    assert steps("\n".join(runs)) == steps((ROOT / "README.md").read_text(encoding="utf-8"))[:-1]


def printed(*words, folder=ROOT, **environment):
    """Return the commands that make would run."""
    done = subprocess.run(
        ["make", "--dry-run", *words],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@NEEDS_MAKE
@pytest.mark.parametrize("bundle", ["student", "teacher"])
def test_a_term_is_given_on_make_s_command_line_and_is_not_the_terminal_s_type(bundle):
    assert "--term" not in printed(bundle, TERM="xterm-256color")
    assert "--term 2027-spring" in printed(bundle, "TERM=2027-spring", TERM="xterm-256color")


@NEEDS_MAKE
def test_the_browser_lab_includes_the_given_pyodide():
    assert "--pyodide" not in printed("lite")
    assert '--pyodide "a folder"' in printed("lite", "PYODIDE=a folder")


@NEEDS_MAKE
@pytest.mark.skipif(os.name == "nt", reason="the stand-in for nbdime is a script of sh")
def test_git_finds_its_notebook_drivers_in_a_folder_of_any_name(tmp_path):
    folder = tmp_path / "it's a $(test)"
    (folder / "below").mkdir(parents=True)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]

    def run(*command, at=folder):
        return subprocess.run(command, cwd=at, capture_output=True, text=True, check=True).stdout

    run("git", "init", "--quiet")
    for name in ("Makefile", ".gitattributes", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (folder / "below/one.ipynb").write_text("{}\n")
    run(*git, "add", ".")
    run(*git, "commit", "--quiet", "--message", "One notebook")
    recipe = printed(".venv/ready", folder=folder)
    run("sh", "-c", recipe[recipe.index("test ! -e .git") : recipe.index("touch ")])
    driver = folder / ".venv/bin/git-nbdiffdriver"
    driver.parent.mkdir(parents=True)
    driver.write_text('#!/bin/sh\necho "by cells: $1 $2"\n')
    driver.chmod(0o755)
    (folder / "below/one.ipynb").write_text("{ }\n")
    for place in (folder, folder / "below"):
        assert run("git", "diff", at=place) == "by cells: diff below/one.ipynb\n"
