"""The report of gradcheck: a table with one row per gradient, and the broken rules.

The picture of a report is in course.figures. Introduced in chapter 03.
"""

from collections import namedtuple
from dataclasses import dataclass, field


class Row(namedtuple("Row", "name shape checked size error verdict sentence")):
    """The result for one array, of which `checked` out of `size` entries were nudged.

    The error is the worst entry's. The verdict is ok, suspicious, WRONG, or see rules, if a broken rule
    explains it.
    """


@dataclass(repr=False)
class Report:
    """The report of gradcheck: print it, or let a notebook display it.

    Parameters
    ----------
    title : str
        The layer's name and X's shape.
    rules : dict of rule to complaint
        The complaint is empty if the rule is kept; a rule that could not be checked is left out.
    rows : list of Row
        One for each input and parameter.
    jacobians : dict of name to pair of arrays (Y.size, size)
        The Jacobians by nudging and by backward, if they are small.
    """

    title: str
    rules: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    jacobians: dict = field(default_factory=dict)

    @property
    def problems(self):
        """One sentence for each broken rule and each wrong gradient."""
        broken = [f"{rule}: {complaint}" for rule, complaint in self.rules.items() if complaint]
        return broken + [f"{row.name}: {row.sentence}" for row in self.rows if row.verdict == "WRONG"]

    @property
    def ok(self):
        """True if there is no problem."""
        return not self.problems

    def _table(self):
        """Return the rows of the table as strings, with a header if there are any."""
        table = [("gradient of", "shape", "checked", "worst error", "", "")] if self.rows else []
        for name, shape, checked, size, error, verdict, sentence in self.rows:
            table.append((name, str(shape), f"{checked}/{size}", f"{error:.1e}", verdict, sentence))
        return table

    def _closing(self):
        """Return pairs of strings, the first of which is marked: each broken rule, and the result."""
        broken = [("BROKEN", f" {rule}: {complaint}") for rule, complaint in self.rules.items() if complaint]
        lines = broken or [("", f"{len(self.rules)} rules of a layer: all kept")]
        result = ("passed", "") if self.ok else ("FAILED", f": {len(self.problems)} problem(s)")
        return [*lines, result]

    def __repr__(self):
        table = self._table()
        width = max((len(name) for name, *_ in table), default=0)
        lines = ["{:<{}}  {:<11}  {:>8}  {:>11}  {}  {}".format(name, width, *rest) for name, *rest in table]
        *closing, result = (mark + words for mark, words in self._closing())
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in lines + closing), result])

    def _repr_html_(self):
        import html  # here, since only notebooks need it

        rows = [[html.escape(words) for words in self.title.split("  ")]]
        for *cells, verdict, sentence in self._table():
            cells = [*map(html.escape, cells), _marked(verdict), html.escape(sentence)]
            rows.append([cell for cell in cells if cell])
        rows += [[_marked(mark) + html.escape(words)] for mark, words in self._closing()]
        cell = "<td colspan='{}' style='text-align: left'>{}</td>".format
        lines = ("".join(cell(1, word) for word in row[:-1]) + cell(7 - len(row), row[-1]) for row in rows)
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _marked(word):
    """Return a word underlined in the colour of its meaning, in the page's own text colour."""
    color = "#009E73" if word in ("ok", "passed") else "#D55E00"
    return f"<u style='text-decoration: underline {color} 3px'>{word}</u>" if word else ""
