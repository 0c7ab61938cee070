"""How well `explain` distinguishes combinations of options, into benchmarks/EXPLANATIONS.md.

    python benchmarks/explanations.py           # everything; 15 minutes
    python benchmarks/explanations.py --quick   # few repetitions, printed

Rankings are drawn with ties, unjudged and unretrieved documents, missing queries, and queries with
no relevant documents. A combination of options that no convention has is drawn, and `explain` is
given its score at one or two cutoffs, or its value of each query.

For the causes that are named, the true cause is in turn a convention, one change of a convention,
a known slip, or a combination of options. A false cause is counted for scores that no setting has:
the means of another system on the same queries.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ndcg.explanations.explanation import Explanation, Scorer, explain, explained  # noqa: E402
from ndcg.explanations.reported import Reported  # noqa: E402
from ndcg.explanations.search import Searched, Setting  # noqa: E402
from ndcg.explanations.slip_terms import Queries, Slip, queries_by_ids  # noqa: E402
from ndcg.explanations.slips import SLIPS  # noqa: E402
from ndcg.inputs.reading import Inputs  # noqa: E402
from ndcg.measure.arguments import OPTIONS  # noqa: E402
from ndcg.measure.conventions import CHOICES, CONVENTIONS  # noqa: E402
from ndcg.scores.compute import compute  # noqa: E402

COMBINATIONS = 40
CAUSES = 200
SLIP_CONVENTIONS = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
ONE_CUTOFF = (10,)
TWO_CUTOFFS = (5, 20)
DIGITS = (3, 4, 5)
Run = dict[str, dict[str, float]]


# Rankings and causes


def random_rankings(rng: np.random.Generator, queries: int = 60) -> tuple[Run, Run]:
    """Return a run and qrels in which every option makes a difference."""
    run: Run = {}
    qrels: Run = {}
    for number in range(queries):
        documents = [f"d{number}" for number in rng.choice(200, 40, replace=False)]
        has_relevant = number % 9 > 0
        relevance = rng.integers(0, 4, 40) * (rng.random(40) < rng.uniform(0.1, 0.5)) * has_relevant
        judged = [document for document in documents if rng.random() < rng.uniform(0.5, 1)]
        if not judged:
            judged = documents
        qrels[f"q{number}"] = {
            document: int(relevance[documents.index(document)]) for document in judged
        }
        if number % 13:
            run[f"q{number}"] = random_scores(rng, documents, relevance)
    return run, qrels


def random_scores(
    rng: np.random.Generator, documents: Sequence[str], relevance: Sequence[float]
) -> dict[str, float]:
    """Return the scores of a system, with ties, for some of the documents."""
    scores = np.round(0.4 * np.asarray(relevance) + rng.normal(size=len(documents)), 1)
    retrieved = rng.permutation(len(documents))[: int(rng.integers(1, len(documents) + 1))]
    return {documents[row]: float(scores[row]) for row in retrieved}


def other_system(rng: np.random.Generator, run: Run, qrels: Run) -> Run:
    """Return the run of another system on the same queries."""
    other: Run = {}
    for query, documents in run.items():
        relevance = [qrels[query].get(document, 0) for document in documents]
        other[query] = random_scores(rng, list(documents), relevance)
    return other


def options_by_convention(names: Sequence[str]) -> list[str]:
    """Return these options of each convention, as text, which is equal for nan too."""
    conventions = CONVENTIONS.values()
    return [repr([convention.options[name] for name in names]) for convention in conventions]


def combination(rng: np.random.Generator) -> dict[str, Any]:
    """Draw options that no convention has."""
    while True:
        chosen: dict[str, Any] = {}
        for name in ("gain", "discount", "ideal", "ties"):
            chosen[name] = str(rng.choice(tuple(OPTIONS[name].words)))
        chosen["zero_division"] = [0.0, 1.0, math.nan, "perfect_if_empty"][int(rng.integers(4))]
        chosen["missing"] = str(rng.choice(["empty", "skip"]))
        chosen["judged_only"] = bool(rng.integers(2))
        names = [name for name in CHOICES if name in chosen]
        if repr([chosen[name] for name in names]) not in options_by_convention(names):
            return chosen


def one_change(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a convention with one other option, which no convention has."""
    while True:
        convention = CONVENTIONS[str(rng.choice(list(CONVENTIONS)))]
        name = str(rng.choice(("gain", "discount", "ideal", "ties")))
        changed = {**convention.options, name: str(rng.choice(tuple(OPTIONS[name].words)))}
        chosen = {choice: changed[choice] for choice in CHOICES}
        if repr(list(chosen.values())) not in options_by_convention(CHOICES):
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


def values_of(definition: Any, run: Run, qrels: Run, cutoffs: Sequence[int]) -> np.ndarray:
    """Return the nDCG of each query at each cutoff, by options or a slip."""
    if isinstance(definition, tuple):
        slip, convention = definition
        inputs = Inputs(run, qrels).settled()
        queries = [Queries(queries_by_ids(inputs, list(qrels), k)) for k in cutoffs]
        return np.array(
            [slip.scores(at_cutoff, {"convention": convention}) for at_cutoff in queries]
        )
    names = [f"nDCG@{k}" for k in cutoffs]
    values = compute(
        predictions=run, references=qrels, measures=names, use_aggregator=False, **definition
    )
    return np.array([values[name] for name in names], dtype=float)


class Rankings(Scorer):
    """Rankings whose scores are explained several times, at the same cutoffs.

    Their scores under all settings do not depend on the reported scores, so they are computed once.
    This takes a third of the time; the explanations are those of `explain`.
    """

    def __init__(self, run: Run, qrels: Run, cutoffs: Sequence[int]) -> None:
        super().__init__(Inputs(run, qrels).settled(), cutoffs[0], {})
        self.run = run
        self.qrels = qrels
        self.cutoffs = cutoffs
        self._settings: list[Setting] | None = None
        self._values: dict[str, np.ndarray] = {}

    def settings(self, searched: Searched) -> Iterable[Setting]:
        """Return the settings that a search tries."""
        if self._settings is None:
            self._settings = list(super().settings(searched))
        return self._settings

    def explained(self, values: np.ndarray, digits: int) -> Explanation:
        """Explain the rounded means of values of queries at each cutoff."""
        got = {}
        for k, mean in zip(self.cutoffs, np.nanmean(values, axis=1), strict=True):
            got[f"nDCG@{k}"] = f"{mean:.{digits}f}"
        return explained(self, Reported.read(got, None))

    def values(self, definition: Any) -> np.ndarray:
        """Return the nDCG of each query at each cutoff, by options or a slip."""
        key = repr(definition)
        if key not in self._values:
            self._values[key] = values_of(definition, self.run, self.qrels, self.cutoffs)
        return self._values[key]


# Combinations that are found


def is_among(chosen: Mapping[str, Any], explanation: Explanation) -> bool:
    """Return whether options are among the combinations that match."""
    for match in explanation.combinations:
        convention = CONVENTIONS[match.convention]
        options = {**convention.options, "judged_only": False, **match.changed}
        if all(repr(options[name]) == repr(value) for name, value in chosen.items()):
            return True
    return False


def combinations_found(count: int) -> list[str]:
    """Return a table of how many combinations are found from the reported scores."""
    explanations: dict[str, list[tuple[bool, int]]] = {}

    def add(name: str, chosen: Mapping[str, Any], explanation: Explanation) -> None:
        result = (is_among(chosen, explanation), explanation.distinct)
        explanations.setdefault(name, []).append(result)

    for number in range(count):
        rng = np.random.default_rng(number)
        run, qrels = random_rankings(rng)
        chosen = combination(rng)
        for k in TWO_CUTOFFS:
            rankings = Rankings(run, qrels, [k])
            add(
                f"the mean at k={k} to 4 digits",
                chosen,
                rankings.explained(rankings.values(chosen), 4),
            )
        rankings = Rankings(run, qrels, TWO_CUTOFFS)
        for digits in (3, 4, 6):
            name = f"the means at k={TWO_CUTOFFS[0]} and {TWO_CUTOFFS[1]} to {digits} digits"
            add(name, chosen, rankings.explained(rankings.values(chosen), digits))
        (values,) = values_of(chosen, run, qrels, ONE_CUTOFF)
        by_query = explain(predictions=run, references=qrels, k=ONE_CUTOFF[0], got=values)
        add(f"the value of each of {len(qrels)} queries", chosen, by_query)
    rows = []
    for name, results in explanations.items():
        explained = sum(is_found for is_found, _ in results)
        distinct = [definitions for _, definitions in results]
        unique = distinct.count(1)
        rows.append(
            f"| {name} | {explained} | {unique} | {count - unique} | {np.median(distinct):g} |"
        )
    return [
        "| reported | found | one definition left | several left | median of definitions left |",
        "|---|---:|---:|---:|---:|",
        *rows,
    ]


# Causes that are named


def is_named(rankings: Rankings, explanation: Explanation, true: Any, fits: int) -> bool:
    """Return whether one of the first fits has the same value for every query as the true cause."""
    answer = explanation.answer
    if answer is None:
        return False
    named: list[Any] = []
    slips = []
    for fit in answer.fits[:fits]:
        if fit.slip:
            slips.append(fit.slip)
        elif explanation.matches:
            named.append({"convention": fit.definition})
        else:
            # The combinations are in the order of the fits.
            match = explanation.combinations[len(named)]
            named.append({"convention": match.convention, **match.changed})
    if isinstance(true, tuple) and true[0].name in slips:
        return True
    expected = rankings.values(true)
    for definition in named:
        if np.allclose(rankings.values(definition), expected, equal_nan=True):
            return True
    return False


class Counts:
    """How often a cause is named for scores to so many digits at the same cutoffs."""

    def __init__(self) -> None:
        # with a true cause, by the present rule, and if the first that fits were named
        self.right = [0, 0]
        self.wrong = [0, 0]
        # of another system
        self.false = [0, 0]
        self.matches: list[int] = []
        self.predicted: list[float] = []

    def add_true(self, rankings: Rankings, explanation: Explanation, true: Any) -> None:
        """Count an explanation of scores with a true cause."""
        fits = [0, len(explanation.matches) or 1]
        if is_told(explanation):
            fits[0] = len(explanation.answer.fits)
        has_fit = [is_told(explanation), any_fit(explanation)]
        for rule in range(2):
            if not has_fit[rule]:
                continue
            if is_named(rankings, explanation, true, fits[rule]):
                self.right[rule] += 1
            else:
                self.wrong[rule] += 1

    def add_other(self, explanation: Explanation) -> None:
        """Count an explanation of scores of another system."""
        self.false[0] += is_told(explanation)
        self.false[1] += any_fit(explanation)
        if not explanation.matches:
            self.matches.append(len(explanation.combinations) + len(explanation.slips))
            self.predicted.append(explanation.by_chance)


def is_told(explanation: Explanation) -> bool:
    """Return whether a cause is named."""
    return explanation.answer is not None and explanation.answer.kind != "unknown"


def any_fit(explanation: Explanation) -> bool:
    """Return whether any setting gives the scores."""
    return explanation.answer is not None and bool(explanation.answer.fits)


def count_causes(count: int) -> dict[tuple[Sequence[int], int], Counts]:
    """Return how often causes are named, by the cutoffs and the number of digits."""
    counts: dict[tuple[Sequence[int], int], Counts] = {}
    for cutoffs in (ONE_CUTOFF, TWO_CUTOFFS):
        for digits in DIGITS:
            counts[cutoffs, digits] = Counts()
    for number in range(count):
        rng = np.random.default_rng(number)
        run, qrels = random_rankings(rng)
        true = cause(rng, number)
        other = other_system(rng, run, qrels)
        chosen = combination(rng)
        for cutoffs in (ONE_CUTOFF, TWO_CUTOFFS):
            rankings = Rankings(run, qrels, cutoffs)
            other_values = values_of(chosen, other, qrels, cutoffs)
            for digits in DIGITS:
                counted = counts[cutoffs, digits]
                explanation = rankings.explained(rankings.values(true), digits)
                counted.add_true(rankings, explanation, true)
                counted.add_other(rankings.explained(other_values, digits))
    return counts


def named_causes(counts: Mapping[tuple[Sequence[int], int], Counts], count: int) -> list[str]:
    """Return a table of how often a true cause is named, and any for another system's score."""
    rows = []
    for (cutoffs, digits), counted in counts.items():
        cells = [" and ".join(map(str, cutoffs)), str(digits)]
        for right, if_all in (counted.right, counted.wrong):
            cells.append(f"{right} ({if_all})")
        told, any_told = np.add(counted.right, counted.wrong)
        cells.append(f"{count - told} ({count - any_told})")
        false, any_false = counted.false
        cells.append(f"{false / count:.1%} ({any_false / count:.1%})")
        rows.append(f"| {' | '.join(cells)} |")
    return [
        (
            "| cutoffs | digits | true cause named | another named | cannot be told | cause named "
            "for another system |"
        ),
        "|---|---:|---:|---:|---:|---:|",
        *rows,
    ]


def chance_matches(counts: Mapping[tuple[Sequence[int], int], Counts]) -> list[str]:
    """Return a table of how many settings match by chance, next to the predictions."""
    rows = []
    for (cutoffs, digits), counted in counts.items():
        matches = np.array(counted.matches)
        error = 1.96 * np.std(matches) / math.sqrt(len(matches))
        at = " and ".join(map(str, cutoffs))
        rows.append(
            f"| {at} | {digits} | {np.mean(matches):.2f} ± {error:.2f} "
            f"| {np.mean(counted.predicted):.2f} | {np.mean(matches > 0):.0%} |"
        )
    return [
        (
            "| cutoffs | digits | matches that were counted | matches that `explain` predicts | "
            "scores with a match |"
        ),
        "|---|---:|---:|---:|---:|",
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
        start = time.perf_counter()
        start_of_processor = time.process_time()
        explanation = explain(**inputs, got=f"{score:.6f}")
        seconds = time.perf_counter() - start
        seconds_of_processor = time.process_time() - start_of_processor
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        cells = (
            f"{queries:,} × {documents} | {explanation.tried:,} | {seconds:.1f} | "
            f"{seconds_of_processor:.1f} | {memory:,.0f}"
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
    counts = count_causes(causes)
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
            *combinations_found(count),
            "",
            "## Causes that are named",
            "",
            (
                f"Each row has {causes} scores with a cause, and {causes} of other systems. In "
                "parentheses if the first setting that fits were named in any case, as before 3.0."
            ),
            "",
            *named_causes(counts, causes),
            "",
            "## Matches by chance",
            "",
            (
                "Combinations of options and slips that match scores of the other systems, with "
                "95% intervals."
            ),
            "",
            *chance_matches(counts),
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
        markdown(2, 4, [(20, 20)])
        if quick
        else markdown(COMBINATIONS, CAUSES, [(200, 100), (20_000, 100)])
    )
    if quick:
        print(text)
    else:
        (HERE / "EXPLANATIONS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
