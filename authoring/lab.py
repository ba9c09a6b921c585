"""How JupyterLab is set up for the course: in one place, for this machine, for a server and for Binder.

Holds `set_up`, which writes two of JupyterLab's settings files. Leaves out installing it (``make lab``).
"""

import json
import sys
from pathlib import Path

from course import store

# What contributors install and a learner need not see: the news, grading, the buttons of nbdime, a kernel
# that lives in a browser.
DISABLED = (
    "@jupyter/nbgrader",
    "@jupyterlab/apputils-extension:announcements",
    "@jupyterlite/pyodide-kernel-extension",
    "nbdime-jupyterlab",
)
# A slider that needs its kernel is not kept without it: it would look alive.
SETTINGS = {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": False}}
PAGE, OVERRIDES = "etc/jupyter/labconfig/page_config.json", "share/jupyter/lab/settings/overrides.json"


def set_up(prefix=sys.prefix):
    """Write the settings of the course into an environment; what others have set there stays.

    Parameters
    ----------
    prefix : path
        The environment: ``sys.prefix``, where JupyterLab looks for its settings.

    Raises
    ------
    ValueError
        If a file of settings is there and cannot be read: then it is left as it is.
    """
    page, overrides = Path(prefix, PAGE), Path(prefix, OVERRIDES)
    settings = _read(page), _read(overrides)
    settings[0].setdefault("disabledExtensions", {}).update(dict.fromkeys(DISABLED, True))
    for plugin, values in SETTINGS.items():
        settings[1].setdefault(plugin, {}).update(values)
    for path, content in zip((page, overrides), settings, strict=True):
        store.write(path, json.dumps(content, indent=2, sort_keys=True) + "\n")


def _read(path):
    """Return the settings in a file; none where there is no such file."""
    try:
        return json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): mend or remove it, and try again.") from error
