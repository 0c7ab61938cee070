"""Which run is best, in sentences: each of them says what the comparison found."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from page.html import signed
from page.metric import ndcg
from page.standings import (
    Standing,
    axis_over,
    missing_remarks,
    p_text,
    rounded_up,
    rows_of,
)

VALUES = {
    "1": {"a": 2.0, "b": 1.0},
    "0": {"a": 1.0, "b": 2.0},
    "-": {"c": 1.0},
}  # 1, 1 / log2(3) = 0.631, 0
MUCH, SOME = "1" * 20, "1" * 14 + "0" * 6  # differ on 6 queries: p = 2 / 2^6 = 0.031
NONE = "0" * 20


def standing(runs: dict[str, str], choice: dict[str, str] | None = None, k: Any = 10) -> Standing:
    """Runs that rank each query right or wrong, compared."""
    queries = range(len(next(iter(runs.values()))))
    systems = {
        run: {f"q{at}": VALUES[values[at]] for at in queries} for run, values in runs.items()
    }
    found = ndcg.compare(
        systems=systems,
        references={f"q{at}": {"a": 1, "b": 0} for at in queries},
        k=k,
        score_order="descending",
    )
    return Standing.of(found.scores, found.pairs, choice or {})


# two to five runs that rank each of 12 queries right or wrong
RUNS = st.lists(st.text("01", min_size=12, max_size=12), min_size=2, max_size=5).map(
    lambda values: {f"r{at}": text for at, text in enumerate(values)}
)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({"x": NONE, "y": MUCH}, "y is better than x."),
        ({"x": MUCH, "y": "0" + MUCH[1:]}, "x and y cannot be told apart."),
        ({"x": MUCH, "y": MUCH}, "x and y cannot be told apart."),
        ({"x": MUCH, "y": MUCH, "z": MUCH}, "x, y and z cannot be told apart."),
        ({"x": NONE, "y": MUCH, "z": "01" * 10}, "y is better than z and x."),
        ({"x": NONE, "y": MUCH, "z": "0" + MUCH[1:]}, "y is ahead, but z may be as good."),
        ({"x": NONE, "y": MUCH, "z": MUCH}, "y is ahead, but z may be as good."),
        (
            {"x": "01" + MUCH[2:], "y": MUCH, "z": "10" + MUCH[2:]},
            "y, x and z cannot be told apart.",
        ),
        (
            {**{run: MUCH[:19] + "01"[at == 5] for at, run in enumerate("abcdef")}, "g": NONE},
            "f is ahead, but a, b, c, d and e may be as good.",
        ),
    ],
)
def test_a_headline_says_which_run_is_best(runs: dict[str, str], said: str) -> None:
    assert standing(runs).headline() == said


def test_one_run_has_a_headline_without_a_test() -> None:
    report = ndcg.report(predictions={"q": VALUES["0"]}, references={"q": {"a": 1}}, k=10)
    alone = Standing.of({"x": report.scores}, (), {})
    assert alone.headline() == "x has nDCG@10 0.631."
    assert alone.evidence().startswith(
        "Intervals and tests need more than one query. A random order of the documents of x would "
    )


@given(RUNS, st.integers(0, 4), st.integers(0, 4))
def test_evidence_is_of_the_figures_of_the_comparison(
    runs: dict[str, str], base: int, other: int
) -> None:
    of = standing(runs, {"base": f"r{base}", "other": f"r{other}"})
    one, another = of.winner_first
    assert {of.base, of.other} == {one, another} <= runs.keys()
    pair = of.pairs[one, another]
    assert pair.difference == pytest.approx(
        of.scores[one].value - of.scores[another].value, abs=1e-12
    )
    assert pair.difference >= -1e-12
    interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
    pairs = len(runs) * (len(runs) - 1) // 2
    together = f", both corrected for {pairs} pairs" if pairs > 1 else ""
    means = (
        f"{one} has nDCG@10 {of.scores[one].value:.3f}, {another} {of.scores[another].value:.3f}"
    )
    wins = sum(a > b for a, b in zip(runs[one], runs[another], strict=True))
    losses = sum(a < b for a, b in zip(runs[one], runs[another], strict=True))
    better = f"{wins} {'query' if wins == 1 else 'queries'}"
    said = of.evidence()
    start = (
        f"{means}: {signed(pair.difference)} ({interval}, {p_text(pair.p_holm)}{together}). "
        f"Better on {better}, worse on {losses}, equal on {12 - wins - losses}."
    )
    by_chance = f"{of.scores[one].random_order:.3f}"
    end = f"A random order of the documents of {one} would have {by_chance}."
    assert said.startswith(start)
    assert said.endswith(end)
    is_open = pair.p_holm >= 0.05 and 12 < (pair.queries_needed or 0) <= 20_000
    assert ("80% power" in said) == is_open
    if is_open:
        needed = f"With about {rounded_up(pair.queries_needed):,} queries"
        found = "a test of these two runs alone would find such a difference (80% power)."
        assert said == f"{start} {needed}, {found} {end}"


@given(RUNS, st.integers(0, 4))
def test_rows_show_whether_a_run_differs_from_the_base_and_its_places(
    runs: dict[str, str], base: int
) -> None:
    of = standing(runs, {"base": f"r{base}"})
    rows, axis = rows_of(of)
    assert [row.run for row in rows] == [*of.scores]
    zero = axis.place(of.scores[of.base].value)
    for row in rows:
        found = [
            p.difference for (one, _), p in of.pairs.items() if one == row.run and p.p_holm < 0.05
        ]
        first, last = (
            1 + sum(each < 0 for each in found),
            len(runs) - sum(each > 0 for each in found),
        )
        assert row.place == (f"{first}" if first == last else f"{first}–{last}")
        if row.run == of.base:
            assert (row.kind, row.interval) == ("base", ())
            continue
        pair = of.pairs[row.run, of.base]
        assert row.difference == signed(pair.difference)
        assert float(row.exact_p.removeprefix("p = ")) == pytest.approx(pair.p_holm, rel=1e-5)
        kind = "better" if pair.difference > 0 else "worse"
        assert row.kind == ("open" if pair.p_holm >= 0.05 else kind)
        low, high = row.interval
        assert 0 <= low <= 1
        assert 0 <= high <= 1
        # a line that touches that of the base would not differ
        assert (low <= zero <= high) == (row.kind == "open")


def test_a_measure_and_runs_are_chosen_if_they_are_there() -> None:
    runs = {"x": NONE, "y": MUCH, "z": SOME}
    chosen = standing(runs, {"measure": "nDCG@1", "base": "x"}, [10, 1])
    assert (chosen.measure, chosen.base, chosen.other) == ("nDCG@1", "x", "y")
    assert chosen.winner_first == ("y", "x")
    unknown = standing(runs, {"measure": "nDCG@7", "base": "gone", "other": "y"}, [10, 1])
    assert (unknown.measure, unknown.base, unknown.other) == ("nDCG@10", "y", "z")
    assert len(unknown.pairs) == 2 * unknown.together == 6


def test_missing_queries_are_named_and_can_be_skipped() -> None:
    (one,) = missing_remarks({"bm25": [], "dense": ["c"]}, "empty")
    assert one.text == "Missing queries count as 0: 1 from dense."
    assert one.offers == (("missing", "skip", "Score only the queries that all runs have"),)
    (skipped,) = missing_remarks({"x": ["c"], "y": [*"abcd"]}, "skip")
    assert skipped.text == "Missing queries are skipped: 1 from x and 4 from y."
    assert skipped.offers == (("missing", "empty", "Count them as 0"),)
    assert missing_remarks({"run": []}, "empty") == []


MEANS = st.lists(st.floats(0, 1), min_size=1, max_size=5)


@given(MEANS, st.lists(st.floats(-2, 2), max_size=5))
def test_an_axis_has_three_to_eight_round_ticks_and_ends_at_0_and_1(
    means: list[float], ends: list[float]
) -> None:
    axis = axis_over(means, ends)
    assert 0 <= axis.low < axis.high <= 1
    assert 3 <= len(axis.ticks) <= 8
    assert all(0 <= axis.place(tick) <= 1 for tick, _ in axis.ticks)
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)
    assert all(0 <= axis.place(mean) <= 1 for mean in means)
