"""Dropping the outputs of a large notebook before it is measured: plots are no part of an answer.

Holds `without_outputs` and `require_size`. The bytes are searched as text, since JSON from a hostile file
would take many times its size in memory.
"""

import re

from classroom.faults import Refused

BYTES, SOURCES = 20_000_000, 5_000_000  # of a file, and of what it has beside outputs
BRACKETS = 500_000  # of outputs, so that the search ends soon
START = re.compile(rb'"outputs"\s*+:\s*+\[')
BRACKET = re.compile(
    rb'(?:[^"\[\]]++|"(?:[^"\\]++|\\.)*+")*+([\[\]])', re.DOTALL
)  # the next outside a string


def require_size(size):
    """Refuse a file that is too large to be read."""
    if size > BYTES:
        raise Refused(
            f"the file has {size / 1e6:.1f} MB, and the limit is {BYTES / 1e6:.0f} MB: "
            "clear its outputs, save it, and hand it in again."
        )


def without_outputs(data):
    """Return the bytes of a notebook, without outputs if it is large; refuse one that is still too large.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    bytes

    Raises
    ------
    Refused

    Examples
    --------
    >>> large = b'{"cells": [{"source": "1", "outputs": ["%s", [2]]}]}' % (b"a" * 6_000_000)
    >>> without_outputs(large)
    b'{"cells": [{"source": "1", "outputs": []}]}'
    """
    if len(data) <= SOURCES:
        return data
    require_size(len(data))
    kept, end, left = [], 0, BRACKETS
    while left > 0 and (start := START.search(data, end)):
        kept.append(data[end : start.end()])
        end, depth = start.end(), 1
        while depth:
            bracket, left = BRACKET.match(data, end), left - 1
            if bracket is None or left < 0:  # not JSON, or no plots
                left = 0
                break
            depth += 1 if bracket[1] == b"[" else -1
            end = bracket.end() - (depth == 0)  # keep the last one
    kept.append(data[end:])
    if (size := sum(map(len, kept))) > SOURCES:
        raise Refused(
            f"without its outputs, the file has {size / 1e6:.1f} MB, "
            f"and the limit is {SOURCES / 1e6:.0f} MB: remove its pictures."
        )
    return b"".join(kept)
