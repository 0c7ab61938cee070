"""Notes: sentences that help the reader of a report or a comparison to interpret its figures."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.slices import Value, slice_name
from ..measure.messages import Message, mark, marked
from ..measure.options import Options
from ..scores.queries import sentence_on_missing
from ..show.tables import number_text
from .measured import EXCLUDED, SHOWN, PerQuery, Score, Slice
from .pairs import SIGNIFICANT, Pair, Testing
from .significance import FEW, differences

NAMED_PAIRS = 5  # pairs in a sentence
NAMED_SLICES = 5  # slices in a sentence


def notes_of(
    columns: PerQuery, options: Options, scores: Mapping[str, Score], unmatched: str | None
) -> list[str]:
    """Return the notes on the queries of one system."""
    notes = [
        *left_out_notes(columns, options),
        *missing_notes(columns, options),
        *short_run_notes(columns, options),
        *exclusion_notes(columns, options),
        *unmatched_notes(columns, unmatched),
        *cutoff_notes(columns, options),
        *few_queries_notes(columns, options),
        *chance_notes(scores, columns),
    ]
    return list(dict.fromkeys(notes))  # the warning of missing queries is a note too


def shared_notes(of_systems: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the notes of several systems: once those that all have, then the others with the name of the system."""
    first, *others = of_systems.values()
    shared = [note for note in first if all(note in each for each in others)]
    own = [(name, note) for name, each in of_systems.items() for note in each if note not in shared]
    return [*shared, *(Message(f"{name}: {marked(note)}") for name, note in own)]


def cutoff_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return notes on cutoffs without effect, and on only relevant documents."""
    if "all relevant" not in columns:  # values without rankings
        return []
    longest = max(int(columns[name].max()) for name in ("retrieved", "judged"))
    sentences = [
        f"The cutoff {k} has no effect: no query has more than {longest} retrieved or judged documents."
        for k in options.cutoffs
        if k is not None and k > longest
    ]
    alike = columns["all relevant"]
    if 10 * np.count_nonzero(alike) >= len(alike):
        number = f"{np.count_nonzero(alike):,} of {len(alike):,} queries"
        sentences.append(
            f"In {number} all documents are relevant, so that any order of them scores high."
        )
    return sentences


def few_queries_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on the number of queries, if it is small."""
    shares = columns.get("weight", np.ones(len(columns["ideal"])))
    fewest = min((shares[~np.isnan(columns[name])] for name in options.names), key=_counted_as)
    if (counted := _counted_as(fewest)) >= FEW:
        return []
    if np.count_nonzero(fewest) == 1:
        return ["A single query says nothing about others: its score has no interval."]
    number = f"{np.count_nonzero(fewest):,}"
    alike = counted > 0.999 * np.count_nonzero(fewest)
    number += "" if alike else f", which count as {counted:.1f} by their weights"
    problem = "intervals and tests may be wrong more often than their levels say"
    return [f"Few queries ({number}): below {FEW}, {problem}."]


def _counted_as(weight: NDArray[np.float64]) -> float:
    """Return the effective number of queries: how many of equal weight would be as precise (Kish, 1965)."""
    return float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0


def left_out_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return sentences on the queries that are excluded from all means or from some, and why."""
    queries, run = len(columns["ideal"]), "the run"
    without = {name: np.isnan(columns[name]) for name in options.names}
    skipped, nothing = np.zeros(queries, bool), columns["ideal"] <= 0
    if options.missing == "skip":
        skipped = columns.get("missing", skipped)
    sentences = []
    for applies, how_many, one, several in (
        (skipped, "judged queries", f"is missing from {run} and", f"are missing from {run} and"),
        (
            nothing & ~skipped,
            "queries",
            "has no relevant documents and is",
            "have no relevant documents and are",
        ),
        (
            ~nothing & ~skipped,
            "queries",
            "has an ideal DCG of 0 and is",
            "have an ideal DCG of 0 and are",
        ),
    ):
        measures: dict[bytes, list[str]] = {}
        for name, lacking in without.items():
            measures.setdefault((lacking & applies).tobytes(), []).append(name)
        for mask, names in measures.items():
            if count := np.count_nonzero(np.frombuffer(mask, bool)):
                measure = _of_some(names, without)
                reason = one if count == 1 else several
                sentences.append(
                    f"{count:,} of {queries:,} {how_many} {reason} excluded from the mean{measure}."
                )
    if "weight" in columns and (count := np.count_nonzero(columns["weight"] == 0)):
        reason = "has a weight of 0 and is" if count == 1 else "have a weight of 0 and are"
        sentences.append(f"{count:,} of {queries:,} queries {reason} excluded from the mean.")
    return sentences


def unmatched_notes(columns: PerQuery, unmatched: str | None = None) -> list[str]:
    """Return a sentence if no document was both retrieved and judged, with ids from both inputs if these are known."""
    if unmatched:
        return [Message(f"{unmatched[0].upper()}{unmatched[1:]}.")]
    sides = [
        columns[name].any()
        for name in ("retrieved", "judged", "retrieved and judged")
        if name in columns
    ]
    if sides != [True, True, False]:
        return []
    both = f"{mark('predictions')} and {mark('references')}"
    return [
        Message(f"No document was both retrieved and judged: do {both} use the same document ids?")
    ]


def exclusion_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return sentences on the number of excluded documents, and on queries that they leave without a relevant one."""
    if EXCLUDED[0] not in columns:
        return []
    retrieved, judged = (int(columns[name].sum()) for name in EXCLUDED)
    is_of_run = options.exclude_from == "run"
    removed = retrieved if is_of_run else retrieved + judged
    if not removed:
        hint = "are its ids the ids of queries and documents?"
        there = "retrieved" if is_of_run else "retrieved or judged"
        return [
            Message(f"No document was excluded: {mark('exclude')} has none that is {there}; {hint}")
        ]
    if is_of_run:
        still = f"judged, so still in the ideals: {judged:,}"
        return [f"Excluded documents: {retrieved:,} from the run; {still}."]
    sentences = [f"Excluded documents: {retrieved:,} retrieved and {judged:,} judged."]
    normalized = [name for name, measure, _ in options.results if measure == "nDCG"]
    emptied = (columns[EXCLUDED[1]] > 0) & (columns["ideal"] <= 0)
    if count := max(
        (np.count_nonzero(emptied & ~np.isnan(columns[name])) for name in normalized), default=0
    ):
        have, are = ("has", "is") if count == 1 else ("have", "are")
        value, skip = options.scoring["zero_division"], mark("zero_division", math.nan)
        counted = "counted" if isinstance(value, str) else f"counted as {value:g}"
        left = f"{count:,} of {len(emptied):,} queries {have} no relevant document left and {are} {counted}"
        sentences.append(Message(f"{left}; {skip} leaves such queries out of the mean."))
    return sentences


def missing_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on missing queries that count in the mean, if there are any."""
    if (
        "missing" not in columns or options.missing == "skip"
    ):  # "missing" is unknown for values without rankings
        return []
    missing = int(np.count_nonzero(columns["missing"]))
    if not missing:
        return []
    return [Message(f"{sentence_on_missing(missing, len(columns['ideal']))}.")]


def short_run_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on queries with few retrieved documents that lack judged ones, if there are any.

    A short list with all judged documents, as of a reranker, is as long as it can usefully be.
    """
    if "missing" not in columns:  # values without rankings
        return []
    k = max((k for k in options.cutoffs if k is not None), default=0)
    incomplete = ~columns["missing"] & (columns["judged"] > columns["retrieved and judged"])
    few = np.count_nonzero(incomplete & (columns["retrieved"] < k))
    if not few:
        return []
    other = "other " if columns["missing"].any() else ""
    if few == 1:
        return [f"1 {other}query has fewer than {k} retrieved documents and lacks judged ones."]
    return [f"{few:,} {other}queries have fewer than {k} retrieved documents and lack judged ones."]


def chance_notes(scores: Mapping[str, Score], columns: PerQuery) -> list[str]:
    """Return a sentence on each score that may be no better than a random order, or is worse."""
    sentences = []
    for name, score in scores.items():
        differs = np.abs(differences(columns[name], columns[f"random order {name}"])) > 0
        if score.low <= score.random_order and differs.any():  # otherwise the order does not matter
            expected = (
                f"the mean of all orders of the same documents is {number_text(score.random_order)}"
            )
            below = f"{name} is worse than a random order: {expected}. Do higher scores rank first?"
            near = f"{name} may be no better than a random order: {expected}."
            sentences.append(near if score.random_order <= score.high else below)
    return sentences


def slice_notes(slices: Mapping[Value, Slice], means: Mapping[str, Score]) -> list[str]:
    """Return sentences on the slices without an interval, and on what the mean of slices lacks, if there are any."""
    without = sum(
        any(math.isnan(score.low) for score in part.scores.values()) for part in slices.values()
    )
    if not without:
        return []
    few = "fewer than two of their queries have a value"
    sentences = [f"{without:,} of {len(slices):,} slices have no interval, since {few}."]
    named = [part for value, part in slices.items() if value is not None]
    with_fewer: dict[int, list[str]] = {}
    for name in means:
        counted = sum(part.scores[name].queries > 0 for part in named)
        if counted < len(named):
            with_fewer.setdefault(counted, []).append(name)
    for counted, names in with_fewer.items():
        which = f"mean of slices{_of_some(names, means)}"
        sentences.append(
            f"The {which} is over {counted:,} of {len(named):,} slices; the others have no value."
        )
    names = [name for name, score in means.items() if score.queries and math.isnan(score.low)]
    if names:
        which = f"mean of slices{_of_some(names, means)}"
        sentences.append(f"The {which} has no interval, since one of the slices has none.")
    return sentences


def _of_some(names: Sequence[str], of_all: Collection[str]) -> str:
    """Return the names of measures, if these are not all."""
    return "" if len(names) == len(of_all) else f" of {', '.join(names)}"


def small_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices with few queries, if there are any."""
    few = sum(each.queries < FEW for each in slices.values())
    problem = (
        f"have fewer than {FEW} queries: intervals may miss the true value more often than they say"
    )
    return [f"{few:,} of {len(slices):,} slices {problem}."] if few else []


def first_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices that tables omit, if there are any."""
    return (
        [f"The first {SHOWN} of {len(slices):,} slices are shown."] if len(slices) > SHOWN else []
    )


def least_p_values(pairs: Sequence[Pair], testing: Testing) -> list[float]:
    """Return the lowest corrected p-value that each pair could have, from its number of differing queries."""
    if not testing.paired:
        return [0.0] * len(pairs)
    sides = 2 if testing.alternative == "two-sided" else 1
    return testing.holm(
        pairs, [min(1, (sides if pair.exact else 1) / pair.permutations) for pair in pairs]
    )


def differing_text(least: int, most: int | None = None) -> str:
    """Return the number of queries that differ, in words.

    >>> differing_text(1), differing_text(4), differing_text(3, 5)
    ('1 query that differs', '4 queries that differ', '3 to 5 queries that differ')
    """
    if least == 1 and most is None:
        return "1 query that differs"
    return f"{least:,}{'' if most is None else f' to {most:,}'} queries that differ"


def equal_notes(pairs: Sequence[Pair]) -> list[str]:
    """Return a sentence on the pairs with the same value of every measure in every query, if there are any."""
    differing: dict[str, int] = {}
    for pair in pairs:
        differing[pair.title] = differing.get(pair.title, 0) + pair.differing
    equal = [title for title, queries in differing.items() if queries == 0]
    if not equal:
        return []
    names = ", ".join(equal[:NAMED_PAIRS])
    if len(equal) > NAMED_PAIRS:
        names += f" and {len(equal) - NAMED_PAIRS:,} more"
    return [f"Both systems have the same value in every query: {names}. Are they the same run?"]


def notes_on_tests(pairs: Sequence[Pair], testing: Testing, baseline: str | None) -> list[str]:
    """Return notes on pairs that cannot be significant, have too few queries, or have p-values close to 0.05."""
    sides = 2 if testing.alternative == "two-sided" else 1
    together = len(testing.families(pairs)[0])
    least = least_p_values(pairs, testing)
    beyond = [
        (pair, p)
        for pair, p in zip(pairs, least, strict=True)
        if p >= SIGNIFICANT and pair.permutations > 1
    ]
    sentences = []
    if beyond:
        counts = sorted({pair.permutations.bit_length() - 1 for pair, _ in beyond})
        few = differing_text(*dict.fromkeys((counts[0], counts[-1])))
        ways = [f"{int(math.log2(together * sides / SIGNIFICANT)) + 1} queries that differ"]
        if not all(pair.exact for pair, _ in beyond):
            few, ways = "this number of permutations", []
        if together > 1:
            ways.append("fewer pairs" + ", as with a baseline" * (baseline is None))
        corrected = f" corrected for {together:,}" if together > 1 else ""
        sentences.append(
            f"{len(beyond):,} of {len(pairs):,} pairs cannot be significant: with {few}, p{corrected} is at "
            f"least {min(p for _, p in beyond):.4f}. A significant result needs {', or '.join(ways)}."
        )
    if too_few := sum(pair.has_too_few_queries for pair in pairs):
        problem = (
            "have too few queries to find any difference with 80% power, even the greatest possible"
        )
        sentences.append(f"{too_few:,} of {len(pairs):,} pairs {problem}.")
    near = [
        pair
        for pair in pairs
        if abs(pair.p_holm - SIGNIFICANT) * pair.p < 2 * pair.p_error * pair.p_holm
    ]
    if near:
        sentences.append(
            f"{len(near):,} of {len(pairs):,} corrected p-values lie within two standard errors of {SIGNIFICANT}: "
            "all permutations might put them on the other side."
        )
    return sentences


def notes_on_slices(
    pairs: Sequence[Pair], testing: Testing, compared: Collection[Value], slices: Sequence[Value]
) -> list[str]:
    """Return notes on the correction of p-values in slices, and on slices that are not compared."""
    sentences = []
    if compared:
        together = len(testing.families(pairs)[0])
        measures = {"all": "all measures", "measure": "a measure"}[testing.corrected_over]
        family = f"{together * len(compared):,} pairs: {together:,} of {measures} in each"
        sentences.append(
            f"In slices, p-values are corrected by Holm for {family} of {len(compared):,} slices."
        )
    if left := [slice_name(value) for value in slices if value not in compared]:
        few = f"fewer than two of their queries have a value: {', '.join(left[:NAMED_SLICES])}"
        more = f" and {len(left) - NAMED_SLICES:,} more" if len(left) > NAMED_SLICES else ""
        sentences.append(
            f"{len(left):,} of {len(slices):,} slices are not compared, since {few}{more}."
        )
        if any(value is not None and value not in compared for value in slices):
            sentences.append(
                "The mean of slices is not compared either, since one of the slices is not."
            )
    return sentences
