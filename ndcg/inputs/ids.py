"""Ids: which values are ids, and the ids of rows as indices into the distinct ids."""

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import InputError, in_short, mark, shown
from ..measure.scoring import in_threads
from .sources import ARROW

NO_ID = "is neither text nor an integer, as ids must be"
TO_INTEGERS = "convert ids that are whole numbers to integers, before they become text"
SURROGATE = re.compile("[\ud800-\udfff]")  # the replacement of a byte that is not UTF-8
MAY_BE_FLOAT = re.compile(r"'-?[0-9]+(\.0+)?'$")
FEW_IDS = 1 << 9  # with fewer rows, numbering ids one by one is faster than Arrow
PROBE = 1 << 10  # rows sampled to see whether equal ids are adjacent, or whether inputs share ids
THREADED = 1 << 20  # with more rows, several threads share the work
RowNumbers = NDArray[np.int64]
Order = slice | RowNumbers


def once(kind: str) -> str:
    """Return what an error about a repeated document in a run, or in qrels, says to do.

    >>> print(InputError(once("run")), once("qrels"), sep="; ")
    give it once for a query, or duplicates="best" to count it once, at its best rank; give it once for a query
    """
    best = f", or {mark('duplicates', 'best')} to count it once, at its best rank"
    return "give it once for a query" + best * (kind == "run")


# Kinds


def id_kind(kind: "type | pa.DataType") -> str:
    """Return the kind of ids that a Python or Arrow type represents; an empty string if its values are not ids.

    Ids of the same kind can be equal, whatever their width or unit; ids of two kinds are never equal.
    """
    if isinstance(kind, pa.DataType):
        return ARROW_IDS.get(kind.id, "")
    if kind in USUAL:
        return USUAL[kind]
    if (
        issubclass(kind, (bool, np.timedelta64)) or kind.__name__ == "NaTType"
    ):  # would pass for integers and times
        return ""
    for name, kinds in PYTHON_IDS.items():
        if issubclass(kind, kinds):
            return name
    return ""


USUAL = {str: "text", int: "integers", float: ""}  # types of nearly all values
PYTHON_IDS: dict[str, type] = {
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
    **dict.fromkeys(
        (each.id for each in (pa.int8(), pa.int16(), pa.int32(), pa.int64())), "integers"
    ),
    **dict.fromkeys(
        (each.id for each in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())), "integers"
    ),
    pa.binary().id: "bytes",
    pa.large_binary().id: "bytes",
    pa.timestamp("s").id: "times",
    pa.date32().id: "dates",
    pa.date64().id: "dates",
}


def types_of_no_ids(values: Iterable[Any]) -> set[type]:
    """Return the types of those values that are not ids.

    >>> types_of_no_ids(["a", 7, None])
    {<class 'NoneType'>}
    """
    return {kind for kind in set(map(type, values)) if not id_kind(kind)}


def float_hint(one: str, other: str) -> str:
    """Return the hint for two ids that are the same whole number, but one of them ends in .0.

    >>> float_hint("document '101.0'", "document '7'"), float_hint("document '101'", "document '7'")
    ("; convert ids that are whole numbers to integers, before they become text: '101.0' was a float", '')
    """
    found = [MAY_BE_FLOAT.search(each) for each in (one, other)]
    floats = [each[0] for each in found if each is not None and each[1]]
    return f"; {TO_INTEGERS}: {floats[0]} was a float" if all(found) and len(floats) == 1 else ""


def _other_way(value: Any) -> str:
    """Return advice on what to pass instead of a value that is not an id."""
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return f"give {int(value)}" if is_whole else "give others as text"


def check_ids(argument: str, side: Mapping[Any, Any], nested: bool = True) -> None:
    """Raise an error for a key of a mapping, or of a nested mapping, that is not an id.

    >>> try:
    ...     check_ids("references", {"q": {"d": 1, None: 0}})
    ... except ValueError as error:
    ...     print(error)
    references: query 'q': document None is neither text nor an integer, as ids must be; give others as text
    """
    wrong = types_of_no_ids(chain(side, chain.from_iterable(side.values())) if nested else side)
    for query, documents in side.items() if wrong else ():
        if type(query) in wrong:
            raise InputError(f"query {shown(query)} {NO_ID}; {_other_way(query)}", argument)
        for document in documents if nested else ():
            if type(document) in wrong:
                problem = f"document {shown(document)} {NO_ID}; {_other_way(document)}"
                raise InputError(problem, argument, f"query {shown(query)}")


# Ids of rows


class Ids(NamedTuple):
    """The ids of rows, stored once for each run of rows with the same id."""

    distinct: pa.Array  # the distinct ids, in the order of their first rows
    code: RowNumbers  # the id of each run, as an index into these
    starts: RowNumbers | None = (
        None  # the first row of each run, and the number of rows; None if every row is a run
    )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.code) if self.starts is None else int(self.starts[-1])

    @property
    def codes(self) -> RowNumbers:
        """An index into the distinct ids for each row."""
        return self.code if self.starts is None else np.repeat(self.code, np.diff(self.starts))

    def grouped(self) -> tuple[Order, RowNumbers]:
        """Return a stable order of the rows by id, and the start of each id."""
        if self.starts is not None and len(self.code) == len(self.distinct):
            return slice(None), self.starts
        return grouped(self.codes, len(self.distinct))


def grouped(code: RowNumbers, groups: int) -> tuple[Order, RowNumbers]:
    """Return a stable order of the rows by group, and the start of each group.

    >>> order, offsets = grouped(np.array([1, 0, 1]), 3)
    >>> order.tolist(), offsets.tolist()
    ([1, 0, 2], [0, 1, 3, 3])
    """
    offsets = np.append(0, np.bincount(code, minlength=groups).cumsum())
    if (code[1:] >= code[:-1]).all():
        return slice(None), offsets
    bits = len(code).bit_length()
    if groups.bit_length() + bits < 64:  # sorting numbers is faster than sorting indices
        packed = code << bits
        packed |= np.arange(len(code))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed, offsets
    return np.argsort(code, kind="stable"), offsets


def encode_ids(argument: str, values: Any) -> tuple[RowNumbers, pa.Array]:
    """Return for each row an index into the distinct ids, which are in the order of their first rows."""
    ids = read_ids(argument, values)
    return ids.codes, ids.distinct


def read_ids(argument: str, values: Any) -> Ids:
    """Return the ids of rows."""
    if isinstance(values, (list, tuple)) and (few := _few(values)) is not None:
        return few
    ids = _checked_ids(argument, values)
    if pa.types.is_string_view(ids.type):  # Arrow 21 compares no views
        ids = ids.cast(pa.large_string())
    return _encoded(ids)


def id_column(argument: str, values: Any) -> pa.ChunkedArray:
    """Return the ids of rows as an Arrow column: text as strings, and integers in 64 bits."""
    ids = _checked_ids(argument, values)
    if pa.types.is_null(ids.type):
        ids = ids.cast(pa.string())
    wide = {"text": pa.string(), "bytes": pa.binary(), "integers": pa.int64(), "dates": pa.date32()}
    kind = wide.get(id_kind(ids.type), ids.type)
    ids = ids if ids.type == kind or pa.types.is_uint64(ids.type) else ids.cast(kind)
    return ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([ids])


def _checked_ids(argument: str, values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column, each of them an id."""
    ids = _id_column(argument, values)
    if pa.types.is_dictionary(ids.type) and id_kind(ids.type.value_type):
        ids = decoded(ids)
    kind = id_kind(ids.type)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null())[0])
        raise InputError(f"row {row} is None; give each row an id", argument)
    if len(ids) and not kind:
        given = shown(str(ids.type))[1:-1]
        numbers = ids.cast(pa.float64()) if pa.types.is_floating(ids.type) else []
        is_whole = len(numbers) and pc.all(pc.equal(numbers, pc.trunc(numbers))).as_py()
        hint = TO_INTEGERS if is_whole else "give others as text"
        raise InputError(
            f"{mark(argument)} must be integers or strings, one per row; got {given}; {hint}"
        )
    if kind in ("dates", "times"):
        _refuse_hidden(argument, ids)
    return ids


def _few(values: Sequence[Any]) -> Ids | None:
    """Read a few ids that are all text or all integers; return None for others."""
    if not 0 < len(values) <= FEW_IDS or set(map(type, values)) not in ({str}, {int}):
        return None
    index: dict[Any, int] = {}
    code = [index.setdefault(each, len(index)) for each in values]
    try:
        return Ids(pa.array(list(index)), np.array(code))
    except (
        OverflowError,
        UnicodeError,
    ):  # raised for integers beyond int64, or text that UTF-8 cannot encode
        return None


def _encoded(ids: "pa.Array | pa.ChunkedArray") -> Ids:
    """Encode the ids of all rows or, if equal ids are adjacent, only of the first row of each run."""
    if len(ids) and len(_heads(ids[:PROBE])) <= min(len(ids), PROBE) // 4:
        heads = _heads(ids)
        return _encoded(ids.take(pa.array(heads)))._replace(starts=np.append(heads, len(ids)))
    parts = [
        part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part
        for part in _split_rows(ids)
    ]
    encoded = pa.chunked_array(in_threads(pc.dictionary_encode, parts)).unify_dictionaries()
    codes = np.concatenate([part.indices for part in encoded.chunks], dtype=np.int64)
    return Ids(encoded.chunk(0).dictionary, codes)


def _heads(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the first row of each run of equal ids."""
    if len(ids) < 2:  # there is nothing to compare, and Arrow 21 would crash
        return np.zeros(len(ids), np.int64)

    def changes(after: Any, before: Any) -> RowNumbers:
        return np.asarray(
            pc.indices_nonzero(pc.not_equal(after, before)).to_numpy().astype(np.int64)
        )

    after, before = _split_rows(ids[1:]), _split_rows(ids[:-1])
    starts = np.cumsum([1, *map(len, after)])[:-1]
    return np.concatenate([[0], *map(np.add, starts, in_threads(changes, after, before))])


def _split_rows(rows: "pa.Array | pa.ChunkedArray") -> "list[pa.Array | pa.ChunkedArray]":
    """Return the rows in a single part, or if there are many, in one part for each thread."""
    step = -(-len(rows) // pa.cpu_count()) if len(rows) > THREADED else max(len(rows), 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)] or [rows]


def decoded(column: "pa.Array | pa.ChunkedArray") -> pa.ChunkedArray:
    """Return the values of a dictionary column, and views of text as strings."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    kind = pa.string() if id_kind(column.type.value_type) == "text" else column.type.value_type
    return pa.chunked_array(
        [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks], kind
    )


def _id_column(argument: str, ids: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column."""
    if isinstance(ids, ARROW):
        return ids
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise InputError(f"{mark(argument)} must be flat, an id for each row; got {ids.ndim}-D")
        if ids.dtype.kind == "T":
            ids = ids.astype(object)  # some versions of pyarrow cannot read NumPy's string type
        elif ids.dtype.kind in "iu":
            ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    elif not isinstance(ids, (list, tuple)):
        given = (
            f"the text {shown(ids)}; give the column"
            if isinstance(ids, str)
            else type(ids).__name__
        )
        raise InputError(f"{mark(argument)} must be integers or strings, one per row; got {given}")
    try:
        try:
            given = pa.array(ids)
        except OverflowError:
            return pa.array(ids, pa.uint64())
        if id_kind(given.type) in ("bytes", "dates", "times") and isinstance(ids, (list, tuple)):
            _refuse_mixed(argument, ids)  # in Arrow's common type, different ids may be equal
        return given
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError) as error:
        first: dict[type, str] = {}
        for row, each in enumerate(ids):
            if each is not None:
                first.setdefault(type(each), f"{shown(each)} in row {row}")
        given = in_short(error) if len(first) == 1 else " and ".join(list(first.values())[:2])
        if isinstance(error, UnicodeEncodeError):
            problem = f"got {shown(error.object)}, which UTF-8 cannot encode"
            hint = "decode ids in their own encoding, without errors='surrogateescape'"
            raise InputError(
                f"{mark(argument)} must be Unicode text, as in a file; {problem}; {hint}"
            ) from None
        raise InputError(
            f"{mark(argument)} must be all text or all integers of at most 64 bits; got {given}; give all as text"
        ) from None


def _refuse_mixed(argument: str, ids: Sequence[Any]) -> None:
    """Raise an error for ids of two kinds, such as bytes and text, or dates and times."""
    first: dict[str, str] = {}
    for row, each in enumerate(ids):
        if each is not None:
            first.setdefault(id_kind(type(each)), f"{shown(each)} in row {row}")
    if len(first) > 1:
        both = " and ".join(list(first.values())[:2])
        raise InputError(f"{mark(argument)} must be of the same kind; got {both}; give all as text")


def _refuse_hidden(argument: str, ids: "pa.Array | pa.ChunkedArray") -> None:
    """Raise an error for times that Python or Arrow cannot show: years out of range, or an unknown time zone."""
    try:
        for extreme in pc.min_max(ids).values():
            extreme.as_py()
            extreme.cast(pa.string())
    except Exception as error:  # noqa: BLE001 - the library of time zones is one of several
        problem = f"hold times that cannot be shown ({ids.type}): {in_short(error)}"
        raise InputError(f"{problem}; give integers or times as text", argument) from None


# Ids of predictions and references


def family(kind: pa.DataType) -> str:
    """Return the kind of ids of a type, for times with their zone; ids of two families are never equal."""
    name = id_kind(kind)
    return f"{name} of {kind.tz}" if name == "times" else name


def index_among(ids: Any, among: Any) -> RowNumbers:
    """Return the index of each id among other ids of its family, columns or lists; -1 if it is not among them.

    >>> index_among(pa.array([1, 7]), pa.array([5, 7], pa.int8())).tolist()
    [-1, 1]
    """
    if isinstance(ids, list) or isinstance(among, list):
        index = dict(zip(as_list(among), count(), strict=False))
        return np.array([index.get(each, -1) for each in as_list(ids)], np.int64)
    if not len(ids) or not len(among) or family(ids.type) != family(among.type):
        return np.full(len(ids), -1, np.int64)
    values, own = ids, among
    if pa.types.is_timestamp(among.type):
        try:
            values = ids.cast(among.type)
        except pa.ArrowInvalid:  # these have more precision than the others, so none can be equal
            own = among.cast(ids.type)
    else:  # compared as bytes of any width
        through = pa.large_binary() if id_kind(ids.type) == "bytes" else pa.large_string()
        values, own = (each.cast(through).cast(pa.large_binary()) for each in (ids, among))
    return np.asarray(pc.fill_null(pc.index_in(values, own), -1).to_numpy().astype(np.int64))


def as_list(ids: Any) -> list[Any]:
    """Return ids of a column as a list."""
    return ids if isinstance(ids, list) else list(ids.to_pylist())


# Order


def ascending(ids: Iterable[Any]) -> list[Any]:
    r"""Return ids in ascending order of their bytes, as trec_eval compares them: text in UTF-8, other ids as text.

    >>> ascending([b"\xff", b"b"]), ascending([9, 10])
    ([b'b', b'\xff'], [10, 9])
    """
    ids = list(ids)
    if all(id_kind(kind) != "bytes" for kind in set(map(type, ids))):
        return sorted(ids, key=str)  # code points sort like their bytes in UTF-8
    return sorted(
        ids,
        key=lambda each: (
            each if isinstance(each, bytes) else str(each).encode("utf-8", "surrogatepass")
        ),
    )


def ordinals(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the position of each id in the order of `ascending`."""
    if id_kind(ids.type) not in ("text", "bytes"):
        ids = ids.cast(pa.large_string())
    return np.asarray(
        pc.rank(ids, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    )
