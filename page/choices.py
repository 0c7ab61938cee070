"""The choices of the page's bar: as options of the metric, as a formula, as Python and as an address.

A bar holds the values of its fields: the cutoffs, the base of the logarithm, then a choice for each name
in CHOICES.
"""

import csv
import html
import io
import math
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .metric import tables

LONGEST_RANKING = 3000  # characters in an address that browsers and servers accept
LONGEST_CUTOFF = 100_000
DOCUMENTS = 500  # of a ranking that is edited or in an address
CONVENTIONS = tables.CONVENTIONS
WORDED = ("gain", "discount", "ideal", "score_dtype", "ties")  # of which every word is a choice
CHOICES = {
    **{name: [*tables.OPTIONS[name].words] for name in WORDED},
    "zero_division": ["0", "1", "nan", "perfect_if_empty"],
    "negative_relevance": [*tables.OPTIONS["negative_relevance"].words],
    "missing": ["empty", "skip"],  # an error in place of a result would say less
    "duplicates": [*tables.OPTIONS["duplicates"].words],
    "judged_only": ["false", "true"],
    "score_order": [*tables.OPTIONS["score_order"].words],
}
LABELS = {
    "gain": "Gain",
    "discount": "Discount",
    "ideal": "Ideal",
    "score_dtype": "Scores compared",
    "ties": "Tied documents",
    "zero_division": "No relevant documents",
    "negative_relevance": "Negative relevance",
    "missing": "Query not in the run",
    "duplicates": "Listed several times",
    "judged_only": "Not judged",
    "score_order": "Ranked first",
}
FIELDS = {**LABELS, "gain": f"{LABELS['gain']}, or by label: relevant=3, no=0"}
WORDS = {  # of a choice on the page, if they are not its name
    ("score_dtype", "given"): "as given",
    ("score_dtype", "float32"): "as 32-bit floats",
    ("zero_division", "nan"): tables.empty_text(math.nan),
    ("zero_division", "perfect_if_empty"): tables.empty_text("perfect_if_empty"),
    ("negative_relevance", "raise"): "reject",
    ("missing", "skip"): "skipped",
    ("missing", "empty"): "nothing retrieved",
    ("duplicates", "raise"): "reject",
    ("duplicates", "best"): "at the best rank",
    ("judged_only", "false"): "gain 0",
    ("judged_only", "true"): "removed",
    ("score_order", "descending"): "the highest score",
    ("score_order", "ascending"): "the lowest score",
}
LINKED = ("k", "log_base", *CHOICES)  # the names of a bar's fields in an address
SIDES = {"predictions": "run", "references": "qrels"}  # the names of both sides in files
IN_PYTHON = "in Python: {}"  # of what the page has no control for
CALLED = {  # how the page says what messages name as Python does; "" leaves it out
    **LABELS,
    "convention": "Convention",
    **dict.fromkeys(("k", "cutoff of nDCG"), "Cutoffs k"),
    "log_base": "Base of the logarithm",
    "got": "The score I got",
    "query_ids": "Query ids",
    "sample_weight": "Weights",
    "document_ids": "document ids",
    **dict.fromkeys(("predictions", "references", "swapped"), "{}"),
    "cutoffs": "empty for the whole list, or several, such as 1, 5, 10",
    "forms of gain": "as 0, 1, 3, or label=gain, ...",
    "None": "null",
    **dict.fromkeys(("data", "file", "file of got"), ""),
    **dict.fromkeys(
        ("by", "engine", "exclude", "exclude_from", "fields", "ignore_index", "ignore_ties"),
        IN_PYTHON,
    ),
    **dict.fromkeys(("measures", "use_aggregator"), IN_PYTHON),
    **dict.fromkeys(
        ("alternative", "between", "known discount", "margin", "options", "paired", "report"),
        IN_PYTHON,
    ),
}
MEND_PADDING = "If it is padding, leave its document out."
MEND_NEGATIVE = (
    f"Set {LABELS['negative_relevance']} in the options to clip, which counts it as 0, or to keep."
)
Rows = Sequence[Sequence[Any]]


def cutoffs_of(text: str) -> list[int | None]:
    """Return the cutoffs of a text such as "1, 5, 10"; empty for the whole list."""
    parts = [part for part in text.replace(";", ",").replace(" ", ",").split(",") if part]
    found: list[int | None] = []
    for part in parts:
        if part.lower() in ("all", "none"):
            found.append(None)
        elif (
            not part.isascii()
            or not part.isdigit()
            or not 1 <= int(part.lstrip("0")[:9] or 0) <= LONGEST_CUTOFF
        ):
            problem = f"is not a cutoff: write whole numbers from 1 to {LONGEST_CUTOFF:,}, such as 1, 5, 10"
            raise tables.InputError(
                f"{part[:40]!r} {problem}; leave it empty for the whole list", "k"
            )
        else:
            found.append(int(part.lstrip("0")))
    if len(found) > 20:
        raise tables.InputError(f"{len(found)} cutoffs; give at most 20", "k")
    return found or [None]


def largest(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest cutoff; None is the whole list."""
    return None if None in cutoffs else max(k for k in cutoffs if k is not None)


def in_words(message: Any, names: Mapping[str, str] = {}) -> str:
    """Return an error or a note of the metric in the words of the page, or with these names of arguments."""
    words: str = tables.worded(
        message, lambda said, name, *values: names.get(name) or _on_page(said, name, *values)
    )
    return words


def _on_page(said: str, name: str, *values: Any) -> str:
    """Return what the page calls an option or an argument; files and systems go by their names."""
    if name in ("path", "systems"):
        return Path(values[0]).name if name == "path" else str(values[0])
    called = CALLED.get(name, "{}")
    if not values or called in ("", IN_PYTHON):
        return called.format(values[0] if name == "options" else said)
    if isinstance(values[0], dict):
        return f"in {called}: {tables.text_of_gain(values[0])}"
    return f"{called} set to {' or '.join(chosen_word(name, each) for each in values)}"


def chosen_word(name: str, value: Any) -> str:
    """Return the value of an option as its choice on the page has it, in quotes; others, such as cutoffs, as text."""
    options = {each: option_of(name, each) for each in CHOICES.get(name, ())}
    text = next(
        (each for each, option in options.items() if same_values(option, {name: value})), str(value)
    )
    text = "all" if value is None else text
    return f'"{WORDS.get((name, text), text)}"' if options else text


def option_of(name: str, choice: str) -> dict[str, Any]:
    """Return the option of `compute` for a choice of the bar."""
    if name == "judged_only":
        return {name: choice == "true"}
    if name == "gain":
        gains = tables.gain_in(choice)
        return {
            name: {f"{label}": gain for label, gain in enumerate(gains)}
            if isinstance(gains, list)
            else gains
        }
    return {
        name: float(choice) if name == "zero_division" and choice != "perfect_if_empty" else choice
    }


def options_of(
    cutoffs: str,
    log_base: float | None,
    *settings: str,
) -> dict[str, Any]:
    """Return the options of `compute` for the settings of the bar, in the order of CHOICES."""
    if log_base is None or log_base <= 1:
        raise ValueError("Base of the logarithm: give a number above 1, such as 2.")
    options: dict[str, Any] = {"k": cutoffs_of(cutoffs), "log_base": log_base}
    for name, choice in zip(CHOICES, settings, strict=True):
        if choice is None:
            raise ValueError(f"{LABELS[name]}: choose one of its options.")
        options |= option_of(name, choice)
    if options["ideal"] == "full" and None in options["k"]:
        raise ValueError(
            "The full ideal has as many documents as there are ranks: give Cutoffs k, such as 10."
        )
    return options


def gain_word(options: Mapping[str, Any]) -> str:
    """Return the name of a gain."""
    return options["gain"] if isinstance(options["gain"], str) else "by label"


def labels_of(options: Mapping[str, Any]) -> Any:
    """Return the labels that relevances are, with their gains; None if relevances are numbers."""
    return tables.Options.parse(gain=options.get("gain")).labels


def gains_by_label(options: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the gain of each label; nothing if relevances are numbers."""
    labels = labels_of(options)
    return dict(labels.gains) if labels else {}


def settings_of(convention: str) -> list[Any]:
    """Return the settings of the bar for a convention, in the order of CHOICES."""
    chosen = CONVENTIONS[convention]
    values = [getattr(chosen, name) for name in tables.CHOICES]
    return [f"{value:g}" if isinstance(value, float) else value for value in values]


def bar_of(convention: str) -> list[Any]:
    """Return the bar of a convention, everything else as on a first visit."""
    return ["10", 2, *settings_of(convention), "raise", "false", "descending"]


def makes(convention: str, *settings: str) -> bool:
    """Return whether a convention makes these choices of the bar; those that no convention makes are ignored."""
    return settings_of(convention) == [*settings[: len(tables.CHOICES)]]


def convention_of(*settings: str) -> str:
    """Return the convention that makes these choices, or "custom"."""
    return next((name for name in CONVENTIONS if makes(name, *settings)), "custom")


def same_values(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the options of one have the same values in the other."""
    return all(
        one[name] == other[name] or (one[name] != one[name] and other[name] != other[name])
        for name in one
    )


def non_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not the defaults of `compute`, the convention by its name."""
    default = CONVENTIONS["sklearn"].options
    kept: dict[str, Any] = {}
    if options["k"] != [None]:
        kept["k"] = options["k"][0] if len(options["k"]) == 1 else options["k"]
    convention = next(
        (name for name, each in CONVENTIONS.items() if same_values(each.options, options)), None
    )
    if convention is None:
        kept |= {name: options[name] for name, value in default.items() if options[name] != value}
    elif convention != "sklearn":
        kept["convention"] = convention
    others = {
        "log_base": 2,
        "duplicates": "raise",
        "judged_only": False,
        "score_order": "descending",
    }
    return kept | {name: options[name] for name, value in others.items() if options[name] != value}


def symbols(options: Mapping[str, Any]) -> str:
    """Return the formula of DCG as HTML, its symbols named by the terms that the picture marks."""
    k = options["k"][0]
    gains = {"linear": "r", "exponential": "(2<sup>r</sup> − 1)", "binary": "[r &gt; 0]"}
    gain = gains.get(gain_word(options), "gain(r)")
    formula = html.escape(tables.DISCOUNTS[options["discount"]].formula)
    discount = formula.replace(" / ", " ⁄ ").replace(
        "log_b", f"log<sub>{options['log_base']:g}</sub>"
    )
    ranks = "at each rank i" if k is None else f"at each rank i up to {scrubbed('k', k)}"
    return (
        "<span data-term='dcg'>DCG</span> = Σ <span data-term='gain' title='gain of the document at rank i, of "
        f"relevance r'>{gain}</span> × <span data-term='discount' title='discount of rank i'>"
        f"{discount}</span>, for the relevance r {ranks}"
    )


def scrubbed(name: str, text: Any) -> str:
    """Return a value in a sentence, as HTML, that changes as it is dragged; a field shows the same value."""
    title = "drag left or right"
    return f"<span class='scrub' data-scrub='{name}' title='{title}'>{text}</span>"


def snippet(inputs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return Python that computes the same."""
    arguments = {**inputs, **non_defaults(options)}
    lines = "".join(f"    {name}={_python(value)},\n" for name, value in arguments.items())
    return f'import evaluate\n\nndcg = evaluate.load("ndcg.py")  # or the name of this Space\nndcg.compute(\n{lines})\n'


def _python(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and math.isnan(value) else repr(value)


def parse_link(parameters: Mapping[str, str], rows: Rows) -> tuple[Rows, str, list[Any], list[str]]:
    """Return the table, the convention and the bar of an address, and the names of what cannot be read.

    If a part is missing or cannot be read, it is `rows` or the default.
    """
    unread = []

    def read(name: str, otherwise: Any, of_text: Callable[[str], Any]) -> Any:
        try:
            return of_text(parameters[name]) if name in parameters else otherwise
        except (ValueError, KeyError, csv.Error):
            unread.append(name)
            return otherwise

    relevance = read("rel", None, lambda text: _cells_of(text, None))
    if relevance is not None:
        size = len(relevance)
        usual_ids, usual_scores = _usual_columns(size)
        ids = read("ids", usual_ids, lambda text: _cells_of(text, size))
        scores = read("scores", usual_scores, lambda text: _cells_of(text, size))
        rows = list(map(list, zip(ids, relevance, scores, strict=True)))
    named = read("convention", "sklearn", {name: name for name in CONVENTIONS}.__getitem__)
    readers: dict[str, Callable[[str], Any]] = {"k": lambda text: text[:200], "log_base": _base_of}
    readers |= {name: {each: each for each in words}.__getitem__ for name, words in CHOICES.items()}
    readers["gain"] = _gain_of
    bar = [
        read(name, value, readers[name]) for name, value in zip(LINKED, bar_of(named), strict=True)
    ]
    return rows, named if makes(named, *bar[2:]) else convention_of(*bar[2:]), bar, unread


def _base_of(text: str) -> float:
    """Return the base of the logarithm in an address."""
    if not math.isfinite(base := float(text)):
        raise ValueError("a base is finite")
    return base


def _gain_of(text: str) -> str:
    """Return the gain in an address."""
    tables.Options.parse(**option_of("gain", text))
    return text


def _cells_of(text: str, size: int | None) -> list[str]:
    """Return the cells of a column in an address."""
    cells = [each.strip() for each in next(csv.reader([text]), [])]
    if len(cells) != (len(cells) if size is None else size) or len(cells) > DOCUMENTS:
        raise ValueError(
            f"a ranking has at most {DOCUMENTS} documents, and a cell of each column for each"
        )
    return [cell.encode("utf-8", "replace").decode() for cell in cells]


def _usual_columns(size: int) -> tuple[list[str], list[str]]:
    """Return the names and the scores of documents that need not be in an address."""
    return [f"d{at}" for at in range(1, size + 1)], [f"{at}" for at in range(size, 0, -1)]


def query_of(rows: Rows | None, convention: str, *bar: Any) -> tuple[str, bool]:
    """Return the address, after its ?, of a bar and a table, if any, unless that is too long; and whether it is not."""
    named = convention if convention in CONVENTIONS and makes(convention, *bar[2:]) else "sklearn"
    parameters = {"k": text_of(bar[0])} | ({"convention": named} if named != "sklearn" else {})
    fields = zip(LINKED[1:], bar[1:], bar_of(named)[1:], strict=True)
    parameters |= {
        name: str(value) for name, value, default in fields if value not in (None, default)
    }
    kept = [
        [text_of(cell) for cell in row] for row in rows or [] if any(text_of(cell) for cell in row)
    ]
    usual_ids, usual_scores = _usual_columns(len(kept))
    columns = {"rel": (1, None), "ids": (0, usual_ids), "scores": (2, usual_scores)}
    ranking = {}
    for name, (at, usual) in columns.items():
        cells = [row[at] for row in kept]
        if cells != usual and rows is not None:
            text = io.StringIO()
            csv.writer(text, lineterminator="").writerow(cells)
            ranking[name] = text.getvalue()
    whole = sum(map(len, ranking.values())) <= LONGEST_RANKING
    return urllib.parse.urlencode({**(ranking if whole else {}), **parameters}, safe=","), whole


def cell_of(value: float | str | None) -> str:
    """Return a number or a label as a cell of a table; None as an empty one."""
    return (
        value if isinstance(value, str) else "" if value is None else repr(value).removesuffix(".0")
    )


def shown_relevance(relevance: float | str) -> str:
    """Return a relevance, a number or a label, as people read it."""
    return relevance if isinstance(relevance, str) else f"{relevance:g}"


def text_of(cell: Any) -> str:
    """Return a cell of a table as text; of an empty one none."""
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if missing else str(cell).strip()
