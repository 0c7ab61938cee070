"""Results as HTML: a score, a table, a CSV file, an error."""

import base64
import csv
import html
import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

CSS = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
HEAD = f"<script>{Path(__file__).with_name('first.js').read_text(encoding='utf-8')}</script>"
# the places of a formula in a spreadsheet: the start of a cell, or a place at which it splits a quoted cell
FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[=+\-@\t\r＝＋－＠])")


def score_card(result: Mapping[str, float], note: str = "") -> str:
    """Return the first score in large type, next to the others."""
    (name, value), *others = result.items()
    beside = "".join(
        f"<span class='other'>{html.escape(n)} <b>{v:.4f}</b></span>" for n, v in others
    )
    first = (
        f"<span class='name'>{html.escape(name)}</span> <output class='value'>{value:.4f}</output>"
    )
    return (
        f"<div class='score' role='status'>{first}{beside}</div>{note_html(note) if note else ''}"
    )


def note_html(text: str) -> str:
    """Return a remark on a result."""
    return f"<p class='note'>{html.escape(text)}</p>"


def list_html(caption: str, lines: Sequence[str]) -> str:
    """Return sentences as a list."""
    items = "".join(f"<li>{html.escape(each)}</li>" for each in lines)
    return f"<figure><figcaption>{html.escape(caption)}</figcaption><ul>{items}</ul></figure>"


def error_html(problem: Exception | str, offer: tuple[str, str, str] | None = None) -> str:
    """Return an error as text, with a button if one mends it."""
    return f"<p class='error' role='alert'>{html.escape(str(problem))} {offer_html(offer)}</p>"


def offer_html(offer: tuple[str, str, str] | None) -> str:
    """Return a button that sets an option: its name, the choice, and the text of the button."""
    if offer is None:
        return ""
    name, choice, text = offer
    value = f"data-offer='{html.escape(name)}' data-value='{html.escape(choice)}'"
    return f"<button class='offer' type='button' {value}>{html.escape(text)}</button>"


def table_html(caption: str, frame: pd.DataFrame) -> str:
    """Return a table to read, its cells as text; wide ones scroll."""
    with pd.option_context("display.max_colwidth", None):
        rows = frame.to_html(index=False, border=0, float_format=_rounded, na_rep="")
    label = html.escape(caption)
    scrolled = f"<div class='sheet' role='region' tabindex='0' aria-label='{label}'>{rows}</div>"
    return f"<figure><figcaption>{label}</figcaption>{scrolled}</figure>"


def text_table(caption: str, table: Sequence[Sequence[str]]) -> str:
    """Return a table of the metric, the header first, to read."""
    header, *rows = table
    return table_html(caption, pd.DataFrame(rows, columns=header))


def _rounded(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def csv_link(frame: pd.DataFrame, name: str, title: str = "Download as CSV") -> str:
    """Return a link that holds a CSV file."""
    text = io.StringIO()
    rows = [list(frame.columns), *frame.astype(object).values.tolist()]
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC).writerows(
        [map(_spreadsheet_cell, row) for row in rows]
    )
    data = base64.b64encode(text.getvalue().encode()).decode()
    address = f"data:text/csv;charset=utf-8;base64,{data}"
    return f"<a class='csv' download='{name}' href='{address}'>{html.escape(title)}</a>"


def _spreadsheet_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet reads as a formula, and with all digits of a number."""
    if isinstance(cell, float):
        return round(cell, 12) + 0.0
    return FORMULA.sub("'", cell) if isinstance(cell, str) and not _is_number(cell) else cell


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
