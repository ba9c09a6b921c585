"""Build the JupyterLite site, which runs the course in the browser, next to the book.

Build it from the root of the project, or with `make lite`:

    python -m book.lite

Holds `build`, and `repacked`, which makes a wheel of an installed package. A page of the site fetches Python,
NumPy and Matplotlib from Pyodide's public distribution; the site has everything else. `live.json` has these
addresses for the live cells of the book's pages (`_static/live`); `editions.json` has the edition of each
notebook in the site.
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
OF_PYODIDE = ("matplotlib", "numpy", "pillow", "tqdm")  # packages in Pyodide's distribution
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
CARRIED = ("comm", "ipywidgets")  # pure Python packages that the course needs and Pyodide lacks
FROM_THE_WORKER = "../../../../pypi"  # the site's wheels, relative to the script that loads them
SETTINGS = {  # of JupyterLab
    "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
}


class LiteError(Exception):
    """The reason why the site cannot be built, and what to do."""


def build(site=SITE, pyodide=None):
    """Build the site.

    Parameters
    ----------
    site : Path
        The folder of the site, replaced if the build succeeds.
    pyodide : Path, optional
        A folder with a distribution of Pyodide. The site includes it, and needs no network.

    Raises
    ------
    LiteError
        If a tool is missing or fails, or `pyodide` is not a distribution.
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
    """Write the wheels that the site includes.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
        Paths of the wheels; the last one is the project's own.

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
        The folder for the wheel.

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
    """Return the pages' configuration: packages for the kernel, and no package index."""
    packages = [*OF_PYODIDE, *(f"{FROM_THE_WORKER}/{wheel}" for wheel in wheels)]
    kernel = {"disablePyPIFallback": True, "loadPyodideOptions": {"packages": packages}}
    data = {"appName": "minigrad", "exposeAppInBrowser": True}  # the tests run notebooks through the app
    data["litePluginSettings"] = {f"{KERNEL}:kernel": kernel}
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}


def _for_pages(wheel, pyodide):
    """Return the data for the book's live cells: Python's URL, packages, the course's wheel, and sizes.

    The sizes are known only for an included distribution: the bytes that every page loads, and those that
    plots need in addition.
    """
    if pyodide is None:
        from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL  # used by the site's own pages

        address, weight = f"{PYODIDE_CDN_URL}/", None
    else:
        packages = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))["packages"]
        size = {name: (pyodide / entry["file_name"]).stat().st_size for name, entry in packages.items()}
        drawing = {*OF_PYODIDE, *(need for name in OF_PYODIDE for need in packages[name]["depends"])}
        core = sum((pyodide / name).stat().st_size for name in CORE) + wheel.stat().st_size + size["numpy"]
        address, weight = "static/pyodide/", [core, sum(size[name] for name in drawing - {"numpy"})]
    return {"pyodide": address, "packages": OF_PYODIDE, "wheel": f"pypi/{wheel.name}", "bytes": weight}


def _mark_editions(contents):
    """Write each notebook's edition into it, for learners' copies; return the editions by path."""
    editions = {}
    for path in sorted(contents.rglob("*.ipynb")):
        content = path.read_bytes()
        edition = editions[path.relative_to(contents).as_posix()] = sha256(written(content)).hexdigest()[:12]
        notebook = json.loads(content)
        notebook["metadata"]["minigrad"] = {"edition": edition}
        _write(path, notebook)
    return editions


def _add_scripts(site):
    """Add the scripts for links to a notebook's headings, and for notices."""
    for script in SCRIPTS:
        shutil.copy(script, site)
    for page in (site / "lab" / "index.html", site / "notebooks" / "index.html"):
        html = page.read_text("utf-8")
        if "</head>" not in html:
            raise LiteError(
                f"JupyterLite's {page} no longer has a </head>, before which the scripts are inserted."
            )
        tags = "".join(f'<script src="../{script.name}"></script>' for script in SCRIPTS)
        page.write_text(html.replace("</head>", f"{tags}</head>", 1), encoding="utf-8")


def _at_build_time(folder):
    """Return JupyterLite's configuration: the parts of the site."""
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
        "ignore_sys_prefix": ["federated_extensions"],  # extensions that need a notebook server would fail
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(folder / "site"),
    }
    return {"LiteBuildConfig": build}


def _write(path, content):
    """Write a JSON file."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _call(module, *words, folder=PROJECT, **environment):
    """Run a Python module in a folder; raise LiteError with its output if it fails."""
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LiteError(f"`{' '.join(command[1:4])}` failed:\n{done.stdout}{done.stderr}")


def main(words=None):
    """Build the site from the command line, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m book.lite", description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=SITE, help="the folder of the site")
    parser.add_argument("--pyodide", type=Path, help="a folder with a distribution to include in the site")
    chosen = parser.parse_args(words)
    try:
        build(chosen.site, chosen.pyodide)
    except LiteError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The site is in {chosen.site}. It needs a server: python -m http.server --directory {chosen.site}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
