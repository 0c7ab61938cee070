"""Any form of rankings -> aligned arrays of relevance and score.

People hold rankings by position, as nested lists, arrays, tensors or columns of lists; flat,
one row per document with the id of its query; or by the ids of queries and documents. ``read``
turns each form into :class:`Rankings`: the values of all queries one after the other, where
each query begins, and two masks that say which documents were judged and which retrieved.
Arrays, tensors and Arrow columns are used where they lie; only lists and mappings are converted.
"""

import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, pairwise, repeat
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .files import Columns as Columns

Result = TypeVar("Result")

# Queries of nested lists and of chunked columns are handed on in parts of about this many documents; flat
# columns of more are read in threads.
PART = 1 << 20


class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel takes.

    Attributes:
        relevance: shape ``(queries, documents)``, or 1-D with ``offsets``.
        score: as ``relevance``.
        offsets: where each query begins, from 0, and the last one ends: int64 of shape
            ``(queries + 1,)``; None for 2-D arrays.
        judged: False where the relevance is missing; None if none is.
        retrieved: False where the score is missing; None if none is.
        place: words for a query, by its index, and a document in it, by its position or None,
            where people know them by ids.
        query_ids: the id of each query, where they have ids.
        padding: True where the relevance marks padding, until ``read`` has left it out; None if none does.
    """

    relevance: NDArray[Any]
    score: NDArray[Any]
    offsets: NDArray[np.int64] | None = None
    judged: NDArray[np.bool_] | None = None
    retrieved: NDArray[np.bool_] | None = None
    place: Callable[[int, int | None], str] | None = None
    query_ids: Sequence[Any] | pa.Array | None = None
    padding: NDArray[np.bool_] | None = None

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.relevance) if self.offsets is None else len(self.offsets) - 1

    def arrays(self) -> dict[str, Any]:
        """What the kernel takes, by name."""
        return {name: value for name, value in self._asdict().items() if name not in ("place", "query_ids", "padding")}

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """How many documents of each query were retrieved, judged, and judged relevant.

        >>> {name: counts.tolist() for name, counts in read([[.9, None, .1]], [[1, 2, None]]).counts().items()}
        {'retrieved': [2], 'judged': [2], 'relevant': [2], 'retrieved and judged': [1]}
        """
        everything = np.ones(self.relevance.shape, bool)
        judged = everything if self.judged is None else self.judged
        retrieved = (everything if self.retrieved is None else self.retrieved) & (self.score > -np.inf)
        return {
            "retrieved": self._sums(retrieved),
            "judged": self._sums(judged),
            "relevant": self._sums(judged & (self.relevance > 0)),
            "retrieved and judged": self._sums(retrieved & judged),
        }

    def _sums(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        if self.offsets is None:
            return np.asarray(mask.sum(axis=1, dtype=np.int64))
        until = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(until[self.offsets[1:]] - until[self.offsets[:-1]])


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 100


def shown(value: Any) -> str:
    """Return a value as error messages show it: in one line, and shortened if it is long.

    >>> shown("d1"), shown([*range(9)])
    ("'d1'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # Python prints integers up to a number of digits only
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return " ".join(text.splitlines())


def _raise_if_ours(error: BaseException) -> None:
    """Raise an error again unless a library raises it of its values; a panic of one in Rust is no Exception."""
    of_library = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    if isinstance(error, MemoryError) or not of_library:
        raise error


def _in_short(error: BaseException) -> str:
    """What a library says of an error, in one line."""
    return " ".join(str(error).split())[:200].rstrip(".")


class _Column(NamedTuple):
    """One side of the rankings; ``padding`` is found in the type that the values were given in."""

    values: NDArray[Any]
    offsets: NDArray[np.int64] | None
    present: NDArray[np.bool_] | None
    padding: NDArray[np.bool_] | None = None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of documents of each query."""
        if self.offsets is not None:
            return self.offsets[1:] - self.offsets[:-1]
        return np.full(len(self.values), self.values.shape[1], np.int64)

    def flat(self) -> "_Column":
        """The same documents in 1-D arrays."""
        if self.offsets is not None:
            return self
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        present, padding = (None if each is None else each.ravel() for each in (self.present, self.padding))
        return _Column(self.values.ravel(), offsets, present, padding)


def read(
    predictions: Any,
    references: Any,
    *,
    query_ids: Any = None,
    document_ids: Any = None,
    ignore_index: float | None = None,
    judged_only: bool = False,
    by_docid: bool = False,
) -> Rankings:
    """Align predictions and references.

    Args:
        predictions: the score of each document of each query: a 2-D array (masked too), a
            sequence of 1-D arrays or of sequences, a column of lists that Arrow can read; with
            ``query_ids`` one score after the other; or a mapping ``{query: {document: score}}``
            or :class:`Columns`. None, a masked value or ``-inf`` marks a document that was not
            retrieved.
        references: their relevance, likewise. None or a masked value marks a document that
            was not judged.
        query_ids: for flat predictions and references, the id of each row's query: integers or
            strings. Rows of a query need not be next to each other.
        document_ids: with ``query_ids``, the id of each row's document, likewise.
        ignore_index: the reference that marks padding: such a document is no part of the ranking.
            It is compared in the type of each reference: in float32, 1e30 marks what float32 makes of it.
        judged_only: leave out documents that were not judged.
        by_docid: give documents of equal score in ascending order of their ids, as text, so that a
            ranking that puts the last of them first ranks them as trec_eval does. Documents by
            position have no ids and keep their order.

    Returns:
        The rankings. Arrays are not copied, but for ragged lists of them. Queries are in the order
        of the references, flat ones in that of their first rows.

    Raises:
        ValueError: values that are no numbers, or other queries or documents on one side
            than on the other; a document twice in a query; with ``by_docid``, flat rows whose
            order only ``document_ids`` could tell. Names the argument, query and position.

    >>> read([[.9, None], [.1]], [[1, 2], [0]]).retrieved.tolist()
    [True, False, True]
    >>> read({"q": {"a": .9, "b": .1}}, {"q": {"b": 1, "c": 2}}).retrieved.tolist()
    [True, True, False]
    """
    predictions, references, query_ids, document_ids = settled(
        predictions=predictions, references=references, query_ids=query_ids, document_ids=document_ids
    )
    for argument, side in (("predictions", predictions), ("references", references)):
        if isinstance(side, Mapping):
            _refuse_flat_mapping(argument, side)
    by_id = [isinstance(side, (Mapping, Columns)) for side in (predictions, references)]
    if by_id[0] != by_id[1]:
        kinds = [
            "by ids" if each else f"by position ({type(side).__name__})"
            for each, side in zip(by_id, (predictions, references), strict=True)
        ]
        raise ValueError(f"predictions are {kinds[0]} and references {kinds[1]}; give both in one way")
    if query_ids is not None and by_id[0]:
        raise ValueError("query_ids are for flat predictions and references; a mapping or a file has ids of its own")
    if document_ids is not None and query_ids is None:
        raise ValueError("document_ids are for flat predictions and references; give query_ids too")
    if query_ids is not None:
        rankings = _flat(predictions, references, query_ids, document_ids, by_docid, ignore_index)
    elif not by_id[0]:
        rankings = _by_position(_column("predictions", predictions), _column("references", references, ignore_index))
    elif isinstance(predictions, Mapping) and isinstance(references, Mapping):
        rankings = _mappings(predictions, references, by_docid, ignore_index)
    else:
        run, qrels = _columns("predictions", predictions), _columns("references", references, ignore_index)
        rankings = _joined(run, qrels, by_docid, ignore_index)
    rankings = _without(rankings, judged_only)
    if by_docid and query_ids is not None and document_ids is None:
        _refuse_open_ties(rankings)
    return rankings


def parts(predictions: Any, references: Any, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part where they are nested lists or columns of one chunked table.

    >>> table = pa.table({"predictions": [[.9, .1]], "references": [[1., 0.]]})
    >>> [part.queries for part in parts(table["predictions"], table["references"])]
    [1]
    """
    predictions, references, how["query_ids"], how["document_ids"] = settled(
        predictions=predictions,
        references=references,
        query_ids=how.get("query_ids"),
        document_ids=how.get("document_ids"),
    )
    for sides in _pieces(predictions, references) if how["query_ids"] is None else [(predictions, references)]:
        try:
            rankings = read(*sides, **how)
        except ValueError:
            if sides[0] is not predictions:  # say the same of the query as all of them are counted
                read(predictions, references, **how)
            raise
        yield rankings


def _pieces(predictions: Any, references: Any) -> Iterator[tuple[Any, Any]]:
    """Both sides in pieces of about PART documents where they are chunked or nested lists, as copies are small then."""
    sides = predictions, references
    chunked = all(
        isinstance(side, pa.ChunkedArray) and (pa.types.is_list(side.type) or pa.types.is_large_list(side.type))
        for side in sides
    )
    nested = all(isinstance(side, (list, tuple)) and side and isinstance(side[0], (list, tuple)) for side in sides)
    if not (chunked or nested) or len(predictions) != len(references):
        yield sides
    elif chunked:
        pending: list[pa.RecordBatch] = []
        documents = 0
        for batch in pa.table({"predictions": predictions, "references": references}).to_batches():
            pending.append(batch)
            documents += pc.sum(pc.list_value_length(batch["predictions"])).as_py() or 0
            if documents >= PART:
                yield _together(pending)
                pending, documents = [], 0
        if pending:
            yield _together(pending)
    else:
        try:
            part = np.cumsum(np.fromiter(map(len, predictions), np.int64)) // PART
        except TypeError:  # a row is no list, as reading all of them will say
            part = np.zeros(1, np.int64)
        for start, end in pairwise([0, *np.flatnonzero(part[1:] != part[:-1]) + 1, len(predictions)]):
            yield predictions[start:end], references[start:end]


def _together(batches: list[pa.RecordBatch]) -> tuple[pa.Array, pa.Array]:
    """Batches as one; a single one is not copied."""
    columns = [[batch[name] for batch in batches] for name in ("predictions", "references")]
    score, relevance = (column[0] if len(column) == 1 else pa.concat_arrays(column) for column in columns)
    return score, relevance


def _without(rankings: Rankings, judged_only: bool) -> Rankings:
    """The rankings without padding, and without the unjudged if only the judged are asked for."""
    judged, retrieved = rankings.judged, rankings.retrieved
    if rankings.padding is not None and rankings.padding.any():
        kept = ~rankings.padding
        if judged is not None:
            kept |= ~judged  # what has no relevance is no padding
        judged = kept if judged is None else judged & kept
        retrieved = kept if retrieved is None else retrieved & kept
    if judged_only and judged is not None:
        kept = judged | ~(rankings.score < np.inf)  # what is no score stays, to be refused
        retrieved = kept if retrieved is None else retrieved & kept
    return rankings._replace(judged=judged, retrieved=retrieved, padding=None)


class Widened(np.ndarray[Any, Any]):
    """Values of a float type that NumPy lacks, in float32, with the function that rounds a number to that type."""

    held: Callable[[float], float] | None = None

    def __array_finalize__(self, of: Any) -> None:
        self.held = getattr(of, "held", None)


def marked(values: NDArray[Any], ignore_index: float | None) -> NDArray[np.bool_] | None:
    """Return where values are the reference of padding as their own type holds it; None if there is no such reference.

    >>> marked(np.array([1, 1e30], np.float32), 1e30).tolist()
    [False, True]
    """
    if ignore_index is None:
        return None
    with np.errstate(over="ignore"):  # a float too large for the type is infinite in it
        if isinstance(values, Widened) and values.held is not None:
            ignore_index = values.held(ignore_index)
        elif _is_narrow(values.dtype):
            ignore_index = float(np.asarray(ignore_index, np.float64).astype(values.dtype))
            values = np.asarray(values).astype(np.float32)
        elif values.dtype == bool:  # NumPy compares bools with integers of 64 bits only
            values = np.asarray(values).view(np.uint8)
        return np.asarray(np.asarray(values) == ignore_index)


def _marked_list(values: list[Any], array: NDArray[Any], ignore_index: float | None) -> NDArray[np.bool_] | None:
    """As ``marked``, of the array that was made of a list of numbers and None, each in its own type."""
    if ignore_index is None or (kinds := set(map(type, values))) <= {bool, int, float, type(None)}:
        return marked(array, ignore_index)
    own = {kind for kind in kinds if issubclass(kind, np.generic) or not _is_number(kind)} - {type(None)}
    return np.array([_is_marked(each, ignore_index) if type(each) in own else each == ignore_index for each in values])


def _is_marked(value: Any, ignore_index: float) -> bool:
    """Whether a number of NumPy or of another library is the reference of padding as its type holds it."""
    return bool(np.any(marked(np.asanyarray(_converted(value)), ignore_index)))


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether it is a float type of JAX and TensorFlow that float32 holds exactly."""
    return dtype.isbuiltin == 2 and dtype.name.startswith(("bfloat16", "float8"))


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Predictions and references as Arrow lists; missing as nulls.

    Floats, and integers of up to 16 bits, keep their type, in which ``ignore_index`` is compared; others are float64.

    Raises:
        ValueError: integers that float64 cannot tell apart.
    """
    score = _Column(rankings.score, rankings.offsets, rankings.retrieved).flat()
    relevance = _Column(rankings.relevance, rankings.offsets, rankings.judged).flat()
    lists = []
    for argument, column in (("predictions", score), ("references", relevance)):
        missing = None if column.present is None else ~column.present
        kind = column.values.dtype
        narrow = kind.itemsize <= (4 if kind.kind == "f" else 2)
        try:
            values = pa.array(column.values, mask=missing)
            values = values if narrow else values.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise ValueError(f"{argument}: integers beyond 2**53 cannot be stored exactly: {error}") from None
        lists.append(pa.ListArray.from_arrays(pa.array(column.offsets, pa.int32()), values))
    return lists[0], lists[1]


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return columns ``predictions`` and ``references`` of lists with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))


# Rankings by position


def _by_position(score: _Column, relevance: _Column) -> Rankings:
    """Two sides of the same queries and documents."""
    if score.offsets is None and relevance.offsets is None and score.values.shape == relevance.values.shape:
        masks = relevance.present, score.present
        return Rankings(relevance.values, score.values, None, *masks, padding=relevance.padding)
    scored, judged = score.lengths, relevance.lengths
    if len(scored) != len(judged):
        raise ValueError(
            f"predictions hold {len(scored)} queries and references {len(judged)}; give both for every query"
        )
    if (different := scored != judged).any():
        query = int(np.flatnonzero(different)[0])
        raise ValueError(
            f"query {query}: {scored[query]} predictions and {judged[query]} references; give "
            "both for every document, None for the score of one not retrieved or the relevance of one not judged"
        )
    score, relevance = score.flat(), relevance.flat()
    masks = relevance.present, score.present
    return Rankings(relevance.values, score.values, score.offsets, *masks, padding=relevance.padding)


def settled(**arguments: Any) -> list[Any]:
    """Convert tensors and columns of other libraries, each once, as ``plain`` does.

    Raises:
        ValueError: an argument that cannot be converted, two that are queries to a database, or
            columns of pandas with different indexes.
    """
    queries = {id(values): name for name, values in arguments.items() if is_query(values)}
    if len(queries) > 1:
        first, second, *_ = queries.values()
        raise ValueError(
            f"{second}: is a query of its own ({type(arguments[second]).__name__}), as {first} is, and the rows of two "
            "queries come in no common order; run one query for all columns and give the columns of its table: "
            "table = relation.to_arrow_table(); predictions=table['score'], references=table['relevance']"
        )
    indexes = {name: values.index for name, values in arguments.items() if _has_index(values)}
    for name, index in indexes.items():
        first = next(iter(indexes))
        if index is not indexes[first] and not index.equals(indexes[first]):
            raise ValueError(
                f"{name}: has another index than {first}, and rows are taken in their order, whatever the index; "
                "give columns of one table, or .to_numpy() of each if their order is right"
            )
    found: dict[int, Any] = {}
    for name, values in arguments.items():
        if id(values) not in found:
            found[id(values)] = plain(name, values)
    return [found[id(values)] for values in arguments.values()]


def _has_index(values: Any) -> bool:
    """Whether its rows have names, as those of pandas do."""
    return type(values).__module__.partition(".")[0] == "pandas" and hasattr(getattr(values, "index", None), "equals")


def is_query(values: Any) -> bool:
    """Whether reading it runs a query, or takes what is left of one, so that its rows are in an order of their own."""
    library = type(values).__module__.partition(".")[0].lstrip("_")
    return isinstance(values, pa.RecordBatchReader) or (library in DATABASES and hasattr(values, "__arrow_c_stream__"))


DATABASES = ("chdb", "daft", "datafusion", "duckdb", "ibis", "pyspark", "sqlframe")


def plain(argument: str, values: Any) -> Any:
    """Convert a tensor or a column of another library to a NumPy or Arrow array; return others as they are.

    Raises:
        ValueError: its library cannot convert it, or it is a table of several columns. Names the argument.

    >>> plain("predictions", memoryview(b"12")) == memoryview(b"12")  # no column
    True
    """
    if isinstance(values, (list, tuple, Columns)):
        return values
    try:
        found = _converted(values)
    except BaseException as error:  # whatever its library raises says why
        _raise_if_ours(error)
        problem = _in_short(error)
        raise ValueError(
            f"{argument}: {type(values).__name__} cannot be read: {problem}; give lists, a dense NumPy array or an "
            "Arrow column"
        ) from error
    if isinstance(kind := getattr(found, "type", None), pa.BaseExtensionType):
        raise ValueError(f"{argument}: holds values of the type {kind}; give numbers, or ids as text")
    if names := _column_names(found):
        raise ValueError(
            f"{argument}: must be one column; got a table of columns {shown(names)}. If each row is a document, join "
            "both sides into one table by query and document and give its columns: predictions, references, "
            "query_ids and document_ids. If each row is a query, give its column of lists"
        )
    return found


def _converted(values: Any) -> Any:
    """The values as an array, by the first way that their library offers; without importing any."""
    if isinstance(values, (np.ndarray, pa.Array, pa.ChunkedArray, Mapping)):
        return values
    if type(values).__module__.partition(".")[0] == "torch" and hasattr(values, "detach"):
        if values.dtype.is_floating_point and str(values.dtype) not in FLOATS_OF_NUMPY:
            widened = values.float().numpy(force=True).view(Widened)
            widened.held = partial(_held, values.new_empty(0))
            return widened
        return values.numpy(force=True)
    if hasattr(values, "column_names") and hasattr(values, "with_format"):  # a Dataset
        return _converted(values[values.column_names[0]]) if len(values.column_names) == 1 else values
    if hasattr(values, "column_name") and hasattr(values, "__len__"):  # a column of datasets
        source = values.source
        if hasattr(source, "format") and source.format["type"] in (None, "arrow"):
            return type(values)(source.with_format("arrow"), values.column_name)[:]
        return _converted(values[:])
    if hasattr(values, "__arrow_c_stream__"):
        if (rows := _masked_rows(values)) is not None:
            return rows
        try:
            return _only_column(pa.chunked_array(values))
        except Exception:
            if getattr(values, "ndim", None) != 1:
                raise
            return np.asarray(values)  # a column that Arrow cannot hold, such as a sparse one or one of mixed objects
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if _has_index(values) and values.ndim == 1 and values.dtype.kind == "f":
        return pa.array(values, from_pandas=True)  # as newer pandas tells Arrow: NaN is a missing value
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return values


def _masked_rows(values: Any) -> list[Any] | None:
    """Return the rows of a column of objects, such as one of pandas, if some are masked arrays: Arrow drops masks."""
    if getattr(values, "ndim", None) == 2 and values.shape[1] == 1 and hasattr(values, "iloc"):
        values = values.iloc[:, 0]
    if str(getattr(values, "dtype", None)).lower() != "object":
        return None
    rows = list(values)
    return rows if any(isinstance(row, np.ma.MaskedArray) for row in rows) else None


def _held(of: Any, number: float) -> float:
    """Return a number as a tensor of PyTorch would hold it."""
    return float(of.new_tensor(float(number)))


FLOATS_OF_NUMPY = ("torch.float16", "torch.float32", "torch.float64")


def _column_names(values: Any) -> list[str]:
    """The names of the columns of a table; none for anything else."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)) and pa.types.is_struct(values.type):
        return [field.name for field in values.type]
    if isinstance(values, np.ndarray):
        return list(values.dtype.names or ())
    return list(values.column_names or ()) if hasattr(values, "with_format") else []


def _only_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column of a table that has one, besides pandas' index."""
    if not pa.types.is_struct(column.type):
        return column
    fields = [at for at, field in enumerate(column.type) if not field.name.startswith("__index_level_")]
    if len(fields) != 1:
        return column
    return pa.chunked_array([chunk.flatten()[fields[0]] for chunk in column.chunks], column.type.field(fields[0]).type)


def _column(argument: str, values: Any, ignore_index: float | None = None) -> _Column:
    """One side of the rankings from any form it comes in."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return _from_arrow(argument, values, ignore_index)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return _from_array(argument, values, ignore_index)
    if isinstance(values, np.ndarray):
        values = values.tolist()  # None where masked
    if not isinstance(values, (list, tuple)):
        raise ValueError(
            f"{argument} must hold one list of documents per query: nested lists, a 2-D array or tensor, a list of 1-D "
            f"arrays, a column of lists, a mapping or a TREC file; got {type(values).__name__}"
        )
    if not (kinds := set(map(type, values))) <= {list, tuple}:
        if not all(issubclass(kind, np.ndarray) for kind in kinds):
            values = [_row(f"{argument}: query {query}", row) for query, row in enumerate(values)]
            kinds = set(map(type, values))
        if all(issubclass(kind, np.ndarray) for kind in kinds) and np.dtype(object) not in map(DTYPE, values):
            return _from_arrays(argument, values, ignore_index)
    return _from_lists(argument, values, ignore_index)


DTYPE = attrgetter("dtype")


def _row(argument: str, values: Any) -> Any:
    """One query of a list, as NumPy's array if it is an array of another library."""
    if is_query(values):
        raise ValueError(
            f"{argument}: is a query to a database ({type(values).__name__}), whose rows come in no certain order; run "
            "it first and give the columns of its table: table = relation.to_arrow_table(); "
            "predictions=[table['score']], references=[table['relevance']]"
        )
    values = plain(argument, values)
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if not values.null_count:
        return values.to_numpy(zero_copy_only=False)
    if not _is_numeric(values.type):
        return values.to_pylist()
    mask = values.is_null().to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(_filled(values).to_numpy(zero_copy_only=False), mask)


def _from_array(argument: str, values: NDArray[Any], ignore_index: float | None) -> _Column:
    """A 2-D array, used where it lies."""
    if values.ndim != 2:
        raise ValueError(
            f"{argument} must be 2-D, one row of documents per query; got {values.ndim}-D of shape {values.shape}"
            + (
                "; for a single query, wrap it in a list, for a row per document give query_ids"
                if values.ndim == 1
                else ""
            )
        )
    present = ~np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    return _Column(_numeric(argument, values), None, present, marked(values, ignore_index))


def _from_arrays(
    argument: str, rows: "list[NDArray[Any]] | tuple[NDArray[Any], ...]", ignore_index: float | None
) -> _Column:
    """One 1-D array per query."""
    dimensions = list(map(attrgetter("ndim"), rows))
    if set(dimensions) != {1}:
        query, wrong = next((query, each) for query, each in enumerate(dimensions) if each != 1)
        raise ValueError(f"{argument}: query {query}: must be a 1-D array of documents; got {wrong}-D")
    found = list(map(DTYPE, rows))
    first = {dtype: found.index(dtype) for dtype in dict.fromkeys(found)}  # query of each kind
    dtypes = {dtype: _numeric(f"{argument}: query {query}", rows[query]).dtype for dtype, query in first.items()}
    present, arrays = None, rows
    if set(map(type, rows)) != {np.ndarray} or any(old != new for old, new in dtypes.items()):
        if any(map(np.ma.is_masked, rows)):
            present = ~np.concatenate([np.ma.getmaskarray(row) for row in rows])
        arrays = [np.asarray(row, dtypes[row.dtype]) for row in rows]
    values = np.concatenate(arrays)
    if set(dtypes) == {values.dtype} and Widened not in set(map(type, rows)):  # no row was widened
        padding = marked(values, ignore_index)
    else:
        padding = None if ignore_index is None else np.concatenate([marked(row, ignore_index) for row in rows])
    if len(dtypes) > 1 and values.dtype.kind == "f":
        for array in arrays:
            if array.dtype.kind in "iu" and _large(array).any():
                return _from_lists(argument, [row.tolist() for row in rows])._replace(padding=padding)
    return _Column(values, _offsets(map(len, rows)), present, padding)


def _from_arrow(argument: str, lists: pa.Array, ignore_index: float | None = None) -> _Column:
    """An Arrow list array, its values where they lie."""
    if any(test(lists.type) for test in OTHER_LISTS):
        offsets = _offsets(pc.fill_null(pc.list_value_length(lists), 0).to_pylist())
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), lists.flatten(), mask=lists.is_null())
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        kind = shown(str(lists.type))[1:-1]
        raise ValueError(
            f"{argument} must be a column of lists, one per query; got {kind}; for a row per document give query_ids"
        )
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise ValueError(f"{argument}: query {query}: is None; give a list, empty if nothing was retrieved or judged")
    offsets = lists.offsets.to_numpy().astype(np.int64)
    values = lists.values[offsets[0] : offsets[-1]]
    if not _is_numeric(values.type):
        raise ValueError(f"{argument} must hold numbers; got Arrow lists of {values.type}; cast them to double")
    present = None
    if values.null_count:
        present = values.is_valid().to_numpy(zero_copy_only=False)
        values = _filled(values)
    array = values.to_numpy(zero_copy_only=False)
    return _Column(array, offsets - offsets[0], present, marked(array, ignore_index))


def _is_numeric(kind: pa.DataType) -> bool:
    """Whether Arrow values of this type are numbers."""
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))


def _filled(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Numbers with 0 for nulls."""
    return values.fill_null(False if pa.types.is_boolean(values.type) else 0)


OTHER_LISTS = (pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)


def _from_lists(argument: str, rows: "list[Any] | tuple[Any, ...]", ignore_index: float | None = None) -> _Column:
    """Nested sequences of numbers and None."""
    given = rows
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]  # None where masked
        for query, row in enumerate(rows):
            if isinstance(row, (list, tuple)):
                continue
            if isinstance(row, Real):
                hint = "for a single query, wrap it in a list, for a row per document give query_ids"
                problem = f"is the number {shown(row)}, not a list of documents; {hint}"
            else:
                problem = f"must be a list of documents; got {type(row).__name__}"
            raise ValueError(f"{argument}: query {query}: {problem}")
    offsets = _offsets(map(len, rows))
    values = list(chain.from_iterable(rows))
    array, present = _from_values(argument, values, offsets)
    padding = None if ignore_index is None else _marked_list(values, array, ignore_index)
    if padding is not None:
        for query, row in enumerate(given):
            if isinstance(row, np.ndarray) and row.dtype != object:
                padding[offsets[query] : offsets[query + 1]] = marked(row, ignore_index)
    lengths = offsets[1:] - offsets[:-1]
    if len(rows) and (lengths == lengths[0]).all():
        shape = len(rows), int(lengths[0])
        present, padding = (None if each is None else each.reshape(shape) for each in (present, padding))
        return _Column(array.reshape(shape), None, present, padding)
    return _Column(array, offsets, present, padding)


def _numbered(query: int, position: int | None) -> str:
    """A place in rankings that have no ids."""
    return f"query {query}, position {position}"


def _from_values(
    argument: str,
    values: list[Any],
    offsets: NDArray[np.int64],
    place: Callable[[int, int | None], str] = _numbered,
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Numbers and None of several queries as one array, and where they are not None."""
    try:
        array = np.array(values)
    except BaseException as error:  # noqa: BLE001 - whatever NumPy or another library raises, one of them is no plain number
        _raise_if_ours(error)
        array = np.empty(0, object)
    usual = array.ndim == 1 and array.dtype.kind in "biuf" and array.dtype.itemsize <= 8
    if usual and (array.dtype.kind != "f" or float(np.abs(array).max(initial=0)) < 2**53):
        return array, None
    if usual and not (_large(array) | np.isnan(array)).any():  # NumPy makes NaN of a masked number
        return array, None
    return _one_by_one(argument, values, offsets, place)


def _one_by_one(
    argument: str, given: list[Any], offsets: NDArray[np.int64], place: Callable[[int, int | None], str]
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """As ``_from_values``; refuses what is no number or would be rounded."""

    def refuse(at: int, problem: str) -> ValueError:
        query = int(np.searchsorted(offsets, at, side="right")) - 1
        return ValueError(f"{argument}: {place(query, int(at - offsets[query]))}: {shown(given[at])} {problem}")

    foreign = {kind for kind in set(map(type, given)) if not _is_number(kind) and kind is not type(None)}
    values = [number(value) if type(value) in foreign else value for value in given] if foreign else given
    present = np.array([value is not None for value in values], bool)
    mask = None if present.all() else present
    values = [0 if value is None else value for value in values]
    kinds = set(map(type, values))
    for kind in kinds:
        if not _is_number(kind):
            at = next(at for at, value in enumerate(values) if type(value) is kind)
            raise refuse(at, "is not a number; give a number or None")
    if all(issubclass(kind, (Integral, np.bool_)) for kind in kinds):
        for dtype in ("int64", "uint64"):
            if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
                return np.array(values, dtype), mask
    try:
        array = np.array(values, np.float64)
    except OverflowError:  # an integer beyond all floats is refused below
        array = np.array([value if abs(value) < 2**1023 else math.inf for value in values], np.float64)
    usual = all(issubclass(kind, (float, Integral, np.bool_, np.float32, np.float16)) for kind in kinds)
    for at in np.flatnonzero(_large(array) | np.isinf(array)).tolist() if usual else range(len(values)):
        value = int(values[at]) if isinstance(values[at], Integral) else values[at]
        if float(array[at]) != value and value == value:  # and it is no NaN
            raise refuse(at, "would be rounded; give floats, or all integers of at most 64 bits")
    return array, mask


def _is_number(kind: type) -> bool:
    return issubclass(kind, (Real, np.bool_)) and not issubclass(kind, np.timedelta64)


def number(value: Any) -> Any:
    """Return a number of another library, such as a 0-d tensor, as Python's, None for a masked one; others as they are.

    >>> number(np.ma.masked), number(np.array(0.5)), number("0.5")
    (None, 0.5, '0.5')
    """
    try:
        array = _converted(value)
        if isinstance(array, np.ndarray) and array.ndim == 0:
            return None if np.ma.is_masked(array) else _numeric("number", array).item()
    except BaseException as error:  # noqa: BLE001 - whatever its library raises, it is no number then
        _raise_if_ours(error)
        return value
    return value


def _large(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where integers may be such that float64 cannot tell them from their neighbours."""
    if values.dtype.kind == "f":  # of narrower floats none was rounded
        size = np.abs(values) if values.dtype == np.float64 else np.zeros(values.shape)
        return np.asarray((size >= 2**53) & (size < math.inf))
    return (values >= 2**53) | (values <= -(2**53))


def _offsets(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Where each query begins, and the last one ends."""
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))])


def _numeric(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """The array without its mask, if its values are real numbers of at most 64 bits."""
    if _is_narrow(values.dtype):
        values = values.astype(np.float32)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise ValueError(f"{argument} must hold real numbers of at most 64 bits; got {values.dtype}")
    return np.asarray(values, values.dtype.newbyteorder("="))


# Flat rankings: a row per document


def _flat(
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any,
    by_docid: bool,
    ignore_index: float | None,
) -> Rankings:
    """Rows grouped by query; of a query they keep their order, but for ties by document ids."""
    codes, ids = _codes("query_ids", query_ids)
    document, documents = (None, ids) if document_ids is None else _codes("document_ids", document_ids)

    def row_of(_: int, row: int | None) -> str:
        query = f"query {shown(ids[int(codes[row])].as_py())}, " if row is not None and row < len(codes) else ""
        return f"{query}row {row}"

    score, relevance = flat("predictions", predictions, row_of), flat("references", references, row_of, ignore_index)
    rows = {"predictions": len(score.values), "references": len(relevance.values), "query_ids": len(codes)}
    if document is not None:
        rows["document_ids"] = len(document)
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name} {length}" for name, length in rows.items())
        raise ValueError(f"with query_ids, all are flat and of one length, a row per document; got {lengths} rows")
    order, offsets = _grouped(codes, len(ids))
    if document is not None:
        _refuse_repeated(
            codes, document, lambda row: f"{row_of(0, row)}: document {shown(documents[document[row]].as_py())}"
        )
        if by_docid:
            order = np.arange(len(codes))[order]
            tied = _tied(codes[order], score.values[order])
            as_bytes = any(test(documents.type) for test in BYTES)
            text = _ordinals(documents.cast(pa.large_binary() if as_bytes else pa.large_string()))
            order[tied] = order[tied][np.lexsort((text[document[order[tied]]], codes[order[tied]]))]
    given = [relevance.values, score.values]
    masks = [relevance.present, score.present, relevance.padding]
    values, scores = _side_by_side(lambda side: side[order], given, len(codes))
    judged, retrieved, padding = (None if each is None else each[order] for each in masks)

    def place(query: int, position: int | None) -> str:
        row = "" if position is None else f", row {np.arange(len(codes))[order][offsets[query] + position]}"
        return f"query {shown(ids[query].as_py())}{row}"

    return Rankings(values, scores, offsets, judged, retrieved, place, ids, padding)


def _refuse_repeated(query: NDArray[np.int64], document: NDArray[np.int64], place: Callable[[int], str]) -> None:
    """Raise an error for a document that a query has in two rows."""
    pairs = query * (int(document.max(initial=0)) + 1) + document
    ascending = np.sort(pairs)
    if (repeated := ascending[1:][ascending[1:] == ascending[:-1]]).size:
        first, second = np.flatnonzero(pairs == repeated[0])[:2]
        raise ValueError(f"document_ids: {place(int(second))} is in row {first} already; give it once for a query")


def _refuse_open_ties(rankings: Rankings) -> None:
    """Raise an error where the order of flat rows of equal score would decide, for want of document ids."""
    if rankings.offsets is None or rankings.place is None:
        return
    begins = rankings.offsets
    query = np.repeat(np.arange(rankings.queries), begins[1:] - begins[:-1])
    rows = np.arange(len(query)) if rankings.retrieved is None else np.flatnonzero(rankings.retrieved)
    rows = rows[_tied(query[rows], rankings.score[rows])]
    rows = rows[np.lexsort((rankings.score[rows], query[rows]))]
    judged = np.ones(len(query), bool) if rankings.judged is None else rankings.judged
    relevance = np.where(judged, rankings.relevance, 0)
    first, second = rows[:-1], rows[1:]
    together = (query[first] == query[second]) & (rankings.score[first] == rankings.score[second])
    unlike = (judged[first] != judged[second]) | (relevance[first] < relevance[second])
    unlike |= relevance[first] > relevance[second]  # NaN is neither, and refused elsewhere
    if (open_ties := together & unlike).any():
        at = int(open_ties.argmax())
        places = [rankings.place(int(query[row]), int(row - begins[query[row]])) for row in (first[at], second[at])]
        raise ValueError(
            f'document_ids are missing: {places[0]} and {places[1]} have one score, and ties="docid" (which '
            'convention="trec_eval" means) ranks them by the ids of their documents; give these as document_ids, or '
            'other ties, such as ties="average"'
        )


def flat(
    argument: str, values: Any, place: Callable[[int, int | None], str], ignore_index: float | None = None
) -> _Column:
    """One flat side: numbers, None or masked where missing."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array) and not pa.types.is_nested(values.type):
        return _from_arrow(argument, pa.LargeListArray.from_arrays([0, len(values)], values), ignore_index)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype != object:
        return _from_arrays(argument, [values], ignore_index)
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1):
        values = values.tolist() if isinstance(values, np.ndarray) else list(values)  # None where masked
        if values and (isinstance(values[0], (list, tuple)) or getattr(values[0], "ndim", 0)):
            raise ValueError(f"{argument} must be flat with query_ids, one number per document; got lists in a list")
        array, present = _from_values(argument, values, _offsets([len(values)]), place)
        return _Column(array, None, present, _marked_list(values, array, ignore_index))
    form = f"{values.ndim}-D" if isinstance(values, np.ndarray) else getattr(values, "type", type(values).__name__)
    raise ValueError(f"{argument} must be flat with query_ids, one number per document; got {form}")


def _codes(argument: str, values: Any) -> tuple[NDArray[np.int64], pa.Array]:
    """For each row an index into the distinct ids, which are in the order of their first rows."""
    ids = values
    if isinstance(ids, np.ndarray) and ids.ndim != 1:
        raise ValueError(f"{argument} must be flat, an id for each row; got {ids.ndim}-D")
    if not isinstance(ids, (pa.Array, pa.ChunkedArray, np.ndarray, list, tuple)):
        found = f"the text {shown(values)}; give the column" if isinstance(values, str) else type(values).__name__
        raise ValueError(f"{argument} must be integers or strings, one per row; got {found}")
    if not isinstance(ids, (pa.Array, pa.ChunkedArray)):
        if isinstance(ids, np.ndarray) and ids.dtype.kind == "T":
            ids = ids.astype(object)  # not every pyarrow reads NumPy's own strings
        if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
            ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
        try:
            try:
                ids = pa.array(ids)
            except OverflowError:
                ids = pa.array(ids, pa.uint64())
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            raise ValueError(
                f"{argument} must be all integers or all strings, integers of at most 64 bits: {_in_short(error)}"
            ) from None
    if pa.types.is_dictionary(ids.type) and _is_id(ids.type.value_type):
        chunks = ids.chunks if isinstance(ids, pa.ChunkedArray) else [ids]
        text = any(test(ids.type.value_type) for test in TEXT)
        kinds = [chunk.dictionary.cast(pa.string()) if text else chunk.dictionary for chunk in chunks]
        taken = [kind.take(chunk.indices) for kind, chunk in zip(kinds, chunks, strict=True)]
        ids = pa.chunked_array(taken, pa.string() if text else ids.type.value_type)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null())[0])
        raise ValueError(f"{argument}: row {row}: is None; give each row an id")
    if not _is_id(ids.type):
        kind = shown(str(ids.type))[1:-1]
        raise ValueError(f"{argument} must be integers or strings, one per row; got {kind}; give others as text")
    if any(test(ids.type) for test in TIMES):
        _refuse_hidden(argument, ids)
    encoded = pa.chunked_array(_side_by_side(_encoded, _shares(ids), len(ids))).unify_dictionaries().combine_chunks()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary


def _is_id(kind: pa.DataType) -> bool:
    """Whether ids of this type are integers, text or dates, as they are on every side."""
    return any(test(kind) for test in IDS)


def _refuse_hidden(argument: str, ids: "pa.Array | pa.ChunkedArray") -> None:
    """Raise an error for times that Python or Arrow cannot show: of years out of range or an unknown zone."""
    try:
        for extreme in pc.min_max(ids).values():
            extreme.as_py()
            extreme.cast(pa.string())
    except Exception as error:  # noqa: BLE001 - the library of time zones is one of several
        problem = f"hold times that cannot be shown ({ids.type}): {_in_short(error)}"
        raise ValueError(f"{argument}: {problem}; give integers or times as text") from None


TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BYTES = (pa.types.is_binary, pa.types.is_large_binary)
TIMES = (pa.types.is_date, pa.types.is_timestamp)
IDS = (*TEXT, *BYTES, *TIMES, pa.types.is_integer, pa.types.is_null)


def _encoded(ids: "pa.Array | pa.ChunkedArray") -> pa.DictionaryArray:
    """Ids as indices into the distinct ones."""
    return pc.dictionary_encode(ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids)


def _shares(rows: "pa.Array | pa.ChunkedArray") -> "list[pa.Array | pa.ChunkedArray]":
    """As many rows for each thread, if there are many."""
    step = -(-len(rows) // pa.cpu_count()) if len(rows) > PART else max(len(rows), 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)] or [rows]


def _side_by_side(work: Callable[[Any], Result], over: Sequence[Any], rows: int) -> list[Result]:
    """What a function makes of each, in threads if there are many rows."""
    if rows <= PART:
        return [work(each) for each in over]
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        return list(pool.map(work, over))


def _grouped(codes: NDArray[np.int64], queries: int) -> tuple[Any, NDArray[np.int64]]:
    """What orders rows by query, rows of a query as they come, and where each query begins."""
    offsets = np.zeros(queries + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=queries), out=offsets[1:])
    if (codes[1:] >= codes[:-1]).all():
        return slice(None), offsets
    bits = len(codes).bit_length()
    if queries.bit_length() + bits < 64:  # numbers sort faster than indices
        packed = codes << bits
        packed |= np.arange(len(codes))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed, offsets
    return np.argsort(codes, kind="stable"), offsets


# Rankings by ids


def _refuse_flat_mapping(argument: str, side: Mapping[Any, Any]) -> None:
    """Raise an error for a mapping whose values are no mappings, such as a table's columns by their names."""
    for query, documents in side.items():
        if type(documents) is not dict and not isinstance(documents, Mapping):
            raise ValueError(
                f"{argument}: query {shown(query)}: must map documents to numbers; got {type(documents).__name__}; "
                "for the columns of a table, a row per document, give predictions, references, query_ids and "
                "document_ids"
            )


def _mappings(
    predictions: Mapping[Any, Mapping[Any, Any]],
    references: Mapping[Any, Mapping[Any, Any]],
    by_docid: bool,
    ignore_index: float | None,
) -> Rankings:
    """Every query of the references: its retrieved documents, then those judged and not retrieved."""
    if predictions and references and predictions.keys().isdisjoint(references):
        raise _nothing_shared(next(iter(predictions)), next(iter(references)))
    scores: list[Any] = []
    relevances: list[Any] = []
    is_retrieved, is_judged = bytearray(), bytearray()
    lengths = []
    for query, judged in references.items():
        run = predictions.get(query, {})
        if by_docid:
            run = {document: run[document] for document in _ascending(run)}
        scores.extend(run.values())
        relevances.extend(map(judged.get, run, repeat(0)))
        is_judged.extend(map(judged.__contains__, run))
        missing = [document for document in judged if document not in run]
        scores.extend(repeat(0, len(missing)))
        relevances.extend(map(judged.__getitem__, missing))
        is_judged += b"\1" * len(missing)
        is_retrieved += b"\1" * len(run) + b"\0" * len(missing)
        lengths.append(len(run) + len(missing))

    def place(query: int, position: int | None) -> str:
        name = list(references)[query]
        run = predictions.get(name, {})
        documents = _ascending(run) if by_docid else list(run)
        documents += [document for document in references[name] if document not in run]
        return f"query {shown(name)}" + ("" if position is None else f", document {shown(documents[position])}")

    offsets = _offsets(lengths)
    score, scored = _from_values("predictions", scores, offsets, place)
    relevance, valued = _from_values("references", relevances, offsets, place)
    retrieved, known = np.frombuffer(is_retrieved, bool), np.frombuffer(is_judged, bool)
    if not (retrieved & known).any() and (types := _id_types(predictions, references)):
        found = f"ids are {types[0]} in the predictions, {types[1]} in the references"
        raise ValueError(f"predictions: no document is one of the references'; {found}; give one type for both")
    masks = [(known, valued), (retrieved, scored)]
    judged_mask, retrieved_mask = (each if given is None else each & given for each, given in masks)
    return Rankings(
        relevance,
        score,
        offsets,
        None if judged_mask.all() else judged_mask,
        None if retrieved_mask.all() else retrieved_mask,
        place,
        list(references),
        _marked_list(relevances, relevance, ignore_index),
    )


def _nothing_shared(predicted: Any, referred: Any) -> ValueError:
    """The error for sides without a query in common."""
    ids = f"{shown(predicted)} in the predictions, {shown(referred)} in the references"
    return ValueError(f"predictions: no query is one of the references'; ids are such as {ids}")


def _id_types(*sides: Mapping[Any, Mapping[Any, Any]]) -> list[str] | None:
    """The types of the ids of documents, if the sides have none in common."""
    types = [{type(document) for documents in side.values() for document in documents} for side in sides]
    if not all(types) or types[0] & types[1]:
        return None
    return [" and ".join(sorted(each.__name__ for each in side)) for side in types]


def _ascending(documents: Mapping[Any, Any]) -> list[Any]:
    """Document ids in ascending order, as text as trec_eval has them."""
    return sorted(documents, key=str)


def _columns(argument: str, side: Any, ignore_index: float | None = None) -> Columns:
    """One side by ids as columns; padding in them is ``ignore_index`` in float64, whatever its type was."""
    if isinstance(side, Columns):
        return side
    queries = _strings(argument, "query ids", list(side))
    lengths = [len(documents) for documents in side.values()]
    ids = list(chain.from_iterable(side.values()))
    try:
        documents = _strings(argument, "document ids", ids)
    except ValueError:  # say of which query
        for query, of_query in side.items():
            _strings(f"{argument}: query {shown(query)}", "document ids", list(of_query))
        raise

    def place(query: int, position: int | None) -> str:
        name = list(side)[query]
        return f"query {shown(name)}, document {shown(list(side[name])[position or 0])}"

    given = list(chain.from_iterable(each.values() for each in side.values()))
    values, present = _from_values(argument, given, _offsets(lengths), place)
    query = np.repeat(np.arange(len(lengths)), lengths)
    if values.dtype.kind in "iu" and (large := np.flatnonzero(_large(values))).size:
        at = int(large[0])
        first = int(_offsets(lengths)[query[at]])
        problem = f"{shown(given[at])} may be rounded beside a file's numbers; give both sides as mappings"
        raise ValueError(f"{argument}: {place(int(query[at]), at - first)}: {problem}")
    padding = _marked_list(given, values, ignore_index)
    values = values.astype(np.float64)
    if padding is not None:
        values[padding] = ignore_index
    if present is not None:
        query, documents, values = query[present], documents.filter(pa.array(present)), values[present]
    return Columns(query, queries, documents, values)


def _strings(argument: str, what: str, ids: list[Any]) -> pa.StringArray:
    """Ids as an Arrow array, if they are strings that a file can hold."""
    if not all(isinstance(each, str) for each in ids):
        first = next(each for each in ids if not isinstance(each, str))
        raise ValueError(f"{argument}: {what} must be strings, as in a file; got {shown(first)}")
    try:
        return pa.array(ids, pa.string())
    except UnicodeEncodeError as error:
        found = f"got {shown(error.object)}, which UTF-8 cannot encode"
        hint = "decode ids in their own encoding, without errors='surrogateescape'"
        raise ValueError(f"{argument}: {what} must be Unicode text, as in a file; {found}; {hint}") from None


def _joined(run: Columns, qrels: Columns, by_docid: bool, ignore_index: float | None) -> Rankings:
    """Every query of the qrels: its retrieved documents, then those judged and not retrieved."""
    known_query = _matched(run.query_ids, qrels.query_ids)
    if len(known_query) and len(qrels.query_ids) and (known_query < 0).all():
        raise _nothing_shared(run.query_ids[0].as_py(), qrels.query_ids[0].as_py())
    query, score, document = known_query[run.query], run.value, run.document
    if (query < 0).any():  # queries without judgments are left out
        kept = query >= 0
        query, score, document = query[kept], score[kept], document.filter(pa.array(kept))
    documents = qrels.document.unique()
    known = len(documents)
    known_document = _matched(document, documents)
    pairs = np.where(known_document < 0, -1, query * known + known_document)
    found = _matched(pa.array(pairs), pa.array(qrels.query * known + _matched(qrels.document, documents)))
    judged = found >= 0
    relevance = np.zeros(len(found))
    relevance[judged] = qrels.value[found[judged]]
    retrieved = np.zeros(len(qrels.query), bool)
    retrieved[found[judged]] = True
    missing = np.flatnonzero(~retrieved)
    all_query = np.concatenate([query, qrels.query[missing]])
    order, offsets = _grouped(all_query, len(qrels.query_ids))
    rank = np.arange(len(all_query)) if isinstance(order, slice) else order
    sides = [
        np.concatenate([relevance, qrels.value[missing]]),
        np.concatenate([score, np.full(len(missing), -np.inf)]),
        np.concatenate([judged, np.ones(len(missing), bool)]),
    ]
    relevance, scores, judged = _side_by_side(lambda side: side[order], sides, len(all_query))

    def document_id(row: int) -> str:
        if row < len(query):
            return str(document[row].as_py())
        return str(qrels.document[int(missing[row - len(query)])].as_py())

    def place(index: int, position: int | None) -> str:
        name = f"query {shown(qrels.query_ids[index].as_py())}"
        return name if position is None else f"{name}, document {shown(document_id(rank[offsets[index] + position]))}"

    if by_docid:
        tied = _tied(all_query[order], scores)
        ids = document.take(pa.array(rank[tied]))
        by_id = tied[np.lexsort((_ordinals(ids), all_query[order][tied]))]
        relevance[tied], scores[tied], judged[tied], rank[tied] = (
            each[by_id] for each in (relevance, scores, judged, rank)
        )
    judged_mask, padding = None if judged.all() else judged, marked(relevance, ignore_index)
    return Rankings(relevance, scores, offsets, judged_mask, None, place, qrels.query_ids, padding)


def _matched(values: pa.Array, among: pa.Array) -> NDArray[np.int64]:
    """Of each value, where it is among others; -1 where it is not."""
    found = _side_by_side(partial(pc.index_in, value_set=among), _shares(values), len(values))
    return np.concatenate([pc.fill_null(each, -1).to_numpy().astype(np.int64) for each in found])


def _tied(query: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of retrieved documents whose query has another of that score."""
    order = np.lexsort((score, query))
    same = (query[order][1:] == query[order][:-1]) & (score[order][1:] == score[order][:-1])
    member = np.zeros(len(order), bool)
    member[1:] = same
    member[:-1] |= same
    rows = np.sort(order[member])
    return np.asarray(rows[score[rows] > -np.inf])


def _ordinals(ids: pa.Array) -> NDArray[np.int64]:
    """Where each id stands in ascending order."""
    return np.asarray(pc.rank(ids, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64))
