"""List the documents of a query with their ranks and what they add to DCG."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, user_terms
from ..measure.messages import shown
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.scoring import check_queries, discounts, measure_queries
from ..measure.ties import Array, Floats, Mask
from .frames import from_frame
from .queries import counted_parts


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
    """Return the documents of queries by their ranks, then documents that were not retrieved.

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

    >>> run, qrels = {"q": {"a": 2, "b": 1}}, {"q": {"b": 3, "c": 1}}
    >>> table = documents(predictions=run, references=qrels, k=1)
    >>> for row in table.select(["document", "relevance", "rank", "discount"]).to_pylist():
    ...     print(*row.values())
    a None 1 1.0
    b 3.0 2 0.0
    c 1.0 None 0.0
    """
    parsed = Options.for_method(documents, k, options)
    if len(parsed.cutoffs) > 1:
        raise ValueError(
            f"k must be one cutoff, since a document has one discount; got {shown(parsed.cutoffs)}"
        )
    wanted = None if queries is None else dict.fromkeys(queries)
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    inputs = from_frame(data, inputs)
    tables: dict[Any, pa.Table] = {}
    with closing(counted_parts(inputs, parsed)) as parts:
        for part, before in parts:
            with user_terms(part, before):
                check_queries(**part.arrays(), **parsed.gains)
            names: Iterable[Any] = range(before, before + part.queries)
            if part.query_ids is not None:
                names = part.names()
            for index, query in enumerate(names):
                if wanted is None or query in wanted:
                    tables[query] = _documents_of(part, index, query, parsed)
    in_order = list(wanted or tables)
    unknown = [query for query in in_order if query not in tables]
    if unknown:
        raise ValueError(
            f"queries: {shown(unknown[0])} is not a query of the references ({len(unknown)} such "
            "queries)"
        )
    # The columns of a query without documents have no type.
    return pa.concat_tables([tables[query] for query in in_order], promote_options="permissive")


class OneQuery(NamedTuple):
    """The documents of a query."""

    ids: Sequence[Any]  # or their positions
    relevance: Array
    score: Array
    judged: Mask
    retrieved: Mask

    @classmethod
    def of(cls, part: Rankings, index: int) -> "OneQuery":
        """Return the documents of a query by its index in rankings."""
        rows = slice(*part.offsets[index : index + 2].tolist())
        relevance, score = part.relevance[rows], part.score[rows]
        ids: Sequence[Any] = range(len(score))
        if part.documents is not None:
            ids = part.documents(index)
        retrieved, judged = part.sides_of(index)
        return cls(ids, relevance, score, judged, retrieved)


def _documents_of(part: Rankings, index: int, query: Any, options: Options) -> pa.Table:
    ids, relevance, score, judged, retrieved = OneQuery.of(part, index)
    # The gain of a document is the CG of a query with this document alone.
    count = len(score)
    scores, offsets = np.zeros(count), np.arange(count + 1)
    measured = measure_queries(
        relevance, scores, offsets, judged=judged, measures=("CG",), **options.gains
    )
    (gain,) = measured["CG"]
    order = _ranked(score, gain, np.flatnonzero(retrieved), options.scoring["ties"])
    first = np.arange(len(order))  # the rank of the document, from 0
    end = np.arange(1, len(order) + 1)  # and the next rank
    if options.ties == "average":
        # Documents with equal scores share the ranks of their group.
        begins_group = np.ones(len(order), bool)
        begins_group[1:] = score[order][1:] != score[order][:-1]
        group = np.cumsum(begins_group) - 1
        starts = np.flatnonzero(begins_group)
        first = starts[group]
        end = np.append(starts[1:], len(order))[group]
    # The mean discount of the ranks that a document shares, 0 beyond the cutoff.
    counted = min(options.cutoffs[0] or len(order), len(order))
    sums = np.append(0, np.cumsum(discounts(counted, options.log_base, options.discount)))
    shared = sums[np.minimum(end, counted)] - sums[np.minimum(first, counted)]
    discount = shared / (end - first)
    missed = np.flatnonzero(judged & ~retrieved)
    missed = missed[np.argsort(-gain[missed], kind="stable")]
    listed = np.concatenate([order, missed])
    nothing = [None] * len(missed)
    return pa.table(
        {
            "query": [query] * len(listed),
            "document": [ids[position] for position in listed.tolist()],
            "relevance": pa.array(relevance[listed].astype(float), mask=~judged[listed]),
            "rank": pa.array([*(first + 1).tolist(), *nothing], pa.int64()),
            "last_rank": pa.array([*end.tolist(), *nothing], pa.int64()),
            "gain": gain[listed],
            "discount": np.append(discount, np.zeros(len(missed))),
        }
    )


def _ranked(score: Array, gain: Floats, retrieved: NDArray[np.intp], ties: str) -> NDArray[np.intp]:
    """Return the positions of retrieved documents, best first."""
    # Ascending order, reversed: among equal scores the highest of the second keys is first.
    position = np.arange(len(score), dtype=np.float64)
    last_first = {"best": gain, "worst": -gain, "last": position}.get(ties, -position)
    return retrieved[np.lexsort((last_first[retrieved], score[retrieved]))[::-1]]
