"""Pyodide without a network: its core from npm, wheels for what is compiled, the rest as it is installed.

Holds `make`. What it makes has the form of Pyodide's own distribution, so that JupyterLite and Node take it
as they would take the public one. Leaves out the site itself (`book/lite.py`).
"""

import hashlib
import json
import shutil
from pathlib import Path

from book import lite

CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "package.json")
WANTED = ("ipython", "jedi", "matplotlib", "micropip", "numpy", "pillow", "tqdm")


def make(core, wheels, out):
    """Write a distribution that holds what the course needs, and nothing else.

    Parameters
    ----------
    core : Path
        The folder of npm's package `pyodide`.
    wheels : sequence of Path
        Folders with wheels for what is compiled; they are looked at before what is installed here.
    out : Path
        Made anew.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in CORE:
        shutil.copy(core / name, out)
    lock = json.loads((core / "pyodide-lock.json").read_text("utf-8"))
    kept, wanted = {}, list(WANTED)
    while wanted:
        name = wanted.pop().replace("_", "-").lower()
        if name in kept or name not in lock["packages"]:
            continue
        wheel = _wheel(name, wheels, out)
        if wheel is None:
            continue
        entry = lock["packages"][name]
        content = wheel.read_bytes()
        entry |= {"file_name": wheel.name, "version": wheel.name.split("-")[1]}
        entry["sha256"] = hashlib.sha256(content).hexdigest()
        kept[name] = entry
        wanted += entry["depends"]
    for entry in kept.values():
        entry["depends"] = [name for name in entry["depends"] if name.replace("_", "-").lower() in kept]
    lock["packages"] = kept
    (out / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def _wheel(name, folders, out):
    """Return a wheel in the distribution, put there from one of the folders or made of what is installed."""
    for folder in folders:
        for wheel in sorted(folder.glob(f"{name.replace('-', '_')}-*.whl")):
            return Path(shutil.copy(wheel, out))
    try:
        return lite.repacked(name, out)
    except lite.LiteError:
        return None  # what the public distribution has besides; an import that misses it will say so
