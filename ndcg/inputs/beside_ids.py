"""Numbers beside ids: which documents they are of.

| numbers | beside | are |
|---|---|---|
| lists on both sides | lists of ids in `document_ids` | values of these documents |
| lists of integers | documents with ids | ids, best first |
| lists of scores | documents 0, 1, 2, … | scores of these documents |
| a sparse matrix | documents 0, 1, 2, … | values of these documents |
| lists of integers | references in a wider sparse matrix | numbers of its columns, best first |
| a score per row | references in a file of LETOR | scores of its rows |
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ..measure.labels import to_label
from ..measure.messages import InputError, mark, shown, within
from .columns import as_number, check_queries_equal, read_flat_column, rows_as_lists
from .documents import ById, documents_of_query, has_ids, has_lists_of_ids
from .fields import Names, names_of_side
from .hashes import Columns
from .ids import id_kind
from .no_rankings import refuse_ids
from .sides import read_by_query, read_side, row_of_table, texts_in_lists, without_filling
from .sources import ARROW, are_lists, in_python, is_sparse, plain

Rows = Sequence[Any]  # a list per query
IDS_OF_SCORES = (
    f"give {mark('document_ids')}, the id of each score, or {{query: {{document: score}}}}"
)
SCORE_OF_EACH_ROW = "give a score for each row, in a flat array or in a file, one a line"


def with_ids_on_both(inputs: Any, names: Names) -> Any:
    """Return inputs of which both sides have ids, or none has, where one side may have numbers.

    Args:
        inputs: both sides as they were read, and the ids beside them.
        names: the names of the run.
    """
    run, qrels = inputs.predictions, inputs.references
    ids = inputs.document_ids
    if _are_lists_without_ids(run) and are_lists(ids):
        # The ids of the documents are lists beside the lists of their values.
        if _are_lists_without_ids(qrels):
            _refuse_ids_as_relevances(ids, qrels)
            qrels = _by_ids_beside("references", qrels, ids, names_of_side("qrels"))
        run = _by_ids_beside("predictions", run, ids, names)
        inputs = inputs._replace(document_ids=None)
    if is_sparse(qrels) and _are_columns(run, qrels, names):
        # Lists of integers beside a sparse matrix are numbers of its columns, best first.
        run = _ranked(run, names)
    if has_ids(run):
        qrels = _qrels_by_id(run, qrels)
    elif has_ids(qrels):
        run, qrels = _beside_judged_ids(run, qrels, names)
    return inputs._replace(predictions=run, references=qrels)


def _qrels_by_id(run: ById | Columns, qrels: Any) -> Any:
    """Return the references beside a run with ids: a sparse matrix by its columns."""
    if is_sparse(qrels):
        # The id -1 is no document.
        _refuse_other_columns("predictions", run, range(-1, qrels.shape[1]))
        return _by_column(qrels)
    if _are_lists_without_ids(qrels):
        # Lists of text may have been labels; beside a run with ids, they are ids.
        qrels = read_side("references", qrels, names_of_side("qrels"))
    if _are_lists_without_ids(qrels):
        raise _lists_beside_ids(run, qrels)
    return qrels


def _are_lists_without_ids(side: Any) -> bool:
    return not has_ids(side) and are_lists(side)


def _lists(argument: str, side: Any) -> Rows:
    """Return the values of queries as lists, also from an array or a column; None is empty."""
    rows = ([] if row is None else plain(argument, row) for row in in_python(side))
    return rows_as_lists(argument, rows)


def _are_integers(rows: Iterable[Iterable[Any]]) -> bool:
    return all(isinstance(value, (int, np.integer)) for value in chain.from_iterable(rows))


# Ids beside both sides


def _by_ids_beside(argument: str, values: Any, ids: Any, names: Names) -> ById:
    """Return the values of queries by the ids in the same places; the id -1 is no document."""
    rows, lists = _lists(argument, values), _lists("document_ids", ids)
    check_queries_equal(len(lists), len(rows), "document_ids", argument)
    queries = {}
    for query, (row, row_ids) in enumerate(zip(rows, lists, strict=True)):
        place = f"query {query}"
        if len(row) != len(row_ids):
            problem = f"its length is {len(row_ids)}, that of the {argument} {len(row)}"
            hint = "give an id for each value"
            if argument == "references":
                hint += ", or, if these are the ids of relevant documents, sets"
            raise InputError(f"{problem}; {hint}", "document_ids", place)
        places = _places_of_ids(row_ids)
        documents = [row_ids[index] for index in places]
        numbers = [as_number(row[index]) for index in places]
        try:
            queries[query] = documents_of_query(documents, numbers, names)
        except InputError as error:
            raise within(error, "document_ids", place) from None
    return ById(queries, by_position=True, form="lists of numbers with ids in document_ids")


def _places_of_ids(row: Sequence[Any]) -> Sequence[int]:
    """Return the places that have ids: FAISS fills up its lists with -1."""
    try:
        return [index for index, document in enumerate(row) if document != -1]
    except (TypeError, ValueError):  # of what is neither equal nor another, and is refused as an id
        return range(len(row))


def _refuse_ids_as_relevances(ids: Any, qrels: Any) -> None:
    """Raise an error, or warn, for references that are ids, as those of a search without errors."""
    id_lists, rows = _lists("document_ids", ids), _lists("references", qrels)
    lengths = list(map(len, rows))
    if list(map(len, id_lists)) != lengths or not _are_integers([*id_lists, *rows]):
        return
    documents, numbers = (np.array(list(chain(*lists))) for lists in (id_lists, rows))
    refuse_ids(("references", "document_ids"), (numbers, documents), np.array(lengths))


# Predictions beside judged ids


def _beside_judged_ids(run: Any, qrels: Any, names: Names) -> tuple[Any, Any]:
    """Return predictions that are lists of numbers or sparse, and references that have ids.

    Integers are ids. Scores are of the documents 0, 1, 2, ..., if the references are such.
    """
    if is_sparse(run):
        _refuse_other_columns("references", qrels, range(run.shape[1]))
        return _by_column(run), qrels
    if not are_lists(run):
        return run, qrels
    rows = _lists("predictions", run)
    if _are_integers(rows):
        return _ranked(run, names), qrels  # as rankers return ids without scores
    if id_kind(type(qrels.first_id)) != "integers":
        raise _scores_beside_ids(qrels)
    if isinstance(qrels, ById) and qrels.by_position:
        return run, _labels_of_columns(qrels, rows)
    _refuse_other_columns("references", qrels, range(max(map(len, rows), default=0)))
    queries = {query: dict(enumerate(row)) for query, row in enumerate(rows)}
    form = "lists of scores of the documents 0, 1, 2, ..."
    return ById(queries, by_position=True, form=form), qrels


def _ranked(run: Any, names: Names) -> ById:
    """Return lists of integers as ids, best first."""
    rows = enumerate(_lists("predictions", run))
    ranked = read_by_query("predictions", rows, names, by_position=True)
    return replace(ranked, form="lists of integers, which are ids beside ids")


def _labels_of_columns(qrels: ById, rows: Rows) -> list[Any]:
    """Return a label per column of the scores, from the numbers of relevant columns."""
    check_queries_equal(len(rows), len(qrels.queries))
    labels = []
    for query, (row, judged) in enumerate(zip(rows, qrels.queries.values(), strict=True)):
        _refuse_other_columns("references", ById({query: judged}), range(len(row)))
        relevances = np.zeros(len(row))
        relevances[list(judged)] = list(judged.values())
        labels.append(relevances)  # columns that are not listed are irrelevant
    return labels


def _scores_beside_ids(qrels: ById | Columns) -> InputError:
    if has_lists_of_ids(qrels):
        return _text_beside_scores(list(qrels.ids()))
    problem = "hold scores, and the references ids of documents"
    return InputError(f"{problem}; {IDS_OF_SCORES}", "predictions")


def instead_of_refused_ids(error: InputError, run: Any, qrels: Any) -> InputError:
    """Return the error of references beside predictions that have been read.

    Lists of text beside scores may be labels, which may be repeated, unlike ids.
    """
    texts = texts_in_lists(qrels)
    if texts and _are_lists_without_ids(run):
        return _text_beside_scores(texts)
    return error


def _text_beside_scores(texts: Sequence[Any]) -> InputError:
    problem = f"hold text such as {shown(texts[0])} beside scores"
    hint = f"{to_label(texts)}; if they are ids, {IDS_OF_SCORES}"
    return InputError(f"{problem}; {hint}", "references")


def _lists_beside_ids(run: ById | Columns, qrels: Any) -> InputError:
    first = next(iter(qrels), None)
    if type(first) is tuple:
        return row_of_table("references", first, names_of_side("qrels"))
    problem = f"hold lists of numbers beside documents with ids, such as {shown(run.first_id)}"
    ways = [
        "if they are ids of relevant documents, give sets, [set(row) for row in references]",
        "if values, name their documents, [dict(zip(ids, row)) for ids, row in ...]",
    ]
    if not isinstance(run.first_id, str):  # perhaps a position among candidates
        by_place = "give [dict(enumerate(row)) for row in references]"
        ways.insert(0, f"if they are values of the documents 0, 1, 2, ..., {by_place}")
    return InputError("; ".join([problem, *ways]), "references")


# Sparse matrices


def _are_columns(run: Any, sparse: Any, names: Names) -> bool:
    """Return whether predictions are numbers of columns of a sparse matrix, and not its values.

    Raises:
        InputError: they could be both, and nobody said which score is best.
    """
    if isinstance(run, ARROW) or not _are_lists_without_ids(run):
        return False
    rows = _lists("predictions", run)
    if not _are_integers(rows):
        return False
    columns = set(range(sparse.shape[1]))
    # Scores are of all columns.
    if names.has_no_value or set(map(len, rows)) != {len(columns)}:
        return True
    ranked = map(without_filling, rows)
    are_both = all(sorted(row) == sorted(columns.intersection(row)) for row in ranked)
    if are_both and not names.is_order_given:
        last = len(columns) - 1
        problem = f"hold each of 0 to {last} once in a query at most, as columns or scores may"
        ids = f"{mark('fields', {'score': None})} if these are columns, best first"
        raise InputError(f"{problem}; give {ids}, or floats if scores", "predictions")
    return False


def _by_column(sparse: Any) -> ById:
    """Return what queries store in a sparse matrix, by the numbers of the columns."""
    columns, values = sparse.indices.tolist(), sparse.data.tolist()
    queries = {}
    for query, (start, end) in enumerate(pairwise(sparse.indptr.tolist())):
        queries[query] = dict(zip(columns[start:end], values[start:end], strict=True))
    return ById(queries, by_position=True, form="a sparse matrix, by the numbers of its columns")


def _refuse_other_columns(argument: str, side: ById | Columns, columns: range) -> None:
    """Raise an error for ids that are no numbers of columns of a matrix on the other side."""
    if not isinstance(side, ById):
        return
    numbers = set(columns)  # in which text is sought faster
    for query, documents in side.queries.items():
        others = [document for document in documents if document not in numbers]
        if others:
            problem = f"{shown(others[0])} is not the number of a column of the other side"
            hint = f"give the ids of the columns as {mark('document_ids')}"
            place = f"query {shown(query)}"
            raise InputError(f"{problem}, 0 to {columns.stop - 1}; {hint}", argument, place)


# Rows of LETOR


def _are_rows(side: Any) -> bool:
    return isinstance(side, Columns) and side.are_rows


def with_ids_of_letor(run: Any, qrels: Any, query_ids: Any = None) -> Any:
    """Return the scores with the ids of the rows, if the references are rows of LETOR."""
    are_judged = _are_rows(qrels)
    if _are_rows(run):
        if query_ids is not None:
            return run.value
        if run.place_of is None:
            return run  # which has the ids already
        if not are_judged:
            hint = f"give references as LETOR, or {mark('query_ids')} and references as arrays"
            raise InputError(f"the file has scores without ids; {hint}", "predictions")
        return _scores_of_rows(run.value, qrels)
    if not are_judged:
        return run
    if run is None or (isinstance(run, ById) and not run.queries):
        return run
    if has_ids(run):
        problem = "the references are rows of LETOR, which have no ids of documents"
        raise InputError(f"{problem}; {SCORE_OF_EACH_ROW}", "predictions")
    return _scores_of_rows(run, qrels)


def _scores_of_rows(scores: Any, qrels: Columns) -> Columns:
    """Return scores with the ids of the rows of the references, of which each has one."""
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(qrels.query):
        rows = f"row of the references, in their order, {len(qrels.query)} in all"
        problem = f"must hold one score per {rows}; got {len(column.values)}"
        raise InputError(problem, "predictions")
    scored = qrels._replace(value=column.values, place_of=None, form="the scores of rows")
    return scored.retrieved(column.present)
