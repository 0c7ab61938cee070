"""What only both sides together tell: whether integers are ids, and whether the ids fit together."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..measure.labels import to_label
from ..measure.messages import InputError, mark, shown, within
from .columns import check_queries_equal, read_flat_column
from .documents import ById, documents_of_query
from .fields import Names, names_of_side
from .hashes import Columns
from .ids import as_list
from .sides import is_empty, read_side, without_filling
from .sources import ARROW, is_sparse

WRITTEN_LIST = re.compile(r"\s*[\[({].*[\])}]\s*", re.DOTALL)
SEPARATOR = re.compile(r"\s*[,;|]\s*|\s+")
FIRST_IDS = 1 << 10  # ids of mappings that may be lists written as text


def together(inputs: Any, names: Names) -> Any:
    """Return inputs of which both sides have ids, or none has."""
    run = with_ids_of_letor(inputs.predictions, inputs.references, inputs.query_ids)
    inputs = inputs._replace(predictions=run)
    if has_ids(run) and are_lists(inputs.references):
        # Text that may be labels is ids beside ids.
        qrels = read_side("references", inputs.references, names_of_side("qrels"))
        inputs = inputs._replace(references=qrels)
    inputs = _with_document_ids(inputs, names)
    inputs = _beside_sparse_labels(inputs, names)
    if has_ids(inputs.references) and not has_ids(inputs.predictions):
        inputs = _beside_judged_ids(inputs, names)
    elif has_ids(inputs.predictions) and not has_ids(inputs.references):
        inputs = _beside_ranked_ids(inputs)
    inputs = _with_query_ids(inputs)
    if has_ids(inputs.predictions) and has_ids(inputs.references):
        return _checked(inputs)
    return inputs


def has_ids(side: Any) -> bool:
    """Return whether the documents of a side have ids."""
    return isinstance(side, (ById, Columns))


def are_lists(side: Any) -> bool:
    """Return whether a side is a list for each query, in any container.

    >>> are_lists([[1, 0], []]), are_lists(np.zeros((2, 3))), are_lists([1, 0]), are_lists(None)
    (True, True, False, False)
    """
    if isinstance(side, ARROW):
        return bool(pa.types.is_nested(side.type))
    if isinstance(side, np.ndarray) and side.dtype.kind != "O":
        return side.ndim == 2
    if not isinstance(side, (list, tuple, np.ndarray)):
        return False
    if len(side) == 0:
        return True
    rows = (row for row in side if getattr(row, "ndim", 1) > 0)  # without numbers in arrays
    return any(isinstance(row, (list, tuple, np.ndarray)) for row in rows)


def lists_of(side: Any) -> list[Any]:
    """Return the lists of queries as lists, also from an array or a column."""
    rows = side.to_pylist() if isinstance(side, ARROW) else side
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]


# Scores of the rows of a file


def with_ids_of_letor(run: Any, qrels: Any, query_ids: Any = None) -> Any:
    """Return the scores of the rows of LETOR, if the references are such, with the ids of rows."""
    are_scores = isinstance(run, Columns) and run.are_rows
    are_rows = isinstance(qrels, Columns) and qrels.are_rows
    if are_scores and query_ids is not None:
        return run.value
    if not are_scores and not are_rows:
        return run
    if run is None or (isinstance(run, ById) and not run.queries):
        return run
    if are_scores and run.place_of is None:
        return run
    if not are_rows:
        hint = f"give references as LETOR, or {mark('query_ids')} and references as arrays"
        raise InputError(f"the file has scores without ids; {hint}", "predictions")
    is_one_column = getattr(run, "shape", ())[1:] == (1,)
    if not are_scores and (has_ids(run) or (are_lists(run) and not is_one_column)):
        problem = "the references are rows of LETOR, which have no ids of documents"
        hint = "give a score for each row, in a flat array or in a file, one a line"
        raise InputError(f"{problem}; {hint}", "predictions")
    scores = run.value if are_scores else run
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(qrels.query):
        rows = f"{len(column.values)} scores for {len(qrels.query)} rows of the references"
        raise InputError(f"holds {rows}; give one for each row, in their order", "predictions")
    # Without the place of a row in a file, they are known to have their ids already.
    scored = qrels._replace(value=column.values, place_of=None, form="the scores of rows")
    return scored.retrieved(column.present)


# Numbers beside ids


def _with_document_ids(inputs: Any, names: Names) -> Any:
    """Return lists of numbers by the ids that `document_ids` has in the same places."""
    ids = inputs.document_ids
    if has_ids(inputs.predictions) or not are_lists(inputs.predictions) or not are_lists(ids):
        return inputs
    qrels = inputs.references
    if are_lists(qrels) and not has_ids(qrels):
        qrels = _by_ids_beside("references", qrels, ids, names_of_side("qrels"))
    run = _by_ids_beside("predictions", inputs.predictions, ids, names)
    return inputs._replace(predictions=run, references=qrels, document_ids=None)


def _by_ids_beside(argument: str, values: Any, ids: Any, names: Names) -> ById:
    """Return the values of each query by the ids in the same places; the id -1 is no document."""
    rows, lists = lists_of(values), lists_of(ids)
    if len(rows) != len(lists):
        problem = f"hold {len(lists)} queries, and {argument} {len(rows)}"
        raise InputError(f"{mark('document_ids')} {problem}; give both for every query")
    queries = {}
    for query, (row, row_ids) in enumerate(zip(rows, lists, strict=True)):
        place = f"query {query}"
        if row is None or row_ids is None:
            of_lack = argument if row is None else "document_ids"
            raise InputError("is None; give [] if there is no document", of_lack, place)
        if len(row) != len(row_ids):
            problem = f"{len(row_ids)} ids and {len(row)} {argument}"
            raise InputError(f"{problem}; give an id for each value", "document_ids", place)
        kept = [pair for pair in zip(row_ids, row, strict=True) if pair[0] != -1]
        documents = [document for document, _ in kept]
        try:
            queries[query] = documents_of_query(documents, [value for _, value in kept], names)
        except InputError as error:
            raise within(error, "document_ids", place) from None
    return ById(queries, by_position=True, form="lists of numbers with ids in document_ids")


def _beside_judged_ids(inputs: Any, names: Names) -> Any:
    """Return predictions that are numbers with ids, beside references that have ids.

    Integers are ids. Scores are those of the documents 0, 1, 2, ..., if the references are such.
    """
    run, qrels = inputs.predictions, inputs.references
    if is_sparse(run):
        _refuse_other_columns("references", qrels, run.shape[1])
        return inputs._replace(predictions=_by_column(run))
    if not are_lists(run):
        return inputs
    rows = lists_of(run)
    if all(isinstance(value, (int, np.integer)) for row in rows for value in row or ()):
        return inputs._replace(predictions=_ranked(rows, names))
    if not _are_integers(qrels):
        raise _numbers_beside_ids(qrels)
    if isinstance(qrels, ById) and qrels.by_position:
        return inputs._replace(references=_labels_of_columns(qrels, rows))
    columns = max((len(row) for row in rows if row is not None), default=0)
    _refuse_other_columns("references", qrels, columns)
    queries = {query: dict(enumerate(row or ())) for query, row in enumerate(rows)}
    form = "lists of scores of the documents 0, 1, 2, ..."
    return inputs._replace(predictions=ById(queries, by_position=True, form=form))


def _beside_sparse_labels(inputs: Any, names: Names) -> Any:
    """Return lists of integers as ids, if the references are a sparse matrix of other columns."""
    run, qrels = inputs.predictions, inputs.references
    if not is_sparse(qrels) or not are_lists(run) or isinstance(run, ARROW):
        return inputs
    rows = lists_of(run)
    are_integers = all(isinstance(value, (int, np.integer)) for row in rows for value in row or ())
    if not are_integers or any(len(row or ()) == qrels.shape[1] for row in rows):
        return inputs
    return inputs._replace(predictions=_ranked(rows, names))


def _ranked(rows: Sequence[Any], names: Names) -> ById:
    """Return lists of integers as ids, best first."""
    queries = {}
    for query, row in enumerate(rows):
        try:
            queries[query] = documents_of_query(without_filling(list(row or ())), None, names)
        except InputError as error:
            raise within(error, "predictions", f"query {query}") from None
    return ById(queries, by_position=True, form="lists of integers, which are ids beside ids")


def _beside_ranked_ids(inputs: Any) -> Any:
    """Return references that are a sparse matrix by the numbers of columns, beside ids."""
    run, qrels = inputs.predictions, inputs.references
    if is_sparse(qrels):
        _refuse_other_columns("predictions", run, qrels.shape[1])
        return inputs._replace(references=_by_column(qrels))
    if not are_lists(qrels):
        return inputs
    ids = "if these are ids of relevant documents, give sets, [set(row) for row in references]"
    values = "if they are values of the documents 0, 1, 2, ..., [dict(enumerate(row)) for row in references]"
    raise InputError(f"hold lists of numbers beside documents with ids; {ids}; {values}", "references")


def _numbers_beside_ids(qrels: Any) -> InputError:
    """Return the error for scores beside documents with ids."""
    ids = f"give {mark('document_ids')}, the id of each score, or {{query: {{document: score}}}}"
    texts = [document for row in _documents(qrels) for document in row if isinstance(document, str)]
    if texts and isinstance(qrels, ById) and qrels.form == "lists of ids":
        problem = f"hold text such as {shown(texts[0])} beside scores"
        return InputError(f"{problem}; {to_label(texts)}; if they are ids, {ids}", "references")
    return InputError(f"hold scores, and the references ids of documents; {ids}", "predictions")


def _are_integers(side: Any) -> bool:
    """Return whether all ids of a side are integers."""
    if isinstance(side, Columns):
        return bool(pa.types.is_integer(side.document.type))
    ids = chain.from_iterable(_documents(side))
    return all(isinstance(document, (int, np.integer)) for document in ids)


def _labels_of_columns(qrels: ById, rows: Sequence[Any]) -> list[Any]:
    """Return a label for each column of the scores, from the numbers of relevant columns."""
    check_queries_equal(len(rows), len(qrels.queries))
    labels = []
    for query, (row, relevant) in enumerate(zip(rows, qrels.queries.values(), strict=True)):
        columns = len(row or ())
        _refuse_other_columns("references", ById({query: relevant}), columns)
        of_query = np.zeros(columns)
        for column, relevance in relevant.items():
            of_query[column] = relevance
        labels.append(of_query)
    return labels


def _by_column(sparse: Any) -> ById:
    """Return what each query stores in a sparse matrix, by the numbers of the columns."""
    columns, values = sparse.indices.tolist(), sparse.data.tolist()
    queries = {}
    for query, (start, end) in enumerate(pairwise(sparse.indptr.tolist())):
        queries[query] = dict(zip(columns[start:end], values[start:end], strict=True))
    return ById(queries, by_position=True, form="a sparse matrix, by the numbers of its columns")


def _refuse_other_columns(argument: str, side: Any, columns: int) -> None:
    """Raise an error for ids beside a matrix on the other side that are no numbers of its columns."""
    if not isinstance(side, ById):
        return
    lowest = -1 if argument == "predictions" else 0  # -1 is no document
    for query, documents in side.queries.items():
        for document in documents:
            is_number = isinstance(document, (int, np.integer))
            if not is_number or not lowest <= document < columns:
                other = "references" if argument == "predictions" else "scores"
                problem = f"{shown(document)} is not the number of a column of the {other}"
                hint = f"give the ids of the columns as {mark('document_ids')}"
                place = f"query {shown(query)}"
                raise InputError(f"{problem}, 0 to {columns - 1}; {hint}", argument, place)


# The ids of queries


def _with_query_ids(inputs: Any) -> Any:
    """Return queries by position with the ids that `query_ids` has for them."""
    run, qrels, query_ids = inputs[:3]
    if query_ids is None or not isinstance(run, ById) or not run.by_position:
        return inputs
    if isinstance(query_ids, (Set, Mapping)):
        kind = type(query_ids).__name__
        problem = f"a {kind} has no order of its own; give a list, an id for each query"
        raise InputError(problem, "query_ids")
    ids = query_ids.tolist() if isinstance(query_ids, np.ndarray) else as_list(query_ids)
    run = run.named("query_ids", ids)
    if isinstance(qrels, ById) and qrels.by_position:
        qrels = qrels.named("query_ids", ids)
    return inputs._replace(predictions=run, references=qrels, query_ids=None)


def _checked(inputs: Any) -> Any:
    """Return inputs with ids on both sides, of which the queries and the ids fit together."""
    run, qrels = inputs.predictions, inputs.references
    run, qrels = _with_integers(run, qrels), _with_integers(qrels, run)
    _refuse_one_by_position(run, qrels)
    refuse_lists_in_ids("predictions", run, qrels)
    refuse_lists_in_ids("references", qrels, run)
    return inputs._replace(predictions=run, references=qrels)


def _with_integers(side: Any, other: Any) -> Any:
    """Return a file whose queries have no ids with integers for them, as lists beside it have."""
    if not isinstance(side, Columns) or side.positions is None or isinstance(other, Columns):
        return side
    return side._replace(query_ids=side.query_ids.cast(pa.int64()))


def _refuse_one_by_position(run: Any, qrels: Any) -> None:
    """Raise an error if one side names its queries and the other does not, or has more queries."""
    if isinstance(run, ById) and not run.queries:
        return
    counts = [queries_without_ids(side) for side in (run, qrels)]
    if counts[0] is not None and counts[1] is not None:
        check_queries_equal(counts[0], counts[1])
    elif counts[0] is not None or counts[1] is not None:
        argument = "references" if counts[0] is None else "predictions"
        problem = "have no ids of queries, which the other side has"
        hint = f"give {mark('query_ids')}, the query of each list, or {{query: ...}}"
        raise InputError(f"{mark(argument)} {problem}; {hint}")


def queries_without_ids(side: Any) -> int | None:
    """Return the number of queries of a side if they have no ids; None if they have."""
    if isinstance(side, Columns):
        return side.positions
    return len(side.queries) if side.by_position else None


# Ids that hold several


def refuse_lists_in_ids(argument: str, side: Any, other: Any) -> None:
    """Raise an error for ids that are lists written as text, or several ids in one cell."""
    for document in _texts_with_brackets(side):
        if _is_written_list(document):
            problem = f"the id {shown(document)} is a list written as text"
            raise InputError(f"{problem}; give lists, as ast.literal_eval reads them", argument)
    if isinstance(side, Columns):
        _refuse_several_in_cells(argument, side, other)


def _texts_with_brackets(side: Any) -> Iterator[str]:
    """Yield ids that may be lists written as text."""
    if isinstance(side, Columns):
        if _hold_any(side.document, b"[({"):
            has_bracket = pc.match_substring_regex(side.document, r"^\s*[\[({]")
            yield from side.document.filter(has_bracket)[:FIRST_IDS].to_pylist()
        return
    documents = chain.from_iterable(_documents(side))
    for document in islice(documents, FIRST_IDS):
        if isinstance(document, str):
            yield document


def _hold_any(ids: pa.ChunkedArray, characters: bytes) -> bool:
    """Return whether any id holds one of some characters, faster than Arrow's search in each id."""
    if not pa.types.is_string(ids.type):
        return False
    for chunk in ids.chunks:
        text = bytes(chunk.buffers()[2] or b"")
        if any(character in text for character in characters):
            return True
    return False


def _is_written_list(document: str) -> bool:
    """Return whether text is a list, a tuple, a set or a mapping in Python's notation or JSON's.

    >>> _is_written_list("['a', 'b']"), _is_written_list("(1967) [draft]")
    (True, False)
    """
    if not WRITTEN_LIST.fullmatch(document):
        return False
    try:
        return isinstance(ast.literal_eval(document.strip()), (list, tuple, set, dict))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _refuse_several_in_cells(argument: str, side: Columns, other: Any) -> None:
    """Raise an error for a cell that holds several ids, of which one is an id of the other side.

    The others are ids of the other side too, or hold digits: the titles "Paris" and "Paris, Texas"
    are two ids.
    """
    if not _hold_any(side.document, b" \t\n,;|"):
        return
    has_parts = pc.match_substring_regex(side.document, r"[^\s,;|][\s,;|]+[^\s,;|]")
    several = side.document.filter(has_parts)
    if not len(several):
        return
    known = {str(document) for document in _ids_of(other)}
    for document in dict.fromkeys(several.to_pylist()):
        parts = [part for part in SEPARATOR.split(document) if part]
        known_parts = [part for part in parts if part in known]
        if document in known or not known_parts:
            continue
        if all(part in known or any(map(str.isdigit, part)) for part in parts):
            problem = f"the id {shown(document)} holds several ids"
            of_other = f"{shown(known_parts[0])} is one of the other side"
            hint = "give a list of ids in each cell, or a row for each document"
            raise InputError(f"{problem}, of which {of_other}; {hint}", argument)


def _documents(side: Any) -> Iterable[Any]:
    """Return the documents of each query of mappings; nothing for columns."""
    if not isinstance(side, ById):
        return ()
    return (row for row in side.queries.values() if not is_empty(row))


def _ids_of(side: Any) -> Iterable[Any]:
    """Return the ids of all documents of a side."""
    if isinstance(side, Columns):
        return side.document.to_pylist() if side.names is None else side.names
    return chain.from_iterable(_documents(side))
