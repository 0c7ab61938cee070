"""Format tables, remarks and a signature as text, Markdown, HTML, LaTeX, TSV or in a terminal.

All cells are text; this module also turns numbers into text, whatever they mean.
"""

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ..measure.messages import visible

# Larger numbers are shown by their first digits: float64 does not hold all digits before the point.
LARGE = 1e15
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]  # characters that move the cursor, or worse
TSV_ESCAPES = {code: repr(chr(code))[1:-1] for code in (*CONTROLS, ord("\\"))}
LATEX_ESCAPES = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
    }
)

Table = list[list[str]]  # the header first


FOLDED = 8  # the least width of a terminal table's first column, in characters
RICH_PADDING = 3  # padding of a Rich column, in characters


class Readable:
    """Tables, remarks and the signature of a result, if it has one, in readable formats."""

    signature: str

    def tables(self) -> list[Table]:
        """Return tables of text, the header first; the first column holds names.

        Characters that do not print, which ids may have, are escaped.
        """
        return [[list(map(visible, row)) for row in table] for table in self._tables()]

    def remarks(self) -> list[str]:
        """Return the sentences below the tables; characters that do not print are escaped."""
        return list(map(visible, self._remarks()))

    def _tables(self) -> list[Table]:
        raise NotImplementedError

    def _remarks(self) -> Sequence[str]:
        raise NotImplementedError

    def _signatures(self) -> list[str]:
        """Return the signature, if there is one."""
        if not self.signature:
            return []
        return [visible(self.signature)]

    def _latex_comments(self) -> list[str]:
        return [f"% {remark}" for remark in (*self.remarks(), visible(self.signature))]

    def to_markdown(self) -> str:
        """Return tables and notes as Markdown."""
        parts = []
        for table in self.tables():
            lines = [f"| {' | '.join(map(markdown_text, row))} |" for row in table]
            # Names are on the left, figures on the right.
            lines.insert(1, "|---" + "|---:" * (len(table[0]) - 1) + "|")
            parts.append("\n".join(lines))
        parts += map(markdown_text, self.remarks())
        parts += map("Signature: `{}`".format, self._signatures())
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return "\n\n".join([*map(_plain, self.tables()), "\n".join(_sentences(self))])

    def _repr_html_(self) -> str:
        parts = []
        for header, *rows in self.tables():
            body = "".join(_html_row(row, "td") for row in rows)
            parts.append(f"<table>{_html_row(header, 'th')}{body}</table>")
        parts += [f"<p>{html.escape(remark)}</p>" for remark in self.remarks()]
        signatures = map(html.escape, self._signatures())
        parts += map("<p>Signature: <code>{}</code></p>".format, signatures)
        return "".join(parts)


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _plain(table: Table) -> str:
    first, *others = _widths(table)
    lines = []
    for name, *values in table:
        cells = [name.ljust(first), *map(str.rjust, values, others)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _records(table: Table) -> str:
    """Return the rows of a table as their names and, below a name, its cells as lines.

    A row without a name continues the one above.

    >>> print(_records([["run", "queries", "nDCG"], ["bm25", "60", "0.5"]]))
    run: bm25
     queries  60
     nDCG     0.5
    """
    (name, *headings), *rows = table
    width = max(map(len, headings), default=0)
    lines = []
    for first, *cells in rows:
        if first:
            lines.append(f"{name}: {first}")
        for heading, cell in zip(headings, cells, strict=True):
            if cell:
                lines.append(f" {heading.ljust(width)}  {cell}")
    return "\n".join(lines)


def _widths(table: Table) -> list[int]:
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def latex_of(result: Readable) -> str:
    """Return tables as LaTeX tabulars, after comments with the remarks and the signature."""
    lines = result._latex_comments()
    for table in result.tables():
        columns = "l" + "r" * (len(table[0]) - 1)
        lines += tabular(columns, [list(map(latex_text, row)) for row in table])
    return "\n".join(lines)


def tabular(columns: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a LaTeX tabular, from column types and rows in LaTeX, header first."""
    header, *body = (" & ".join(row) + " \\\\" for row in rows)
    begin, end = f"\\begin{{tabular}}{{{columns}}}", "\\end{tabular}"
    return [begin, "\\hline", header, "\\hline", *body, "\\hline", end]


def rich_of(result: Readable) -> str:
    """Return tables that fit the terminal.

    A table that would lose digits is plain text, or one value per line.

    Raises:
        ImportError: Rich is missing.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    with console.capture() as captured:
        for table in result.tables():
            first, *others = _widths(table)
            padding = RICH_PADDING * len(table[0])
            # Rich folds the first column, and would cut off numbers.
            if min(first, FOLDED) + sum(others) + padding <= console.width:
                console.print(_rich_table(table))
                continue
            fits = first + sum(others) + 2 * len(others) <= console.width
            text = _plain(table) if fits else _records(table)
            console.print(Text(f"{text}\n"), soft_wrap=True)
        for sentence in _sentences(result):
            is_to_copy = not sentence.endswith(".")  # such as a signature: must not be wrapped
            console.print(Text(sentence), soft_wrap=is_to_copy)
    return captured.get().rstrip("\n")


def _rich_table(table: Table) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    (name, *headings), *rows = table
    rich_table = RichTable(box=box.SIMPLE_HEAD)
    rich_table.add_column(Text(name), overflow="fold")
    for heading in headings:
        rich_table.add_column(Text(heading), justify="right", overflow="fold", no_wrap=True)
    for row in rows:
        rich_table.add_row(*map(Text, row))
    return rich_table


def tsv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Return a line with the names of all columns, then the rows as lines.

    Control characters are escaped, so that `cut` and `sort` find the columns. A cell without a
    value is empty.

    >>> tsv_of([{"query": "a\tb", "score": 0.5}, {"query": "c", "score": math.nan}]).split("\n")
    ['query\tscore', 'a\\tb\t0.5', 'c\t']
    """
    names = dict.fromkeys(chain.from_iterable(rows))
    lines = ["\t".join(map(_tsv_cell, names))]
    for row in rows:
        lines.append("\t".join(map(_tsv_cell, map(row.get, names))))
    return "\n".join(lines)


def _tsv_cell(value: Any) -> str:
    # An empty cell is a missing value for most readers of TSV, nan only for some.
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).translate(TSV_ESCAPES)


def _sentences(result: Readable) -> list[str]:
    return [*result.remarks(), *map("Signature: {}".format, result._signatures())]


def number_text(value: float | None, places: int = 4, sign: str = "") -> str:
    """Return a number as tables show it, with a sign also before positive ones if that is "+".

    >>> number_text(0.5), number_text(0.25, 2, "+"), number_text(1.5e200), number_text(math.nan)
    ('0.5000', '+0.25', '1.5000e+200', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    notation = "f" if abs(value) < LARGE else "e"
    return f"{value:{sign}.{places}{notation}}"


def interval_text(low: float, high: float, places: int = 4, sign: str = "") -> str:
    """Return an interval, or a range, as tables show it.

    >>> interval_text(0.25, 0.5, 2), interval_text(math.nan, math.nan)
    ('0.25 – 0.50', '–')
    """
    if math.isnan(low):
        return "–"
    return f"{number_text(low, places, sign)} – {number_text(high, places, sign)}"


def level_text(confidence: float) -> str:
    """Return the name of an interval.

    >>> level_text(0.95)
    '95% interval'
    """
    return f"{100 * confidence:g}% interval"


def count_text(value: float | None) -> str:
    """Return a number of queries or documents as tables show it; an expected number has decimals.

    >>> count_text(1234567), count_text(12.25), count_text(None)
    ('1,234,567', '12.25', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def counted_text(counted: int | None, queries: int) -> str:
    """Return the number of queries in a mean, with the number of all queries if some are excluded.

    >>> counted_text(300, 300), counted_text(1274, 1300), counted_text(None, 300)
    ('300', '1,274 of 1,300', '–')
    """
    if counted is None or counted == queries:
        return count_text(counted)
    return f"{count_text(counted)} of {count_text(queries)}"


def p_text(value: float) -> str:
    """Return a p-value as tables show it.

    >>> p_text(0.04), p_text(0.0001), p_text(0.00009)
    ('0.0400', '0.0001', '<0.0001')
    """
    if value < 0.0001:
        return "<0.0001"
    return f"{value:.4f}"


def cell_text(value: Any, places: int = 4) -> str:
    """Return the cell of a number or an id; an id may also be a number.

    >>> cell_text("q7"), cell_text(7), cell_text(0.5, 2), cell_text(None)
    ('q7', '7', '0.50', '–')
    """
    if value is None or isinstance(value, float):
        return number_text(value, places)
    return str(value)


def letter_text(index: int) -> str:
    """Return the letters a, b, ..., z, aa, ab, ...

    >>> [letter_text(index) for index in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    last = chr(ord("a") + index % 26)
    if index < 26:
        return last
    return letter_text(index // 26 - 1) + last


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(latex_text("50%_of $x$"))
    50\%\_of \$x\$
    """
    return text.translate(LATEX_ESCAPES)


def markdown_text(text: str) -> str:
    r"""Escape text for Markdown.

    >>> print(markdown_text("<b>|_&"))
    \<b\>\|\_\&
    """
    # A cell of a table is one line.
    escaped = re.sub(r"[\\`*_{}\[\]<>#|~$&]", r"\\\g<0>", text)
    return " ".join(escaped.split())
