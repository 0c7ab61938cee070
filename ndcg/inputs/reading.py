"""Read rankings in any format as aligned arrays of relevance and score.

Rankings may be matched by position, as nested lists, arrays, tensors or columns of lists; they may be flat, one row per
document with the id of its query; or they may be matched by the ids of queries and documents. ``read`` converts each
format to :class:`Rankings`: the values of all queries, one query after the other, the start of each query, and two
masks that mark the judged and the retrieved documents.
"""

from collections.abc import Iterable, Iterator, Mapping, Set, ValuesView
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..measure.labels import Labels
from ..measure.messages import InputError, mark, shown, warn
from ..measure.scoring import InvalidRankingError
from .columns import Place, numbered, read_column
from .exclusion import by_position
from .fields import check_fields, with_names_of_columns
from .formats import plain_kind, with_ids
from .hashes import Columns
from .hits import hint_of_unnamed, names_of_unnamed
from .ids import check_ids
from .ids_as_values import refuse_ids_as_values, refuse_other_rows, refuse_typed_triples
from .joins import join_by_id, join_rows, refuse_open_ties
from .kinds import BY_ID, OF_NUMBERS, kind_of
from .meetings import together
from .ranked_ids import by_ranked_ids, check_queries_equal, with_ids_by_query
from .rankings import Rankings, to_arrow
from .sources import is_sparse, listed, settled
from .sparse import dense_pieces, join_sparse

# Nested lists and chunked columns are read in parts of about this many documents.
PART = 1 << 20


class Inputs(NamedTuple):
    """Rankings in any format that `read` accepts."""

    predictions: Any  # the scores
    references: Any  # the relevances
    query_ids: Any = None  # the query ids of flat rows
    document_ids: Any = None  # the document ids of flat rows
    # documents to exclude: ``{query: ids}``, for ranked ids a list of ids for each query, the ``Pairs`` of a DataFrame,
    # or the ``Columns`` of a file
    exclude: Any = None
    sample_weight: Any = None  # the weight of each query
    by: Any = None  # the slice of each query
    fields: Any = None  # names of fields and columns, as `check_fields` describes them

    @property
    def rankings(self) -> dict[str, Any]:
        """The rankings: all except weights and slices, which belong to queries, and names of fields."""
        return {name: getattr(self, name) for name in Inputs._fields[:5]}

    @property
    def names(self) -> Any:
        """The names of fields and columns, also those that `query_ids` and `document_ids` give."""
        return with_names_of_columns(self.fields, query=self.query_ids, document=self.document_ids)

    @property
    def plain_kind(self) -> str:
        """The `plain_kind` of both sides if they have the same and stand alone; else empty."""
        if any(each is not None for each in (self.query_ids, self.document_ids, self.exclude, self.fields)):
            return ""
        kind = plain_kind(self.predictions)
        return kind if kind and kind == plain_kind(self.references) else ""

    def settled(
        self, score_order: str = "descending", labels: Labels | None = None, keep: str | None = None
    ) -> "Inputs":
        """Return rankings of other libraries as arrays, and tables, records and hits by their ids."""
        check_fields(self.fields)
        if self.plain_kind:
            return self
        (inputs,) = settled_systems({"predictions": self.predictions}, self, [score_order], labels, keep)
        return inputs


def settled_systems(
    runs: Mapping[str, Any],
    inputs: Inputs,
    score_orders: Iterable[str],
    labels: Labels | None = None,
    keep: str | None = None,
) -> list[Inputs]:
    """Return the inputs of each system, settled; all but the predictions are shared, and read once.

    The predictions are by the name of the argument.
    """
    fields, score_orders = inputs.names, list(score_orders)
    shared = {name: side for name, side in inputs.rankings.items() if name != "predictions"}
    refuse_same_iterator({**runs, **shared})
    given = {name: listed(side) for name, side in {**runs, **shared}.items()}
    sides = {
        name: with_ids(name, given[name], fields, order, keep=keep)
        for name, order in zip(runs, score_orders, strict=True)
    }
    sides |= {name: with_ids(name, given[name], fields, labels=labels) for name in ("references", "exclude")}
    shared = {name: given[name] for name in shared}
    for name in runs:
        if given[name] is given["references"] and sides[name] is not given[name]:
            refuse_same_column(name, sides[name], sides["references"])
        _refuse_other_queries(name, sides[name], sides["references"])
    if fields:
        named = {name for name, side in sides.items() if side is not given[name] or may_have_fields(side)}
        are_flat = kind_of(sides["references"]) in ("flat", "other")  # whose ids are in other arguments
        ids = {} if are_flat else {name: shared[name] for name in ("query_ids", "document_ids")}
        has_exclude = "exclude" in named and sides["exclude"] is not None
        refuse_names_of_nothing(
            inputs.fields if are_flat else fields,
            not named.isdisjoint(runs),
            "references" in named,
            has_exclude,
            **ids,
        )
    if any(isinstance(side, Columns) for side in sides.values()):  # text names columns
        shared |= {name: None for name in ("query_ids", "document_ids") if isinstance(shared[name], str)}
    together_with = settled({**dict.fromkeys(runs), **shared, **sides})
    shared = {name: together_with[name] for name in shared}
    return [
        together(inputs._replace(predictions=together_with[name], fields=None, **shared), order, keep)
        for name, order in zip(runs, score_orders, strict=True)
    ]


def may_have_fields(side: Any) -> bool:
    """Return whether a side may have columns or fields with names: a file tells, and so do its first documents.

    >>> [may_have_fields(side) for side in ({"q": {"d1": 1}}, [["d1"]], {"q": []}, {"q": {"found": [{"id": "d1"}]}})]
    [False, False, True, True]
    """
    if isinstance(side, Columns):
        return side.has_fields
    rows = side.values() if isinstance(side, Mapping) else side if isinstance(side, (list, tuple)) else ()
    first = next((row for row in rows if not isinstance(row, (list, tuple, Set, Mapping)) or row), None)
    documents = first.values() if isinstance(first, Mapping) else first
    if isinstance(documents, (list, tuple, Set, ValuesView)):
        return any(isinstance(each, (list, tuple, Mapping)) for each in documents)
    return side is None or (isinstance(side, (list, tuple, Mapping)) and first is None)  # which has no document


def refuse_names_of_nothing(
    fields: Any, run_has: bool, qrels_have: bool, have_ids: bool = False, **arguments: Any
) -> None:
    """Raise an error for a name beside sides without columns or fields, such as files of TREC and mappings.

    With `have_ids`, another table has queries and documents, such as that of excluded documents. `arguments` are those
    that give a name in place of `fields`, such as ``query_ids="reader"``.
    """
    for field, (of_run, of_qrels) in check_fields(fields).items():
        has: dict[Any, bool] = {of_run: run_has and field != "relevance"}
        has[of_qrels] = has.get(of_qrels, False) or (qrels_have and field != "score")
        has[of_qrels] |= have_ids and field in ("query", "document")
        if name := next((name for name, is_there in has.items() if name is not None and not is_there), None):
            of_one = field in ("score", "relevance") or of_run != of_qrels
            side = "the run" if field == "score" or (field != "relevance" and name == of_run) else "the references"
            lack = f"{side} {'has' if side == 'the run' else 'have'} none" if of_one else "neither side has any"
            argument = next((each for each, given in arguments.items() if isinstance(given, str) and given == name), "")
            call = mark(argument, name) if argument else mark("fields", {field: name})
            hint = "files of TREC, mappings and lists tell queries and documents by their places"
            raise InputError(f"{call} names a column or a field, but {lack}; {hint}")


def _refuse_other_queries(argument: str, run: Any, qrels: Any) -> None:
    """Raise an error for queries that are matched by position, if both sides name them, by a field of another order."""
    for name in names_of_unnamed(run, qrels):
        one, other = ([row[name][1] for row in side.unnamed] for side in (run, qrels))
        if one != other and not set(one).isdisjoint(other):
            differ = "in the references in another order" if set(one) == set(other) else "not all in the references"
            called = [side.unnamed[0][name][0] for side in (run, qrels)]
            call = mark("fields", {"query": called[0] if len(set(called)) == 1 else tuple(called)})
            hint = f"give {call} if it names the query, or {mark('fields', {'query': None})} to match by position"
            raise InputError(f"no query under a known name, but {shown(called[0])}, {differ}; {hint}", argument)


def refuse_same_iterator(sides: Mapping[str, Any]) -> None:
    """Raise an error for a generator or a reader as two arguments, since reading one leaves nothing for the other."""
    for (one, side), (other, same) in combinations(sides.items(), 2):
        if side is same and isinstance(side, Iterator):
            problem = f"are the same {type(side).__name__}, which can be read only once"
            raise ValueError(f"{one} and {other} {problem}; read it into a list or a table first")


def refuse_same_column(argument: str, run: Any, qrels: Any) -> None:
    """Raise an error for one table on both sides with the same column of values, which would always score 1.0.

    One list of documents without relevances, which also scores 1.0, is a warning.
    """
    if isinstance(run, Columns) and isinstance(qrels, Columns):
        are_equal = np.array_equal(run.value, qrels.value)
        is_same = np.array_equal(run.query, qrels.query) and np.array_equal(run.hashes, qrels.hashes)
        is_same = is_same and bool((qrels.value == 1).all())
    else:
        run, qrels = (list(side.values()) if isinstance(side, dict) else side for side in (run, qrels))
        are_rows = all(isinstance(side, list) and set(map(type, side)) == {dict} for side in (run, qrels))
        are_equal = are_rows and run == qrels
        is_same = are_rows and list(map(list, run)) == list(map(list, qrels))
        is_same = is_same and all(value == 1 for row in qrels for value in row.values())
    if are_equal:
        problem = "are the same column of the same table"
        raise ValueError(f"{argument} and references {problem}; name one score and the other relevance")
    if is_same:
        hint = f"if both are in one log, name the list of each, {mark('fields', {'document': ('...', '...')})}"
        warn(f"{argument}: these are the documents of the references too, each of them relevant; {hint}")


def read(
    predictions: Any,
    references: Any,
    query_ids: Any = None,
    document_ids: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **how: Any,
) -> Rankings:
    """Align predictions and references, in any format that `compute` describes, sparse and ranked ids too.

    Documents with the reference `ignore_index`, in the type of each reference, are padding, and not part of the
    ranking. With `by_docid`, documents with equal scores are put in ascending order of their ids, compared as strings:
    a ranking with the last of them first then equals trec_eval's. Documents by position have no ids and keep their
    order. In ascending order of scores, ``inf`` marks a document that was not retrieved; ranked ids keep their order.

    In the rankings, the highest score ranks first. Queries are in the order of the references, or, in flat columns, in
    the order of their first rows. Arrays are not copied, except for ragged lists of them and to change the type or the
    order of scores.
    """
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    return _align(inputs.settled(how.get("score_order", "descending"), how.get("labels"), how.get("keep")), **how)


def _align(
    inputs: Inputs,
    *,
    ignore_index: float | None = None,
    exclude_from: str = "both",
    judged_only: bool = False,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
    first_query: int = 0,
) -> Rankings:
    """Align predictions and references that are settled, as `read` does."""
    order = {"by_docid": by_docid, "score_dtype": score_dtype, "score_order": score_order}
    how = {"ignore_index": ignore_index, "exclude_from": exclude_from, "labels": labels}
    rankings = _join(inputs, keep=keep, **how, **order)
    if score_order == "ascending" and rankings.place is not None and (gap := rankings.gap_in_ranks()):
        warn(f"{mark('predictions')}: {gap}")
    try:
        rankings = rankings.with_scores_in(score_dtype).with_highest_first(score_order)
        rankings = rankings if labels is None else rankings.with_gains(labels)
    except InvalidRankingError as error:
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        place, before = (numbered, first_query) if rankings.place is None else (rankings.place, 0)
        raise InputError(f"{place(before + error.query, error.position)}: {error.problem}", argument) from None
    if rankings.place is not None:
        rankings = rankings.matched()
    if judged_only:
        rankings = rankings.of_judged()
    if by_docid and inputs.query_ids is not None and inputs.document_ids is None:
        refuse_open_ties(rankings, score_dtype)
    return rankings


def _join(inputs: Inputs, keep: str | None = None, **how: Any) -> Rankings:
    """Put predictions and references into the same order of queries and documents, according to their format."""
    predictions, references, query_ids, document_ids, exclude, *_ = inputs
    if (plain := inputs.plain_kind) == "numbers":
        return join_lists(predictions, references, how["ignore_index"], how["score_order"], how["labels"])
    run, qrels = kind_of(predictions), kind_of(references)
    if plain == "mappings" or run == qrels == "columns":
        _refuse_ids_of_rows(query_ids, document_ids)
        return join_by_id(predictions, references, exclude, **how)
    for argument, side in (("predictions", predictions), ("references", references)):
        if side is None:
            hint = f"; only the measure IDCG needs no {mark('predictions')}" if argument == "predictions" else ""
            raise InputError(f"{mark(argument)} are missing; give predictions and references together{hint}")
    # text in the references is labels beside numbers, and ids beside ids
    are_labels = how["labels"] is not None and run in (*OF_NUMBERS, "flat") and qrels == "text"
    if query_ids is None:
        for argument, side, other in (("predictions", predictions, qrels), ("references", references, run)):
            if not isinstance(side, Columns) and not (argument == "references" and are_labels):
                refuse_other_rows(argument, side, other in BY_ID)
    are_columns = "sparse" in (run, qrels) and {run, qrels}.isdisjoint((*BY_ID, "positions"))
    if query_ids is None and exclude is None and are_columns:
        return join_sparse(predictions, references, how["ignore_index"], how["score_order"])
    have_ids = query_ids is None and not are_labels
    if have_ids and (ranked := by_ranked_ids(predictions, references, how["score_order"], keep)) is not None:
        exclude = None if exclude is None else by_position(exclude, len(predictions))
        return join_by_id(*ranked, exclude, **how)._replace(query_ids=None)
    predictions, references = with_ids_by_query(predictions, references, how["score_order"], keep)
    by_id = _are_by_id(predictions, references, query_ids)
    if by_id or query_ids is None:
        _refuse_ids_of_rows(query_ids, document_ids)
    if exclude is not None and document_ids is None and not by_id:
        needed = f"{mark('query_ids')} and {mark('document_ids')}, mappings, or ranked ids"
        raise InputError(f"documents have no ids; give {needed}", "exclude")
    if query_ids is not None:
        return join_rows(**inputs.rankings, **how, keep=keep)
    if by_id:
        return join_by_id(predictions, references, exclude, **how)
    return join_lists(predictions, references, how["ignore_index"], how["score_order"], how["labels"])


def without_run(inputs: Inputs, score_order: str, labels: Labels | None) -> Inputs:
    """Return inputs without predictions, settled, with predictions in which no document was retrieved."""
    inputs = inputs.settled(score_order, labels)
    references, unretrieved = inputs.references, np.inf if score_order == "ascending" else -np.inf
    if inputs.query_ids is not None:
        return inputs._replace(predictions=np.full(len(inputs.query_ids), unretrieved))
    if isinstance(references, (Mapping, Columns)):
        return inputs._replace(predictions={})
    if is_sparse(references):
        return inputs._replace(predictions=np.full(references.shape, unretrieved))
    if labels is None and kind_of(references) not in (*OF_NUMBERS, "flat"):
        return inputs._replace(predictions=[[] for _ in references])
    offsets = read_column("references", references, labels=labels).offsets
    return inputs._replace(predictions=[np.full(each, unretrieved) for each in np.diff(offsets)])


def _refuse_ids_of_rows(query_ids: Any, document_ids: Any) -> None:
    """Raise an error for ids of flat rows next to rankings that are not flat."""
    if query_ids is not None:
        raise InputError(
            f"{mark('query_ids')} are for flat predictions and references; a mapping or a file has ids of its own"
        )
    if document_ids is not None:
        raise InputError(
            f"{mark('document_ids')} are for flat predictions and references; give {mark('query_ids')} too"
        )


def _are_by_id(predictions: Any, references: Any, query_ids: Any) -> bool:
    """Return whether predictions and references are mappings or files."""
    for argument, side in (("predictions", predictions), ("references", references)):
        if isinstance(side, Mapping):
            check_ids(argument, side, nested=False)
    by_id = [isinstance(side, (Mapping, Columns)) for side in (predictions, references)]
    if by_id[0] != by_id[1]:
        kinds = [
            "by ids" if each else f"by position ({'list' if isinstance(side, list) else type(side).__name__})"
            for each, side in zip(by_id, (predictions, references), strict=True)
        ]
        hint = hint_of_unnamed(references if by_id[0] else predictions)
        hint = hint or f", or {mark('query_ids')}, the query of each list" * by_id[1]
        if query_ids is not None:
            tables = "; give each of two tables as its argument, predictions=run, references=qrels, without data"
            hint = mark("data", said=tables)
        raise InputError(
            f"{mark('predictions')} are {kinds[0]} and references {kinds[1]}; give both in the same way{hint}"
        )
    return by_id[0]


def join_lists(
    predictions: Any,
    references: Any,
    ignore_index: float | None,
    score_order: str,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Rankings:
    """Return rankings in which each query is a list, with the same documents on both sides, and scores as given."""
    refuse_typed_triples(predictions, references)
    score = read_column("predictions", predictions).without_unretrieved(score_order)
    relevance = read_column("references", references, ignore_index, labels, place)
    check_queries_equal(len(score.offsets) - 1, len(relevance.offsets) - 1)
    if (score.offsets != relevance.offsets).any():
        scored, judged = np.diff(score.offsets), np.diff(relevance.offsets)
        query = int(np.flatnonzero(scored != judged)[0])
        none = mark("None", before=", ", after=" for the score of one not retrieved or the relevance of one not judged")
        raise InputError(
            f"query {query}: {scored[query]} predictions and {judged[query]} references; give both for every "
            f"document{none}; or, if these are document ids, give the references as sets"
        )
    are_arrays = all(isinstance(side, np.ndarray) and side.ndim == 2 for side in (predictions, references))
    refuse_ids_as_values(score, relevance, are_arrays)
    return Rankings.of(score, relevance)


def parts(inputs: Inputs, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part if they are nested lists or chunked columns of lists."""
    for piece in _pieces(inputs):
        try:
            rankings = _align(piece, **how)
        except ValueError:
            if piece is not inputs:  # let the error count all queries
                _align(inputs, **how)
            raise
        yield rankings


def _pieces(inputs: Inputs) -> Iterator[Inputs]:
    """Cut inputs that are copied into pieces of about PART documents, so that the copies are small."""
    predictions, references, query_ids = inputs[:3]
    sides = predictions, references
    lengths = np.zeros(1, np.int64)
    sparse = sum(map(is_sparse, sides))
    if query_ids is not None or isinstance(references, (Mapping, Columns)) or sparse == 2:
        yield inputs
        return
    if sparse:
        for rows in dense_pieces(predictions, references, PART):
            yield inputs._replace(predictions=rows[0], references=rows[1])
        return
    if all(map(_is_column_of_lists, sides)) and any(side.num_chunks > 1 for side in sides):
        lengths = pc.fill_null(pc.list_value_length(predictions), 0).to_numpy().astype(np.int64)
    elif all(isinstance(side, (list, tuple)) and side and isinstance(side[0], (list, tuple)) for side in sides):
        with suppress(TypeError):  # a row is not a list; reading all rows raises the error
            lengths = np.fromiter(map(len, predictions), np.int64)
    documents = lengths.cumsum()
    if len(documents) < 2 or documents[-1] < PART or len(predictions) != len(references):
        yield inputs
        return
    part = documents // PART
    cuts = ((part[1:] != part[:-1]).nonzero()[0] + 1).tolist()
    for start, end in pairwise([0, *cuts, len(predictions)]):
        yield inputs._replace(predictions=predictions[start:end], references=references[start:end])


def _is_column_of_lists(side: Any) -> bool:
    if not isinstance(side, pa.ChunkedArray):
        return False
    return bool(pa.types.is_list(side.type) or pa.types.is_large_list(side.type))


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return the columns of lists ``predictions`` and ``references`` with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))
