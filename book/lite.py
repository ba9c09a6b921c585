"""The course in the browser: a JupyterLite site beside the book, with Python in the page.

Build it from the root of the project, or with `make lite`:

    python -m book.lite

Holds `build`, and `repacked`, which makes a wheel again of an installed package. A page of the site fetches
Python, NumPy and Matplotlib from Pyodide's public distribution; everything else lies in the site. `live.json`
tells the pages of the book the same, whose cells run without the site (`_static/live`), and `editions.json`
which edition of each notebook the site has. Leaves out what runs
differently there (`course`, each stand-in in its own file).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from authoring.work import written

PROJECT = Path(__file__).resolve().parent.parent
SITE = PROJECT / "book" / "_build" / "html" / "lite"
SCRIPTS = [PROJECT / "book" / name for name in ("lite_heading.js", "lite_notices.js")]
KERNEL = "@jupyterlite/pyodide-kernel-extension"
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", KERNEL)
OF_PYODIDE = ("matplotlib", "numpy", "pillow", "tqdm")  # what its distribution has, by name
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
CARRIED = ("comm", "ipywidgets")  # what it lacks and the course needs: pure Python
FROM_THE_WORKER = "../../../../pypi"  # the site's wheels, seen from the script that loads them
SETTINGS = {  # of JupyterLab
    "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
}


class LiteError(Exception):
    """Why the site cannot be built, and what to do."""


def build(site=SITE, pyodide=None):
    """Build the site.

    Parameters
    ----------
    site : Path
        Replaced, once the build has come to its end.
    pyodide : Path, optional
        A folder with a distribution of Pyodide. The site then carries it, and asks the network for nothing.

    Raises
    ------
    LiteError
        If a tool is missing or fails, or `pyodide` is something else.
    """
    if pyodide is not None and not (Path(pyodide) / "pyodide-lock.json").exists():
        raise LiteError(f"{pyodide} is not a distribution of Pyodide: it has no pyodide-lock.json.")
    site = Path(site).resolve()
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".lite-") as folder:
        folder = Path(folder)
        wheels = write_wheels(folder / "pypi")
        _call("authoring", "work", MINIGRAD_WORK=str(folder / "contents"))
        editions = _mark_editions(folder / "contents")
        if pyodide is not None:
            shutil.copytree(pyodide, folder / "static" / "pyodide")
        _write(folder / "overrides.json", SETTINGS)
        _write(folder / "jupyter-lite.json", _at_run_time([wheel.name for wheel in wheels]))
        _write(folder / "jupyter_lite_config.json", _at_build_time(folder))
        _call("jupyterlite_core", "build", "--lite-dir", str(folder), folder=folder)
        _write(folder / "site" / "live.json", _for_pages(wheels[-1], pyodide))
        _write(folder / "site" / "editions.json", editions)
        _add_scripts(folder / "site")
        shutil.rmtree(site, ignore_errors=True)
        os.replace(folder / "site", site)


def write_wheels(folder):
    """Write the wheels that the site carries.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
        The project's own is the last.

    Raises
    ------
    LiteError
        If a package is missing, or hatchling fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    carried = [repacked(name, folder) for name in CARRIED]
    _call("hatchling", "build", "--target", "wheel", "--directory", str(folder))
    return [*carried, *folder.glob("minigrad_course-*.whl")]


def repacked(name, folder):
    """Make a wheel of an installed package that is pure Python.

    Parameters
    ----------
    name : str
    folder : Path
        Where it is put.

    Returns
    -------
    Path

    Raises
    ------
    LiteError
        If the package is not installed, or not pure Python.
    """
    try:
        package = distribution(name)
    except PackageNotFoundError:
        raise LiteError(f"{name} is not installed: it belongs to the project's extras.") from None
    files = [file for file in package.files if ".." not in file.parts and "__pycache__" not in file.parts]
    compiled = [str(file) for file in files if file.suffix in (".so", ".pyd", ".dylib")]
    if compiled:
        raise LiteError(f"{name} is not pure Python: it has {compiled[0]}.")
    wheel = folder / f"{package.name.replace('-', '_').lower()}-{package.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(files):
            entry = zipfile.ZipInfo(file.as_posix())  # without the time of day
            archive.writestr(entry, file.locate().read_bytes(), zipfile.ZIP_DEFLATED)
    return wheel


def _at_run_time(wheels):
    """Return what the pages are told: what the kernel loads as it starts, and to ask no package index."""
    packages = [*OF_PYODIDE, *(f"{FROM_THE_WORKER}/{wheel}" for wheel in wheels)]
    kernel = {"disablePyPIFallback": True, "loadPyodideOptions": {"packages": packages}}
    data = {"appName": "minigrad", "exposeAppInBrowser": True}  # the tests run notebooks through the app
    data["litePluginSettings"] = {f"{KERNEL}:kernel": kernel}
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}


def _for_pages(wheel, pyodide):
    """Return what the book's own pages need: where Python is, what draws, the course, and how much it weighs.

    The weight is known only of a distribution that is carried: in bytes, first what every page loads, then
    what a page loads besides to draw.
    """
    if pyodide is None:
        from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL  # where the site's own pages find it

        address, weight = f"{PYODIDE_CDN_URL}/", None
    else:
        packages = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["packages"]
        size = {name: (pyodide / entry["file_name"]).stat().st_size for name, entry in packages.items()}
        drawing = {*OF_PYODIDE, *(need for name in OF_PYODIDE for need in packages[name]["depends"])}
        core = sum((pyodide / name).stat().st_size for name in CORE) + wheel.stat().st_size + size["numpy"]
        address, weight = "static/pyodide/", [core, sum(size[name] for name in drawing - {"numpy"})]
    return {"pyodide": address, "packages": OF_PYODIDE, "wheel": f"pypi/{wheel.name}", "bytes": weight}


def _mark_editions(contents):
    """Write into each notebook the edition that it is, which a learner's copy keeps; return them by path."""
    editions = {}
    for path in sorted(contents.rglob("*.ipynb")):
        content = path.read_bytes()
        edition = editions[path.relative_to(contents).as_posix()] = sha256(written(content)).hexdigest()[:12]
        notebook = json.loads(content)
        notebook["metadata"]["minigrad"] = {"edition": edition}
        _write(path, notebook)
    return editions


def _add_scripts(site):
    """Let an address of the lab lead to a heading of its notebook, and the lab say what is wrong."""
    for script in SCRIPTS:
        shutil.copy(script, site)
    for page in (site / "lab" / "index.html", site / "notebooks" / "index.html"):
        html = page.read_text("utf-8")
        if "</head>" not in html:
            raise LiteError(f"{page} of JupyterLite has no head any more, into which scripts would go.")
        tags = "".join(f'<script src="../{script.name}"></script>' for script in SCRIPTS)
        page.write_text(html.replace("</head>", f"{tags}</head>", 1), encoding="utf-8")


def _at_build_time(folder):
    """Return what JupyterLite is told: which parts go into the site."""
    extensions = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    missing = [name for name in EXTENSIONS if not (extensions / name).exists()]
    if missing:
        raise LiteError(
            f"{', '.join(missing)} is not installed. `make lite` installs it; without make: "
            "python -m pip install --require-hashes -r requirements.lock"
        )
    build = {
        "apps": ["lab", "notebooks"],
        "contents": [str(folder / "contents")],
        "federated_extensions": [str(extensions / name) for name in EXTENSIONS],
        "ignore_sys_prefix": ["federated_extensions"],  # those of a notebook server would miss their server
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(folder / "site"),
    }
    return {"LiteBuildConfig": build}


def _write(path, content):
    """Write a file of settings."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _call(module, *words, folder=PROJECT, **environment):
    """Run a module of Python in a folder, and raise LiteError with what it said if it fails."""
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LiteError(f"`{' '.join(command[1:4])}` failed:\n{done.stdout}{done.stderr}")


def main(words=None):
    """Build the site from the command line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m book.lite", description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=SITE, help="where it is put")
    parser.add_argument("--pyodide", type=Path, help="a folder with a distribution for the site to carry")
    chosen = parser.parse_args(words)
    try:
        build(chosen.site, chosen.pyodide)
    except LiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The site is in {chosen.site}. It wants a server: python -m http.server --directory {chosen.site}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
