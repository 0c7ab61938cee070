"""Slices: each value of `by` has the figures of a report or comparison of its queries alone."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sources
from conftest import MetricFactory
from evaluate import Metric
from refusals import refusal

from ndcg.inputs.slices import crossed, read_slices, slice_name
from ndcg.statistics.significance import holm

# Queries of three languages, one without; tied scores, unjudged and unretrieved documents, nothing
# relevant in some.
RNG = np.random.default_rng(0)
LANGUAGES: list[Any] = [*RNG.choice(["en", "de", "fr"], 60).tolist(), None, None]
RELEVANCE = RNG.integers(0, 3, (62, 6)) * (np.arange(62)[:, np.newaxis] % 7 > 0)
REFERENCES = np.ma.array(RELEVANCE, mask=RNG.random((62, 6)) < 0.2)
SCORES = {
    name: np.round(RELEVANCE * weight + RNG.normal(size=(62, 6)), 1)
    for name, weight in (("a", 0.3), ("b", 0.8))
}
SCORES["a"][5] = -np.inf
WEIGHTS = np.append(RNG.integers(0, 4, 60), [2, 1])
HOW: dict[str, Any] = {"k": [2, None], "measures": ["nDCG", "DCG"]}
TESTS: dict[str, Any] = {"seed": 3, "missing": "empty"}  # of query 5, a retrieves nothing


def of_language(language: str | None) -> np.ndarray:
    return np.array([each == language for each in LANGUAGES])


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    "options", [{}, {"zero_division": math.nan}, {"convention": "trec_eval"}], ids=str
)
def test_a_slice_is_the_report_of_its_queries_alone(
    ndcg: Metric, options: dict[str, Any], weight: Any
) -> None:
    sides = {"predictions": SCORES["a"], "references": REFERENCES, "sample_weight": weight}
    report, whole = (
        ndcg.report(**sides, by=LANGUAGES, **HOW, **options),
        ndcg.report(**sides, **HOW, **options),
    )
    assert list(report.slices) == ["de", "en", "fr", None]
    for language, found in report.slices.items():
        own = of_language(language)
        alone = {name: side if side is None else side[own] for name, side in sides.items()}
        expected = ndcg.report(**alone, **HOW, **options)
        assert (found.queries, found.scores) == (expected.counts["queries"], expected.scores)
    assert (whole.scores, whole.slices) == (report.scores, {})
    assert report.queries["slice"].to_pylist() == LANGUAGES
    assert report.queries.drop_columns("slice") == whole.queries


def test_fewer_than_two_values_have_no_interval(ndcg: Metric) -> None:
    inputs = {"predictions": [[2, 1]] * 5, "references": [[1, 0], [0, 1], [1, 0], [0, 0], [0, 0]]}
    by = ["two", "two", "one", "one", "empty"]
    report = ndcg.report(**inputs, by=by, zero_division=math.nan)
    two, one, empty = (report.slices[value].scores["nDCG"] for value in ("two", "one", "empty"))
    assert two.value == pytest.approx((1 + 1 / math.log2(3)) / 2)
    assert two.low < two.value < two.high
    assert (one.value, one.worst, one.best, one.random_order) == pytest.approx(
        (1, 1, 1, (1 + 1 / math.log2(3)) / 2)
    )
    assert all(map(math.isnan, (one.low, one.high, one.standard_error)))
    assert all(map(math.isnan, (empty.value, empty.low, empty.high, empty.random_order)))
    problem = (
        "have fewer than 10 queries: intervals may miss the true value more often than they say"
    )
    assert report.notes[-2:] == (
        f"3 of 3 slices {problem}.",
        "2 of 3 slices have no interval, since fewer than two of their queries have a value.",
    )
    rows = {line.split()[0]: line.split()[1:] for line in str(report).splitlines() if line}
    assert rows["empty"] == ["0", "of", "1", "–", "–"]
    assert rows["one"] == ["1", "of", "2", "1.0000", "–"]
    assert rows["two"] == ["2", f"{two.value:.4f}", f"{two.low:.4f}", "–", f"{two.high:.4f}"]


@pytest.mark.parametrize(
    ("corrected_over", "weight", "family"),
    [
        ("measure", None, "a measure"),
        ("all", WEIGHTS, "all measures"),
    ],
    ids=["measure", "all, weighted"],
)
def test_a_slice_is_the_comparison_of_its_queries_alone(
    ndcg: Metric, corrected_over: str, weight: Any, family: str
) -> None:
    how = {**HOW, **TESTS, "corrected_over": corrected_over}
    systems = {**SCORES, "c": SCORES["a"] + SCORES["b"]}
    comparison = ndcg.compare(
        systems=systems, references=REFERENCES, by=LANGUAGES, sample_weight=weight, **how
    )
    assert list(comparison.slices) == ["de", "en", "fr", None]
    families = (
        [[name] for name in comparison.measures]
        if corrected_over == "measure"
        else [comparison.measures]
    )
    corrected = {}
    for measures in families:
        of_family = [
            pair
            for each in comparison.slices.values()
            for pair in each.pairs
            if pair.measure in measures
        ]
        for p in ("p", "p_t"):
            found = holm(np.array([getattr(pair, p) for pair in of_family])).tolist()
            corrected |= {
                (id(pair), p): value for pair, value in zip(of_family, found, strict=True)
            }
    for language, found in comparison.slices.items():
        own = of_language(language)
        alone = ndcg.compare(
            systems={name: scores[own] for name, scores in systems.items()},
            references=REFERENCES[own],
            sample_weight=None if weight is None else weight[own],
            **how,
        )
        assert (found.queries, found.scores) == (np.count_nonzero(own), alone.scores)
        for pair, expected in zip(found.pairs, alone.pairs, strict=True):
            p_holm, p_t_holm = (corrected[id(pair), p] for p in ("p", "p_t"))
            ends = {"low_holm": pair.low_holm, "high_holm": pair.high_holm}
            assert pair == expected._replace(p_holm=p_holm, p_t_holm=p_t_holm, **ends)
    without = ndcg.compare(systems=systems, references=REFERENCES, sample_weight=weight, **how)
    assert (without.pairs, without.scores, without.slices) == (
        comparison.pairs,
        comparison.scores,
        {},
    )
    assert comparison.queries["slice"].to_pylist() == LANGUAGES * 3
    over = f"corrected by Holm for the pairs of {family}, together in all slices; "
    assert over in str(comparison)


def test_slices_of_fewer_than_two_values_are_not_compared(ndcg: Metric) -> None:
    systems = {"a": [[2, 1]] * 5, "b": [[1, 2]] * 5}
    inputs = {"systems": systems, "references": [[1, 0], [0, 1], [1, 0], [0, 0], [0, 0]]}
    comparison = ndcg.compare(
        **inputs, by=["two", "two", "one", "one", None], zero_division=math.nan
    )
    assert list(comparison.slices) == ["two"]
    problem = (
        "have fewer than 10 queries: intervals may miss the true value more often than they say"
    )
    assert f"3 of 3 slices {problem}." in comparison.notes
    few = "slices are not compared, since fewer than two of their queries have a value"
    assert f"2 of 3 {few}." in comparison.notes
    alone = ndcg.compare(
        systems={"a": [[2, 1]] * 6, "b": [[1, 2]] * 6}, references=[[1, 0]] * 6, by=list("abcdef")
    )
    assert alone.slices == {}
    assert f"6 of 6 {few}." in alone.notes


# How the values are given

LIBRARIES: list[Any] = [
    LANGUAGES,
    tuple(LANGUAGES),
    np.array(LANGUAGES, object),
    np.ma.array([each or "" for each in LANGUAGES], mask=[each is None for each in LANGUAGES]),
    pd.Series(LANGUAGES),
    pd.Series(LANGUAGES, dtype="category"),
    pd.Categorical(LANGUAGES),
    pl.Series(LANGUAGES),
    pl.Series(LANGUAGES, dtype=pl.Categorical),
    pa.array(LANGUAGES),
    pa.array(LANGUAGES, pa.string_view()),
    pa.chunked_array([LANGUAGES[:7], LANGUAGES[7:]]).dictionary_encode(),
]


@pytest.mark.parametrize(
    "given", LIBRARIES, ids=lambda given: f"{type(given).__module__}.{type(given).__name__}"
)
def test_every_library_holds_the_same_slices(given: Any) -> None:
    values, code = read_slices(given)
    assert values == ["de", "en", "fr", None]
    assert [values[each] for each in code] == LANGUAGES


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ([3, 1, None, 1], [1, 3, None]),
        (np.array([3, 1, 1], np.int8), [1, 3]),
        (np.array([3, 1], ">i4"), [1, 3]),
        (pd.Series([3, None, 1]), [1, 3, None]),  # which pandas holds as fractions
        ([10.0, 9.0], [9, 10]),
        ([True, None, False], [False, True, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (["b", "B", "é", "", "a\nb"], ["", "B", "a\nb", "b", "é"]),
        ([None, None], [None]),
        ([np.str_("a"), float("nan")], ["a", None]),
    ],
    ids=str,
)
def test_slices_are_text_integers_or_booleans_in_ascending_order(
    given: Any, values: list[Any]
) -> None:
    found = read_slices(given).values
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


BY_USER = {"predictions": "score", "references": "label", "query_ids": "user"}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 1.0}, "q4": {"a": 1.0, "b": 2.0}}
QRELS = {"q1": {"a": 1}, "q3": {"b": 2, "c": 1}, "q2": {"c": 1}, "q4": {"a": 1}}
BY_ID = {"q1": "short", "q4": "short", "q2": "long", "q3": "long", "unjudged": "other"}


def test_a_mapping_names_the_slices_by_the_ids_of_queries(ndcg: Metric, tmp_path: Path) -> None:
    expected = ndcg.report(predictions=RUN, references=QRELS, by=["short", "long", "long", "short"])
    assert list(expected.slices) == ["long", "short"]
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for predictions, references in ((RUN, QRELS), (tmp_path / "run.json", tmp_path / "qrels.json")):
        assert ndcg.report(predictions=predictions, references=references, by=BY_ID) == expected
    flat = {"predictions": [2, 1, 1, 2], "references": [1, 0, 0, 1], "query_ids": [7, 7, 5, 5]}
    found = ndcg.report(**flat, by={5: True, 7: False}).slices
    assert {value: each.scores["nDCG"].value for value, each in found.items()} == {
        False: 1.0,
        True: 1.0,
    }


@pytest.mark.parametrize("frame", sources.TABLES)
def test_columns_may_name_the_slices(ndcg: Metric, tmp_path: Path, frame: str) -> None:
    rng = np.random.default_rng(2)
    user = np.repeat(np.arange(20), 5)[rng.permutation(100)]
    table = pa.table(
        {
            "user": [f"user {each}" for each in user],
            "score": rng.random(100),
            "other": rng.random(100),
            "label": rng.integers(0, 2, 100),
            "group": [None if each == 13 else f"group {each % 3}" for each in user],
            "device": user // 10,
        }
    )
    groups = [None if each == 13 else f"group {each % 3}" for each in dict.fromkeys(user.tolist())]
    expected = ndcg.report(
        **{argument: table[name] for argument, name in BY_USER.items()}, by=groups
    )
    assert [each.queries for each in expected.slices.values()] == [7, 6, 6, 1]
    assert (
        ndcg.report(data=sources.TABLES[frame](table, tmp_path), **BY_USER, by="group") == expected
    )
    columns = {**BY_USER, "systems": {"one": "score", "other": "other"}}
    del columns["predictions"]
    comparison = ndcg.compare(data=sources.TABLES[frame](table, tmp_path), **columns, by="group")
    values = {value: each.scores["one"]["nDCG"].value for value, each in comparison.slices.items()}
    assert values == {
        each: expected.slices[each].scores["nDCG"].value
        for each in ("group 0", "group 1", "group 2")
    }
    both = ndcg.report(
        data=sources.TABLES[frame](table, tmp_path), **BY_USER, by=["group", "device"]
    ).slices
    assert list(both) == [
        *(f"group {each}, {device}" for each in range(3) for device in range(2)),
        None,
    ]


def test_a_query_without_a_value_in_one_of_several_columns_is_in_no_slice() -> None:
    columns = [["shoes", "hats", None, None], ["phone", None, "phone", None]]
    assert crossed(columns) == ["shoes, phone", None, None, None]


TABLE = {
    "qid": ["q1", "q1", "q2"],
    "docno": ["d1", "d2", "d3"],
    "relevance": [0, 1, 2],
    "language": ["en", "en", "de"],
}
TABLES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "Polars, lazy": pl.LazyFrame,
    "a dict of columns": dict,
    "records": lambda columns: pd.DataFrame(columns).to_dict("records"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_column_of_one_of_two_tables_may_name_the_slices(ndcg: Metric, kind: str) -> None:
    run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d3": 0.5}}
    slices = ndcg.report(predictions=run, references=TABLES[kind](TABLE), by="language").slices
    found = {value: (each.queries, each.scores["nDCG"].value) for value, each in slices.items()}
    assert found == {"de": (1, 1.0), "en": (1, pytest.approx(1 / math.log2(3)))}


@pytest.mark.parametrize("frame", sources.TABLES)
def test_the_column_of_queries_may_name_the_slices(
    ndcg: Metric, tmp_path: Path, frame: str
) -> None:
    if frame != "Arrow, a reader":  # which can be read only once
        qrels = sources.TABLES[frame](pa.table(TABLE), tmp_path)
        slices = ndcg.report(
            predictions={"q1": {"d1": 0.9}, "q2": {"d3": 0.5}}, references=qrels, by="qid"
        ).slices
        assert {value: each.scores["nDCG"].value for value, each in slices.items()} == {
            "q1": 0.0,
            "q2": 1.0,
        }


def test_columns_of_lists_may_name_the_slices(ndcg: Metric) -> None:
    rows = {"scores": [[0.9]], "labels": [[1]], "a": ["x"], "b": ["y"]}
    report = ndcg.report(
        data=pa.table(rows), predictions="scores", references="labels", by=("a", "b")
    )
    assert list(report.slices) == ["x, y"]


def test_batches_are_sliced_by_the_order_they_were_added_in(
    fresh_metric: MetricFactory, ndcg: Metric
) -> None:
    metric = fresh_metric()
    for rows in (slice(0, 40), slice(40, 62)):
        metric.add_batch(predictions=SCORES["a"][rows], references=REFERENCES[rows])
    with refusal("by must hold one value per query, 62 in all"):
        metric.report(by=["en"])
    expected = ndcg.report(predictions=SCORES["a"], references=REFERENCES, by=LANGUAGES)
    assert metric.report(by=LANGUAGES) == expected


def test_tables_show_each_slice_with_its_name_on_one_line(ndcg: Metric) -> None:
    names = ["de", "<b>|_&\n$x$", "", " ", None]
    by = [names[at % 5] for at in range(62)]
    report = ndcg.report(predictions=SCORES["a"], references=REFERENCES, by=by, **HOW)
    comparison = ndcg.compare(systems=SCORES, references=REFERENCES, by=by, **HOW, **TESTS)
    (header, *rows), (pair_header, *pairs) = report.tables()[1], comparison.tables()[-1 - 2]
    interval = "95% interval"
    assert header == [
        "slice",
        "queries",
        "nDCG@2",
        interval,
        "nDCG",
        interval,
        "DCG@2",
        interval,
        "DCG",
        interval,
    ]
    assert pair_header == [
        "slice",
        "queries",
        "pair",
        "measure",
        "difference",
        interval,
        "p",
        "p (Holm)",
    ]
    shown = ["''", "' '", r"'<b>|_&\n$x$'", "de", "(none)"]
    assert [row[0] for row in rows] == [*shown, "mean of slices"]
    of_rows = [*(part.scores for part in report.slices.values()), report.mean_of_slices.scores]
    for row, scores in zip(rows, of_rows, strict=True):
        cells = [
            (f"{each.value:.4f}", f"{each.low:.4f} – {each.high:.4f}") for each in scores.values()
        ]
        assert row[2:] == [cell for of_score in cells for cell in of_score]
    parts = [*comparison.slices.values(), comparison.mean_of_slices]
    found = [pair for part in parts for pair in part.pairs]
    assert [row[0] for row in pairs] == [
        name for name in [*shown, "mean of slices"] for _ in comparison.measures
    ]
    for row, pair in zip(pairs, found, strict=True):
        assert row[4:6] == [f"{pair.difference:+.4f}", f"{pair.low:+.4f} – {pair.high:+.4f}"]
    assert {slice_name(each): each for each in (7, True)} == {"7": 7, "True": True}
    assert slice_name("mean of slices") == "'mean of slices'"


def test_only_the_first_of_many_slices_are_shown(ndcg: Metric) -> None:
    report = ndcg.report(predictions=SCORES["a"], references=REFERENCES, by=np.arange(62))
    assert len(report.slices) == 62
    assert "The first 50 of 62 slices are shown." in str(report)
    assert re.findall(r"^(\d+) +1 ", str(report), re.MULTILINE) == list(map(str, range(50)))
    assert re.findall(r"^(\w+ of \w+) +62 ", str(report), re.MULTILINE) == ["mean of slices"]
    assert len(report.plot().axes[2].get_yticklabels()) == 51


def test_a_result_without_the_column_of_slices_is_read_without_slices(ndcg: Metric) -> None:
    how: dict[str, Any] = {"references": REFERENCES, "by": LANGUAGES}
    for found in (
        ndcg.report(predictions=SCORES["b"], **how),
        ndcg.compare(systems=SCORES, **how, **TESTS),
    ):
        whole = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert type(found).from_dict(whole) == found
        del whole["queries"]["slice"]
        with pytest.raises(ValueError, match="slices:"):
            type(found).from_dict(whole)
        whole |= {"slices": [], "mean_of_slices": None}
        without = type(found).from_dict(whole)
        assert (without.slices, without.mean_of_slices) == ({}, None)


# Rejected input

GOOD = {"user": ["a", "a", "b"], "score": [0.9, 0.1, 0.5], "label": [1, 0, 1]}
FRAME = {
    "data": {
        **GOOD,
        "x": ["x", "x", "y"],
        "y": ["x", "y", "x"],
        "none": [None, "y", "x"],
        "few": ["x"],
    },
    **BY_USER,
}
POSITIONS = {"predictions": [[1, 2], [2, 1]], "references": [[1, 0], [1, 0]]}
MAPPINGS = {"predictions": RUN, "references": QRELS}
# rankings, slices, and the place that the error names, if any
FAULTS: list[tuple[dict[str, Any], Any, tuple[str, ...]]] = [
    (POSITIONS, ["a"], ()),
    (POSITIONS, ["a", "b", "c"], ()),
    (POSITIONS, [], ()),
    (POSITIONS, ["a", 1], ()),
    (POSITIONS, [1, True], ()),
    (POSITIONS, [0.5, 1.0], ()),
    (POSITIONS, pa.array([0.5, 1.0]), ()),
    (POSITIONS, [2**63, 1], ()),
    (POSITIONS, np.array(["2026-01-01"] * 2, "M8[ns]"), ()),
    (POSITIONS, [b"a", b"b"], ()),
    (POSITIONS, [["a"], ["b"]], ()),
    (POSITIONS, ["\ud800", "b"], ()),
    (POSITIONS, np.ones((2, 2), int), ()),
    (POSITIONS, {"a", "b"}, ()),
    (POSITIONS, 3, ()),
    (POSITIONS, "lang", ("'lang'",)),
    (POSITIONS, pa.table({"language": ["en", "de"]}).to_reader(), ()),
    (POSITIONS, {"q1": "a"}, ()),
    (MAPPINGS, {"q1": "a", "q2": "b"}, ("query 'q3'",)),
    (MAPPINGS, {}, ("query 'q1'",)),
    (FRAME, "group", ("data has no column 'group';",)),
    (FRAME, "y", ("query 'a'",)),
    (FRAME, "none", ("query 'a'",)),
    (FRAME, "few", ()),
    (FRAME, "score", ()),
]


@pytest.mark.parametrize(("inputs", "by", "places"), FAULTS)
def test_slices_that_cannot_be_determined_are_rejected(
    ndcg: Metric, inputs: dict[str, Any], by: Any, places: tuple[str, ...]
) -> None:
    with refusal("by", *places):
        ndcg.report(**inputs, by=by)


def test_the_name_of_a_missing_column_is_named_by_its_place(ndcg: Metric) -> None:
    with refusal("by[1]", "data has no column 'device';"):
        ndcg.report(**FRAME, by=["x", "device"])


@pytest.mark.parametrize("key", [None, math.nan, 1.5, True, ("q", 1)], ids=repr)
def test_a_slice_belongs_to_an_id(ndcg: Metric, key: Any) -> None:
    sides = {
        "predictions": {"a": {"d": 1.0}, "b": {"d": 1.0}},
        "references": {"a": {"d": 1}, "b": {"d": 1}},
    }
    with refusal("by", f"query {key!r}"):
        ndcg.report(**sides, by={"a": "en", "b": "de", key: "fr"})


ZOE, ANN = {"a": 2, "b": 1}, {"a": 2, "b": 1}
RELEVANT = {"zoe": {"a": 1, "b": 0}, "ann": {"a": 0, "b": 1}}
OF_ANN = 1 / math.log2(3)
SERIES_BY_ID = [  # weights and slices, and the ids in the index
    ("in the order of the queries", ["zoe", "ann"]),
    ("in another order", ["ann", "zoe"]),
    ("with more queries", ["bob", "ann", "eve", "zoe"]),
]
ENTRY_POINTS: dict[str, Callable[..., float]] = {
    "compute": lambda ndcg, **given: ndcg.compute(**given)["nDCG"],
    "sklearn": lambda ndcg, **given: ndcg.compute(engine="sklearn", **given)["nDCG"],
    "report": lambda ndcg, **given: ndcg.report(**given).scores["nDCG"].value,
    "compare": lambda ndcg, predictions, **given: (
        ndcg.compare(systems={"one": predictions, "other": predictions}, **given)
        .scores["one"]["nDCG"]
        .value
    ),
    "explain": lambda ndcg, **given: ndcg.explain(**given, got=1).scores["sklearn"],
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize(("case", "ids"), SERIES_BY_ID)
def test_a_series_is_matched_by_the_ids_in_its_index(
    ndcg: Metric, case: str, ids: list[str], entry_point: str
) -> None:
    weights = pd.Series({query: {"zoe": 3, "ann": 1}.get(query, 50) for query in ids})
    inputs: dict[str, Any] = {"predictions": {"zoe": ZOE, "ann": ANN}, "references": RELEVANT}
    expected = pytest.approx((3 * 1 + 1 * OF_ANN) / (3 + 1))
    for given in (weights, weights.astype("Float64"), weights.to_frame()):
        assert ENTRY_POINTS[entry_point](ndcg, **inputs, sample_weight=given) == expected, case
    slices = ndcg.report(**inputs, by=pd.Series({query: query.upper() for query in ids})).slices
    values = {name: part.scores["nDCG"].value for name, part in slices.items()}
    assert values == pytest.approx({"ANN": OF_ANN, "ZOE": 1})


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize(
    ("ids", "places"),
    [
        (["b", "z"], ("query 'zoe'",)),
        (["ann", "z"], ("query 'zoe'",)),
        (["ann", "ann"], ("its index has 'ann'",)),
        ([1, 0], ()),
        ([2, 3], ()),
    ],
)
def test_a_series_with_another_index_is_refused(
    ndcg: Metric, ids: list[Any], places: tuple[str, ...], entry_point: str
) -> None:
    inputs: dict[str, Any] = {"predictions": {"zoe": ZOE, "ann": ANN}, "references": RELEVANT}
    with refusal("sample_weight", *places):
        ENTRY_POINTS[entry_point](ndcg, **inputs, sample_weight=pd.Series([3, 1], ids))


def test_a_series_without_ids_is_in_the_order_of_the_queries(ndcg: Metric) -> None:
    weights = pd.Series([3, 1, 5])[:2]  # its index counts the rows
    expected = pytest.approx((3 * 1 + 1 * OF_ANN) / (3 + 1))
    by_id: dict[str, Any] = {"predictions": {"zoe": ZOE, "ann": ANN}, "references": RELEVANT}
    assert ndcg.compute(**by_id, sample_weight=weights)["nDCG"] == expected
    frame = pd.DataFrame(
        {"of": ["-", "zoe", "ann"], "p": [[0], [2, 1], [2, 1]], "r": [[1], [1, 0], [0, 1]]}
    )
    frame = frame.assign(weight=[5, 3, 1])[1:]  # an index that all its columns share
    lists = {"predictions": frame["p"], "references": frame["r"]}
    assert ndcg.compute(**lists, sample_weight=frame["weight"])["nDCG"] == expected
    assert (
        ndcg.compute(data=frame, predictions="p", references="r", sample_weight="weight")["nDCG"]
        == expected
    )
    assert list(ndcg.report(**lists, by=frame["of"]).slices) == ["ann", "zoe"]
    for moved in (frame["weight"][::-1], frame["weight"].set_axis(["zoe", "ann"])):
        with refusal("sample_weight"):
            ndcg.compute(**lists, sample_weight=moved)


def test_weights_may_be_by_the_ids_of_queries(ndcg: Metric) -> None:
    run = {"zoe": {"a": 2, "b": 1}, "ann": {"a": 2, "b": 1}}
    qrels, weight = {"zoe": {"a": 1, "b": 0}, "ann": {"a": 0, "b": 1}}, {"ann": 1, "zoe": 3}
    expected = pytest.approx((3 * 1 + 1 / math.log2(3)) / (3 + 1))
    given: dict[str, Any] = {"references": qrels, "sample_weight": weight}
    assert ndcg.compute(predictions=run, **given)["nDCG"] == expected
    assert ndcg.compute(predictions=run, engine="sklearn", **given)["nDCG"] == expected
    assert ndcg.report(predictions=run, **given).scores["nDCG"].value == expected
    assert ndcg.compare(systems={"a": run, "b": run}, **given).scores["b"]["nDCG"].value == expected
    assert "sklearn" in ndcg.explain(predictions=run, got=expected.expected, **given).matches
    with refusal("sample_weight", "query 'ann'"):
        ndcg.compute(predictions=run, references=qrels, sample_weight={"zoe": 3})
