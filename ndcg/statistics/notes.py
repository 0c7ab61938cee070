"""Notes: sentences that help the reader of a report or a comparison to interpret its figures."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..inputs.slices import Slices, Value
from ..measure.messages import Message, mark, marked
from ..measure.options import Options
from ..scores.doubts import as_note, sentence_on_missing
from ..show.tables import number_text
from .measured import EXCLUDED, SHOWN, PerQuery, Scores, array_of, lacks_value
from .pairs import SIGNIFICANT, Pair, Testing
from .significance import FEW, ROUNDING, differences, effective_queries


def notes_of(
    columns: PerQuery, options: Options, scores: Scores, doubts: Sequence[str]
) -> list[str]:
    """Return the notes on the queries of one system; `doubts` are the warnings about it."""
    notes = chain(
        left_out_notes(columns, options),
        missing_notes(columns, options),
        exclusion_notes(columns, options),
        map(as_note, doubts),
        few_queries_notes(columns, options),
        chance_notes(scores, columns),
    )
    return list(dict.fromkeys(notes))  # the warning of missing queries is a note too


def shared_notes(by_system: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the notes of several systems: what all share once, then the others with a name."""
    first, *others = by_system.values()
    shared = set(first).intersection(*others)
    notes = [note for note in first if note in shared]
    for name, system_notes in by_system.items():
        others = [note for note in system_notes if note not in shared]
        notes += [Message(f"{name}: {marked(note)}") for note in others]
    return notes


def few_queries_notes(columns: PerQuery, options: Options) -> Iterator[str]:
    """Yield a sentence on the number of queries, if it is small."""
    weight = columns.get("weight", np.ones(len(columns["ideal"])))
    effective = min(effective_queries(weight[~np.isnan(columns[name])]) for name in options.names)
    if effective < FEW:
        yield (
            f"Few queries ({effective:.3g}): below {FEW}, intervals and tests may be wrong more "
            "often than their levels say."
        )


def left_out_notes(columns: PerQuery, options: Options) -> Iterator[str]:
    """Yield sentences on the queries that are excluded from a mean, and why."""
    has_no_value = lacks_value(columns, options.names)
    is_skipped = has_no_value & columns["missing"] & (options.missing == "skip")
    has_no_ideal = has_no_value & ~is_skipped
    has_no_relevant = has_no_ideal & (columns["ideal"] <= 0)
    reasons = {
        "missing from the run": is_skipped,
        "with no relevant documents": has_no_relevant,
        "with an ideal DCG of 0 or less": has_no_ideal & ~has_no_relevant,
        "with a weight of 0": columns.get("weight", 1) == 0,
    }
    queries = len(has_no_value)
    for reason, is_excluded in reasons.items():
        count = np.count_nonzero(is_excluded)
        if count:
            yield f"Excluded from a mean: {count:,} of {queries:,} queries, {reason}."


def missing_notes(columns: PerQuery, options: Options) -> Iterator[str]:
    """Yield sentences on missing queries that count in the mean, and on ones with few documents."""
    missing = int(np.count_nonzero(columns["missing"]))
    if missing and options.missing != "skip":
        yield Message(f"{sentence_on_missing(missing, len(columns['ideal']))}.")
    deepest = max((k for k in options.cutoffs if k is not None), default=0)
    # A short list with all judged documents, as of a reranker, cannot usefully be longer.
    incomplete = ~columns["missing"] & (columns["judged"] > columns["retrieved and judged"])
    few = np.count_nonzero(incomplete & (columns["retrieved"] < deepest))
    if few:
        fewer = f"fewer than {deepest} retrieved documents, and not all judged ones"
        yield f"Queries with {fewer}: {few:,}."


def exclusion_notes(columns: PerQuery, options: Options) -> Iterator[str]:
    """Yield a sentence on the documents that were excluded."""
    if EXCLUDED[0] not in columns:
        return
    retrieved, judged = array_of(columns, EXCLUDED).sum(axis=1).tolist()
    if options.exclude_from == "run":
        judged = 0  # they stay in the ideals
    if retrieved or judged:
        yield f"Excluded documents: {retrieved:,} retrieved and {judged:,} judged."
    else:
        yield Message(
            f"No document was excluded: are the ids in {mark('exclude')} the ids of queries and "
            "documents?"
        )


def chance_notes(scores: Scores, columns: PerQuery) -> Iterator[str]:
    """Yield a sentence on every score that is not clearly better than a random order, or worse."""
    for name, score in scores.items():
        by_order = differences(columns[name], columns[f"random order {name}"])
        if not score.tied and not (np.abs(by_order) > 0).any():
            continue  # the order does not matter
        chance = number_text(score.random_order)
        expected = f"the mean of all orders of the same documents is {chance}"
        if score.low <= score.random_order <= score.high:
            yield f"{name} is not clearly better than a random order: {expected}."
        elif score.random_order > score.high:
            yield f"{name} is worse than a random order: {expected}. Do higher scores rank first?"


def slice_notes(slices: Slices, lacking: int, lack: str) -> Iterator[str]:
    """Yield sentences on slices with few queries, and on slices with too few for an interval."""
    sizes = np.bincount(slices.code)
    few = np.count_nonzero(sizes < FEW)
    if few:
        yield (
            f"{few:,} of {len(sizes):,} slices have fewer than {FEW} queries: intervals may miss "
            "the true value more often than they say."
        )
    if lacking:
        yield (
            f"{lacking:,} of {len(sizes):,} slices {lack}, since fewer than two of their queries "
            "have a value."
        )


def first_slices(slices: Mapping[Value, Any]) -> Iterator[str]:
    """Yield a sentence on the slices that tables omit, if there are any."""
    if len(slices) > SHOWN:
        yield f"The first {SHOWN} of {len(slices):,} slices are shown."


def least_p_values(pairs: Sequence[Pair], testing: Testing) -> list[float]:
    """Return the lowest corrected p-value that a pair could have with its differing queries."""
    least = []
    for pair in pairs:
        # A two-sided test also counts the permutation with all signs turned.
        as_extreme = testing.sides if pair.exact else 1
        least.append(min(1, as_extreme / pair.permutations))
    return list(map(float, testing.holm(pairs, least)))


def equal_notes(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a sentence on the pairs with the same values of every measure, if there are any."""
    differing = {pair.title for pair in pairs if pair.differing}
    equal = sorted({pair.title for pair in pairs} - differing)
    if equal:
        yield (
            f"Both systems have the same value in every query: {', '.join(equal)}. Are they the "
            "same run?"
        )


def notes_on_tests(pairs: Sequence[Pair], testing: Testing) -> Iterator[str]:
    """Yield notes on equal systems, on pairs that cannot be significant, and on their power."""
    if testing.paired:
        yield from equal_notes(pairs)
        yield from _beyond_notes(pairs, testing)
    # Differences that do not vary tell nothing.
    varying = [pair for pair in pairs if pair.standard_error > ROUNDING * abs(pair.difference)]
    too_few = [pair.min_detectable for pair in varying].count(None)
    if too_few:
        yield (
            f"{too_few:,} of {len(pairs):,} pairs have too few queries to find any difference "
            "with 80% power, even the greatest possible."
        )


def _beyond_notes(pairs: Sequence[Pair], testing: Testing) -> Iterator[str]:
    tested = zip(pairs, least_p_values(pairs, testing), strict=True)
    beyond = [p for pair, p in tested if p >= SIGNIFICANT and pair.permutations > 1]
    if not beyond:
        return
    tests = len(testing.families(pairs)[0])  # which are corrected together
    # Of n queries that differ there are 2 ** n permutations.
    enough = int(math.log2(tests * testing.sides / SIGNIFICANT)) + 1
    yield (
        f"{len(beyond):,} of {len(pairs):,} pairs cannot be significant: p (Holm) is at least "
        f"{min(beyond):.4f}. A significant result needs {enough} queries that differ."
    )
