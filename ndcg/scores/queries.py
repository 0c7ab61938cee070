"""Compute the value of every query.

Rankings are read and scored in parts, so that copies of them stay small. Errors name the argument,
the query and the position, as the user knows them.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ..files.paths import from_files
from ..inputs.exclusion import are_excluded
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, parts, read, user_terms
from ..measure.messages import InputError, mark, warn
from ..measure.options import Options
from ..measure.scoring import (
    NEGATIVE_BY_ID,
    check_queries,
    in_threads,
    measure_queries,
)
from ..measure.ties import Array, Floats
from .devices import measure_on_device
from .doubts import doubt_about_order, doubts_about

Values = dict[str, Floats]
# Called with a sentence if no document was both retrieved and judged, or if most queries are
# missing.
Notify = Callable[[str], None]

NOTHING_TO_SCORE = "predictions and references hold no queries; there is nothing to score"


def measure_inputs(
    inputs: Inputs, options: Options, first_query: int = 0, names: list[Any] | None = None
) -> Values:
    """Return the values of all queries by result; errors count queries from `first_query` on.

    The ids of the queries are added to `names` if the weights are by these ids.
    """
    if not isinstance(inputs.sample_weight, Mapping):
        names = None
    on_device = measure_on_device(inputs, options)
    if on_device is not None:
        return on_device
    values_of_parts: list[Values] = []
    with closing(counted_parts(inputs, options, first_query)) as rankings:
        for part, before in rankings:
            with user_terms(part, before):
                measured = measure_rankings(part, options)
            if names is not None and part.query_ids is not None:
                names += part.names()
            values_of_parts.append(
                {name: measured[measure][row] for name, measure, row in options.results}
            )
    return concatenated_parts(values_of_parts)


def concatenated_parts(columns_of_parts: list[dict[str, Array]]) -> dict[str, Array]:
    """Concatenate the columns of the parts."""
    if len(columns_of_parts) == 1:
        return columns_of_parts[0]
    columns = {}
    for name in columns_of_parts[0]:
        columns[name] = np.concatenate([part[name] for part in columns_of_parts])
    return columns


def measure_rankings(part: Rankings, options: Options, **other: Any) -> Values:
    """Return the values of every measure, as ``(cutoffs, queries)``: nan for a skipped query.

    Arguments of the kernel in `other` override the options.
    """
    measured = measure_queries(**part.arrays(), **{**options.scoring, **other})
    if options.missing == "skip":
        skipped = part.lacking()
        for values in measured.values():
            values[:, skipped] = np.nan
    return measured


def describe_queries(
    describe: Callable[[Rankings], dict[str, Array]],
    inputs: Inputs,
    options: Options,
    documents: int,
    notify: Notify,
) -> dict[str, Array]:
    """Return the columns that a function computes from rankings, with a row for every query.

    It is called with pieces of about so many documents, and `notify` as in `counted_parts`.
    """

    def in_user_terms(rankings: Rankings, before: int) -> dict[str, Array]:
        with user_terms(rankings, before):
            return describe(rankings)

    described: list[dict[str, Array]] = []
    with closing(counted_parts(inputs, options, notify=notify)) as parts_of_rankings:
        for part, before in parts_of_rankings:
            pieces = list(part.pieces(documents))
            starts = accumulate((rankings.queries for rankings in pieces[:-1]), initial=before)
            described += in_threads(in_user_terms, pieces, list(starts))
    return concatenated_parts(described)


def warn_of_predictions(sentence: str) -> None:
    """Warn that no document was both retrieved and judged, or that most queries are missing."""
    warn(f"{mark('predictions')}: {sentence}")


def counted_parts(
    inputs: Inputs, options: Options, first_query: int = 0, notify: Notify = warn_of_predictions
) -> Generator[tuple[Rankings, int], None, None]:
    """Yield rankings part by part, with the index of their first query.

    `notify` is called with the doubts about the first part.
    """
    before = 0
    check = partial(refuse_negative, options)
    inputs = from_files(inputs, **options.sides).settled(**options.sides, check=check)
    for part in parts(inputs, first_query=first_query, **options.reading):
        refuse_missing(part, options, before)
        if not before:
            for doubt in doubts_about(part, options):
                notify(doubt)
        yield part, first_query + before
        before += part.queries
    if not before:
        raise ValueError(NOTHING_TO_SCORE)


def refuse_negative(options: Options, references: Any, exclude: Any) -> None:
    """Raise an error for the first row of a file or table with a negative relevance.

    The options may allow it.
    """
    if options.scoring["negative_relevance"] != "raise":
        return
    # Rows of a file or table are named here, all other documents by the kernel.
    if getattr(references, "place_of", None) is None:
        return
    negative = references.value < 0
    if not negative.any():
        return
    # No number equals None.
    negative &= references.value != options.ignore_index
    # Documents that are excluded from the run alone stay in the ideal.
    if exclude is not None and options.exclude_from == "both":
        negative &= ~are_excluded(references, exclude)
    if not negative.any():
        return
    row = int(np.argmax(negative))
    document, query = references.words(row)
    pair = f"query {query}, document {document}"
    problem = f"the relevance {references.value[row]:g} is negative"
    # On the page and in the shell, a file is named by its path alone.
    argument = mark("file", said="references", after=": ")
    place = f"{argument}{references.place(row)}"
    raise InputError(problem, place, pair, hint=NEGATIVE_BY_ID)


def refuse_missing(rankings: Rankings, options: Options, first_query: int = 0) -> None:
    """Raise an error for the first query that is missing from rankings, with the number of them.

    The options may allow it.
    """
    if options.missing != "raise" or not rankings.missing.any():
        return
    missing = rankings.missing
    first = int(missing.argmax())
    query = f"query {first_query + first}"
    if rankings.place is not None:
        query = rankings.place(first, None)
    problem = f"{query} is missing ({int(missing.sum())} such queries)"
    empty, skip = mark("missing", "empty"), mark("missing", "skip")
    hint = f"{empty} counts such queries as having retrieved nothing, {skip} skips them"
    raise InputError(problem, "predictions", hint=hint)


def checked_rankings(inputs: Inputs, **options: Any) -> Rankings:
    """Read rankings, also from files, and check that some options could score them."""
    sides = {name: options.get(name) for name in ("score_order", "labels", "keep")}
    rankings = read(**from_files(inputs, **sides).rankings, **options)
    for doubt in rankings.doubts:
        warn_of_predictions(doubt)
    # Batches are stored without the ids of documents, whose order tells more.
    if rankings.place is not None:
        _warn_of_order(rankings, options.get("score_order"))
    with user_terms(rankings):
        check_queries(**rankings.arrays())
    return rankings


def check_rows(inputs: Inputs, options: Options) -> None:
    """Check flat rows of queries for errors that no other row, elsewhere, could correct."""
    rankings = read(**inputs.rankings, **options.reading)
    # Only now are the rows in the order of their documents.
    _warn_of_order(rankings, options.given_order)
    with user_terms(rankings):
        check_queries(**rankings.arrays(), **options.gains)


def _warn_of_order(rankings: Rankings, order: str | None) -> None:
    doubt = doubt_about_order(rankings, order)
    if doubt:
        warn_of_predictions(doubt)
