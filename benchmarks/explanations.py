"""How well `explain` distinguishes combinations of options, into benchmarks/EXPLANATIONS.md.

    python benchmarks/explanations.py           # everything; two hours
    python benchmarks/explanations.py --quick   # few repetitions, printed

Rankings are drawn with ties, unjudged and unretrieved documents, missing queries, and queries with
no relevant documents. A combination of options that no convention has is drawn, and `explain` is
given its score at two cutoffs, or its value of each query. False matches are counted for scores
that no combination has: each is the mean of another system on the same queries. What `explain`
names as the cause is counted for both: a true cause is in turn a convention, one change of a
convention, a known slip, or a combination of options.
"""

import argparse
import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ndcg.explanations.explanation import Explanation, explain  # noqa: E402
from ndcg.explanations.slip_terms import Queries, Slip, queries_by_ids  # noqa: E402
from ndcg.explanations.slips import SLIPS  # noqa: E402
from ndcg.inputs.reading import Inputs  # noqa: E402
from ndcg.measure.arguments import OPTIONS  # noqa: E402
from ndcg.measure.conventions import CHOICES, CONVENTIONS  # noqa: E402
from ndcg.scores.compute import compute  # noqa: E402

COMBINATIONS = 60
CAUSES = 200
SLIP_CONVENTIONS = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
CUTOFFS = (5, 20)
DIGITS = (1, 2, 3, 4, 5, 6)
Run = dict[str, dict[str, float]]


def rankings(rng: np.random.Generator, queries: int = 60) -> tuple[Run, Run]:
    """Return a run and qrels in which every option makes a difference."""
    run: Run = {}
    qrels: Run = {}
    for at in range(queries):
        documents = [f"d{number}" for number in rng.choice(200, 40, replace=False)]
        grades = rng.integers(0, 4, 40) * (rng.random(40) < rng.uniform(0.1, 0.5)) * (at % 9 > 0)
        judged = [each for each in documents if rng.random() < rng.uniform(0.5, 1)] or documents
        qrels[f"q{at}"] = {document: int(grades[documents.index(document)]) for document in judged}
        if at % 13:
            run[f"q{at}"] = scores_of(rng, documents, grades)
    return run, qrels


def scores_of(
    rng: np.random.Generator, documents: Sequence[str], grades: Sequence[float]
) -> dict[str, float]:
    """Return the scores of a system, with ties, for some of the documents."""
    scores = np.round(0.4 * np.asarray(grades) + rng.normal(size=len(documents)), 1)
    retrieved = rng.permutation(len(documents))[: int(rng.integers(1, len(documents) + 1))]
    return {documents[each]: float(scores[each]) for each in retrieved}


def combination(rng: np.random.Generator) -> dict[str, Any]:
    """Draw options that no convention has."""
    while True:
        words = {name: tuple(OPTIONS[name].words) for name in ("gain", "discount", "ideal", "ties")}
        chosen: dict[str, Any] = {name: str(rng.choice(each)) for name, each in words.items()}
        chosen["zero_division"] = [0.0, 1.0, math.nan, "perfect_if_empty"][int(rng.integers(4))]
        chosen["missing"] = str(rng.choice(["empty", "skip"]))
        chosen["judged_only"] = bool(rng.integers(2))
        names = [name for name in CHOICES if name in chosen]
        usual = [[repr(each.options[name]) for name in names] for each in CONVENTIONS.values()]
        if [repr(chosen[name]) for name in names] not in usual:
            return chosen


def is_among(chosen: Mapping[str, Any], found: Any) -> bool:
    """Return whether options are among the combinations that were found."""
    for each in found.combinations:
        options = {**CONVENTIONS[each.convention].options, "judged_only": False, **each.changed}
        if all(repr(options[name]) == repr(value) for name, value in chosen.items()):
            return True
    return False


def found_again(count: int) -> list[str]:
    """Return a table of how many combinations are found from the reported scores."""
    rows = []
    reports = [*((f"the mean at k={k} to 4 digits", [k], 4) for k in CUTOFFS)]
    reports += [
        (f"the means at k={CUTOFFS[0]} and {CUTOFFS[1]} to {digits} digits", [*CUTOFFS], digits)
        for digits in (3, 4, 6)
    ]
    reports.append(("the value of each of 60 queries", [], 0))
    for name, cutoffs, digits in reports:
        rng = np.random.default_rng(0)
        among = unique = 0
        others: list[int] = []
        for _ in range(count):
            run, qrels = rankings(rng)
            chosen = combination(rng)
            if cutoffs:
                scores = compute(
                    predictions=run,
                    references=qrels,
                    measures=[f"nDCG@{k}" for k in cutoffs],
                    **chosen,
                )
                found = explain(
                    predictions=run,
                    references=qrels,
                    got={each: f"{value:.{digits}f}" for each, value in scores.items()},
                )
            else:
                values = compute(
                    predictions=run, references=qrels, k=10, **chosen, use_aggregator=False
                )["nDCG@10"]
                found = explain(predictions=run, references=qrels, k=10, got=values)
            among += is_among(chosen, found)
            unique += found.distinct == 1
            others.append(found.distinct)
        median = f"{np.median(others):g}"
        rows.append(f"| {name} | {among} | {unique} | {count - unique} | {median} |")
    return [
        "| reported | found | one definition left | several left | median of definitions left |",
        "|---|---:|---:|---:|---:|",
        *rows,
    ]


def false_matches(count: int) -> list[str]:
    """Return a table of how many combinations match by chance, next to the predictions."""
    rows = []
    for cutoffs in ([10], [*CUTOFFS]):
        for digits in DIGITS:
            rng = np.random.default_rng(1)
            matches, predicted = [], []
            for _ in range(count):
                run, qrels = rankings(rng)
                of_another = {
                    query: scores_of(
                        rng, [*documents], [qrels[query].get(each, 0) for each in documents]
                    )
                    for query, documents in run.items()
                }
                names = [f"nDCG@{k}" for k in cutoffs]
                scores = compute(
                    predictions=of_another, references=qrels, measures=names, **combination(rng)
                )
                got = {name: f"{value:.{digits}f}" for name, value in scores.items()}
                found = explain(predictions=run, references=qrels, got=got)
                if not found.matches:
                    matches.append(len(found.combinations))
                    predicted.append(found.by_chance)
            error = np.std(matches) / math.sqrt(len(matches))
            at = " and ".join(map(str, cutoffs))
            rows.append(
                f"| {at} | {digits} | {np.mean(matches):.2f} ± {1.96 * error:.2f} | "
                f"{np.mean(predicted):.2f} | {np.mean(np.array(matches) > 0):.0%} |"
            )
    return [
        (
            "| cutoffs | digits | matches that were counted | matches that `explain` predicts | "
            "scores with a match |"
        ),
        "|---|---:|---:|---:|---:|",
        *rows,
    ]


def one_change(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a convention with one other option, which no convention has."""
    names = ("gain", "discount", "ideal", "ties")
    conventions = [[each.options[name] for name in CHOICES] for each in CONVENTIONS.values()]
    while True:
        convention = CONVENTIONS[str(rng.choice(list(CONVENTIONS)))]
        name = str(rng.choice(names))
        changed = {**convention.options, name: str(rng.choice(tuple(OPTIONS[name].words)))}
        chosen = {each: changed[each] for each in CHOICES}
        if repr([*chosen.values()]) not in map(repr, conventions):
            return chosen


def cause(rng: np.random.Generator, number: int) -> dict[str, Any] | tuple[Slip, str]:
    """Draw a true cause: options, or a slip with its convention."""
    kind = number % 4
    if kind == 0:
        return {"convention": str(rng.choice(list(CONVENTIONS)))}
    if kind == 1:
        return one_change(rng)
    if kind == 2:
        slips = [slip for slip in SLIPS if not slip.is_option]
        return slips[int(rng.integers(len(slips)))], str(rng.choice(SLIP_CONVENTIONS))
    return combination(rng)


def values_of(true: Any, run: Run, qrels: Run, cutoffs: Sequence[int]) -> np.ndarray:
    """Return the nDCG of each query at each cutoff."""
    if isinstance(true, tuple):
        slip, convention = true
        inputs = Inputs(run, qrels).settled()
        queries = [Queries(queries_by_ids(inputs, list(qrels), k)) for k in cutoffs]
        return np.array([slip.scores(each, {"convention": convention}) for each in queries])
    names = [f"nDCG@{k}" for k in cutoffs]
    values = compute(
        predictions=run, references=qrels, measures=names, use_aggregator=False, **true
    )
    return np.array([values[name] for name in names], dtype=float)


def names_cause(
    found: Explanation, true: Any, run: Run, qrels: Run, cutoffs: Sequence[int]
) -> bool:
    """Return whether what is named has the same value for every query as the true cause."""
    fits = () if found.answer is None else found.answer.fits
    if isinstance(true, tuple) and true[0].name in [fit.slip for fit in fits]:
        return True
    named: list[dict[str, Any]] = [{"convention": name} for name in found.matches]
    if not named:
        count = sum(not fit.slip for fit in fits)
        simplest = [each for each in found.combinations[:count] if "k" not in each.changed]
        named = [{"convention": each.convention, **each.changed} for each in simplest]
    expected = values_of(true, run, qrels, cutoffs)
    return any(
        np.allclose(values_of(each, run, qrels, cutoffs), expected, equal_nan=True)
        for each in named
    )


def explained(
    values: np.ndarray, run: Run, qrels: Run, cutoffs: Sequence[int], digits: int
) -> Explanation:
    """Return the explanation of the rounded means of values."""
    means = np.nanmean(values, axis=1)
    got = {f"nDCG@{k}": f"{mean:.{digits}f}" for k, mean in zip(cutoffs, means, strict=True)}
    return explain(predictions=run, references=qrels, got=got)


def is_told(found: Explanation) -> bool:
    """Return whether a cause is named."""
    return found.answer is not None and found.answer.kind != "unknown"


def named_causes(count: int) -> list[str]:
    """Return tables of how often a true cause is named, and any for another system's score."""
    rows = []
    for cutoffs in ([10], [*CUTOFFS]):
        for digits in (3, 4, 5):
            right = wrong = of_another = 0
            for number in range(count):
                rng = np.random.default_rng(number)
                run, qrels = rankings(rng)
                true = cause(rng, number)
                other = {
                    query: scores_of(
                        rng, [*documents], [qrels[query].get(each, 0) for each in documents]
                    )
                    for query, documents in run.items()
                }
                found = explained(values_of(true, run, qrels, cutoffs), run, qrels, cutoffs, digits)
                if is_told(found) and names_cause(found, true, run, qrels, cutoffs):
                    right += 1
                elif is_told(found):
                    wrong += 1
                values = values_of(combination(rng), other, qrels, cutoffs)
                of_another += is_told(explained(values, run, qrels, cutoffs, digits))
            at = " and ".join(map(str, cutoffs))
            rows.append(
                f"| {at} | {digits} | {right} | {wrong} | {count - right - wrong} | {of_another} |"
            )
    return [
        (
            "| cutoffs | digits | true cause named | another named | cannot be told | cause named "
            "for another system |"
        ),
        "|---|---:|---:|---:|---:|---:|",
        *rows,
    ]


def timings(sizes: Sequence[tuple[int, int]]) -> list[str]:
    """Return a table of how long a search takes."""
    import resource

    rows = []
    for queries, documents in sizes:
        rng = np.random.default_rng(0)
        grades = rng.integers(0, 4, (queries, documents)) * (rng.random((queries, documents)) < 0.3)
        grades[::10] = 0
        scores = np.round(0.3 * grades + rng.normal(size=grades.shape), 2)
        judged = np.ma.masked_array(grades, rng.random(grades.shape) < 0.2)
        inputs: dict[str, Any] = {"predictions": scores, "references": judged, "k": 10}
        score = compute(**inputs, gain="exponential", ideal="retrieved", zero_division=math.nan)[
            "nDCG@10"
        ]
        start, own = time.perf_counter(), time.process_time()
        found = explain(**inputs, got=f"{score:.6f}")
        took, own = time.perf_counter() - start, time.process_time() - own
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        cells = (
            f"{queries:,} × {documents} | {found.tried:,} | {took:.1f} | {own:.1f} | {memory:,.0f}"
        )
        rows.append(f"| {cells} |")
    return [
        (
            "| queries × documents | combinations | seconds | seconds of a processor | memory of "
            "the process, MB |"
        ),
        "|---|---:|---:|---:|---:|",
        *rows,
    ]


def markdown(count: int, causes: int, sizes: Sequence[tuple[int, int]]) -> str:
    """Return all tables."""
    return "\n".join(
        [
            "# How well a score identifies its options",
            "",
            (
                "Made by `make explanations`. The head of `benchmarks/explanations.py` describes "
                "the measurements."
            ),
            "",
            f"## {count} combinations of options that no convention has",
            "",
            "A definition is a set of combinations that have the same value for every query.",
            "",
            *found_again(count),
            "",
            "## Matches by chance",
            "",
            (
                f"Each row has {count} scores that no combination of options gives, with 95% "
                "intervals."
            ),
            "",
            *false_matches(count),
            "",
            "## Causes that are named",
            "",
            f"Each row has {causes} scores with a cause, and {causes} of other systems.",
            "",
            *named_causes(causes),
            "",
            "## Time and memory",
            "",
            *timings(sizes),
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions, printed")
    quick = parser.parse_args(arguments).quick
    text = (
        markdown(3, 4, [(20, 20)])
        if quick
        else markdown(COMBINATIONS, CAUSES, [(200, 100), (50_000, 100)])
    )
    if quick:
        print(text)
    else:
        (HERE / "EXPLANATIONS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
