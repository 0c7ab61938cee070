"""Compute the value of every query.

Rankings are read and scored in parts, so that copies of them stay small. Errors name the argument,
the query and the position, as the user knows them.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.paths import from_files
from ..inputs.exclusion import are_excluded
from ..inputs.hashes import Columns
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, parts, read
from ..inputs.sources import is_sparse
from ..measure.messages import InputError, mark, warn
from ..measure.options import Options
from ..measure.scoring import (
    InvalidRankingError,
    check_queries,
    hint_of_negative,
    in_threads,
    measure_queries,
)
from .devices import measure_on_device
from .progress import progress
from .swapped import COMPARED, warn_if_swapped

Values = dict[str, NDArray[np.float64]]
# Called with a sentence if no document was both retrieved and judged, or if most queries are
# missing.
Notify = Callable[[str], None]

# the arguments of the kernel that the gain of a document depends on
OF_GAINS = (
    "gain",
    "negative_relevance",
)
NOTHING_TO_SCORE = "predictions and references hold no queries; there is nothing to score"


def measure_inputs(
    inputs: Inputs, options: Options, first_query: int = 0, names: list[Any] | None = None
) -> Values:
    """Return the values of all queries under the name of each result; errors count queries from `first_query` on.

    The ids of the queries are added to `names` if the weights are by these ids.
    """
    names = names if isinstance(inputs.sample_weight, Mapping) else None
    if (measured := measure_on_device(inputs, options, names=names)) is not None:
        return measured
    parts: list[list[NDArray[np.float64]]] = []
    with closing(counted_parts(inputs, options, first_query)) as rankings:
        for part, before in rankings:
            with user_terms(part, before):
                values = measure_rankings(part, options)
            if names is not None and part.query_ids is not None:
                names += part.names()
            parts.append([values[measure][row] for _, measure, row in options.results])
    columns = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return dict(zip(options.names, columns, strict=True))


def measure_rankings(part: Rankings, options: Options, **other: Any) -> Values:
    """Return the values of each measure, of shape ``(cutoffs, queries)``: nan for a query that is skipped.

    Arguments of the kernel in `other` override the options.
    """
    measured = measure_queries(**part.arrays(), **{**options.scoring, **other})
    if options.missing == "skip":
        skipped = part.lacking()
        for values in measured.values():
            values[:, skipped] = np.nan
    return measured


def describe_queries(
    describe: Callable[[Rankings], dict[str, NDArray[Any]]],
    inputs: Inputs,
    options: Options,
    piece: int,
    notify: Notify,
) -> dict[str, NDArray[Any]]:
    """Return the columns that a function computes from pieces of the rankings, by name, with a row for each query.

    A piece has about `piece` documents. `notify` is called as in `counted_parts`.
    """

    def in_user_terms(each: Rankings, before: int) -> dict[str, NDArray[Any]]:
        with user_terms(each, before):
            return describe(each)

    described: list[dict[str, NDArray[Any]]] = []
    with closing(counted_parts(inputs, options, notify=notify)) as rankings:
        for part, before in rankings:
            pieces = list(part.pieces(piece))
            starts = before + np.cumsum([0, *(each.queries for each in pieces[:-1])])
            described += in_threads(in_user_terms, pieces, starts.tolist())
    if len(described) == 1:
        return described[0]
    return {name: np.concatenate([each[name] for each in described]) for name in described[0]}


def warn_of_predictions(sentence: str) -> None:
    """Warn that no document was both retrieved and judged, or that most queries are missing."""
    warn(f"{mark('predictions')}: {sentence}")


def sentence_on_missing(missing: int, queries: int) -> str:
    """Return what a note or a warning says of queries that are missing from the run."""
    are = "is" if missing == 1 else "are"
    count = f"{missing:,} of {queries:,} judged queries {are} missing from the run and counted as 0"
    return f"{count}; {mark('missing', 'skip')} skips them"


def are_mostly_missing(missing: int, queries: int, options: Options) -> bool:
    """Return whether fewer than half of the judged queries are in the run, which few runs mean."""
    if options.measures == ("IDCG",):  # which needs no run
        return False
    return options.missing == "empty" and 2 * missing > queries


def counted_parts(
    inputs: Inputs, options: Options, first_query: int = 0, notify: Notify = warn_of_predictions
) -> Generator[tuple[Rankings, int], None, None]:
    """Yield rankings part by part, with the index of their first query; show a progress bar from the second on.

    Once all are scored, `notify` is called if no document was both retrieved and judged, or if
    fewer than half of the judged queries, which have ids, are in the run.
    """
    before, missing, bar = 0, 0, None
    unmatched: set[str] = set()
    with ExitStack() as until_done:
        inputs = from_files(inputs, **options.sides).settled(**options.sides)
        refuse_negative(inputs.references, inputs.exclude, options)
        for part in parts(inputs, first_query=first_query, **options.reading):
            if before and bar is None:
                total = (
                    inputs.predictions.shape[0]
                    if is_sparse(inputs.predictions)
                    else len(inputs.predictions)
                )
                bar = until_done.enter_context(
                    progress(total, "Scoring", " queries", initial=before)
                )
            if not before:
                retrieved = part.retrieved
                rows = (
                    slice(COMPARED) if retrieved is None else np.flatnonzero(retrieved[:COMPARED])
                )
                warn_if_swapped(part.score[rows], part.relevance[rows])
            if options.missing == "raise":
                refuse_missing(part, before)
            if part.unmatched is not None:
                unmatched.add(part.unmatched)
            if part.place is not None and part.retrieved is not None:
                missing += int(part.missing.sum())
            yield part, first_query + before
            before += part.queries
            if bar is not None:
                bar.update(part.queries)
    if not before:
        raise ValueError(NOTHING_TO_SCORE)
    first = min(unmatched, default="")  # empty if any part has such a document
    if first:
        notify(first)
    elif are_mostly_missing(missing, before, options):
        notify(sentence_on_missing(missing, before))


def refuse_negative(references: Any, exclude: Any, options: Options) -> None:
    """Raise an error for the first row of a file or table with a negative relevance, unless the options allow it."""
    may_be_negative = options.scoring["negative_relevance"] != "raise"
    if not isinstance(references, Columns) or references.place_of is None or may_be_negative:
        return
    negative = references.value < 0
    if options.ignore_index is not None:
        negative &= references.value != options.ignore_index
    if negative.any() and exclude is not None and options.exclude_from == "both":
        negative &= ~are_excluded(references, exclude)
    for row in np.flatnonzero(negative)[:1].tolist():
        document, query = references.words(row)
        pair = f"query {query}, document {document}"
        problem = f"the relevance {references.value[row]:g} is negative"
        # for those who need not know the name of the argument
        of_file = mark("file", said="references", after=": ")
        hint = hint_of_negative(references.value[negative])
        raise InputError(problem, f"{of_file}{references.place(row)}", pair, hint=hint)


def refuse_missing(rankings: Rankings, first_query: int = 0) -> None:
    """Raise an error for the first query that is missing from rankings, with the number of them."""
    missing = rankings.missing
    if not missing.any():
        return
    at = int(missing.argmax())
    query = f"query {first_query + at}" if rankings.place is None else rankings.place(at, None)
    empty, skip = mark("missing", "empty"), mark("missing", "skip")
    hint = f"{empty} counts such queries as having retrieved nothing, {skip} skips them"
    raise InputError(
        f"{query} is missing ({int(missing.sum())} such queries); {hint}", "predictions"
    )


def checked_rankings(inputs: Inputs, **how: Any) -> Rankings:
    """Read rankings, also from files, and check that some combination of options could score them."""
    sides = {name: how[name] for name in ("score_order", "labels", "keep") if name in how}
    rankings = read(**from_files(inputs, **sides).rankings, **how)
    with user_terms(rankings):
        check_queries(**rankings.arrays())
    return rankings


def check_rows(inputs: Inputs, options: Options) -> None:
    """Check flat rows of queries that may have more rows elsewhere, for errors that no other row could correct."""
    rankings = read(**inputs.rankings, **options.reading)
    with user_terms(rankings):
        check_queries(**rankings.arrays(), **{name: options.scoring[name] for name in OF_GAINS})


@contextmanager
def user_terms(rankings: Rankings, first_query: int = 0) -> Iterator[None]:
    """Rewrite errors of the kernel with the user's names for queries and arguments.

    The first of the rankings' queries has the index `first_query` among all queries.
    """
    try:
        yield
    except InvalidRankingError as error:
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        place, position = f"query {first_query + error.query}", error.position
        if rankings.place is not None:
            place, position = rankings.place(error.query, position), None
        raise InputError(
            error.problem, argument, place, position=position, hint=error.hint
        ) from None
