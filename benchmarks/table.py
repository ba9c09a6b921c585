"""Format the table of results as text for a terminal and as Markdown for the book.

A goal is met if the ratio of times is at most the goal times 1.03: the ratio to raw NumPy, and the ratio to
the matrix products alone, which is the inverse of their share of the time.
"""

from benchmarks.workloads import WORKLOADS

SLACK = 1.03
HEADINGS = (
    "workload",
    "threads",
    "µs per step",
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
    """Report whether a ratio meets its goal.

    Examples
    --------
    >>> met(0.1029, 0.10), met(0.1031, 0.10)
    (True, False)
    """
    return ratio <= SLACK * goal


def digits(number):
    """Format a number with three significant digits for a table.

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
    """Format the median, given the lowest, median and highest ratio."""
    return "–" if ratios is None else digits(ratios[1])


def _goal(ratio, goal, threads, words):
    """Format a goal; only runs with one thread have goals."""
    if threads > 1 or goal is None:
        return ""
    return f"{words}, {'met' if met(ratio, goal) else 'not met'}"


def _megabytes(number):
    """Format bytes; less than a tenth of a megabyte cannot be measured well."""
    if number is None:
        return "–"
    return (
        f"{number / 2**20:.1f}\N{NO-BREAK SPACE}MB" if number >= 2**20 / 10 else "< 0.1\N{NO-BREAK SPACE}MB"
    )


def cells(row):
    """Format the cells of a row.

    Parameters
    ----------
    row : dict
        Returned by benchmarks.comparison.compare.

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
    """Format the table for a terminal, with aligned columns."""
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
    """Format lines of cells as a Markdown table; all columns but the first are numbers.

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
    """Compute the spread of single rounds' ratios to PyTorch or, without it, to raw NumPy.

    Parameters
    ----------
    rows : list of dict

    Returns
    -------
    float
        The largest deviation from the median over all rows, as a share of the median.
    """
    triples = [row["to_torch"] or row["to_numpy"] for row in rows]
    return max(max(high - median, median - low) / median for low, median, high in triples)
