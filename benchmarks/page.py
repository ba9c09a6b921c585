"""The generated parts of book/speed.md: tables, sentences with numbers, and two figures.

Every measured number of the page is in a block between two comments, which this module fills from
results.json.
"""

import re

from benchmarks import table
from course import store

NOISE = 0.5  # no table is shown for results with a larger spread of rounds
BOOK = store.PROJECT / "book"
PAGE = BOOK / "speed.md"
BLOCK = r"(<!-- results: {name} -->\n)(.*?)(<!-- end -->)"


class Unfinished(Exception):
    """The reason why the page cannot be written from these results, and what to run first."""


def _percent(share):
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


def _machine(machine):
    """Describe the machine in a sentence."""
    versions = [f"Python {machine['python']}", f"NumPy {machine['numpy']} with {machine['blas']}"]
    if machine["torch"]:
        versions.append(f"PyTorch {machine['torch']}")
    computer = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    return f"The machine: {computer}; {', '.join(versions)}."


def _rows(results, threads):
    """Return the rows of the table for a number of threads."""
    return [row for row in results["table"]["rows"] if row["threads"] == threads]


def ratios_table(results):
    """Make the page's tables of ratios: for one thread and, if the machine was quiet enough, for two.

    They omit the goals, which contributors see in the terminal, and times, which depend on the machine.
    """
    parts = []
    for threads, said in ((1, "One thread:"), (2, "Two threads:")):
        if table.spread(_rows(results, threads)) > NOISE:
            continue
        left_out = ["threads", "µs per step", "goal"] + ["memory", "PyTorch's"] * (threads > 1)
        kept = [place for place, name in enumerate(table.HEADINGS) if name not in left_out]
        lines = [[table.cells(row)[place] for place in kept] for row in _rows(results, threads)]
        parts += [said, table.markdown([table.HEADINGS[place] for place in kept], lines)]
    return "\n\n".join(parts)


def measured(results):
    """Describe the noise of the table, and the machine."""
    found = results["table"]
    one = _percent(table.spread(_rows(results, 1)))
    return (
        f"There were {found['rounds']} rounds. With one thread, the ratio of a single round differed by at "
        f"most {one} from its row's median. {_machine(found['machine'])}"
    )


def scaling_text(found):
    """Describe the other measurements in a list of sentences.

    Parameters
    ----------
    found : dict
        Returned by benchmarks.scaling.scale, or a part of that.

    Returns
    -------
    list of str
    """
    sentences = []
    for what in ("batch", "width", "depth"):
        values, steps = found[what]["values"], found[what]["minigrad"]
        factor = table.digits(steps[-1] / steps[0])
        line = (
            f"From {what} {values[0]} to {what} {values[-1]} a step of minigrad costs {factor} times as much"
        )
        if "torch" in found[what]:
            ends = [mine / other for mine, other in zip(steps, found[what]["torch"], strict=True)]
            line += f"; its ratio to PyTorch's goes from {table.digits(ends[0])} to {table.digits(ends[-1])}"
        sentences.append(line + ".")
    function, layer = found["layer"]["function"], found["layer"]["Layer"]
    sentences.append(
        f"A layer that does nothing, forward and backward, costs {table.digits(function)} µs as a plain "
        f"function and {table.digits(layer)} µs as a `Layer`, which checks shapes in both passes."
    )
    check = found["gradcheck"]
    factor = table.digits(check["milliseconds"][-1] / check["milliseconds"][0])
    sentences.append(
        f"`gradcheck` of a linear layer with {check['parameters'][-1]:,} parameters takes {factor} times as "
        f"long as of one with {check['parameters'][0]}: if there are many, it nudges a sample of them."
    )
    epoch = found["epoch"]
    if "torch" in epoch:
        sentences.append(
            "An epoch over as much data as MNIST has (60,000 images of 784 pixels, 784-128-10, batch 128, "
            f"Adam) takes {table.digits(epoch['minigrad'] / epoch['torch'])} of PyTorch's time."
        )
    start = found["import"]
    added = _percent(start["minigrad"] / start["numpy"])
    sentences.append(f"`import minigrad` adds {added} to the time of `import numpy`.")
    return sentences


def scaling_list(results):
    """Make the page's list of the other measurements."""
    return "\n".join(f"- {sentence}" for sentence in scaling_text(results["scaling"]))


def ratios_alt(results):
    """Describe the first figure."""
    said = [f"{row['workload']} {table.digits(row['to_torch'][1])}" for row in _rows(results, 1)]
    what = "Bars: the time of a step, relative to PyTorch eager, with a line at 1."
    return f"{what} minigrad: {', '.join(said)}."


def growth_alt(results):
    """Describe the second figure."""
    return "Three panels of microseconds per step, rising lines. " + " ".join(
        scaling_text(results["scaling"])[:3]
    )


def figures_of(results):
    """Draw the two figures; return them by file name."""
    from course.figures.benchmarks import draw_growth, draw_ratios

    rows = _rows(results, 1)
    eager = [row["to_torch"][1] for row in rows]
    ratios = {"minigrad": eager}
    for name, key in (("raw NumPy", "to_numpy"), ("PyTorch at its best", "to_torch_best")):
        ratios[name] = [mine / row[key][1] for mine, row in zip(eager, rows, strict=True)]
    names = {"minigrad": "minigrad", "torch": "PyTorch"}
    panels = {
        what: (part["values"], {names[key]: part[key] for key in names if key in part})
        for what, part in results["scaling"].items()
        if what in ("batch", "width", "depth")
    }
    return {
        "speed_ratios.png": draw_ratios([row["workload"] for row in rows], ratios).figure,
        "speed_growth.png": draw_growth(panels),
    }


CAPTIONS = {
    "ratios": "**The time of a step, relative to PyTorch eager.** Left of the line at 1, a bar is faster.",
    "growth": "**How a step grows with the batch, the width and the depth.** Both axes are logarithmic.",
}


def _figure(number, name, alt):
    """Return a figure with its number and its caption in MyST."""
    return f"""\
```{{figure}} _static/speed_{name}.png
:alt: {alt}
:figclass: figure
:name: figure-speed-{number}

**Figure {number}**  {CAPTIONS[name]}
```"""


BLOCKS = {
    "table": ratios_table,
    "measured": measured,
    "scaling": scaling_list,
    "ratios figure": lambda results: _figure(1, "ratios", ratios_alt(results)),
    "growth figure": lambda results: _figure(2, "growth", growth_alt(results)),
}


def filled(text, results):
    """Return a page with its blocks updated from the results.

    Parameters
    ----------
    text : str
    results : dict

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the page lacks a block.
    """
    for name, write in BLOCKS.items():
        pattern = re.compile(BLOCK.format(name=name), re.DOTALL)
        if len(pattern.findall(text)) != 1:
            raise ValueError(
                f'the page needs one block between "<!-- results: {name} -->" and "<!-- end -->".'
            )
        found = pattern.search(text)
        text = f"{text[: found.start()]}{found[1]}{write(results)}\n{found[3]}{text[found.end() :]}"
    return text


def refresh(results):
    """Draw the book's figures, and update the page's blocks.

    Parameters
    ----------
    results : dict
        Both parts, measured with PyTorch.

    Raises
    ------
    Unfinished
        If a part is missing or was measured without PyTorch.
    """
    if not {"table", "scaling"} <= set(results) or any(
        row["to_torch"] is None for row in results["table"]["rows"]
    ):
        raise Unfinished(
            "the book needs both parts, measured with PyTorch: first install PyTorch, and run "
            "`python -m benchmarks --save` and `python -m benchmarks scaling --save`."
        )
    from course.figures import png

    for name, figure in figures_of(results).items():
        store.write(BOOK / "_static" / name, png(figure))
    store.write(PAGE, filled(PAGE.read_text(encoding="utf-8"), results))
