"""Objects and the paths to their fields: dicts, as in JSON, and objects of client libraries.

A path such as ``output.hits.id`` leads through objects, and through lists of objects: it leads to
a list then, of the field of all objects. Keys may contain dots themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date
from enum import Enum
from functools import lru_cache
from itertools import islice, repeat
from numbers import Number, Real
from operator import itemgetter
from types import NoneType
from typing import Any

import numpy as np

from ..measure.messages import InputError, shown
from .fields import Field, Fields, Keys

DEEPEST = 8  # objects within objects
DEEPEST_IN_CLIENTS = 4  # within an object of a client, which may refer to one another
LOOKED_AT = 1 << 10  # objects of a side whose fields are looked at; all are read by the same paths
MOST_SHAPES = 1 << 5  # kinds of objects among these
LOOKED_AT_IN_LISTS = 1 << 12  # elements of the lists in the first of them; in others the first one
SINGLE = {str, int, float, bool}  # types of values that hold no other values
NO_OBJECTS = (NoneType, str, bytes, date, Number, list, Set, type, Enum)
# of tensors, columns and tables, and of the missing value of pandas
SIGNS_OF_ARRAYS = ("__array__", "__array_ufunc__", "__arrow_c_stream__")
# What lists the fields of a named tuple, a dataclass, and a struct of msgspec. Rows of Spark have
# `__fields__`, which is not asked of others: models of pydantic warn that it is deprecated.
NAMES_OF_FIELDS = ("_fields", "__dataclass_fields__", "__struct_fields__")


def is_object(value: Any) -> bool:
    """Return whether a value has fields: a dict, a named tuple, a row of a database, a client's."""
    kind: Any = type(value)
    has_fields = _has_fields(kind)
    if has_fields is None:
        return hasattr(value, "keys")
    return has_fields


@lru_cache(1 << 8)
def _has_fields(kind: Any) -> bool | None:
    """Return whether values of a type have fields; asked once, since most are of few types.

    None: only a value tells, as a response of Elasticsearch's client, which has what its body has.
    """
    if issubclass(kind, Mapping):
        return True
    if issubclass(kind, tuple):
        return _has_any(kind, ("_fields", "asDict"))  # the latter of Spark
    if issubclass(kind, NO_OBJECTS) or _has_any(kind, SIGNS_OF_ARRAYS):
        return False
    # Rows of a database, such as those of sqlite3, have keys.
    if kind.__dictoffset__ != 0 or _has_any(kind, ("keys", *NAMES_OF_FIELDS)):
        return True
    return None if hasattr(kind, "__getattr__") else False


def _has_any(value: Any, attributes: Iterable[str]) -> bool:
    return any(hasattr(value, attribute) for attribute in attributes)


def is_list(value: Any) -> bool:
    """Return whether a value is a list or a tuple without names."""
    return isinstance(value, (list, tuple)) and not is_object(value)


def is_nested(value: Any) -> bool:
    """Return whether a value holds others: it is a list or an object."""
    return isinstance(value, (list, tuple)) or is_object(value)


def first_in(row: Any) -> Any:
    """Return the first value in a list; None for an empty list, and for what is no list."""
    return row[0] if is_list(row) and row else None


def fields_of(value: Any) -> Mapping[Any, Any]:
    """Return the fields of an object by their names."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and hasattr(value, "__fields__"):  # of Spark
        return dict(zip(value.__fields__, value, strict=True))
    for names in NAMES_OF_FIELDS:
        if hasattr(value, names):
            return {name: getattr(value, name, None) for name in getattr(value, names)}
    if hasattr(value, "keys"):  # a row of a database
        return {name: value[name] for name in value.keys()}  # noqa: SIM118 - it is no mapping
    return {name: field for name, field in vars(value).items() if not callable(field)}


def without_arrays(objects: Sequence[Any]) -> Sequence[Any]:
    """Return objects in which arrays and tensors are lists; the same if the first has none.

    >>> without_arrays([{"id": "q", "hits": np.array(["a", "b"])}])
    [{'id': 'q', 'hits': ['a', 'b']}]
    """
    if not _has_arrays(_first(objects), DEEPEST_IN_CLIENTS):
        return objects
    return [_with_lists(value, DEEPEST_IN_CLIENTS) for value in objects]


def _is_array(value: Any) -> bool:
    return hasattr(value, "tolist") and not isinstance(value, np.generic)


def _has_arrays(value: Any, depth: int) -> bool:
    """Return whether an object holds an array, at most so deep."""
    if is_list(value):
        return _has_arrays(_first(value), depth)
    if depth > 0 and is_object(value):
        return any(_has_arrays(field, depth - 1) for field in fields_of(value).values())
    return _is_array(value)


def _with_lists(value: Any, depth: int) -> Any:
    """Return a value with lists in place of arrays, in objects that are at most so deep."""
    if _is_array(value):
        value = value.tolist()
    if is_list(value):
        return [_with_lists(item, depth) for item in value]
    if depth > 0 and is_object(value):
        fields = fields_of(value).items()
        return {name: _with_lists(field, depth - 1) for name, field in fields}
    return value


def fields_among(objects: Iterable[Any], start: Keys = ()) -> Fields:
    """Return the fields of objects by their paths, which begin with `start`.

    >>> fields = fields_among([{"id": 1, "output": {"hits": [{"doc.id": "a"}]}}])
    >>> {path: field.lists for path, field in fields.items()}
    {'id': (), 'output': (), 'output.hits': (2,), 'output.hits.doc.id': (2,)}

    Raises:
        InputError: one is no object.
    """
    fields = Fields()
    # Objects of one shape have the same paths, so one of them is looked at.
    for value in islice(_of_each_shape(list(islice(objects, LOOKED_AT))), MOST_SHAPES):
        for field in _fields_within(value, (), DEEPEST):
            path = ".".join((*start, *field.keys))
            known = fields.setdefault(path, field)
            if _told(field) > _told(known):
                fields[path] = field
    return fields


def _told(field: Field) -> tuple[bool, bool]:
    """Return what a field tells, which is less in an object where it is empty or null."""
    return field.has_fields, not _is_empty(field.example)


def to_list(fields: Fields) -> Fields:
    """Return the fields that an error lists: fields without fields, and mappings to numbers."""
    listed = Fields()
    mappings = set()
    for path, field in fields.items():
        if field.keys[:-1] in mappings:
            continue  # the number of a document
        if not field.lists and is_mapping_to_numbers(field.example):
            mappings.add(field.keys)
        elif field.has_fields:
            continue
        listed[path] = field
    return listed


def is_mapping_to_numbers(value: Any) -> bool:
    """Return whether a value is a mapping to numbers or None, such as documents' scores."""
    if not isinstance(value, Mapping):
        return False
    return all(issubclass(kind, (Real, NoneType)) for kind in set(map(type, value.values())))


def _is_empty(value: Any) -> bool:
    return isinstance(value, (NoneType, list, tuple, Mapping)) and not value


def _of_each_shape(objects: Sequence[Any]) -> Iterable[Any]:
    if len(objects) == 1 and is_object(objects[0]):
        return objects  # nothing to tell apart
    if _are_alike(objects):
        return objects[:1]
    examples: dict[Any, Any] = {}
    in_lists = LOOKED_AT_IN_LISTS // max(1, min(len(objects), MOST_SHAPES))
    for position, value in enumerate(objects):
        if value is None:
            continue
        if not is_object(value):
            problem = f"holds {shown(value)} among objects; give objects alone"
            raise InputError(problem, f"position {position}")
        if position == MOST_SHAPES:
            in_lists = 0
        examples.setdefault(_shape(value, DEEPEST, in_lists), value)
    return examples.values()


def _are_alike(objects: Sequence[Any]) -> bool:
    """Return whether objects are dicts of the same names and single values, as in most tables.

    The columns are looked at one by one, much faster than the objects.
    """
    if set(map(type, objects)) != {dict} or len(set(map(len, objects))) > 1:
        return False
    with suppress(KeyError):  # one has other names
        columns = (map(itemgetter(name), objects) for name in objects[0])
        return all(SINGLE.issuperset(map(type, column)) for column in columns)
    return False


def _shape(value: Any, depth: int, in_lists: int) -> Any:
    """Return what tells apart objects with other paths: the names of their fields, at any depth.

    Of the lists in an object so many elements are looked at, or else the first one.
    """
    if type(value) in SINGLE:  # faster
        return False
    if is_list(value):
        elements = value[:in_lists] or [_first(value)]
        if _are_alike(elements):
            elements = elements[:1]
        in_each = in_lists // len(elements)
        return frozenset(_shape(element, depth, in_each) for element in elements)
    if depth == 0 or not is_object(value):
        return value is None
    if type(value) is dict and SINGLE.issuperset(map(type, value.values())):  # faster
        return tuple(value)
    within = _depth_within(value, depth)
    shapes = []
    for name, field in fields_of(value).items():
        shapes.append((name, _shape(field, within, in_lists)))
    return tuple(shapes)


def _depth_within(value: Any, depth: int) -> int:
    """Return how deep objects are looked at within an object."""
    return depth - 1 if isinstance(value, Mapping) else min(depth - 1, DEEPEST_IN_CLIENTS)


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _fields_within(
    value: Any, keys: Keys, depth: int, lists: tuple[int, ...] = ()
) -> Iterator[Field]:
    """Yield the fields of an object at some keys, and of the objects within."""
    if depth == 0:
        return
    depth_within = _depth_within(value, depth)
    for name, example in fields_of(value).items():
        # Only text can be a name; the keys of a mapping of documents may be numbers.
        if not isinstance(name, str):
            continue
        path = (*keys, name)
        objects, within = _objects_in(example), lists
        if objects and is_list(example):
            within = (*lists, len(path))
        yield Field(path, example, within, any(map(fields_of, objects)))
        for inner in objects:
            yield from _fields_within(inner, path, depth_within, within)


def _objects_in(value: Any) -> list[Any]:
    """Return an object as a list, and of a list of objects one of every shape."""
    if not is_list(value):
        return [value] if is_object(value) else []
    if not is_object(_first(value)):
        return []
    return list(islice(_of_each_shape(list(filter(is_object, value[:LOOKED_AT]))), MOST_SHAPES))


def value_at(value: Any, keys: Keys) -> Any:
    """Return the field at some keys: a list if they lead through one, None if there is none.

    >>> value_at({"hits": [{"id": "a"}, {"id": "b"}]}, ("hits", "id"))
    ['a', 'b']
    """
    for position, key in enumerate(keys):
        if type(value) is dict:  # faster
            value = value.get(key)
            continue
        # The rest of the path leads on in all objects of a list.
        if is_list(value):
            return values_at(value, keys[position:])
        if isinstance(value, Mapping):
            value = value.get(key)
        elif hasattr(value, "keys"):
            value = fields_of(value).get(key)
        else:
            value = getattr(value, key, None)
    return value


def values_at(objects: Sequence[Any], keys: Keys) -> list[Any]:
    """Return the field at some keys of all objects."""
    if len(keys) == 1:
        with suppress(TypeError):  # not all are dicts
            return list(map(dict.get, objects, repeat(keys[0])))  # faster than a loop
    return [value_at(value, keys) for value in objects]
