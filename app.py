"""The Space's page: see why a ranking scores what it does."""

import ast
import base64
import csv
import html
import io
import itertools
import json
import math
import re
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
import pandas as pd

from conventions import CONVENTIONS, convention_notes
from figures import Ranking, as_lines, curves, distribution, steps
from uploads import BATCH, ROWS, Mappings, UploadError, read_columns, read_upload

HERE = Path(__file__).resolve().parent
# On a Space the metric has the name of the Space.
METRIC = next(path for path in HERE.glob("*.py") if "class NDCG(" in path.read_text(encoding="utf-8"))
ndcg = evaluate.load(str(METRIC))

DOCUMENTS = 500  # of the ranking in the first tab
LONGEST_CUTOFF = 100_000
PRESET = ("gain", "ties", "zero_division", "negative_relevance")
EXAMPLES: dict[str, list[tuple[str, str, str]]] = {
    "Textbook: 3 2 3 0 1 2": [(f"d{at + 1}", r, str(6 - at)) for at, r in enumerate("323012")],
    "Perfect": [("d1", "3", "4"), ("d2", "2", "3"), ("d3", "1", "2"), ("d4", "0", "1")],
    "Reversed": [("d1", "0", "4"), ("d2", "1", "3"), ("d3", "2", "2"), ("d4", "3", "1")],
    "All tied": [("d1", "3", "1"), ("d2", "2", "1"), ("d3", "1", "1"), ("d4", "0", "1")],
    "Nothing relevant": [("d1", "0", "3"), ("d2", "0", "2"), ("d3", "0", "1")],
    "Relevant documents not retrieved": [
        *((f"d{at + 1}", r, str(6 - at)) for at, r in enumerate("323012")),
        ("d7", "3", ""),
        ("d8", "2", ""),
    ],
}
FIRST = next(iter(EXAMPLES))
CARD_EXAMPLE = {
    "predictions": [[0.5, 0.5, 0.2, 0.1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [6, 5, 4, 3, 2, 1]],
    "references": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [3, 2, 3, 0, 1, 2]],
}
Rows = Sequence[Sequence[Any]]


# Choices: the bar above the tabs


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
            found.append(int(part))
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
    names = [name for name, each in CONVENTIONS.items() if _same(each.options, settings)]
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


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one[name] == other[name] or (one[name] != one[name] and other[name] != other[name]) for name in one)


def formula(options: Mapping[str, Any], k: int | None) -> str:
    """The measure as these options make it, in LaTeX."""
    at = "" if k is None else f"@{k}"
    limit = "n" if k is None else str(k)
    gain = {"linear": "r_i", "exponential": "2^{r_i} - 1", "binary": "[r_i > 0]"}[options["gain"]]
    base = f"{options['log_base']:g}"
    return (
        f"$$\\text{{nDCG}}{at} = \\frac{{\\text{{DCG}}{at}}}{{\\text{{IDCG}}{at}}} \\qquad "
        f"\\text{{DCG}}{at} = \\sum_{{i=1}}^{{{limit}}} \\frac{{{gain}}}{{\\log_{{{base}}}(i+1)}}$$"
    )


def snippet(inputs: Mapping[str, Any], options: Mapping[str, Any], cutoffs: Sequence[int | None]) -> str:
    """Python that computes the same."""
    k = cutoffs[0] if len(cutoffs) == 1 else list(cutoffs)
    arguments = {**inputs, **({} if k is None else {"k": k}), **short(options)}
    lines = "".join(f"    {name}={_python(value)},\n" for name, value in arguments.items())
    return f'import evaluate\n\nndcg = evaluate.load("ndcg.py")  # or the name of this Space\nndcg.compute(\n{lines})\n'


def _python(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and math.isnan(value) else repr(value)


# What results have in common


def big(result: Mapping[str, float], note: str = "") -> str:
    """The first score large, the others beside it."""
    (name, value), *others = result.items()
    beside = "".join(f"<span class='other'>{html.escape(n)} <b>{v:.4f}</b></span>" for n, v in others)
    said = f"<p class='note'>{html.escape(note)}</p>" if note else ""
    first = f"<span class='name'>{html.escape(name)}</span> <output class='value'>{value:.4f}</output>"
    return f"<div class='score' role='status'>{first}{beside}</div>{said}"


def error(problem: Exception | str) -> str:
    """What is wrong, as text."""
    return f"<p class='error' role='alert'>{html.escape(str(problem))}</p>"


def csv_link(columns: Sequence[str], rows: Rows, name: str) -> str:
    """A link that holds a CSV file."""
    text = io.StringIO()
    # what a spreadsheet would take for a formula is text to it
    safe = [
        [f"'{cell}" if isinstance(cell, str) and cell[:1] in tuple("=+-@\t\r") else cell for cell in row]
        for row in rows
    ]
    csv.writer(text).writerows([columns, *safe])
    data = base64.b64encode(text.getvalue().encode()).decode()
    return f"<a class='csv' download='{name}' href='data:text/csv;charset=utf-8;base64,{data}'>Download as CSV</a>"


def clearing(outputs: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a handler say what is wrong in its first output, and clear the others."""

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(handler)
        def handle(*arguments: Any) -> Any:
            try:
                return handler(*arguments)
            except (ValueError, TypeError, OverflowError) as problem:
                return (error(problem), *[None] * (outputs - 1))

        return handle

    return decorate


# One ranking


def ranking_of(rows: Rows) -> Ranking:
    """The ranking of an edited table; empty rows are skipped."""
    filled = [[_cell(cell) for cell in (*row, "", "", "")[:3]] for row in rows]
    filled = [row for row in filled if any(row)]
    if not filled:
        raise ValueError("There is no document yet: fill in a row, or choose an example.")
    if len(filled) > DOCUMENTS:
        raise ValueError(f"{len(filled):,} documents; this tab takes {DOCUMENTS}, the metric itself any number.")
    columns = [
        [_number(row[at], name, place) for place, row in enumerate(filled, 1)]
        for at, name in ((1, "relevance"), (2, "score"))
    ]
    documents = [row[0] or f"document {place}" for place, row in enumerate(filled, 1)]
    if len(set(documents)) < len(documents):
        twice = next(each for each in documents if documents.count(each) > 1)
        raise ValueError(f"Document {twice!r} is there twice; give each document a name of its own.")
    return Ranking(documents, *columns)


def _cell(cell: Any) -> str:
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if missing else str(cell).strip()


def _number(cell: str, name: str, row: int) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        meaning = "was not judged" if name == "relevance" else "was not retrieved"
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} is not a number; leave it empty if it {meaning}.") from None
    if not math.isfinite(value):
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} must be finite.")
    return value


@clearing(8)
def score_ranking(rows: Rows, cutoffs: str, *choices: Any) -> tuple[Any, ...]:
    """Everything the first tab shows of a ranking."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    ranking = ranking_of(rows)
    given = ranking.given(options)
    result = {name: value[0] for name, value in ndcg.compute(**given, **options, k=ks, use_aggregator=False).items()}
    if any(math.isnan(value) for value in result.values()):
        raise ValueError("Nothing relevant was judged, and such queries are left out of the mean: there is no score.")
    bounds = {**options, "k": ks, "use_aggregator": False}
    worst, best = (next(iter(ndcg.compute(**ranking.inputs, **{**bounds, "ties": order}).values())) for order in BOUNDS)
    table = steps(ndcg, ranking, options, ks[0])
    by_cutoff = curves(ndcg, ranking, options)
    name = next(iter(result))
    note = "The order of tied documents does not change this score."
    if worst != best:
        note = f"Tied documents: by their order, {name} could be anything from {worst[0]:.4f} to {best[0]:.4f}."
    if table["ideal"].sum() <= 0:
        note = "Nothing relevant was judged: this is the value chosen for such queries. " + note
    lost = f"Of the ideal {table['ideal'].sum():.4f}, this ranking loses {table['loss'].sum():.4f}."
    return (
        big(result, f"{note} {lost}"),
        as_lines(by_cutoff),
        by_cutoff[["k", "nDCG"]],
        table.round(4),
        by_cutoff.round(4),
        ndcg.signature(k=ks, **options),
        snippet(given, options, ks),
        csv_link(list(table.columns), table.values.tolist(), "ranking.csv"),
    )


BOUNDS = ("worst", "best")


def restored(parameters: Mapping[str, str]) -> list[Any]:
    """The table, cutoffs and choices that a share link holds; what it does not hold is as on a first visit."""
    rows: Any = EXAMPLES[FIRST]
    try:
        given = json.loads(parameters.get("ranking", ""))
        if isinstance(given, list) and all(isinstance(row, list) for row in given[:DOCUMENTS]):
            rows = [[_cell(cell)[:200] for cell in (*row, "", "", "")[:3]] for row in given[:DOCUMENTS]]
            rows = [[cell.encode("utf-8", "replace").decode() for cell in row] for row in rows]
    except (json.JSONDecodeError, RecursionError):
        pass  # a link without a ranking, or one that was cut off
    convention = parameters.get("convention", "sklearn")
    settings = settings_of(convention if convention in CONVENTIONS else "sklearn")
    names = ("gain", "ties", "empty", "negative")
    chosen = [_known(parameters.get(name), CHOICES[name], value) for name, value in zip(names, settings, strict=True)]
    gain, ties, empty, negative = chosen
    unjudged = _known(parameters.get("unjudged"), CHOICES["unjudged"], "gain 0")
    try:
        base = float(parameters.get("log", "2"))
    except ValueError:
        base = 2.0
    cutoffs = parameters.get("k", "10")[:200]
    return [rows, cutoffs, convention_of(*chosen), gain, base, ties, empty, negative, unjudged]


def _known(value: str | None, among: Sequence[str], otherwise: str) -> str:
    return value if value is not None and value in among else otherwise


def share(address: str, rows: Rows, cutoffs: str, *choices: Any) -> str:
    """A link that brings back the ranking and the choices."""
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
    kept = [[_cell(cell) for cell in row] for row in rows if any(_cell(cell) for cell in row)]
    ranking = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
    if len(ranking) <= 4000:  # what browsers and servers take
        parameters["ranking"] = ranking
    return f"{address.partition('?')[0]}?{urllib.parse.urlencode(parameters)}"


def moved(rows: Rows, row: int, by: int) -> list[list[Any]]:
    """The table with a document one place up or down: it trades places, and scores, with its neighbour."""
    table = [list(each) for each in rows]
    other = row + by
    if 0 <= row < len(table) and 0 <= other < len(table):
        table[row], table[other] = table[other], table[row]
        table[row][2], table[other][2] = table[other][2], table[row][2]
    return table


# Search runs


@clearing(9)
def score_files(qrels_file: str | None, run_files: list[str] | None, cutoffs: str, *choices: Any) -> tuple[Any, ...]:
    """Everything the second tab shows of uploaded runs."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    qrels, runs = read_files(qrels_file, run_files)
    audit = [audit_of(name, run, qrels, options, ks[0]) for name, run in runs.items()]
    judged = {name: {query: run.get(query, {}) for query in qrels} for name, run in runs.items()}
    how = {"references": qrels, "k": ks, "resamples": RESAMPLES, **options}
    names = list(runs)
    if len(names) == 1:
        report = ndcg.report(predictions=judged[names[0]], **how)
        scores, pairs = {names[0]: report.scores}, []
        queries = report.queries.to_pandas()
        measure = next(iter(report.scores))
        table = queries[["query", "retrieved", "judged", "relevant", measure]]
        bars = table[["query", measure]].rename(columns={measure: "value"})
    else:
        report = ndcg.compare(systems=judged, **how)
        scores, pairs = report.scores, [list(pair) for pair in report.pairs]
        measure = report.measures[0]
        by_system = report.queries.to_pandas().pivot(index="query", columns="system", values=measure)
        table = by_system.loc[list(qrels), names].reset_index()
        table["difference"] = table[names[0]] - table[names[1]]
        bars = table[["query", "difference"]].rename(columns={"difference": "value"})
    bars = bars.dropna().sort_values("value", key=abs if pairs else None, ascending=not pairs).head(BARS)
    means = [[system, name, *score[:4]] for system, each in scores.items() for name, score in each.items()]
    first = {f"{system}: {name}": value for system, name, value, *_ in means}
    what = f"{names[0]} less {names[1]}, in {measure}" if pairs else measure
    note = (
        f"{report.resampling}. Bars: {what}, the {len(bars)} queries that {'differ most' if pairs else 'score lowest'}."
    )
    pair_table = [[*pair[:3], *pair[3:6], *pair[7:11], *pair[11:]] for pair in pairs]
    return (
        big(first, " ".join([note, *report.notes])),
        pd.DataFrame(audit, columns=AUDIT),
        pd.DataFrame(means, columns=MEANS).round(4),
        pd.DataFrame(pair_table, columns=PAIRS).round(4),
        bars.sort_values("value"),
        table.round(4),
        report.signature,
        csv_link(list(table.columns), table.values.tolist(), "queries.csv"),
        {"qrels": qrels, "run": judged[names[0]]},
    )


AUDIT = [
    "run",
    "documents",
    "queries",
    "judged queries it lacks",
    "queries without judgments",
    "queries with ties that matter",
    "unjudged within the cutoff",
]
MEANS = ["run", "measure", "mean", "from", "to", "standard error"]
PAIRS = ["measure", "run", "other", "difference", "from", "to", "p", "p (Holm)", "p (t-test)", "p (t-test, Holm)"]
PAIRS += ["won", "tied", "lost"]
RESAMPLES = 2000
BARS = 40
RUNS = 5


def read_files(qrels_file: str | None, run_files: list[str] | None) -> tuple[Mappings, dict[str, Mappings]]:
    """The qrels and the runs by their names."""
    if not qrels_file or not run_files:
        raise ValueError("Upload the qrels and at least one run.")
    if len(run_files) > RUNS:
        raise ValueError(f"{len(run_files)} runs; at most {RUNS} are compared.")
    qrels = read_upload(qrels_file, "qrels", ndcg.read_qrels)
    runs: dict[str, Mappings] = {}
    for path in run_files:
        stem = re.sub(r"(?i)\.(trec|run|txt|csv|tsv|parquet|json)?(\.gz)?$", "", Path(path).name) or Path(path).name
        names = itertools.chain([stem], (f"{stem} ({at})" for at in itertools.count(2)))
        name = next(each for each in names if each not in runs)
        runs[name] = read_upload(path, "run", ndcg.read_run)
    return qrels, runs


def audit_of(name: str, run: Mappings, qrels: Mappings, options: Mapping[str, Any], k: int | None) -> list[Any]:
    """What to know of a run before believing its score."""
    values = [
        ndcg.compute(predictions=run, references=qrels, **{**options, "ties": ties}, k=k, use_aggregator=False)
        for ties in BOUNDS
    ]
    worst, best = (next(iter(each.values())) for each in values)
    ranked = unjudged = 0
    for query in qrels.keys() & run.keys():
        top = sorted(run[query], key=run[query].__getitem__, reverse=True)[:k]
        ranked += len(top)
        unjudged += sum(document not in qrels[query] for document in top)
    return [
        name,
        sum(map(len, run.values())),
        len(run),
        len(qrels.keys() - run.keys()),
        len(run.keys() - qrels.keys()),
        sum(low < high for low, high in zip(worst, best, strict=True)),
        f"{unjudged} of {ranked}",
    ]


def opened(state: dict[str, Mappings] | None, query: str) -> list[list[str]]:
    """A query of uploaded files as rows for the first tab."""
    if not state:
        return []
    run, judged = state["run"].get(query, {}), state["qrels"].get(query, {})
    ranked = sorted(run, key=run.__getitem__, reverse=True)
    listed = [*ranked[: DOCUMENTS // 2], *(document for document in judged if document not in run)][:DOCUMENTS]
    return [[d, _text(judged.get(d)), _text(run.get(d))] for d in listed]


def _text(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")


# A batch


@clearing(6)
def score_batch(
    predictions: str, references: str, weights: str, query_ids: str, cutoffs: str, *choices: Any
) -> tuple[Any, ...]:
    """Everything the third tab shows of a batch."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    inputs = {
        "predictions": _json("predictions", predictions),
        "references": _json("references", references),
        "sample_weight": _json("weights", weights),
        "query_ids": _json("query ids", query_ids),
    }
    inputs = {name: value for name, value in inputs.items() if value is not None}
    if not {"predictions", "references"} <= inputs.keys():
        raise ValueError("Give predictions and references, as lists of one list per query.")
    result = ndcg.compute(**inputs, **options, k=ks)
    by_query = ndcg.compute(**inputs, **options, k=ks, use_aggregator=False)
    name, values = next(iter(by_query.items()))
    shown = [value for value in values if not math.isnan(value)]
    policies = []
    for policy in CHOICES["empty"]:
        value = math.nan if policy == "left out" else float(policy)
        try:
            policies.append(
                f"{policy}: {ndcg.compute(**inputs, **{**options, 'zero_division': value}, k=ks)[name]:.4f}"
            )
        except ValueError:
            policies.append(f"{policy}: no score")
    ideal = ndcg.compute(**inputs, **options, k=ks, measures="IDCG", use_aggregator=False)
    empty = sum(value <= 0 for value in next(iter(ideal.values())))
    note = f"{len(values):,} queries, {empty:,} with nothing relevant; {name} with these counted as " + ", ".join(
        policies
    )
    bars = distribution(shown)
    rows = [[at, *row] for at, row in enumerate(zip(*by_query.values(), strict=True))]
    return (
        big(result, f"{note}."),
        bars,
        pd.DataFrame(rows[:ROWS_SHOWN], columns=["query", *by_query]).round(4),
        ndcg.signature(k=ks, **options, sample_weight=inputs.get("sample_weight")),
        snippet(inputs, options, ks) if len(predictions) <= 5000 else snippet({}, options, ks),
        csv_link(["query", *by_query], rows, "batch.csv"),
    )


ROWS_SHOWN = 1000


def _json(name: str, text: str) -> Any:
    """A list as people write it in Python or JSON."""
    if not text or not text.strip():
        return None
    if len(text) > 5_000_000:
        raise ValueError(f"{name}: more than 5 MB; upload files in the tab Search runs, or use the metric itself.")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as problem:
        try:
            found = ast.literal_eval(text.strip())
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise ValueError(f"{name}: line {problem.lineno}, column {problem.colno}: {problem.msg}.") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: nested too deeply, or a number too long; give one list per query.") from None
    if not isinstance(found, list):
        raise ValueError(f"{name}: must be a list; got {type(found).__name__}.")
    return found


def fill_batch(path: str) -> tuple[Any, ...]:
    """The text of the batch from an uploaded file; what is wrong with it leaves the text alone."""
    try:
        columns = read_columns(path)
    except UploadError as problem:
        return (error(problem), *[gr.skip()] * len(BATCH))
    return (gr.skip(), *(json.dumps(columns[name]) if name in columns else "" for name in BATCH))


# Conventions side by side


@clearing(2)
def compare_conventions(source: str, rows: Rows, predictions: str, references: str, cutoffs: str, *choices: Any) -> Any:
    """The same data by each convention, and which choice changes what."""
    now, k = options_of(*choices), cutoffs_of(cutoffs)[0]
    if source == SOURCES[1]:
        given = ranking_of(rows).given
    else:
        inputs = CARD_EXAMPLE
        if source == SOURCES[2]:
            inputs = {"predictions": _json("predictions", predictions), "references": _json("references", references)}

        def given(options: dict[str, Any]) -> dict[str, Any]:
            return inputs

    def score_by(options: dict[str, Any]) -> str:
        return _score(given(options), options, k)

    base = score_by(now)
    table = []
    for name, convention in CONVENTIONS.items():
        options = {**now, **convention.options}
        changes = []
        for option, value in convention.options.items():
            if not _same({option: value}, now):
                alone = score_by({**now, option: value})
                changed = "no change" if alone == base else alone
                changes.append(
                    f"{option}={value:g}: {changed}" if isinstance(value, float) else f"{option}={value}: {changed}"
                )
        table.append([name, score_by(options), "; ".join(changes) or "these are the choices made above"])
    measure = "nDCG" if k is None else f"nDCG@{k}"
    note = f"<p class='note'>By the choices made above, {measure} is {html.escape(base)}.</p>"
    return note, pd.DataFrame(table, columns=["convention", measure, "with only this choice changed"])


SOURCES = ["The example of the metric card", "The ranking of the first tab", "The batch of the third tab"]


def _score(inputs: Mapping[str, Any], options: Mapping[str, Any], k: int | None) -> str:
    """A score as text, or why there is none."""
    try:
        (value,) = ndcg.compute(**inputs, **options, k=k).values()
    except ValueError as problem:
        if "negative" in str(problem):
            return "refused: a relevance is negative"
        if "anything relevant" in str(problem):
            return "none: all queries are left out"
        raise
    return f"{value:.4f}"


# For programs


def score(
    predictions: list[list[float | None]],
    references: list[list[float | None]],
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
) -> dict[str, Any]:
    """Score ranked documents by nDCG: how good rankings are, from 0 to 1.

    Args:
        predictions: the score of each document of each query, one list per query; null: not retrieved.
        references: the relevance of the same documents in the same order; null: not judged.
        cutoffs: how many ranks count: "10", several as "1,5,10", or "" for the whole list.
        convention: whose nDCG: "sklearn", "trec_eval", "lightgbm" and others of the metric card.
        gain: "linear", "exponential" or "binary"; "" for the convention's.
        ties: "average", "first", "last", "best" or "worst"; "" for the convention's.
        empty: nDCG of a query with nothing relevant: a number, or "left out"; "" for the convention's.

    Returns:
        The scores by name, such as "nDCG@10", and their "signature".
    """
    options = _api_options(cutoffs, convention, gain, ties, empty)
    for name, side in (("predictions", predictions), ("references", references)):
        # anything else, a path for one, is no business of this page
        if not isinstance(side, list) or not all(isinstance(each, list) for each in side):
            raise gr.Error(f"{name} must be a list of one list per query")
        if sum(map(len, side)) > ROWS:
            raise gr.Error(f"{name}: more than {ROWS:,} documents; the metric itself has no limit")
    result = _or_error(ndcg.compute, predictions=predictions, references=references, **options)
    return {**result, "signature": ndcg.signature(**options)}


def score_run(run: str, qrels: str, cutoffs: str = "10", convention: str = "trec_eval") -> dict[str, Any]:
    """Score a TREC run (or CSV, Parquet, JSON) by qrels: nDCG with its confidence interval."""
    options = _api_options(cutoffs, convention)
    judged, runs = _or_error(read_files, qrels, [run])
    (ranked,) = runs.values()
    report = _or_error(ndcg.report, predictions=ranked, references=judged, resamples=RESAMPLES, **options)
    return {name: found for name, found in report.to_dict().items() if name != "queries"}


def compare_runs(runs: list[str], qrels: str, cutoffs: str = "10", convention: str = "trec_eval") -> dict[str, Any]:
    """Which of several runs is better, and how sure that is: paired tests over the queries of the qrels."""
    options = _api_options(cutoffs, convention)
    judged, read = _or_error(read_files, qrels, runs)
    systems = {name: {query: run.get(query, {}) for query in judged} for name, run in read.items()}
    found = _or_error(ndcg.compare, systems=systems, references=judged, resamples=RESAMPLES, **options)
    return {name: each for name, each in found.to_dict().items() if name != "queries"}


def _api_options(cutoffs: str, convention: str, gain: str = "", ties: str = "", empty: str = "") -> dict[str, Any]:
    options: dict[str, Any] = {"k": _or_error(cutoffs_of, str(cutoffs or "")), "convention": convention}
    options |= {name: value for name, value in (("gain", gain), ("ties", ties)) if value}
    if empty:
        options["zero_division"] = math.nan if empty == "left out" else _or_error(float, empty)
    _or_error(ndcg.signature, **options)
    return options


def _or_error(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function returns, or its error as the sentence that a client gets."""
    try:
        return function(*arguments, **named)
    except (ValueError, TypeError) as problem:
        raise gr.Error(str(problem)[:500]) from None


# The page

CHOICES = {
    "gain": ["linear", "exponential", "binary"],
    "ties": ["average", "first", "last", "best", "worst", "docid"],
    "empty": ["0", "1", "left out"],
    "negative": ["raise", "clip", "keep"],
    "unjudged": ["gain 0", "removed"],
}
CSS = """
.score { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; }
.score .value { font-size: 2.75rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.score .other b { font-variant-numeric: tabular-nums; }
.error { border-left: .25rem solid #dc2626; padding: .5rem .75rem; font-weight: 600; overflow-wrap: anywhere; }
.csv { text-decoration: underline; }
#code textarea { font-family: var(--font-mono); }
.or { color: var(--body-text-color) !important; }
#formula .katex-display { overflow-x: auto; overflow-y: hidden; }
button[role="tab"][aria-selected="true"] { color: var(--body-text-color) !important; font-weight: 700; }
footer, footer * { color: var(--body-text-color) !important; opacity: 1; }
"""
DELIMITERS: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
FONT = ["ui-sans-serif", "system-ui", "sans-serif"]  # no font of another host
MONO = ["ui-monospace", "Consolas", "monospace"]
THEME = gr.themes.Default(primary_hue="blue", font=FONT, font_mono=MONO)
LINES = {"this ranking": "#2563eb", "ideal": "#b45309"}  # told apart, and seen, on light and dark
QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "trigger_mode": "always_last",
    "api_visibility": "private",
    "queue": False,  # answers at once; what takes longer waits in the queue
}


def metric_card() -> str:
    """The README without its front matter."""
    return (HERE / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]


with gr.Blocks(title="nDCG", delete_cache=(3600, 3600)) as page:
    gr.Markdown("# nDCG\nSee why a ranking scores what it does.")
    with gr.Group(), gr.Row():
        convention = gr.Dropdown([*CONVENTIONS, "custom"], value="sklearn", label="Convention", min_width=150)
        cutoffs = gr.Textbox("10", label="Cutoffs k, such as 1, 5, 10", max_length=200, min_width=150)
        gain = gr.Dropdown(CHOICES["gain"], value="linear", label="Gain", min_width=120)
        log_base = gr.Number(2, label="Base of the logarithm", min_width=120)
        ties = gr.Dropdown(CHOICES["ties"], value="average", label="Tied documents", min_width=120)
        empty = gr.Dropdown(CHOICES["empty"], value="0", label="Nothing relevant", min_width=120)
        negative = gr.Dropdown(CHOICES["negative"], value="raise", label="Negative relevance", min_width=120)
        unjudged = gr.Dropdown(CHOICES["unjudged"], value="gain 0", label="Not judged", min_width=120)
    formulas = gr.Markdown(latex_delimiters=DELIMITERS, elem_id="formula")
    settings = [gain, ties, empty, negative]
    choices = [gain, log_base, ties, empty, negative, unjudged]
    bar: list[Any] = [cutoffs, *choices]

    # what a first visit shows is there before any event
    first = score_ranking(EXAMPLES[FIRST], "10", "linear", 2, "average", "0", "raise", "gain 0")

    with gr.Tabs() as tabs:
        with gr.Tab("One ranking", id="ranking"):
            with gr.Row():
                with gr.Column(scale=2, min_width=320):
                    example = gr.Dropdown(list(EXAMPLES), value=FIRST, label="Examples")
                    table = gr.Dataframe(
                        [list(row) for row in EXAMPLES[FIRST]],
                        headers=["document", "relevance", "score"],
                        datatype="str",
                        type="array",
                        column_count=3,
                        interactive=True,
                        label="Documents; relevance is empty where not judged, score where not retrieved",
                        elem_id="table",
                    )
                    place = gr.Number(1, precision=0, minimum=1, label="Row, for the buttons below", elem_id="row")
                    with gr.Row():
                        add, remove = gr.Button("Add"), gr.Button("Remove")
                        up, down = gr.Button("Move up"), gr.Button("Move down")
                with gr.Column(scale=3, min_width=320):
                    ranking_score = gr.HTML(first[0], elem_id="ranking-score")
                    dcg_plot = gr.LinePlot(
                        first[1],
                        x="rank",
                        y="DCG",
                        color="ranking",
                        color_map=LINES,
                        title="Cumulative DCG against the ideal",
                        height=240,
                    )
                    ndcg_plot = gr.LinePlot(
                        first[2], x="k", y="nDCG", title="nDCG at every cutoff", y_lim=[0, 1], height=240
                    )
            step_table = gr.Dataframe(first[3], label="Each document's share, up to the first cutoff", elem_id="steps")
            cutoff_table = gr.Dataframe(first[4], label="The curves in numbers", elem_id="by-cutoff")
            with gr.Row():
                ranking_signature = gr.Textbox(first[5], label="Signature", buttons=["copy"], elem_id="signature")
                link = gr.Textbox(
                    label="Link to this ranking and these choices", buttons=["copy"], max_lines=3, elem_id="link"
                )
            ranking_code = gr.Textbox(
                first[6], label="The same in Python", lines=8, max_lines=20, buttons=["copy"], elem_id="code"
            )
            ranking_csv = gr.HTML(first[7])
        with gr.Tab("Search runs", id="runs"):
            gr.Markdown(
                "Qrels and one to five runs: TREC files (also `.gz`), CSV or Parquet with the columns query, document "
                "and score or relevance, or JSON `{query: {document: value}}`."
            )
            with gr.Row():
                qrels_file = gr.File(label="Qrels", elem_id="qrels")
                run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs")
            score_button = gr.Button("Score", variant="primary", elem_id="score-runs")
            runs_score = gr.HTML(elem_id="runs-score")
            audit = gr.Dataframe(label="Audit", elem_id="audit")
            means = gr.Dataframe(label="Scores, with 95% intervals", elem_id="means")
            pairs = gr.Dataframe(label="Paired comparison", elem_id="pairs")
            bars = gr.BarPlot(x="query", y="value", title="Query by query", sort="y", height=240)
            queries = gr.Dataframe(
                label="Every query: choose one to open its ranking", interactive=False, elem_id="queries"
            )
            runs_signature = gr.Textbox(label="Signature", buttons=["copy"])
            runs_csv = gr.HTML()
            uploaded = gr.State()
        with gr.Tab("Batch", id="batch"):
            with gr.Row():
                predictions = gr.Textbox(
                    "[[0.9, 0.8, 0.1], [0.5], [0.2, 0.4]]", label="Predictions: a list per query, or flat", lines=4
                )
                references = gr.Textbox("[[0, 1, 1], [1], [0, 0]]", label="References, likewise", lines=4)
            with gr.Row():
                weights = gr.Textbox(label="Weights, one per query (may be empty)")
                ids = gr.Textbox(label="Query ids, for flat lists (may be empty)")
            batch_file = gr.File(
                label="Or a file: JSON with these names, CSV or Parquet with columns prediction, reference, query_id",
                height=160,
                elem_id="batch-file",
            )
            batch_problem = gr.HTML(elem_id="batch-problem")
            batch_score = gr.HTML(elem_id="batch-score")
            histogram = gr.BarPlot(
                x="from", y="queries", x_title="value of a query", title="How many queries score what", height=240
            )
            batch_table = gr.Dataframe(label="Every query", elem_id="batch-queries")
            batch_signature = gr.Textbox(label="Signature", buttons=["copy"])
            batch_code = gr.Textbox(label="The same in Python", lines=8, max_lines=20, buttons=["copy"])
            batch_csv = gr.HTML()
        with gr.Tab("Why do numbers differ?", id="conventions") as conventions_tab:
            source = gr.Radio(SOURCES, value=SOURCES[0], label="Data")
            difference = gr.HTML(elem_id="difference")
            differences = gr.Dataframe(label="The same data by each convention", wrap=True, elem_id="conventions")
            gr.Markdown(convention_notes())
        with gr.Tab("Metric card", id="card"):
            gr.Markdown(metric_card(), latex_delimiters=DELIMITERS)
        with gr.Tab("API", id="api"):
            gr.Markdown(
                "`/score`, `/score_run` and `/compare` are open to `gradio_client` and, as tools, to MCP clients at "
                "`/gradio_api/mcp/`. Their parameters are listed under *Use via API* at the foot of the page."
            )
            gr.events.api(score, api_name="score")
            with gr.Row(visible=False):
                api_run, api_qrels = gr.File(label="run"), gr.File(label="qrels")
                api_runs = gr.File(label="runs", file_count="multiple")
                api_cutoffs, api_convention = (
                    gr.Textbox("10", label="cutoffs"),
                    gr.Textbox("trec_eval", label="convention"),
                )
                answer, start_run, start_compare = gr.JSON(), gr.Button(), gr.Button()
            how = [api_cutoffs, api_convention]
            start_run.click(score_run, [api_run, api_qrels, *how], answer, api_name="score_run")
            start_compare.click(compare_runs, [api_runs, api_qrels, *how], answer, api_name="compare")

    def show_formula(cutoffs: str, *choices: Any) -> str | None:
        """The formula, or nothing where a choice makes none."""
        try:
            return formula(options_of(*choices), cutoffs_of(cutoffs)[0])
        except ValueError:
            return None

    def show_link(request: gr.Request, rows: Rows, cutoffs: str, *choices: Any) -> str:
        """The link to what is shown."""
        return share(request.headers.get("referer", ""), rows, cutoffs, *choices)

    def restore(request: gr.Request) -> list[Any]:
        """What the address of the page asks for."""
        return restored(dict(request.query_params))

    def choose(convention: str) -> list[Any]:
        """The settings of a convention; of none, no change."""
        return [gr.skip()] * 4 if convention == "custom" else settings_of(convention)

    def take_example(name: str) -> list[list[str]]:
        """The table of an example."""
        return [list(row) for row in EXAMPLES[name]]

    def with_row(rows: Rows) -> list[list[Any]]:
        """The table with one more document."""
        names = {_cell(row[0]) for row in rows}
        name = next(f"d{at}" for at in range(1, len(rows) + 2) if f"d{at}" not in names)
        return [*map(list, rows), [name, "0", ""]]

    def without_row(rows: Rows, row: float | None) -> list[list[Any]]:
        """The table without a document."""
        return [list(each) for at, each in enumerate(rows, 1) if at != row]

    def move_up(rows: Rows, row: float | None) -> tuple[list[list[Any]], float]:
        """A document one place up, and its new row."""
        return moved(rows, int(row or 0) - 1, -1), max(1, (row or 1) - 1)

    def move_down(rows: Rows, row: float | None) -> tuple[list[list[Any]], float]:
        """A document one place down, and its new row."""
        return moved(rows, int(row or 0) - 1, 1), max(1, min(len(rows), (row or 0) + 1))

    def open_query(state: dict[str, Mappings] | None, event: gr.SelectData) -> tuple[Any, Any]:
        """The chosen query in the first tab."""
        return opened(state, str(event.row_value[0])), gr.Tabs(selected="ranking")

    def forget_runs() -> tuple[Any, ...]:
        """No result, where files or choices are no longer those that were scored."""
        return ("<p class='note'>Press Score.</p>", *[None] * 8)

    def choose_row(event: gr.SelectData) -> int:
        """The row of the cell that was chosen."""
        return int(event.index[0]) + 1

    shown = [ranking_score, dcg_plot, ndcg_plot, step_table, cutoff_table, ranking_signature, ranking_code, ranking_csv]
    page.load(restore, None, [table, cutoffs, convention, *choices], **QUIET)
    convention.input(choose, convention, settings, **QUIET)
    gr.on([each.input for each in settings], convention_of, settings, convention, **QUIET)
    changed = [table.change, *(each.change for each in bar)]
    gr.on([page.load, *changed], score_ranking, [table, *bar], shown, **QUIET)
    gr.on([page.load, *changed], show_link, [table, *bar], link, **QUIET)
    gr.on([page.load, *(each.change for each in bar)], show_formula, bar, formulas, **QUIET)
    example.input(take_example, example, table, **QUIET)
    table.select(choose_row, None, place, **QUIET)
    add.click(with_row, table, table, **QUIET)
    remove.click(without_row, [table, place], table, **QUIET)
    up.click(move_up, [table, place], [table, place], **QUIET)
    down.click(move_down, [table, place], [table, place], **QUIET)
    outputs = [runs_score, audit, means, pairs, bars, queries, runs_signature, runs_csv, uploaded]
    stale = [qrels_file.change, run_files.change, *(each.change for each in bar)]
    gr.on(stale, forget_runs, None, outputs, **QUIET)
    score_button.click(score_files, [qrels_file, run_files, *bar], outputs, api_visibility="private")
    queries.select(open_query, uploaded, [table, tabs], **QUIET)
    batch: list[Any] = [predictions, references, weights, ids]
    batch_file.upload(fill_batch, batch_file, [batch_problem, *batch], **QUIET)
    outputs = [batch_score, histogram, batch_table, batch_signature, batch_code, batch_csv]
    changed = [page.load, *(each.change for each in [*batch, *bar])]
    gr.on(changed, score_batch, [*batch, *bar], outputs, **QUIET)
    changed = [conventions_tab.select, *(each.change for each in [source, *bar])]
    inputs = [source, table, predictions, references, *bar]
    gr.on(changed, compare_conventions, inputs, [difference, differences], **QUIET)

page.queue(max_size=200, default_concurrency_limit=8)

if __name__ == "__main__":
    page.launch(  # on a Space, Gradio takes host and port from the environment
        css=CSS,
        theme=THEME,
        max_file_size="20mb",
        mcp_server=True,
        ssr_mode=False,
        show_error=True,
        state_session_capacity=100,  # each takes a fifth of a megabyte, and every call of a program is one
    )
