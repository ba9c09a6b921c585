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
    """
    message = f"the notebook has no {short}"
    names = {}
    for number, source in enumerate(sources, start=1):
        for name in re.findall(r"^[ \t]*(?:def|class)[ \t]+(\w+)", source, re.MULTILINE):
            names.setdefault(name, number)
    if short in names:
        raised = [note for note in notes if note.startswith(f"code cell {names[short]} raised")]
        return f"{message}: the cell that defines it does not run{f' ({raised[0]})' if raised else ''}"
    plain = {name.replace("_", "").lower(): name for name in names}
    near = get_close_matches(short.replace("_", "").lower(), plain, n=1, cutoff=0.8)
    return f"{message}, but it has {plain[near[0]]}: rename it to {short}" if near else message
