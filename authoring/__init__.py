"""Tools that make the course: they run and store notebooks, make exercises, and copy files for learners.

Modules for notebooks are in ``course``; the grader is in ``classroom``.
"""
