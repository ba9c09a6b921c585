"""The layers, one file per family. Each has two formulas: forward and backward."""
