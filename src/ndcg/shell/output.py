"""What a command answers, in each format of `-o`, and the cells that its tables share.

Only this module makes text of numbers: the other modules of the folder choose among its cells.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from ..measure.messages import visible
from ..statistics.comparison import Pair, latex_text, p_text
from ..statistics.report import Readable, Score, count_text, interval_text, number_text

FIRST = 5  # queries that an answer names
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]  # characters that move the cursor, or worse
ESCAPES = {code: repr(chr(code))[1:-1] for code in (*CONTROLS, ord("\\"))}
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in CONTROLS if code > 0x20}  # those that JSON allows as they are

Table = list[list[str]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Listing(Readable):
    """What a command answers.

    Attributes:
        cells: tables of text, the header first.
        said: sentences below the tables.
        signature: every choice that the numbers depend on.
        rows: the numbers for programs.
        whole: the whole answer, in types that JSON has.
        status: the exit status of the command.
        latex: the answer as LaTeX, if it is not that of the tables.
    """

    cells: list[Table]
    said: Sequence[str]
    signature: str
    rows: list[Row]
    whole: Any
    status: int = 0
    latex: str = ""

    def _tables(self) -> list[Table]:
        return self.cells

    def _remarks(self) -> Sequence[str]:
        return self.said

    def text(self, form: str) -> str:
        """Return the answer in one of the formats of the command line."""
        forms: dict[str, Callable[[], str]] = {
            "text": self._plain_or_rich,
            "markdown": self.to_markdown,
            "tsv": self._tsv,
            "jsonl": lambda: "\n".join(map(_json, self.rows)),
            "json": lambda: _json(self.whole, indent=1),
            "latex": lambda: self.latex or self._latex(),
            "junit": self._junit,
        }
        return forms[form]()

    def _plain_or_rich(self) -> str:
        """Return Rich tables on a terminal, else plain text; without tables the signature alone."""
        if not self.cells:
            return visible(self.signature)
        if sys.stdout.isatty():
            with suppress(ImportError):
                return self._rich()
        return str(self)

    def _rich(self) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        console = Console(highlight=False)
        with console.capture() as captured:
            for header, *rows in self.tables():
                table = RichTable(box=box.SIMPLE_HEAD)
                for at, name in enumerate(header):
                    table.add_column(Text(name), justify="right" if at else "left", overflow="fold", no_wrap=at > 0)
                for row in rows:
                    table.add_row(*map(Text, row))
                console.print(table)
            for remark in (*self.remarks(), f"Signature: {visible(self.signature)}"):
                console.print(Text(remark), soft_wrap=True)
        return captured.get().rstrip("\n")

    def _tsv(self) -> str:
        """Return one line per row, with control characters in ids escaped, so that `cut` and `sort` see the columns."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        lines: list[list[Any]] = [list(names), *([row.get(name) for name in names] for row in self.rows)]
        cells = (["" if each is None else str(each).translate(ESCAPES) for each in line] for line in lines)
        return "\n".join(map("\t".join, cells))

    def _latex(self) -> str:
        lines = [f"% {remark}" for remark in (*self.remarks(), visible(self.signature))]
        for header, *rows in self.tables():
            body = [" & ".join(map(latex_text, row)) + " \\\\" for row in (header, *rows)]
            head = ["\\begin{tabular}{l" + "r" * (len(header) - 1) + "}", "\\hline", body[0], "\\hline"]
            lines += [*head, *body[1:], "\\hline", "\\end{tabular}"]
        return "\n".join(lines)

    def _junit(self) -> str:
        """Return one test case per measure of a gate, in the format that CI systems read."""
        failures = str(sum(row["regression"] for row in self.rows))
        suite = ElementTree.Element("testsuite", name="ndcg gate", tests=str(len(self.rows)), failures=failures)
        for row in self.rows:
            case = ElementTree.SubElement(suite, "testcase", classname="ndcg.gate", name=row["measure"])
            if row["regression"]:
                message = f"{row['measure']} falls by {number_text(-row['difference'])}, p = {p_text(row['p_holm'])}"
                ElementTree.SubElement(case, "failure", message=message).text = str(self)
        ElementTree.indent(suite)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON, with null for nan."""
    return json.dumps(_without_nan(value), indent=indent, ensure_ascii=False).translate(JSON_ESCAPES)


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Cells, by the headings under which tables show them


def level_text(confidence: float) -> str:
    """Return what an interval is called.

    >>> level_text(0.95)
    '95% interval'
    """
    return f"{100 * confidence:g}% interval"


def score_cells(score: Score, places: int, *columns: str) -> list[str]:
    """Return some of the cells of a mean."""
    cells = {
        "mean": number_text(score.value, places),
        "interval": interval_text(score.low, score.high, places),
        "chance": number_text(score.chance, places),
        "range over tie orders": interval_text(score.worst, score.best, places),
        "unjudged": f"{count_text(score.unjudged)} of {score.ranked:,}",
    }
    return [cells[name] for name in columns]


def pair_cells(pair: Pair, places: int, *columns: str) -> list[str]:
    """Return some of the cells of a difference between two runs."""
    cells = {
        "difference": number_text(pair.difference, places, "+"),
        "interval": interval_text(pair.low, pair.high, places, "+"),
        "p": p_text(pair.p),
        "p (Holm)": p_text(pair.p_holm),
        "p (t-test)": p_text(pair.p_t),
        "won–tied–lost": f"{pair.wins:,}–{pair.ties:,}–{pair.losses:,}",
    }
    return [cells[name] for name in columns]


def value_cell(value: Any, places: int, sign: str = "") -> str:
    """Return the cell of a value, an id or a number, with a dash for None."""
    return number_text(value, places, sign) if value is None or isinstance(value, float) else str(value)
