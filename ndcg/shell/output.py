"""The output of a command, in the formats of `-o`."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..measure.messages import in_short, visible
from ..measure.options import whole
from ..show.json_types import without_nan
from ..show.junit import Case, junit_of
from ..show.tables import CONTROLS, Readable, Table, latex_of, rich_of, tsv_of

FIRST = 5  # the most queries that an output lists
REGRESSION = 1  # the exit status of a gate that fails
# The control characters that JSON allows.
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in CONTROLS if code > 0x20}

Row = dict[str, Any]


@dataclass(frozen=True)
class Listing(Readable):
    """The output of a command."""

    cells: list[Table]  # tables of strings, the header first
    sentences: Sequence[str]  # sentences below the tables
    signature: str  # every option that affects the scores
    rows: list[Row]  # the values in machine-readable form
    whole: Any  # the whole output, in types that JSON has
    status: int = 0  # the exit status of the command
    latex: str = ""  # the output as LaTeX, if it differs from the tables
    cases: Sequence[Case] = ()  # the test cases of a gate

    def _tables(self) -> list[Table]:
        return self.cells

    def _remarks(self) -> Sequence[str]:
        return self.sentences

    def text(self, form: str) -> str:
        """Return the output in one of the formats of the command line."""
        # As functions, since some forms take long, and only a gate has test cases.
        forms: dict[str, Callable[[], str]] = {
            "text": self._plain_or_rich,
            "markdown": self.to_markdown,
            "tsv": lambda: tsv_of(self.rows),
            "jsonl": lambda: "\n".join(map(_json, self.rows)),
            "json": lambda: _json(self.whole, indent=1),
            "latex": lambda: self.latex or latex_of(self),
            "junit": self._junit,
        }
        return forms[form]()

    def _plain_or_rich(self) -> str:
        """Return Rich tables for a terminal, else plain text; without tables only the signature."""
        if not (self.cells or self.sentences):
            return visible(self.signature)
        # A file or a pipe gets text that does not depend on the width of a terminal.
        if sys.stdout.isatty():
            with suppress(ImportError):  # Rich is an extra
                return rich_of(self)
        return str(self)

    def _junit(self) -> str:
        """Return the test cases of a gate, with the whole output as the text of a failure."""
        text = str(self)
        return junit_of([case._replace(text=text) for case in self.cases])


def worst_of(args: Namespace, default: int) -> int | None:
    """Return how many of the worst queries `--worst` asks for; None for all."""
    if args.worst is None:
        return default
    if args.worst == "all":
        return None
    return whole("--worst", args.worst, 0)


def only_cutoff(cutoffs: Sequence[int | None], reason: str) -> int | None:
    """Return the cutoff of a command that takes one."""
    k, *others = cutoffs
    if others:
        raise ValueError(f"-k must be one cutoff, since {reason}")
    return k


def save_plot(plot: Callable[[], Any], path: str | None) -> None:
    """Save the figure that a function returns, if the user asked for it."""
    if not path:
        return
    if not path.lower().endswith((".png", ".svg", ".pdf")):
        raise ValueError(f"--plot {path}: must end in .png, .svg or .pdf")
    figure = plot()
    try:
        figure.savefig(path)
    except ValueError as error:
        raise ValueError(f"--plot {path}: {in_short(error)}") from None


def _json(value: Any, indent: int | None = None) -> str:
    text = json.dumps(without_nan(value), indent=indent, ensure_ascii=False)
    return text.translate(JSON_ESCAPES)
