"""Grading a class: the notebooks' checks, run out of reach of the submission's code.

A learner's code never shares a process with the code that judges it. The checks are in ``course.checks``.
"""
