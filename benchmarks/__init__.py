"""Benchmarks of minigrad, a raw NumPy loop and PyTorch: ratios of times for the same steps and weights.

Run `python -m benchmarks`, or `make bench`. A contestant is a function that makes a training step; `child`
runs it in a process of its own, `runner` controls that process, and `rounds` interleaves several. A goal is a
row of the table, never a test.
"""
