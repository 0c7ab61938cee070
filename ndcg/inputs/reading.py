"""Read rankings in any format as aligned arrays of relevance and score.

The way in: a side becomes numbers by position, `ById` or `Columns` (`sides`); what only both
tell is settled (`together`); both are joined, by position or by ids (`joins`), into `Rankings`: the
values of all queries, one query after the other, and what was judged and retrieved.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from types import NoneType
from typing import Any, NamedTuple
from warnings import catch_warnings

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..measure.labels import Labels
from ..measure.messages import InputError, brief, mark, marked, shown, warn
from ..measure.scoring import InvalidRankingError
from .beside_ids import SCORE_OF_EACH_ROW, instead_of_refused_ids
from .columns import as_number, read_column, read_flat_column
from .documents import (
    ById,
    has_ids,
    has_no_documents,
    ids_of_queries,
    is_log,
    refuse_no_values,
)
from .doubts import (
    doubts_about_equal_sides,
    doubts_about_ids,
    doubts_about_one_list,
    doubts_about_scores,
    respelled_ids,
)
from .fields import (
    NAMES_OF_RANKS,
    PLAIN_RELEVANCES,
    Names,
    UnknownFieldError,
    fields_read,
    fields_to_write,
    names_of_side,
    one_error,
    plain_name,
    refuse_unused_fields,
    says_lowest_first,
    with_names_of_columns,
)
from .frame import frame_of_data
from .joins import join_by_id, join_lists, join_rows, refuse_open_ties
from .no_rankings import counted_ranks
from .rankings import Rankings, to_arrow
from .sides import read_side, read_usual
from .sources import (
    ARROW,
    are_lists,
    in_python,
    is_one_column,
    is_sparse,
    listed,
    name_of_column,
    plain,
    refuse_other_orders,
)
from .sparse import dense_pieces, join_sparse
from .together import together

# Chunked columns and sparse matrices are read in parts of about this many documents.
PART = 1 << 20
MOST_LABELS = 5  # different words that are labels; more are answers
# raises an error about references, beside documents to exclude
CheckOfSide = Callable[[Any, Any], None]


def accept_all(references: Any, exclude: Any) -> None:
    """Accept references in any case."""


class Inputs(NamedTuple):
    """Rankings in any format that `read` accepts."""

    predictions: Any  # the scores
    references: Any  # the relevances
    query_ids: Any = None  # the query ids of flat rows, or of lists
    document_ids: Any = None  # the document ids of flat rows
    # documents to exclude: ``{query: ids}``, for ranked ids a list of ids per query, the
    # ``Pairs`` of a DataFrame, or the ``Columns`` of a file
    exclude: Any = None
    sample_weight: Any = None  # the weights of queries
    by: Any = None  # the slices of queries
    fields: Any = None  # names of fields and columns, as `check_fields` describes them
    score_name: Any = None  # the name of the field or the column of the scores that were read

    @property
    def rankings(self) -> dict[str, Any]:
        """The rankings: all except weights and slices, which belong to queries, and names."""
        return {name: getattr(self, name) for name in Inputs._fields[:5]}

    @property
    def names(self) -> Any:
        """The names of fields, also from `query_ids` and `document_ids`."""
        return with_names_of_columns(self.fields, query=self.query_ids, document=self.document_ids)

    @property
    def has_query_ids(self) -> bool:
        """Whether `query_ids` has the ids of rows or queries, and is not the name of a field."""
        return self.query_ids is not None and not isinstance(self.query_ids, str)

    def settled(
        self,
        score_order: str | None = None,
        labels: Labels | None = None,
        keep: str | None = None,
        check: CheckOfSide = accept_all,
    ) -> "Inputs":
        """Return rankings of other libraries as arrays, and what has ids by its ids.

        An error that `check` raises is told with those of the other sides.
        """
        # Two usual forms need no other look, which would take longer than to score a few queries.
        others = (self.query_ids, self.document_ids, self.exclude, self.fields)
        if set(map(type, others)) == {NoneType}:
            sides = read_usual(self.predictions, self.references)
            if sides is not None:
                return self._replace(predictions=sides[0], references=sides[1])
        runs = {"predictions": self.predictions}
        (inputs,) = settled_systems(runs, self, [score_order], labels, keep, check)
        return inputs


def settled_systems(
    runs: Mapping[str, Any],
    inputs: Inputs,
    score_orders: Iterable[str | None],
    labels: Labels | None = None,
    keep: str | None = None,
    check: CheckOfSide = accept_all,
) -> list[Inputs]:
    """Return the inputs of all systems, settled; its predictions are by the name of the argument.

    All but the predictions are shared, and read once. `check` is as in `Inputs.settled`.
    """
    orders = dict(zip(runs, score_orders, strict=True))
    names = _names_of_sides(orders, inputs, labels, keep)
    given = _given(runs, inputs)
    sides = _read_sides({argument: given[argument] for argument in names}, names, check)
    named = [name for name, side in sides.items() if has_ids(side) and side.positions is None]
    # The queries or documents of others are matched by position.
    refuse_other_orders({name: given[name] for name in given if name not in named})
    if names["references"].has_no_value:
        _warn_of_unread_relevances(sides["references"], given["references"])
    _refuse_unused_fields([sides[run] for run in runs], sides, inputs)
    settled = {**given, **sides}
    for name, side in settled.items():
        if not has_ids(side):
            settled[name] = plain(name, side)
    shared = {name: side for name, side in settled.items() if name not in runs}
    beside = inputs._replace(fields=None, **shared)
    systems = []
    for run in runs:
        if given[run] is given["references"]:
            refuse_same_column(run, sides[run], sides["references"])
        score_name = _field_of(sides[run], "score") or name_of_column(given[run])
        both = beside._replace(predictions=settled[run], score_name=score_name)
        system = together(both, names[run])
        _refuse_values_by_position(run, both.predictions, system.predictions, names[run])
        _refuse_values_by_position(
            "references", both.references, system.references, names["references"]
        )
        if orders[run] != "ascending" and says_lowest_first(score_name, NAMES_OF_RANKS):
            _refuse_counted_ranks(run, system, labels, keep)
        systems.append(system)
    return systems


def _names_of_sides(
    orders: Mapping[str, str | None], inputs: Inputs, labels: Labels | None, keep: str | None
) -> dict[str, Names]:
    """Return the names of runs, whose orders of scores are given, and of the sides beside them."""
    names_of = partial(
        names_of_side,
        fields=inputs.names,
        has_query_ids=inputs.has_query_ids,
        query_ids=inputs.query_ids,
    )
    names = {run: names_of("run", score_order=order, keep=keep) for run, order in orders.items()}
    names["references"] = names_of("qrels", labels=labels)
    if inputs.exclude is not None:
        names["exclude"] = names_of("exclude")
    return names


def _given(runs: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the runs and what is given beside them, by argument.

    Generators become lists, since their values are looked at before they are read.
    """
    given = {**runs, "references": inputs.references}
    if inputs.exclude is not None:
        given["exclude"] = inputs.exclude
    for argument in ("query_ids", "document_ids"):
        ids = getattr(inputs, argument)
        if isinstance(ids, str):
            given[argument] = None  # the name of a column, which is among `fields`
        elif ids is not None:
            given[argument] = ids
    return {argument: listed(value) for argument, value in given.items()}


def _refuse_unused_fields(runs: Sequence[Any], sides: Mapping[str, Any], inputs: Inputs) -> None:
    """Raise an error for a name in `fields` that no side has.

    A side without a document has no fields.
    """
    qrels = sides["references"]
    if any(map(has_no_documents, (*runs, qrels))):
        return
    ids = {"query_ids": inputs.query_ids, "document_ids": inputs.document_ids}
    refuse_unused_fields(inputs.names, runs, qrels, sides.get("exclude"), **ids)


def _refuse_counted_ranks(
    argument: str, system: Inputs, labels: Labels | None, keep: str | None
) -> None:
    """Raise an error for scores that are called ranks, and count from 0 or 1 in each query."""
    try:
        rankings = align(system._replace(exclude=None), labels=labels, keep=keep)
    except ValueError:  # which is raised again where scores are computed
        return
    first = rankings.first_count()
    if first is not None:
        raise counted_ranks(argument, system.score_name, first)


def _refuse_values_by_position(argument: str, given: Any, read: Any, names: Names) -> None:
    """Raise an error for numbers by position that are values, though `fields` says there are none.

    Args:
        argument: the argument of a side.
        given: the side alone, of which lists of integers may be ids.
        read: the side beside the other one, which tells what they are.
        names: the names of the side.
    """
    are_by_position = isinstance(given, (list, tuple, np.ndarray, *ARROW)) or is_sparse(given)
    if names.has_no_value and are_by_position and getattr(read, "has_values", True):
        call = mark("fields", {names.value: None})
        read_as = f"hold numbers by position, each of which is read as a {names.value}"
        problem = f"{read_as}, but {call} says that there is none"
        raise InputError(f"{problem}; leave it out, or give the ids of documents", argument)


def _warn_of_unread_relevances(qrels: Any, given: Any) -> None:
    """Warn of a field with the name of a relevance where `fields` says that there is none."""
    for name in getattr(qrels, "others", ()):
        if plain_name(name) in PLAIN_RELEVANCES and not _is_prose(given, name):
            problem = f"each document counts as relevant, and {shown(name)} is not read"
            hint = f"if it holds relevances, give {mark('fields', {'relevance': name})}"
            warn(f"{mark('references')}: {problem}; {hint}")
            return


def _is_prose(side: Any, name: Any) -> bool:
    """Return whether most rows of a table have a text of their own, such as the answer.

    Labels are fewer. Of other forms than tables and records nothing is known.
    """
    frame = frame_of_data("references", side)
    if frame is None or name not in frame.names:
        return False
    (column,) = frame.read([name])
    cells = list(map(as_number, in_python(plain(str(name), column))))
    texts = {cell for cell in cells if isinstance(cell, str)}
    return len(texts) > max(MOST_LABELS, len(cells) / 2)


def _read_sides(
    given: Mapping[str, Any], names: Mapping[str, Names], check: CheckOfSide
) -> dict[str, Any]:
    """Return all sides, read and checked; one error says what is wrong with them."""
    sides: dict[str, Any] = {}
    errors: dict[str, InputError] = {}
    for argument, side in given.items():
        try:
            if isinstance(side, InputError):  # of a file
                raise side
            sides[argument] = read_side(argument, side, names[argument])
            refuse_no_values(argument, sides[argument], names[argument])
        except InputError as error:
            errors[argument] = error
    qrels = sides.get("references")
    for refused in errors.values():
        _add_way_beside(qrels, refused)
    if "references" in errors:
        run = sides.get(next(iter(given)))
        refused = instead_of_refused_ids(errors["references"], run, given["references"])
        errors["references"] = refused
    try:
        check(qrels, sides.get("exclude"))
    except InputError as error:
        errors["references"] = error
    if not errors:
        return sides
    errors.update(_errors_of_words(qrels, names["references"]))
    _add_next_problems(errors, given, names, sides)
    are_one = sum(side is given["references"] for side in given.values()) > 1
    raise one_error(errors, are_one, sides)


def _add_next_problems(
    errors: Mapping[str, InputError],
    given: Mapping[str, Any],
    names: Mapping[str, Names],
    read: Mapping[str, Any],
) -> None:
    """Add to the errors of sides that lack only the name of their values what is wrong next."""
    nameless = _of_values_without_name(errors, given, names)
    sides = dict(read)
    for argument, error in nameless.items():
        try:
            sides[argument] = _without_values(argument, given[argument], names[argument])
        except ValueError as problem:
            if not any(way in marked(problem) for way in error.ways):  # it says no more
                error.add(marked(problem))
    # What only both sides tell is known if nothing else is wrong with any of them.
    if errors.keys() <= nameless.keys() & sides.keys():
        run = next(iter(given))
        last = list(nameless.values())[-1]
        last.add(*_problem_of_both(sides[run], sides["references"], names[run]))


def _of_values_without_name(
    errors: Mapping[str, InputError], given: Mapping[str, Any], names: Mapping[str, Names]
) -> dict[str, UnknownFieldError]:
    """Return the errors of sides in memory with which nothing is wrong but the name of values."""
    nameless = {}
    for argument, error in errors.items():
        is_of_file = error is given[argument]
        if is_of_file or names[argument].has_query_ids:
            continue
        if isinstance(error, UnknownFieldError) and error.roles == [names[argument].value]:
            nameless[argument] = error
    return nameless


def _without_values(argument: str, side: Any, names: Names) -> Any:
    """Return a side of which no field is known to hold the values."""
    with catch_warnings(action="ignore"):
        return read_side(argument, side, names.without_value())


def _problem_of_both(run: Any, qrels: Any, names: Names) -> Iterator[str]:
    """Yield what is wrong with both sides together, of which some have no values."""
    try:
        with catch_warnings(action="ignore"):
            rankings = align(together(Inputs(run, qrels), names))
    except ValueError as error:
        yield marked(error)
        return
    if rankings.unmatched:
        yield rankings.unmatched


def _errors_of_words(qrels: Any, names: Names) -> dict[str, InputError]:
    """Return the error of references that are a column of rows with words, by its argument.

    They have been read without an error, and would be refused after those of the other sides.
    """
    is_column = isinstance(qrels, (*ARROW, np.ndarray)) and not are_lists(qrels)
    if is_column and names.has_query_ids:
        try:
            read_flat_column("references", qrels, "row {1}".format, labels=names.labels)
        except InputError as error:
            return {"references": error}
    return {}


def _add_way_beside(qrels: Any, error: InputError) -> None:
    """Add to the error of a side what to do beside references that have been read."""
    if getattr(qrels, "are_rows", False):
        error.hint = f"beside references of LETOR, {SCORE_OF_EACH_ROW}"
    elif isinstance(error, UnknownFieldError) and isinstance(qrels, (list, np.ndarray)):
        if are_lists(qrels):
            by_place = "references=[dict(enumerate(row)) for row in references]"
        else:  # of one query, which needs no name
            by_place = "predictions=[predictions], references=[dict(enumerate(references))]"
            error.written.pop("query", None)
        in_order = "else give the scores as lists, in the order of the references"
        hint = f"if a field has positions in them, give {by_place}; {in_order}"
        error.ways.insert(0, f"the references have no ids; {hint}")
        error.add()


def refuse_same_column(argument: str, run: Any, qrels: Any) -> None:
    """Raise an error for one table or log on both sides with one field of values: it scores 1.0.

    A row of the table must have a score or a relevance.
    """
    if _field_of(run, "document") is None:
        return
    score = fields_read(run).get("score", "")  # without scores no field is one of both sides
    if score == _field_of(qrels, "relevance"):
        both = f"{mark(argument)} and {mark('references')}"
        problem = f"are the same column of the same table, {shown(score)}"
        hint = fields_to_write({"score": "...", "relevance": "..."}, [])
        if is_log(run) and run.others:
            problem = f"are the same field of the same objects, {shown(score)}"
            graded = "if another field has the relevances of these documents"
            ways = [f"{graded}, give {mark('fields', {'relevance': '...'})}"]
            hint = fields_to_write({"document": ("...", "...")}, ways)
        if run.others:
            problem += f"; the others are {brief(map(shown, run.others), ', ')}"
        raise InputError(f"{both} {problem}; {hint}")
    empty = np.intersect1d(run.lacking, qrels.lacking)
    if len(empty):
        problem = f"{run.place_of(int(empty[0]))} has neither a score nor a relevance"
        raise InputError(f"{problem}; give one of them, or leave the row out", argument)


def _field_of(side: Any, role: str) -> Any:
    """Return the field from which a role was read; None for sides without fields."""
    return fields_read(side).get(role)


# Both sides together


def read(
    predictions: Any,
    references: Any,
    query_ids: Any = None,
    document_ids: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **how: Any,
) -> Rankings:
    """Align predictions and references, in any format that `compute` describes.

    Documents with the reference `ignore_index`, in the type of the reference, are padding, and
    not part of the ranking. With `by_docid`, documents with equal scores are put in ascending
    order of their ids, compared as strings: a ranking with the last of them first then equals
    trec_eval's. Documents by position have no ids and keep their order. In ascending order of
    scores, ``inf`` marks a document that was not retrieved; ranked ids keep their order.

    In the rankings, the highest score ranks first. Queries are in the order of the references, or,
    in flat columns, in the order of their first rows. Arrays are not copied, except for ragged
    lists of them and to change the type or the order of scores.
    """
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    settings: dict[str, Any] = {name: how.get(name) for name in ("score_order", "labels", "keep")}
    return align(inputs.settled(**settings), **how)


def align(
    inputs: Inputs,
    *,
    ignore_index: float | None = None,
    exclude_from: str = "both",
    judged_only: bool = False,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
    first_query: int = 0,
) -> Rankings:
    """Align predictions and references that are settled, as `read` does."""
    score_order = score_order or "descending"
    # Flat rows and documents by ids have an order of ties; lists by position keep theirs.
    order = {"by_docid": by_docid, "score_dtype": score_dtype, "score_order": score_order}
    how = {"ignore_index": ignore_index, "exclude_from": exclude_from, "labels": labels}
    run = inputs.predictions
    rankings = _join(inputs, keep=keep, **how, **order)
    doubts = [*rankings.doubts, *doubts_about_scores(rankings, inputs.score_name, score_order)]
    try:
        rankings = rankings.with_scores_in(score_dtype).with_highest_first(score_order)
        rankings = rankings.with_gains(labels)
    except InvalidRankingError as error:
        raise _in_user_terms(error, rankings, first_query) from None
    if rankings.place is not None:
        rankings = rankings.matched(exclude_from, run, inputs.references)
        if rankings.unmatched:
            sentence = next(respelled_ids(rankings), rankings.unmatched)
            rankings = rankings._replace(unmatched=sentence)
        doubts += doubts_about_ids(rankings, run, inputs.references)
    if not has_ids(run):
        doubts += doubts_about_equal_sides(rankings)
    else:
        doubts += doubts_about_one_list(rankings, run, inputs.references)
    has_ranks = getattr(run, "has_ranks", False)
    if doubts or has_ranks:
        rankings = rankings._replace(doubts=tuple(doubts), has_ranks=has_ranks)
    if judged_only:
        rankings = rankings.judged_only()
    if by_docid and inputs.query_ids is not None and inputs.document_ids is None:
        refuse_open_ties(rankings, score_dtype)
    return rankings


def _join(inputs: Inputs, keep: str | None = None, **how: Any) -> Rankings:
    """Put predictions and references into the same order of queries and documents."""
    predictions, references, query_ids, document_ids, exclude, *_ = inputs
    _refuse_missing(predictions, references)
    if has_ids(predictions) != has_ids(references):
        raise _by_ids_and_by_position(predictions, references, query_ids)
    if has_ids(predictions):
        _refuse_ids_of_rows(query_ids, document_ids)
        return join_by_id(predictions, references, exclude, **how)
    if exclude is not None and document_ids is None:
        hint = "give those to exclude the score -inf and the relevance 0"
        rows = f"or, beside {mark('query_ids')}, give {mark('document_ids')}"
        raise InputError(f"documents by position have no ids; {hint}, {rows}", "exclude")
    if query_ids is not None and _are_flat(predictions, references):
        return join_rows(*inputs[:5], **how, keep=keep)
    _refuse_ids_of_rows(None, document_ids)
    read_how = {name: how[name] for name in ("ignore_index", "score_order", "labels")}
    return _join_by_position(predictions, references, query_ids, **read_how)


def _join_by_position(
    predictions: Any,
    references: Any,
    query_ids: Any,
    *,
    ignore_index: float | None,
    score_order: str,
    labels: Labels | None,
) -> Rankings:
    """Join lists of values, or sparse matrices, which have the same documents in the same order."""
    if is_sparse(predictions) or is_sparse(references):
        return join_sparse(predictions, references, ignore_index, score_order)
    # Batches are chunked; their queries were looked at when they were added.
    are_known = query_ids is not None or isinstance(predictions, pa.ChunkedArray)
    rankings = join_lists(
        predictions, references, ignore_index, score_order, labels, are_known=are_known
    )
    if query_ids is None:
        return rankings
    return rankings._replace(query_ids=ids_of_queries(query_ids, rankings.queries))


def _are_flat(predictions: Any, references: Any) -> bool:
    """Return whether both sides have a row for each document, and not one for each query."""
    # A head with one logit has a column of one value a row, which is flat too.
    return is_one_column(predictions) or not (are_lists(predictions) and are_lists(references))


def _refuse_missing(predictions: Any, references: Any) -> None:
    problem = "are missing; give predictions and references together"
    if predictions is None:
        hint = f"only the measure IDCG needs no {mark('predictions')}"
        raise InputError(f"{mark('predictions')} {problem}; {hint}")
    if references is None:
        raise InputError(f"{mark('references')} {problem}")


def _by_ids_and_by_position(predictions: Any, references: Any, query_ids: Any) -> InputError:
    """Return the error for documents with ids on one side and numbers by position on the other."""
    by_ids, in_order, numbers = "predictions", "references", references
    if has_ids(references):
        by_ids, in_order, numbers = "references", "predictions", predictions
    kind = type(numbers).__name__
    problem = f"{mark(in_order)} are by position ({kind}) and {by_ids} by ids"
    hint = "give both in the same way"
    if query_ids is not None:
        hint = "with query_ids give both as columns of a row for each document, or both by ids"
        two = "give each of two tables as its argument, predictions=run, references=qrels"
        hint += mark("data", said=f"{two}, without data", before="; ")
    elif isinstance(numbers, (list, tuple)):
        hint = f"for a single query, give {in_order}=[{in_order}]"
        if in_order == "references":
            hint += "; for the relevant document of each query, [{x} for x in references]"
    return InputError(f"{problem}; {hint}")


def _refuse_ids_of_rows(query_ids: Any, document_ids: Any) -> None:
    """Raise an error for ids of rows next to rankings that are not flat."""
    flat = "for flat predictions and references"
    if query_ids is not None:
        others = "a mapping, a table or a file has ids of its own"
        raise InputError(f"{mark('query_ids')} are {flat}, and for lists; {others}")
    if document_ids is not None:
        problem = f"{mark('document_ids')} are {flat}; give {mark('query_ids')} too"
        raise InputError(problem)


def without_run(inputs: Inputs, score_order: str, labels: Labels | None) -> Inputs:
    """Return inputs without predictions, settled, in which no document was retrieved."""
    inputs = inputs.settled(score_order, labels)
    references = inputs.references
    unretrieved = np.inf if score_order == "ascending" else -np.inf
    if has_ids(references):
        return inputs._replace(predictions=ById({}))
    if inputs.query_ids is not None and _are_flat(references, references):
        return inputs._replace(predictions=np.full(len(inputs.query_ids), unretrieved))
    if is_sparse(references):
        return inputs._replace(predictions=np.full(references.shape, unretrieved))
    lengths = np.diff(read_column("references", references, labels=labels).offsets)
    return inputs._replace(predictions=[np.full(length, unretrieved) for length in lengths])


@contextmanager
def user_terms(
    rankings: Rankings,
    first_query: int = 0,
    relevance: str = "references",
    score: str = "predictions",
) -> Iterator[None]:
    """Rewrite errors of the kernel with the user's names for queries and arguments.

    Args:
        rankings: the rankings that are scored.
        first_query: the index of their first query among all queries.
        relevance: the argument that has the relevances.
        score: the argument that has the scores.
    """
    try:
        yield
    except InvalidRankingError as error:
        raise _in_user_terms(error, rankings, first_query, relevance, score) from None


def _in_user_terms(
    error: InvalidRankingError,
    rankings: Rankings,
    first_query: int,
    relevance: str = "references",
    score: str = "predictions",
) -> InputError:
    """Return an error of the kernel as `user_terms` writes it."""
    argument = {"relevance": relevance, "score": score}[error.array]
    place, position = f"query {first_query + error.query}", error.position
    if rankings.place is not None:
        place, position = rankings.place(error.query, position), None
    hint = error.hint if rankings.answered is None else error.hint_by_id
    return InputError(error.problem, argument, place, position=position, hint=hint)


# Parts


def parts(inputs: Inputs, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part if they are chunked or sparse."""
    for piece in _pieces(inputs):
        try:
            rankings = align(piece, **how)
        except ValueError:
            align(inputs, **how)  # whose error counts the queries of all pieces
            raise
        yield rankings


def _pieces(inputs: Inputs) -> Iterator[Inputs]:
    """Cut inputs that are copied into pieces of about PART documents, so that copies are small."""
    predictions, references = inputs[:2]
    # The queries of `query_ids` are joined whole, and so are documents with ids.
    if inputs.query_ids is not None:
        yield inputs
        return
    # Two sparse matrices are never made dense.
    if is_sparse(predictions) != is_sparse(references):
        pieces = dense_pieces(predictions, references, PART)
    elif _is_chunked(predictions) and _is_chunked(references):
        pieces = _pieces_of_columns(predictions, references)
    else:
        yield inputs
        return
    for run, qrels in pieces:
        yield inputs._replace(predictions=run, references=qrels)


def _is_chunked(side: Any) -> bool:
    return isinstance(side, pa.ChunkedArray) and are_lists(side)


def _pieces_of_columns(
    predictions: pa.ChunkedArray, references: pa.ChunkedArray
) -> Iterator[tuple[pa.ChunkedArray, pa.ChunkedArray]]:
    """Cut columns of lists into pieces; those of other lengths, an error, are one piece."""
    lengths = pc.fill_null(pc.list_value_length(predictions), 0).to_numpy()
    # A piece ends with the query after which a whole number of parts is full.
    cuts = (np.flatnonzero(np.diff(lengths.cumsum() // PART)) + 1).tolist()
    for start, end in pairwise([0, *cuts, None]):
        yield predictions[start:end], references[start:end]


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return the columns ``predictions`` and ``references``, of lists, with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))
