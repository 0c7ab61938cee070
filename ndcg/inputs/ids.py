"""Ids: which values are ids, and the ids of rows as indices into the distinct ids."""

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import InputError, in_short, mark, shown
from ..measure.scoring import in_threads
from ..measure.ties import Mask
from .fields import plain_name
from .sources import ARROW, in_python

NO_ID = "is neither text nor an integer, as ids must be"
INTEGERS_OR_TEXT = "give whole numbers as integers, others as text"
MISSING = ("None", "nan", "NaN", "<NA>", "NaT")  # missing values as text, the last two of pandas
JOINED_BATCHES = (
    'give each column as one array, np.concatenate([batch["..."] for batch in batches])'
)
EMPTY_ID = "the id of a document is empty text; leave it out"
SURROGATE = re.compile("[\ud800-\udfff]")  # the replacement of a byte that is not UTF-8
# What a sheet or a pivot table calls a row of totals, as `plain_name` spells it.
TOTALS = set("total totals grandtotal sum mean average all gesamt gesamtergebnis summe".split())  # noqa: SIM905
FEW_IDS = 1 << 9  # with fewer rows, numbering ids one by one is faster than Arrow
FEW_ROWS = 1 << 13  # encoding all of their ids is faster than to look where these change
PROBE = 1 << 10  # rows sampled to see whether equal ids are adjacent, or whether inputs share ids
THREADED = 1 << 20  # with more rows, several threads share the work
RowNumbers = NDArray[np.int64]
Order = slice | RowNumbers


def once(kind: str) -> str:
    """Return what an error about a repeated document in a run, or in qrels, says to do.

    >>> print(InputError(once("run")))
    give it once for a query, or duplicates="best" to count it once, at its best rank
    >>> once("qrels")
    'give it once for a query'
    """
    if kind != "run":
        return "give it once for a query"
    best = f"{mark('duplicates', 'best')} to count it once, at its best rank"
    return f"give it once for a query, or {best}"


def names_of_totals(ids: Iterable[Any], queries: Iterable[Any] = ()) -> list[str]:
    """Return the ids that are names of rows of totals, as of all queries or of one.

    >>> names_of_totals(["Grand Total", "jam Total", "jam sum", "tea Total", 7], ["jam"])
    ['Grand Total', 'jam Total', 'jam sum']
    """
    known = {"", "Grand", "grand", *queries}
    parts = {text: text.strip().rpartition(" ") for text in ids if isinstance(text, str)}
    ends = {text: start for text, (start, _, last) in parts.items() if plain_name(last) in TOTALS}
    return [text for text, start in ends.items() if start in known]


def without_totals(name: Any) -> str:
    """Return what an error or a warning says about the name of a row of totals."""
    return f"if {shown(name)} is a row of totals, leave it out"


class NoIdError(InputError):
    """A row has no id: the first of some rows without one, among all rows of a column."""

    def __init__(self, argument: str, row: int, lacking: int, rows: int) -> None:
        hint = f"give each row an id{filled_down(lacking, rows)}"
        super().__init__(f"row {row} is empty; {hint}", argument)
        self.row = row
        self.have_none = lacking == rows


def filled_down(lacking: int, rows: int) -> str:
    """Return what an error adds about rows without ids: totals, or merged cells if they are most.

    >>> print(InputError(f"give each an id{filled_down(7, 10)}"))
    give each an id; if one stands for the rows below it, write it into each, as ffill() of its \
column, and leave out totals
    """
    if lacking < 2 or 2 * lacking <= rows:
        return ", or leave out empty rows and totals"
    call = mark("pandas", said="as ffill() of its column", before=", ", after=",")
    return f"; if one stands for the rows below it, write it into each{call} and leave out totals"


# Kinds


def id_kind(kind: "type | pa.DataType") -> str:
    """Return the kind of ids that a Python or Arrow type represents; empty if it has no ids.

    Ids of the same kind can be equal, whatever their width or unit; ids of two kinds are never
    equal.
    """
    if isinstance(kind, pa.DataType):
        return ARROW_IDS.get(kind.id, "")
    if kind in USUAL:
        return USUAL[kind]
    if kind.__name__ == "NaTType":  # of pandas, which passes for a time
        return ""
    return next((name for name, kinds in PYTHON_IDS.items() if issubclass(kind, kinds)), "")


USUAL = {str: "text", int: "integers", float: ""}  # types of nearly all values
PYTHON_IDS: dict[str, type | tuple[type, ...]] = {
    "": (bool, np.timedelta64),  # which pass for integers
    "text": str,
    "integers": Integral,
    "bytes": bytes,
    "times": datetime.datetime,  # checked before dates, because Python counts a datetime as a date
    "dates": datetime.date,
}
ARROW_IDS = {
    pa.string().id: "text",
    pa.large_string().id: "text",
    pa.string_view().id: "text",
    pa.int8().id: "integers",
    pa.int16().id: "integers",
    pa.int32().id: "integers",
    pa.int64().id: "integers",
    pa.uint8().id: "integers",
    pa.uint16().id: "integers",
    pa.uint32().id: "integers",
    pa.uint64().id: "integers",
    pa.binary().id: "bytes",
    pa.large_binary().id: "bytes",
    pa.timestamp("s").id: "times",
    pa.date32().id: "dates",
    pa.date64().id: "dates",
}


def types_of_no_ids(values: Iterable[Any]) -> set[type]:
    """Return the types of the values that are not ids.

    >>> types_of_no_ids(["a", 7, None])
    {<class 'NoneType'>}
    """
    return {kind for kind in set(map(type, values)) if not id_kind(kind)}


def is_missing(value: Any) -> bool:
    """Return whether a value is missing; such a value may not even be equal to itself.

    >>> is_missing(math.nan), is_missing("nan"), is_missing(0)
    (True, False, False)
    """
    return not isinstance(value, str) and str(value) in MISSING


def check_query_ids(argument: str, queries: Iterable[Any]) -> None:
    """Raise an error for a query whose id is not one."""
    _refuse_no_ids(argument, "query", queries)


def _refuse_no_ids(argument: str, noun: str, ids: Iterable[Any], *places: str) -> None:
    """Raise an error for the first value that is no id, of a query or a document."""
    wrong = types_of_no_ids(ids)
    if wrong:
        first = next(value for value in ids if type(value) in wrong)
        problem = f"{noun} {shown(first)} {NO_ID}; {INTEGERS_OR_TEXT}"
        raise InputError(problem, argument, *places)


def check_ids(argument: str, side: Mapping[Any, Any]) -> None:
    """Raise an error for a key of a mapping, or of a nested mapping, that is not an id.

    >>> try:
    ...     check_ids("references", {"q": {"d": 1, None: 0}})
    ... except ValueError as error:
    ...     print(str(error).partition(",")[0])
    references: query 'q': document None is neither text nor an integer
    """
    check_query_ids(argument, side)
    for query, documents in side.items():
        _refuse_no_ids(argument, "document", documents, f"query {shown(query)}")


def refuse_empty_ids(argument: str, side: Mapping[Any, Any]) -> None:
    """Raise an error for a document whose id is empty text, as padding of lists is."""
    for query, documents in side.items():
        if "" in documents:
            raise InputError(EMPTY_ID, argument, f"query {shown(query)}")


# Ids of rows


class Ids(NamedTuple):
    """The ids of rows."""

    distinct: pa.Array  # the distinct ids, in the order of their first rows
    codes: RowNumbers  # the ids of the rows, as indices into these


def grouped(code: RowNumbers, groups: int) -> tuple[Order, RowNumbers]:
    """Return a stable order of the rows by group, and the starts of the groups.

    >>> order, offsets = grouped(np.array([1, 0, 1]), 3)
    >>> order.tolist(), offsets.tolist()
    ([1, 0, 2], [0, 1, 3, 3])
    """
    offsets = np.zeros(groups + 1, np.int64)
    np.add.accumulate(np.bincount(code, minlength=groups), out=offsets[1:])
    if (code[1:] >= code[:-1]).all():
        return slice(None), offsets
    bits = len(code).bit_length()
    # Sorting numbers is faster than sorting indices; memory holds no rows for more than 64 bits.
    packed = code << bits
    packed |= np.arange(len(code))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed, offsets


def encode_ids(argument: str, values: Any) -> tuple[RowNumbers, pa.Array]:
    """Return the ids of rows as indices into the distinct ids, in the order of first rows."""
    ids = read_ids(argument, values)
    return ids.codes, ids.distinct


def read_ids(argument: str, values: Any) -> Ids:
    """Return the ids of rows."""
    if isinstance(values, (list, tuple)) and len(values) <= FEW_IDS:
        # Integers may be beyond int64, and UTF-8 may not encode the text.
        with suppress(OverflowError, UnicodeError):
            if set(map(type, values)) in ({str}, {int}) and "" not in values:
                return _numbered(values)
    ids = _checked_ids(argument, values)
    if pa.types.is_string_view(ids.type):  # Arrow 21 compares no views
        ids = ids.cast(pa.large_string())
    encoded = _encoded(ids)
    _refuse_empty_text(argument, encoded.distinct, encoded.codes)
    return encoded


def id_column(argument: str, values: Any) -> pa.ChunkedArray:
    """Return the ids of rows as an Arrow column: text as strings, and integers in 64 bits."""
    ids = _checked_ids(argument, values)
    if pa.types.is_null(ids.type):
        ids = ids.cast(pa.string())
    # Few types, so that ids of both sides can be compared and hashed as they are.
    wide = {"text": pa.string(), "bytes": pa.binary(), "integers": pa.int64(), "dates": pa.date32()}
    kind = wide.get(id_kind(ids.type), ids.type)
    if ids.type != kind and not pa.types.is_uint64(ids.type):
        ids = ids.cast(kind)
    _refuse_empty_text(argument, ids)
    if isinstance(ids, pa.ChunkedArray):
        return ids
    return pa.chunked_array([ids])


def _refuse_empty_text(
    argument: str, ids: "pa.Array | pa.ChunkedArray", codes: Any = slice(None)
) -> None:
    """Raise an error for a row whose id is empty text; `codes` are the indices of the rows."""
    if id_kind(ids.type) != "text":
        return
    lengths = pc.binary_length(ids).to_numpy(zero_copy_only=False)
    if not lengths.all():
        raise _no_id(argument, lengths[codes] == 0)


def _no_id(argument: str, is_empty: Mask) -> NoIdError:
    """Return the error for rows without an id, by a mask."""
    return NoIdError(argument, int(is_empty.argmax()), int(is_empty.sum()), len(is_empty))


def _checked_ids(argument: str, values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column without nulls and other values."""
    ids = _arrow_column(argument, values)
    if pa.types.is_dictionary(ids.type):
        ids = decoded(ids)
    kind = id_kind(ids.type)
    if ids.null_count:
        raise _no_id(argument, np.asarray(ids.is_null()))
    if len(ids) and not kind:
        given = shown(str(ids.type))[1:-1]
        problem = f"{mark(argument)} must be integers or strings, one per row"
        raise InputError(f"{problem}; got {given}; {INTEGERS_OR_TEXT}")
    if kind in ("dates", "times"):
        _refuse_hidden(argument, ids)
    return ids


def _numbered(values: Sequence[Any]) -> Ids:
    """Return the ids of a few rows that are all text or all integers."""
    index: dict[Any, int] = {}
    code = [index.setdefault(value, len(index)) for value in values]
    return Ids(pa.array(list(index)), np.array(code))


def _encoded(ids: "pa.Array | pa.ChunkedArray") -> Ids:
    """Encode the ids of all rows, or of the first rows of runs if equal ids are adjacent."""
    # Rows are mostly sorted by query; then it is faster to look only at where the id changes.
    if len(ids) > FEW_ROWS and len(_heads(ids[:PROBE])) <= min(len(ids), PROBE) // 4:
        heads = _heads(ids)
        runs = _encoded(ids.take(pa.array(heads)))
        lengths = np.diff(np.append(heads, len(ids)))
        return runs._replace(codes=np.repeat(runs.codes, lengths))
    encoded = pa.chunked_array(in_threads(_dictionary, _split_rows(ids))).unify_dictionaries()
    codes = np.concatenate([part.indices for part in encoded.chunks], dtype=np.int64)
    return Ids(encoded.chunk(0).dictionary, codes)


def _dictionary(ids: "pa.Array | pa.ChunkedArray") -> pa.DictionaryArray:
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    return pc.dictionary_encode(ids)


def _heads(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the first rows of the runs of equal ids."""
    if len(ids) < 2:  # there is nothing to compare, and Arrow 21 would crash
        return np.zeros(len(ids), np.int64)

    def changes(after: Any, before: Any) -> RowNumbers:
        rows = pc.indices_nonzero(pc.not_equal(after, before))
        return np.asarray(rows.to_numpy().astype(np.int64))

    after, before = _split_rows(ids[1:]), _split_rows(ids[:-1])
    starts = np.cumsum([1, *map(len, after)])[:-1]
    return np.concatenate([[0], *map(np.add, starts, in_threads(changes, after, before))])


def _split_rows(rows: "pa.Array | pa.ChunkedArray") -> "list[pa.Array | pa.ChunkedArray]":
    """Return the rows in a single part, or if there are many, in one part a thread."""
    if len(rows) <= THREADED:
        return [rows]
    step = math.ceil(len(rows) / pa.cpu_count())
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def decoded(column: "pa.Array | pa.ChunkedArray") -> pa.ChunkedArray:
    """Return the values of a dictionary column, and views of text as strings."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    kind = column.type.value_type
    if id_kind(kind) == "text":
        kind = pa.string()
    values = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks]
    return pa.chunked_array(values, kind)


def _arrow_column(argument: str, ids: Any) -> "pa.Array | pa.ChunkedArray":
    if isinstance(ids, ARROW):
        return ids
    if isinstance(ids, np.ndarray):
        return _arrow_array(argument, _readable(argument, ids))
    if not isinstance(ids, (list, tuple)):
        raise InputError(
            f"{mark(argument)} must be integers or strings, one per row; got {shown(ids)}"
        )
    refuse_batches(argument, ids)
    column = _arrow_array(argument, ids)
    if id_kind(column.type) in ("bytes", "dates", "times"):
        _refuse_mixed(argument, ids)  # in Arrow's common type, different ids may be equal
    return column


def refuse_batches(argument: str, ids: Any) -> None:
    """Raise an error for arrays or lists of ids in place of ids."""
    first = next(iter(ids), None)
    if isinstance(first, list) or getattr(first, "shape", None):
        problem = "must be one id; got a list of them, as batches have"
        raise InputError(problem, argument, "row 0", hint=JOINED_BATCHES)


def _readable(argument: str, ids: NDArray[Any]) -> NDArray[Any]:
    """Return a NumPy array of ids in a type that Arrow reads."""
    if ids.ndim != 1:
        raise InputError(f"{mark(argument)} must be flat, an id for each row; got {ids.ndim}-D")
    if ids.dtype.kind == "T":
        return ids.astype(object)  # some versions of pyarrow cannot read NumPy's string type
    if ids.dtype.kind in "iu":
        return ids.astype(ids.dtype.newbyteorder("="), copy=False)
    return ids


def _arrow_array(argument: str, ids: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids of a list or an array in the Arrow type that holds all of them."""
    try:
        try:
            return pa.array(ids)
        except OverflowError:
            return pa.array(ids, pa.uint64())
    except UnicodeEncodeError as error:
        must = f"{mark(argument)} must be Unicode text, as in a file"
        problem = f"got {shown(error.object)}, which UTF-8 cannot encode"
        hint = "decode ids in their own encoding, without errors='surrogateescape'"
        raise InputError(f"{must}; {problem}; {hint}") from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        is_empty = np.array(list(map(is_missing, ids)))
        if is_empty.any():
            raise _no_id(argument, is_empty) from None
        must = f"{mark(argument)} must be all text or all integers of at most 64 bits"
        given = " and ".join(_examples(ids, _type_and_width)[:2])
        raise InputError(f"{must}; got {given}; give all as text") from None


def _type_and_width(value: Any) -> tuple[type, bool]:
    """Return what ids of a column share: their type, and of integers whether int64 holds them."""
    return type(value), not isinstance(value, int) or value.bit_length() < 64


def _refuse_mixed(argument: str, ids: Sequence[Any]) -> None:
    """Raise an error for ids of two kinds, such as bytes and text, or dates and times."""
    examples = _examples(ids, lambda value: id_kind(type(value)))
    if len(examples) > 1:
        both = " and ".join(examples[:2])
        raise InputError(f"{mark(argument)} must be of the same kind; got {both}; give all as text")


def _examples(ids: Iterable[Any], kind_of: Callable[[Any], Any]) -> list[str]:
    """Return the first ids of all kinds, with their rows, as messages show them."""
    first: dict[Any, str] = {}
    for row, value in enumerate(ids):
        if value is not None:
            first.setdefault(kind_of(value), f"{shown(value)} in row {row}")
    return list(first.values())


def _refuse_hidden(argument: str, ids: "pa.Array | pa.ChunkedArray") -> None:
    """Raise an error for times that cannot be shown: years out of range, or an unknown zone."""
    try:
        for extreme in pc.min_max(ids).values():
            extreme.as_py()
            extreme.cast(pa.string())
    except Exception as error:  # noqa: BLE001 - the library of time zones is one of several
        problem = f"hold times that cannot be shown ({ids.type}): {in_short(error)}"
        raise InputError(f"{problem}; give integers or times as text", argument) from None


# Ids of predictions and references


def family(kind: pa.DataType) -> str:
    """Return the kind of ids of a type, for times with their zone.

    Ids of two families are never equal.
    """
    name = id_kind(kind)
    if name == "times":
        return f"times of {kind.tz}"
    return name


def index_among(ids: Any, among: Any) -> RowNumbers:
    """Return the indices of ids among others of its family, columns or lists; -1 for a new one.

    >>> index_among(pa.array([1, 7]), pa.array([5, 7], pa.int8())).tolist()
    [-1, 1]
    """
    if isinstance(ids, list):
        index = dict(zip(as_list(among), count(), strict=False))
        return np.array([index.get(value, -1) for value in ids], np.int64)
    if family(ids.type) != family(among.type):
        return np.full(len(ids), -1, np.int64)
    if pa.types.is_timestamp(among.type):
        try:
            ids = ids.cast(among.type)
        except pa.ArrowInvalid:  # these have more precision, so the others lose nothing
            among = among.cast(ids.type)
    elif ids.type != among.type:  # compared as bytes, whatever their widths
        ids = _as_bytes(ids)
        among = _as_bytes(among)
    indices = pc.index_in(ids, among).fill_null(-1)
    return np.asarray(indices.to_numpy().astype(np.int64))


def _as_bytes(ids: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    if id_kind(ids.type) != "bytes":
        ids = ids.cast(pa.large_string())
    return ids.cast(pa.large_binary())


def as_list(ids: Any) -> list[Any]:
    """Return ids of a column, or in another sequence, as a list."""
    return list(in_python(ids))


# Order


def ascending(ids: Iterable[Any]) -> list[Any]:
    r"""Return ids in ascending order of their bytes, as trec_eval compares them.

    Text is compared in UTF-8, and other ids as text.

    >>> ascending([b"\xff", b"b"]), ascending([9, 10])
    ([b'b', b'\xff'], [10, 9])
    """
    return sorted(ids, key=_bytes_of)


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return str(value).encode("utf-8", "surrogatepass")


def ordinals(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the positions of ids in the order of `ascending`."""
    if id_kind(ids.type) not in ("text", "bytes"):
        ids = ids.cast(pa.large_string())
    ranks = pc.rank(ids, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy().astype(np.int64))
