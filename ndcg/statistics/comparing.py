"""Compare systems by their rankings: what the inputs are, and which queries count."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal, Unpack

import numpy as np
import pyarrow as pa

from ..files.paths import from_files, side_or_error
from ..inputs.reading import Inputs, settled_systems
from ..inputs.slices import Slices
from ..measure.messages import InputError, mark, shown, warn, within
from ..measure.options import Cutoffs, Options, QueryOptions, choice
from ..scores.frames import columns_of
from ..scores.queries import refuse_negative
from .comparison import SHARED, Comparison
from .contest import Contest
from .measured import (
    BySystem,
    Resampling,
    column_of_systems,
    leave_out_alike,
    query_columns,
    query_slices,
    query_table,
    select_present,
)
from .notes import notes_of, notes_on_tests, shared_notes, slice_notes
from .pairs import Testing, system_names

# An error about one of these is not about a system.
SHARED_ARGUMENTS = ("references", "query_ids", "document_ids", "exclude", "sample_weight", "file")


def compare(
    *,
    systems: Mapping[str, Any],
    references: Any,
    k: Cutoffs = None,
    baseline: str | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    by: Any = None,
    fields: Any = None,
    confidence: float = 0.95,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
    **options: Unpack[QueryOptions],
) -> Comparison:
    """Compare several systems on the same queries, with intervals and tests.

    Every pair of systems, or every system and the baseline, is compared query by query: the
    difference with its interval, a paired randomization test and a paired t-test, both also with
    Holm's correction.

    Args:
        systems: the predictions of every system by its name, in any format that `compute` accepts.
        references: the relevances, the same for all systems.
        baseline: the system to compare all others with; None for every pair.
        k: the cutoff or cutoffs.
        sample_weight: one weight per query for the means, as in `compute`.
        query_ids: the query id of every row, for flat predictions and references.
        document_ids: the document id of every row, with `query_ids`.
        data: a DataFrame; then its columns may be named, also as the predictions of a system.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        fields: the names of fields and columns, as in `compute`.
        by: a value per query, as in `report`; the queries with the same value are compared as a
            slice, with p-values corrected for all slices. The means of slices are compared too.
        confidence: the confidence level of the intervals, between 0 and 1.
        seed: the random seed; the same seed gives the same comparison.
        alternative: the hypothesis of the tests: the systems differ ("two-sided"), the first is
            better ("greater"), or it is worse ("less").
        margin: with "greater", test whether the first is worse by less than this (non-inferiority);
            with "less", whether it is better by less than this; in units of the measure.
        corrected_over: correct p-values for all pairs of a "measure" at one cutoff, or for "all".
        **options: the options of `compute`, except `use_aggregator` and `engine`. By default a
            judged query that is missing from one system but not from another is an error;
            `missing="skip"` skips it for all systems. `score_order` may be of single systems, as in
            `{"l2": "ascending"}`.

    Raises:
        ValueError: as in `compute`, with the system's name; or there are fewer than two systems or
            queries; systems have rankings of different queries; the baseline is unknown.
        ImportError: SciPy is missing.

    >>> comparison = compare(
    ...     systems={"a": [[3, 2, 1], [1, 2, 3]], "b": [[1, 2, 3], [1, 3, 2]]},
    ...     references=[[2, 1, 0], [0, 0, 1]],
    ... )
    >>> [(pair.system, pair.other, round(pair.difference, 4), pair.p) for pair in comparison.pairs]
    [('a', 'b', 0.3746, 0.5)]
    """
    resampling = Resampling.parse(confidence, seed)
    testing = Testing.parse(alternative, margin, corrected_over)
    orders = options.get("score_order")
    if isinstance(orders, Mapping):
        options = {**options, "score_order": None}
    else:
        orders = {}
    parsed = Options.for_method(compare, k, options)
    names = system_names(systems, baseline)
    options_by_system = dict.fromkeys(names, parsed)
    for name, order in orders.items():
        choice(f"a system in {mark('score_order')}", name, names)
        score_order = Options.parse(score_order=order).score_order
        options_by_system[name] = replace(parsed, score_order=score_order, is_order_given=True)
    runs = dict(zip(map(_argument, names), systems.values(), strict=True))
    shared = Inputs(
        None, references, query_ids, document_ids, exclude, sample_weight, by, fields
    )._asdict()
    arguments = columns_of(data, {**runs, **shared})
    runs = {argument: arguments.pop(argument) for argument in runs}
    inputs = Inputs(**arguments)
    columns, doubts = _columns_of_systems(runs, inputs, options_by_system)
    # Whoever sets `missing` knows that systems lack queries; else this is probably a mistake.
    if options.get("missing") is None and parsed.missing == "empty":
        _refuse_lacking_queries(columns)
    leave_out_alike(columns, parsed)
    for doubt in dict.fromkeys(chain(*doubts.values())):
        alike = [_argument(name) for name in doubts if doubt in doubts[name]]
        warn(f"{', '.join(alike)}: {doubt}")
    # The signature names the order of every system, or the one of all.
    score_orders = [system_options.score_order for system_options in options_by_system.values()]
    if len(set(score_orders)) == 1:
        score_orders = score_orders[:1]
    parsed = replace(parsed, score_order=",".join(score_orders))
    signature = parsed.signature(
        weighted=inputs.sample_weight is not None, excluding=exclude is not None
    )
    slices = query_slices(inputs.by, columns[names[0]])
    contest = Contest(parsed, baseline, resampling, testing)
    comparison = comparison_of(columns, slices, contest, signature)
    notes = {}
    for name, system_columns in columns.items():
        scores = comparison.scores[name]
        notes[name] = notes_of(system_columns, parsed, scores, doubts[name])
    return replace(comparison, notes=(*comparison.notes, *shared_notes(notes)))


def comparison_of(
    columns: BySystem,
    slices: Slices,
    contest: Contest,
    signature: str,
    further_notes: Sequence[str] = (),
) -> Comparison:
    """Return the comparison of systems from the columns of their queries."""
    results = contest.results(columns, slices, {})
    pairs = results["pairs"]
    testing = contest.testing
    lacking = len(slices.values) - len(results["slices"])
    notes = [
        *notes_on_tests(pairs, testing),
        *slice_notes(slices, lacking, "are not compared"),
    ]
    tables = []
    for system, system_columns in columns.items():
        table = query_table(system_columns, slices)
        table = select_present(table, (*SHARED, *contest.options.names))
        tables.append(table.add_column(0, "system", pa.repeat(system, len(table))))
    return Comparison(
        signature=signature,
        baseline=contest.baseline,
        queries=pa.concat_tables(tables, promote_options="default"),
        notes=(*notes, *further_notes),
        resampling=contest.resampling,
        testing=testing,
        **results,
    )


def _argument(system: str) -> str:
    return mark("systems", system, said=f"systems[{shown(system)}]")


def _columns_of_systems(
    runs: Mapping[str, Any], inputs: Inputs, options: Mapping[str, Options]
) -> tuple[BySystem, dict[str, list[str]]]:
    # Options differ only in the order of scores.
    shared = next(iter(options.values()))
    inputs = from_files(inputs, labels=shared.labels)
    keep = shared.sides["keep"]
    orders = [system_options.given_order for system_options in options.values()]
    sides = {}
    for (argument, run), order in zip(runs.items(), orders, strict=True):
        sides[argument] = side_or_error(argument, run, inputs, order, keep=keep)
    check = partial(refuse_negative, shared)
    systems = settled_systems(sides, inputs, orders, shared.labels, keep, check)
    columns: BySystem = {}
    doubts: dict[str, list[str]] = {}
    for name, system in zip(options, systems, strict=True):
        doubts[name] = []
        try:
            columns[name] = query_columns(system, options[name], doubts[name].append)
        except ValueError as error:
            if isinstance(error, InputError) and error.argument in SHARED_ARGUMENTS:
                raise
            raise within(error, _argument(name)) from None
    return columns, doubts


def _refuse_lacking_queries(columns: BySystem) -> None:
    """Raise an error for a system that does not rank a judged query which another one ranks."""
    missing = column_of_systems(columns, "missing")
    lacking = np.argwhere(missing & ~missing.all(axis=0))
    if not len(lacking):
        return
    names = list(columns)
    system, row = lacking[0].tolist()
    query = columns[names[system]].get("query", range(row + 1))[row]
    other = names[int(missing[:, row].argmin())]
    raise InputError(
        f"no ranking for query {shown(query)}, which {shown(other)} has "
        f"({np.count_nonzero(lacking[:, 0] == system)} such queries); "
        f"{mark('missing', 'empty')} counts it as having retrieved nothing there, "
        f"{mark('missing', 'skip')} skips the query for all systems",
        _argument(names[system]),
    )
