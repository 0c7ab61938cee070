"""Any rankings in any format by any options: the score of the slow reference, or a helpful error.

`make fuzz` runs it for ten minutes; the suite for some hundreds of cases.
"""

import itertools
import math
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from conftest import METRIC
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from reference import DISCOUNTS, GAINS, TIES, slow_scores
from sources import EVERY_FORM, Form, Inputs, by_ids, pd, pl, written

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))


class Document(NamedTuple):
    relevance: Any  # None: not judged
    score: Any  # None: not retrieved


Queries = list[list[Document]]
Options = dict[str, Any]
REJECTED = object()

# --- Cases ----------------------------------------------------------------------------------------

GRADES = st.integers(0, 4) | st.floats(0, 4, allow_subnormal=False).map(
    lambda value: round(value, 2)
)
RELEVANCES = st.one_of(GRADES, GRADES, GRADES, st.none(), st.integers(-2, 9), st.booleans())
SCORES = st.one_of(
    st.integers(-3, 3),
    st.floats(-2, 2).map(lambda value: round(value, 1)),
    st.floats(-1e30, 1e30),
    st.none(),
    st.just(-math.inf),
)
STRANGE = st.sampled_from([math.nan, math.inf, -math.inf, "1", b"1", [1], 1j, 10**400, object()])
QUERIES = st.lists(
    st.lists(st.builds(Document, RELEVANCES, SCORES), max_size=7), min_size=1, max_size=4
)
CUTOFFS = st.integers(1, 12)
# the values of each option, its default first
OPTIONS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "k": (None, CUTOFFS | st.lists(CUTOFFS | st.none(), min_size=1, max_size=3)),
    "measures": (
        ["nDCG"],
        st.lists(st.sampled_from(["nDCG", "DCG", "IDCG", "CG"]), min_size=1, max_size=4),
    ),
    "gain": ("linear", st.sampled_from(sorted(GAINS))),
    "discount": ("log", st.sampled_from(sorted(DISCOUNTS))),
    "log_base": (2, st.sampled_from([2, 10, math.e, 0.5])),
    "ideal": ("judged", st.sampled_from(["judged", "truncated", "retrieved", "full"])),
    "score_dtype": ("given", st.sampled_from(["given", "float32"])),
    "ties": ("average", st.sampled_from([*TIES, "docid"])),
    "zero_division": (0.0, st.sampled_from([0, 1.0, -0.5, math.nan, "perfect_if_empty"])),
    "negative_relevance": ("raise", st.sampled_from(["raise", "clip", "clip", "keep", "keep"])),
    "judged_only": (False, st.booleans()),
    "ignore_index": (None, st.sampled_from([0, 1, -1, 2.5])),
    "use_aggregator": (True, st.booleans()),
    "sample_weight": (None, st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=3, max_size=3)),
}
DEFAULTS = {name: default for name, (default, _) in OPTIONS.items()}
SOME_OPTIONS = st.fixed_dictionaries(
    {}, optional={name: values for name, (_, values) in OPTIONS.items()}
)

# --- Formats: each gives the arguments of `compute`, or None if it cannot hold such values --------


def nested(queries: Queries, side: str) -> list[list[Any]]:
    return [[getattr(document, side) for document in documents] for documents in queries]


def by_position(make: Form) -> Callable[[Queries, Path], Inputs | None]:
    def form(queries: Queries, _: Path) -> Inputs | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return {
                    "predictions": make(nested(queries, "score")),
                    "references": make(nested(queries, "relevance")),
                }
        except (
            pa.ArrowException,
            TypeError,
            ValueError,
            OverflowError,
            RuntimeError,
            RuntimeWarning,
        ):
            return None

    return form


def as_array(rows: list[list[Any]]) -> Any:
    if len(rows[0]) == 1 < len(rows):
        raise ValueError("it is rejected, since each row may be a document")
    return np.array(rows)


def as_rows(queries: Queries, _: Path) -> Inputs | None:
    if not all(queries):
        return None
    rows = [
        (place, at, document)
        for at, documents in enumerate(queries)
        for place, document in enumerate(documents)
    ]
    rows.sort(key=lambda row: row[0])  # rows of a query are not next to each other
    return {
        "predictions": [document.score for _, _, document in rows],
        "references": [document.relevance for _, _, document in rows],
        "query_ids": [f"q{at}" for _, at, _ in rows],
        "document_ids": [f"d{place}" for place, _, _ in rows],
    }


def as_mappings(queries: Queries, _: Path) -> Inputs:
    return {
        "predictions": by_ids(nested(queries, "score")),
        "references": by_ids(nested(queries, "relevance")),
    }


def as_files(queries: Queries, folder: Path) -> Inputs | None:
    values = list(itertools.chain.from_iterable(queries))
    if not all(
        any(document.relevance is not None for document in documents) for documents in queries
    ):
        return None  # a query without a line is none
    if not all(
        type(d.relevance) in (int, type(None)) and type(d.score) in (int, float, type(None))
        for d in values
    ):
        return None
    scores = {document.score for document in values} - {None}
    # Files of a run have finite scores, also of documents that turn out to be padding.
    if not scores or any(score != score or abs(score) == math.inf for score in scores):
        return None
    run, qrels = as_mappings(queries, folder).values()
    return {
        "predictions": written(folder / "a.run", run, "run"),
        "references": written(folder / "a.qrels", qrels, "qrels"),
    }


ARROW = EVERY_FORM["Arrow lists"]
FORMATS: dict[str, Callable[[Queries, Path], Inputs | None]] = {
    **{
        name: by_position(EVERY_FORM[name])
        for name in ("lists", "tuples", "masked NumPy rows", "Arrow chunks")
    },
    "Arrow lists": by_position(ARROW),
    "Polars": by_position(lambda rows: pl.Series(values=ARROW(rows))),
    # of rows themselves, pandas would make numbers of text
    "pandas Arrow lists": by_position(
        lambda rows: pd.Series(pd.arrays.ArrowExtensionArray(ARROW(rows)))
    ),
    "NumPy": by_position(as_array),
    **{form.__name__: form for form in (as_rows, as_mappings, as_files)},
}


# --- The expected result --------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and not (
        isinstance(value, int) and abs(value) > 2**1000
    )


def kept_documents(documents: list[Document], options: Options) -> list[Document] | None:
    """The documents of a query that take a rank, without padding; None if the query is rejected."""
    for relevance, score in documents:
        if relevance is not None and not (is_number(relevance) and math.isfinite(relevance)):
            return None
        if score is not None and not is_number(score):
            return None
    left = [d for d in documents if d.relevance is None or d.relevance != options["ignore_index"]]
    if any(
        d.score is not None and not d.score < math.inf for d in left
    ):  # the score of padding does not matter
        return None
    if options["judged_only"]:
        left = [document for document in left if document.relevance is not None]
    judged = [document.relevance for document in left if document.relevance is not None]
    negative = options["negative_relevance"]
    if negative == "raise" and any(relevance < 0 for relevance in judged):
        return None
    labels = [r in range(5) or (r < 0 and negative == "clip") for r in judged]
    return None if options["gain"].startswith("a list") and not all(labels) else left


def expected(queries: Queries, options: Options) -> Any:
    """The results of `compute` by the slow reference, with their summands' size; or REJECTED."""
    measures, cutoffs = dict.fromkeys(options["measures"]), options["k"]
    cutoffs = dict.fromkeys(cutoffs if isinstance(cutoffs, list) else [cutoffs])
    discount, log_base = options["discount"], options["log_base"]
    kept = [kept_documents(documents, options) for documents in queries]
    if (
        None in kept
        or (options["ideal"] == "full" and None in cutoffs)
        or (discount == "jarvelin" and log_base < 1)
    ):
        return REJECTED

    def gain(relevance: Any) -> Any:
        clipped = options["negative_relevance"] == "clip" and relevance < 0
        return 0 if clipped else GAINS[options["gain"]][1](relevance)

    def scored(left: list[Document], k: int | None) -> dict[str, float]:
        kind = np.float32 if options["score_dtype"] == "float32" else float
        return slow_scores(
            [document.relevance for document in left],
            [None if document.score is None else float(kind(document.score)) for document in left],
            k,
            gain,
            log_base,
            "last" if options["ties"] == "docid" else options["ties"],
            options["zero_division"],
            lambda rank: DISCOUNTS[discount][1](rank, log_base),
            options["ideal"],
        )

    values, sizes = {}, []
    for measure, k in itertools.product(measures, cutoffs):
        column = values[measure if k is None else f"{measure}@{k}"] = []
        for left in kept:
            result = scored(left, k)
            column.append(result[measure])
            gains = [
                abs(gain(document.relevance)) for document in left if document.relevance is not None
            ]
            size = sum(gains) * max(1, 1 / abs(math.log2(log_base)))
            sizes.append(
                size / abs(result["IDCG"]) if measure == "nDCG" and result["IDCG"] else size
            )
    if not options["use_aggregator"]:
        return values, max(sizes)
    for name, column in values.items():
        weights = options["sample_weight"] or [1.0] * len(queries)
        valued = [
            (value, w) for value, w in zip(column, weights, strict=True) if not math.isnan(value)
        ]
        if not sum(w for _, w in valued):
            return REJECTED
        values[name] = math.fsum(v * w for v, w in valued) / math.fsum(w for _, w in valued)
    return values, max(sizes)


# --- The test -------------------------------------------------------------------------------------

Case = tuple[Queries, Options, str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    queries, options = draw(QUERIES), draw(SOME_OPTIONS)
    if draw(st.integers(0, 9)) == 0:
        draw(st.sampled_from(queries)).append(
            draw(st.builds(Document, RELEVANCES | STRANGE, SCORES | STRANGE))
        )
    if "sample_weight" in options:
        options["sample_weight"] = [1.0, *options["sample_weight"]][: len(queries)]
    return queries, options, draw(st.sampled_from(["batches", *FORMATS]))


EXPECTED_WARNINGS = (
    "no document was both retrieved and judged",
    "the scores are few whole numbers",
    "the scores are whole numbers",
    "have one document each",
    "all documents are padding",
    "documents of relevance 0 stand between others",
    "all documents of each query are equally relevant",
    "no query has a score",
    "missing from the run",
    "queries rise in the order of their documents",
    "the scores of each query are ",
)


def outcome(compute: Callable[..., Any], inputs: Inputs) -> Any:
    """The result, with no warning but of the two sides; or REJECTED, if the error says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expected_warning in EXPECTED_WARNINGS:
            warnings.filterwarnings("ignore", f".*{expected_warning}", UserWarning)
        try:
            return compute(**inputs)
        except (ValueError, TypeError) as error:
            message = str(error)
    assert len(message) > 20, message
    assert "\n" not in message, message
    return REJECTED


def compute_in_batches(predictions: Any, references: Any, **options: Any) -> Any:
    metric = type(METRIC)(keep_in_memory=True)
    padding = {"ignore_index": options.get("ignore_index")}
    for scores, relevance in zip(predictions, references, strict=True):
        metric.add_batch(predictions=[scores], references=[relevance], **padding)
    return metric.compute(**options)


def as_cell(value: Any) -> Any:
    """A value of a flat column or a mapping, in which text of a number is this number."""
    return int(value) if value == "1" else value


def may_be_ids(queries: Queries) -> bool:
    """Whether both sides may be lists of ids: text or bytes, or -1 in a run, for no document."""
    documents = list(itertools.chain.from_iterable(queries))
    return all(isinstance(document.relevance, (str, bytes)) for document in documents) and all(
        isinstance(document.score, (str, bytes)) or document.score == -1 for document in documents
    )


def are_text_in_numpy(queries: Queries, name: str) -> bool:
    """Whether NumPy makes text of all rows of both sides, as of numbers beside text: ids."""
    if "NumPy" not in name:
        return False
    rows = [*nested(queries, "score"), *nested(queries, "relevance")]
    return all(any(isinstance(value, str) for value in row) for row in rows)


def are_triples(rows: Any) -> bool:
    """Whether all rows are a user, an item and an estimate, which are refused."""
    return all(tuple(map(type, row)) == (int, int, float) for row in rows)


def check(folder: Path, case: Case) -> bool:
    """Whether there was a case: not all values go into all formats."""
    queries, options, name = case
    inputs = FORMATS["lists" if name == "batches" else name](queries, folder)
    if inputs is None or may_be_ids(queries) or are_text_in_numpy(queries, name):
        return False
    if name == "tuples" and are_triples(inputs["predictions"]):
        return False
    tables = {"gain": GAINS, "discount": DISCOUNTS}
    inputs |= {
        option: tables[option][value][0] if option in tables else value
        for option, value in options.items()
    }
    found = outcome(compute_in_batches if name == "batches" else METRIC.compute, inputs)
    if name in ("as_rows", "as_mappings"):
        queries = [[Document(*map(as_cell, document)) for document in row] for row in queries]
    without_ids = name == "batches" and options.get("ties") == "docid"
    awaited = REJECTED if without_ids else expected(queries, {**DEFAULTS, **options})
    if awaited is REJECTED or found is REJECTED:
        assert found is awaited, (name, inputs, found, awaited)
        return True
    values, size = awaited
    assert list(found) == list(values)
    for result, value in values.items():
        close = pytest.approx(
            value, rel=1e-9, abs=1e-13 * (1 + size), nan_ok=not options.get("use_aggregator", True)
        )
        assert found[result] == close, (name, inputs, result)
    return True


def test_every_case_ends_in_the_right_number_or_in_a_documented_error(tmp_path: Path) -> None:
    ran: list[bool] = []

    @settings(
        database=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        max_examples=400,
    )
    @given(case=cases())
    def run(case: Case) -> None:
        ran.append(check(tmp_path, case))

    end = time.monotonic() + 60 * MINUTES
    while not ran or time.monotonic() < end:
        seed(time.time_ns() if MINUTES else 0)(run)()
    print(f"{sum(ran):,} cases, {len(ran) - sum(ran):,} that no such format can hold")
    assert sum(ran) > 200
