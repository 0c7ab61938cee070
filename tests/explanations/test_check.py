"""`check` finds a function's definition or slip, and the smallest ranking on which it differs."""

import functools
import json
import math
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from checked_functions import (
    IDIOMS,
    KINDS,
    MUTANTS,
    SETS,
    SLIPS,
    UNSTABLE,
    Documents,
    Function,
    best,
    dcg,
    grades,
    ratio,
    usual,
)
from conftest import ROOT
from refusals import refusal

from ndcg.explanations import check as checking
from ndcg.explanations.asking import Asker
from ndcg.explanations.check import Check
from ndcg.explanations.forms import FORMS, Call, accepted_arguments, possible_calls
from ndcg.explanations.random_rankings import random_rankings
from ndcg.explanations.slip_terms import Queries, Query, in_order
from ndcg.explanations.slips import slip_named
from ndcg.measure.conventions import CONVENTIONS
from ndcg.measure.options import __version__

# in one process, since the scores of the first rankings by every definition are kept there
pytestmark = pytest.mark.xdist_group("check")

TOP_K = SLIPS["ideal from the top k retrieved"]
CASES = 60  # rankings that a function is asked about: enough to tell those of this file


def check(function: Callable[..., Any], *, cases: int = CASES, **options: Any) -> Check:
    """As `ndcg.check`, which asks about 200 rankings unless told otherwise."""
    return checking.check(function, cases=cases, **options)


def verdict(result: Check) -> str:
    """The status, the form and the first definition: "1 sets: sklearn, ideal not cut at k"."""
    definition = "unknown"
    if result.matches:
        convention, slips, factor = result.matches[0]
        definition = ", ".join([f"{factor:.5g} " * (factor != 1) + convention, *slips])
    return f"{result.status} {result.form}: {definition}" + ", ties in no order" * bool(
        result.unordered
    )


def slow(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


def sampled(names: Iterable[str], every: int) -> list[Any]:
    """Names of which only one in so many is checked in `make test`, as each takes a second."""
    return [slow(name) if at % every else name for at, name in enumerate(names)]


@pytest.mark.parametrize("name", sampled(KINDS, 2))
def test_the_definition_of_a_function_is_found(name: str) -> None:
    function, found = KINDS[name]
    assert verdict(check(function)) == found


@pytest.mark.parametrize("name", sampled(IDIOMS, 2))
def test_a_function_is_asked_in_the_way_in_which_it_is_called(name: str) -> None:
    import torch  # noqa: F401  # tensors are tried if it was imported

    function, found = IDIOMS[name]
    assert verdict(check(function)) == found


@pytest.mark.parametrize("name", ["ideal in ascending order", "exponential gain over linear"])
def test_grades_count_even_if_a_relevance_of_0_and_1_shows_nothing_wrong(name: str) -> None:
    result = check(MUTANTS[name])
    assert (result.status, result.conventions) == (1, ())
    assert result.example is not None
    assert result.example.value != result.example.expected


def test_a_function_of_a_batch_or_a_whole_run_is_told_to_be_one() -> None:
    said = "It takes several rankings at once. It was called with ({}, k) of two copies of each."
    of_run = "{query: {document: relevance}}, {query: {document: score}}"
    assert said.format(of_run) in check(IDIOMS["a whole run"][0]).notes
    assert "It returns the sum over the rankings, not their mean." in str(
        check(IDIOMS["the sum of a batch"][0])
    )


def values_of_runs(runs: Any, qrels: Any, k: int) -> list[float]:
    return [usual(runs[query], judged, k) for query, judged in qrels.items()]


def mean_of_runs(runs: Any, qrels: Any, k: int) -> float:
    return float(np.mean(values_of_runs(runs, qrels, k)))


def mean_of_relevant_runs(runs: Any, qrels: Any, k: int) -> float:
    return mean_of_runs(
        runs, {q: each for q, each in qrels.items() if any(each.values())} or qrels, k
    )


WRONG_MEANS: dict[str, Callable[[Any, Any, int], float]] = {
    "over one more": lambda runs, qrels, k: sum(values_of_runs(runs, qrels, k)) / (len(qrels) + 1),
    "over two": lambda runs, qrels, k: sum(values_of_runs(runs, qrels, k)) / 2,
    "over those above 0": lambda runs, qrels, k: (
        sum(values_of_runs(runs, qrels, k))
        / max(1, np.count_nonzero(values_of_runs(runs, qrels, k)))
    ),
    "the highest": lambda runs, qrels, k: max(values_of_runs(runs, qrels, k)),
    "over those with relevant documents": mean_of_relevant_runs,
}


@pytest.mark.parametrize("name", WRONG_MEANS)
def test_two_copies_of_a_ranking_do_not_show_a_mean(name: str) -> None:
    result = check(WRONG_MEANS[name])
    assert (result.status, result.conventions, result.signature) == (1, (), "")
    assert "ranx" in [match.convention for match in result.matches]
    said = "The function does not return the mean of several rankings: for two copies of each of "
    assert said in str(result)
    assert "The function computes" not in str(result)
    assert result.contradiction


@pytest.mark.parametrize("function", [mean_of_runs, values_of_runs])
def test_the_mean_of_different_rankings_is_that_of_a_convention(function: Function) -> None:
    result = check(function)
    assert "ranx" in result.conventions
    assert "|empty:0|" in result.signature


def dcg_over_k(run: Documents, qrels: Documents, k: int) -> float:
    return dcg(grades(run, qrels)[:k]) / k


@pytest.mark.parametrize(
    "function", [lambda run, qrels, k: usual(run, qrels, 10), dcg_over_k], ids=["at 10", "over k"]
)
def test_a_function_is_asked_at_another_cutoff(function: Function) -> None:
    result = check(function)
    assert (result.status, result.matches) == (1, ())
    assert "No convention and no known slip explains it." in str(result)


def test_a_function_that_is_wrong_at_another_cutoff_only_shows_it() -> None:
    result = check(lambda run, qrels, k: usual(run, qrels, 10))
    assert result.example is not None
    assert result.example.query.k is not None
    assert result.example.query.k < 10


def test_counts_of_a_convention_that_skips_queries_agree_with_the_verdict() -> None:
    """A query that a function is asked about is never missing from the run."""
    result = check(
        lambda ids, relevant, k: Queries(
            [Query(in_order(ids), dict.fromkeys(relevant, 1), k)]
        ).scores({"convention": "lenskit", "missing": "empty"})[0],
        form="sets",
    )
    assert result.agreeing["lenskit"] == result.answered
    assert result.example is None


def test_names_of_parameters_that_contradict_the_order_are_told() -> None:
    def swapped(y_true: Any, y_score: Any, k: int) -> float:
        return usual(dict(enumerate(y_true)), dict(enumerate(y_score)), k)

    result = check(swapped)
    assert "ranx" in result.conventions
    assert "It was called with (scores, relevance, k)." in result.notes
    said = "The names of its parameters, y_true, y_score, say another order: one of the two is "
    assert any(note.startswith(said) for note in result.notes)
    for name in ("relevance first", "lists", "k first"):
        assert said not in str(check(KINDS[name][0]))


def test_a_function_that_nothing_explains_is_said_to_take_other_arguments() -> None:
    result = check(lambda one, other, k: sum(map(len, map(str, one))) / 7)
    assert (result.status, result.is_doubtful, result.matches) == (1, True, ())
    first, second, smallest, _, advice, *_ = result.remarks()
    assert first == "No convention and no known slip explains it."
    assert re.match(r"The nearest convention is \w+: \d+ of 60 rankings agree\.", second)
    assert smallest.startswith("The table has the smallest ranking on which it differs")
    assert advice.startswith("It may take other arguments than it was called with: wrap it in ")


@pytest.mark.parametrize("slip", sampled(SLIPS, 2))
def test_a_slip_is_named(slip: str) -> None:
    result = check(SLIPS[slip], form="mappings")
    assert (slip,) in [match.slips for match in result.matches]
    assert result.status == 1
    assert re.search(
        rf"with a slip: {re.escape(slip)}: all [1-9][0-9,]* rankings agree", str(result)
    )


OF_IDS_OR_SCORES = ("ties by ascending document id", "unretrieved documents with the score 0")
OTHER_FORMS: dict[str, Callable[[Function], Function]] = {
    "sets": lambda function: (
        lambda ids, relevant, k: function(in_order(ids), dict.fromkeys(relevant, 1), k)
    ),
    "lists": lambda function: (
        lambda relevance, scores, k: function(
            dict(enumerate(scores)), dict(enumerate(relevance)), k
        )
    ),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize(
    "slip", sampled([slip for slip in SLIPS if slip not in OF_IDS_OR_SCORES], 8)
)
def test_a_slip_is_named_in_every_form_that_shows_it(slip: str, form: str) -> None:
    """Of sets of relevant ids, and of lists with the relevance first."""
    asked = random_rankings(range(100), 10, FORMS[form].shows, 0)
    queries = Queries(query for query in asked if form != "sets" or any(query.qrels.values()))
    values = slip_named(slip).scores(queries, {"convention": "ranx"})
    hidden = any(
        np.allclose(values, queries.scores({"convention": name}), equal_nan=True)
        for name in CONVENTIONS
    )
    result = check(OTHER_FORMS[form](SLIPS[slip]), cases=100)
    assert result.conventions if hidden else any(slip in match.slips for match in result.matches)


SEEDS = 5  # which take turns
# one seed after the other, as long as the scores of its first rankings are kept
MUTANTS_BY_SEED = [name for seed in range(SEEDS) for name in sampled(MUTANTS, 10)[seed::SEEDS]]


@pytest.mark.parametrize("name", MUTANTS_BY_SEED)
def test_no_function_that_computes_something_else_is_called_right(name: str) -> None:
    result = check(MUTANTS[name], cases=200, seed=[*MUTANTS].index(name) % SEEDS)
    assert (result.status, result.matches) == (1, ())
    assert "No convention and no known slip explains it." in str(result)
    assert f"the smallest ranking on which it differs from {result.nearest}, " in str(result)


PROCESSORS = {"AVX-512": "", "AVX2": "X86_V4 AVX512_ICL", "none": "X86_V3 X86_V4 AVX512_ICL"}
PRINT_VERDICTS = """
from checked_functions import UNSTABLE
from ndcg import check
for seed, function in enumerate(UNSTABLE.values()):
    result = check(function, seed=seed)
    print(result.status, result.conventions, result.unordered)
"""


@pytest.mark.slow
@pytest.mark.parametrize("disabled", PROCESSORS.values(), ids=PROCESSORS)
def test_ties_in_no_fixed_order_are_told_on_every_processor(disabled: str) -> None:
    """NumPy sorts with other instructions on each, so that equal scores end in another order."""
    environment = {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": disabled,
        "PYTHONPATH": f"{Path(__file__).parent}:{ROOT}",
    }
    command = [sys.executable, "-W", "ignore", "-c", PRINT_VERDICTS]
    printed = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert set(printed.splitlines()) == {"0 ('sklearn', 'ranx', 'haystack') 60"}


def test_ties_in_no_order_are_those_of_a_convention_if_its_library_leaves_them_so() -> None:
    function = UNSTABLE["np.argsort(-y)"]
    assert [check(function, convention=name).status for name in ("ranx", "sklearn")] == [0, 1]
    result = check(function)
    assert "all 42 rankings without ties agree." in str(result)
    assert (
        "Its order of tied documents is not fixed: no order explains its scores for the 18 rankings"
        in str(result)
    )
    assert "ties" not in result.signature


@pytest.mark.parametrize("name", sampled(CONVENTIONS, 2))
def test_a_convention_is_named(name: str) -> None:
    how = {"convention": name}
    result = check(
        lambda run, qrels, k: Queries([Query(run, qrels, k)]).scores(how)[0],
        form="mappings",
        cases=40,
    )
    assert name in result.conventions
    assert result.status == 0
    assert result.agreeing[name] == result.answered
    assert result.example is None


def test_the_signature_has_only_what_the_rankings_showed() -> None:
    assert (
        check(usual).signature
        == f"nDCG@10|gain:linear|log:2|ties:first|empty:0|unjudged:0|v:{__version__}"
    )
    of_sets = check(SETS["right"][0]).signature
    assert of_sets == f"nDCG@10|log:2|empty:0|unjudged:0|v:{__version__}"


def short(run: Documents, qrels: Documents, k: int) -> bool:
    return len(run) < k


def unlike(run: Documents, qrels: Documents, k: int) -> bool:
    return run.keys() != qrels.keys()


def graded(run: Documents, qrels: Documents, k: int) -> bool:
    return max(qrels.values()) > 1


def raises_if(refuses: Callable[[Documents, Documents, int], bool]) -> Function:
    """The usual nDCG, but an error for some rankings."""

    def function(run: Documents, qrels: Documents, k: int) -> float:
        if refuses(run, qrels, k):
            raise ValueError("not such a ranking")
        return usual(run, qrels, k)

    return function


@pytest.mark.parametrize("convention", [None, "ranx"])
@pytest.mark.parametrize("refuses", [short, unlike, graded])
def test_a_function_that_raises_on_most_rankings_is_not_said_to_compute_a_convention(
    refuses: Callable[[Documents, Documents, int], bool], convention: str | None
) -> None:
    """Of the first rankings 'short' raises on fewer than half; asked again, on nearly all."""
    result = check(raises_if(refuses), form="mappings", convention=convention)
    assert 0 < result.answered < result.cases / 2
    assert (result.status, result.refused) == (3, True)
    assert (result.conventions, result.signature) == ((), "")
    assert "ranx" in [match.convention for match in result.matches]
    first, second, *others = result.remarks()
    assert first == (
        f"Only {result.answered:,} of {result.cases:,} rankings can be compared: the function "
        "returned no score for the others."
    )
    assert re.fullmatch(
        r"Its scores agree with the nDCG of .*ranx.*, but do not show what it computes\.", second
    )
    assert "computes the nDCG" not in str(result)
    raised = (
        rf"It raises ValueError: {result.cases - result.answered:,} of {result.cases:,} "
        rf"rankings, such as not such"
    )
    (note,) = (each for each in others if each.startswith(raised))
    assert " for run = {" in note


def test_a_function_that_raises_on_some_rankings_computes_a_convention_on_the_others() -> None:
    result = check(raises_if(lambda run, qrels, k: not any(qrels.values())), form="mappings")
    assert (result.status, result.refused) == (0, False)
    assert "ranx" in result.conventions


def test_the_smallest_ranking_that_differs_is_not_one_on_which_the_function_raises() -> None:
    example = check(raises_if(short), form="mappings", convention="trec_eval").example
    assert example is not None
    assert math.isfinite(example.value)
    assert len(example.query.run) >= (example.query.k or 0)


def places(ids: Sequence[str], relevant: Iterable[str], k: int) -> float:
    return ratio([float(each in ids[:k]) for each in relevant][:k], [1] * min(k, len([*relevant])))


OF_A_SET = "It gives another answer for other ids, since it depends on the order of a set: "


@pytest.mark.parametrize("seed", [0, slow(1)])
def test_a_function_that_orders_documents_by_a_set_is_told_so(seed: int) -> None:
    unordered = check(lambda ids, relevant, k: places(ids, set(relevant), k), seed=seed)
    assert verdict(unordered) == "1 ids: unknown"
    assert any(note.startswith(OF_A_SET) for note in unordered.notes)
    of_list = check(places, seed=seed)
    assert verdict(of_list) == "1 ids: sklearn, discount from the place in the truth"
    of_set = check(places, form="sets", seed=seed)
    assert verdict(of_set) == "1 sets: unknown"
    assert any(note.startswith(OF_A_SET) for note in of_set.notes)
    ties = check(
        lambda run, qrels, k: usual({each: run[each] for each in {*run}}, qrels, k), seed=seed
    )
    assert verdict(ties) == "0 mappings: sklearn, ties in no order"
    assert any(note.startswith(OF_A_SET) for note in ties.notes)
    assert not any(
        note.startswith(OF_A_SET) for note in check(SETS["reciprocal rank"][0], seed=seed).notes
    )


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        slow("hit rate", 7),
        slow("raises below 2k", 1),
        slow("raises below 2k", 4),
        slow("reciprocal rank", 9),
    ],
)
def test_arguments_that_explain_some_answers_by_chance_are_not_kept(name: str, seed: int) -> None:
    function, found = SETS[name]
    assert verdict(check(function, cases=200, seed=seed)) == found


def test_a_call_with_the_relevance_first_shows_that_it_cuts_a_set() -> None:
    """With twice as many relevant documents as the cutoff it shows under any hash seed."""
    first = [Query({"a": 1.0}, {"a": 1}, 10)]
    calls = (Call("sets", 2, order) for order in ((0, 1), (1, 0)))
    assert [Asker(SETS["hit rate"][0], call).depends_on_sets(first) for call in calls] == [
        False,
        True,
    ]


def of_gains(gains: Sequence[float], k: int | None = None) -> float:
    return ratio(gains[:k], best(gains)[:k])


def ndcg_at_k(r: Sequence[float], k: int, method: int = 0) -> float:
    """As in countless notebooks: with the first method, ranks 1 and 2 weigh the same."""
    dcgs = [
        sum(
            gain / (math.log2(rank + 1) if method else max(1, math.log2(rank)))
            for rank, gain in enumerate(each, 1)
        )
        for each in (r[:k], best(r)[:k])
    ]
    return dcgs[0] / dcgs[1] if dcgs[1] else 0.0


@pytest.mark.parametrize(
    ("function", "k", "found"),
    [
        (of_gains, 10, "0 relevance: sklearn"),
        (lambda gains: of_gains(gains, None), None, "0 relevance: sklearn"),
        (lambda gains, top_k=None: of_gains(gains, top_k), 3, "0 relevance: sklearn"),
        (lambda k, gains: of_gains(gains, k), 10, "0 relevance: sklearn"),
        (ndcg_at_k, 10, "1 relevance: sklearn, equal weights at ranks 1 and 2"),
        (lambda r, k, method=1: ndcg_at_k(r, k, method), 10, "0 relevance: sklearn"),
        (lambda r, k: of_gains(r[:k]), 10, "1 relevance: sklearn, ideal from the top k retrieved"),
    ],
)
def test_a_function_of_one_list_gets_the_relevance_in_the_order_of_the_ranking(
    function: Callable[..., float], k: int | None, found: str
) -> None:
    result = check(function, k=k)
    assert verdict(result) == found
    assert result.notes[0].startswith(
        "It takes only the relevance of a ranking: unless this has all judged documents"
    )


@pytest.mark.parametrize(
    ("function", "cutoffs"),
    [
        (lambda scores, relevance, base: 0, [2, None]),
        (lambda scores, relevance, base=None: 0, [2, None]),
        (lambda scores, relevance, method="exp": 0, [None]),
        (lambda scores, relevance: 0, [None]),
        (lambda scores, relevance, **options: 0, ["k"]),
        (lambda *sides: 0, [2]),
        (lambda k, scores, relevance: 0, [0]),
        (max, [2]),  # whose parameters Python does not know
    ],
)
def test_the_cutoff_goes_where_a_function_may_take_it(
    function: Function, cutoffs: list[int | str | None]
) -> None:
    assert [cutoff for _, cutoff in accepted_arguments(function, 10)] == cutoffs
    called = {call.form for call in possible_calls(function, 10, tuple(FORMS))}
    of_two = {name for name, form in FORMS.items() if len(form.arguments) == 2}
    unsure = {name for name in of_two if FORMS[name].must_be_hinted or FORMS[name].module}
    assert called - unsure - {"queries", "groups"} == of_two - unsure


def test_a_factor_is_explained() -> None:
    said = str(check(KINDS["log10 in the DCG"][0]))
    assert "It computes 3.3219 times the nDCG of ranx, haystack: all 60 rankings agree." in said
    assert "The logarithm has base 10 in the DCG and 2 in the ideal." in said
    assert "The scores are percentages." in str(check(KINDS["percent, top k"][0]))


def test_the_smallest_ranking_keeps_a_judgment() -> None:
    example = check(lambda run, qrels, k: 2.0, form="mappings").example
    assert example is not None
    assert len(example.query.run) <= 1
    assert len(example.query.qrels) == 1


def test_an_example_without_judgments_has_the_smallest_cutoff() -> None:
    right = SETS["right"][0]
    result = check(lambda ids, relevant, k: right(ids, relevant, k) if relevant else 0.5)
    assert result.example is not None
    assert result.example.query == Query({}, {}, 1)


def test_the_smallest_ranking_loses_no_document_and_shows_both_sums() -> None:
    result = check(TOP_K, form="mappings")
    example = result.example
    assert example is not None
    assert [*example.query.run.values()] == [1.0]
    assert len(example.query.qrels) == 2
    assert (example.query.k, set(example.query.qrels.values())) == (1, {1, 4})
    assert example.value == 1.0
    assert example.expected == 1 / 4
    assert sum(row[-1] for row in example.rows) / example.ideal == pytest.approx(example.expected)
    assert "is 1.0000 / 4.0000 = 0.2500; the function returns 1.0000" in str(result)


# The forms of functions

in_lists, in_ranks, in_sets = (KINDS[name][0] for name in ("lists", "ranked", "sets: right"))
in_arrays = KINDS["arrays"][0]


@pytest.mark.parametrize(
    ("form", "function"),
    [("mappings", usual), ("lists", in_lists), ("arrays", in_arrays), ("ranked", in_ranks)],
)
def test_a_form_may_be_named(form: str, function: Function) -> None:
    turned = check(lambda one, other, k: function(other, one, k), form=form)
    assert turned.form == form
    assert "ranx" in turned.conventions
    first, second = FORMS[form].arguments
    assert f"It was called with ({second.text}, {first.text}, k)." in turned.notes


def test_a_form_that_is_named_has_slips_and_the_relevance_first_as_any_other() -> None:
    assert verdict(check(SETS["relevant first"][0], form="sets")) == SETS["relevant first"][1]


def keyword_only(run: Documents, qrels: Documents, *, top_k: int) -> float:
    return usual(run, qrels, top_k)


def all_by_keyword(*, y_true: Any, y_score: Any, k: int) -> float:
    return in_lists(y_score, y_true, k)


def scores_by_keyword(y_true: Any, weight: Any = None, *, y_score: Any, k: int = 10) -> float:
    return in_lists(y_score, y_true, k)


@pytest.mark.parametrize("function", [all_by_keyword, scores_by_keyword])
def test_arguments_that_must_be_named_are_named(function: Function) -> None:
    assert verdict(check(function)) == "0 lists: ranx"


def test_a_last_argument_of_one_letter_may_be_the_cutoff() -> None:
    assert verdict(check(lambda rel, p: of_gains(rel[:p]))).startswith(
        "1 relevance: sklearn, ideal from the top"
    )
    assert verdict(check(lambda y, p: in_lists(p, y, 10))) == "0 lists: ranx"


def test_of_calls_without_a_score_one_that_raises_nothing_is_told() -> None:
    (note, *others) = check(
        lambda y_true, y_score, k: {"nDCG": in_lists(y_score, y_true, k)}, cases=40
    ).notes[1:]
    assert note.startswith(
        "It returns a value of type dict, which is not a number: 40 of 40 rankings"
    )
    assert not any("raises" in each for each in others)


@pytest.mark.parametrize(
    "function", [lambda: 0.5, lambda run, qrels, ids, items, k: 0.5], ids=["none", "five"]
)
def test_a_function_of_no_known_number_of_arguments_is_to_be_wrapped(function: Function) -> None:
    with refusal("function"):
        check(function)


@pytest.mark.parametrize(
    ("function", "k"),
    [
        (keyword_only, 5),
        (functools.partial(usual, k=7), 5),
        (lambda run, qrels: usual(run, qrels, 1000), None),
    ],
)
def test_the_cutoff_may_be_a_keyword_or_absent(function: Function, k: int | None) -> None:
    assert "ranx" in check(function, k=k, cases=40).conventions


def test_a_function_that_takes_no_cutoff_is_compared_at_the_one_given() -> None:
    result = check(lambda run, qrels: usual(run, qrels, 10), cases=40)
    assert "ranx" in result.conventions
    assert result.k == 10
    assert "It takes no cutoff. It was compared with nDCG@10." in result.notes


def test_a_function_that_takes_no_cutoff_and_has_none_is_compared_on_whole_rankings() -> None:
    result = check(lambda run, qrels: usual(run, qrels, None), cases=40)
    assert "ranx" in result.conventions
    assert result.k is None
    assert "It takes no cutoff, so whole rankings were compared." in result.notes


def test_a_document_counted_twice_is_reported() -> None:
    def twice(ids: Sequence[str], relevance: dict[str, float], k: int) -> float:
        ideal = best(relevance.values())[:k]
        found = [relevance.get(each, 0) for each in ids][:k]
        relevance.clear()  # the check sees the relevance all the same
        return ratio(found, ideal)

    said = "A document that is listed twice counts twice"
    assert check(twice, form="ranked", cases=40).notes[-1].startswith(said)
    once = check(
        lambda ids, relevance, k: twice([*dict.fromkeys(ids)], relevance, k),
        form="ranked",
        cases=40,
    )
    assert not any(note.startswith(said) for note in once.notes)


# Side effects of functions


def counting() -> Function:
    calls = iter(range(10**6))
    return lambda run, qrels, k: usual(run, qrels, k) + 1e-3 * next(calls)


def or_else(missing: Any) -> Callable[..., Any]:
    """The usual nDCG, but something else if nothing is relevant."""
    return lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else missing


NO_NUMBER = "which is not a number: 40 of 40 rankings, such as"


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (
            lambda run, qrels, k: usual(run, qrels, k) + 0 * bool(run.clear()),
            "It changes its arguments: ",
        ),
        (counting(), "It gives another answer when it is asked twice: "),
        (SLIPS["DCG called nDCG"], "It returns a value above 1: "),
        (or_else(-0.5), "It returns a value below 0: "),
        (or_else(math.nan), "It returns nan: "),
        (or_else(None), "It returns None: "),
        (or_else("none"), "It returns a value of type str, which is not a number: "),
        (or_else(math.inf), "It returns inf: "),
        (
            lambda run, qrels, k: {"nDCG": 1},
            f"It returns a value of type dict, {NO_NUMBER} {{'nDCG': 1}}.",
        ),
        (
            lambda run, qrels, k: [0.0, 1.0],
            f"It returns a value of type list, {NO_NUMBER} [0.0, 1.0].",
        ),
        (lambda run, qrels, k: True, f"It returns a value of type bool, {NO_NUMBER} True."),
    ],
)
def test_side_effects_of_a_function_are_reported(function: Callable[..., Any], note: str) -> None:
    result = check(function, form="mappings", cases=40)
    assert any(each.startswith(note) for each in result.notes), result.notes


PRINTS = ("It prints: 20 of 20 rankings.",)


@pytest.mark.parametrize(
    ("effect", "notes"),
    [
        (lambda: print("scored"), PRINTS),
        (lambda: print("scored", file=sys.stderr), PRINTS),
        (
            lambda: warnings.warn("slow", stacklevel=1),
            ("It warns (UserWarning: slow): 20 of 20 rankings.",),
        ),
        (lambda: (print("scored"), sys.stdout.close()), PRINTS),
    ],
)
def test_what_a_function_prints_goes_nowhere_but_into_the_result(
    effect: Callable[[], Any], notes: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    def printing(run: Documents, qrels: Documents, k: int) -> float:
        effect()
        return usual(run, qrels, k)

    result = check(printing, form="mappings", cases=20)
    assert (result.answered, result.notes) == (20, notes)
    assert capsys.readouterr() == ("", "")


def write(argument: Any, value: Any) -> None:
    if isinstance(argument, set):
        argument.add(0)
    elif isinstance(argument, list):
        argument.append(value)
    elif isinstance(argument, dict):
        argument.update(dict.fromkeys(argument, value) | {"another": value})
    else:
        argument.resize(argument.size + 1, refcheck=False)


@pytest.mark.parametrize(
    ("form", "function", "value"),
    [
        ("mappings", usual, math.nan),
        ("mappings", usual, "argument"),
        ("lists", in_lists, math.nan),
        ("lists", in_lists, np.zeros(3)),
        ("lists", in_lists, "argument"),
        ("arrays", in_arrays, None),
        ("ranked", in_ranks, np.zeros(3)),
        ("sets", in_sets, None),
        ("relevance", of_gains, math.nan),
    ],
)
def test_a_function_may_write_anything_into_its_arguments(
    form: str, function: Function, value: Any
) -> None:
    def writing(*arguments: Any) -> float:
        result = function(*arguments)
        for argument in arguments[:-1]:
            write(argument, argument if isinstance(value, str) else value)
        return result

    before, result = (check(each, form=form, cases=40) for each in (function, writing))
    assert {*result.notes} == {*before.notes, "It changes its arguments: 40 of 40 rankings."}
    assert result.matches == before.matches


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt(), RecursionError()], ids=repr)
def test_any_error_of_a_function_is_an_answer(error: BaseException) -> None:
    def raising(run: Documents, qrels: Documents, k: int) -> float:
        if not any(qrels.values()):
            raise error
        return usual(run, qrels, k)

    result = check(raising, form="mappings")
    assert "ranx" in result.conventions
    assert any(note.startswith(f"It raises {type(error).__name__}: ") for note in result.notes)


@pytest.mark.parametrize("swallows", [True, False])
def test_an_interrupt_ends_the_check_whatever_a_function_does_with_it(swallows: bool) -> None:
    asked = []

    def interrupted(run: Documents, qrels: Documents, k: int) -> float:
        asked.append(run)
        try:
            signal.raise_signal(signal.SIGINT)  # as Ctrl-C does
        except BaseException:
            if not swallows:
                raise
        return 0.5

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        check(interrupted)
    assert len(asked) == 1
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_error_has_the_smallest_ranking_on_which_it_is_raised() -> None:
    (note,) = check(
        lambda run, qrels, k: usual(run, qrels, k) + 0 * max(run.values()), form="mappings"
    ).notes
    assert re.match(
        r"It raises ValueError: \d+ of \d+ rankings, such as .*empty.* for run = {}, qrels = {",
        note,
    )


def test_rankings_without_an_answer_are_not_held_against_a_function() -> None:
    result = check(
        lambda run, qrels, k: usual(run, qrels, k) / any(qrels.values()), form="mappings"
    )
    assert "ranx" in result.conventions
    assert 45 < result.answered < result.cases
    assert (
        f"all {result.answered} rankings agree, of {result.cases} that it was asked about"
        in str(result)
    )


def test_a_function_that_gives_no_score_could_not_be_asked() -> None:
    result = check(lambda run, qrels, k: "high")
    assert result.status == 2
    assert "returned no score for any of 60 rankings" in str(result)
    assert "It may take other arguments than it was called with: wrap it in " in str(result)
    assert "Signature" not in str(result) + result.to_markdown() + result._repr_html_()


def test_no_score_for_a_run_without_documents_is_not_held_against_a_function() -> None:
    """It may skip such a query, as pytrec_eval does if the query is missing from the run."""
    result = check(lambda run, qrels, k: usual(run, qrels, k) if run else None, form="mappings")
    assert "ranx" in result.conventions
    assert any(note.startswith("It returns None: ") for note in result.notes)


def test_a_run_without_documents_has_a_score_if_a_query_missing_from_the_run_has_none() -> None:
    query = Query({}, {"d1": 1}, 5)
    how = {"convention": "pytrec_eval"}
    assert Queries([query]).scores(how).tolist() == [0.0]
    assert np.isnan(Queries([query._replace(missing=True)]).scores(how)).all()


def test_conventions_that_compare_scores_in_32_bits_are_distinguished_from_those_in_64() -> None:
    def by_scikit_learn(scores: Any, relevance: Any, k: int) -> float:
        run, qrels = dict(enumerate(scores)), dict(enumerate(relevance))
        return float(Queries([Query(run, qrels, k)]).scores({"convention": "sklearn"})[0])

    def in_32_bits(scores: Any, relevance: Any, k: int) -> float:
        return by_scikit_learn(np.float32(scores).tolist(), relevance, k)

    assert check(by_scikit_learn, form="lists").conventions == ("sklearn",)
    assert check(in_32_bits, form="lists").conventions == ("torchmetrics",)


@pytest.mark.parametrize(
    "of", [np.array, lambda each: np.ma.array([[each]]), lambda each: pa.array([each]), Decimal]
)
def test_an_array_of_one_value_is_a_number(of: Callable[[float], Any]) -> None:
    result = check(lambda run, qrels, k: of(usual(run, qrels, k)), form="mappings", cases=20)
    assert "ranx" in result.conventions
    assert result.notes == ()


@pytest.mark.parametrize(
    ("decimals", "of"), [(1, float), (3, np.float32), (4, float), (6, np.float32)]
)
def test_a_function_may_round(decimals: int, of: Callable[[float], Any]) -> None:
    result = check(lambda run, qrels, k: of(round(usual(run, qrels, k), decimals)), form="mappings")
    assert result.conventions == ("ranx", "haystack")
    assert any(note.startswith("It rounds its scores, ") for note in result.notes) == (decimals < 4)


def test_the_convention_that_is_wanted_decides_the_status() -> None:
    assert check(usual, convention="ranx", form="mappings").status == 0
    result = check(usual, convention="lightgbm", form="mappings")
    assert result.status == 1
    assert "It does not compute the nDCG of lightgbm: " in str(result)
    assert result.example is not None
    assert result.nearest == "lightgbm"


def test_the_same_seed_asks_the_same() -> None:
    how = {"form": "mappings", "cases": 30}
    first, again, other = (
        check(SLIPS["no discount"], seed=seed, **how).to_dict() for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_result_is_json() -> None:
    saved = json.loads(json.dumps(check(TOP_K, form="mappings").to_dict()))
    assert saved["matches"][0] == {
        "convention": "ranx",
        "slips": ["ideal from the top k retrieved"],
        "factor": 1.0,
    }
    assert saved["example"]["query"]["k"] == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 0), ("cases", 0), ("form", "list"), ("convention", "sklern"), ("seed", -1)],
)
def test_wrong_arguments_are_rejected_by_name(name: str, value: Any) -> None:
    with refusal(name):
        check(usual, **{name: value})


def test_an_object_that_cannot_be_called_is_rejected() -> None:
    with refusal("function"):
        check("ndcg")  # type: ignore[arg-type]
