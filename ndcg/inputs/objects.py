"""Read the fields of objects: of dicts, as in JSON, and of objects of client libraries, which have attributes."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from ..measure.messages import InputError
from .fields import plain_name
from .ids import id_kind

FieldPath = tuple[str, ...]  # the names that lead from an object to one of its fields
DEEPEST = 3  # objects within objects
WITHIN = ("document", "node", "metadata", "entity", "hit", "doc", "_additional")  # objects in a hit with its fields


def is_object(value: Any) -> bool:
    """Return whether a value is an object of a client's library, which has fields as attributes."""
    if id_kind(type(value)) or isinstance(value, (Real, Mapping)) or value is None:
        return False
    if isinstance(value, (list, tuple)):
        return bool(field_names(value))
    return hasattr(value, "__dict__") and not any(hasattr(value, each) for each in ("__array__", "__arrow_c_stream__"))


def field_names(hit: Any) -> list[Any]:
    """Return the names of the fields of a hit: a dict, a named tuple, a row of Spark or an object."""
    if isinstance(hit, Mapping):
        return list(hit)
    if isinstance(hit, tuple):
        return list(getattr(hit, "_fields", getattr(hit, "__fields__", ())))
    return list(getattr(hit, "__dict__", ()))


def fields_of(row: Any) -> Mapping[Any, Any]:
    """Return the fields of an object by their names; none for other values."""
    if isinstance(row, Mapping):
        return row
    return {name: field_at(row, (name,)) for name in field_names(row)} if is_object(row) else {}


def leaves_of(row: Any, depth: int = DEEPEST) -> dict[Any, Any]:
    """Return the fields of an object by their names, and those of the objects in it by their paths.

    >>> leaves_of({"id": 1, "output": {"items": ["a"]}})
    {'id': 1, 'output.items': ['a']}
    """
    found: dict[Any, Any] = {}
    for name, each in fields_of(row).items():
        inner = leaves_of(each, depth - 1) if depth else {}
        found |= {f"{name}.{key}": value for key, value in inner.items()} if inner else {name: each}
    return found


def path_named(row: Any, name: str) -> FieldPath:
    """Return the path that a name means in an object: the name of a field, or a path such as "output.items"."""
    return (name,) if "." not in name or has_field(row, (name,)) else tuple(name.split("."))


def path_to_list(row: Any, name: str) -> FieldPath:
    """Return the path to the list of objects through which a path such as "hits.id" leads; () if there is none."""
    names = name.split(".")
    paths = (tuple(names[:end]) for end in range(1, len(names)))
    return next((path for path in paths if _holds_objects(field_at(row, path))), ())


def _holds_objects(value: Any) -> bool:
    """Return whether a value is a list of objects."""
    return isinstance(value, (list, tuple)) and not is_object(value) and len(value) > 0 and len(fields_of(value[0])) > 0


def field_at(value: Any, path: FieldPath) -> Any:
    """Return a field of a hit; None if it has none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return None if callable(value) else value


def has_field(value: Any, path: FieldPath) -> bool:
    """Return whether a hit has a field, even if it is None."""
    for name in path[:-1]:
        value = field_at(value, (name,))
    return path[-1] in value if isinstance(value, Mapping) else hasattr(value, path[-1])


def path_to(hit: Any, names: Sequence[str], within: Sequence[str] = WITHIN, nulls: bool = False) -> FieldPath | None:
    """Return the path to the first field that a hit has under one of the names, in the hit or in an object within.

    With `nulls`, the field may be None. A name may be a path itself, such as "metadata.source".
    """
    if not isinstance(hit, Mapping) and not is_object(hit):
        return None
    for outer in ((), *((each,) for each in within)):
        inner = field_at(hit, outer) if outer else hit
        if inner is None or not (isinstance(inner, Mapping) or is_object(inner)):
            continue
        own = {plain_name(name): name for name in field_names(inner) if isinstance(name, str)}
        for name in names:
            path = (*outer, own.get(plain_name(name), name))
            value = field_at(hit, path)
            if value is None:
                if nulls and has_field(hit, path):
                    return path
            elif not isinstance(value, (list, tuple, Mapping)) and not is_object(value):
                return path
    dotted = (tuple(name.split(".")) for name in names if "." in name)
    return next((path for path in dotted if field_at(hit, path) is not None), None)


def first_path(hits: Sequence[Any], names: Sequence[str], nulls: bool) -> FieldPath | None:
    """Return the path to a field under one of the names, in the first hit that has it, or else has it as None."""
    paths: dict[Any, FieldPath | None] = {}  # by the names of a hit, since nearly all hits have the same
    first = None
    for hit in hits:
        inner = tuple(tuple(field_names(field_at(hit, (name,)))) for name in WITHIN)
        shape = (*field_names(hit), inner)
        if shape not in paths:
            paths[shape] = path_to(hit, names, nulls=True)
        path = paths[shape]
        if path is not None and field_at(hit, path) is None:
            first, path = first or path, path_to(hit, names)
        if path is not None:
            return path
    return first if nulls else None


def fields_at(hits: Sequence[Any], path: FieldPath, names: Sequence[str], word: str, nulls: bool = False) -> list[Any]:
    """Return a field of each hit, under the same path or another one; with `nulls`, it may be None."""
    if len(path) == 1 and set(map(type, hits)) == {dict}:  # by far the most frequent, and faster
        found = [hit.get(path[0]) for hit in hits]
    else:
        found = [field_at(hit, path) for hit in hits]
    if None not in found:
        return found
    for position, value in enumerate(found):
        if value is None and not (nulls and has_field(hits[position], path)):
            other = path_to(hits[position], names, nulls=nulls)
            if other is None:
                others = "the first has" if has_field(hits[0], path) else "others have"
                raise InputError(f"the hit has no {word} ({others} {'.'.join(path)})", position=position)
            found[position] = field_at(hits[position], other)
    return found
