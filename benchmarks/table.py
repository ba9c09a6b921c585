"""The table, as text for a terminal and as Markdown for the book: the same cells.

A goal is met when the ratio is at most the goal times 1.03: to raw NumPy, and to the matrix products alone,
whose share of the time is the ratio turned over. Leaves out where the numbers come from.
"""

from benchmarks.workloads import WORKLOADS

SLACK = 1.03
HEADINGS = (
    "workload",
    "threads",
    "µs a step",
    "/ PyTorch eager",
    "/ PyTorch at its best",
    "/ raw NumPy",
    "goal",
    "in products",
    "goal",
    "memory",
    "PyTorch's",
)


def met(ratio, goal):
    """Return whether a ratio meets its goal.

    Examples
    --------
    >>> met(0.1029, 0.10), met(0.1031, 0.10)
    (True, False)
    """
    return ratio <= SLACK * goal


def digits(number):
    """Return a number with three significant digits, as a table shows it.

    Examples
    --------
    >>> digits(0.0823), digits(1.048), digits(52.31), digits(23412.0)
    ('0.082', '1.05', '52.3', '23,400')
    """
    if number < 0.995:
        return f"{number:.3f}"
    if number < 9.995:
        return f"{number:.2f}"
    return f"{number:.1f}" if number < 99.95 else f"{float(f'{number:.3g}'):,.0f}"


def _median(ratios):
    """Return a cell for lowest, median and highest ratio."""
    return "–" if ratios is None else digits(ratios[1])


def _goal(ratio, goal, threads, said):
    """Return a cell for a goal: the goals are for one thread."""
    if threads > 1 or goal is None:
        return ""
    return f"{said}, {'met' if met(ratio, goal) else 'not met'}"


def _megabytes(number):
    """Return a cell for bytes; what is below a tenth of a megabyte is not measured well."""
    if number is None:
        return "–"
    return (
        f"{number / 2**20:.1f}\N{NO-BREAK SPACE}MB" if number >= 2**20 / 10 else "< 0.1\N{NO-BREAK SPACE}MB"
    )


def cells(row):
    """Return the cells of a row, as text.

    Parameters
    ----------
    row : dict
        What benchmarks.comparison.compare returns.

    Returns
    -------
    list of str
        One for each of HEADINGS.
    """
    workload, threads = WORKLOADS[row["workload"]], row["threads"]
    goal, share = workload.goal_numpy, workload.goal_products
    return [
        workload.name,
        str(threads),
        digits(row["microseconds"]),
        _median(row["to_torch"]),
        _median(row["to_torch_best"]),
        _median(row["to_numpy"]),
        _goal(row["to_numpy"][1], goal, threads, f"≤\N{NO-BREAK SPACE}{goal}"),
        f"{row['products']:.0%}",
        _goal(1 / row["products"], share and 1 / share, threads, f"≥\N{NO-BREAK SPACE}{share or 0:.0%}"),
        _megabytes(row["bytes"]),
        _megabytes(row["torch_bytes"]),
    ]


def text(rows):
    """Return the table for a terminal, columns aligned."""
    lines = [list(HEADINGS), *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([aligned[0], "-" * len(aligned[0]), *aligned[1:]])


def markdown(headings, lines):
    """Return a Markdown table of lines of cells; all columns but the first are numbers.

    Examples
    --------
    >>> print(markdown(["layer", "µs"], [["function", "0.2"]]))
    | layer | µs |
    |---|--:|
    | function | 0.2 |
    """
    rule = "|---|" + "--:|" * (len(headings) - 1)
    first, *rest = (f"| {' | '.join(line)} |" for line in [headings, *lines])
    return "\n".join([first, rule, *rest])


def spread(rows):
    """Return how far the ratios of single rounds to PyTorch, or to raw NumPy, lay from their median.

    Parameters
    ----------
    rows : list of dict

    Returns
    -------
    float
        The largest deviation over all rows, as a share of the median.
    """
    triples = [row["to_torch"] or row["to_numpy"] for row in rows]
    return max(max(high - median, median - low) / median for low, median, high in triples)
