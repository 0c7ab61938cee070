"""The files of a command, each read once, and the options it passes on."""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..files.content import SavedResultError
from ..files.groups import STANDARD_INPUT, file_and_column, path_of, read_groups
from ..files.reader import read_columns
from ..inputs.beside_ids import with_ids_of_letor
from ..inputs.fields import ROLES, UnknownFieldError, fields_unknown, refuse_unused_fields
from ..inputs.hashes import Columns
from ..inputs.ids import float_hint
from ..inputs.reading import Inputs
from ..measure.messages import of_file, shown, warn, within
from ..measure.options import OF_COMPUTE, Options
from ..statistics.measured import Resampling
from ..statistics.pairs import COLUMNS
from ..statistics.report import Report, report_and_missing

SUFFIX = re.compile(
    r"(\.(gz|zst|txt|run|res|trec|qrels|csv|tsv|json|jsonl|ndjson|parquet|arrow|feather|svm|libsvm|letor))+$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sides:
    """The contents of the files of a command."""

    args: argparse.Namespace  # the arguments of the command
    qrels: Columns  # the relevance judgments
    names: list[str]  # the names of all runs
    runs: dict[str, Columns]  # the scores of each run, by its name
    # the saved result that a gate compares with, by its name; otherwise empty
    saved: dict[str, dict[str, Any]]
    exclude: Columns | None  # the documents to remove from rankings and ideals
    by: dict[str, Any] | None  # the slice of each query

    @classmethod
    def read(cls, args: argparse.Namespace, files: Sequence[str]) -> "Sides":
        """Read the qrels, the files of runs, and the other files in the arguments."""
        by = getattr(args, "by", None)
        by_file = None if by is None else file_and_column(by)[0]
        got = getattr(args, "got", None)
        if (
            sum(
                file in ("-", STANDARD_INPUT)
                for file in (args.qrels, *files, args.exclude, by_file, got)
            )
            > 1
        ):
            raise ValueError(
                "standard input, -, can be read only once; give the other files by their names"
            )
        names = names_of(files)
        saved: dict[str, dict[str, Any]] = {}
        unknown: dict[str, UnknownFieldError] = {}
        qrels = None
        try:
            qrels = _columns(args, args.qrels, "qrels")
        except UnknownFieldError as error:
            unknown["references"] = error
        columns: dict[str, Columns] = {}
        for name, file in zip(names, files, strict=True):
            try:
                columns[name] = _columns(args, file, "run", _order(args, name))
            except SavedResultError as error:
                if args.command != "gate" or file != args.baseline:
                    raise
                saved[name] = error.value
            except UnknownFieldError as error:
                unknown[of_file(path_of(file))] = error
        if qrels is None or unknown:
            raise fields_unknown(unknown, are_one=args.qrels in files)
        runs: dict[str, Columns] = {}
        for name, file in zip(names, files, strict=True):
            if name not in columns:
                continue
            try:
                runs[name] = with_ids_of_letor(columns[name], qrels)
            except ValueError as error:
                raise within(error, of_file(file), instead_of="predictions") from None
            _refuse_other_queries(args.qrels, qrels, file, runs[name])
        exclude = None if args.exclude is None else _columns(args, args.exclude, "exclude")
        if by is None:
            refuse_unused_fields(_fields(args), list(runs.values()), qrels, exclude)
        query = None if args.query is None else args.query.split(",")[-1]
        groups = None if by is None else read_groups(by, args.qrels, query)
        return cls(args, qrels, names, runs, saved, exclude, groups)

    @property
    def shared(self) -> dict[str, Any]:
        """The keyword arguments that `report`, `compare` and `explain` share."""
        return {"references": self.qrels, "exclude": self.exclude, **scoring(self.args)}

    def report(self, run: str) -> Report:
        """Return the report on a run."""
        return self.report_and_missing(run)[0]

    def report_and_missing(self, run: str) -> tuple[Report, NDArray[np.bool_]]:
        """Return the report on a run, and a mask of its queries: True for those that are missing from the run."""
        return report_and_missing(
            Inputs(self.runs[run], self.qrels, exclude=self.exclude, by=self.by),
            options=Options.parse(**scoring(self.args)),
            resampling=Resampling.parse(getattr(self.args, "confidence", 0.95)),
            notify=lambda unmatched: warn(f"{run}: {unmatched}"),
        )


def scoring(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `compute` that are set."""
    given = {name: getattr(args, name, None) for name in OF_COMPUTE}
    return {name: value for name, value in given.items() if value is not None}


def _order(args: argparse.Namespace, run: str) -> str:
    """Return the order of the scores of a run."""
    order = getattr(args, "score_order", None) or "descending"
    return order if isinstance(order, str) else order.get(run) or "descending"


def _columns(args: argparse.Namespace, file: str, kind: str, order: str = "descending") -> Columns:
    """Return the columns of a file, which may have names of their own."""
    others = ("k", "measures", "score_order")
    given = {name: value for name, value in scoring(args).items() if name not in others}
    sides = {**Options.parse(k=1, **given).sides, "score_order": order}
    formats = [None, None] if args.format is None else args.format.split(",")
    form = formats[0 if kind == "run" else -1]
    return read_columns(path_of(file), kind, fields=_fields(args), format=form, **sides)


def _fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the names of columns and fields that are given."""
    return {
        field: _names_of_column(name)
        for field in ROLES
        if (name := getattr(args, field)) is not None
    }


def _names_of_column(given: str) -> Any:
    """Return the name of a column, None for "-", or the names in the runs and in the qrels, with a comma between them.

    >>> _names_of_column("reader"), _names_of_column("docno,item"), _names_of_column("-")
    ('reader', ['docno', 'item'], None)
    """
    names = [None if name == "-" else name for name in given.split(",")]
    return names if len(names) == 2 else given if len(names) > 2 else names[0]


def _refuse_other_queries(qrels_file: str, qrels: Columns, run_file: str, run: Columns) -> None:
    """Raise an error if a run has no query in common with the qrels."""
    if not pc.any(pc.is_in(run.query_ids, value_set=qrels.query_ids)).as_py():
        own, other = (shown(side.query_ids[0].as_py()) for side in (run, qrels))
        problem = f"has no query in common with {qrels_file}"
        first = f"its first query is {own}, and the first query of {qrels_file} is {other}"
        raise ValueError(f"{run_file}: {problem}: {first}{float_hint(own, other)}")


def names_of(files: Sequence[str]) -> list[str]:
    """Return the names of runs: the names of their files, or their paths if names repeat or are taken."""
    names = list(map(_name_of, files))
    if len(set(names)) < len(names) or not COLUMNS.isdisjoint(names):
        names = [os.path.join(".", file) if file in COLUMNS else file for file in files]
    if len(set(names)) < len(names):
        raise ValueError(
            f"{next(name for name in names if names.count(name) > 1)} is given twice; pass each run once"
        )
    return names


def _name_of(file: str) -> str:
    """Return the name of a run, from the name of its file.

    >>> _name_of("runs/bm25.trec.gz"), _name_of("-")
    ('bm25', 'stdin')
    """
    name = os.path.basename(file.rstrip(os.sep))
    return "stdin" if file == "-" else SUFFIX.sub("", name) or name
