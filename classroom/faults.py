"""The two exceptions by which grading ends without a check's verdict; neither is a mark."""


class GradingFault(Exception):
    """A fault of the grader or the machine, in one sentence: "not graded, because ..."."""


class Refused(Exception):
    """The reason, in one sentence, why a submission cannot be read."""
