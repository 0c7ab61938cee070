"""Comparisons have the scores of `compute`, name the queries that differ most, and reject what has no answer."""

import itertools
import math
import os
import re
import sys
import termios
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest
from evaluate import Metric
from systems import RELEVANCE, SEVERAL, SYSTEMS, generated


def test_a_comparison_has_the_scores_of_compute(ndcg: Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL)
    assert comparison.signature == ndcg.signature(**SEVERAL)
    for system, predictions in SYSTEMS.items():
        inputs = {"predictions": predictions, "references": RELEVANCE, **SEVERAL}
        assert {name: score.value for name, score in comparison.scores[system].items()} == ndcg.compute(**inputs)
        assert comparison.scores[system] == ndcg.report(**inputs).scores
        rows = comparison.queries.filter(pa.compute.equal(comparison.queries["system"], system))
        assert rows["query"].to_pylist() == list(range(60))
        for name, values in ndcg.compute(**inputs, use_aggregator=False).items():
            assert rows[name].to_pylist() == values


@pytest.mark.parametrize(
    ("weights", "question", "letters"),
    [
        ((0.2, 0.5, 0.5, 3), {}, ["better than", "", "a", "a", "a b c"]),
        ((0.2, 3), {"alternative": "greater"}, ["better than", "", ""]),
        ((0.2, 3), {"alternative": "less"}, ["better than", "", "a"]),
        ((0.2, 3), {"alternative": "greater", "margin": 0.2}, ["not worse than", "", ""]),
        ((0.2, 3), {"alternative": "less", "margin": 0.2}, ["not worse than", "", "a"]),
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
    means = {name: f"{scores['nDCG@10'].value:.4f}" for name, scores in comparison.scores.items()}
    assert [line for line in comparison.to_latex().splitlines() if line.startswith("$^")] == [
        f"$^{{a}}$ & bm25 & {means['bm25']} \\\\",
        f"$^{{b}}$ & dense & {means['dense']}$^{{a}}$ \\\\",
        f"$^{{c}}$ & hybrid & {means['hybrid']}$^{{a}}$ \\\\",
        f"$^{{d}}$ & oracle & \\textbf{{{means['oracle']}}}$^{{abc}}$ \\\\",
    ]


@pytest.mark.parametrize("measure", ["nDCG@3", "DCG@10"])
def test_the_queries_that_differ_most_come_first(ndcg: Metric, measure: str) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL)
    (pair,) = (pair for pair in comparison.pairs if pair[:3] == (measure, "bm25", "hybrid"))
    values = [
        ndcg.compute(predictions=SYSTEMS[name], references=RELEVANCE, **SEVERAL, use_aggregator=False)[measure]
        for name in ("bm25", "hybrid")
    ]
    difference = np.subtract(*values)
    every = comparison.differences("bm25", "hybrid", measure, None)
    assert every.column_names == ["query", "bm25", "hybrid", "difference"]
    for row in every.to_pylist():
        assert [row["bm25"], row["hybrid"]] == [of_system[row["query"]] for of_system in values]
    sizes = sorted(np.abs(difference[difference != 0]), reverse=True)
    assert np.abs(every["difference"].to_numpy()).tolist() == sizes
    assert comparison.differences("bm25", "hybrid", measure, n=np.int64(5)) == every[:5]
    for only, count, sign in (("losses", pair.losses, 1), ("gains", pair.wins, -1)):
        table = comparison.differences("bm25", "hybrid", measure, None, only)
        expected = sorted((each for each in difference if sign * each < 0), key=lambda each: sign * each)
        assert table["difference"].to_pylist() == expected
        assert len(table) == count > 5
        assert comparison.differences("bm25", "hybrid", measure, 5, only) == table[:5]
    assert comparison.differences("bm25", "hybrid", n=3) == comparison.differences("bm25", "hybrid", "nDCG@3", 3)


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
    same = ndcg.compare(systems={"a": worse, "b": worse}, references=[[1, 0]] * 20)
    assert not any(table[0][0].startswith("queries that ") for table in same.tables())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"system": "bm26"}, "'bm26' is not in this comparison, which has '"),
        ({"measure": "nDCG@4"}, "'nDCG@4' is not in this comparison, which has '"),
        ({"only": "lossess"}, r"^only must be one of .*; got 'lossess'; did you mean \"losses\"\?"),
        *(({"n": n}, "^n must be an integer, at least 0") for n in (True, 1.0, -1, math.nan)),
    ],
)
def test_differences_that_are_not_there_are_rejected(ndcg: Metric, arguments: dict[str, Any], error: str) -> None:
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    with pytest.raises(ValueError, match=error):
        found.differences(**{"system": "bm25", "other": "dense", **arguments})


def test_references_that_can_be_read_once_serve_all_systems(ndcg: Metric) -> None:
    column = pa.table({"relevance": [[1, 0], [0, 1]]})
    systems = {"a": [[2, 1], [2, 1]], "b": [[1, 2], [1, 2]]}
    comparison = ndcg.compare(systems=systems, references=column.to_reader())
    assert comparison == ndcg.compare(systems=systems, references=column)


def terminal() -> tuple[int, int]:
    """The ends of a pseudo-terminal of a usual size."""
    reader, writer = os.openpty()
    termios.tcsetwinsize(writer, (24, 80))
    return reader, writer


@pytest.mark.parametrize(
    ("ends", "switch", "shown"),
    [
        (terminal, datasets.enable_progress_bars, True),
        (terminal, datasets.disable_progress_bars, False),
        (os.pipe, datasets.enable_progress_bars, False),
    ],
)
def test_progress_shows_on_a_terminal_only_and_unless_it_is_disabled(
    ndcg: Metric, monkeypatch: pytest.MonkeyPatch, ends: Any, switch: Callable[[], None], shown: bool
) -> None:
    reader, writer = ends()
    os.set_blocking(reader, False)
    monkeypatch.setattr("tqdm.std.time", itertools.count(0, 5).__next__)  # seconds: five more at each look
    with os.fdopen(reader, "rb", buffering=0) as read, os.fdopen(writer, "w") as error:
        monkeypatch.setattr(sys, "stderr", error)
        switch()
        ndcg.compare(systems=SYSTEMS, references=RELEVANCE, by=np.arange(60) % 3)
        datasets.enable_progress_bars()
        error.flush()
        written = read.read(1 << 16) or b""  # None if nothing was written
    assert (b"Comparing" in written) is bool(written) is shown


def test_a_missing_tqdm_leaves_out_the_progress_bar(ndcg: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert ndcg.compare(systems=SYSTEMS, references=RELEVANCE) == expected


A = [[1, 2], [1]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"alternative": "grater"}, '^alternative must be one of "two-sided", .*did you mean "greater"'),
        ({"alternative": None}, "^alternative must be one of"),
        ({"margin": 0.1}, '^margin=0.1 needs alternative="greater" or "less"; "greater" asks whether'),
        ({"baseline": "bm52"}, r'^baseline must be one of "a", "b"; got \'bm52\''),
        ({"baseline": "aa"}, r'^baseline must be one of "a", "b"; got \'aa\'; did you mean "a"\?'),
        ({"corrected_over": "pairs"}, '^corrected_over must be one of "measure", "all"; got'),
        ({"systems": {"a": A}}, "^systems must map the names of at least two systems to their predictions; got 1"),
        ({"systems": [A] * 2}, "^systems must map the names .* got list"),
        ({"systems": {1: A, 2: A}}, "^systems: a name must be a string of printable.*; got 1"),
        ({"systems": {"query": A, "b": A}}, '^systems: a name must be .* other than "query".*; got .query'),
        ({"systems": {"a\nb": A, "b": A}}, r"^systems: a name must be .*; got 'a\\nb'"),
        ({"systems": {"a": A, "b": A[:1]}}, r"^systems\['b'\]: predictions hold 1 queries and references 2"),
        ({"systems": {"a": A, "b": [[1, 2], [1, 2]]}}, r"^systems\['b'\]: query 1: 2 predictions and 1 references"),
        ({"systems": {"a": A, "b": [[1, math.nan], [1]]}}, r"^systems\['b'\]: predictions: query 0, position 1: nan"),
        ({"systems": {"a": {"q": {"d": 1}}, "b": A}}, r"^systems\['a'\]: predictions are by ids and references by"),
        ({"systems": {"a": A, "b": "no/such.run"}}, r"^systems\['b'\]: no/such.run: No such file or directory$"),
    ],
    ids=str,
)
def test_systems_and_questions_that_make_no_sense_are_rejected(
    ndcg: Metric, inputs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.compare(**{"systems": {"a": A, "b": [[2, 1], [1]]}, "references": [[1, 0], [1]], **inputs})


def test_systems_with_rankings_of_different_queries_are_rejected(ndcg: Metric) -> None:
    qrels = {query: {"d": 1, "e": 0} for query in ("q1", "q2", "q3")}
    full = {query: {"d": 1.0, "e": 2.0} for query in qrels}
    partly = {query: {"d": 1.0} for query in ("q1", "q2")}
    with pytest.raises(ValueError, match=r"^systems\['partly'\]: no ranking for query 'q3', which 'full' has \(1 such"):
        ndcg.compare(systems={"full": full, "partly": partly}, references=qrels)
    for one, other in ((full, {**partly, "q3": {}}), (partly, partly), (full, {**full, "unjudged": {"d": 1.0}})):
        assert ndcg.compare(systems={"one": one, "other": other}, references=qrels).queries.num_rows == 6


@pytest.mark.parametrize(
    "wrong",
    [
        {"references": [-1, 0, 1]},
        {"references": ["no", 0, 1]},
        {"references": [[1], [0], [1]]},
        {"query_ids": ["q", None, "q"]},
        {"document_ids": ["a", "a", "b"]},
        {"exclude": {7: ["a"]}},
    ],
    ids=str,
)
def test_an_error_in_what_systems_share_names_none_of_them(ndcg: Metric, wrong: dict[str, Any]) -> None:
    shared = {"references": [1, 0, 1], "query_ids": ["q", "q", "r"], "document_ids": ["a", "b", "a"], **wrong}
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))}") as alone:
        ndcg.compute(predictions=[1, 2, 3], **shared)
    with pytest.raises(ValueError, match=f"^{re.escape(str(alone.value))}$"):
        ndcg.compare(systems={"one": [1, 2, 3], "two": [3, 2, 1]}, **shared)
