"""Any rankings in any form by any options: the score of the slow reference, or an error that says what to mend.

`make fuzz` runs it for ten minutes; the suite for some hundreds of cases.
"""

import itertools
import math
import os
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from reference import slow_scores

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))


class Document(NamedTuple):
    relevance: Any  # None: not judged
    score: Any  # None: not retrieved


Queries = list[list[Document]]
Refused = object()


# Cases

NUMBERS = st.one_of(
    st.integers(0, 4), st.integers(0, 4), st.floats(0, 4, allow_subnormal=False).map(lambda value: round(value, 2))
)
RELEVANCES = st.one_of(NUMBERS, NUMBERS, NUMBERS, st.none(), st.integers(-2, 9), st.booleans())
SCORES = st.one_of(
    st.integers(-3, 3),
    st.floats(-2, 2).map(lambda value: round(value, 1)),
    st.floats(-1e30, 1e30),
    st.none(),
    st.just(-math.inf),
)
STRANGE = st.sampled_from([math.nan, math.inf, -math.inf, "1", b"1", [1], 1j, 10**400, object()])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "k": st.one_of(st.integers(1, 12), st.lists(st.one_of(st.integers(1, 12), st.none()), min_size=1, max_size=3)),
        "measures": st.lists(st.sampled_from(["nDCG", "DCG", "IDCG", "CG"]), min_size=1, max_size=4),
        "gain": st.sampled_from(["linear", "exponential", "binary", "table", "function"]),
        "log_base": st.sampled_from([2, 10, math.e, 0.5]),
        "score_dtype": st.sampled_from(["given", "float32"]),
        "ties": st.sampled_from(["average", "first", "last", "best", "worst", "docid"]),
        "zero_division": st.sampled_from([0, 1.0, -0.5, math.nan]),
        "negative_relevance": st.sampled_from(["raise", "clip", "clip", "keep", "keep"]),
        "judged_only": st.booleans(),
        "ignore_index": st.sampled_from([0, 1, -1, 2.5]),
        "use_aggregator": st.booleans(),
        "weighted": st.just(True),
    },
)
GAINS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "linear": ("linear", lambda r: r),
    "exponential": ("exponential", lambda r: 2.0**r - 1),
    "binary": ("binary", lambda r: int(r > 0)),
    "table": ([0, 1, 3, 7, 15], lambda r: [0, 1, 3, 7, 15][int(r)]),
    "function": (lambda relevance: relevance**2, lambda r: r**2),
}


def nested(queries: Queries, side: str) -> list[list[Any]]:
    return [[getattr(document, side) for document in documents] for documents in queries]


# Forms: each gives the arguments of `compute`, or None if it cannot hold such values


def as_lists(queries: Queries, folder: Path) -> dict[str, Any] | None:
    return {"predictions": nested(queries, "score"), "references": nested(queries, "relevance")}


def as_tuples(queries: Queries, folder: Path) -> dict[str, Any] | None:
    return {
        "predictions": tuple(map(tuple, nested(queries, "score"))),
        "references": tuple(map(tuple, nested(queries, "relevance"))),
    }


def as_arrays(queries: Queries, folder: Path) -> dict[str, Any] | None:
    values = [value for documents in queries for document in documents for value in document]
    if len(set(map(len, queries))) > 1 or not all(value is None or is_number(value) for value in values):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sides = [np.array(nested(queries, side), np.float64) for side in ("score", "relevance")]
    except (TypeError, ValueError, OverflowError, RuntimeWarning):
        return None
    if any(document.relevance is None or document.score is None for documents in queries for document in documents):
        gaps = [[[getattr(d, side) is None for d in ds] for ds in queries] for side in ("score", "relevance")]
        sides = [np.ma.array(np.where(gap, 0, side), mask=gap) for side, gap in zip(sides, gaps, strict=True)]
    return {"predictions": sides[0].reshape(len(queries), -1), "references": sides[1].reshape(len(queries), -1)}


def as_tensors(queries: Queries, folder: Path) -> dict[str, Any] | None:
    arrays = as_arrays(queries, folder)
    if arrays is None or any(np.ma.isMaskedArray(side) for side in arrays.values()):
        return None
    import torch

    return {name: torch.tensor(side) for name, side in arrays.items()}


def as_arrow(queries: Queries, folder: Path) -> dict[str, Any] | None:
    try:
        sides = [pa.array(nested(queries, side), pa.list_(pa.float64())) for side in ("score", "relevance")]
    except (pa.ArrowException, TypeError, OverflowError, ValueError):
        return None
    half = len(queries) // 2
    return {
        name: pa.chunked_array([side[:half], side[half:]])
        for name, side in zip(("predictions", "references"), sides, strict=True)
    }


def as_polars(queries: Queries, folder: Path) -> dict[str, Any] | None:
    import polars as pl

    arrow = as_arrow(queries, folder)
    return None if arrow is None else {name: pl.Series(values=side) for name, side in arrow.items()}


def as_rows(queries: Queries, folder: Path) -> dict[str, Any] | None:
    if not all(queries):
        return None
    rows = [(place, at, document) for at, documents in enumerate(queries) for place, document in enumerate(documents)]
    rows.sort(key=lambda row: row[0])  # rows of a query are not next to each other
    return {
        "predictions": [document.score for _, _, document in rows],
        "references": [document.relevance for _, _, document in rows],
        "query_ids": [f"q{at}" for _, at, _ in rows],
        "document_ids": [f"d{place:03}" for place, _, _ in rows],
    }


def as_rows_without_documents(queries: Queries, folder: Path) -> dict[str, Any] | None:
    given = as_rows(queries, folder)
    return given and {name: column for name, column in given.items() if name != "document_ids"}


def as_mappings(queries: Queries, folder: Path) -> dict[str, Any] | None:
    run: dict[str, dict[str, Any]] = {f"q{at}": {} for at in range(len(queries))}
    qrels: dict[str, dict[str, Any]] = {f"q{at}": {} for at in range(len(queries))}
    for at, documents in enumerate(queries):
        for place, document in enumerate(documents):
            if document.score is not None:
                run[f"q{at}"][f"d{place:03}"] = document.score
            if document.relevance is not None:
                qrels[f"q{at}"][f"d{place:03}"] = document.relevance
    return {"predictions": run, "references": qrels}


def as_files(queries: Queries, folder: Path) -> dict[str, Any] | None:
    mappings = as_mappings(queries, folder)
    assert mappings is not None
    values = [document for documents in queries for document in documents]
    if not all(any(document.relevance is not None for document in documents) for documents in queries):
        return None  # a query without a line is none
    if not all(type(d.relevance) in (int, type(None)) and type(d.score) in (int, float, type(None)) for d in values):
        return None
    if not any(document.score is not None for document in values) or any(d.score == -math.inf for d in values):
        return None
    run, qrels = folder / "a.run", folder / "a.qrels"
    run.write_text(
        "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, ds in mappings["predictions"].items() for d, s in ds.items())
    )
    qrels.write_text("".join(f"{q} 0 {d} {r}\n" for q, ds in mappings["references"].items() for d, r in ds.items()))
    return {"predictions": run, "references": qrels}


FORMS = {form.__name__: form for form in (as_lists, as_tuples, as_arrays, as_arrow, as_polars)}
FORMS |= {form.__name__: form for form in (as_rows, as_rows_without_documents, as_mappings, as_files)}
if find_spec("torch"):
    FORMS["as_tensors"] = as_tensors


# The expected result


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and not (isinstance(value, int) and abs(value) > 2**1000)


def kept_documents(documents: list[Document], options: dict[str, Any]) -> list[Document] | None:
    """The documents of a query that take a rank, without padding; None if the query is rejected."""
    for relevance, score in documents:
        if relevance is not None and not (is_number(relevance) and math.isfinite(relevance)):
            return None
        if score is not None and not is_number(score):
            return None
    left = [d for d in documents if d.relevance is None or d.relevance != options.get("ignore_index", math.nan)]
    if any(d.score is not None and not d.score < math.inf for d in left):  # the score of padding does not matter
        return None
    if options.get("judged_only"):
        left = [document for document in left if document.relevance is not None]
    judged = [document.relevance for document in left if document.relevance is not None]
    negative = options.get("negative_relevance", "raise")
    if negative == "raise" and any(relevance < 0 for relevance in judged):
        return None
    in_table = [r in range(5) or (r < 0 and negative == "clip") for r in judged]
    return None if options.get("gain") == "table" and not all(in_table) else left


def expected(queries: Queries, options: dict[str, Any], weight: list[float] | None) -> Any:
    """The results of `compute` by the slow reference, with the size of their summands; or Refused."""
    values = {}
    given = options.get("gain", "linear")
    clipped = options.get("negative_relevance") == "clip"
    ties = options.get("ties", "average")
    cutoffs = options.get("k")
    cutoffs = list(dict.fromkeys(cutoffs)) if isinstance(cutoffs, list) else [cutoffs]
    measures = list(dict.fromkeys(options.get("measures", ["nDCG"])))
    kept = [kept_documents(documents, options) for documents in queries]
    if not queries or None in kept:
        return Refused

    def gain(relevance: Any) -> Any:
        return 0 if relevance < 0 and clipped else GAINS[given][1](relevance)

    sizes = []
    for measure in measures:
        for k in cutoffs:
            column = []
            for left in kept:
                how = {"log_base": options.get("log_base", 2), "ties": "last" if ties == "docid" else ties}
                empty = options.get("zero_division", 0.0)
                relevance, score = [d.relevance for d in left], [d.score for d in left]
                if options.get("score_dtype") == "float32":
                    score = [None if each is None else float(np.float32(each)) for each in score]
                scored = slow_scores(relevance, score, k, gain, zero_division=empty, **how)
                column.append(scored[measure])
                size = sum(abs(gain(r)) for r in relevance if r is not None) * max(
                    1, 1 / abs(math.log2(how["log_base"]))
                )
                sizes.append(size / abs(scored["IDCG"]) if measure == "nDCG" and scored["IDCG"] else size)
            values[measure if k is None else f"{measure}@{k}"] = column
    if options.get("use_aggregator", True):
        weights = weight or [1.0] * len(queries)
        means = {}
        for name, column in values.items():
            valued = [(value, w) for value, w in zip(column, weights, strict=True) if not math.isnan(value)]
            if not sum(w for _, w in valued):
                return Refused
            means[name] = math.fsum(v * w for v, w in valued) / math.fsum(w for _, w in valued)
        return means, max(sizes)
    return values, max(sizes)


def outcome(call: Callable[[], Any]) -> Any:
    """The result, without any warning except on ids; or Refused, by a documented error that says something."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*no document was both retrieved and judged", UserWarning)
        try:
            return call()
        except (ValueError, TypeError) as error:
            message = str(error)
    assert len(message) > 20, message
    assert "\n" not in message, message
    return Refused


@st.composite
def cases(draw: st.DrawFn) -> tuple[Queries, dict[str, Any], list[float] | None, str]:
    document = st.builds(Document, RELEVANCES, SCORES)
    queries = draw(st.lists(st.lists(document, max_size=7), min_size=1, max_size=4))
    if draw(st.integers(0, 9)) == 0 and any(queries):
        at = draw(st.sampled_from([at for at, documents in enumerate(queries) if documents]))
        place, side = draw(st.integers(0, len(queries[at]) - 1)), draw(st.sampled_from(["relevance", "score"]))
        queries[at][place] = queries[at][place]._replace(**{side: draw(STRANGE)})
    options = draw(OPTIONS)
    weight = None
    if options.pop("weighted", False):
        weight = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(queries), max_size=len(queries)))
        weight = weight if any(weight) else None
    return queries, options, weight, draw(st.sampled_from(["batches", *FORMS]))


def check(ndcg: evaluate.Metric, folder: Path, case: tuple[Queries, dict[str, Any], list[float] | None, str]) -> bool:
    """Whether there was a case: not all values go into all forms."""
    queries, options, weight, form = case
    given = as_lists(queries, folder) if form == "batches" else FORMS[form](queries, folder)
    if given is None:
        return False
    how = {**options, "gain": GAINS[options.get("gain", "linear")][0]}
    if weight is not None:
        how["sample_weight"] = weight
    awaited = expected(queries, options, weight)
    if form == "batches":
        found = outcome(lambda: in_batches(ndcg, given, how))
        if options.get("ties") == "docid":
            awaited = Refused
    else:
        found = outcome(lambda: ndcg.compute(**given, **how))
    if form == "as_rows_without_documents" and found is Refused and options.get("ties") == "docid":
        kind = np.float32 if options.get("score_dtype") == "float32" else float
        scores = [[kind(each.score) for each in documents if is_number(each.score)] for documents in queries]
        if any(len(set(each)) < len(each) for each in scores):  # a tie that ids would have to decide
            awaited = Refused
    if awaited is Refused or found is Refused:
        assert found is awaited, (form, given, how, found, awaited)
        return True
    values, size = awaited
    assert list(found) == list(values)
    for name, value in values.items():
        close = pytest.approx(value, rel=1e-9, abs=1e-13 * (1 + size), nan_ok=not options.get("use_aggregator", True))
        assert found[name] == close, (form, given, how, name)
    return True


def in_batches(ndcg: evaluate.Metric, given: dict[str, Any], how: dict[str, Any]) -> Any:
    """Added query by query, to a metric of their own."""
    metric = type(ndcg)(keep_in_memory=True)
    ignored = {"ignore_index": how["ignore_index"]} if "ignore_index" in how else {}
    for at in range(len(given["predictions"])):
        metric.add_batch(**{name: side[at : at + 1] for name, side in given.items()}, **ignored)
    return metric.compute(**how)


PROFILE = {
    "database": None,
    "deadline": None,
    "derandomize": False,
    "phases": [Phase.generate, Phase.shrink],
    "suppress_health_check": list(HealthCheck),
}


def test_every_case_ends_in_the_right_number_or_in_a_documented_error(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    ran = skipped = 0
    end = time.monotonic() + 60 * MINUTES
    for _ in itertools.count():

        @seed(time.time_ns() if MINUTES else 0)
        @settings(**PROFILE, max_examples=400)
        @given(case=cases())
        def run(case: tuple[Queries, dict[str, Any], list[float] | None, str]) -> None:
            nonlocal ran, skipped
            if check(ndcg, tmp_path, case):
                ran += 1
            else:
                skipped += 1

        run()
        if time.monotonic() >= end:
            break
    print(f"{ran:,} cases, {skipped:,} that no such form can hold")
    assert ran > 200
