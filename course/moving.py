"""A picture that moves under the hand: the host it stands in, and the script that brings it to life in a lab.

Holds Moving, which a Figure carries, and without_script, which leaves only the still. The modules themselves
are JavaScript without a framework, in ``course/static/interactives``: the book loads them there, and a lab
gets them inside the output. Leaves out what they compute: tests compare that with minigrad.
"""

import json
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template

FOLDER = Path(__file__).with_name("static") / "interactives"
START, END = '<script type="module" data-live>', "</script>"

# A module's address is made on the spot, since a lab serves no files of the course; what the modules share is
# put in by its address.
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
    """What a figure is on a screen with scripts: the name of a module, and what it starts with.

    Parameters
    ----------
    name : str
        A file of ``course/static/interactives``, without ``.js``. Numbers that are too many for a page stand
        beside it, in ``name.json``.
    **options : str, number, bool, list or dict
        What the module's `mount` is given.

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
            raise ValueError(f"name must be a module that moves: {names}; got {name!r}.")
        self.name, self.options = name, json.dumps(options)
        self.key = sha256(f"{name} {self.options}".encode()).hexdigest()[:12]

    def host(self, still):
        """Return the HTML that the module fills; until then, and on paper, its still picture is shown."""
        return (
            f'<div data-interactive="{self.name}" data-key="{self.key}" '
            f'data-options="{escape(self.options)}">{still}</div>'
        )

    def script(self):
        """Return the HTML that fills the hosts of this picture in a lab: module and numbers inside it."""
        data = FOLDER / f"{self.name}.json"
        files = {
            "parts": (FOLDER / "parts.js").read_text(encoding="utf-8"),
            "module": (FOLDER / f"{self.name}.js").read_text(encoding="utf-8"),
            "data": json.loads(data.read_text(encoding="utf-8")) if data.exists() else None,
        }
        return LIVE.substitute(files=json.dumps(files).replace("</", "<\\/"), key=self.key)


SHARED = ("parts", "load")


def without_script(html):
    """Return the HTML of a figure without the script that moves it: its host, with the still picture inside.

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
