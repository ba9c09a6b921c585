"""Limits of a submission while it is graded; ``--seconds`` of the command sets the first.

The limits of the sandbox's processes are in ``classroom.sandbox``.
"""

SECONDS = 10.0  # for one call, by classroom.clock
# multiples of SECONDS: for an exercise, whose check runs four times; all cells; the whole submission
EXERCISE, CELLS, ALL = 12, 6, 30
SENT = 2**26  # bytes that the submission sends for one exercise
EXPANDED, NUMBER = 2**25, 64  # bytes of a value written out, and of each number in its lists
DRAWS = 2**24  # random numbers drawn from a check's generator in one request
