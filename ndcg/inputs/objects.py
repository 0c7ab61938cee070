"""Objects and the paths to their fields: dicts, as in JSON, and objects of client libraries.

A path such as ``output.hits.id`` leads through objects, and through lists of objects: it leads to
a list then, of the field of all objects. Keys may contain dots themselves.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from datetime import date
from enum import Enum
from functools import cached_property, lru_cache
from inspect import getattr_static
from itertools import chain, filterfalse, islice, repeat
from numbers import Number, Real
from os import PathLike
from types import GetSetDescriptorType, NoneType
from typing import Any
from uuid import UUID

import numpy as np

from ..measure.messages import InputError, shown
from .fields import Field, Fields, Keys, plain_name
from .sources import as_python

DEEPEST = 7  # objects within objects
DEEPEST_IN_CLIENTS = 4  # within an object of a client, which may refer to one another
LOOKED_AT = 1 << 8  # objects of a side or in the lists of a field, of which the fields are told
FEWEST_IN_LIST = 1 << 2  # of the elements of a list; the first one may lack what others have
MOST_CELLS = 1 << 16  # fields of the objects at one path, since mappings may have many documents
MAPPINGS = (dict, Mapping)  # a dict is found much faster as such
SINGLE = {NoneType, str, int, float, bool}  # types of values that hold no other values
NO_OBJECTS = (NoneType, str, bytes, date, Number, list, Set, type, Enum, UUID, PathLike)
# Attributes that are computed, perhaps slowly or with a warning.
COMPUTED = (property, cached_property, GetSetDescriptorType)
# of tensors, columns and tables, and of the missing value of pandas
SIGNS_OF_ARRAYS = ("__array__", "__array_ufunc__", "__arrow_c_stream__")
# What lists the fields of a named tuple, a dataclass, and a struct of msgspec.
NAMES_OF_FIELDS = ("_fields", "__dataclass_fields__", "__struct_fields__")


def is_object(value: Any) -> bool:
    """Return whether a value has fields: a dict, a named tuple, a row of a database, a client's."""
    kind: Any = type(value)
    return _has_fields(kind)


@lru_cache(1 << 8)
def _has_fields(kind: Any) -> bool:
    """Return whether values of a type have fields; asked once, since most are of few types."""
    if issubclass(kind, tuple):
        # A row of Spark, or of Neo4j
        return _has_any(kind, ("_fields", "asDict")) or callable(getattr(kind, "keys", None))
    if issubclass(kind, NO_OBJECTS):
        return False
    if _has_any(kind, SIGNS_OF_ARRAYS):
        return False
    if getattr(kind, "__slots__", ()) or kind.__dictoffset__ != 0:
        return True
    # Rows of a database have keys, and what Elasticsearch's client returns has what its body has.
    return _has_any(kind, ("keys", "__getattr__", *NAMES_OF_FIELDS))


def _has_any(value: Any, attributes: Iterable[str]) -> bool:
    return any(hasattr(value, attribute) for attribute in attributes)


def is_list(value: Any) -> bool:
    """Return whether a value is a list or a tuple without names."""
    if isinstance(value, list):
        return True
    return isinstance(value, tuple) and not is_object(value)


def is_nested(value: Any) -> bool:
    """Return whether a value holds others: it is a list or an object."""
    kind: Any = type(value)
    return _holds_others(kind)


@lru_cache(1 << 8)
def _holds_others(kind: Any) -> bool:
    """Return whether values of a type hold others; asked once, as in `_has_fields`."""
    return issubclass(kind, (list, tuple)) or _has_fields(kind)


def first_in(row: Any) -> Any:
    """Return the first value in a list; None for an empty list, and for what is no list."""
    return row[0] if is_list(row) and row else None


def fields_of(value: Any) -> Mapping[Any, Any]:
    """Return the fields of an object by their names; of a value without fields nothing."""
    if isinstance(value, MAPPINGS):
        return value
    if hasattr(value, "asDict"):  # of Spark
        return dict(value.asDict())
    for names in NAMES_OF_FIELDS:
        if hasattr(type(value), names):  # an object may have such a name for something of its own
            return {name: getattr(value, name, None) for name in getattr(value, names)}
    if hasattr(value, "keys"):
        with suppress(TypeError, LookupError):  # of a container with keys of its own
            return dict(value)
    fields = getattr(value, "__dict__", None) or _attributes_of_class(value)
    return {name: field for name, field in fields.items() if not callable(field)}


def _attributes_of_class(value: Any) -> dict[str, Any]:
    """Return what an object without a `__dict__` has: slots, or the fields of a Java object."""
    attributes = {}
    for name in dir(value):
        is_computed = isinstance(getattr_static(type(value), name, None), COMPUTED)
        if not name.startswith("_") and not is_computed:
            attributes[name] = getattr(value, name, None)
    return attributes


def have_arrays(fields: Fields) -> bool:
    """Return whether a field of objects is an array or a tensor, or a list of them."""
    examples = [field.example for field in fields.values()]
    held = [example for example in examples if type(example) not in SINGLE]
    return any(map(_is_array, chain(held, map(first_in, held))))


def with_lists(objects: Sequence[Any]) -> list[Any]:
    """Return objects in which arrays and tensors are lists.

    >>> with_lists([{"id": "q", "hits": np.array(["a", "b"])}])
    [{'id': 'q', 'hits': ['a', 'b']}]
    """
    return [_with_lists(value, DEEPEST_IN_CLIENTS) for value in objects]


def _is_array(value: Any) -> bool:
    kind: Any = type(value)
    return _are_arrays(kind)


@lru_cache(1 << 8)
def _are_arrays(kind: Any) -> bool:
    """Return whether values of a type are arrays; asked once, as in `_has_fields`."""
    return _has_any(kind, ("tolist", "__array__")) and not issubclass(kind, np.generic)


def _with_lists(value: Any, depth: int) -> Any:
    """Return a value with lists in place of arrays, in objects that are at most so deep."""
    if _is_array(value):
        value = as_python(value)
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
    looked_at = list(islice(objects, LOOKED_AT))
    position = first_no_object(looked_at)
    if position is not None:
        problem = f"holds {shown(looked_at[position])} among objects; give objects alone"
        raise InputError(problem, f"position {position}")
    fields = Fields()
    _add_fields(fields, ".".join((*start, "")), (), looked_at, (), DEEPEST)
    return fields


def first_no_object(values: Sequence[Any]) -> int | None:
    """Return the position of the first value without fields; None if all have fields."""
    kinds = list(map(type, values))
    return min(map(kinds.index, filterfalse(_has_fields, set(kinds))), default=None)


def _add_fields(
    fields: Fields,
    prefix: str,
    keys: Keys,
    objects: Sequence[Any],
    lists: tuple[int, ...],
    depth: int,
) -> None:
    """Add the fields of all objects at some keys, and of the objects within, by their paths."""
    if not set(map(type, objects)) <= {dict}:
        depth = min(depth, DEEPEST_IN_CLIENTS)
        objects = [dict(fields_of(value)) for value in objects]
    cells = defaultdict(list)
    for name, cell in islice(chain.from_iterable(map(dict.items, objects)), MOST_CELLS):
        cells[name].append(cell)
    for name, values in cells.items():
        # Only text can be a name; the keys of a mapping of documents may be numbers.
        if not isinstance(name, str):
            continue
        path = (*keys, name)
        inner, are_in_lists = _objects_in(values)
        within = (*lists, len(path)) if are_in_lists else lists
        example = next(filterfalse(is_empty, values), values[0])
        has_fields = any(map(fields_of, inner))
        holder = _holder(example, within)
        field = Field(path, example, within, has_fields, holder, plain_name(name))
        fields.setdefault(f"{prefix}{name}", field)
        if has_fields and depth > 0:
            _add_fields(fields, f"{prefix}{name}.", path, inner, within, depth - 1)


def _holder(example: Any, lists: Sequence[int]) -> str:
    """Return what may hold several documents in a field: objects in lists, or its example."""
    if lists:
        return "hits"
    if type(example) in SINGLE:  # usually, and much faster
        return ""
    if isinstance(example, MAPPINGS):
        return "mapping"
    return "list" if is_list(example) or isinstance(example, Set) else ""


def is_empty(value: Any) -> bool:
    """Return whether a value holds nothing: it is None, or a list or a mapping without any."""
    return isinstance(value, (NoneType, list, tuple, dict)) and not value


def _objects_in(values: Sequence[Any]) -> tuple[list[Any], bool]:
    """Return the objects among the values of a field, also in lists, and whether some are there."""
    if SINGLE.issuperset(map(type, values)):  # usually, and much faster
        return [], False
    lists = list(filter(is_list, values))
    # As many elements of each, so that all lists are looked at.
    in_each = max(FEWEST_IN_LIST, LOOKED_AT // max(1, len(lists)))
    in_lists = list(filter(is_object, chain.from_iterable(row[:in_each] for row in lists)))
    return [*filter(is_object, values), *in_lists], len(in_lists) > 0


def to_list(fields: Fields) -> Fields:
    """Return the fields that an error lists: fields without fields, and mappings to numbers."""
    listed = Fields()
    mappings = set()
    have_lists = {field.keys[:-1] for field in fields.values() if field.holder}
    for path, field in fields.items():
        if field.keys[:-1] in mappings:
            continue  # the number of a document
        is_mapping = field.holder == "mapping" and is_mapping_to_numbers(field.example)
        if is_mapping and field.keys not in have_lists:
            mappings.add(field.keys)
        elif field.has_fields:
            continue
        listed[path] = field
    return listed


def is_mapping_to_numbers(value: Any) -> bool:
    """Return whether a value is a mapping to numbers or None, such as documents' scores."""
    if not isinstance(value, MAPPINGS):
        return False
    return all(issubclass(kind, (Real, NoneType)) for kind in set(map(type, value.values())))


def value_at(value: Any, keys: Keys) -> Any:
    """Return the field at some keys: a list if they lead through one, None if there is none.

    >>> value_at({"hits": [{"id": "a"}, {"id": "b"}]}, ("hits", "id"))
    ['a', 'b']
    """
    for position, key in enumerate(keys):
        if type(value) is dict:  # faster
            value = value.get(key)
        # The rest of the path leads on in all objects of a list.
        elif is_list(value):
            return values_at(value, keys[position:])
        elif hasattr(value, "keys"):
            value = fields_of(value).get(key)
        else:
            value = getattr(value, key, None)
    return value


def values_at(objects: Sequence[Any], keys: Keys) -> list[Any]:
    """Return the field at some keys of all objects."""
    if len(keys) > 1:
        return [value_at(value, keys) for value in objects]
    try:
        return list(map(dict.get, objects, repeat(keys[0])))  # faster than a loop
    except TypeError:  # not all are dicts
        return [value_at(value, keys) for value in objects]
