"""Random rankings scored by random options: what `explain` finds gives the score.

`FUZZ_MINUTES` asks for the long run.
"""

import itertools
import math
import os
import random
import time
from typing import Any, NamedTuple

import pytest
from conftest import NOTHING_IN_COMMON

from ndcg.explanations.explanation import explain
from ndcg.measure.arguments import OPTIONS
from ndcg.scores.compute import compute

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))
CASES = 30  # at least
SEARCHED: dict[str, tuple[Any, ...]] = {
    **{
        name: tuple(OPTIONS[name].words)
        for name in ("gain", "discount", "ideal", "score_dtype", "ties")
    },
    "zero_division": (0.0, 1.0, math.nan, "perfect_if_empty"),
    "negative_relevance": ("raise", "clip", "keep"),
    "judged_only": (False, True),
    "missing": ("empty", "skip"),
}
NOT_SEARCHED: dict[str, tuple[Any, ...]] = {
    "ignore_index": (0, 1, -1),
    "log_base": (0.5, 3, 10.0),
    "gain": ([0, 1, 5, 9],),
    "discount": ([1.0, 0.5, 0.25, 0.2], [1.0, 0.5, 0.0, 0.0]),
    "zero_division": (-0.5,),
}
GRADES = [
    (0, 1, 2, 3),
    (0, 1),
    (0, 1, 2, None),
    (0, 0, None, 1),
    (-1, 0, 1, 2),
    (0, -2, 1, None),
    (0.5, 0.25, 0),
]
SCORES = [
    (0.9, 0.7, 0.5, 0.3),
    (1, 2),
    (0.9, 0.5, None),
    (1, 1 + 1e-9, 0.5),
    (0.1, None, None),
    (1, 1 + 1e-9, None),
]


class Case(NamedTuple):
    inputs: dict[str, Any]
    weight: list[float] | None
    options: dict[str, Any]  # by which the rankings are scored
    known: dict[str, Any]  # those of them that explain is told
    cutoffs: list[int | None]  # of the scores that explain is told
    k: int | None  # the cutoff that it is told
    kind: str  # how it is told the score


def drawn(rng: random.Random) -> Case:
    grades, scores = rng.choice(GRADES), rng.choice(SCORES)
    queries = [
        [(rng.choice(grades), rng.choice(scores)) for _ in range(rng.randint(0, 4))]
        for _ in range(rng.randint(1, 4))
    ]
    inputs = rng.choice([as_lists, as_lists, as_mappings, as_rows])(rng, queries)
    weight = [rng.choice([0.0, 1, 2.5, 0.1, 0.3]) for _ in queries] if rng.random() < 0.25 else None
    options = {name: rng.choice(values) for name, values in SEARCHED.items()}
    known = {name: value for name, value in options.items() if rng.random() < 0.1}
    known |= {
        name: rng.choice(values) for name, values in NOT_SEARCHED.items() if rng.random() < 0.08
    }
    if "query_ids" in inputs and "document_ids" not in inputs:
        known.pop("ties", None)  # with ids, ties may be open unless judged_only is known too
    kind = rng.choice(["mean", "mean to 4 digits", "values", "two cutoffs"])
    cutoffs = [1, 3] if kind == "two cutoffs" else [rng.choice([1, 2, 3, 4, 5, 10, None])]
    k = None if kind == "two cutoffs" else cutoffs[0]
    if rng.random() < 0.3 and not known.keys() & {"ideal", "discount"}:  # which may need a cutoff
        k = None
    return Case(inputs, weight, {**options, **known}, known, cutoffs, k, kind)


def as_lists(_: random.Random, queries: list[Any]) -> dict[str, Any]:
    sides = ([[each[side] for each in documents] for documents in queries] for side in (1, 0))
    return dict(zip(("predictions", "references"), sides, strict=True))


def as_mappings(rng: random.Random, queries: list[Any]) -> dict[str, Any]:
    run, qrels = (
        {
            f"q{at}": {
                f"d{place}": each[side]
                for place, each in enumerate(documents)
                if each[side] is not None
            }
            for at, documents in enumerate(queries)
        }
        for side in (1, 0)
    )
    return {
        "predictions": {q: of for q, of in run.items() if of or rng.random() < 0.5},
        "references": qrels,
    }


def as_rows(rng: random.Random, queries: list[Any]) -> dict[str, Any]:
    rows = [
        (at, place, *each)
        for at, documents in enumerate(queries)
        for place, each in enumerate(documents)
    ]
    columns = list(map(list, zip(*rows, strict=True))) or [[], [], [], []]
    names = ["query_ids", "references", "predictions"] + ["document_ids"] * rng.randint(0, 1)
    return dict(zip(names, (columns[at] for at in (0, 2, 3, 1)), strict=False))


def scored(case: Case, options: dict[str, Any], *, by_query: bool) -> list[float]:
    """The mean at each cutoff, or the value of each query at each cutoff."""
    how = {name: value for name, value in options.items() if name != "k"}
    how |= {"measures": ["nDCG@1", "nDCG@3"]} if case.kind == "two cutoffs" else {"k": options["k"]}
    weight = None if by_query else case.weight
    results = compute(
        **case.inputs, **how, sample_weight=weight, use_aggregator=not by_query
    ).values()
    return [value for each in results for value in (each if isinstance(each, list) else [each])]


def are_close(some: list[float], others: list[float], tolerance: float) -> bool:
    pairs = zip(some, others, strict=True)
    return all(
        abs(one - other) <= tolerance or (math.isnan(one) and math.isnan(other))
        for one, other in pairs
    )


def check(case: Case) -> tuple[int, list[Any], bool] | None:
    """How much is returned, how much of it gives another score, and whether the options are there.

    None if the options give no score, or one that would be read as a percentage.
    """
    own = {**case.options, "k": case.cutoffs[0]}
    try:
        means, values = (scored(case, own, by_query=by_query) for by_query in (False, True))
    except ValueError:
        return None
    if max(map(abs, means)) > 1:
        return None
    by_query, digits = case.kind == "values", 4 if case.kind == "mean to 4 digits" else 9
    told = [f"{value:.{digits}f}" for value in (values if by_query else means)]
    got: Any = {
        "values": [None if each == "nan" else each for each in told],
        "two cutoffs": dict(zip(("nDCG@1", "nDCG@3"), told, strict=False)),
    }.get(case.kind, told[0])
    found = explain(**case.inputs, sample_weight=case.weight, k=case.k, got=got, **case.known)
    returned = [{"convention": name, **case.known, "k": case.k} for name in found.matches]
    returned += [each.options for each in found.combinations]
    tolerance = max(0.51 * 10.0**-digits, 1.1e-6)  # of libraries that compute in 32 bits
    wrong, has_options = [], bool(found.matches)
    for options in returned:
        try:
            if not are_close(
                scored(case, options, by_query=by_query), list(map(float, told)), tolerance
            ):
                wrong.append(options)
            has_options = has_options or are_close(
                scored(case, options, by_query=True), values, 1e-9
            )
        except ValueError as error:
            wrong.append((options, error))
    return len(returned), wrong, has_options


@pytest.mark.filterwarnings("ignore:.*all documents are padding:UserWarning")
@pytest.mark.filterwarnings("ignore:.*queries have one document each:UserWarning")
@pytest.mark.filterwarnings("ignore:.*missing from the run:UserWarning")
@pytest.mark.filterwarnings("ignore:.*(equally relevant|no query has a score):UserWarning")
@pytest.mark.filterwarnings("ignore:.*of relevance 0 stand between others:UserWarning")
@NOTHING_IN_COMMON
@pytest.mark.filterwarnings(
    "ignore:.*the scores are few whole numbers:UserWarning"
)  # scores that look like labels
def test_what_is_returned_gives_the_score_and_the_options_of_every_score_are_found() -> None:
    cases = returned = 0
    wrong, missed = [], []
    end = time.monotonic() + 60 * MINUTES
    for seed in itertools.count(time.time_ns() if MINUTES else 0):
        case = drawn(random.Random(seed))
        if (checked := check(case)) is not None:
            cases, returned = cases + 1, returned + checked[0]
            wrong += [(seed, case, each) for each in checked[1]]
            missed += [] if checked[2] else [(seed, case)]
        if cases >= CASES and time.monotonic() >= end:
            break
    print(
        f"{cases:,} scores, {len(missed):,} of them not found; {returned:,} returned, "
        f"{len(wrong):,} of them wrong"
    )
    assert not wrong, wrong[:3]
    assert not missed, missed[:3]
