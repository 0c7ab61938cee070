"""The choices of the page's bar: as options of the metric, as a formula, as Python and as a link."""

import json
import math
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conventions import CONVENTIONS

LONGEST_CUTOFF = 100_000
DOCUMENTS = 500  # of a ranking that is edited or linked to
PRESET = ("gain", "ties", "zero_division", "negative_relevance")
CHOICES = {
    "gain": ["linear", "exponential", "binary"],
    "ties": ["average", "first", "last", "best", "worst", "docid"],
    "empty": ["0", "1", "left out"],
    "negative": ["raise", "clip", "keep"],
    "unjudged": ["gain 0", "removed"],
}
Rows = Sequence[Sequence[Any]]


def cutoffs_of(text: str) -> list[int | None]:
    """The cutoffs of a text such as "1, 5, 10"; empty for the whole list."""
    parts = [part for part in text.replace(";", ",").replace(" ", ",").split(",") if part]
    found: list[int | None] = []
    for part in parts:
        if part.lower() in ("all", "none"):
            found.append(None)
        elif not part.isascii() or not part.isdigit() or not 1 <= int(part.lstrip("0")[:9] or 0) <= LONGEST_CUTOFF:
            problem = f"is no cutoff: write whole numbers from 1 to {LONGEST_CUTOFF:,}, such as 1, 5, 10"
            raise ValueError(f"k: {part[:40]!r} {problem}; leave it empty for the whole list")
        else:
            found.append(int(part.lstrip("0")))
    if len(found) > 20:
        raise ValueError(f"k: {len(found)} cutoffs; give at most 20")
    return found or [None]


def options_of(
    gain: str, log_base: float | None, ties: str, empty: str, negative: str, unjudged: str
) -> dict[str, Any]:
    """The options of `compute` from what the bar shows."""
    if log_base is None or log_base <= 1:
        raise ValueError("Base of the logarithm: give a number above 1, such as 2.")
    if None in (gain, ties, empty, negative, unjudged):
        raise ValueError("A choice is empty: choose one of its options.")
    return {
        "gain": gain,
        "log_base": log_base,
        "ties": ties,
        "zero_division": math.nan if empty == "left out" else float(empty),
        "negative_relevance": negative,
        "judged_only": unjudged == "removed",
    }


def settings_of(convention: str) -> list[Any]:
    """What the bar shows for a convention: gain, ties, empty queries, negative relevance."""
    chosen = CONVENTIONS[convention]
    empty = "left out" if math.isnan(chosen.zero_division) else f"{chosen.zero_division:g}"
    return [chosen.gain, chosen.ties, empty, chosen.negative_relevance]


def convention_of(gain: str, ties: str, empty: str, negative: str) -> str:
    """The convention that makes these choices, or "custom"."""
    matching = [name for name in CONVENTIONS if settings_of(name) == [gain, ties, empty, negative]]
    return matching[0] if matching else "custom"


def short(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not the defaults of `compute`, the convention by its name."""
    settings = {name: options[name] for name in PRESET}
    names = [name for name, each in CONVENTIONS.items() if same(each.options, settings)]
    kept: dict[str, Any] = {}
    if not names:
        default = CONVENTIONS["sklearn"].options
        kept |= {name: value for name, value in settings.items() if value != default[name]}
    elif names[0] != "sklearn":
        kept["convention"] = names[0]
    if options["log_base"] != 2:
        kept["log_base"] = options["log_base"]
    if options["judged_only"]:
        kept["judged_only"] = True
    return kept


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the options of one have the same values in the other."""
    return all(one[name] == other[name] or (one[name] != one[name] and other[name] != other[name]) for name in one)


def formula(options: Mapping[str, Any], k: int | None) -> str:
    """The measure as these options make it, in LaTeX."""
    at = "" if k is None else f"@{k}"
    limit = "n" if k is None else str(k)
    gain = {"linear": "r_i", "exponential": "2^{r_i} - 1", "binary": "[r_i > 0]"}[options["gain"]]
    base = f"{options['log_base']:g}"
    dcg = f"\\sum_{{i=1}}^{{{limit}}} \\frac{{{gain}}}{{\\log_{{{base}}}(i+1)}}"
    return (
        f"$$\\text{{nDCG}}{at} = \\frac{{\\text{{DCG}}{at}}}{{\\text{{IDCG}}{at}}}$$\n\n$$\\text{{DCG}}{at} = {dcg}$$"
    )


def snippet(inputs: Mapping[str, Any], options: Mapping[str, Any], cutoffs: Sequence[int | None]) -> str:
    """Python that computes the same."""
    k = cutoffs[0] if len(cutoffs) == 1 else list(cutoffs)
    arguments = {**inputs, **({} if k is None else {"k": k}), **short(options)}
    lines = "".join(f"    {name}={_python(value)},\n" for name, value in arguments.items())
    return f'import evaluate\n\nndcg = evaluate.load("ndcg.py")  # or the name of this Space\nndcg.compute(\n{lines})\n'


def _python(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and math.isnan(value) else repr(value)


def restored(parameters: Mapping[str, str], rows: Rows) -> tuple[list[Any], list[str]]:
    """The table, cutoffs and choices that a share link holds, and the names of those that cannot be read.

    What the link does not hold, or not so that it can be read, is `rows` or the default.
    """
    unread = []

    def read(name: str, otherwise: Any, of_text: Callable[[str], Any]) -> Any:
        try:
            return of_text(parameters[name]) if name in parameters else otherwise
        except (ValueError, KeyError, RecursionError):
            unread.append(name)
            return otherwise

    rows = read("ranking", rows, _rows_of)
    cutoffs = read("k", "10", lambda text: text[:200])
    settings = read("convention", settings_of("sklearn"), settings_of)
    base = read("log", 2.0, _base_of)
    named = {**dict(zip(("gain", "ties", "empty", "negative"), settings, strict=True)), "unjudged": "gain 0"}
    chosen = {
        name: read(name, value, {each: each for each in CHOICES[name]}.__getitem__) for name, value in named.items()
    }
    gain, ties, empty, negative, unjudged = chosen.values()
    convention = convention_of(gain, ties, empty, negative)
    return [rows, cutoffs, convention, gain, base, ties, empty, negative, unjudged], unread


def _base_of(text: str) -> float:
    """The base of the logarithm in a link."""
    if not math.isfinite(base := float(text)):
        raise ValueError("a base is finite")
    return base


def _rows_of(text: str) -> Rows:
    """The rows of the table from the JSON in a link."""
    given = json.loads(text)
    if not isinstance(given, list) or not all(isinstance(row, list) and len(row) == 3 for row in given):
        raise ValueError("a ranking is a list of rows of three cells")
    if len(given) > DOCUMENTS:
        raise ValueError(f"a ranking has at most {DOCUMENTS} rows")
    rows = [[text_of(cell) for cell in row] for row in given]
    return [[cell.encode("utf-8", "replace").decode() for cell in row] for row in rows]


def link_to(address: str, rows: Rows, cutoffs: str, *choices: Any) -> tuple[str, bool]:
    """A link that brings back the choices, and the ranking unless it is too long; and whether it does."""
    gain, log_base, ties, empty, negative, unjudged = choices
    parameters: dict[str, str] = {"k": cutoffs}
    convention = convention_of(gain, ties, empty, negative)
    if convention == "custom":
        parameters |= {"gain": gain, "ties": ties, "empty": empty, "negative": negative}
    elif convention != "sklearn":
        parameters["convention"] = convention
    if log_base not in (None, 2):
        parameters["log"] = repr(log_base)
    if unjudged != "gain 0":
        parameters["unjudged"] = unjudged
    kept = [[text_of(cell) for cell in row] for row in rows if any(text_of(cell) for cell in row)]
    ranking = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
    whole = len(ranking) <= 4000  # what browsers and servers take
    if whole:
        parameters["ranking"] = ranking
    return f"{address.partition('?')[0]}?{urllib.parse.urlencode(parameters)}", whole


def text_of(cell: Any) -> str:
    """A cell of a table as text; of an empty one none."""
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if missing else str(cell).strip()
