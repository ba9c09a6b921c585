"""The layers, one file per family. Each is a pair of formulas: forward and backward."""
