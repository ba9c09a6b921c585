"""JupyterLab's settings for the course, on this machine, on a server and on Binder.

Holds `set_up`, which writes two of JupyterLab's settings files; ``make lab`` installs JupyterLab.
"""

import json
import sys
from pathlib import Path

from course import store

# Extensions that only contributors need: the news, grading, the buttons of nbdime, a kernel for browsers.
DISABLED = (
    "@jupyter/nbgrader",
    "@jupyterlab/apputils-extension:announcements",
    "@jupyterlite/pyodide-kernel-extension",
    "nbdime-jupyterlab",
)
# The state of a slider is not saved, since a slider does not work without its kernel.
SETTINGS = {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": False}}
PAGE, OVERRIDES = "etc/jupyter/labconfig/page_config.json", "share/jupyter/lab/settings/overrides.json"


def set_up(prefix=sys.prefix):
    """Write the course's settings into an environment, and leave its other settings unchanged.

    Parameters
    ----------
    prefix : path
        The environment: ``sys.prefix``, where JupyterLab reads its settings.

    Raises
    ------
    ValueError
        If an existing settings file cannot be read; it is then unchanged.
    """
    page, overrides = Path(prefix, PAGE), Path(prefix, OVERRIDES)
    settings = _read(page), _read(overrides)
    settings[0].setdefault("disabledExtensions", {}).update(dict.fromkeys(DISABLED, True))
    for plugin, values in SETTINGS.items():
        settings[1].setdefault(plugin, {}).update(values)
    for path, content in zip((page, overrides), settings, strict=True):
        store.write(path, json.dumps(content, indent=2, sort_keys=True) + "\n")


def _read(path):
    """Read the settings in a file; {} if there is no such file."""
    try:
        return json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): repair or remove it, and try again.") from error
