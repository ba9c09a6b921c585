"""Tools that make the course: run and store notebooks, make exercises, copy files for learners.

Modules that notebooks import are in ``course``, and the grader is in ``classroom``.
"""
