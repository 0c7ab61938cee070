"""Put both sides together where only both tell what they are: matrices of ids and scores, files without ids, columns.

A table lists the kinds that are read in a special way when they meet; `reading` joins or refuses all others.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import pairwise
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ..measure.messages import InputError, mark, shown, within
from .columns import read_flat_column
from .formats import dict_of_queries
from .hashes import Columns
from .hits import by_id, hint_of_unnamed
from .ids import as_list
from .kinds import BY_ID, NESTED, OF_NUMBERS, kind_of, rows_of
from .ranked_ids import check_queries_equal
from .sources import ARROW


class Meeting(NamedTuple):
    """Two sides that are read in a way of their own if they meet."""

    run: Sequence[str]  # the kinds of the predictions; empty for any
    qrels: Sequence[str]  # the kinds of the references; empty for any
    read: Callable[..., Any]  # returns the inputs as they are read then
    query_ids: bool | None = None  # whether there are ids of queries; None if it does not matter
    document_ids: bool | None = None

    def meets(self, inputs: Any, run: str, qrels: str) -> bool:
        """Return whether the inputs, of these kinds, are such a pair."""
        given = (self.query_ids, inputs.query_ids), (self.document_ids, inputs.document_ids)
        return (
            (not self.run or run in self.run)
            and (not self.qrels or qrels in self.qrels)
            and all(asked is None or asked is (ids is not None) for asked, ids in given)
        )


def together(inputs: Any, score_order: str = "descending", keep: str | None = None) -> Any:
    """Return inputs whose format depends on both sides as mappings, columns of ids or lists; others unchanged."""
    kinds = kind_of(inputs.predictions), kind_of(inputs.references)
    if set(kinds) <= set(BY_ID):
        return inputs
    for meeting in MEETINGS:
        if meeting.meets(inputs, *kinds):
            inputs = meeting.read(inputs, score_order == "ascending", keep)
            kinds = kind_of(inputs.predictions), kind_of(inputs.references)
    return inputs


# Files without ids


def _scores_of_rows(inputs: Any, *_: Any) -> Any:
    """Return the scores of a file, a line each, which are those of rows that have ids in other arguments."""
    return inputs._replace(predictions=inputs.predictions.value)


def _rows_of_letor(inputs: Any, *_: Any) -> Any:
    """Return the scores of the rows of a file of LETOR, as columns with the rows' ids."""
    return inputs._replace(predictions=of_letor(inputs.predictions, inputs.references))


def of_letor(predictions: Any, references: Any) -> Any:
    """Return the scores of the rows of a file of LETOR, if that is the references, as columns with the rows' ids.

    Beside other references, predictions that are no such scores are returned unchanged.
    """
    are_scores = kind_of(predictions) == "rows"
    is_no_run = isinstance(predictions, (Mapping, NoneType)) and not predictions
    if is_no_run or (kind_of(references) != "rows" and not are_scores):
        return predictions
    if kind_of(references) != "rows":
        hint = f"give references as LETOR, or {mark('query_ids')} and references as arrays"
        raise InputError(f"the file has scores without ids; {hint}", "predictions")
    if are_scores and predictions.place is None:
        return predictions  # they have the ids of the rows already
    are_flat = kind_of(predictions) not in NESTED or getattr(predictions, "shape", ())[1:] == (1,)
    if not are_scores and (isinstance(predictions, (Mapping, Columns)) or not are_flat):
        hint = "give a score for each row, in a flat array or in a file, one a line"
        raise InputError(f"the references are rows of LETOR, which have no ids of documents; {hint}", "predictions")
    scores = predictions.value if are_scores else predictions
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(references.query):
        rows = f"{len(column.values)} scores for {len(references.query)} rows of the references"
        raise InputError(f"holds {rows}; give one for each row, in their order", "predictions")
    return references._replace(value=column.values, place=None).retrieved(column.present)


def _by_position(inputs: Any, *_: Any) -> Any:
    """Return a file without ids of queries as a list of mappings, if the other side is a list."""
    run, qrels = inputs.predictions, inputs.references
    run = _alike("predictions", run, qrels)
    return inputs._replace(predictions=run, references=_alike("references", qrels, run))


def _alike(argument: str, side: Any, other: Any) -> Any:
    """Return a file without ids of queries as a list of mappings, if the other side is a list; others unchanged."""
    if kind_of(side) != "positions":
        return side
    if kind_of(other) in BY_ID:
        hint = 'name them in both, as in {"query_id": "q1", "hits": [...]} or {"q1": [...]}'
        problem = f"the file names no queries, which the other side does; {hint}{hint_of_unnamed(side)}"
        raise InputError(problem, argument)
    if isinstance(other, Columns) and argument == "references":
        check_queries_equal(other.positions or 0, side.positions)
    if not isinstance(other, (list, tuple, np.ndarray, *ARROW)):
        return side
    rows: list[dict[Any, Any]] = [{} for _ in range(side.positions)]
    at = np.array(side.query_ids.to_pylist(), np.int64)[side.query].tolist()
    for query, document, value in zip(at, side.document.to_pylist(), side.value.tolist(), strict=True):
        rows[query][document] = value
    return rows


# Positions of candidates, and numbers of columns


def _by_candidate(inputs: Any, *_: Any) -> Any:
    """Return hits whose ids are positions of candidates as mappings, and the labels of all candidates by position."""
    predictions, references = inputs.predictions.rows, inputs.references
    if isinstance(predictions, Mapping):
        labels = references if isinstance(references, Mapping) else {}
    else:
        is_list = isinstance(references, (list, tuple, np.ndarray)) and not isinstance(references, Columns)
        labels = dict(enumerate(references)) if is_list else {}
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
    return inputs._replace(predictions=predictions, references=_by_index(references))


def _by_index(side: Any) -> Any:
    """Return the values of each query by their positions."""

    def by_index(row: Any) -> Any:
        row = row.tolist() if isinstance(row, np.ndarray) else row
        return dict(enumerate(row)) if isinstance(row, (list, tuple)) else row

    if isinstance(side, Mapping):
        return {query: by_index(row) for query, row in side.items()}
    is_list = isinstance(side, (list, tuple, np.ndarray, *ARROW)) and not isinstance(side, Columns)
    return list(map(by_index, rows_of(side))) if is_list else side


def _by_column_of_run(inputs: Any, *_: Any) -> Any:
    """Return a sparse matrix of scores by the numbers of its columns, which are the ids in the references."""
    _refuse_other_columns("references", inputs.references, inputs.predictions.shape[1])
    return inputs._replace(predictions=_by_column(inputs.predictions))


def _by_column_of_qrels(inputs: Any, *_: Any) -> Any:
    """Return a sparse matrix of relevances by the numbers of its columns, if the run has these numbers."""
    predictions, columns = inputs.predictions, inputs.references.shape[1]
    if isinstance(predictions, ARROW):
        return inputs
    if any(isinstance(row, Set) for row in predictions):
        raise InputError("a set has no order; give a list of ids, best first", "predictions")
    if kind_of(predictions) == "integers" and any(row is not None and len(row) == columns for row in predictions):
        return inputs
    _refuse_other_columns("predictions", rows_of(predictions), columns, first=-1)  # -1 is no document
    return inputs._replace(references=_by_column(inputs.references))


def _by_column(sparse: Any) -> list[dict[int, Any]]:
    """Return what each query stores in a sparse matrix, by the numbers of the columns."""
    ends = sparse.indptr.tolist()
    cells = list(zip(sparse.indices.tolist(), sparse.data.tolist(), strict=True))
    return [dict(cells[start:end]) for start, end in pairwise(ends)]


def _refuse_other_columns(argument: str, side: Any, columns: int, first: int = 0) -> None:
    """Raise an error for ids beside a matrix on the other side that are not numbers of its columns."""
    queries = side.items() if isinstance(side, Mapping) else () if isinstance(side, Columns) else enumerate(side)
    for query, documents in queries:
        for each in documents if isinstance(documents, (list, tuple, Set, Mapping)) else ():
            if not isinstance(each, (int, np.integer)) or not first <= each < columns:
                other = {"predictions": "references", "references": "scores"}[argument]
                problem = f"{shown(each)} is not the number of a column of the {other}, 0 to {columns - 1}"
                raise InputError(
                    f"query {shown(query)}: {problem}; give the ids of the columns as {mark('document_ids')}", argument
                )


def _labels_of_columns(inputs: Any, *_: Any) -> Any:
    """Return a label for each column of the scores, from sets or mappings of the numbers of relevant columns."""
    scores, relevant = inputs.predictions, inputs.references
    are_sets = all(isinstance(row, (Set, Mapping)) for row in relevant) and any(map(len, relevant))
    if not are_sets or not all(isinstance(each, (int, np.integer)) for row in relevant for each in row):
        return inputs
    check_queries_equal(len(scores), len(relevant))
    rows = []
    for query, (of_query, columns) in enumerate(zip(scores, relevant, strict=True)):
        row = np.zeros(len(of_query))
        _refuse_other_columns("references", {query: columns}, len(row))
        for each in columns:
            row[each] = columns[each] if isinstance(columns, Mapping) else 1
        rows.append(row)
    return inputs._replace(references=rows)


# Rows with ids in other arguments


def _by_document_ids(inputs: Any, ascending: bool, keep: str | None) -> Any:
    """Return a matrix of scores by the matrix of their documents' ids, and the relevances likewise if they are one."""
    predictions, references, document_ids = inputs.predictions, inputs.references, inputs.document_ids
    if kind_of(document_ids) not in (*OF_NUMBERS, "text", "empty"):
        return inputs
    if kind_of(references) in OF_NUMBERS:  # integers in lists are values
        references = _values_of_ids(references, document_ids, "references")
    predictions = _values_of_ids(predictions, document_ids, "predictions", ascending, keep)
    return inputs._replace(predictions=predictions, references=references, document_ids=None)


def _values_of_ids(
    values: Any, ids: Any, argument: str, ascending: bool = False, keep: str | None = None
) -> list[dict[Any, Any]]:
    """Return the values of each query by the ids in the same places; the id -1 is no document."""
    values, ids = rows_of(values), rows_of(ids)
    for name, lists in ((argument, values), ("document_ids", ids)):
        if (query := next((at for at, each in enumerate(lists) if each is None), None)) is not None:
            raise InputError(f"query {query} is None; give [] if there is no document", name)
    lengths = [list(map(len, each)) for each in (values, ids)]
    if lengths[0] != lengths[1]:
        at = next(
            (at for at, both in enumerate(zip(*lengths, strict=False)) if both[0] != both[1]), min(map(len, lengths))
        )
        raise InputError(
            f"query {at}: {argument} and {mark('document_ids')} differ in length; give an id for each value",
            "document_ids",
        )
    rows = []
    for query, (of_query, its_ids) in enumerate(zip(values, ids, strict=True)):
        kept = [(each, value) for each, value in zip(its_ids, of_query, strict=True) if each != -1]
        try:
            own, kind = [value for _, value in kept], "run" if argument == "predictions" else "qrels"
            rows.append(by_id([each for each, _ in kept], own, kind, ascending, keep=keep))
        except ValueError as error:
            raise within(error, "document_ids", f"query {query}") from None
    return rows


def _scores_by_column(inputs: Any, *_: Any) -> Any:
    """Return a matrix of scores whose columns are the documents of the references, by the numbers of the columns."""
    predictions = _by_index(inputs.predictions)
    columns = max(len(row) for row in predictions if isinstance(row, dict))
    _refuse_other_columns("references", inputs.references, columns)
    return inputs._replace(predictions=predictions)


def _by_query_ids(inputs: Any, *_: Any) -> Any:
    """Return a list of queries by their ids, if there is one for each."""
    predictions, query_ids = inputs.predictions, inputs.query_ids
    if len(query_ids) != len(predictions):
        return inputs
    if isinstance(query_ids, (Set, Mapping)):
        raise InputError(
            f"a {type(query_ids).__name__} has no order of its own; give a list, an id for each row", "query_ids"
        )
    ids = list(query_ids.tolist() if isinstance(query_ids, np.ndarray) else as_list(query_ids))
    return inputs._replace(predictions=dict_of_queries("query_ids", ids, rows_of(predictions)), query_ids=None)


MEETINGS = (  # each is tried in this order, on what those before it made
    Meeting(("rows",), (), _scores_of_rows, query_ids=True),
    Meeting(("rows",), (), _rows_of_letor),
    Meeting((), ("rows",), _rows_of_letor),
    Meeting(("positions",), (), _by_position),
    Meeting((), ("positions",), _by_position),
    Meeting(("indices",), (), _by_candidate),
    Meeting((*OF_NUMBERS, "empty"), (), _by_document_ids, document_ids=True),
    Meeting(("sparse",), (*BY_ID, "sets"), _by_column_of_run),
    Meeting(("integers", "sets"), ("sparse",), _by_column_of_qrels),
    Meeting(("scores",), BY_ID, _scores_by_column, query_ids=True),
    Meeting((*NESTED, "empty"), BY_ID, _by_query_ids, query_ids=True),
    Meeting(("scores",), ("sets",), _labels_of_columns, query_ids=False),
)
