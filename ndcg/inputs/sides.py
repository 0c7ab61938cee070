"""Read one side of rankings: what contains it decides its form, never what its values look like.

| what contains a side | becomes |
|---|---|
| lists of numbers, arrays, tensors, columns of lists, sparse matrices | itself: by position |
| mappings, lists of ids or sets, lists of hits or pairs, objects that are queries | `ById` |
| tables, dicts of columns, objects that are rows | `Columns`: a row per document |
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import accumulate, chain, islice, takewhile
from numbers import Real
from operator import length_hint
from types import NoneType
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, brief, in_place, mark, shown, warn, within
from .columns import TEXTS_AND_OBJECTS
from .documents import IDS_IN_LISTS, ById, DocumentValues, documents_of_query, rows_by_query
from .exclusion import Pairs
from .fields import (
    DOCUMENT_OF_HITS,
    LISTS_OF_IDS,
    LOWEST_FIRST,
    MOST_FIELDS,
    RELEVANCE,
    SCORE,
    WITH_POINTS,
    Names,
    UnknownFieldError,
    are_names_of_fields,
    examples_of_names,
    may_be_fields,
    plain_name,
    spelled,
)
from .frame import Frame
from .hashes import Columns
from .ids import id_kind
from .object_reader import HitReader, ListReader, ObjectReader
from .objects import (
    LOOKED_AT,
    MAPPINGS,
    fields_among,
    fields_of,
    first_in,
    first_no_object,
    have_arrays,
    is_list,
    is_mapping_to_numbers,
    is_nested,
    is_object,
    with_lists,
)
from .roles import are_pairs, split_pairs
from .sources import (
    ARROW,
    in_python,
    is_by_index,
    is_sparse,
    mapping_by_index,
    name_of_column,
    names_of_columns,
    plain,
)
from .tables import (
    columns_of_rows,
    read_table,
    table_of,
)

SCALARS = (str, bytes, Real)
TYPES_OF_NUMBERS = ({int}, {float}, {int, float})  # of the documents of a query, in most rankings
FIRST_MAPPINGS = 1 << 3  # mappings of a list, whose keys are held against the names of fields


def read_side(argument: str, side: Any, names: Names) -> Any:
    """Return one side as `ById` or `Columns` if it has ids; numbers by position as they are.

    >>> read_side("predictions", [["d3", "d1"]], Names("run", "score")).queries
    {0: {'d3': -1, 'd1': -2}}
    """
    if isinstance(side, (NoneType, ById, Columns, Pairs, str)) or is_sparse(side):
        return side
    if isinstance(side, io.IOBase):
        raise InputError(f"is an open file ({type(side).__name__}); give its path", argument)
    frame = table_of(argument, side, names)
    if frame is not None:
        return _of_table(argument, side, frame, names)
    if names.kind == "exclude":
        return side  # ids alone, which `exclusion` reads beside the rankings
    # A response of Elasticsearch's client has keys, too.
    if hasattr(side, "keys") and is_object(side):
        return _of_mapping(argument, fields_of(side), names)
    if not names.has_query_ids:
        _refuse_levels(argument, side, names)
    with in_place(argument):
        names.refuse_unknown_order(name_of_column(side))
    values = plain(argument, side)  # at once, since a reader of Arrow can be read only once
    rows = _rows(values)
    _refuse_tables(argument, rows)
    _refuse_two_matrices(argument, rows)
    _refuse_rows_of_table(argument, rows, names)
    return _of_list(argument, values, rows, names)


def read_usual(*sides: Any) -> Sequence[Any] | None:
    """Return both sides as `read_side` does if both are numbers, or both mappings to numbers.

    Numbers are in an array or in nested lists, mappings are ``{query: {document: number}}``. The
    first query tells. Of all other forms, return None.
    """
    if all(map(_are_numbers, sides)):
        return sides
    if all(map(_are_mappings_to_numbers, sides)):
        return list(map(ById, sides))
    return None


def _are_numbers(side: Any) -> bool:
    """Return whether a side is an array of numbers, or a list of lists with a number first."""
    if type(side) is not list:
        return type(side) is np.ndarray and side.dtype.kind in "biuf"
    return set(map(type, side[:1])) == {list} and set(map(type, side[0][:1])) in TYPES_OF_NUMBERS


def _are_mappings_to_numbers(side: Any) -> bool:
    """Return whether a side maps queries to mappings of documents to numbers."""
    if type(side) is not dict or set(map(type, side.values())) != {dict}:
        return False
    first = next(iter(side.values()))
    have_fields = may_be_fields(side) or may_be_fields(first)
    return not have_fields and set(map(type, first.values())) in TYPES_OF_NUMBERS


def _refuse_levels(argument: str, side: Any, names: Names) -> None:
    """Raise an error for a Series whose index has the queries and the documents."""
    if getattr(getattr(side, "index", None), "nlevels", 1) > 1:
        hint = f'give {mark(argument)}.reset_index(name="{names.value}")'
        raise InputError(f"is a Series with several levels in its index; {hint}", argument)


def _refuse_tables(argument: str, rows: Iterable[Any]) -> None:
    """Raise an error for tables of several systems, or of a query each."""
    columns = names_of_columns(_first_filled(rows))
    if len(columns) > 1:
        listed = brief(map(shown, columns), ", ")
        hint = "give one, such as pandas.concat({query: table, ...}, names=['query_id'])"
        raise InputError(f"holds tables, with the columns {listed}; {hint}", argument)


def _refuse_two_matrices(argument: str, rows: Sequence[Any]) -> None:
    """Raise an error for a pair of matrices, as a search of FAISS returns scores and ids.

    Those of a model, as the Trainer returns them, may differ in shape.
    """
    if [getattr(row, "ndim", 0) for row in rows[:3]] != [2, 2]:
        return
    if len(rows[0]) != len(rows[1]):
        return
    first, second = (tuple(row.shape) for row in rows)
    ids = mark("document_ids", said="document_ids=ids")
    hint = f"if they are ids and scores, give predictions=scores, {ids}"
    if first != second:
        padding = f"{mark('ignore_index', -100)} if it pads rows"
        hint = f"if the first has the scores, give {argument}[0], and {padding}"
    raise InputError(f"holds two arrays, of shapes {first} and {second}; {hint}", argument)


def _of_table(argument: str, side: Any, frame: Frame, names: Names) -> Columns | Pairs | ById:
    """Return the rows of a table, which are documents, or queries with lists of them."""
    with _ways_of_table(argument, side):
        table = read_table(argument, frame, names)
    return objects_by_id(argument, table, names) if isinstance(table, list) else table


def _refuse_rows_of_table(argument: str, rows: Sequence[Any], names: Names) -> None:
    """Raise an error for tuples that are no queries: they hold text, or are estimates of a run."""
    first = _first_filled(rows)
    if type(first) is not tuple:
        return
    are_estimates = names.kind == "run" and all(map(_is_estimate, rows))
    if are_estimates or any(isinstance(cell, (str, UUID)) for cell in first):
        raise row_of_table(argument, first, names)


@contextmanager
def _ways_of_table(argument: str, table: Any) -> Iterator[None]:
    """Add to an error about fields what else may hold them: an index, or columns of documents."""
    try:
        yield
    except UnknownFieldError as error:
        named = list(filter(None, getattr(getattr(table, "index", None), "names", ())))
        if named:
            levels = ", ".join(map(shown, named))
            error.add(f"if {levels} of its index counts, give {mark(argument)}.reset_index()")
        are_numbers = all(isinstance(example, Real) for example in error.examples.values())
        if are_numbers and not error.chosen:
            by_query = "{query: row.dropna().to_dict() for query, row in frame.iterrows()}"
            error.add(f"if columns are documents, give rows by query, {by_query}")
        error.add_decimals(WITH_POINTS)
        raise


def objects_by_id(
    argument: str,
    objects: Sequence[Any],
    names: Names,
    queries: Sequence[Any] | None = None,
    is_whole: bool = False,
) -> ById | Columns:
    """Return the documents of objects that are rows or queries."""
    with in_place(argument, instead_of=argument):
        fields = fields_among(objects)
        if have_arrays(fields):
            objects = with_lists(objects)
            fields = fields_among(objects)
        reader = ObjectReader(objects, fields, names, queries is not None, is_whole)
        if not reader.are_rows:
            ids, rows = zip(*reader.queries(objects, queries), strict=True)
            by_position = queries is None and reader.roles.query is None
            return _by_id(argument, rows_by_query(argument, ids, rows), by_position, reader)
        read = reader.rows_with_ranks(objects) or reader.rows(reader.within(objects))
    cells: dict[str, Any] = {"query": queries, **read}  # those of a mapping, or of a field
    roles = reader.roles
    return columns_of_rows(argument, cells, names, roles.fields, reader.form, roles.others)


def _by_id(
    argument: str,
    queries: Mapping[Any, DocumentValues],
    by_position: bool,
    reader: "ObjectReader | RowReader",
) -> ById:
    """Return the documents that a reader has read, and warn of what it noticed."""
    if reader.lists.warning:
        warn(f"{mark(argument)}: {reader.lists.warning}")
    return ById(
        queries,
        by_position,
        reader.form,
        reader.fields,
        reader.has_values,
        reader.others,
        reader.lists.are_held_to_order,
        reader.other_ids,
    )


# Mappings


def _of_mapping(argument: str, side: Mapping[Any, Any], names: Names) -> ById | Columns:
    """Return the documents of a mapping of queries, or of a single object."""
    # Nearly all mappings are such, whose values are looked at only where they are scored.
    if not names.given and _are_mappings_to_numbers(side):
        return ById(side)
    refuse_table_by_index(side, argument)
    if is_single_object(side, names):
        return _of_single_object(argument, side, names)
    _refuse_tables(argument, side.values())
    _refuse_columns_of_lists(argument, side, names)
    if are_responses(side):
        return _of_responses(argument, side, names)
    return _of_queries(argument, side, names)


def _of_queries(argument: str, side: Mapping[Any, Any], names: Names) -> ById:
    """Return the documents of a mapping of queries to mappings, sets or lists."""
    try:
        return read_by_query(argument, side.items(), names, by_position=False)
    except UnknownFieldError as error:
        keys = [key for key, row in side.items() if are_hits(row)]
        # What seem hits may be queries, as in a request to Elasticsearch to rate rankings.
        if len(keys) == 1 and error.have_lists:
            error.add(_if_these_are_queries(argument, keys[0]))
        raise


def _of_single_object(argument: str, side: Mapping[Any, Any], names: Names) -> ById | Columns:
    """Return the documents of an object, which may hold those of several queries."""
    try:
        return objects_by_id(argument, [side], names, is_whole=True)
    except UnknownFieldError:
        lists = [field for field in fields_among([side]).values() if field.lists]
        keys = {field.keys[0] for field in lists}
        key = min(keys, default="")
        if len(keys) != 1 or not _are_alike(side[key]):
            raise
    # The fields of one query tell, and not those of every one.
    hint = _if_these_are_queries(argument, key)
    try:
        _of_responses(argument, side[key], names)
    except UnknownFieldError as error:
        error.add(hint)
        raise
    raise InputError(f"has objects with the same fields in {key!r}; {hint}", argument)


def _are_alike(value: Any) -> bool:
    """Return whether a value is a mapping of several objects with the same fields."""
    if not isinstance(value, Mapping):
        return False
    if not all(map(is_object, value.values())):
        return False
    return _have_same_keys(list(map(fields_of, value.values())))


def _if_these_are_queries(argument: str, key: Any) -> str:
    """Return what an error says about what a side holds under a key."""
    return f"if these are queries, give {mark(argument)}[{key!r}]"


def is_single_object(side: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping is an object with fields, and not a mapping of queries."""
    # To spell thousands of ids as names of fields would take long.
    if len(side) > MOST_FIELDS:
        return False
    return (
        _has_names_of_fields(side, names)
        or _is_wrapper(side, names)
        or _has_single_values(side)
        or _has_options(side)
    )


def _has_single_values(side: Mapping[Any, Any]) -> bool:
    """Return whether some values of a mapping are single, which those of a query never are.

    If all are single, they are queries with one id, which are refused later.
    """
    return {isinstance(value, SCALARS) for value in side.values()} == {True, False}


def _has_options(side: Mapping[Any, Any]) -> bool:
    """Return whether a mapping has options beside lists of objects.

    A request to Elasticsearch to rate rankings has them.
    """
    others = [value for value in side.values() if not are_hits(value)]
    return 0 < len(others) < len(side) and all(map(_are_options, others))


def _are_options(value: Any) -> bool:
    """Return whether a value is a mapping that holds others, and no documents of a query."""
    return isinstance(value, Mapping) and any(map(is_nested, value.values()))


def are_responses(side: Mapping[Any, Any]) -> bool:
    """Return whether a mapping holds objects by their queries, such as responses of a client."""
    first = _first_filled(side.values())
    return is_object(first) and not is_mapping_to_values(first)


def _is_wrapper(side: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping wraps a list of queries: objects with lists, and no hits."""
    lists = list(filter(are_hits, side.values()))
    if len(lists) != 1:
        return False
    if all(map(is_mapping_to_values, lists[0])):
        return False  # the hits of one query, as nearly always
    fields = fields_among(filter(is_object, lists[0]))
    if len(fields.outside_lists) == len(fields):
        return False
    return not names.candidates("document", fields.leaves.outside_lists, DOCUMENT_OF_HITS)


def is_mapping_to_values(row: Any) -> bool:
    """Return whether an object is a mapping of documents to values: all of them are single."""
    return isinstance(row, MAPPINGS) and not any(map(is_nested, row.values()))


def is_ranking(row: Mapping[Any, Any], names: Names) -> bool:
    """Return whether an object is a mapping of documents to numbers, and no record."""
    return is_mapping_to_numbers(row) and not _has_names_of_fields(row, names)


def _has_names_of_fields(row: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping has standard names of two roles, or begins a path of `fields`."""
    if are_names_of_fields(row):
        return True
    if not names.given:
        return False
    paths = [accumulate(path.split("."), "{}.{}".format) for path in names.given_names]
    return not set(map(plain_name, row)).isdisjoint(map(plain_name, chain(*paths)))


def are_queries(row: Mapping[Any, Any], names: Names) -> bool:
    """Return whether an object maps queries to their documents: to lists of ids, or to numbers."""
    if is_single_object(row, names):
        return False
    if spelled(row, chain(*LISTS_OF_IDS[names.kind])):
        return False
    return all(map(_are_ids_or_numbers, row.values()))


def _are_ids_or_numbers(documents: Any) -> bool:
    """Return whether a query has a list without hits, a mapping to numbers, or nothing."""
    if is_list(documents):
        return not are_hits(documents)
    return documents is None or is_mapping_to_values(documents)


def responses_of(side: Mapping[Any, Any]) -> list[Any]:
    """Return objects by their queries; a query without a response retrieved nothing."""
    return [{} if response is None else response for response in side.values()]


def _of_responses(argument: str, side: Mapping[Any, Any], names: Names) -> ById | Columns:
    objects = responses_of(side)
    queries = list(side)
    position = first_no_object(objects)
    if position is not None:
        problem = f"must be an object, as those before; got {shown(objects[position])}"
        raise InputError(problem, argument, f"query {shown(queries[position])}")
    return objects_by_id(argument, objects, names, queries)


def refuse_table_by_index(side: Mapping[Any, Any], argument: str = "") -> None:
    """Raise an error for {row: {column: cell}} and {column: {row: cell}}, as pandas makes them."""
    _refuse_table_in_parts(side, argument)
    first = next(iter(side.values()), None)
    if not isinstance(first, MAPPINGS):
        return
    are_mappings = all(isinstance(column, MAPPINGS) for column in side.values())
    # Two names of fields tell a row: documents are hardly called query_id and score.
    if may_be_fields(first) or (are_mappings and may_be_fields(side)):
        hint = "give the table itself, its records, [{...}, ...], or its columns, {name: [...]}"
        raise InputError(f"is a table by its index, such as {shown(dict(first))}; {hint}", argument)
    _refuse_fields_by_document(first, argument)


def _refuse_table_in_parts(side: Mapping[Any, Any], argument: str) -> None:
    """Raise an error for {"columns": names, "data": rows}, as pandas and trackers of runs save."""
    if is_list(side.get("columns")) and is_list(first_in(side.get("data"))):
        hint = "give pandas.DataFrame(table['data'], columns=table['columns'])"
        raise InputError(f"is a table in two parts, 'columns' and 'data'; {hint}", argument)


def _refuse_fields_by_document(documents: Mapping[Any, Any], argument: str) -> None:
    """Raise an error for {document: {field: value}}, in which the ids would be names of fields."""
    fields: Mapping[Any, Any] = next(iter(documents.values()), {})
    are_objects = all(map(is_mapping_to_values, documents.values()))
    if are_objects and spelled(fields, chain(*SCORE, *RELEVANCE, LOWEST_FIRST)):
        problem = f"has the fields of every document, such as {shown(dict(fields))}"
        hint = "give a single value, {query: {document: fields['...']}}, or a list of these objects"
        raise InputError(f"{problem}; {hint}", argument)


def _refuse_columns_of_lists(argument: str, side: Mapping[Any, Any], names: Names) -> None:
    """Raise an error for lists of ids of all queries under the name of such lists, as of Chroma.

    A query has a list of ids, and no lists of them.
    """
    for name in filter(side.__contains__, chain(*LISTS_OF_IDS[names.kind])):
        if is_list(first_in(side[name])):
            problem = f"its keys are read as queries, and {shown(name)} has lists of several"
            lists = f"{mark(argument)}[{name!r}]"
            by_query = f"{{query: ids for query, ids in zip(queries, {lists})}}"
            hint = f"give {lists} if the other side has lists in the same order, or {by_query}"
            raise InputError(f"{problem}; {hint}", argument)


def _have_same_keys(mappings: Sequence[Mapping[Any, Any]]) -> bool:
    """Return whether several mappings have the same keys."""
    return len(mappings) > 1 and all(one.keys() == mappings[0].keys() for one in mappings)


# Lists


def _of_list(argument: str, side: Any, rows: Sequence[Any], names: Names) -> Any:
    """Return the documents of a list of queries, or of objects; itself if it has numbers."""
    # The first query with documents tells the form of all.
    first = _as_row(argument, _first_filled(rows), by_position=True)
    if not _have_ids(first, names):
        return side
    if is_object(first) and not _are_rankings(argument, first, rows, names):
        return objects_by_id(argument, rows, names)
    return read_by_query(argument, enumerate(rows), names, by_position=True)


def _have_ids(row: Any, names: Names) -> bool:
    """Return whether the documents of a query have ids, and are no numbers by position."""
    if _are_ids(row):
        # Text is labels if the other side holds numbers, which both sides together tell.
        return names.labels is None
    return isinstance(row, Set) or is_object(row) or are_hits(row) or are_pairs(row)


def _is_estimate(row: Any) -> bool:
    """Return whether a row is a tuple of a user, an item and an estimate."""
    return type(row) is tuple and tuple(map(type, row)) == (int, int, float)


def row_of_table(argument: str, row: tuple[Any, ...], names: Names) -> InputError:
    """Return the error for a tuple that holds text, or numbers of two types: it is no query."""
    problem = f"holds {shown(row)}, a row of a table"
    table = "a table, pandas.DataFrame(rows, columns=[...]), with columns named by what they hold"
    hint = f"give {table}, {examples_of_names(names)}; or lists if each is a query"
    return InputError(f"{problem}; {hint}", argument)


def _are_rankings(argument: str, first: Any, rows: Sequence[Any], names: Names) -> bool:
    """Return whether objects are mappings of documents to numbers, one per query.

    Records have the same names, rankings mostly do not.

    Raises:
        InputError: all have the same text as keys, none of them a standard name.
    """
    # The first one tells of most records.
    if not is_mapping_to_numbers(first):
        return False
    rows = [_as_row(argument, row, by_position=True) for row in rows]
    rankings = list(filter(None, filter(is_object, rows)))
    if not all(map(is_mapping_to_numbers, rankings)):
        return False
    # All records have the names of the first ones. To spell the ids of all rankings takes long.
    if any(_has_names_of_fields(row, names) for row in rankings[:FIRST_MAPPINGS]):
        return False
    _refuse_same_keys(argument, rankings)
    return True


def _refuse_same_keys(argument: str, rankings: Sequence[Mapping[Any, Any]]) -> None:
    """Raise an error for mappings with the same text as keys: documents, or names of fields."""
    if _have_same_keys(rankings) and all(isinstance(key, str) for key in rankings[0]):
        problem = f"holds mappings with the same keys, such as {shown(dict(rankings[0]))}"
        hint = f"if the keys are documents, give {{query: mapping}}; if fields, {mark('fields')}"
        raise InputError(f"{problem}; {hint}", argument)


def _rows(side: Any) -> Sequence[Any]:
    """Return the queries of a side whose documents may have ids; nothing of numbers."""
    if isinstance(side, ARROW) and _may_hold_ids(side.type):
        return list(side.to_pylist())
    if isinstance(side, np.ndarray) and side.dtype.kind in TEXTS_AND_OBJECTS:
        return list(np.atleast_1d(side).tolist())
    return side if isinstance(side, (list, tuple)) else []


def _may_hold_ids(kind: pa.DataType) -> bool:
    """Return whether a column, perhaps of lists, holds ids that are never numbers, or objects."""
    while hasattr(kind, "value_type"):  # of lists
        kind = kind.value_type
    return pa.types.is_nested(kind) or id_kind(kind) not in ("", "integers")


# The documents of queries


def _first_filled(rows: Iterable[Any]) -> Any:
    """Return the documents of the first query that has some; else of the first one."""
    return next(filter(_is_filled, rows), next(iter(rows), None))


def _is_filled(row: Any) -> bool:
    return row is not None and length_hint(row, 1) > 0


def _are_ids(row: Any) -> bool:
    """Return whether a query's documents are ids that are never numbers, such as text."""
    return id_kind(type(first_in(row))) not in ("", "integers")


def texts_in_lists(side: Any) -> list[str]:
    """Return the texts in the lists of a side; none if they hold anything else, but for None."""
    rows = _rows(side)
    if set(map(type, rows)) != {list}:
        return []
    values = list(chain.from_iterable(rows))
    if not {str, NoneType}.issuperset(map(type, values)):
        return []
    return list(filter(None, values))


def are_hits(row: Any) -> bool:
    """Return whether a query's documents are objects."""
    return is_object(first_in(row))


def read_by_query(
    argument: str, queries: Iterable[tuple[Any, Any]], names: Names, by_position: bool
) -> ById:
    """Return the documents of queries by the ids of queries, or by their numbers."""
    rows = {query: _as_row(argument, row, by_position) for query, row in queries}
    try:
        reader = RowReader(rows.values(), names)
        called = names.query_of_number if by_position else {}
        documents = {
            query: reader.documents(called.get(query, query), row) for query, row in rows.items()
        }
    except ValueError as error:
        raise within(error, argument, instead_of=argument) from None
    return _by_id(argument, documents, by_position, reader)


def _as_row(argument: str, row: Any, by_position: bool) -> Any:
    """Return a query's documents as a list, a set or an object; an empty list for None."""
    if row is None:
        return []
    if isinstance(row, (list, tuple, Set, *SCALARS)) or is_object(row):
        return row
    if is_by_index(row, by_position):
        return mapping_by_index(argument, row)
    values = in_python(plain(argument, row))
    # A matrix in a list is no query; its rows are no pairs.
    return row if by_position and is_list(first_in(values)) else values


class RowReader:
    """Reads the documents of queries: mappings, sets, and lists of ids, of pairs and of hits."""

    def __init__(self, rows: Iterable[Any], names: Names) -> None:
        self.names = names
        self.forms: dict[str, None] = {}  # what held the documents read so far
        self.have_mapped = False  # whether some of them are mapped to their values
        self.hits: HitReader | None = None
        self.lists = ListReader(names)
        self.fields: Mapping[str, str] = {}  # the fields of hits by role
        self.others: Sequence[str] = ()  # the fields of hits that are not read
        self.other_ids: Callable[[], Sequence[str]] = tuple  # as of `ById`
        rows = list(rows)
        # What is no hit or no pair among them is refused with its query, where it is read.
        all_hits = filter(is_object, chain.from_iterable(filter(are_hits, rows)))
        hits = list(islice(all_hits, LOOKED_AT))  # the first ones tell the fields of all
        objects = hits or _objects_in_pairs(rows)
        if objects:
            self.hits = HitReader(objects, names if hits else names.without_value(), rows)
            self.lists = ListReader(names, self.hits.hint)
            self.fields, self.others = self.hits.roles.fields, self.hits.roles.others
            self.other_ids = self.hits.other_ids

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        return " and ".join(self.forms)

    @property
    def has_values(self) -> bool:
        """Whether some documents read so far have values."""
        return self.have_mapped or self.lists.has_values

    def documents(self, query: Any, row: Any) -> DocumentValues:
        """Return the values of a query's documents by their ids."""
        try:
            return self._documents(query, row)
        except ValueError as error:
            raise within(error, f"query {shown(query)}") from None

    def _documents(self, query: Any, row: Any) -> DocumentValues:
        if isinstance(row, Mapping):
            self.forms["mappings of documents to numbers"] = None
            return self._of_mapping(row)
        if isinstance(row, Set):
            self.forms["sets of ids"] = None
            return documents_of_query(row, None, self.names)
        if not isinstance(row, (list, tuple)):
            hint = "give a list of ids or hits, a set, or a mapping of documents to numbers"
            one = f"if {shown(query)} is a document, name its query on both sides, {{query: ...}}"
            raise InputError(f"got {shown(row)}; {hint}; {one}")
        if len(row) == 0:
            return {}
        if are_hits(row):
            self.forms["lists of hits"] = None
            return self.lists.read(query, *self._reader_of_hits().columns(row))
        if are_pairs(row):
            self.forms["lists of pairs"] = None
            return self._of_pairs(query, row)
        self.forms[IDS_IN_LISTS] = None
        return documents_of_query(without_filling(row), None, self.names)

    def _reader_of_hits(self) -> HitReader:
        """Return what reads hits; an error if the first queries, of a long file, have none."""
        if self.hits is None:
            raise InputError("has hits, unlike the first queries; give all queries in one form")
        return self.hits

    def _of_mapping(self, row: Mapping[Any, Any]) -> DocumentValues:
        """Return a mapping of documents to numbers."""
        if not is_mapping_to_values(row):
            raise InputError(f"got {shown(dict(row))}; give {{document: number}} in each query")
        if self.names.has_no_value:
            return documents_of_query(row, None, self.names)
        self.have_mapped = True
        return row

    def _of_pairs(self, query: Any, row: Sequence[Any]) -> DocumentValues:
        """Return the documents of pairs of an id, or of an object with one, and a value."""
        firsts, values = split_pairs(row)
        if is_object(firsts[0]):
            firsts = self._reader_of_hits().ids(firsts)
        return self.lists.read(query, firsts, values)


def _objects_in_pairs(rows: Iterable[Any]) -> list[Any]:
    """Return the objects in lists of pairs of an object and a value; none if they are of ids."""
    pairs = list(filter(are_pairs, rows))
    if not any(is_object(row[0][0]) for row in pairs):
        return []
    return list(filter(is_object, map(first_in, chain.from_iterable(pairs))))


def without_filling(ids: Sequence[Any]) -> Sequence[Any]:
    """Return ids without any -1 at the end.

    >>> without_filling([7, 3, -1, -1])
    [7, 3]
    """
    # FAISS fills up a list with -1 where there were fewer documents, as others pad labels.
    filling = takewhile(_is_filling, reversed(ids))
    return ids[: len(ids) - len(list(filling))]


def _is_filling(document: Any) -> bool:
    return type(document) is int and document == -1
