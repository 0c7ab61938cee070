"""Recognize the format of one side: a table of rows, records, or hits; the rows become `Columns`, hits mappings.

Other formats are left as they are: lists and columns of numbers, mappings, and ranked ids.
"""

import io
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import count, pairwise
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..measure.labels import Labels
from ..measure.messages import InputError, shown, warn, within
from ..measure.scoring import in_threads
from .columns import Column, beyond_2_53, offsets_of, read_flat_column
from .exclusion import Pairs
from .fields import (
    COLUMNS_OF_ROWS,
    Names,
    Possible,
    UnknownColumnError,
    could_be_value,
    names_of_side,
    plain_name,
    refuse_lowest_first,
    spelled,
)
from .hashes import Columns, best_rows, hashes_of, repeated_row
from .hits import HitReader, Hits, answers_in, are_hits, by_id
from .ids import as_list, id_column, id_kind, once, read_ids
from .ranked_ids import check_queries_equal, kind_of_ids
from .sources import (
    ARROW,
    is_database_query,
    is_spark,
    is_sparse,
    name_of_column,
    named_columns,
    record_names,
    record_values,
    refuse_splits,
    settled,
    table_names,
)
from .tables import MOST_COLUMNS, are_columns, chosen_columns, table_records, values_by_order

HASHED = 1 << 17  # rows whose ids a thread hashes at a time
PLAIN_NUMBERS = (int, float)
KIND_OF_ARGUMENT = {"references": "qrels", "exclude": "exclude"}  # else a run


def with_ids(
    argument: str,
    side: Any,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
) -> Any:
    """Return a table of rows or records as `Columns`, hits as a mapping or a list of mappings, and others unchanged.

    The columns and fields have the names that `fields` gives, or else known ones.

    >>> with_ids("predictions", [[{"id": "d1", "score": 0.5}]])
    [{'d1': 0.5}]
    """
    names = names_of_side(KIND_OF_ARGUMENT.get(argument, "run"), fields, score_order, labels, keep)
    if names.kind == "run" and score_order == "descending":
        refuse_lowest_first(name_of_column(side), argument)
    refuse_splits(argument, side)
    if isinstance(side, io.IOBase):
        raise InputError(f"is an open file ({type(side).__name__}); give its path", argument)
    if isinstance(side, Iterator) and not is_database_query(side):
        side = list(side)
    if side is None or isinstance(side, (str, Columns, Pairs)) or is_sparse(side):
        return side
    if isinstance(side, Mapping) or (columns := table_names(side)) is None:
        found = _in_objects(argument, side, names)
        if found is None:
            return side if names.kind == "exclude" else _hits(argument, side, names)
        side, columns = found, list(found)
    if is_spark(side):
        raise InputError(
            "is a Spark DataFrame; give both sides as Spark DataFrames, or its rows, frame.toArrow()", argument
        )
    return _of_table(argument, side, columns, names)


def are_numbers(side: Any) -> bool:
    """Return whether a side is an array of numbers, or nested lists that begin with one: it has no other format."""
    if type(side) is list:
        return bool(side and type(side[0]) is list and side[0] and type(side[0][0]) in PLAIN_NUMBERS)
    return type(side) is np.ndarray and side.dtype.kind in "biuf"


def are_mappings(side: Any) -> bool:
    """Return whether a side is ``{query: {document: number}}``, as far as its first query tells."""
    if type(side) is not dict or set(map(type, side.values())) != {dict}:
        return False
    first = next(iter(side.values()))
    if not first or not set(map(type, first.values())) <= {*PLAIN_NUMBERS, NoneType}:
        return False
    rows = [each for each in (side, first) if len(each) <= MOST_COLUMNS]  # as of a table, whose names are columns
    return COLUMNS_OF_ROWS.isdisjoint(plain_name(name) for each in rows for name in each if isinstance(name, str))


# Tables of rows, and records


def _in_objects(argument: str, side: Any, names: Names) -> Mapping[Any, Any] | None:
    """Return the columns of a dict of columns or of records; None for anything else."""
    possible = names.columns
    if (
        isinstance(side, (list, tuple))
        and len(side) == 1
        and isinstance(side[0], Mapping)
        and _are_columns(side[0], possible)
    ):
        side = side[0]
    if isinstance(side, Mapping) and _are_columns(side, possible):
        return side
    if isinstance(side, Mapping):
        is_split = isinstance(side.get("data"), list)  # as pandas writes a table
        if not is_split and not isinstance(next(iter(side.values()), None), Mapping):
            return None
        side = table_records(side, possible)
    if not isinstance(side, (list, tuple)) or not side:
        return None
    fields = record_names(side[0])
    found = sum(bool(spelled(fields, each)) for each in possible.values())
    if found < 2 and not (found and _is_record_of_words(side[0], names)):
        return None
    if found < len(possible) and are_hits(side[0], names):
        return None

    def cells(of: Sequence[str]) -> Iterator[Any]:
        return zip(*(record_values(argument, side, name) for name in of), strict=True)

    try:
        chosen = [fields[at] for at in chosen_columns(fields, names, cells, "the first record")]
    except UnknownColumnError as error:
        raise within(error.with_hint(), argument) from None
    except ValueError as error:
        raise within(error, argument) from None
    return {name: record_values(argument, side, name) for name in chosen}


def _is_record_of_words(row: Any, names: Names) -> bool:
    """Return whether a mapping has text where documents have values, and no id of a hit: a record of unknown names."""
    if not isinstance(row, Mapping) or spelled(row, names.of_hits["document"]):
        return False
    cells = list(row.values())
    are_flat = not any(isinstance(each, (list, tuple, Mapping)) for each in cells)
    return are_flat and any(isinstance(each, str) and not could_be_value(each) for each in cells)


def _rows_of_lists(table: Any, columns: Sequence[Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a table in which each row has the lists of a query; None for other tables."""
    if not all(isinstance(name, str) for name in columns) or not hasattr(table, "__len__"):
        return None
    named = dict(zip(columns, named_columns(table, **dict(zip(columns, columns, strict=True))), strict=True))
    lists = {name: _as_list(each) for name, each in settled_columns(named).items()}
    if not any(each and isinstance(each[0], (list, np.ndarray)) for each in lists.values()):
        return None
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def settled_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of any library, by their names in messages, as lists and arrays of NumPy and Arrow."""
    return dict(zip(columns, settled(**columns), strict=True))


def _as_list(column: Any) -> list[Any]:
    """Return the cells of a column as a list."""
    return list(column.to_pylist() if isinstance(column, ARROW) else getattr(column, "tolist", lambda: column)())


def _are_columns(side: Mapping[Any, Any], possible: Possible) -> bool:
    """Return whether a mapping holds columns: lists or arrays of the same length, of ids and numbers."""
    if len(side) > 100 or not are_columns(side, possible):
        return False
    columns = [side[name] for names in possible.values() for name in spelled(side, names)]
    return all(isinstance(each, (list, tuple, np.ndarray, *ARROW)) or hasattr(each, "__array__") for each in columns)


def _of_table(argument: str, table: Any, columns: Sequence[Any], names: Names) -> Any:
    """Return the rows of a table as columns."""

    def cells(of: Sequence[str]) -> Iterator[Any]:
        found = dict(zip(of, named_columns(table, argument, **dict(zip(of, of, strict=True))), strict=True))
        return zip(*(_as_list(each[:HASHED]) for each in settled_columns(found).values()), strict=False)

    try:
        at = chosen_columns(columns, names, cells, "the table")
    except UnknownColumnError as error:
        if (lists := _rows_of_lists(table, columns)) is not None:
            return _hits(argument, lists, names)
        more = "if each row is a query, give its column of lists, or an array"
        raise within(error.with_hint(more), argument) from None
    except ValueError as error:
        raise within(error, argument) from None
    named = dict(zip(names.columns, (columns[each] for each in at), strict=True))
    called = {field: f"{argument}: the column {name!r}" for field, name in named.items()}
    read = settled_columns(dict(zip(called.values(), named_columns(table, argument, **named), strict=True)))
    cells_of = dict(zip(named, read.values(), strict=True))
    if names.kind == "exclude":
        return Pairs(*cells_of.values())
    query = read_ids(called["query"], cells_of.pop("query"))
    document = id_column(called["document"], cells_of.pop("document"))

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    column = Column(values_by_order(len(document), names), offsets_of([len(document)]))
    for value, values in cells_of.items():
        column = read_flat_column(called[value], values, place, labels=names.labels)
    lengths = query.rows, len(document), len(column.values)
    if len(set(lengths)) > 1:
        of_columns = shown(dict(zip(named.values(), lengths, strict=False)))
        raise InputError(f"columns differ in length: {of_columns}", argument)
    numbers = column.values
    if numbers.dtype.kind != "f" and not beyond_2_53(numbers).any():
        numbers = numbers.astype(np.float64)
    starts = range(0, len(document), HASHED)
    hashes = in_threads(hashes_of, [document[start : start + HASHED] for start in starts] or [document])
    side = Columns(query.codes, query.distinct, document, numbers, np.concatenate(hashes))
    if names.keep is not None and (kept := best_rows(side, column.present, names.keep, names.ascending)) is not None:
        side, column = side.only(kept), column.reordered(kept, offsets_of([int(kept.sum())]))
        numbers = side.value
    elif names.keep is None and (repeated := repeated_row(side)):
        (row, before), ids = repeated, "document {} of query {}".format(*side.words(repeated[0]))
        raise InputError(f"{ids} is in row {before} already; {once(names.kind)}", argument, f"row {row}")
    if names.kind == "qrels":  # a query without judgments counts
        rows = np.arange(len(numbers)) if column.present is None else np.flatnonzero(column.present)
        side = side if column.present is None else side.only(column.present)
        return side._replace(place=lambda row: f"row {rows[row]}")
    return of_present(side, column.present)  # after an outer join, a document without a score was not retrieved


# Hits


class Indices(NamedTuple):
    """Hits of rerankers, by query, whose ids are positions in the lists of the references."""

    rows: Any


def _hits(argument: str, side: Any, names: Names) -> Any:
    """Return hits as mappings of ids to values, by query or in the order of the queries; others unchanged."""
    if isinstance(side, Mapping):
        side = answers_in(side, names)
    if not isinstance(side, (list, tuple, Mapping)):
        return side
    rows = list(side.values()) if isinstance(side, Mapping) else side
    first = next((row for row in rows if not _is_empty(row)), None)
    if first is None or _is_plain(first):
        return _without_values(side, names) if names.has_no_value else side
    try:
        reader = HitReader(names, rows)
        queries: Any = list(side) if isinstance(side, Mapping) else [reader.query(row) for row in rows]
    except ValueError as error:
        raise within(error, argument) from None
    are_named = isinstance(side, Mapping) or all(map(id_kind, map(type, queries)))
    found: list[Any] = []
    are_indices = False
    for query, row in zip(queries if are_named else count(), rows, strict=False):
        try:
            hits = Hits(()) if _is_empty(row) else reader.hits(row)
            if hits is None and not any(found):
                return side
            if hits is None:
                raise ValueError(f"is not a list of hits, as the first query has; got {shown(row)}")
            found.append(reader.read(shown(query), hits))
        except ValueError as error:
            raise within(error, argument, f"query {shown(query)}") from None
        are_indices |= hits.are_indices
    if reader.warning:
        warn(f"{argument}: {reader.warning}")
    if are_indices:  # an "id" beside them is that of the response
        return Indices(dict(zip(side, found, strict=True)) if isinstance(side, Mapping) else found)
    return dict_of_queries(argument, queries, found) if are_named else found


def _without_values(side: Any, names: Names) -> Any:
    """Return mappings of documents to values as the documents alone: in their order in a run, else each relevant."""

    def alone(row: Any) -> Any:
        return by_id(row, None, names.kind, names.ascending) if isinstance(row, Mapping) else row

    return {query: alone(row) for query, row in side.items()} if isinstance(side, Mapping) else list(map(alone, side))


def dict_of_queries(argument: str, queries: Sequence[Any], rows: Sequence[Any]) -> dict[Any, Any]:
    """Return the rows by the ids of their queries, which must differ."""
    found = dict(zip(queries, rows, strict=True))
    if len(found) < len(queries):
        first: dict[Any, int] = {}
        at, again = next((at, query) for at, query in enumerate(queries) if first.setdefault(query, at) < at)
        problem = f"query {shown(again)} is in row {first[again]} and in row {at}; give each query once"
        raise InputError(problem, argument)
    return found


def _is_plain(row: Any) -> bool:
    """Return whether a query is a list of numbers or ids, or a mapping of documents to numbers."""
    if isinstance(row, (list, tuple)):
        first = row[0]
    elif isinstance(row, Mapping):
        return not any(isinstance(each, (list, tuple, Mapping)) for each in row.values())
    else:
        return isinstance(row, (Set, np.ndarray, *ARROW)) or hasattr(row, "__array__")
    return first is None or isinstance(first, (str, int, float, np.generic))


def _is_empty(row: Any) -> bool:
    return row is None or (isinstance(row, (list, tuple, Mapping)) and not row)


# Formats of both sides


def together(inputs: Any, score_order: str = "descending", keep: str | None = None) -> Any:
    """Return inputs whose format depends on both sides as mappings: matrices of ids and scores, and sets of columns."""
    predictions, references, query_ids, document_ids = inputs[:4]
    if are_columns_with_ids(predictions) and are_columns_with_ids(references):
        return inputs
    if query_ids is not None and isinstance(predictions, Columns) and predictions.are_rows:
        predictions = predictions.value
    predictions = of_rows(predictions, references)
    predictions, references = (
        _alike("predictions", predictions, references),
        _alike("references", references, predictions),
    )
    if isinstance(predictions, Indices):
        _refuse_other_candidates(predictions.rows, references)
        predictions, references = predictions.rows, _by_index(references)
    if document_ids is not None and _is_nested(predictions) and _is_nested(document_ids):
        if not isinstance(references, (Mapping, Columns)) and kind_of_ids(references) in ("integers", "numbers"):
            references = _scores_of_ids(references, document_ids, "references")  # integers in lists are values
        ascending = score_order == "ascending"
        predictions, document_ids = _scores_of_ids(predictions, document_ids, ascending=ascending, keep=keep), None
    if is_sparse(predictions) and _has_ids(references):
        _refuse_other_columns("references", references, predictions.shape[1])
        predictions = _by_column(predictions)
    elif is_sparse(references) and _are_columns_beside(predictions, references):
        references = _by_column(references)
    are_by_query = isinstance(references, (Mapping, Columns)) and _is_nested(predictions)
    if query_ids is not None and are_by_query and _are_scores(predictions):
        predictions = _by_index(predictions)
        columns = max(len(row) for row in predictions if isinstance(row, dict))
        _refuse_other_columns("references", references, columns)
    if query_ids is not None and are_by_query and len(query_ids) == len(predictions):
        predictions, query_ids = dict_of_queries("query_ids", _ids_in_order(query_ids), predictions), None
    if query_ids is None and isinstance(references, (list, tuple)) and _are_scores(predictions):
        are_sets = all(isinstance(row, (Set, Mapping)) for row in references) and any(map(len, references))
        if are_sets and all(isinstance(each, (int, np.integer)) for row in references for each in row):
            references = _labels(predictions, references)
    return inputs._replace(
        predictions=predictions, references=references, query_ids=query_ids, document_ids=document_ids
    )


def are_columns_with_ids(side: Any) -> bool:
    """Return whether a side is a table or a file whose rows name their query and their document."""
    return isinstance(side, Columns) and side.positions is None and not side.are_rows


def _ids_in_order(query_ids: Any) -> list[Any]:
    """Return the ids of the queries of rows as a list."""
    if isinstance(query_ids, (Set, Mapping)):
        raise InputError(
            f"a {type(query_ids).__name__} has no order of its own; give a list, an id for each row", "query_ids"
        )
    return list(query_ids.tolist() if isinstance(query_ids, np.ndarray) else as_list(query_ids))


def _alike(argument: str, side: Any, other: Any) -> Any:
    """Return a file without ids of queries as a list of mappings, if the other side is a list; others unchanged."""
    if not isinstance(side, Columns) or side.positions is None:
        return side
    if isinstance(other, Mapping) or (isinstance(other, Columns) and other.positions is None):
        hint = 'name them in both, as in {"query_id": "q1", "hits": [...]} or {"q1": [...]}'
        raise InputError(f"the file names no queries, which the other side does; {hint}", argument)
    if isinstance(other, Columns) and argument == "references":
        check_queries_equal(other.positions or 0, side.positions)
    if not isinstance(other, (list, tuple, np.ndarray, *ARROW)):
        return side
    rows: list[dict[Any, Any]] = [{} for _ in range(side.positions)]
    at = np.array(side.query_ids.to_pylist(), np.int64)[side.query].tolist()
    for query, document, value in zip(at, side.document.to_pylist(), side.value.tolist(), strict=True):
        rows[query][document] = value
    return rows


def of_rows(predictions: Any, references: Any) -> Any:
    """Return the scores of the rows of a file of LETOR, if that is the references, as columns with the rows' ids.

    Beside other references, predictions are returned unchanged.
    """
    are_scores = isinstance(predictions, Columns) and predictions.are_rows
    if not isinstance(references, Columns) or not references.are_rows:
        if are_scores:
            hint = "give references as LETOR, or query_ids and references as arrays"
            raise InputError(f"the file has scores without ids; {hint}", "predictions")
        return predictions
    if are_scores and predictions.place is None:
        return predictions  # which have the ids of the rows already
    are_flat = not _is_nested(predictions) or getattr(predictions, "shape", ())[1:] == (1,)
    if not are_scores and (isinstance(predictions, (Mapping, Columns)) or not are_flat):
        hint = "give a score for each row, in a flat array or in a file, one a line"
        raise InputError(f"the references are rows of LETOR, which have no ids of documents; {hint}", "predictions")
    scores = predictions.value if are_scores else predictions
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(references.query):
        rows = f"{len(column.values)} scores for {len(references.query)} rows of the references"
        raise InputError(f"holds {rows}; give one for each row, in their order", "predictions")
    return of_present(references._replace(value=column.values, place=None), column.present)


def of_present(run: Columns, present: Any) -> Columns:
    """Return the rows of a run that have a score, and the queries that have such rows."""
    if present is None:
        return run
    run = run.only(present)
    used = np.unique(run.query)
    return run._replace(query=np.searchsorted(used, run.query), query_ids=run.query_ids.take(pa.array(used)))


def _has_ids(side: Any) -> bool:
    """Return whether the first query that is not empty has a set or a mapping, or queries are matched by their ids."""
    if isinstance(side, (Mapping, Columns)):
        return True
    first = next((row for row in side if not _is_empty(row)), None) if isinstance(side, (list, tuple)) else None
    return isinstance(first, (Set, Mapping))


def _are_columns_beside(predictions: Any, references: Any) -> bool:
    """Return whether predictions beside sparse references are numbers of columns, or mappings of them to scores.

    Raises:
        ValueError: the references have no such column.
    """
    columns = references.shape[1]
    if not _is_nested(predictions) or isinstance(predictions, ARROW):
        return False
    if not _has_ids(predictions) and (
        kind_of_ids(predictions) != "integers" or any(len(row) == columns for row in predictions)
    ):
        return False
    rows = predictions.tolist() if isinstance(predictions, np.ndarray) else predictions
    _refuse_other_columns("predictions", rows, columns, first=-1)  # -1 is no document
    return True


def _refuse_other_columns(argument: str, side: Any, columns: int, first: int = 0) -> None:
    """Raise an error for ids beside a matrix on the other side that are not numbers of its columns."""
    queries = side.items() if isinstance(side, Mapping) else () if isinstance(side, Columns) else enumerate(side)
    for query, documents in queries:
        for each in documents if isinstance(documents, (list, tuple, Set, Mapping)) else ():
            if not isinstance(each, (int, np.integer)) or not first <= each < columns:
                other = {"predictions": "references", "references": "scores"}[argument]
                problem = f"{shown(each)} is not the number of a column of the {other}, 0 to {columns - 1}"
                raise InputError(
                    f"query {shown(query)}: {problem}; give the ids of the columns as document_ids", argument
                )


def _by_column(sparse: Any) -> list[dict[int, Any]]:
    """Return what each query stores in a sparse matrix, by the numbers of the columns."""
    ends = sparse.indptr.tolist()
    cells = list(zip(sparse.indices.tolist(), sparse.data.tolist(), strict=True))
    return [dict(cells[start:end]) for start, end in pairwise(ends)]


def _refuse_other_candidates(predictions: Any, references: Any) -> None:
    """Raise an error for indices of a reranker that no candidate has, beside a list of labels for each query."""
    if isinstance(predictions, Mapping):
        labels = references if isinstance(references, Mapping) else {}
    else:
        labels = dict(enumerate(references)) if isinstance(references, (list, tuple, np.ndarray)) else {}
    for query, hits in predictions.items() if isinstance(predictions, Mapping) else enumerate(predictions):
        row = labels.get(query)
        if not isinstance(row, (list, tuple, np.ndarray)):
            continue
        for index in hits:
            if isinstance(index, int) and not 0 <= index < len(row):
                problem = f"the index {index} is not that of a candidate, 0 to {len(row) - 1}"
                raise InputError(
                    f"{problem}; give the labels of all that were sent", "predictions", f"query {shown(query)}"
                )


def _by_index(references: Any) -> Any:
    """Return the values of each query by their positions."""

    def by_index(row: Any) -> Any:
        row = row.tolist() if isinstance(row, np.ndarray) else row
        return dict(enumerate(row)) if isinstance(row, (list, tuple)) else row

    if isinstance(references, Mapping):
        return {query: by_index(row) for query, row in references.items()}
    return list(map(by_index, references)) if isinstance(references, (list, tuple, np.ndarray)) else references


def _is_nested(values: Any) -> bool:
    """Return whether values have a row for each query."""
    if isinstance(values, np.ndarray):
        return values.ndim == 2
    if isinstance(values, ARROW):
        return bool(pa.types.is_nested(values.type))
    return (
        isinstance(values, (list, tuple))
        and not isinstance(values, Columns)
        and len(values) > 0
        and isinstance(values[0], (list, tuple, Mapping, np.ndarray))
    )


def _are_scores(predictions: Any) -> bool:
    """Return whether predictions are rows of scores, and not of ids."""
    if isinstance(predictions, np.ndarray):
        return predictions.ndim == 2 and predictions.dtype.kind == "f"
    return isinstance(predictions, (list, tuple)) and any(
        isinstance(row, (list, tuple, np.ndarray)) and any(isinstance(each, (float, np.floating)) for each in row[:9])
        for row in predictions[:9]
    )


def _scores_of_ids(
    scores: Any, ids: Any, argument: str = "predictions", ascending: bool = False, keep: str | None = None
) -> list[dict[Any, Any]]:
    """Return the values of each query by the ids in the same places; the id -1 is no document."""
    scores, ids = (each.tolist() if isinstance(each, np.ndarray) else each for each in (scores, ids))
    scores, ids = (each.to_pylist() if isinstance(each, ARROW) else each for each in (scores, ids))
    lengths = [list(map(len, each)) for each in (scores, ids)]
    if lengths[0] != lengths[1]:
        at = next(
            (at for at, both in enumerate(zip(*lengths, strict=False)) if both[0] != both[1]), min(map(len, lengths))
        )
        raise InputError(
            f"query {at}: {argument} and document_ids differ in length; give an id for each value", "document_ids"
        )
    rows = []
    for query, (of_query, its_ids) in enumerate(zip(scores, ids, strict=True)):
        kept = [(each, score) for each, score in zip(its_ids, of_query, strict=True) if each != -1]
        try:
            own, kind = [score for _, score in kept], "run" if argument == "predictions" else "qrels"
            rows.append(by_id([each for each, _ in kept], own, kind, ascending, keep=keep))
        except ValueError as error:
            raise within(error, "document_ids", f"query {query}") from None
    return rows


def _labels(scores: Any, relevant: Sequence[Any]) -> list[Any]:
    """Return a label for each column of the scores, from the sets or mappings of relevant columns of each query."""
    check_queries_equal(len(scores), len(relevant))
    rows = []
    for query, (of_query, columns) in enumerate(zip(scores, relevant, strict=True)):
        row = np.zeros(len(of_query))
        _refuse_other_columns("references", {query: columns}, len(row))
        for each in columns:
            row[each] = columns[each] if isinstance(columns, Mapping) else 1
        rows.append(row)
    return rows
