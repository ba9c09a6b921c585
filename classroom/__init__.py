"""Grading a class: the checks of the notebooks, run where a submission's code cannot reach them.

The learner's code never shares a process with the verdict. Leaves out the checks (``course.checks``).
"""
