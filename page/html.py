"""HTML: the templates, and how numbers are written in them; and CSV files."""

import base64
import csv
import hashlib
import io
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from .settings import CONVENTIONS, LABELS, said

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
ABOUT = (
    "See why a ranking has its nDCG, what a random order would score, and which of several runs is "
    "better, by the conventions of 28 libraries."
)
LISTED = 3  # of many names in a sentence
LARGE = 1e5  # of which digits after the point say nothing
# the places of a formula in a spreadsheet: the start of a cell, or where it splits a quoted cell
FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[=+\-@\t\r＝＋－＠])")


def number(value: float) -> str:
    """Return a number as the page writes it everywhere, with three digits.

    >>> number(-0.0), number(12.34567), number(-0.5), number(2.0**40), number(-2e5)
    ('0.000', '12.346', '−0.500', '1.100e+12', '−2.000e+05')
    """
    if abs(value) >= LARGE:
        return f"{value:.3e}".replace("-", "−")
    return f"{value:z.3f}".replace("-", "−")


def short(value: float | str) -> str:
    """Return a relevance or a gain, which are often whole numbers; a label stays as it is.

    >>> short(3.0), short(-0.5), short("yes")
    ('3', '−0.5', 'yes')
    """
    if isinstance(value, str):
        return value
    return f"{value:g}".replace("-", "−")


def number_or(value: float, otherwise: str) -> str:
    """Return a number as the page writes it, or another text where there is none."""
    if math.isnan(value):
        return otherwise
    return number(value)


def signed(value: float) -> str:
    """Return a difference with its sign; one that three digits do not show is above or below 0.

    >>> signed(0.5), signed(-0.0423), signed(0.0), signed(-1e-9)
    ('+0.500', '−0.042', '0.000', 'below 0')
    """
    if value == 0:
        return "0.000"
    sign, side = "", "below"
    if value > 0:
        sign, side = "+", "above"
    text = number(value)
    if text == "0.000":
        return f"{side} 0"
    return f"{sign}{text}"


def sentence(text: Any) -> str:
    """Return a text that ends as a sentence does.

    >>> sentence("It is empty"), sentence("Are they swapped?"), sentence("a, b, …")
    ('It is empty.', 'Are they swapped?', 'a, b, …')
    """
    text = str(text)
    return text if text.endswith((".", "?", "…")) else f"{text}."


def spelled(measure: str) -> str:
    """Return what the name of a measure stands for.

    >>> spelled("nDCG@10")
    'normalized discounted cumulative gain, top 10'
    """
    words = "normalized discounted cumulative gain"
    _, _, cutoff = measure.partition("@")
    if not cutoff:
        return words
    return f"{words}, top {cutoff}"


def span(first: int, last: int) -> str:
    """Return ranks or places as text.

    >>> span(2, 2), span(2, 4)
    ('2', '2–4')
    """
    if first == last:
        return f"{first}"
    return f"{first}–{last}"


def listed(names: Sequence[str], kind: str = "", most: int = LISTED + 1) -> str:
    """Return names in a sentence; of many the first.

    >>> listed(["a"]), listed(["a", "b"]), listed([*"abcd"]), listed([*"abcde"], "runs")
    ('a', 'a and b', 'a, b, c and d', 'a, b, c and 2 more runs')
    """
    *first, last = names
    if len(names) > most:
        first, last = [*names[:LISTED]], f"{len(names) - LISTED} more {kind}".strip()
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def strong(text: str) -> Markup:
    """Return a text in which what stands between two pairs of stars is strong."""
    escaped = str(escape(text))
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped))  # noqa: S704 - it is escaped


def breakable(names: str) -> Markup:
    """Return names that a line may break after an underscore, in place of anywhere."""
    return escape(names).replace("_", Markup("_<wbr>"))


def percent(share: float) -> str:
    """Return a share as a length of CSS."""
    return f"{100 * share:.4g}%"


def static(name: str) -> str:
    """Return the address of a file that browsers keep until it changes."""
    content = (STATIC / name).read_bytes()
    return f"static/{name}?{hashlib.sha256(content).hexdigest()[:8]}"


ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
ENVIRONMENT.filters |= {
    "listed": listed,
    "number": number,
    "number_or": number_or,
    "short": short,
    "signed": signed,
    "sentence": sentence,
    "strong": strong,
    "breakable": breakable,
    "spelled": spelled,
    "percent": percent,
    "static": static,
}
ENVIRONMENT.globals |= {
    "ABOUT": ABOUT,
    "CONVENTIONS": CONVENTIONS,
    "LABELS": LABELS,
    "said": said,
}


def render(template: str, **values: Any) -> str:
    """Return a page."""
    return ENVIRONMENT.get_template(template).render(**values)


def csv_address(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the address of a CSV file, which holds the file itself."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    for row in (header, *rows):
        writer.writerow(map(_spreadsheet_cell, row))
    coded = base64.b64encode(text.getvalue().encode()).decode()
    return f"data:text/csv;charset=utf-8;base64,{coded}"


def _spreadsheet_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula, with all digits of a number."""
    if cell != cell:  # nan
        return ""
    if isinstance(cell, float):
        # without the last digits, in which machines differ, and without the sign of -0.0
        return round(cell, 12) + 0.0
    if not isinstance(cell, str) or is_number(cell):
        return cell
    return FORMULA.sub("'", cell)


def is_number(text: str) -> bool:
    """Return whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
