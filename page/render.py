"""Results as HTML: a score, a table, a CSV file, an error."""

import base64
import csv
import html
import io
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

CSS = """
.score { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; }
.score .value { font-size: 2.75rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.score .other b { font-variant-numeric: tabular-nums; }
.error { border-left: .25rem solid #dc2626; padding: .5rem .75rem; font-weight: 600; overflow-wrap: anywhere; }
.sheet { overflow: auto; max-height: 26rem; }
.sheet table { border: 0 !important; border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.sheet th { position: sticky; top: 0; background: var(--body-background-fill); text-align: left !important; }
.sheet th, .sheet td { padding: .25rem .75rem !important; border: solid var(--border-color-primary) !important; }
.sheet th, .sheet td { border-width: 0 0 1px !important; }
.sheet td { min-width: 4rem; overflow-wrap: break-word; }
.sheet td:last-child { min-width: 7rem; }
#differences td:last-child { min-width: 16rem; }
figcaption { font-weight: 600; margin: .75rem 0 .25rem; }
.csv { text-decoration: underline; }
#code textarea { font-family: var(--font-mono); }
.or { color: var(--body-text-color) !important; }
#formula .katex-display { overflow-x: auto; overflow-y: hidden; }
button[role="tab"][aria-selected="true"] { color: var(--body-text-color) !important; font-weight: 700; }
footer, footer * { color: var(--body-text-color) !important; opacity: 1; }
"""


def score_card(result: Mapping[str, float], note: str = "") -> str:
    """Return the first score large, the others beside it."""
    (name, value), *others = result.items()
    beside = "".join(f"<span class='other'>{html.escape(n)} <b>{v:.4f}</b></span>" for n, v in others)
    first = f"<span class='name'>{html.escape(name)}</span> <output class='value'>{value:.4f}</output>"
    return f"<div class='score' role='status'>{first}{beside}</div>{note_html(note) if note else ''}"


def note_html(text: str) -> str:
    """Return a remark on a result."""
    return f"<p class='note'>{html.escape(text)}</p>"


def error_html(problem: Exception | str) -> str:
    """Return what is wrong, as text."""
    return f"<p class='error' role='alert'>{html.escape(str(problem))}</p>"


def table_html(caption: str, frame: pd.DataFrame) -> str:
    """Return a table to read, its cells as text; wide ones scroll."""
    with pd.option_context("display.max_colwidth", None):
        rows = frame.to_html(index=False, border=0, float_format=_rounded, na_rep="")
    label = html.escape(caption)
    scrolled = f"<div class='sheet' role='region' tabindex='0' aria-label='{label}'>{rows}</div>"
    return f"<figure><figcaption>{label}</figcaption>{scrolled}</figure>"


def _rounded(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def csv_link(frame: pd.DataFrame, name: str) -> str:
    """Return a link that holds a CSV file."""
    text = io.StringIO()
    rows = [list(frame.columns), *frame.astype(object).values.tolist()]
    csv.writer(text).writerows([map(_spreadsheet_cell, row) for row in rows])
    data = base64.b64encode(text.getvalue().encode()).decode()
    return f"<a class='csv' download='{name}' href='data:text/csv;charset=utf-8;base64,{data}'>Download as CSV</a>"


def _spreadsheet_cell(cell: Any) -> Any:
    """Return a cell such that no spreadsheet takes text for a formula, nor rounding for a number."""
    if isinstance(cell, float):
        return round(cell, 12) + 0.0
    if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") and not _is_number(cell):
        return f"'{cell}"
    return cell


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
