"""Comparisons have the scores of `compute`, and name the queries that differ most."""

import io
import itertools
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from evaluate import Metric
from refusals import refusal
from systems import RELEVANCE, SEVERAL, SYSTEMS, generated


def test_a_comparison_has_the_scores_of_compute(ndcg: Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL)
    assert comparison.signature == ndcg.signature(**SEVERAL)
    for system, predictions in SYSTEMS.items():
        inputs = {"predictions": predictions, "references": RELEVANCE, **SEVERAL}
        assert {
            name: score.value for name, score in comparison.scores[system].items()
        } == ndcg.compute(**inputs)
        assert comparison.scores[system] == ndcg.report(**inputs).scores
        rows = comparison.queries.filter(pc.field("system") == system).to_pydict()
        assert rows["query"] == list(range(60))
        assert rows.items() >= ndcg.compute(**inputs, use_aggregator=False).items()


@pytest.mark.parametrize(
    ("weights", "question", "letters"),
    [
        ((0.2, 3), {"alternative": "greater"}, ["better than", "", ""]),
        ((0.2, 3), {"alternative": "less"}, ["better than", "", "a"]),
        ((0.2, 3), {"alternative": "greater", "margin": 0.2}, ["not worse than", "", ""]),
        ((0.5, 0.55), {"alternative": "greater", "margin": 0.2}, ["not worse than", "b", ""]),
    ],
)
def test_letters_mark_the_systems_that_one_is_surely_better_than(
    ndcg: Metric, weights: tuple[float, ...], question: dict[str, Any], letters: list[str]
) -> None:
    systems, relevance = generated(queries=200, weights=weights)
    comparison = ndcg.compare(systems=systems, references=relevance, k=10, **question)
    assert [row[4] for row in comparison.tables()[0]] == letters


def test_latex_has_the_letters_as_superscripts_and_the_highest_score_in_bold(ndcg: Metric) -> None:
    systems, relevance = generated(queries=200, weights=(0.2, 0.5, 0.5, 3))
    comparison = ndcg.compare(systems=systems, references=relevance, k=10)
    assert [row[4] for row in comparison.tables()[0]] == ["better than", "", "a", "a", "a b c"]
    bm25, dense, hybrid, oracle = (
        f"{scores['nDCG@10'].value:.4f}" for scores in comparison.scores.values()
    )
    assert [line for line in comparison.to_latex().splitlines() if line.startswith("$^")] == [
        f"$^{{a}}$ & bm25 & {bm25} \\\\",
        f"$^{{b}}$ & dense & {dense}$^{{a}}$ \\\\",
        f"$^{{c}}$ & hybrid & {hybrid}$^{{a}}$ \\\\",
        f"$^{{d}}$ & oracle & \\textbf{{{oracle}}}$^{{abc}}$ \\\\",
    ]


def test_the_queries_that_differ_most_come_first(ndcg: Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL)
    (pair,) = (pair for pair in comparison.pairs if pair[:3] == ("DCG@10", "bm25", "hybrid"))
    bm25, hybrid = (
        ndcg.compute(
            predictions=SYSTEMS[name], references=RELEVANCE, **SEVERAL, use_aggregator=False
        )["DCG@10"]
        for name in ("bm25", "hybrid")
    )
    rows = [
        {"query": at, "bm25": one, "hybrid": other, "difference": one - other}
        for at, (one, other) in enumerate(zip(bm25, hybrid, strict=True))
        if one != other
    ]
    every = comparison.differences("bm25", "hybrid", "DCG@10", None)
    assert every.to_pylist() == sorted(rows, key=lambda row: -abs(row["difference"]))
    assert comparison.differences("bm25", "hybrid", "DCG@10", n=np.int64(5)) == every[:5]
    for only, count, sign in (("losses", pair.losses, 1), ("gains", pair.wins, -1)):
        table = comparison.differences("bm25", "hybrid", "DCG@10", None, only)
        of_sign = [row for row in rows if sign * row["difference"] < 0]
        assert table.to_pylist() == sorted(of_sign, key=lambda row: sign * row["difference"])
        assert len(table) == count > 5
        assert comparison.differences("bm25", "hybrid", "DCG@10", 5, only) == table[:5]
    assert comparison.differences("bm25", "hybrid", n=3) == comparison.differences(
        "bm25", "hybrid", "nDCG@3", 3
    )


def test_queries_without_a_difference_are_not_among_those_that_differ(ndcg: Metric) -> None:
    worse = [[1, 2] if at < 2 else [2, 1] for at in range(20)]
    comparison = ndcg.compare(systems={"a": worse, "b": [[2, 1]] * 20}, references=[[1, 0]] * 20)
    assert comparison.differences("a", "b")["query"].to_pylist() == [0, 1]
    assert comparison.differences("a", "b", only="gains").to_pylist() == []
    assert [table for table in comparison.tables() if table[0][0].startswith("queries that ")] == [
        [
            ["queries that lost most in nDCG", "pair", "first", "second", "difference"],
            ["0", "a – b", "0.6309", "1.0000", "-0.3691"],
            ["1", "a – b", "0.6309", "1.0000", "-0.3691"],
        ]
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"system": "bm26"}, 'system must be one of "bm25", "dense", '),
        ({"measure": "nDCG@4"}, 'measure must be one of "nDCG"; '),
        ({"only": "lossess"}, r"^only must be one of .*; got 'lossess'; did you mean \"losses\"\?"),
        ({"n": 1.0}, "^n must be an integer, at least 0"),
    ],
)
def test_differences_that_are_not_there_are_rejected(
    ndcg: Metric, arguments: dict[str, Any], error: str
) -> None:
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    with pytest.raises(ValueError, match=error):
        found.differences(**{"system": "bm25", "other": "dense", **arguments})


def test_references_that_can_be_read_once_serve_all_systems(ndcg: Metric) -> None:
    column = pa.table({"relevance": [[1, 0], [0, 1]]})
    systems = {"a": [[2, 1], [2, 1]], "b": [[1, 2], [1, 2]]}
    comparison = ndcg.compare(systems=systems, references=column.to_reader())
    assert comparison == ndcg.compare(systems=systems, references=column)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "switch", "shown"),
    [
        (Terminal, datasets.enable_progress_bars, True),
        (Terminal, datasets.disable_progress_bars, False),
        (io.StringIO, datasets.enable_progress_bars, False),
    ],
)
def test_progress_shows_on_a_terminal_only_and_unless_it_is_disabled(
    ndcg: Metric,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[io.StringIO],
    switch: Callable[[], None],
    shown: bool,
) -> None:
    monkeypatch.setattr(
        "tqdm.std.time", itertools.count(0, 5).__next__
    )  # seconds: five more at each look
    monkeypatch.setattr(sys, "stderr", stream := kind())
    switch()
    ndcg.compare(systems=SYSTEMS, references=RELEVANCE, by=np.arange(60) % 3)
    datasets.enable_progress_bars()
    assert ("Comparing" in stream.getvalue()) is bool(stream.getvalue()) is shown


def test_a_missing_tqdm_leaves_out_the_progress_bar(
    ndcg: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"systems": SYSTEMS, "references": RELEVANCE, "by": np.arange(60) % 3}
    expected = ndcg.compare(**how)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert ndcg.compare(**how) == expected


A = [[1, 2], [1]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            {"alternative": "grater"},
            'alternative must be one of "two-sided", .*did you mean "greater"',
        ),
        (
            {"margin": 0.1},
            'margin=0.1 needs alternative="greater" or "less"; "greater" asks whether',
        ),
        ({"baseline": "aa"}, r'baseline must be one of "a", "b"; got \'aa\'; did you mean "a"\?'),
        ({"corrected_over": "pairs"}, 'corrected_over must be one of "measure", "all"; got'),
        (
            {"systems": {"a": A}},
            "systems must map the names of at least two systems to their predictions; got 1",
        ),
        ({"systems": [A] * 2}, "systems must map the names .* got list"),
        ({"systems": {1: A, 2: A}}, "systems: a name must be a string of printable.*; got 1"),
        (
            {"systems": {"query": A, "b": A}},
            'systems: a name must be .* other than "query".*; got .query',
        ),
        ({"systems": {"a\nb": A, "b": A}}, r"systems: a name must be .*; got 'a\\nb'"),
        (
            {"systems": {"a": A, "b": A[:1]}},
            r"systems\['b'\]: predictions and references differ in the number of queries, 1 and 2",
        ),
        (
            {"systems": {"a": A, "b": [[1, math.nan], [1]]}},
            r"systems\['b'\]: predictions: query 0, position 1: nan",
        ),
        ({"systems": {"a": {"q": {"d": 1}}, "b": A}}, r"(systems\['a'\]|references)"),
        (
            {"systems": {"a": A, "b": "no/such.run"}},
            r"systems\['b'\]: no/such.run: No such file or directory$",
        ),
    ],
    ids=str,
)
def test_systems_and_questions_that_make_no_sense_are_rejected(
    ndcg: Metric, inputs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        ndcg.compare(
            **{"systems": {"a": A, "b": [[2, 1], [1]]}, "references": [[1, 0], [1]], **inputs}
        )


def test_systems_with_rankings_of_different_queries_are_rejected(ndcg: Metric) -> None:
    qrels = {query: {"d": 1, "e": 0} for query in ("q1", "q2", "q3")}
    full = {query: {"d": 1.0, "e": 2.0} for query in qrels}
    partly = {query: {"d": 1.0} for query in ("q1", "q2")}
    with refusal("systems['partly']"):
        ndcg.compare(systems={"full": full, "partly": partly}, references=qrels)
    for one, other in (
        (full, {**partly, "q3": {}}),
        (partly, partly),
        (full, {**full, "unjudged": {"d": 1.0}}),
    ):
        assert (
            ndcg.compare(systems={"one": one, "other": other}, references=qrels).queries.num_rows
            == 6
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"references": [-1, 0, 1]},
        {"references": ["no", 0, 1]},
        {"query_ids": ["q", None, "q"]},
        {"document_ids": ["a", "a", "b"]},
        {"exclude": {7: ["a"]}},
    ],
    ids=str,
)
def test_an_error_in_what_systems_share_names_none_of_them(
    ndcg: Metric, wrong: dict[str, Any]
) -> None:
    shared = {
        "references": [1, 0, 1],
        "query_ids": ["q", "q", "r"],
        "document_ids": ["a", "b", "a"],
        **wrong,
    }
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}") as alone:
        ndcg.compute(predictions=[1, 2, 3], **shared)
    with pytest.raises(ValueError, match=f"^{re.escape(str(alone.value))}$"):
        ndcg.compare(systems={"one": [1, 2, 3], "two": [3, 2, 1]}, **shared)
