"""Replace the paths of files, as arguments, by what the files hold."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..inputs.fields import one_error
from ..inputs.reading import Inputs, refuse_same_column
from ..measure.labels import Labels
from ..measure.messages import InputError, within, worded
from .content import FileError, MissingFileError
from .groups import read_groups
from .reader import read_columns


def from_files(
    inputs: Inputs,
    score_order: str | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
) -> Inputs:
    """Replace paths of files of rankings by the contents of the files, or by their errors."""
    # Ids of rows are never in a file.
    if not any(map(is_path, (inputs.predictions, inputs.references, inputs.exclude))):
        return inputs
    read: dict[str, Any] = {}
    for name in ("predictions", "references", "exclude"):
        side = getattr(inputs, name)
        read[name] = side_or_error(name, side, inputs, score_order, labels, keep)
    are_files = is_path(inputs.predictions) and is_path(inputs.references)
    if are_files and os.fspath(inputs.predictions) == os.fspath(inputs.references):
        errors = {name: side for name, side in read.items() if isinstance(side, InputError)}
        if errors:
            raise one_error(errors, are_one=True, read={})
        refuse_same_column("predictions", read["predictions"], read["references"])
    return inputs._replace(**read)


def side_or_error(
    argument: str,
    side: Any,
    inputs: Inputs,
    score_order: str | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
) -> Any:
    """Return what `from_file` returns, or its error, which is raised with those of all sides."""
    query_ids = {"has_query_ids": inputs.has_query_ids}
    try:
        return from_file(argument, side, score_order, inputs.names, labels, keep, **query_ids)
    except InputError as error:
        return error


def from_file(
    argument: str,
    side: Any,
    score_order: str | None = None,
    fields: Any = None,
    labels: Labels | None = None,
    keep: str | None = None,
    has_query_ids: bool | None = None,
) -> Any:
    """Return the contents of a file if an argument is its path."""
    if not is_path(side):
        return side
    kind = {"references": "qrels", "exclude": "exclude"}.get(argument, "run")
    with _naming_argument(argument, side):
        return read_columns(
            os.path.expanduser(side),
            kind,
            fields=fields,
            score_order=score_order,
            labels=labels,
            keep=keep,
            has_query_ids=has_query_ids,
        )


def slices_from_file(by: Any, qrels_file: Any) -> Any:
    """Return the slices of queries in a file, or in a column of a file of references."""
    with _naming_argument("by", by):
        return read_groups(os.fspath(by), qrels_file)


@contextmanager
def _naming_argument(argument: str, side: Any) -> Iterator[None]:
    """Name the argument in errors about its file."""
    try:
        yield
    except FileError as error:
        if isinstance(side, str) and side.lstrip().startswith(("{", "[")):
            problem = "is JSON as text; give json.loads of it, or the path of a file"
            raise InputError(problem, argument) from None
        error.argument = f"{worded(argument)}: "
        if isinstance(error, MissingFileError) and os.sep not in error.filename:
            error.strerror = f"{error.strerror}; if it names a column, give its DataFrame as data"
        raise
    except ValueError as error:
        raise within(error, argument) from None


def is_path(side: Any) -> bool:
    """Return whether an argument is the path of a file."""
    # The type is asked, since an object may answer to any name.
    return isinstance(side, str) or hasattr(type(side), "__fspath__")
