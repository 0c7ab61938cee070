"""Recognize the format of one side: a table of rows, records, or hits; the rows become `Columns`, hits mappings.

Other formats are left as they are: lists and columns of numbers, mappings, and ranked ids.
"""

import io
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..measure.messages import shown, warn
from ..measure.scoring import in_threads
from .columns import beyond_2_53, read_flat_column
from .exclusion import Pairs
from .hashes import Columns, hashes_of, repeated_row
from .hits import (
    Hits,
    answers_in,
    are_hits,
    by_id,
    contradiction,
    hits_of,
    in_query,
    query_of,
)
from .ids import id_column, id_kind, read_ids
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
    settled,
    table_names,
)
from .tables import (
    ID_NAMES,
    Possible,
    UnknownColumnError,
    are_columns,
    chosen_columns,
    plain_name,
    possible_names,
    refuse_lowest_first,
    table_records,
)

HASHED = 1 << 17  # rows whose ids a thread hashes at a time
PLAIN_NUMBERS = (int, float)
KIND_OF_ARGUMENT = {"references": "qrels", "exclude": "exclude"}  # else a run


def with_ids(argument: str, side: Any, names: Mapping[str, str], score_order: str = "descending") -> Any:
    """Return a table of rows or records as `Columns`, hits as a mapping or a list of mappings, and others unchanged.

    The columns of queries and documents have `names` if these are not known ones.

    >>> with_ids("predictions", [[{"id": "d1", "score": 0.5}]], {})
    [{'d1': 0.5}]
    """
    kind = KIND_OF_ARGUMENT.get(argument, "run")
    if kind == "run" and score_order == "descending":
        refuse_lowest_first(name_of_column(side), argument)
    if isinstance(side, io.IOBase):
        raise ValueError(f"{argument}: is an open file ({type(side).__name__}); give its path")
    if isinstance(side, Iterator) and not is_database_query(side):
        side = list(side)
    if side is None or isinstance(side, (str, Columns, Pairs)) or is_sparse(side):
        return side
    possible = possible_names(kind, names, score_order)
    if isinstance(side, Mapping) or (columns := table_names(side)) is None:
        found = _in_objects(argument, side, kind, possible)
        if found is None:
            return side if kind == "exclude" else _hits(argument, side, kind, score_order == "ascending")
        side, columns = found, list(found)
    if is_spark(side):
        raise ValueError(
            f"{argument}: is a Spark DataFrame; give both sides as Spark DataFrames, or its rows, frame.toArrow()"
        )
    return _of_table(argument, side, columns, kind, possible)


def are_numbers(side: Any) -> bool:
    """Return whether a side is an array of numbers, or nested lists that begin with one: it has no other format."""
    if type(side) is list:
        return bool(side and type(side[0]) is list and side[0] and type(side[0][0]) in PLAIN_NUMBERS)
    return type(side) is np.ndarray and side.dtype.kind in "biuf"


# Tables of rows, and records


def _in_objects(argument: str, side: Any, kind: str, possible: Possible) -> Mapping[Any, Any] | None:
    """Return the columns of a dict of columns or of records; None for anything else."""
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
    names = record_names(side[0])
    known = set(map(plain_name, names))
    found = sum(not known.isdisjoint(each) for each in possible.values())
    if found < 2 or (found < len(possible) and are_hits(side[0], kind)):
        return None
    try:
        chosen = [names[at] for at in chosen_columns(names, possible, "the first record")]
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    return {name: record_values(argument, side, name) for name in chosen}


def _are_columns(side: Mapping[Any, Any], possible: Possible) -> bool:
    """Return whether a mapping holds columns: lists or arrays of the same length, of ids and numbers."""
    if len(side) > 100 or not are_columns(side, possible):
        return False
    known = {name for names in possible.values() for name in names}
    columns = [each for name, each in side.items() if isinstance(name, str) and plain_name(name) in known]
    return all(isinstance(each, (list, tuple, np.ndarray, *ARROW)) or hasattr(each, "__array__") for each in columns)


def _of_table(argument: str, table: Any, names: Sequence[Any], kind: str, possible: Possible) -> Any:
    """Return the rows of a table as columns."""
    try:
        at = chosen_columns(names, possible, "the table")
    except UnknownColumnError as error:
        hint = "; or name the columns by query_ids= and document_ids=" if {*error.columns} & {*ID_NAMES} else ""
        raise ValueError(
            f"{argument}: {error}{hint}; if each row is a query, give its column of lists, or an array"
        ) from None
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    named = dict(zip(possible, (names[each] for each in at), strict=True))
    cells = dict(
        zip(named, settled(**dict(zip(named, named_columns(table, argument, **named), strict=True))), strict=True)
    )
    if kind == "exclude":
        return Pairs(*cells.values())
    query = read_ids(f"{argument}: the column {named['query']!r}", cells.pop("query"))
    document = id_column(f"{argument}: the column {named['document']!r}", cells.pop("document"))

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    ((value, values),) = cells.items()
    column = read_flat_column(f"{argument}: the column {named[value]!r}", values, place)
    lengths = query.rows, len(document), len(column.values)
    if len(set(lengths)) > 1:
        raise ValueError(
            f"{argument}: columns differ in length: {shown(dict(zip(named.values(), lengths, strict=True)))}"
        )
    numbers = column.values
    if numbers.dtype.kind != "f" and not beyond_2_53(numbers).any():
        numbers = numbers.astype(np.float64)
    starts = range(0, len(document), HASHED)
    hashes = in_threads(hashes_of, [document[start : start + HASHED] for start in starts] or [document])
    side = Columns(query.codes, query.distinct, document, numbers, np.concatenate(hashes))
    if repeated := repeated_row(side):
        (row, before), ids = repeated, "document {} of query {}".format(*side.words(repeated[0]))
        raise ValueError(f"{argument}: row {row}: {ids} is in row {before} already; give it once for a query")
    if kind == "qrels":  # a query without judgments counts
        rows = np.arange(len(numbers)) if column.present is None else np.flatnonzero(column.present)
        side = side if column.present is None else side.only(column.present)
        return side._replace(place=lambda row: f"row {rows[row]}")
    return _of_present(side, column.present)  # after an outer join, a document without a score was not retrieved


# Hits


class Indices(NamedTuple):
    """Hits of rerankers, by query, whose ids are positions in the lists of the references."""

    rows: Any


def _hits(argument: str, side: Any, kind: str, ascending: bool) -> Any:
    """Return hits as mappings of ids to values, by query or in the order of the queries; others unchanged."""
    if isinstance(side, Mapping):
        side = answers_in(side, kind)
    if not isinstance(side, (list, tuple, Mapping)):
        return side
    rows = list(side.values()) if isinstance(side, Mapping) else side
    first = next((row for row in rows if not _is_empty(row)), None)
    if first is None or _is_plain(first):
        return side
    queries: Any = list(side) if isinstance(side, Mapping) else [query_of(row) for row in rows]
    are_named = isinstance(side, Mapping) or all(map(id_kind, map(type, queries)))
    found: list[Any] = []
    warning, are_indices = "", False
    for query, row in zip(queries if are_named else count(), rows, strict=False):
        try:
            hits = Hits(()) if _is_empty(row) else hits_of(row, kind, ascending)
            if hits is None and not any(found):
                return side
            if hits is None:
                raise ValueError(f"is not a list of hits, as the first query has; got {shown(row)}")
            found.append(by_id(hits.ids, hits.values, kind, ascending))
        except ValueError as error:
            raise in_query(f"{argument}: query {shown(query)}", error) from None
        are_indices |= hits.are_indices
        if kind == "run" and not warning:
            warning = contradiction(shown(query), hits, ascending)
    if warning:
        warn(f"{argument}: {warning}")
    if are_indices:  # an "id" beside them is that of the response
        return Indices(dict(zip(side, found, strict=True)) if isinstance(side, Mapping) else found)
    if not are_named:
        return found
    if len(set(queries)) < len(queries):
        again = next(query for at, query in enumerate(queries) if query in queries[:at])
        raise ValueError(f"{argument}: query {shown(again)} is there twice; give each query once")
    return dict(zip(queries, found, strict=True))


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


def together(inputs: Any) -> Any:
    """Return inputs whose format depends on both sides as mappings: matrices of ids and scores, and sets of columns."""
    predictions, references, query_ids, document_ids = inputs[:4]
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
        predictions, document_ids = _scores_of_ids(predictions, document_ids), None
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
        names = query_ids.tolist() if isinstance(query_ids, np.ndarray) else query_ids
        names = names.to_pylist() if isinstance(names, ARROW) else names
        predictions, query_ids = dict(zip(names, predictions, strict=True)), None
    if query_ids is None and isinstance(references, (list, tuple)) and _are_scores(predictions):
        are_sets = all(isinstance(row, (Set, Mapping)) for row in references) and any(map(len, references))
        if are_sets and all(isinstance(each, (int, np.integer)) for row in references for each in row):
            references = _labels(predictions, references)
    return inputs._replace(
        predictions=predictions, references=references, query_ids=query_ids, document_ids=document_ids
    )


def _alike(argument: str, side: Any, other: Any) -> Any:
    """Return a file without ids of queries as a list of mappings, if the other side is a list; others unchanged."""
    if not isinstance(side, Columns) or side.positions is None:
        return side
    if isinstance(other, Mapping) or (isinstance(other, Columns) and other.positions is None):
        hint = 'name them in both, as in {"query_id": "q1", "hits": [...]} or {"q1": [...]}'
        raise ValueError(f"{argument}: the file names no queries, which the other side does; {hint}")
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
            raise ValueError(f"predictions: the file has scores without ids; {hint}")
        return predictions
    if are_scores and predictions.place is None:
        return predictions  # which have the ids of the rows already
    are_flat = not _is_nested(predictions) or getattr(predictions, "shape", ())[1:] == (1,)
    if not are_scores and (isinstance(predictions, (Mapping, Columns)) or not are_flat):
        hint = "give a score for each row, in a flat array or in a file, one a line"
        raise ValueError(f"predictions: the references are rows of LETOR, which have no ids of documents; {hint}")
    scores = predictions.value if are_scores else predictions
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(references.query):
        rows = f"{len(column.values)} scores for {len(references.query)} rows of the references"
        raise ValueError(f"predictions: holds {rows}; give one for each row, in their order")
    return _of_present(references._replace(value=column.values, place=None), column.present)


def _of_present(run: Columns, present: Any) -> Columns:
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
                raise ValueError(
                    f"{argument}: query {shown(query)}: {problem}; give the ids of the columns as document_ids"
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
                raise ValueError(f"predictions: query {shown(query)}: {problem}; give the labels of all that were sent")


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


def _scores_of_ids(scores: Any, ids: Any) -> list[dict[Any, Any]]:
    """Return the scores of each query by the ids in the same places; the id -1 is no document."""
    scores, ids = (each.tolist() if isinstance(each, np.ndarray) else each for each in (scores, ids))
    scores, ids = (each.to_pylist() if isinstance(each, ARROW) else each for each in (scores, ids))
    lengths = [list(map(len, each)) for each in (scores, ids)]
    if lengths[0] != lengths[1]:
        at = next(
            (at for at, both in enumerate(zip(*lengths, strict=False)) if both[0] != both[1]), min(map(len, lengths))
        )
        raise ValueError(
            f"document_ids: query {at}: predictions and document_ids differ in length; give an id for each score"
        )
    rows = []
    for query, (of_query, its_ids) in enumerate(zip(scores, ids, strict=True)):
        kept = [(each, score) for each, score in zip(its_ids, of_query, strict=True) if each != -1]
        try:
            rows.append(by_id([each for each, _ in kept], [score for _, score in kept], "run"))
        except ValueError as error:
            raise in_query(f"document_ids: query {query}", error) from None
    return rows


def _labels(scores: Any, relevant: Sequence[Any]) -> list[Any]:
    """Return a label for each column of the scores, from the sets or mappings of relevant columns of each query."""
    if len(scores) != len(relevant):
        raise ValueError(
            f"predictions hold {len(scores)} queries and references {len(relevant)}; give both for every query"
        )
    rows = []
    for query, (of_query, columns) in enumerate(zip(scores, relevant, strict=True)):
        row = np.zeros(len(of_query))
        _refuse_other_columns("references", {query: columns}, len(row))
        for each in columns:
            row[each] = columns[each] if isinstance(columns, Mapping) else 1
        rows.append(row)
    return rows
