"""How much a submission may use while it is graded; ``--seconds`` of the command sets the first.

Leaves out the sandbox's own limits of a process (``classroom.sandbox``).
Not taught in a chapter: it belongs to the classroom.
"""

SECONDS = 10.0  # for one call; of the answer's own time, which classroom.clock counts
# times the seconds of a call: an exercise, whose check is put to its answer four times; cells; everything
EXERCISE, CELLS, ALL = 12, 6, 30
SENT = 2**26  # bytes that the code sends for one exercise
EXPANDED, NUMBER = 2**26, 8  # bytes of a list as an array, and of what stands in it
DRAWS = 2**24  # numbers of a generator of the check's, in one question
