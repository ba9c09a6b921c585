"""The layers, one file a family. Each is a pair of formulas: the way there and the backward function."""
