"""Every slip yields another score than the right one, as its threads say."""

import math
import re
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from checked_functions import query_of
from conftest import ROOT

from ndcg.explanations.forms import Shows
from ndcg.explanations.random_rankings import random_rankings
from ndcg.explanations.slip_terms import Queries, Query, Slip, Term, in_order
from ndcg.explanations.slips import OWN_DOCUMENT, SLIPS, slip_named
from ndcg.measure.conventions import CONVENTIONS
from ndcg.scores.compute import compute

LOG = [1 / math.log2(rank + 1) for rank in range(1, 30)]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_has_another_score_than_some_convention(slip: Slip) -> None:
    queries = random_rankings(range(100), 5, Shows(), 1)
    queries = [
        query._replace(
            qrels={
                document: grade - 1 if at % 9 == 0 else grade
                for document, grade in query.qrels.items()
            }
        )
        for at, query in enumerate(queries)
    ]
    queries.append(Query({"a": 1 + 1e-9, "b": 1}, {"b": 1}, 5))  # equal in 32 bits
    queries.append(Query({"q": 2, "b": 1}, {"b": 1}, 5, name="q"))
    how = {"negative_relevance": "keep"}
    assert any(
        not np.allclose(
            slip.scores(Queries(queries), {"convention": name, **how}),
            Queries(queries).scores({"convention": name, **how}),
            equal_nan=True,
        )
        for name in CONVENTIONS
    )
    assert slip.name[0].islower() or slip.name.startswith(("DCG", "0"))
    assert slip.meaning.endswith(".")


UNCHANGED_IDEAL = Slip("", "", ideal=Term((lambda query: query,)))
EMPTY = [
    Query({}, {"a": 1, "b": 2}, 2),  # nothing retrieved, something to find
    Query({}, {"a": 0}, 2),
    Query({"a": 1}, {"a": 0}, 2),
    Query({}, {}, 2, missing=True),
]


@pytest.mark.parametrize("log_base", [2, 0.5])
@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize("ideal", ["judged", "truncated", "retrieved", "full"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan, -0.5, "perfect_if_empty"])
def test_a_slip_that_changes_nothing_gives_the_values_of_the_options(
    zero_division: float | str, ideal: str, missing: str, log_base: float
) -> None:
    options = {
        "zero_division": zero_division,
        "ideal": ideal,
        "missing": missing,
        "log_base": log_base,
    }
    queries = Queries([*EMPTY, *random_rankings(range(40), 5, Shows(), 3)])
    found = UNCHANGED_IDEAL.scores(queries, options)
    assert np.allclose(found, queries.scores(options), equal_nan=True, rtol=1e-12)


def test_the_own_document_is_left_out_as_by_exclude_from_run() -> None:
    run = {"q1": {"q1": 3.0, "a": 2.0, "b": 1.0}, "q2": {"q2": 1.0}, "a": {"b": 1.0, "a": 1.0}}
    qrels = {"q1": {"q1": 2, "b": 1}, "q2": {"q2": 1}, "a": {"a": 1, "c": 1}}
    queries = Queries(Query(run[name], qrels[name], 2, name=name) for name in qrels)
    found = compute(
        predictions=run,
        references=qrels,
        k=2,
        exclude={name: [name] for name in run},
        exclude_from="run",
        use_aggregator=False,
    )["nDCG@2"]
    assert OWN_DOCUMENT.scores(queries, {}).tolist() == pytest.approx(found)
    assert 0 < found[0] < queries.scores({})[0]


def test_two_slips_at_once_are_one_after_the_other() -> None:
    query = Query(in_order("xab"), {"a": 2, "b": 3, "c": 3}, 2)
    both = slip_named("graded relevance read as 0 or 1").over(
        slip_named("ideal from the top k retrieved")
    )
    assert float(both.scores(Queries([query]), {})[0]) == pytest.approx(LOG[1])


# --- docs/slips.md --------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "slips.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| ([^|]+) \| ([^|]+\.) \| `([^`]+)` \| ([\d.]+|no score) \| ([\d.]+) \| ([^|]+) \|$",
    PAGE,
    re.MULTILINE,
)


def test_the_page_has_a_row_for_each_slip_the_most_frequently_reported_first() -> None:
    assert [row[0].lower() for row in ROWS] == [
        slip.name.lower() for slip in sorted(SLIPS, key=lambda slip: -slip.reports[0])
    ]


def test_the_page_lists_every_report_of_a_slip_that_was_reported_more_than_once() -> None:
    lists = re.findall(
        r"^- ([^:\n]+): (\[.+)$", PAGE.partition("## Public reports\n")[2], re.MULTILINE
    )
    threads = {name.lower(): re.findall(r"\[([^]]+)\]\(https://", links) for name, links in lists}
    reports = {slip.name.lower(): slip.reports for slip in SLIPS if slip.reports[0] > 1}
    reports["a document counted twice"] = (3, "deepset-ai/haystack#11959")  # told in a note
    assert {name: (len({*each}), each[0]) for name, each in threads.items()} == reports


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_page_shows_the_slip(row: tuple[str, ...]) -> None:
    name, meaning, ranking, wrong, right_score, reported = row
    slip = next(slip for slip in SLIPS if slip.name.lower() == name.lower())
    assert meaning == slip.meaning
    number, thread = slip.reports
    assert reported.partition(",")[0] == (str(number) if number else "–")
    assert thread in reported
    by_lightgbm = slip.name in ("linear gain", "no relevant documents scored 0")
    options = {"convention": "lightgbm"} if by_lightgbm else {"negative_relevance": "keep"}
    found = float(slip.scores(Queries([query_of(ranking)]), options)[0])
    assert ("no score" if math.isnan(found) else f"{found:.4f}") == wrong
    assert f"{float(Queries([query_of(ranking)]).scores(options)[0]):.4f}" == right_score


@pytest.fixture(scope="module")
def pasted() -> dict[str, Any]:
    """The test of the page, with its name."""
    (code,) = re.findall(r"```python\n(def test_ndcg.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    return namespace


def passes(pasted: dict[str, Any], slip: Slip) -> bool:
    pasted["my_ndcg"] = lambda run, qrels, k: float(
        slip.scores(Queries([Query(run, qrels, k)]), {})[0]
    )
    try:
        pasted["test_ndcg"]()
    except AssertionError:
        return False
    return True


RIGHT = Slip("", "")
RIGHT_ON_SCIKIT_LEARN = {
    "linear gain",
    "no relevant documents scored 0",
    "negative relevance removed",
}
# It takes the id of the query, which the function of the test does not get.
NOT_SHOWN = RIGHT_ON_SCIKIT_LEARN | {OWN_DOCUMENT.name}


def test_the_test_to_paste_passes_for_the_right_ndcg_and_fails_for_every_slip(
    pasted: dict[str, Any],
) -> None:
    assert passes(pasted, RIGHT)
    assert {slip.name for slip in SLIPS if passes(pasted, slip)} == NOT_SHOWN


@pytest.mark.slow
def test_the_test_to_paste_fails_for_every_two_slips(pasted: dict[str, Any]) -> None:
    slips = [slip for slip in SLIPS if slip.name not in NOT_SHOWN]
    passing = [
        (one.name, two.name) for one, two in permutations(slips, 2) if passes(pasted, two.over(one))
    ]
    deep, short = "cutoff one rank too deep", "cutoff one rank too short"
    assert set(passing) == {(deep, short), (short, deep)}  # which undo each other


def test_no_two_rankings_show_all_slips() -> None:
    """As the page says: no ranking shows two of these three."""
    names = "no relevant documents scored 1", "0 if lists are shorter than k", "DCG not cut at k"
    queries = [
        query for k in (1, 2, 5, None) for query in random_rankings(range(200), k, Shows(), 2)
    ]
    right = Queries(queries).scores({})
    shown = np.array(
        [~np.isclose(slip_named(name).scores(Queries(queries), {}), right) for name in names]
    )
    assert shown.any(axis=1).all()
    assert shown.sum(axis=0).max() == 1
