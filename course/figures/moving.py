"""Interactive pictures: the HTML host of each, and the script that fills it in JupyterLab.

A Figure has a Moving; `without_script` leaves only the still picture. The modules are plain JavaScript, in
``course/static/interactives``: the book loads them from there, and JupyterLab gets them inside the output.
Tests compare what they compute with minigrad.
"""

import json
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parents[1] / "static" / "interactives"
START, END = '<script type="module" data-live>', "</script>"

# JupyterLab serves no files of the course, so the script creates a URL for each module, and inserts the
# shared module's.
LIVE = Template(f"""\
{START}
const files = $files;
const addressOf = (text) => URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const parts = addressOf(files.parts);
const module = await import(addressOf(files.module.replaceAll('"./parts.js"', JSON.stringify(parts))));
for (const host of document.querySelectorAll('[data-key="$key"]')) {{
  module.mount(host, {{ ...JSON.parse(host.dataset.options), data: files.data, linked: false }});
}}
{END}""")


class Moving:
    """An interactive picture: the name of its module, and its starting options.

    Parameters
    ----------
    name : str
        A file of ``course/static/interactives``, without ``.js``. Large data is beside it, in ``name.json``.
    **options : str, number, bool, list or dict
        The options for the module's `mount`.

    Raises
    ------
    ValueError
        If there is no such module.

    Examples
    --------
    >>> Moving("chain", x=3).host("<img>")
    '<div data-interactive="chain" data-key="3cfec8cac4a0" data-options="{&quot;x&quot;: 3}"><img></div>'
    """

    def __init__(self, name, **options):
        if not (FOLDER / f"{name}.js").exists():
            names = ", ".join(sorted(path.stem for path in FOLDER.glob("*.js") if path.stem not in SHARED))
            raise ValueError(f"name must be one of {names}; got {name!r}.")
        self.name, self.options = name, json.dumps(options)
        self.key = sha256(f"{name} {self.options}".encode()).hexdigest()[:12]

    def host(self, still):
        """Return the HTML that the module fills; until then, and in print, it shows the still picture."""
        return (
            f'<div data-interactive="{self.name}" data-key="{self.key}" '
            f'data-options="{escape(self.options)}">{still}</div>'
        )

    def script(self):
        """Return the script that fills the hosts of this picture in JupyterLab, with module and data."""
        data = FOLDER / f"{self.name}.json"
        files = {
            "parts": (FOLDER / "parts.js").read_text(encoding="utf-8"),
            "module": (FOLDER / f"{self.name}.js").read_text(encoding="utf-8"),
            "data": json.loads(data.read_text(encoding="utf-8")) if data.exists() else None,
        }
        return LIVE.substitute(files=json.dumps(files).replace("</", "<\\/"), key=self.key)


SHARED = ("parts", "load")


def without_script(html):
    """Return the HTML of a figure without its script: the host with the still picture inside.

    Parameters
    ----------
    html : str

    Returns
    -------
    str

    Examples
    --------
    >>> without_script('<div data-interactive="chain"><img></div>' + START + "…" + END)
    '<div data-interactive="chain"><img></div>'
    """
    before, script, after = html.partition(START)
    return before + after.partition(END)[2] if script else html
