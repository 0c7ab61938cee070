"""Read tables in files: Parquet, Arrow, and folders of Parquet files."""

import errno
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.columns import as_number, value_type, without_decimals
from ..inputs.fields import (
    UnknownFieldError,
    column_of_ranks,
    fields_without_role,
    refuse_repeated_names,
)
from ..inputs.ids import id_kind
from ..inputs.roles import columns_of_table
from ..inputs.tables import fit_of_ranks
from ..measure.labels import Labels
from ..measure.messages import in_short
from .content import Limits
from .json import ValueReader, reader_of
from .parts import ROWS, FilePart, ReadRequest, checked_part, floats, id_table, numerals

BATCH = 1 << 16  # rows that are read at a time
FILE_IDS = ("text", "integers", "bytes")  # ids with one spelling as text; a date has many


class Source(NamedTuple):
    """A table in a file, or in a folder."""

    schema: pa.Schema
    batches: Callable[[Sequence[str] | None], Iterable[pa.RecordBatch]]  # all columns if None
    head: Callable[[], Mapping[str, Any]]  # the first row


def from_table(form: str, file: Any, request: ReadRequest) -> Iterator[FilePart]:
    """Yield the rows of a table; a row may be a query with lists of documents."""
    limits = request.limits
    source = table_in(form, file, limits)
    limits.check("columns", len(source.schema.names))
    chosen = _chosen(source, request)
    if chosen is None:
        yield from _parts_of_objects(source, request)
        return
    names = list(chosen.values())
    others = fields_without_role(source.schema.names, chosen)
    ranks = column_of_ranks(source.schema.names, chosen, request.names)
    read = chosen | ranks
    uncompressed = 0
    for batch in source.batches(list(read.values())):
        batch.validate(full=True)
        if ranks:
            # The first rows tell; batches after them need no ranks.
            columns = {role: batch[name] for role, name in read.items()}
            notice, has_ranks = fit_of_ranks(columns, request.names)
            yield FilePart(ROWS.empty_table(), 0, notice=notice, has_ranks=has_ranks)
            ranks = {}
        cells = [batch[name] for name in names]
        if limits.uncompressed is not None:
            uncompressed += sum(map(_unpacked, cells))
            limits.check("uncompressed", uncompressed)
        part = _part_of_columns(cells, request)
        has_values = request.names.value in chosen
        yield part._replace(form="a table", fields=chosen, others=others, has_values=has_values)


# Sources


def table_in(form: str, file: Any, limits: Limits) -> Source:
    """Return the table in a file of Parquet or Arrow, or in a folder."""
    if form == "parquet":
        return _parquet(file, limits)
    if form == "folder":
        return _folder(file)
    if limits.uncompressed is not None:
        raise ValueError(
            "is an Arrow file, which does not say how much it unpacks to; give Parquet"
        )
    return _arrow(form, file)


def _parquet(file: Any, limits: Limits) -> Source:
    from pyarrow import parquet as arrow_parquet  # only when it is needed: the import takes long

    options: dict[str, Any] = {}
    if limits.uncompressed is not None:
        # Columns and groups of rows: more are a sign of a file that is made to be large.
        options["thrift_container_size_limit"] = BATCH
    parquet = arrow_parquet.ParquetFile(file, **options)
    limits.check("rows", parquet.metadata.num_rows)

    def batches(names: Sequence[str] | None) -> Iterable[pa.RecordBatch]:
        rows = parquet
        if names is not None and limits.uncompressed is not None:
            _check_packed(parquet.metadata, names, limits)
            # Text that is stored once may belong to many rows, so it is unpacked only once.
            ids = list(names[:2])
            rows = arrow_parquet.ParquetFile(file, metadata=parquet.metadata, read_dictionary=ids)
        batches: Iterable[pa.RecordBatch] = rows.iter_batches(BATCH, columns=names)
        return batches

    return Source(parquet.schema_arrow, batches, lambda: _first_row(parquet.iter_batches(1)))


def _folder(path: Any) -> Source:
    """Return the Parquet files of a folder, as Spark writes them, as one table."""
    from pyarrow import dataset as arrow_dataset  # only when it is needed

    try:
        folder = arrow_dataset.dataset(path, format="parquet")
    except pa.ArrowInvalid as error:
        problem = "is a folder, which is read as the parts of one table in Parquet"
        raise ValueError(f"{problem}: {in_short(error)}") from None
    if not folder.files:
        raise IsADirectoryError(errno.EISDIR, "Is a directory without files of Parquet")
    return Source(
        folder.schema,
        batches=lambda names: folder.to_batches(columns=names),
        head=lambda: _first_row(folder.head(1).to_batches()),
    )


def _arrow(form: str, file: Any) -> Source:
    """Return a file or a stream of Arrow, which is read once."""
    if form == "arrow":
        reader = pa.ipc.open_file(file)
        batches = map(reader.get_batch, range(reader.num_record_batches))
    else:
        reader = pa.ipc.open_stream(file)
        batches = iter(reader)
    first = list(islice(batches, 1))
    return Source(
        reader.schema,
        batches=lambda _: chain(first, batches),
        head=lambda: _first_row(first),
    )


def _first_row(batches: Iterable[pa.RecordBatch]) -> Mapping[str, Any]:
    rows = chain.from_iterable(batch.slice(0, 1).to_pylist() for batch in batches)
    return next(rows, {})


def _check_packed(metadata: Any, chosen: Sequence[str], limits: Limits) -> None:
    """Raise an error for Parquet columns that exceed a limit when they are unpacked."""
    limits.check("columns", metadata.num_columns)
    positions = range(metadata.num_columns)
    columns = [at for at in positions if metadata.schema.column(at).path in chosen]
    unpacked = 0
    encodings: set[str] = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, columns):
            unpacked += chunk.total_uncompressed_size
            encodings.update(chunk.encodings)
    limits.check("uncompressed", unpacked)
    # These repeat the beginning of the value before, so that few bytes may be long ids.
    if not encodings.isdisjoint(("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")):
        problem = "holds ids as DELTA_BYTE_ARRAY, which may unpack to any size"
        raise ValueError(f"{problem}; use another encoding")


def _unpacked(column: pa.Array) -> int:
    """Return the number of bytes of a column; a dictionary counts as plain text."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary.cast(pa.string()))
    return pc.sum(lengths.take(column.indices)).as_py() or 0


# Columns


def _chosen(source: Source, request: ReadRequest) -> dict[str, str] | None:
    """Return the columns by role; None if rows have lists or objects of documents.

    Raises:
        ValueError: a column is not clear, or one does not hold ids or numbers.
    """
    schema = source.schema
    refuse_repeated_names(schema.names)
    nested = {name for name in schema.names if pa.types.is_nested(schema.field(name).type)}
    if request.limits.uncompressed is not None:
        # How much lists and objects unpack to is unknown, so they are refused as other types are.
        nested = set()
    if request.names.has_no_query and nested:
        return None
    there = "the table has the columns"
    examples = dict.fromkeys(schema.names)
    try:
        chosen = columns_of_table(
            schema.names, request.names, there, lambda: {**examples, **source.head()}
        )
    except UnknownFieldError:
        if nested:
            return None
        raise
    # Each row is a query with lists, or a document with a list of one value.
    if not nested.isdisjoint((chosen["document"], chosen.get(request.names.value))):
        return None
    for role in ("query", "document"):
        _refuse_no_ids(schema.field(chosen[role]))
    return chosen


def _refuse_no_ids(field: pa.Field) -> None:
    """Raise an error for a column whose type is not of ids; one without values has no type."""
    kind = value_type(field.type)
    if id_kind(kind) not in FILE_IDS and not pa.types.is_null(kind):
        problem = f"the column {field.name!r} holds {kind}"
        raise ValueError(f"{problem}; ids are text or integers, so convert it")


def _part_of_columns(cells: Sequence[pa.Array], request: ReadRequest) -> FilePart:
    """Return the rows of a batch of columns: queries, documents and perhaps values."""
    query, document, *columns = cells
    values = [_numbers(column, request.names.labels) for column in columns]
    table = id_table(_text(query), _text(document), *values)

    def cells_of(row: int) -> list[Any]:
        return [column[row].as_py() for column in cells]

    seen = chain.from_iterable(column.to_pylist() for column in columns)
    return checked_part(FilePart(table, len(table)), cells_of, request.names, seen)


def _text(ids: pa.Array) -> pa.StringArray:
    return ids.cast(value_type(ids.type)).cast(pa.string())


def _numbers(column: pa.Array, labels: Labels | None) -> pa.DoubleArray:
    """Return a column of numbers or labels, nan for other values and what float64 would round."""
    if id_kind(value_type(column.type)) == "text":
        column = numerals(column.cast(pa.string()), labels)
    try:
        if pa.types.is_decimal(value_type(column.type)):
            column = without_decimals(column)
        return column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # the latter of dates, for example
        return floats(list(map(as_number, column.to_pylist())))


# Objects


def _parts_of_objects(source: Source, request: ReadRequest) -> Iterator[FilePart]:
    """Yield the rows of a table whose rows are objects, with lists or objects in them."""
    reader: ValueReader | None = None
    for batch in source.batches(None):
        batch.validate(full=True)
        rows = batch.to_pylist()
        if reader is None:
            reader = reader_of(rows, "objects", request, "a table")
        yield reader.part_of_values(list(enumerate(rows)), len(rows), len(rows))
