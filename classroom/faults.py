"""The two ways in which grading ends without a check's verdict; neither of them is a mark.

Not taught in a chapter: it belongs to the classroom.
"""


class GradingFault(Exception):
    """A fault of ours or of the machine, in one sentence: "not graded, because ..."."""


class Refused(Exception):
    """A submission that cannot be read, and why, in one sentence."""
