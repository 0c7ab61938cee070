"""Reading one file within the limits of the page; an error is one sentence that names the file."""

import csv
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from .metric import Options, ndcg, tables

LIMITS = ndcg.Limits(
    bytes=20_000_000, uncompressed=100_000_000, rows=500_000, queries=20_000, columns=50
)
Mappings = dict[str, dict[str, Any]]  # of scores; or of relevances, numbers or labels


def read_upload(
    path: str, role: str, options: Options, fields: Mapping[str, Any] | None = None
) -> Mappings:
    """Read a run or judgments from an uploaded file, as options say; `fields` as in `compute`."""
    parsed = tables.Options.parse(**options)
    read: Mappings
    with named(path):
        if role == "judgments":
            read = ndcg.read_qrels(path, LIMITS, gain=options.get("gain"), fields=fields)
        else:
            read = ndcg.read_run(
                path,
                LIMITS,
                options.get("score_order"),
                duplicates=parsed.duplicates,
                ties=parsed.ties,
                fields=fields,
            )
    return read


def text_of(path: str) -> str:
    """Return the text of a file within the limits."""
    with open(path, "rb") as file:
        # one byte more tells that a file is too large, before all of it is read
        content = file.read(LIMITS.bytes + 1)
    LIMITS.check("bytes", len(content))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; give CSV or JSON") from None


def read_groups(path: str) -> dict[str, Any]:
    """Read the groups of queries from an uploaded file, in any format that `by` may have."""
    with named(path):
        try:
            groups: dict[str, Any] = tables.read_groups(path, limits=LIMITS)
        except tables.InputError as error:
            # the advice for other programs, PATH:COLUMN, would show the path on the server
            problem, _, _ = error.problem.partition("; choose the one of slices")
            raise tables.InputError(problem, *error.places, position=error.position) from None
    return groups


def check_size(side: Collection[Any]) -> None:
    """Raise an error for more queries or documents than the page accepts.

    They may be in lists, in mappings, or in one flat list.
    """
    queries = side.values() if isinstance(side, dict) else side
    nested = [len(query) for query in queries if isinstance(query, (list, dict))]
    LIMITS.check("queries", len(nested))
    LIMITS.check("rows", len(side) - len(nested) + sum(nested))


def printable(name: str) -> str:
    """Return the name of a file without characters that would move a cursor or end a line."""
    sign = "\N{REPLACEMENT CHARACTER}"
    return "".join(letter if letter.isprintable() else sign for letter in name)


@contextmanager
def named(path: str) -> Iterator[None]:
    """Turn an error in a file into a sentence with the user's name of the file."""
    here = tables.place_of_file(printable(Path(path).name))
    try:
        if Path(path).is_symlink() or not Path(path).is_file():
            raise ValueError("is not a file")
        yield
    except tables.InputError as error:
        raise tables.within(error, here, instead_of=tables.place_of_file(path)) from None
    except (ValueError, OSError, RecursionError, csv.Error, pa.ArrowException) as error:
        # the text of a system error shows the path on the server, its strerror does not
        text = getattr(error, "strerror", None) or str(error)
        raise tables.InputError(text.splitlines()[0], here) from None
