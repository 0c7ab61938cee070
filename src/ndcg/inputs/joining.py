"""Rankings by ids: flat rows with the id of their query, mappings, and files; joined query by query.

Each join returns both sides with the same documents in the same order: every query of the
references, or in flat rows every query there is.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from types import NoneType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import in_short, shown
from ..measure.ties import Mask
from .columns import (
    Column,
    Place,
    beyond_2_53,
    decoded,
    is_padding,
    offsets_of,
    read_flat_column,
    read_numbers,
)
from .hashes import Columns, Order, check_ids, grouped, hashes_of, id_kind, same_rows
from .sources import ARROW

Mapped = TypeVar("Mapped")
Side = Mapping[Any, Mapping[Any, Any]]

PROBE = 1 << 10  # rows that tell whether equal ids follow each other
THREADED = 1 << 20  # rows; of more, several threads each take a part


class Joined(NamedTuple):
    """Both sides of the same documents, with what people know queries and documents by.

    Attributes:
        score: the predictions.
        relevance: the references.
        place: words for a place; None where it is known by its numbers.
        query_ids: the id of each query, where they have ids.
        missing: True for each query that the predictions lack; None if ids do not tell.
    """

    score: Column
    relevance: Column
    place: Place | None = None
    query_ids: Sequence[Any] | pa.Array | None = None
    missing: Mask | None = None


def are_by_id(predictions: Any, references: Any) -> bool:
    """Return whether both sides are mappings or files.

    Raises:
        ValueError: one side is, or it is a mapping of anything but ids to mappings of ids.
    """
    for argument, side in (("predictions", predictions), ("references", references)):
        if not isinstance(side, Mapping):
            continue
        for query, documents in side.items():
            if type(documents) is not dict and not isinstance(documents, Mapping):
                raise ValueError(
                    f"{argument}: query {shown(query)}: must map documents to numbers; got {type(documents).__name__}; "
                    "for the columns of a table give data=, or query_ids and document_ids besides; for ranked ids "
                    "a list of lists in the order of the queries"
                )
        check_ids(argument, side, nested=False)
    by_id = [isinstance(side, (Mapping, Columns)) for side in (predictions, references)]
    if by_id[0] != by_id[1]:
        kinds = [
            "by ids" if each else f"by position ({type(side).__name__})"
            for each, side in zip(by_id, (predictions, references), strict=True)
        ]
        raise ValueError(f"predictions are {kinds[0]} and references {kinds[1]}; give both in one way")
    return by_id[0]


# Flat rows


def join_rows(
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any,
    by_docid: bool,
    ignore_index: float | None,
    excluded: Callable[..., Mask] | None = None,
) -> Joined:
    """Group rows by query; of a query they keep their order, but for ties by document ids.

    ``excluded`` tells by the rows' queries and documents, each as indices and distinct ids, which to leave out.

    Raises:
        ValueError: ids or numbers that cannot be read, sides of different lengths, a document twice in a query.
    """
    queries = _read_ids("query_ids", query_ids)
    ids = queries.distinct
    document, documents = (None, ids) if document_ids is None else encode_ids("document_ids", document_ids)

    def row_of(_: int, row: int | None) -> str:
        if row is None or row >= queries.rows:
            return f"row {row}"
        return f"query {shown(ids[int(queries.codes[row])].as_py())}, row {row}"

    score = read_flat_column("predictions", predictions, row_of)
    relevance = read_flat_column("references", references, row_of, ignore_index)
    rows = {"predictions": len(score.values), "references": len(relevance.values), "query_ids": queries.rows}
    if document is not None:
        rows["document_ids"] = len(document)
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name} {length}" for name, length in rows.items())
        hint = "first join tables of different rows by query and document, outer (docs/forms.md)"
        raise ValueError(
            f"with query_ids, all are flat and of one length, a row per document; got {lengths} rows; {hint}"
        )
    order, offsets = queries.grouped()
    if document is not None:
        codes = queries.codes
        _refuse_repeated(
            codes, document, lambda row: f"{row_of(0, row)}: document {shown(documents[document[row]].as_py())}"
        )
        if by_docid:
            kind = pa.large_binary() if id_kind(documents.type) == "bytes" else pa.large_string()
            text = _ordinals(documents.cast(kind))
            order = _sort_ties(order, codes, score.values, lambda tied: text[document[tied]])

    def place(query: int, position: int | None) -> str:
        row = "" if position is None else f", row {np.arange(queries.rows)[order][offsets[query] + position]}"
        return f"query {shown(ids[query].as_py())}{row}"

    score, relevance = _map_in_threads(lambda side: side.reordered(order, offsets), (score, relevance), queries.rows)
    retrieved = score.values > -np.inf
    if score.present is not None:
        retrieved &= score.present
    missing = ~np.logical_or.reduceat(retrieved, offsets[:-1]) if len(ids) else None
    if excluded is not None:
        kept = ~excluded(queries.codes, ids, document, documents)[order]
        score, relevance = score.only(kept), relevance.only(kept)
    return Joined(score, relevance, place, ids, missing)


def _refuse_repeated(query: NDArray[np.int64], document: NDArray[np.int64], place: Callable[[int], str]) -> None:
    """Raise an error for a document that a query has in two rows."""
    pairs = query * (int(document.max(initial=0)) + 1) + document
    ascending = np.sort(pairs)
    if (repeated := ascending[1:][ascending[1:] == ascending[:-1]]).size:
        first, second = np.flatnonzero(pairs == repeated[0])[:2]
        raise ValueError(f"document_ids: {place(int(second))} is in row {first} already; give it once for a query")


class _Ids(NamedTuple):
    """The ids of rows, one for each stretch of rows of the same id.

    Attributes:
        distinct: the distinct ids, in the order of their first rows.
        code: of each stretch, an index into these.
        starts: the first row of each stretch, and the number of rows; None if each row counts as one.
    """

    distinct: pa.Array
    code: NDArray[np.int64]
    starts: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.code) if self.starts is None else int(self.starts[-1])

    @property
    def codes(self) -> NDArray[np.int64]:
        """An index into the distinct ids for each row."""
        return self.code if self.starts is None else np.repeat(self.code, np.diff(self.starts))

    def grouped(self) -> tuple[Order, NDArray[np.int64]]:
        """Return what orders rows by id, those of an id as they come, and where each id begins."""
        if self.starts is not None and len(self.code) == len(self.distinct):
            return slice(None), self.starts
        return grouped(self.codes, len(self.distinct))


def encode_ids(argument: str, values: Any) -> tuple[NDArray[np.int64], pa.Array]:
    """Return for each row an index into the distinct ids, which are in the order of their first rows."""
    ids = _read_ids(argument, values)
    return ids.codes, ids.distinct


def _read_ids(argument: str, values: Any) -> _Ids:
    """Return the ids of rows.

    Raises:
        ValueError: ids that cannot be read.
    """
    ids = _id_column(argument, values)
    if pa.types.is_dictionary(ids.type) and id_kind(ids.type.value_type):
        ids = decoded(ids)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null())[0])
        raise ValueError(f"{argument}: row {row}: is None; give each row an id")
    if len(ids) and not id_kind(ids.type):
        kind = shown(str(ids.type))[1:-1]
        raise ValueError(f"{argument} must be integers or strings, one per row; got {kind}; give others as text")
    if id_kind(ids.type) in ("dates", "times"):
        _refuse_hidden(argument, ids)
    return _encoded(
        ids.cast(pa.large_string()) if pa.types.is_string_view(ids.type) else ids
    )  # Arrow 21 compares no views


def _encoded(ids: "pa.Array | pa.ChunkedArray") -> _Ids:
    """Return ids that are looked up one by one or, if equal ids follow each other, only the first of these."""
    if len(ids) and len(_heads(ids[:PROBE])) <= min(len(ids), PROBE) // 4:
        heads = _heads(ids)
        return _encoded(ids.take(pa.array(heads)))._replace(starts=np.append(heads, len(ids)))
    parts = [part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in _split_rows(ids)]
    encoded = pa.chunked_array(_map_in_threads(pc.dictionary_encode, parts, len(ids))).unify_dictionaries()
    codes = np.concatenate([part.indices for part in encoded.chunks], dtype=np.int64)
    return _Ids(encoded.chunk(0).dictionary, codes)


def _heads(ids: "pa.Array | pa.ChunkedArray") -> NDArray[np.int64]:
    """Return the first row of each stretch of equal ids."""
    if len(ids) < 2:  # nothing to compare, on which Arrow 21 crashes
        return np.zeros(len(ids), np.int64)

    def changes(pair: tuple[Any, Any]) -> NDArray[np.int64]:
        return np.asarray(pc.indices_nonzero(pc.not_equal(*pair)).to_numpy().astype(np.int64))

    pairs = list(zip(_split_rows(ids[1:]), _split_rows(ids[:-1]), strict=True))
    starts = offsets_of([len(rows) for rows, _ in pairs]) + 1
    return np.concatenate([[0], *map(np.add, starts, _map_in_threads(changes, pairs, len(ids)))])


def _id_column(argument: str, ids: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column."""
    if isinstance(ids, ARROW):
        return ids
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise ValueError(f"{argument} must be flat, an id for each row; got {ids.ndim}-D")
        if ids.dtype.kind == "T":
            ids = ids.astype(object)  # not every pyarrow reads NumPy's own strings
        elif ids.dtype.kind in "iu":
            ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    elif not isinstance(ids, (list, tuple)):
        found = f"the text {shown(ids)}; give the column" if isinstance(ids, str) else type(ids).__name__
        raise ValueError(f"{argument} must be integers or strings, one per row; got {found}")
    try:
        try:
            found = pa.array(ids)
        except OverflowError:
            return pa.array(ids, pa.uint64())
        if id_kind(found.type) in ("bytes", "dates", "times") and isinstance(ids, (list, tuple)):
            _refuse_mixed(argument, ids)  # Arrow makes one type of these, in which different ids may be equal
        return found
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError) as error:
        first: dict[type, str] = {}
        for row, each in enumerate(ids):
            if each is not None:
                first.setdefault(type(each), f"{shown(each)} in row {row}")
        found = in_short(error) if len(first) == 1 else " and ".join(list(first.values())[:2])
        raise ValueError(
            f"{argument} must be all text or all integers of at most 64 bits; got {found}; give all as text"
        ) from None


def _refuse_mixed(argument: str, ids: Sequence[Any]) -> None:
    """Raise an error for ids of two kinds, such as bytes beside text, or dates beside times."""
    first: dict[str, str] = {}
    for row, each in enumerate(ids):
        if each is not None:
            first.setdefault(id_kind(type(each)), f"{shown(each)} in row {row}")
    if len(first) > 1:
        found = " and ".join(list(first.values())[:2])
        raise ValueError(f"{argument} must be of one kind; got {found}; give all as text")


def _refuse_hidden(argument: str, ids: "pa.Array | pa.ChunkedArray") -> None:
    """Raise an error for times that Python or Arrow cannot show: of years out of range or an unknown zone."""
    try:
        for extreme in pc.min_max(ids).values():
            extreme.as_py()
            extreme.cast(pa.string())
    except Exception as error:  # noqa: BLE001 - the library of time zones is one of several
        problem = f"hold times that cannot be shown ({ids.type}): {in_short(error)}"
        raise ValueError(f"{argument}: {problem}; give integers or times as text") from None


# Mappings and files


def join_by_id(predictions: Any, references: Any, by_docid: bool, ignore_index: float | None) -> Joined:
    """Join mappings or files: of each query of the references the retrieved documents, then those only judged.

    Raises:
        ValueError: values that are no numbers, ids that have nothing in common. Names the query and document.
    """
    if isinstance(predictions, Mapping) and isinstance(references, Mapping):
        return _join_mappings(predictions, references, by_docid, ignore_index)
    run, qrels = _side_columns("predictions", predictions), _side_columns("references", references, ignore_index)
    return _join_columns(run, qrels, by_docid, ignore_index)


def _join_mappings(predictions: Side, references: Side, by_docid: bool, ignore_index: float | None) -> Joined:
    if predictions and references and predictions.keys().isdisjoint(references):
        raise _nothing_shared(next(iter(predictions)), next(iter(references)))
    scores: list[Any] = []
    relevances: list[Any] = []
    is_retrieved = bytearray()
    lengths = []
    id_types: set[type] = set()
    value_types: set[type] = {NoneType}
    for query, judged in references.items():
        run = predictions.get(query, {})
        id_types.update(map(type, run), map(type, judged))
        value_types.update(map(type, judged.values()))
        if by_docid:
            run = {document: run[document] for document in _ascending(run)}
        scores.extend(run.values())
        relevances.extend(map(judged.get, run))  # None if not judged
        missing = [document for document in judged if document not in run]
        scores.extend(repeat(0, len(missing)))
        relevances.extend(map(judged.__getitem__, missing))
        is_retrieved += b"\1" * len(run) + b"\0" * len(missing)
        lengths.append(len(run) + len(missing))
    if not all(map(id_kind, id_types)):
        check_ids("predictions", predictions)
        check_ids("references", references)

    def place(query: int, position: int | None) -> str:
        name = list(references)[query]
        run = predictions.get(name, {})
        documents = _ascending(run) if by_docid else list(run)
        documents += [document for document in references[name] if document not in run]
        return f"query {shown(name)}" + ("" if position is None else f", document {shown(documents[position])}")

    offsets = offsets_of(lengths)
    score = read_numbers("predictions", [scores], offsets, place)
    relevance = read_numbers("references", [relevances], offsets, place, ignore_index, value_types)
    retrieved = np.frombuffer(is_retrieved, bool)
    both = retrieved if relevance.present is None else retrieved & relevance.present
    if not both.any() and (types := _id_types(predictions, references)):
        found = f"ids are {types[0]} in the predictions, {types[1]} in the references"
        raise ValueError(f"predictions: no document is one of the references'; {found}; give one type for both")
    lacking = np.fromiter((query not in predictions for query in references), bool, len(references))
    return Joined(score.only(retrieved), relevance, place, list(references), lacking)


def _nothing_shared(predicted: Any, referred: Any) -> ValueError:
    """Return the error for sides without a query in common."""
    ids = f"{shown(predicted)} in the predictions, {shown(referred)} in the references"
    return ValueError(f"predictions: no query is one of the references'; ids are such as {ids}")


def _id_types(*sides: Side) -> list[str] | None:
    """Return the types of the ids of documents, if the sides have none in common."""
    types = [{type(document) for documents in side.values() for document in documents} for side in sides]
    if not all(types) or types[0] & types[1]:
        return None
    return [" and ".join(sorted(each.__name__ for each in side)) for side in types]


def _ascending(documents: Mapping[Any, Any]) -> list[Any]:
    """Return document ids in ascending order, as text as trec_eval has them."""
    return sorted(documents, key=str)


def _side_columns(argument: str, side: Any, ignore_index: float | None = None) -> Columns:
    """Return one side as columns; padding in them is ``ignore_index`` in float64, whatever its type was."""
    if isinstance(side, Columns):
        return side
    queries = _strings(argument, "query ids", list(side))
    lengths = [len(documents) for documents in side.values()]
    try:
        documents = _strings(argument, "document ids", list(chain.from_iterable(side.values())))
    except ValueError:  # say of which query
        for query, of_query in side.items():
            _strings(f"{argument}: query {shown(query)}", "document ids", list(of_query))
        raise

    def place(query: int, position: int | None) -> str:
        name = list(side)[query]
        return f"query {shown(name)}, document {shown(list(side[name])[position or 0])}"

    given = list(chain.from_iterable(each.values() for each in side.values()))
    offsets = offsets_of(lengths)
    column = read_numbers(argument, [given], offsets, place, ignore_index)
    query = np.repeat(np.arange(len(lengths)), lengths)
    if column.values.dtype.kind in "iu" and (large := np.flatnonzero(beyond_2_53(column.values))).size:
        at = int(large[0])
        problem = f"{shown(given[at])} may be rounded beside a file's numbers; give both sides as mappings"
        raise ValueError(f"{argument}: {place(int(query[at]), at - int(offsets[query[at]]))}: {problem}")
    values = column.values.astype(np.float64)
    if column.padding is not None:
        values[column.padding] = ignore_index
    documents = pa.chunked_array(getattr(documents, "chunks", [documents]))
    columns = Columns(query, queries, documents, values, hashes_of(documents))
    return columns if column.present is None else columns.only(column.present)


def _strings(argument: str, what: str, ids: list[Any]) -> pa.StringArray:
    """Return ids as an Arrow array, if they are strings that a file can hold."""
    if not all(isinstance(each, str) for each in ids):
        first = next(each for each in ids if not isinstance(each, str))
        raise ValueError(f"{argument}: {what} must be strings, as in a file; got {shown(first)}")
    try:
        return pa.array(ids, pa.string())
    except UnicodeEncodeError as error:
        found = f"got {shown(error.object)}, which UTF-8 cannot encode"
        hint = "decode ids in their own encoding, without errors='surrogateescape'"
        raise ValueError(f"{argument}: {what} must be Unicode text, as in a file; {found}; {hint}") from None


def _join_columns(run: Columns, qrels: Columns, by_docid: bool, ignore_index: float | None) -> Joined:
    known = pc.fill_null(pc.index_in(run.query_ids, qrels.query_ids), -1).to_numpy().astype(np.int64)
    if len(known) and len(qrels.query_ids) and (known < 0).all():
        raise _nothing_shared(run.query_ids[0].as_py(), qrels.query_ids[0].as_py())
    if (known != np.arange(len(known))).any():
        run = run._replace(query=known[run.query])
    if (known < 0).any():  # queries without judgments are left out
        run = run.only(run.query >= 0)
    first, second = same_rows(run, qrels)
    second -= len(run.query)
    retrieved = np.zeros(len(qrels.query), bool)
    retrieved[second] = True
    order, until = grouped(run.query, len(qrels.query_ids))
    if by_docid:
        order = _sort_ties(order, run.query, run.value, lambda tied: _ordinals(run.document.take(pa.array(tied))))
    # of each query, the documents of the run come first, then those that it lacks
    lacked = np.flatnonzero(~retrieved)
    in_order, until_lacked = grouped(qrels.query[lacked], len(qrels.query_ids))
    lacked = lacked[in_order]
    at = until[qrels.query[lacked] + 1]

    def place(index: int, position: int | None) -> str:
        name = f"query {shown(qrels.query_ids[index].as_py())}"
        if position is None:
            return name
        rows = np.arange(len(run.query))[order][until[index] : until[index + 1]]
        if position < len(rows):
            return f"{name}, document {shown(run.document[int(rows[position])].as_py())}"
        row = lacked[until_lacked[index] + position - len(rows)]
        return f"{name}, document {shown(qrels.document[int(row)].as_py())}"

    offsets = until + until_lacked
    score = np.insert(run.value[order], at, -np.inf) if len(lacked) else run.value[order]
    before = until_lacked[run.query[first]]
    if not isinstance(order, slice):
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = rank[first]
    rows = np.concatenate([first + before, at + np.arange(len(lacked))])
    judged, relevance = np.zeros(len(score), bool), np.zeros(len(score))
    judged[rows], relevance[rows] = True, qrels.value[np.concatenate([second, lacked])]
    missing = np.ones(len(qrels.query_ids), bool)
    missing[known[known >= 0]] = False
    padding = is_padding(relevance, ignore_index)
    references = Column(relevance, offsets, padding=padding).only(judged)
    return Joined(Column(score, offsets), references, place, qrels.query_ids, missing)


# The order of rows


def _sort_ties(
    order: Order,
    query: NDArray[np.int64],
    score: NDArray[Any],
    ordinals: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> Order:
    """Return an order by query in which tied rows are in ascending order of their document's ordinal."""
    at = tied_rows(query[order], score[order])
    if not len(at):
        return order
    order = np.arange(len(query))[order]
    tied = order[at]
    order[at] = tied[np.lexsort((ordinals(tied), query[tied]))]
    return order


def tied_rows(query: NDArray[np.int64], score: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows of retrieved documents whose query has another of that score.

    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .1, .5, .5])).tolist()
    [0, 2]
    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .5, .1, .5])).tolist()
    [0, 1]
    """
    are_in_order = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (score[1:] <= score[:-1]))
    order: Order = slice(None) if are_in_order.all() else np.lexsort((score, query))
    query, score = query[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    member = np.zeros(len(query), bool)
    member[1:] = same
    member[:-1] |= same
    member &= score > -np.inf
    return np.flatnonzero(member) if isinstance(order, slice) else np.sort(order[member])


def _ordinals(ids: pa.Array) -> NDArray[np.int64]:
    """Return where each id stands in ascending order."""
    return np.asarray(pc.rank(ids, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64))


# Threads


def _split_rows(rows: "pa.Array | pa.ChunkedArray") -> "list[pa.Array | pa.ChunkedArray]":
    """Return the rows in one part, or in one for each thread if there are many."""
    step = -(-len(rows) // pa.cpu_count()) if len(rows) > THREADED else max(len(rows), 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)] or [rows]


def _map_in_threads(work: Callable[[Any], Mapped], over: Sequence[Any], rows: int) -> list[Mapped]:
    """Return what a function makes of each, in threads if there are many rows."""
    if rows <= THREADED:
        return [work(each) for each in over]
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        return list(pool.map(work, over))
