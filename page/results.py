"""Files that are uploaded, within limits, and the results of runs: scores, how they differ, and what to know first.

The metric reads the files, apart from the lists of a batch and from groups; an error is one sentence.
"""

import csv
import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from .choices import (
    CONVENTIONS,
    DOCUMENTS,
    MEND_PADDING,
    SIDES,
    cell_of,
    gains_by_label,
    in_words,
    options_of,
)
from .events import MendableError
from .metric import ndcg, tables

LIMITS = ndcg.Limits(
    bytes=20_000_000, uncompressed=100_000_000, rows=500_000, queries=20_000, columns=50
)
BATCH = ("predictions", "references", "weights", "query_ids")
COLUMNS = {"prediction": "predictions", "reference": "references", "query_id": "query_ids"}

Mappings = dict[str, dict[str, Any]]  # of scores; or of relevances, numbers or labels
RUNS = 20
OFFERS = (  # of options that errors in files name
    ("score_order", "ascending", "Rank the lowest first"),
    ("duplicates", "best", "Count each document once"),
)
LONG_BEGINNING = 16  # characters of names
UPLOAD = "Upload the qrels and at least one run."
TOGETHER = {"bytes": 100_000_000, "rows": 2_500_000}  # at most in all runs
FORM = re.compile(
    r"(?i)(\.(trec|run|txt|csv|tsv|parquet|jsonl?))?(\.(gz|zst))?$"
)  # how a name may end


def read_upload(path: str, kind: str, options: Mapping[str, Any]) -> Mappings:
    """Read a run or qrels from an uploaded file, as options say; an error names the file as the user does."""
    how = tables.Options.parse(**options)
    found: Mappings
    with _named(path):
        if kind == "qrels":
            found = ndcg.read_qrels(path, LIMITS, gain=options.get("gain"))
        else:
            found = ndcg.read_run(
                path, LIMITS, how.score_order, duplicates=how.duplicates, ties=how.ties
            )
    return found


def read_groups(path: str, queries: Collection[str]) -> dict[str, Any]:
    """Read the group of each query from an uploaded file, in any format that `by` may have."""
    with _named(path):
        groups: dict[str, Any] = tables.read_groups(path, limits=LIMITS)
        if lacking := [query for query in queries if query not in groups]:
            raise ValueError(
                f"has no group for query {lacking[0][:40]!r} ({len(lacking)} such queries)"
            )
    return {query: groups[query] for query in queries}


def read_batch(path: str) -> dict[str, list[Any]]:
    """Read the lists of a batch from an uploaded file: JSON with their names, or CSV with a row per document."""
    with _named(path):
        text = _text(path).lstrip()
        found = json.loads(text) if text.startswith(("{", "[")) else _columns(text)
        if not isinstance(found, dict):
            raise ValueError("must hold an object, {...}, of lists")
        for name in BATCH:
            if name not in found and name in BATCH[:2]:
                raise ValueError(f"has no {name}; it needs {' and '.join(BATCH[:2])}")
            if not isinstance(found.get(name, []), (list, dict)):
                raise ValueError(
                    f"{name} must be a list or a mapping; got {type(found[name]).__name__}"
                )
            check_size(found.get(name, []))
    return {name: found[name] for name in BATCH if name in found}


def check_size(side: Collection[Any]) -> None:
    """Raise an error for more queries or documents than the page accepts, in lists, mappings or one flat list."""
    queries = side.values() if isinstance(side, dict) else side
    nested = [len(each) for each in queries if isinstance(each, (list, dict))]
    LIMITS.check("queries", len(nested))
    LIMITS.check("rows", len(side) - len(nested) + sum(nested))


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Turn an error in a file into a sentence with the user's name of the file, not the server's."""
    name = "".join(
        each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in Path(path).name
    )
    try:
        if Path(path).is_symlink() or not Path(path).is_file():
            raise ValueError("is not a file")
        yield
    except RecursionError:
        raise ValueError(f"{name}: nests lists too deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except (ValueError, OSError, csv.Error, pa.ArrowException) as error:
        text = (isinstance(error, OSError) and error.strerror) or str(error)
        problem = (
            error if isinstance(error, tables.InputError) else ValueError(text.splitlines()[0])
        )
        raise tables.within(
            problem, tables.of_file(name), instead_of=tables.of_file(path)
        ) from None


def _text(path: str) -> str:
    """Return the text of a file within the limits."""
    with open(path, "rb") as file:
        content = file.read(LIMITS.bytes + 1)
    LIMITS.check("bytes", len(content))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; give CSV or JSON") from None


def _delimiter(text: str) -> str:
    return "\t" if "\t" in text.partition("\n")[0] else ","


def _columns(text: str) -> dict[str, Any]:
    """Return the columns of CSV or TSV that a batch has."""
    first, _, rows = text.partition("\n")
    LIMITS.check("columns", first.count(_delimiter(text)) + 1)
    names = [name.strip(' "\r').lower() for name in first.split(_delimiter(text))]
    types = {
        name: pa.string() if name == "query_id" else pa.float64()
        for name in COLUMNS
        if name in names
    }
    if not types or not rows:
        return {}

    def read(**others: pa.DataType) -> dict[str, list[Any]]:
        table = pa.csv.read_csv(
            pa.BufferReader(rows.encode()),
            read_options=pa.csv.ReadOptions(column_names=names),
            parse_options=pa.csv.ParseOptions(delimiter=_delimiter(text)),
            convert_options=pa.csv.ConvertOptions(
                column_types=types | others, include_columns=list(types)
            ),
        )
        return {COLUMNS[name]: table[name].to_pylist() for name in types}

    try:
        return read()
    except pa.ArrowInvalid:
        if "reference" not in types:
            raise
    found = read(reference=pa.string())
    labels = [tables.label_of(each) if each.strip() else None for each in found["references"]]
    return found | {"references": labels}


class Results(NamedTuple):
    """The results of runs."""

    found: list[
        Any
    ]  # the comparison of several runs on several queries; else the report on each run
    scores: dict[str, dict[str, Any]]  # by run and measure
    pairs: tuple[Any, ...]
    values: pd.DataFrame  # a row for each query, a column for each measure and run
    missing: dict[str, list[str]]  # the judged queries that are missing from each run
    audit: dict[
        str, list[int]
    ]  # the number of documents, of queries, and of queries without judgments, of each run
    by_trec_eval: dict[
        str, dict[str, float]
    ]  # scores of the runs in which the order of tied documents matters
    same: dict[str, str]  # the first of several equal runs, by the name of another one


@lru_cache(
    maxsize=4
)  # for choices within the results; the path of an upload has a hash of its content
def results_of(
    qrels_file: str, run_files: tuple[str, ...], groups_file: str | None, bar: tuple[Any, ...]
) -> Results:
    """Return the results of files under the options of a bar."""
    options = options_of(*bar)
    try:
        qrels, runs = read_files(qrels_file, run_files, options)
    except tables.InputError as error:
        for offer in OFFERS:
            if offer[0] in error.options:
                error.hint = ""
                raise MendableError(f"{in_words(error, SIDES)}.", offer) from None
        swapped = "swapped" in error.options
        at = next(
            (
                at
                for at, path in enumerate(run_files[:RUNS])
                if swapped and _is_qrels(path, options)
            ),
            None,
        )
        if at is None:
            raise
        problem = "The qrels and a run are in each other's place."
        raise MendableError(problem, ("swap", f"{at}", "Swap them")) from None
    how = {**options, "by": read_groups(groups_file, qrels) if groups_file else None}
    compared = len(runs) > 1 and len(qrels) > 1
    with naming_negatives(qrels_file, qrels):
        if compared:
            found = [compare_runs(runs, qrels_file, how)]
            scores, values = found[0].scores, found[0].queries.to_pandas()
        else:
            found = [report_on(run, qrels_file, how) for run in runs.values()]
            scores = {name: report.scores for name, report in zip(runs, found, strict=True)}
            values = pd.concat(
                [
                    each.queries.to_pandas().assign(system=name)
                    for name, each in zip(runs, found, strict=True)
                ]
            )
    first = {name: next(each for each, run in runs.items() if run == runs[name]) for name in runs}
    return Results(
        found,
        scores,
        found[0].pairs if compared else (),
        values.pivot(index="query", columns="system", values=list(next(iter(scores.values())))).loc[
            list(qrels)
        ],
        missing={
            name: [query for query in qrels if query not in run] for name, run in runs.items()
        },
        audit={
            name: [sum(map(len, run.values())), len(run), len(run.keys() - qrels)]
            for name, run in runs.items()
        },
        by_trec_eval=scores_by_trec_eval(runs, qrels, options, scores),
        same={name: other for name, other in first.items() if name != other},
    )


def _is_qrels(path: str, options: Mapping[str, Any]) -> bool:
    try:
        return bool(read_upload(path, "qrels", options))
    except ValueError:
        return False


@contextmanager
def naming_negatives(path: str, qrels: Mappings) -> Iterator[None]:
    """Turn an error on a negative relevance into one that names the file, counts them, and offers an option."""
    try:
        yield
    except tables.InputError as error:
        if "negative_relevance" not in error.options:
            raise
        values = itertools.chain.from_iterable(documents.values() for documents in qrels.values())
        negative = [value for value in values if value < 0]
        counted = f" ({len(negative):,} such judgments)" if len(negative) > 1 else ""
        error.hint = ""
        problem = f"{in_words(error, SIDES)}{counted}."
        if tables.are_padding_labels(negative):
            problem = f"{problem} {MEND_PADDING}"
        raise MendableError(problem, ("negative_relevance", "clip", "Count them as 0")) from None


def scores_by_trec_eval(
    runs: Mapping[str, Mappings],
    qrels: Mappings,
    options: dict[str, Any],
    scores: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, float]]:
    """Return the scores by trec_eval's convention of the runs in which the order of tied documents matters."""
    if options["ties"] == "docid" or gains_by_label(options):  # trec_eval reads numbers
        return {}
    how = {"references": qrels, **options, **CONVENTIONS["trec_eval"].options}
    tied = [name for name, of_run in scores.items() if any(score.tied for score in of_run.values())]
    return {name: ndcg.compute(predictions=runs[name], **how) for name in tied}


def read_files(
    qrels_file: str | None,
    run_files: Sequence[str] | None,
    options: Mapping[str, Any],
    only: Collection[str] | None = None,
) -> tuple[Mappings, dict[str, Mappings]]:
    """Read the qrels, and the runs, all or only some, by their names after a long beginning that all have."""
    if not qrels_file or not run_files:
        raise ValueError(UPLOAD)
    if len(run_files) > RUNS:
        raise ValueError(f"{len(run_files)} runs; at most {RUNS} are compared.")
    qrels = read_upload(qrels_file, "qrels", options)
    names = run_names(run_files)
    begin = common_beginning([*names])
    files = {name.removeprefix(begin): path for name, path in names.items()}
    files = {name: path for name, path in files.items() if only is None or name in only}
    sizes = [Path(path).stat().st_size for path in files.values() if Path(path).is_file()]
    _check_together("bytes", sum(sizes))
    runs: dict[str, Mappings] = {}
    for name, path in files.items():
        runs[name] = read_upload(path, "run", options)
        _check_together(
            "rows", sum(len(documents) for run in runs.values() for documents in run.values())
        )
    return qrels, runs


def _check_together(unit: str, count: int) -> None:
    if count > (limit := TOGETHER[unit]):
        raise ValueError(
            f"The runs hold more than {limit:,} {unit} together; compare fewer, or upload a part of each."
        )


def run_names(run_files: Sequence[str]) -> dict[str, str]:
    """Return the files of runs by the names of these, each its own."""
    files: dict[str, str] = {}
    for path in run_files:
        stem = FORM.sub("", Path(path).name) or Path(path).name
        names = itertools.chain([stem], (f"{stem} ({at})" for at in itertools.count(2)))
        files[next(each for each in names if each not in files)] = path
    return files


def common_beginning(names: Sequence[str]) -> str:
    """Return what long names of several runs begin with, up to a place at which a word of each remains.

    >>> common_beginning(["trec-dl-2019-bm25-v1", "trec-dl-2019-bm25-v2"]), common_beginning(["a-bm25", "a-dense"])
    ('trec-dl-2019-bm25-', '')
    """
    first = names[0] if len(names) > 1 else ""
    begins = [
        first[: found.end()]
        for found in re.finditer(r"[-_. ]", first)
        if found.end() >= LONG_BEGINNING
    ]
    fitting = [
        begin
        for begin in begins
        if all(
            name.startswith(begin) and re.search(r"[^\W\d_]", name.removeprefix(begin))
            for name in names
        )
    ]
    return fitting[-1] if fitting else ""


def report_on(run: Mappings, qrels: Mappings | str, options: Mapping[str, Any]) -> Any:
    """Return the report on a run."""
    return ndcg.report(predictions=run, references=qrels, **options)


def compare_runs(
    runs: Mapping[str, Mappings], qrels: Mappings | str, options: Mapping[str, Any]
) -> Any:
    """Return the comparison of runs; a judged query that is missing from one is an error only if the options say so."""
    missing = CONVENTIONS[options.get("convention", "sklearn")].missing
    return ndcg.compare(systems=runs, references=qrels, **{"missing": missing, **options})


def rows_of_query(
    run: Mappings, qrels: Mappings, query: str, name: str, options: Mapping[str, Any]
) -> tuple[list[list[str]], str]:
    """Return a query as rows of the table, as a run ranks it, and a description of the rows."""
    ranks, judged = run.get(query, {}), qrels.get(query, {})
    ranked = sorted(ranks, key=ranks.__getitem__, reverse=options["score_order"] == "descending")
    gains = gains_by_label(options)
    worth: dict[str, Any] = {
        each: gains.get(judged[each], judged[each]) for each in judged if each not in ranks
    }
    missing = sorted(worth, key=worth.__getitem__, reverse=True)
    # if some do not fit, the least relevant documents that were not retrieved matter least
    listed = [*ranked[: max(DOCUMENTS // 2, DOCUMENTS - len(missing))], *missing][:DOCUMENTS]
    there = len(ranked) + len(missing)
    cut = "" if len(listed) == there else f", {len(listed)} of {there} documents"
    return [
        [d, cell_of(judged.get(d)), cell_of(ranks.get(d))] for d in listed
    ], f"Query {query} by {name}{cut}"
