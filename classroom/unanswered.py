"""The message about a missing answer, whose cell may not run or whose name may be misspelled."""

import re
from difflib import get_close_matches


def missing(short, sources, notes):
    """Describe a missing answer, with the likely reason.

    Parameters
    ----------
    short : str
        The answer's name.
    sources : sequence of str
        The cells' sources.
    notes : list of str
        Notes on the cells that raised.

    Returns
    -------
    str

    Examples
    --------
    >>> missing("two_layers", ["def twoLayers(): pass"], [])
    'the notebook has no two_layers, but it has twoLayers: rename it to two_layers'
    >>> missing("row", ["row = cache(rows)"], ["code cell 1 raised NameError: name 'rows' is not defined"])
    "the notebook has no row: the cell that defines it does not run (code cell 1 raised NameError: ...)"
    """
    message = f"the notebook has no {short}"
    definition = r"^[ \t]*(?:def|class)[ \t]+"
    assigned = rf"^[ \t]*(?:from\b.*\bimport\b.*\b{short}\b|{short}[ \t]*=[^=])"
    named = re.compile(rf"{definition}{short}\b|{assigned}", re.MULTILINE)
    if cells := [number for number, source in enumerate(sources, start=1) if named.search(source)]:
        raised = [note for note in notes if any(f"code cell {number} " in note for number in cells)]
        return f"{message}: the cell that defines it does not run{f' ({raised[0]})' if raised else ''}"
    names = re.findall(rf"{definition}(\w+)", "\n".join(sources), re.MULTILINE)
    plain = {name.replace("_", "").lower(): name for name in names}
    near = get_close_matches(short.replace("_", "").lower(), plain, n=1, cutoff=0.8)
    return f"{message}, but it has {plain[near[0]]}: rename it to {short}" if near else message
