"""Benchmarks of minigrad, a raw NumPy loop and PyTorch: ratios of times for the same steps and weights.

Run `python -m benchmarks`, or `make bench`. A contestant is a function that makes a training step. `child`
runs it in its own process, `runner` controls that process, and `rounds` interleaves several. Goals are shown
in the table, and never tested.
"""
