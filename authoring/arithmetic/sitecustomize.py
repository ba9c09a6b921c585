"""Shift every float drawn by a Generator by one unit in the last place, if MINIGRAD_LAST_PLACE is 1 or -1.

Python imports a file of this name at startup if its folder is in PYTHONPATH (``authoring.everywhere``): in
kernels, and in the processes that they start. The shift depends on the number alone: equal seeds give equal
numbers, and copies, pickles and children of a Generator shift theirs, too. Zeros, integers, shuffled arrays
and choices are unchanged, and so are the legacy functions of ``numpy.random``, which use no Generator.
"""

import os
from functools import wraps

VARIABLE = "MINIGRAD_LAST_PLACE"
GIVEN = ("bytes", "choice", "integers", "permutation", "permuted", "shuffle", "spawn")  # draw no floats


def install(direction):
    """Replace ``numpy.random.default_rng`` with one whose Generators shift the numbers they draw.

    Parameters
    ----------
    direction : float
        inf for upwards, -inf for downwards.
    """
    import numpy as np

    def moved(drawn):
        if isinstance(drawn, np.ndarray):
            places = (drawn != 0) & np.isfinite(drawn)
            np.nextafter(drawn, drawn.dtype.type(direction), out=drawn, where=places)
        elif isinstance(drawn, float) and drawn:
            drawn = float(np.nextafter(drawn, direction))
        return drawn

    def moving(draw):
        @wraps(draw)
        def drawn_and_moved(*arguments, **settings):
            drawn = draw(*arguments, **settings)
            return moved(drawn) if getattr(drawn, "dtype", np.dtype(float)).kind == "f" else drawn

        return drawn_and_moved

    class Generator(np.random.Generator):
        def __reduce__(self):
            return Generator, (self.bit_generator,)

    for name in set(dir(np.random.Generator)) - set(GIVEN):
        draw = getattr(np.random.Generator, name)
        if not name.startswith("_") and callable(draw):
            setattr(Generator, name, moving(draw))

    original = np.random.default_rng

    @wraps(original)
    def default_rng(seed=None):
        rng = original(seed)
        return rng if isinstance(rng, Generator) else Generator(rng.bit_generator)

    Generator.__module__, Generator.__qualname__ = __name__, "Generator"
    globals()["Generator"] = Generator  # where a pickle looks for it
    np.random.default_rng = default_rng


if os.environ.get(VARIABLE):
    install(float(os.environ[VARIABLE]) * float("inf"))
