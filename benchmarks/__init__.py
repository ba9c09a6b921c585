"""minigrad beside a raw NumPy loop and PyTorch: the same steps, from the same weights and data, as ratios.

Run `python -m benchmarks`, or `make bench`. A thing to time is a function that makes a step; `child` runs it
in a process of its own, `runner` talks to that process, `rounds` interleaves several. Nothing of this is part
of the library. Leaves out asserting times: a goal is a row of the table, never a test.
"""
