"""The files of a command, read once, and the options it passes on."""

import os
import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from ..files.content import SavedResultError
from ..files.groups import STANDARD_INPUT, path_of, read_groups
from ..files.reader import read_columns
from ..inputs.beside_ids import with_ids_of_letor
from ..inputs.fields import ROLES, one_error, refuse_unused_fields
from ..inputs.hashes import Columns
from ..inputs.joins import nothing_shared
from ..inputs.reading import Inputs, refuse_same_column
from ..measure.messages import InputError, in_place, place_of_file, warn, within
from ..measure.options import OF_COMPUTE, Options
from ..measure.ties import Mask
from ..statistics.measured import Resampling
from ..statistics.pairs import COLUMNS
from ..statistics.report import Report, report_on

SUFFIX = re.compile(
    r"(\.(gz|zst|txt|run|res|trec|qrels|csv|tsv|json|jsonl|ndjson|parquet|arrow|feather|svm|"
    r"libsvm|letor))+$",
    re.IGNORECASE,
)

ARGUMENT_OF = {"qrels": "references", "exclude": "exclude"}  # in errors; runs go by their files


@dataclass(frozen=True)
class Sides:
    """The contents of the files of a command."""

    args: Namespace  # the arguments of the command
    qrels: Columns  # the relevance judgments
    runs: dict[str, Columns]  # the scores of runs by their names
    # the saved result that a gate compares with, by its name; otherwise empty
    saved: dict[str, dict[str, Any]]
    exclude: Columns | None  # the documents to remove from rankings and ideals
    by: dict[str, Any] | None  # the slices of queries

    @classmethod
    def read(cls, args: Namespace, files: Sequence[str]) -> "Sides":
        """Read the qrels, the files of runs, and the other files in the arguments."""
        _refuse_two_standard_inputs(args, files)
        file_by_name = dict(zip(names_of(files), files, strict=True))
        qrels, columns, saved, exclude = _read_sides(args, file_by_name)
        runs: dict[str, Columns] = {}
        for name, run in columns.items():
            file = file_by_name[name]
            with in_place(place_of_file(file), instead_of="predictions"):
                runs[name] = with_ids_of_letor(run, qrels)
            if file == args.qrels:
                refuse_same_column(place_of_file(file), runs[name], qrels)
            _refuse_other_queries(file, runs[name], qrels)
        slices = None
        by = getattr(args, "by", None)
        if by is None:
            # With slices, a field may be only in their file.
            refuse_unused_fields(_fields(args), list(runs.values()), qrels, exclude)
        else:
            query = args.query and args.query.split(",")[-1]  # the name in the qrels
            slices = read_groups(by, args.qrels, query)
        return cls(args, qrels, runs, saved, exclude, slices)

    @property
    def shared(self) -> dict[str, Any]:
        """The keyword arguments that `report`, `compare` and `explain` share."""
        return {"references": self.qrels, "exclude": self.exclude, **scoring(self.args)}

    def report(self, run: str) -> Report:
        """Return the report on a run."""
        return self.report_and_missing(run)[0]

    def report_and_missing(self, run: str) -> tuple[Report, Mask]:
        """Return the report on a run, and a mask of its queries: True if the run lacks it."""
        return report_on(
            Inputs(self.runs[run], self.qrels, exclude=self.exclude, by=self.by),
            options=Options.parse(**scoring(self.args)),
            resampling=Resampling.parse(getattr(self.args, "confidence", 0.95)),
            notify=lambda doubt: warn(f"{run}: {doubt}"),
        )


def _refuse_two_standard_inputs(args: Namespace, files: Sequence[str]) -> None:
    read = [args.qrels, *files, *set_in(args, ("exclude", "got", "by")).values()]
    streams = [file for file in read if file in ("-", STANDARD_INPUT)]
    # The second reader would find the stream at its end.
    if len(streams) > 1:
        raise ValueError(
            "standard input, -, can be read only once; give the other files by their names"
        )


def _read_sides(
    args: Namespace, files: Mapping[str, str]
) -> tuple[Columns, dict[str, Columns], dict[str, dict[str, Any]], Columns | None]:
    """Read the qrels, the files of runs and the saved result among them by name, and `--exclude`.

    One error says what is wrong with all files.
    """
    reading = [("qrels", "qrels", args.qrels)]
    reading += [("run", name, file) for name, file in files.items()]
    if args.exclude is not None:
        reading.append(("exclude", "exclude", args.exclude))
    columns: dict[tuple[str, str], Columns] = {}
    saved: dict[str, dict[str, Any]] = {}
    errors: dict[str, InputError] = {}
    for kind, name, file in reading:
        # A gate may compare with the saved result of an earlier run.
        may_be_saved = args.command == "gate" and file == args.baseline
        order = getattr(args, "score_order", None)
        if isinstance(order, dict):
            order = order.get(name)
        try:
            columns[kind, name] = _columns(args, file, kind, order)
        except SavedResultError as error:
            if not may_be_saved:
                raise
            saved[name] = error.value
        except InputError as error:
            errors[ARGUMENT_OF.get(kind, place_of_file(path_of(file)))] = error
    qrels: Any = columns.pop(("qrels", "qrels"), None)
    if errors:
        first_run = next(iter(columns.values()), None)
        read = {"references": qrels, "predictions": first_run}
        raise one_error(errors, args.qrels in files.values(), read)
    exclude = columns.pop(("exclude", "exclude"), None)
    return qrels, {name: run for (_, name), run in columns.items()}, saved, exclude


def scoring(args: Namespace) -> dict[str, Any]:
    """Return the options of `compute` that are set."""
    return set_in(args, OF_COMPUTE)


def set_in(args: Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the arguments that are set, of those with some names."""
    values = vars(args)
    return {name: values[name] for name in names if values.get(name) is not None}


def _columns(args: Namespace, file: str, kind: str, order: str | None = None) -> Columns:
    # Reading depends on neither cutoffs nor measures, and runs may differ in their orders.
    options = scoring(args) | {"k": 1, "measures": "nDCG", "score_order": None}
    sides = {**Options.parse(**options).sides, "score_order": order}
    form = None
    if args.format is not None:
        # One for all, or one of the runs and one of the qrels.
        forms = args.format.split(",")
        form = forms[0] if kind == "run" else forms[-1]
    return read_columns(path_of(file), kind, fields=_fields(args), format=form, **sides)


def _fields(args: Namespace) -> dict[str, Any]:
    return {role: _names_of_column(name) for role, name in set_in(args, ROLES).items()}


def _names_of_column(given: str) -> Any:
    """Return the name of a column, None for "-", or a pair of names, in the runs and the qrels.

    >>> _names_of_column("reader"), _names_of_column("docno,item"), _names_of_column("-")
    ('reader', ['docno', 'item'], None)
    """
    names = [None if name == "-" else name for name in given.split(",")]
    if len(names) == 1:
        return names[0]
    return names


def _refuse_other_queries(file: str, run: Columns, qrels: Columns) -> None:
    if not pc.any(pc.is_in(run.query_ids, value_set=qrels.query_ids)).as_py():
        raise within(nothing_shared(run, qrels), place_of_file(file), instead_of="predictions")


def names_of(files: Sequence[str]) -> list[str]:
    """Return the names of runs: the names of files, or their paths if names repeat or clash."""
    names = list(map(_name_of, files))
    are_clear = len(set(names)) == len(names) and COLUMNS.isdisjoint(names)
    if not are_clear:
        # With a dot, a path is not the name of a column in a table of results.
        names = [os.path.join(".", file) if file in COLUMNS else file for file in files]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice; pass a run only once")
    return names


def _name_of(file: str) -> str:
    """Return the name of a run, from the name of its file.

    >>> _name_of("runs/bm25.trec.gz"), _name_of("-")
    ('bm25', 'stdin')
    """
    if file == "-":
        return "stdin"
    name = os.path.basename(file.rstrip(os.sep))
    return SUFFIX.sub("", name) or name
