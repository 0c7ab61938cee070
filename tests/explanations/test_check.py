"""`check` finds the definition or the slip that a function computes, and the smallest ranking on which it differs."""

import asyncio
import functools
import io
import json
import math
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from threads_functions import UNKNOWN, WRITTEN, discount_table_of_12

from ndcg.explanations.check import check
from ndcg.explanations.questions import FUNCTION_FORMS
from ndcg.explanations.slip_terms import Query, query_scores
from ndcg.measure.conventions import CONVENTIONS

# in one process, since the scores of the first rankings by every definition are kept there
pytestmark = pytest.mark.xdist_group("check")

Documents = Mapping[str, float]


def dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def by_score(run: Documents) -> list[str]:
    return sorted(run, key=lambda document: -run[document])


def ratio(gains: Sequence[float], ideal: Sequence[float]) -> float:
    return dcg(gains) / dcg(ideal) if any(ideal) else 0.0


def best(values: Any) -> list[float]:
    return sorted(values, reverse=True)


def grades(run: Documents, qrels: Documents) -> list[float]:
    return [qrels.get(document, 0) for document in by_score(run)]


# A function for each slip, written from the words of the threads.
WRONG: dict[str, Callable[[Documents, Documents, int], float]] = {
    "ideal from the top k retrieved": lambda run, qrels, k: ratio(grades(run, qrels)[:k], best(grades(run, qrels)[:k])),
    "ideal from all that was retrieved": lambda run, qrels, k: ratio(
        grades(run, qrels)[:k], best(grades(run, qrels))[:k]
    ),
    "ideal not cut at k": lambda run, qrels, k: ratio(grades(run, qrels)[:k], best(qrels.values())),
    "ideal cut at the length of the result list": lambda run, qrels, k: ratio(
        grades(run, qrels)[:k], best(qrels.values())[: min(k, len(run))]
    ),
    "unretrieved documents ranked last": lambda run, qrels, k: ratio(
        [*grades(run, qrels), *(grade for document, grade in qrels.items() if document not in run)][:k],
        best(qrels.values())[:k],
    ),
    "unjudged documents removed": lambda run, qrels, k: ratio(
        [qrels[document] for document in by_score(run) if document in qrels][:k], best(qrels.values())[:k]
    ),
    "ascending order": lambda run, qrels, k: ratio(
        [qrels.get(document, 0) for document in sorted(run, key=lambda each: run[each])][:k], best(qrels.values())[:k]
    ),
    "documents in the order of the input": lambda run, qrels, k: ratio(
        [qrels.get(document, 0) for document in run][:k], best(qrels.values())[:k]
    ),
    "DCG not cut at k": lambda run, qrels, k: ratio(grades(run, qrels), best(qrels.values())[:k]),
    "nothing cut at k": lambda run, qrels, k: ratio(grades(run, qrels), best(qrels.values())),
    "cutoff one rank too deep": lambda run, qrels, k: ratio(grades(run, qrels)[: k + 1], best(qrels.values())[: k + 1]),
    "ideal in the order of the qrels": lambda run, qrels, k: ratio(grades(run, qrels)[:k], list(qrels.values())[:k]),
    "DCG called nDCG": lambda run, qrels, k: dcg(grades(run, qrels)[:k]),
    "0 until k documents are judged": lambda run, qrels, k: (
        0.0 if len(qrels) < k else ratio(grades(run, qrels)[:k], best(qrels.values())[:k])
    ),
    "DCG one rank too deep": lambda run, qrels, k: ratio([0, *grades(run, qrels)[:k]], best(qrels.values())[:k]),
    "judgments counted twice in the ideal": lambda run, qrels, k: ratio(
        grades(run, qrels)[:k], best([*qrels.values(), *qrels.values()])[:k]
    ),
    "no discount": lambda run, qrels, k: (
        sum(grades(run, qrels)[:k]) / sum(best(qrels.values())[:k]) if any(qrels.values()) else 0.0
    ),
    "gain r^2": lambda run, qrels, k: ratio(
        [grade**2 for grade in grades(run, qrels)[:k]], [grade**2 for grade in best(qrels.values())[:k]]
    ),
    "DCG with binary gain, ideal with graded gain": lambda run, qrels, k: ratio(
        [min(grade, 1) for grade in grades(run, qrels)[:k]], best(qrels.values())[:k]
    ),
}


def usual(run: Documents, qrels: Documents, k: int) -> float:
    return ratio(grades(run, qrels)[:k], best(qrels.values())[:k])


@pytest.mark.parametrize("slip", WRONG)
def test_a_slip_is_named(slip: str) -> None:
    result = check(WRONG[slip], form="mappings")
    assert slip in result.matches[0].slips
    assert len(result.matches[0].slips) == 1
    assert result.status == 1
    assert f"with a slip: {slip}: all 200 rankings agree" in str(result)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention_is_named(name: str) -> None:
    result = check(lambda run, qrels, k: query_scores([Query(run, qrels, k)], {"convention": name})[0])
    assert name in result.conventions
    assert result.status == 0
    assert result.agreeing[name] == result.answered
    assert result.example is None


def test_two_slips_at_once_are_named() -> None:
    def both(run: Documents, qrels: Documents, k: int) -> float:
        first = [grade**2 for grade in grades(run, qrels)[:k]]
        return ratio(first, best(first))

    result = check(both)
    assert {"gain r^2", "ideal from the top k retrieved"} in [set(match.slips) for match in result.matches]


FAULTS: dict[str, Callable[[Documents, Documents, int], float]] = {
    "clipped": lambda run, qrels, k: min(usual(run, qrels, k), 0.9),
    "halved": lambda run, qrels, k: usual(run, qrels, k) / 2,
    "bonus": lambda run, qrels, k: usual(run, qrels, k) + 0.01 * len(run),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_is_not_in_the_table_is_called_unknown(fault: str) -> None:
    result = check(FAULTS[fault], cases=100)
    assert result.matches == ()
    assert result.status == 1
    assert "No convention and no known slip explains it." in str(result)
    assert result.example is not None


def test_the_smallest_ranking_keeps_a_judgment() -> None:
    example = check(lambda run, qrels, k: 2.0).example
    assert example is not None
    assert len(example.query.run) == 0
    assert len(example.query.qrels) == 1


def test_the_smallest_ranking_loses_no_document_and_shows_both_sums() -> None:
    result = check(WRONG["ideal from the top k retrieved"])
    example = result.example
    assert example is not None
    assert len(example.query.run) == 1
    assert len(example.query.qrels) == 2
    assert set(example.query.qrels.values()) == {1}
    assert example.value == 1.0
    assert example.expected == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert sum(row[-1] for row in example.rows) / example.ideal == pytest.approx(example.expected)
    assert "is 1.0000 / 1.6309 = 0.6131; the function returns 1.0000" in str(result)


def test_the_common_trait_of_rankings_that_differ_is_named() -> None:
    result = check(lambda run, qrels, k: usual(run, qrels, k) / (1 + (len(set(run.values())) < len(run))))
    assert any("have documents with equal scores; of the" in note for note in result.notes)


# The forms of functions


def in_lists(scores: Sequence[float], relevance: Sequence[float], k: int) -> float:
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return ratio([relevance[at] for at in order][:k], best(relevance)[:k])


def in_arrays(scores: Any, relevance: Any, k: int) -> float:
    order = (-scores).argsort(kind="stable")
    return ratio(relevance[order][:k].tolist(), best(relevance.tolist())[:k])


def in_ranks(ids: Sequence[str], relevance: Documents, k: int) -> float:
    return round(ratio([relevance.get(each, 0) for each in dict.fromkeys(ids)][:k], best(relevance.values())[:k]), 4)


@pytest.mark.parametrize(
    ("form", "function"), [("mappings", usual), ("lists", in_lists), ("arrays", in_arrays), ("ranked", in_ranks)]
)
def test_the_form_is_found_out(form: str, function: Callable[..., float]) -> None:
    result = check(function)
    assert result.form == form
    assert "ranx" in result.conventions
    assert check(function, form=form, seed=1).conventions == result.conventions


def in_sets(ids: Sequence[str], relevant: set[str], k: int) -> float:
    return ratio([float(each in relevant) for each in ids][:k], [1.0] * min(k, len(relevant)))


def test_a_set_of_relevant_ids_has_no_grades() -> None:
    result = check(in_sets, cases=60)
    assert result.form == "sets"
    assert {"sklearn", "ranx", "ranx_burges", "spark"} <= set(result.conventions)


def test_the_relevance_may_be_the_first_argument() -> None:
    def relevance_first(relevance: Sequence[float], scores: Sequence[float], k: int) -> float:
        return in_lists(scores, relevance, k)

    result = check(relevance_first)
    assert (result.form, "ranx" in result.conventions) == ("lists", True)
    assert "It takes the relevance as its first argument, and was called so." in result.notes
    assert check(in_lists).notes == ()


def test_a_form_that_is_given_has_the_relevance_as_the_second_argument() -> None:
    result = check(lambda qrels, run, k: usual(run, qrels, k), form="mappings", cases=40)
    assert result.conventions == ()


def keyword_only(run: Documents, qrels: Documents, *, top_k: int) -> float:
    return usual(run, qrels, top_k)


@pytest.mark.parametrize("function", [keyword_only, functools.partial(usual, k=7), functools.partial(usual)])
def test_the_cutoff_may_be_a_keyword(function: Callable[..., float]) -> None:
    assert "ranx" in check(function, k=5, cases=40).conventions


def test_a_function_that_takes_no_cutoff_is_compared_at_the_one_given() -> None:
    result = check(lambda run, qrels: usual(run, qrels, 10), cases=40)
    assert "ranx" in result.conventions
    said = "It takes no cutoff. It was compared with nDCG@10; k=None (-k all) compares whole rankings."
    assert said in result.notes


def test_a_function_without_a_cutoff_is_asked_without() -> None:
    result = check(lambda run, qrels: usual(run, qrels, 1000), k=None)
    assert "ranx" in result.conventions


def test_a_document_counted_twice_is_reported() -> None:
    def twice(ids: Sequence[str], relevance: Documents, k: int) -> float:
        return ratio([relevance.get(each, 0) for each in ids][:k], best(relevance.values())[:k])

    said = "A document that is listed twice counts twice"
    assert any(note.startswith(said) for note in check(twice, form="ranked").notes)
    assert not any(note.startswith(said) for note in check(in_ranks, form="ranked").notes)


# Side effects of functions


def changing(run: dict[str, float], qrels: dict[str, float], k: int) -> float:
    value = usual(run, qrels, k)
    run.clear()
    return value


def printing(run: Documents, qrels: Documents, k: int) -> float:
    print("scored")
    return usual(run, qrels, k)


def dividing(run: Documents, qrels: Documents, k: int) -> float:
    return dcg(grades(run, qrels)[:k]) / dcg(best(qrels.values())[:k])


def counting() -> Callable[..., float]:
    calls = iter(range(10**6))
    return lambda run, qrels, k: usual(run, qrels, k) + 1e-3 * next(calls)


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (changing, "It changes its arguments: "),
        (printing, "It prints: 200 of 200 rankings."),
        (dividing, "It raises ZeroDivisionError: "),
        (counting(), "It gives another answer when it is asked twice: "),
        (WRONG["DCG called nDCG"], "It returns a value above 1: "),
        (lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else math.nan, "It returns nan: "),
        (lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else None, "It returns None: "),
        (lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else "none", "It returns text: "),
        (
            lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else [0.0, 1.0],
            "It returns a value of type list, which is not a number: ",
        ),
        (lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else math.inf, "It returns infinity: "),
    ],
)
def test_side_effects_of_a_function_are_reported(
    function: Callable[..., Any], note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = check(function)
    assert any(each.startswith(note) for each in result.notes), result.notes
    assert capsys.readouterr().out == ""


def loud(run: Documents, qrels: Documents, k: int) -> float:
    print("scored", file=sys.stderr)
    warnings.warn("slow", RuntimeWarning, stacklevel=1)
    return usual(run, qrels, k)


def test_errors_and_warnings_go_nowhere_but_into_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    result = check(loud, cases=20)
    assert result.notes == ("It prints: 20 of 20 rankings.", "It warns (RuntimeWarning: slow): 20 of 20 rankings.")
    assert capsys.readouterr() == ("", "")


def fails_if_empty(run: Documents, qrels: Documents, k: int) -> float:
    top = max(run.values())
    return usual({document: score - top for document, score in run.items()}, qrels, k)


def leaves(run: Documents, qrels: Documents, k: int) -> float:
    raise SystemExit(2)


def write(argument: Any, value: Any) -> None:
    if isinstance(argument, set):
        argument.add(0)
    elif isinstance(argument, list):
        argument.append(value)
    elif isinstance(argument, dict):
        argument.update(dict.fromkeys(argument, value) | {"another": value})
    else:
        argument.resize(argument.size + 1, refcheck=False)


@pytest.mark.parametrize("value", [math.nan, np.zeros(3), "argument"], ids=["number", "array", "itself"])
@pytest.mark.parametrize("form", FUNCTION_FORMS)
def test_a_function_may_write_anything_into_its_arguments(form: str, value: Any) -> None:
    function = {"mappings": usual, "lists": in_lists, "arrays": in_arrays, "ranked": in_ranks, "sets": in_sets}[form]

    def writing(first: Any, second: Any, k: int) -> float:
        result = function(first, second, k)
        for argument in (first, second):
            write(argument, argument if isinstance(value, str) else value)
        return result

    before, result = (check(each, form=form, cases=40) for each in (function, writing))
    assert {*result.notes} == {*before.notes, "It changes its arguments: 40 of 40 rankings."}
    assert result.matches == before.matches


def test_a_function_that_empties_its_judgments_is_seen_to_count_a_document_twice() -> None:
    def writing(ids: Sequence[str], relevance: dict[str, float], k: int) -> float:
        top = best(relevance.values())[:k]
        result = ratio([relevance.get(each, 0) for each in ids][:k], top)
        relevance.clear()
        return result

    assert check(writing, form="ranked", cases=40).notes[-1].startswith("A document that is listed twice counts twice")


OWN = [SystemExit(2), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), RecursionError()]


@pytest.mark.parametrize("error", OWN, ids=repr)
def test_any_error_of_a_function_is_an_answer(error: BaseException) -> None:
    def raising(run: Documents, qrels: Documents, k: int) -> float:
        if not any(qrels.values()):
            raise error
        return usual(run, qrels, k)

    result = check(raising)
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


def rewrap() -> None:
    sys.stdout = io.TextIOWrapper(sys.stdout.detach(), "utf-8")  # type: ignore[attr-defined]
    print("scored")


@pytest.mark.parametrize(
    ("prints", "notes"),
    [
        (lambda: sys.stdout.buffer.write(b"scored"), ("It prints: 20 of 20 rankings.",)),
        (lambda: sys.stdout.reconfigure(encoding="latin-1"), ()),  # type: ignore[attr-defined]
        (lambda: (print("scored"), sys.stdout.close()), ("It prints: 20 of 20 rankings.",)),
        (lambda: (sys.stderr.close(), print("scored")), ("It prints: 20 of 20 rankings.",)),
        (rewrap, ("It prints: 20 of 20 rankings.",)),
    ],
    ids=["buffer", "reconfigure", "close", "close the other", "detach"],
)
def test_the_output_of_a_function_has_all_that_a_stream_has(prints: Callable[[], Any], notes: tuple[str, ...]) -> None:
    def printing(run: Documents, qrels: Documents, k: int) -> float:
        prints()
        return usual(run, qrels, k)

    result = check(printing, form="mappings", cases=20)
    assert (result.answered, result.notes) == (20, notes)


def test_an_error_has_the_smallest_ranking_on_which_it_is_raised() -> None:
    with pytest.raises(ValueError, match="empty") as error:  # in the words of this version of Python
        fails_if_empty({}, {"d1": 1}, 10)
    (note,) = check(fails_if_empty).notes
    start = f"It raises ValueError: 11 of 200 rankings, such as {error.value} for run = {{}}, qrels = {{"
    assert note.startswith(start)
    (note,) = check(leaves, form="lists", cases=20).notes
    assert note.startswith("It raises SystemExit: 20 of 20 rankings, such as 2 for scores = [")


def test_a_result_that_is_not_a_number_is_shown() -> None:
    (note,) = check(lambda run, qrels, k: {"nDCG": 0.5}, form="mappings", cases=20).notes
    assert note == "It returns a value of type dict, which is not a number: 20 of 20 rankings, such as {'nDCG': 0.5}."
    (note,) = check(lambda run, qrels, k: True, form="mappings", cases=20).notes
    assert note == "It returns a value of type bool, which is not a number: 20 of 20 rankings, such as True."


def test_percentages_are_recognized() -> None:
    notes = check(lambda run, qrels, k: 100 * usual(run, qrels, k), form="mappings", cases=40).notes
    assert notes[0] == "Divided by 100, all of its scores equal the scores of ranx, haystack."
    rounded = check(lambda run, qrels, k: round(100 * usual(run, qrels, k), 1), form="mappings", cases=40).notes
    assert notes[0] == rounded[0]


def test_rankings_without_an_answer_are_not_held_against_a_function() -> None:
    result = check(dividing)
    assert "ranx" in result.conventions
    assert result.answered < result.cases == 200
    assert f"all {result.answered} rankings agree for which it returned a score, of 200" in str(result)


def test_a_function_that_gives_no_score_could_not_be_asked() -> None:
    result = check(lambda run, qrels, k: "high")
    assert result.status == 2
    assert "returned no score for any of 200 rankings" in str(result)
    assert f"It was called with ({FUNCTION_FORMS[result.form]}), one query at a time." in str(result)
    assert "Signature" not in str(result) + result.to_markdown() + result._repr_html_()


def test_no_score_for_a_run_without_documents_is_not_held_against_a_function() -> None:
    """It may leave such a query out of the mean, as pytrec_eval does if the query is missing from the run."""
    result = check(lambda run, qrels, k: usual(run, qrels, k) if run else None)
    assert "ranx" in result.conventions
    assert any(note.startswith("It returns None: ") for note in result.notes)


def test_a_run_without_documents_has_a_score_if_a_query_missing_from_the_run_has_none() -> None:
    query = Query({}, {"d1": 1}, 5)
    how = {"convention": "pytrec_eval"}
    assert query_scores([query], how).tolist() == [0.0]
    assert np.isnan(query_scores([query._replace(missing=True)], how)).all()


def test_conventions_that_compare_scores_in_32_bits_are_distinguished_from_those_in_64() -> None:
    def by_scikit_learn(scores: Any, relevance: Any, k: int) -> float:
        run, qrels = dict(enumerate(scores)), dict(enumerate(relevance))
        return float(query_scores([Query(run, qrels, k)], {"convention": "sklearn"})[0])

    def in_32_bits(scores: Any, relevance: Any, k: int) -> float:
        return by_scikit_learn(np.float32(scores).tolist(), relevance, k)

    assert check(by_scikit_learn, form="lists").conventions == ("sklearn",)
    assert check(in_32_bits, form="lists").conventions == ("torchmetrics",)


def in_torch(value: float) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor([[value]], requires_grad=True)


ONE_VALUE = {
    "0-d array": np.array,
    "32 bits": np.float32,
    "array": lambda value: np.array([[value]]),
    "masked array": lambda value: np.ma.array([value]),
    "Arrow": lambda value: pa.array([value]),
    "pandas": lambda value: pd.Series([value]),
    "PyTorch": in_torch,
    "Decimal": Decimal,
    "Fraction": Fraction,
}


@pytest.mark.parametrize("of", ONE_VALUE.values(), ids=ONE_VALUE)
def test_an_array_of_one_value_is_a_number(of: Callable[[float], Any]) -> None:
    result = check(lambda run, qrels, k: of(usual(run, qrels, k)), form="mappings", cases=40)
    assert "ranx" in result.conventions
    assert result.notes == ()


@pytest.mark.parametrize("of", [float, np.float32], ids=["64 bits", "32 bits"])
@pytest.mark.parametrize("decimals", range(1, 7))
def test_a_function_may_round(decimals: int, of: Callable[[float], Any]) -> None:
    result = check(lambda run, qrels, k: of(round(usual(run, qrels, k), decimals)), form="mappings")
    assert result.conventions == ("ranx", "haystack")
    assert any(note.startswith(f"It rounds to {decimals} decimal") for note in result.notes) == (decimals < 4)


def test_the_convention_that_is_wanted_decides_the_status() -> None:
    assert check(usual, convention="ranx").status == 0
    result = check(usual, convention="lightgbm")
    assert result.status == 1
    assert "It does not compute the nDCG of lightgbm: " in str(result)
    assert result.example is not None
    assert result.nearest == "lightgbm"


def test_the_same_seed_asks_the_same() -> None:
    first, again, other = (check(WRONG["no discount"], cases=30, seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == again != other


def test_a_result_is_json() -> None:
    result = check(WRONG["ideal from the top k retrieved"])
    saved = json.loads(json.dumps(result.to_dict()))
    assert saved["matches"][0] == {"convention": "ranx", "slips": ["ideal from the top k retrieved"]}
    assert saved["example"]["query"]["k"] == result.example.query.k if result.example else None


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"k": 0}, "^k must be "),
        ({"cases": 0}, "^cases must be "),
        ({"form": "list"}, "^form must be "),
        ({"convention": "sklern"}, "^convention must be "),
        ({"seed": -1}, "^seed must be "),
    ],
)
def test_wrong_arguments_are_rejected_by_name(how: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        check(usual, **how)


async def asynchronous(run: Documents, qrels: Documents, k: int) -> float:
    return usual(run, qrels, k)


def test_an_object_that_cannot_be_called_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"^function must return a score, but is async: wrap it in a function that"):
        check(asynchronous)
    with pytest.raises(TypeError, match=r"^function must be a function; got 'ndcg'$"):
        check("ndcg")  # type: ignore[arg-type]


# Functions written from the words of public reports


@pytest.mark.parametrize("function", WRITTEN, ids=lambda function: function.__name__)
def test_a_function_that_a_thread_describes_is_named(function: Callable[..., float]) -> None:
    result = check(function, k=5, form="mappings", cases=80)
    slips = WRITTEN[function]
    assert slips in [each.slips for each in result.matches] or (not slips and result.conventions)


@pytest.mark.parametrize("function", UNKNOWN, ids=lambda function: function.__name__)
def test_a_fault_that_no_slip_describes_is_called_unknown(
    function: Callable[..., float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ndcg.explanations.check.TRIED_IN_PAIRS", ("sklearn",))  # which takes a quarter of the time
    result = check(function, k=20 if function is discount_table_of_12 else 10, form="mappings", cases=80)
    assert result.matches == ()
    assert result.status == 1
    assert "No convention and no known slip explains it." in str(result)
    assert result.example is not None
    assert f"The smallest ranking on which it differs from {result.nearest} has " in str(result)
