"""What each tab of the page shows, from what was put in and chosen."""

import ast
import base64
import csv
import html
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import evaluate
import pandas as pd

from choices import CHOICES, DOCUMENTS, Rows, cutoffs_of, options_of, same, snippet, text_of
from conventions import CONVENTIONS
from figures import Ranking, as_lines, curves, distribution, steps, whole_ranks
from uploads import Mappings, UploadError, check_size, read_upload


def metric_file(folder: Path) -> Path:
    """Return the file that defines the class NDCG: ndcg.py, which on a Space has the name of the Space.

    Raises:
        RuntimeError: No file does, or several do.
    """
    found = []
    for path in sorted(folder.glob("*.py")):
        module = ast.parse(path.read_bytes(), str(path))
        if any(isinstance(each, ast.ClassDef) and each.name == "NDCG" for each in module.body):
            found.append(path)
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise RuntimeError(f"{folder} must hold one file that defines the class NDCG; it holds {names}")
    return found[0]


def metric_card(folder: Path) -> str:
    """Return the README without its front matter, then the pages of docs/: as one text, whose links lead within it."""
    card = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").glob("*.md"))}

    def within(link: re.Match[str]) -> str:
        text, path, anchor = link.groups()
        page = Path(path).stem
        if path and page not in pages:
            return text  # a file that the page does not show
        return f"[{text}](#h-{anchor or page})"  # Gradio names a heading by GitHub's rule, after an h-

    return re.sub(r"\[([^]]+)\]\(([\w./]*)(?:#([\w-]+))?\)", within, "\n\n".join([card, *pages.values()]))


ndcg = evaluate.load(str(metric_file(Path(__file__).resolve().parent)))
HEADERS = ["document", "relevance", "score"]

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
BOUNDS = ("worst", "best")
STEPS_CAPTION = (
    "Each document's share, up to the first cutoff. Ideal: what the ideal ranking has at this rank; "
    "loss: how much less this one has"
)
AUDIT_CAPTION = (
    "Audit. Not ranked: judged queries that the run lacks; not judged: its queries without judgments; "
    "tied: queries whose score depends on the order of ties; unjudged: documents within the first cutoff"
)
AUDIT = ["run", "documents", "queries", "not ranked", "not judged", "tied", "unjudged@k"]
MEANS = ["run", "measure", "mean", "from", "to", "standard error"]
PAIRS = ["measure", "run", "other", "difference", "95% interval", "p", "p (Holm)", "t-test p", "t-test p (Holm)"]
PAIRS += ["won, tied, lost"]
RESAMPLES = 2000
BARS = 20
RUNS = 5
LARGEST = 1e100  # sums of more would not be finite
ROWS_SHOWN = 1000
SOURCES = ["The example of the metric card", "The ranking of the first tab", "The batch of the third tab"]


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


def sheet(caption: str, frame: pd.DataFrame) -> str:
    """A table to read, its cells as text; wide ones scroll."""
    with pd.option_context("display.max_colwidth", None):
        rows = frame.to_html(index=False, border=0, float_format=_rounded, na_rep="")
    label = html.escape(caption)
    scrolled = f"<div class='sheet' role='region' tabindex='0' aria-label='{label}'>{rows}</div>"
    return f"<figure><figcaption>{label}</figcaption>{scrolled}</figure>"


def _rounded(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def csv_link(columns: Sequence[str], rows: Rows, name: str) -> str:
    """A link that holds a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows([map(_for_spreadsheet, row) for row in (columns, *rows)])
    data = base64.b64encode(text.getvalue().encode()).decode()
    return f"<a class='csv' download='{name}' href='data:text/csv;charset=utf-8;base64,{data}'>Download as CSV</a>"


def _for_spreadsheet(cell: Any) -> Any:
    """A cell such that no spreadsheet takes text for a formula, nor rounding for a number."""
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


def table_of(rows: Rows) -> pd.DataFrame:
    """Return rows of document, relevance and score as the table that is edited."""
    return pd.DataFrame([list(row) for row in rows], columns=HEADERS)


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return document, relevance and score of each row, by the headers of their columns.

    Raises:
        ValueError: The table has other columns.
    """
    headers = [text_of(each) for each in table.columns]
    if sorted(headers) != sorted(HEADERS):
        found = ", ".join(headers)[:100] or "none"
        raise ValueError(f"The table must have the columns {', '.join(HEADERS)}; it has {found}. Choose an example.")
    rows: list[list[Any]] = table.set_axis(headers, axis=1)[HEADERS].to_numpy().tolist()
    return rows


def ranking_of(rows: Rows) -> Ranking:
    """The ranking of an edited table; empty rows are skipped."""
    filled = [[text_of(cell) for cell in row] for row in rows]
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


def _number(cell: str, name: str, row: int) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell if cell.isascii() and "_" not in cell else "")
    except ValueError:
        meaning = "was not judged" if name == "relevance" else "was not retrieved"
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} is not a number; leave it empty if it {meaning}.") from None
    if not math.isfinite(value):
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} must be finite.")
    if abs(value) > LARGEST:
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} is too large to be shown; the metric itself takes it.")
    return value


@clearing(8)
def score_ranking(table: pd.DataFrame, cutoffs: str, *choices: Any) -> tuple[Any, ...]:
    """Everything the first tab shows of a ranking."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    ranking = ranking_of(rows_of(table))
    given = ranking.given(options)
    result = {name: value[0] for name, value in ndcg.compute(**given, **options, k=ks, use_aggregator=False).items()}
    if any(math.isnan(value) for value in result.values()):
        raise ValueError("Nothing relevant was judged, and such queries are left out of the mean: there is no score.")
    bounds = {**options, "k": ks, "use_aggregator": False}
    worst, best = (next(iter(ndcg.compute(**ranking.inputs, **{**bounds, "ties": order}).values())) for order in BOUNDS)
    ranks = steps(ndcg, ranking, options, ks[0])
    by_cutoff = curves(ndcg, ranking, options)
    name = next(iter(result))
    scores = [score for score in ranking.score if score is not None]
    note = "The order of tied documents does not change this score."
    if len(set(scores)) == len(scores):
        note = "No documents are tied."
    if worst != best:
        note = f"Tied documents: by their order, {name} could be anything from {worst[0]:.4f} to {best[0]:.4f}."
    if ranks["ideal"].sum() <= 0:
        note = "Nothing relevant was judged: this is the value chosen for such queries. " + note
    added = ["contribution", "ideal", "loss"]
    sums = pd.DataFrame({"rank": ["sum"], **dict.fromkeys(["document", "relevance"], ""), **ranks[added].sum()})
    lost = f"Of the ideal {ranks['ideal'].sum():.4f}, this ranking loses {ranks['loss'].sum():.4f}."
    return (
        big(result, f"{note} {lost}"),
        whole_ranks(as_lines(by_cutoff)),
        whole_ranks(by_cutoff[["k", "nDCG"]]),
        sheet(STEPS_CAPTION, pd.concat([ranks, sums])),
        sheet("The curves in numbers", by_cutoff),
        ndcg.signature(k=ks, **options),
        snippet(given, options, ks),
        csv_link(list(ranks.columns), ranks.values.tolist(), "ranking.csv"),
    )


def moved(rows: Rows, row: int, by: int) -> list[list[Any]]:
    """The table with a document one place up or down: it trades places, and scores, with its neighbour."""
    table = [list(each) for each in rows]
    other = row + by
    if 0 <= row < len(table) and 0 <= other < len(table):
        table[row], table[other] = table[other], table[row]
        table[row][2], table[other][2] = table[other][2], table[row][2]
    return table


# Search runs


@clearing(8)
def score_files(qrels_file: str | None, run_files: list[str] | None, cutoffs: str, *choices: Any) -> tuple[Any, ...]:
    """Everything the second tab shows of uploaded runs."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    qrels, runs = read_files(qrels_file, run_files)
    if len(qrels) == 1:
        raise ValueError("The qrels have one query, and one says nothing of others: see it in the tab One ranking.")
    audit = [audit_of(name, run, qrels, options, ks[0]) for name, run in runs.items()]
    judged = of_judged_queries(qrels, runs)
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
        scores, pairs = report.scores, report.pairs
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
    pair_table = [
        [*pair[:4], f"{pair.low:.4f} to {pair.high:.4f}", *pair[7:11], "{}, {}, {}".format(*pair[11:])]
        for pair in pairs
    ]
    return (
        big(first, " ".join([note, *report.notes])),
        sheet(AUDIT_CAPTION, pd.DataFrame(audit, columns=AUDIT)),
        sheet("Scores, with 95% intervals", pd.DataFrame(means, columns=MEANS)),
        sheet("Paired comparison", pd.DataFrame(pair_table, columns=PAIRS)) if pairs else None,
        bars.sort_values("value"),
        table.round(4),
        report.signature,
        csv_link(list(table.columns), table.values.tolist(), "queries.csv"),
    )


def read_files(qrels_file: str | None, run_files: list[str] | None) -> tuple[Mappings, dict[str, Mappings]]:
    """The qrels and the runs by their names."""
    if not qrels_file or not run_files:
        raise ValueError("Upload the qrels and at least one run.")
    if len(run_files) > RUNS:
        raise ValueError(f"{len(run_files)} runs; at most {RUNS} are compared.")
    qrels = read_upload(qrels_file, "qrels", ndcg.read_qrels)
    return qrels, {name: read_upload(path, "run", ndcg.read_run) for name, path in names_of(run_files).items()}


def names_of(run_files: list[str]) -> dict[str, str]:
    """The files of runs by the names of these, each its own."""
    files: dict[str, str] = {}
    for path in run_files:
        stem = re.sub(r"(?i)\.(trec|run|txt|csv|tsv|parquet|json)?(\.gz)?$", "", Path(path).name) or Path(path).name
        names = itertools.chain([stem], (f"{stem} ({at})" for at in itertools.count(2)))
        files[next(each for each in names if each not in files)] = path
    return files


def of_judged_queries(qrels: Mappings, runs: Mapping[str, Mappings]) -> dict[str, Mappings]:
    """Each run's rankings of the judged queries, empty where it has none."""
    return {name: {query: run.get(query, {}) for query in qrels} for name, run in runs.items()}


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


def opened(qrels_file: str, run_files: list[str], query: str, column: int) -> tuple[list[list[str]], str]:
    """A query of uploaded files as rows for the first tab, by the run of a column or the first, and a name for them."""
    names = names_of(run_files)
    name = list(names)[column - 1 if 1 <= column <= len(names) else 0]
    qrels, runs = read_files(qrels_file, [names[name]])
    run, judged = next(iter(runs.values())).get(query, {}), qrels.get(query, {})
    ranked = sorted(run, key=run.__getitem__, reverse=True)
    missing = sorted((each for each in judged if each not in run), key=judged.__getitem__, reverse=True)
    # of what does not fit, the least relevant documents that were not retrieved matter least
    listed = [*ranked[: max(DOCUMENTS // 2, DOCUMENTS - len(missing))], *missing][:DOCUMENTS]
    there = len(ranked) + len(missing)
    cut = "" if len(listed) == there else f", {len(listed)} of {there} documents"
    return [[d, _text(judged.get(d)), _text(run.get(d))] for d in listed], f"Query {query} by {name}{cut}"


def _text(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")


# A batch


@clearing(6)
def score_batch(
    predictions: str, references: str, weights: str, query_ids: str, cutoffs: str, *choices: Any
) -> tuple[Any, ...]:
    """Everything the third tab shows of a batch."""
    options, ks = options_of(*choices), cutoffs_of(cutoffs)
    inputs = batch_of(predictions, references, weights, query_ids)
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
    of_queries = "Every query" if len(rows) <= ROWS_SHOWN else f"The first {ROWS_SHOWN:,} queries of {len(rows):,}"
    return (
        big(result, f"{note}."),
        bars,
        sheet(of_queries, pd.DataFrame(rows[:ROWS_SHOWN], columns=["query", *by_query])),
        ndcg.signature(k=ks, **options, sample_weight=inputs.get("sample_weight")),
        snippet(inputs, options, ks) if len(predictions) <= 5000 else snippet({}, options, ks),
        csv_link(["query", *by_query], rows, "batch.csv"),
    )


def batch_of(predictions: str, references: str, weights: str, query_ids: str) -> dict[str, Any]:
    """The arguments of `compute` from what the third tab holds."""
    inputs = {
        "predictions": _json("predictions", predictions),
        "references": _json("references", references),
        "sample_weight": _json("weights", weights),
        "query_ids": _json("query ids", query_ids),
    }
    inputs = {name: value for name, value in inputs.items() if value is not None}
    if not {"predictions", "references"} <= inputs.keys():
        raise ValueError("Give predictions and references, as lists of one list per query.")
    return inputs


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
            hint = f"{problem.msg}; write a list such as [1, 2, 0]"
            raise ValueError(f"{name}: line {problem.lineno}, column {problem.colno}: {hint}.") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: nested too deeply, or a number too long; give one list per query.") from None
    if not isinstance(found, list):
        raise ValueError(f"{name}: must be a list, such as [1, 2, 0]; got {type(found).__name__}.")
    try:
        check_size(found)
    except UploadError as problem:
        raise ValueError(f"{name}: {problem}.") from None
    return found


# Conventions side by side


@clearing(2)
def compare_conventions(
    source: str,
    table: pd.DataFrame,
    predictions: str,
    references: str,
    weights: str,
    query_ids: str,
    cutoffs: str,
    *choices: Any,
) -> Any:
    """The same data by each convention, and which choice changes what."""
    now, k = options_of(*choices), cutoffs_of(cutoffs)[0]
    if source == SOURCES[1]:
        given = ranking_of(rows_of(table)).given
    else:
        inputs = CARD_EXAMPLE
        if source == SOURCES[2]:
            inputs = batch_of(predictions, references, weights, query_ids)

        def given(options: dict[str, Any]) -> dict[str, Any]:
            return inputs

    def score_by(options: dict[str, Any]) -> str:
        return _score(given(options), options, k)

    base = score_by(now)
    lines = []
    for name, convention in CONVENTIONS.items():
        options = {**now, **convention.options}
        changes = []
        for option, value in convention.options.items():
            if not same({option: value}, now):
                alone = score_by({**now, option: value})
                changed = "no change" if alone == base else alone
                changes.append(
                    f"{option}={value:g}: {changed}" if isinstance(value, float) else f"{option}={value}: {changed}"
                )
        lines.append([name, score_by(options), "; ".join(changes) or "these are the choices made above"])
    measure = "nDCG" if k is None else f"nDCG@{k}"
    note = f"<p class='note'>By the choices made above, {measure} is {html.escape(base)}.</p>"
    columns = ["convention", measure, "with only this choice changed"]
    return note, sheet("The same data by each convention", pd.DataFrame(lines, columns=columns))


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
