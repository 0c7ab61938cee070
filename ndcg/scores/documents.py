"""List the documents of a query with their ranks and what each adds to DCG."""

from collections.abc import Iterable
from contextlib import closing
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..measure.messages import shown
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.scoring import check_queries, discounts, measure_queries
from ..measure.ties import Floats, Mask
from .frames import from_frame
from .queries import OF_GAINS, counted_parts, user_terms


def documents(
    *,
    predictions: Any,
    references: Any,
    queries: Iterable[Any] | None = None,
    k: Cutoffs = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[QueryOptions],
) -> pa.Table:
    """Return the documents of queries in the order of their ranks, then those that were not retrieved.

    The columns are ``query``; ``document``: its id, or its position without ids; ``relevance``:
    null if it was not judged; ``rank``: null if it was not retrieved; ``last_rank``: the last of
    the ranks that it shares with documents of equal score; ``gain``; and ``discount``: the mean
    over its ranks, 0 beyond the cutoff. DCG@k is the sum of gain times discount.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        queries: the ids of the queries, or their indices if they have none; None for all.
        k: the cutoff.
        query_ids: as in `compute`.
        document_ids: as in `compute`.
        data: as in `compute`.
        exclude: as in `compute`; these documents are left out, or, with `exclude_from="run"`, have
            no rank.
        fields: as in `compute`.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `compute`; or there are several cutoffs, or a query is unknown.

    >>> found = documents(predictions={"q": {"a": 2, "b": 1}}, references={"q": {"b": 3, "c": 1}}, k=1)
    >>> for row in found.select(["document", "relevance", "rank", "discount"]).to_pylist():
    ...     print(*row.values())
    a None 1 1.0
    b 3.0 2 0.0
    c 1.0 None 0.0
    """
    parsed = Options.of_method(documents, k, options)
    if len(parsed.cutoffs) > 1:
        raise ValueError(
            f"k must be one cutoff, since a document has one discount; got {shown(parsed.cutoffs)}"
        )
    wanted = None if queries is None else dict.fromkeys(queries)
    inputs = from_frame(
        data, Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    )
    found: dict[Any, pa.Table] = {}
    with closing(counted_parts(inputs, parsed)) as parts:
        for part, before in parts:
            names = (
                [before + at for at in range(part.queries)]
                if part.query_ids is None
                else part.names()
            )
            with user_terms(part, before):
                check_queries(**part.arrays(), **{name: parsed.scoring[name] for name in OF_GAINS})
            found |= {
                query: _documents_of(part, at, query, parsed)
                for at, query in enumerate(names)
                if wanted is None or query in wanted
            }
    if unknown := [query for query in wanted or () if query not in found]:
        raise ValueError(
            f"queries: {shown(unknown[0])} is not a query of the references ({len(unknown)} such queries)"
        )
    return pa.concat_tables(
        [found[query] for query in wanted or found], promote_options="permissive"
    )


def _documents_of(part: Rankings, at: int, query: Any, options: Options) -> pa.Table:
    """Return the rows of a query, by its index in rankings."""
    start, stop = part.offsets[at : at + 2].tolist()
    rows = slice(start, stop)
    score = part.score[rows]
    retrieved = (
        score > -np.inf if part.retrieved is None else part.retrieved[rows] & (score > -np.inf)
    )
    judged = np.ones(stop - start, bool) if part.judged is None else part.judged[rows]
    gain = _gains(part, rows, judged, options)
    order = _ranked(score, gain, np.flatnonzero(retrieved), options.scoring["ties"])
    # each document's rank from 0, and the next rank
    first, last = (
        np.arange(len(order)),
        np.arange(1, len(order) + 1),
    )
    if options.ties == "average":
        new = np.ones(len(order), bool)
        new[1:] = score[order][1:] != score[order][:-1]
        group, begins = np.cumsum(new) - 1, np.flatnonzero(new)
        first, last = begins[group], np.append(begins[1:], len(order))[group]
    (k,) = options.cutoffs
    counted = len(order) if k is None else min(k, len(order))
    sums = np.append(0, np.cumsum(discounts(counted, options.log_base, options.discount)))
    discount = (sums[np.minimum(last, counted)] - sums[np.minimum(first, counted)]) / (last - first)
    missed = np.flatnonzero(judged & ~retrieved)
    missed = missed[np.argsort(-gain[missed], kind="stable")]
    listed = np.concatenate([order, missed])
    ids = list(range(stop - start)) if part.documents is None else part.documents(at)
    nothing = [None] * len(missed)
    return pa.table(
        {
            "query": [query] * len(listed),
            "document": [ids[each] for each in listed.tolist()],
            "relevance": pa.array(part.relevance[rows][listed].astype(float), mask=~judged[listed]),
            "rank": pa.array([*(first + 1).tolist(), *nothing], pa.int64()),
            "last_rank": pa.array([*last.tolist(), *nothing], pa.int64()),
            "gain": gain[listed],
            "discount": np.append(discount, np.zeros(len(missed))),
        }
    )


def _gains(part: Rankings, rows: slice, judged: Mask, options: Options) -> Floats:
    """Return the gain of each document, as the CG of a query with this document alone."""
    count = rows.stop - rows.start
    alone = part.relevance[rows], np.zeros(count), np.arange(count + 1)
    how = {name: options.scoring[name] for name in OF_GAINS}
    found = measure_queries(*alone, judged=judged, measures=("CG",), **how)
    return np.asarray(found["CG"][0])


def _ranked(
    score: NDArray[Any], gain: Floats, retrieved: NDArray[np.intp], ties: str
) -> NDArray[np.intp]:
    """Return the positions of retrieved documents, best first."""
    last_first = {"best": gain, "worst": -gain, "last": np.arange(len(score))}.get(
        ties, -np.arange(len(score))
    )
    return retrieved[np.lexsort((last_first[retrieved], score[retrieved]))[::-1]]
