"""What makes the course: notebooks run and stored, exercises out of solutions, the learner's copies.

Nothing that a notebook imports stands here (``course``), and nothing that marks a class (``classroom``).
"""
