"""Copy the notebooks into the book's folder.

Sphinx reads one folder, and the chapters and exercises are outside it. They are copied before each build,
with their folders, so that the relative links between them work. An unchanged copy is not written again, so
that Sphinx need not read it again. Only links between notebooks and the book's own pages are one folder
shorter here.
"""

import filecmp
import re
import shutil
from pathlib import Path

FOLDERS = ("notebooks", "exercises")
TO_THE_BOOK = re.compile(r"\]\(((?:\.\./)+)book/")
TO_A_NOTEBOOK = re.compile(r"\]\(\.\./(?=notebooks/|exercises/)")


def copy_notebooks(project, book):
    """Copy the changed notebooks from `project` to `book`, and remove copies of deleted notebooks."""
    for folder in FOLDERS:
        wanted = {path.relative_to(project) for path in _notebooks(project / folder)}
        for copy in _notebooks(book / folder):
            if copy.relative_to(book) not in wanted:
                copy.unlink()
        for path in sorted(wanted):
            source, copy = project / path, book / path
            if not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)


def _notebooks(folder):
    """List the notebooks of a folder, except JupyterLab's checkpoints."""
    return [path for path in folder.glob("**/*.ipynb") if ".ipynb_checkpoints" not in path.parts]


def _before_reading(app):
    """Copy the notebooks before Sphinx looks for pages."""
    copy_notebooks(Path(app.srcdir).parent, Path(app.srcdir))


def _shorten_links(app, page, source):
    """Adapt links to the copies: remove ../book/ from those in a notebook, and ../ from those to one."""
    if page.startswith(FOLDERS):
        source[0] = TO_THE_BOOK.sub(r"](\1", source[0])
    elif "/" not in page:
        source[0] = TO_A_NOTEBOOK.sub("](", source[0])


def setup(app):
    """Connect the copying to Sphinx."""
    app.connect("builder-inited", _before_reading)
    app.connect("source-read", _shorten_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
