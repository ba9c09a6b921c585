"""Grading a class: the notebooks' checks, protected from the submission's code.

A learner's code never shares a process with the code that judges it. The checks are in ``course.checks``.
"""
