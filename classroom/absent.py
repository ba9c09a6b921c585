"""What is said of an answer that is not there: a cell may not run, or a name may be nearly right.

Leaves out looking for it (``classroom.grade``).
Not taught in a chapter: it belongs to the classroom.
"""

import re
from difflib import get_close_matches


def missing(short, sources, notes):
    """Return the sentence on an answer that is not there, with what may be the reason.

    Parameters
    ----------
    short : str
        Its name.
    sources : sequence of str
        Of the cells.
    notes : list of str
        On cells that raised.

    Returns
    -------
    str

    Examples
    --------
    >>> missing("two_layers", ["def twoLayers(): pass"], [])
    'there is no two_layers in the notebook, and there is twoLayers: the name must be two_layers'
    """
    said = f"there is no {short} in the notebook"
    names = {}
    for number, source in enumerate(sources, start=1):
        for name in re.findall(r"^\s*(?:def|class)\s+(\w+)", source, re.MULTILINE):
            names.setdefault(name, number)
    if short in names:
        raised = [note for note in notes if note.startswith(f"code cell {names[short]} raised")]
        return f"{said}: the cell that defines it does not run{f' ({raised[0]})' if raised else ''}"
    plain = {name.replace("_", "").lower(): name for name in names}
    near = get_close_matches(short.replace("_", "").lower(), plain, n=1, cutoff=0.8)
    return f"{said}, and there is {plain[near[0]]}: the name must be {short}" if near else said
