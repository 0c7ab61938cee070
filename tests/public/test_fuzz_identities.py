"""Ids of queries and documents of any kind, size and format: each counts once, none are merged.

Ids are told apart as Python does, by `==`: a dictionary is the reference. `FUZZ_MINUTES` asks for
the long run.
"""

import math
import os
import random
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory

from ndcg.measure.messages import shown

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))
EDGES = [0, *(sign * (1 << bits) for bits in (1, 31, 32, 53, 61, 62, 63, 64) for sign in (1, -1))]
INTEGERS = sorted({edge + step for edge in EDGES for step in (-2, -1, 0, 1, 2)})
TEXTS = [
    *map(str, INTEGERS),
    *(
        "'",
        "a",
        "A",
        "é",
        "e\u0301",
        "x" * 500,
        "x" * 499 + "y",
        "-0",
        "00",
        "1.0",
        "\x00",
        " ",
    ),
]
ID_TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
SECOND = pytest.approx(1 / math.log2(3), rel=1e-12)  # the nDCG if the relevant document is second


def equal_to(rng: random.Random, identity: Any) -> Any:
    """An id as another object that is equal to it."""
    if isinstance(identity, str):
        return rng.choice([str, np.str_])(identity)
    fitting = [kind for kind in ID_TYPES if np.iinfo(kind).min <= identity <= np.iinfo(kind).max]
    return rng.choice([int, *fitting])(identity)


def as_mappings(rng: random.Random, ids: list[Any]) -> dict[str, Any]:
    """A query for each id, with the relevant document second; documents have ids of any kind."""
    documents = rng.sample(INTEGERS + TEXTS, rng.choice([2, 30]))
    run = {equal_to(rng, d): -float(place) for place, d in enumerate(documents)}
    qrels = {equal_to(rng, d): place for place, d in enumerate(documents[:2])}
    return {
        "predictions": {equal_to(rng, each): run for each in ids},
        "references": {equal_to(rng, each): qrels for each in ids},
    }


def typed(ids: list[Any]) -> Any:
    """An array of integers, or of objects."""
    if isinstance(ids[0], str):
        return np.array(ids, object)
    return np.array(ids, np.int64 if max(ids) < 2**63 else np.uint64)


def as_dictionary(ids: list[Any]) -> Any:
    return pa.array(typed(ids)).dictionary_encode()


def as_rows(rng: random.Random, ids: list[Any]) -> dict[str, Any]:
    """The same as flat columns, of ids of one kind."""
    make, rows = rng.choice([list, typed, as_dictionary]), [each for each in ids for _ in range(2)]
    return {
        "predictions": [2.0, 1.0] * len(ids),
        "references": [0, 1] * len(ids),
        "query_ids": make(rows),
    }


def batch_of(rng: random.Random, ids: list[Any]) -> dict[str, Any]:
    numbers = [each for each in ids if not isinstance(each, str)]
    small = all(-(2**63) <= each < 2**63 for each in numbers) or all(
        0 <= each < 2**64 for each in numbers
    )
    fits = len(numbers) in (0, len(ids)) and small
    return (as_rows if fits and rng.random() < 0.6 else as_mappings)(rng, ids)


def rounds(fewest: int) -> Iterator[tuple[int, random.Random]]:
    end, at = time.monotonic() + MINUTES * 60 / 2, 0
    while at < fewest or time.monotonic() < end:
        yield at, random.Random(at)
        at += 1


def test_a_query_and_its_documents_are_known_by_their_ids_in_every_format_and_batch(
    ndcg: evaluate.Metric, fresh_metric: MetricFactory
) -> None:
    metrics = [fresh_metric(), fresh_metric(keep_in_memory=True)]
    rejected = 0
    for at, rng in rounds(20):
        metric = metrics[at % 2]
        known: dict[Any, None] = {}
        pool = rng.sample(INTEGERS + TEXTS, 40)
        for _ in range(12):
            ids = rng.sample(pool, rng.randint(1, 4))
            batch = batch_of(rng, ids)
            assert ndcg.compute(**batch) == {"nDCG": SECOND}, at
            if again := [each for each in ids if each in known]:
                queries = [f"^query {re.escape(shown(each))} was " for each in again]
                with pytest.raises(ValueError, match="|".join(queries)):
                    metric.add_batch(**batch)
                rejected += 1
            else:
                metric.add_batch(**batch)
                known |= dict.fromkeys(ids)
            assert len(metric) == len(known), at
        assert metric.compute(use_aggregator=False) == {"nDCG": [SECOND] * len(known)}, at
    assert rejected > 20


def test_a_query_is_known_by_its_id_in_every_process(fresh_metric: MetricFactory) -> None:
    outcomes = set()
    for at, rng in rounds(8):
        how = {"num_process": 2, "timeout": 60, "experiment_id": f"round-{at}"}
        first, second = (fresh_metric(process_id=each, **how) for each in (0, 1))
        pool = rng.sample(INTEGERS + TEXTS, 30)
        shares = [rng.sample(pool, rng.randint(1, 5)) for _ in range(2)]
        batches = [
            [batch_of(rng, share[at::2]) for at in (0, 1) if share[at::2]] for share in shares
        ]
        both = set(shares[0]) & set(shares[1])

        def score(metric: Any, batches: list[dict[str, Any]]) -> Any:
            for batch in batches:
                metric.add_batch(**batch)
            return metric.compute(use_aggregator=False)

        with ThreadPoolExecutor(1) as other:
            of_second = other.submit(score, second, batches[1])
            if both:
                with pytest.raises(ValueError, match="query"):
                    score(first, batches[0])
            else:
                expected = [SECOND] * (len(shares[0]) + len(shares[1]))
                assert score(first, batches[0]) == {"nDCG": expected}, at
            assert of_second.result() is None
        outcomes.add(bool(both))
    assert outcomes == {True, False}
