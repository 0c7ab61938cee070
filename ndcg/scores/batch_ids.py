"""The ids of the queries in batches, spelled as bytes that are equal if the ids are.

Arrow columns of these bytes hold ids of all types, and go from one process to another.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC
from itertools import chain
from typing import Any

import pyarrow as pa

from ..inputs.ids import id_kind
from ..measure.messages import shown

IdSets = tuple[frozenset[bytes], ...]  # of falling size

# The first byte says which type of id follows; integers are hexadecimal digits without such a byte.
_TEXT, _BYTES, _TIME = b"'", b'"', b"@"


def spelled_id(query: Any) -> bytes:
    """Return the id of a query as bytes."""
    kind = id_kind(type(query))
    if kind == "text":
        # str() would drop a NUL at the end of NumPy's text.
        text: bytes = query.encode("utf-8", "surrogatepass")
        return _TEXT + text
    if kind == "integers":
        return b"%x" % int(query)
    if kind == "bytes":
        return _BYTES + bytes(query)
    if getattr(query, "tzinfo", None):
        query = query.astimezone(UTC)
    return _TIME + str(query).encode()


def readable_id(spelling: bytes) -> str:
    """Return an id as messages show it."""
    kind, rest = spelling[:1], spelling[1:]
    if kind == _BYTES:
        return shown(rest)
    if kind in (_TEXT, _TIME):
        return shown(rest.decode("utf-8", "surrogatepass"))
    return shown(int(spelling, 16))


def with_more_ids(sets: IdSets, ids: frozenset[bytes]) -> IdSets:
    """Return the sets with more ids, which are in none of them.

    Every set is larger than the next, so that few sets hold many batches, and none is modified.
    """
    larger = list(sets)
    # As a set is merged only into one at least as large, an id is copied a few times.
    while larger and len(larger[-1]) <= len(ids):
        ids |= larger.pop()
    return (*larger, ids)


def refuse_added_before(ids: Sequence[bytes], sets: IdSets) -> None:
    """Raise an error for a query that was added before."""
    for added in sets:
        for query in added.intersection(ids):
            raise ValueError(
                f"query {readable_id(query)} was added before; add all documents of a query in one "
                "batch, or give all rows to compute at once"
            )


def refuse_added_twice(sets: IdSets, others: Iterable[Iterable[pa.Table]]) -> None:
    """Raise an error for a query that two processes have added; the sets are of process 0."""
    processes = [(0, added) for added in sets]
    for process, tables in enumerate(others, 1):
        ids = _ids_of(tables)
        for other, added in processes:
            if twice := added & ids:
                query = readable_id(min(twice))
                raise ValueError(
                    f"query {query} was added by process {other} and by process {process}; add all "
                    "documents of a query in one process, one batch"
                )
        processes.append((process, ids))


def _ids_of(tables: Iterable[pa.Table]) -> frozenset[bytes]:
    # Queries without ids have nulls.
    columns = (table["query_id"].drop_null().to_pylist() for table in tables)
    return frozenset(chain.from_iterable(columns))
