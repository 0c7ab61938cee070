"""What warnings say about rankings that can be scored, but are probably not what was meant."""

import math
import operator
from collections.abc import Iterator
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from ..inputs.doubts import FEWEST_QUERIES
from ..inputs.ids import names_of_totals, without_totals
from ..inputs.no_rankings import (
    FEWEST_OF_QUERY,
    HIGHEST_GRADE,
    MANY_DOCUMENTS,
    do_count,
    highest_first,
)
from ..inputs.rankings import Rankings
from ..measure.messages import Message, mark, shown
from ..measure.options import Options
from ..measure.ties import Array, Mask

COMPARED = 1000  # documents that tell whether both sides are swapped
MOST_GRADES = 6  # different whole numbers among relevances, as 0 to 5
HARDLY_BY_CHANCE = math.log(1000)  # of so many cases, in one the scores rise by chance
QUERIES_OF_A_SHEET = 1 << 16
MOST_OTHERS = 1 / 9  # of the queries with rising scores, so many may have other ones
# the logarithms of the orders of 0, 1, 2, ... documents; more than ten tell no more
LOG_ORDERS = np.log([1, *accumulate(range(1, 11), operator.mul)])
FEWEST_DOCUMENTS = 5  # of a query with ids whose scores hardly rise by chance: one of 5**5 cases


def as_note(doubt: str) -> Message:
    """Return a doubt as a sentence of its own."""
    return Message(f"{doubt[0].upper()}{doubt[1:]}.")


def doubts_about(part: Rankings, options: Options) -> Iterator[str]:
    """Yield what warnings say about rankings: the doubts of who read them, and more.

    Scores may be relevances, ranks or distances; perhaps no document was both retrieved and judged,
    or half of the judged queries, which have ids, are missing from the run.
    """
    sentences = [*part.doubts]
    if not options.is_order_given:
        sentences.append(_doubt_about_sides(part))
    sentences += [doubt_about_order(part, options.given_order), _doubt_about_totals(part)]
    if options.ignore_index is not None:
        sentences.append(_doubt_about_padding(part, options.ignore_index))
    if part.is_full:
        if len(part.score) >= MANY_DOCUMENTS:
            sentences.append(_doubt_about_equal_relevances(part))
            sentences += _doubts_about_full_lists(part, options)
    # Rankings with ids are read in one part.
    sentences.append(part.unmatched or _doubt_about_missing(part, options))
    yield from filter(None, sentences)


def _doubt_about_sides(part: Rankings) -> str:
    """Return what a warning says about sides that may be swapped, by the first documents."""
    # The first score tells nearly always.
    if float(next(iter(part.score), 0)) % 1 != 0:
        return ""
    retrieved, judged = part.sides(slice(COMPARED))
    rows = np.flatnonzero(retrieved & judged)
    return doubt_if_swapped(part.score[rows], part.relevance[rows])


def _doubt_about_missing(part: Rankings, options: Options) -> str:
    """Return what a warning says about queries that are missing from the run.

    With ids these are half of them; by position, where every query has a place, they are all.
    """
    # The first document tells nearly always.
    if part.retrieved is None and part.score[:1].tolist() != [-np.inf]:
        return ""
    count = int(part.missing.sum())
    if not are_mostly_missing(count, part.queries, options):
        return ""
    if part.place is not None and part.retrieved is not None:
        return sentence_on_missing(count, part.queries)
    if count < FEWEST_QUERIES or not part.lacking().all():
        return ""
    return "no query has a score but None or -inf; check the mask, which may be inverted"


def _doubts_about_full_lists(part: Rankings, options: Options) -> Iterator[str]:
    """Yield what warnings say about many documents of which each has a score and a relevance."""
    if part.place is not None:
        return
    if not options.is_order_given:
        yield _doubt_about_ids(part)
    if options.ignore_index is None:
        yield _doubt_about_zeros(part)


def _doubt_about_totals(part: Rankings) -> str:
    """Return what a warning says about a query whose name is that of a row of totals.

    It has one document, and most others have more.
    """
    # Only sheets, which are small, have totals.
    if part.query_ids is None or not 1 < part.queries < QUERIES_OF_A_SHEET:
        return ""
    # Much faster than np.diff and np.flatnonzero.
    (lone,) = (part.offsets[1:] - part.offsets[:-1] == 1).nonzero()
    if len(lone) in (0, part.queries):
        return ""
    names = part.names()
    totals = names_of_totals([names[query] for query in lone.tolist()], names)
    if not totals:
        return ""
    if 2 * (len(lone) - len(totals)) >= part.queries - len(totals):
        return ""
    problem = f"query {shown(totals[0])} has one document, and most others have more"
    return f"{problem}; {without_totals(totals[0])}"


def sentence_on_missing(missing: int, queries: int) -> str:
    """Return what a note or a warning says of queries that are missing from the run."""
    counts = f"{missing:,} of {queries:,} judged queries"
    effect = "are missing from the run and counted as 0"
    if missing == 1:
        effect = "is missing from the run and counted as 0"
    return f"{counts} {effect}; {mark('missing', 'skip')} skips them"


def are_mostly_missing(missing: int, queries: int, options: Options) -> bool:
    """Return whether half of the judged queries are missing from the run, which few runs mean."""
    if options.measures == ("IDCG",):  # which needs no run
        return False
    is_one_of_two = (missing, queries) == (1, 2)
    return options.missing == "empty" and 2 * missing >= queries and not is_one_of_two


def doubt_if_swapped(score: Array, relevance: Array) -> str:
    """Return what a warning says if scores are labels or grades, and relevances fractions.

    Both are between 0 and 1, or the relevances are of many different values: scores seldom repeat,
    judgments often.
    """
    if (score != np.trunc(score)).any():
        return ""
    if not 1 < len(np.unique(score)) <= MOST_GRADES:
        return ""
    # With fewer fractions they may well be judgments.
    if np.mean(relevance != np.trunc(relevance)) <= 0.5:
        return ""
    values = np.concatenate([score, relevance])
    are_in_unit = (np.clip(values, 0, 1) == values).all()
    if not are_in_unit and len(np.unique(relevance)) <= 2 * MOST_GRADES:
        return ""
    problem = "the scores are few whole numbers, and the relevances fractions"
    hint = f"if both are in place, {mark('score_order', 'descending')} says so"
    return f"{problem}; the scores of a model are predictions; {hint}"


def _doubt_about_padding(rankings: Rankings, ignore_index: float) -> str:
    """Return what a warning says about a relevance of padding that other documents have too."""
    if 0 < rankings.queries == rankings.empty().sum():
        problem = "all documents are padding, so that nothing is relevant in any query"
        hint = f"{mark('ignore_index')} is the relevance of padding, and a mask is False for it"
        return f"{problem}; {hint}"
    if ignore_index != 0:
        return ""
    retrieved, judged = rankings.sides()
    if _are_at_edges(rankings, ~(retrieved | judged)):
        return ""
    problem = "documents of relevance 0 stand between others, so that they are not padding"
    return f"{problem}; without {mark('ignore_index', 0)} they count as not relevant"


def _are_at_edges(rankings: Rankings, mask: Mask) -> bool:
    """Return whether a mask marks documents at the edges of rows, as padding is.

    The other documents of a row follow one another.
    """
    follow = np.concatenate([[True], mask])  # a document that the mask marks
    follow[rankings.offsets] = True  # or none, as the first one
    begins = ~mask & follow[:-1]
    return bool((rankings.sums(begins) <= 1).all())


def _doubt_about_equal_relevances(rankings: Rankings) -> str:
    """Return what a warning says about relevances with which any order of documents is ideal."""
    relevance = rankings.relevance
    if not 1 < rankings.queries < len(relevance):
        return ""
    # The first two documents tell nearly always.
    if not relevance[0] == relevance[1] != 0:
        return ""
    if not rankings.are_equally_relevant():
        return ""
    problem = "all documents of each query are equally relevant, so that any order is ideal"
    return f"{problem}; give the documents that are not relevant too, with their scores"


def _doubt_about_ids(rankings: Rankings) -> str:
    """Return what a warning says about whole numbers by position that may be ids, and no scores.

    They are integers, each once in a query, in several queries the same, and with gaps: ranks and
    their negatives have none.
    """
    if rankings.score.dtype.kind not in "iu":
        return ""
    if rankings.queries < FEWEST_QUERIES:
        return ""
    query, score = rankings.sorted_scores()
    steps = np.diff(score)[query[1:] == query[:-1]]
    if not 0 <= score.min() <= score.max() > HIGHEST_GRADE:
        return ""
    if not 0 < steps.min(initial=1) < steps.max(initial=1):
        return ""
    if len(np.unique(score)) == len(score):
        return ""
    problem = "the scores are whole numbers, each once in a query, as ids are"
    labels = "{query: {id: label}}"
    return f"{problem}; give ids with their labels as {labels}, and scores as floats"


def _doubt_about_zeros(rankings: Rankings) -> str:
    """Return what a warning says about rows with zeros at an end on both sides, as padding does.

    The zeros rank above negative scores. They are in no other place, and of varying number.
    """
    # The first two rows tell nearly always.
    if rankings.score[: rankings.offsets[:3][-1]].all():
        return ""
    is_zero = rankings.score == 0
    if not _are_at_edges(rankings, is_zero) or rankings.relevance[is_zero].any():
        return ""
    zeros = rankings.sums(is_zero)
    # Negated ranks begin with a single 0.
    if np.median(zeros) == 0 or not zeros.min() < zeros.max() >= 2:
        return ""
    if not (rankings.score < 0).any():
        return ""
    problem = "rows have zeros at one end on both sides, as padding does, above negative scores"
    padded = f"pad the references with -100 and give {mark('ignore_index', -100)}"
    return f"{problem}; {padded}, or give lists without padding"


# Ranks and distances as scores


def doubt_about_order(rankings: Rankings, order: str | None) -> str:
    """Return what a warning says about scores of which the lowest is probably best; or nothing.

    They rise from document to document in nearly every query, as the distances of a search do; or
    they count from 0 or 1, as ranks and the positions of an `argsort` do, in any order but the
    falling one. Scores that were held against ranks are not in doubt, nor those of which the
    highest is said to be best, by the order that was given. If the lowest is said to be best,
    fractions that fall, as similarities do, are in doubt; here they are negated, and rise.
    """
    if rankings.has_ranks or order == "descending" or not _may_rise_or_count(rankings, order):
        return ""
    rises, falls = _rises_and_falls(rankings)
    first = rankings.first_count()
    if _hardly_rise_by_chance(rises, falls, first is not None, rankings.place is not None):
        return _rising_scores(rises, falls, order)
    if first is None or not rises.any() or not _are_many(rankings):
        return ""
    return _counted_scores(first)


def _may_rise_or_count(rankings: Rankings, order: str | None) -> bool:
    """Return whether scores may rise or count in all queries, as the first scores of two tell.

    Nearly always they do not, and no others need a look. If the lowest is said to be best, whole
    numbers may be ranks, and are right.
    """
    if len(rankings.score) < FEWEST_DOCUMENTS:
        return False
    scores = [rankings.scores_of(query) for query in range(min(2, rankings.queries))]
    # A query without scores is in order.
    do_rise = any(first[:4] == sorted(first[:4]) for first in scores)
    if not do_rise and not do_count(scores[0]):
        return False
    return order != "ascending" or any(score % 1 != 0 for score in chain(*scores))


def _are_many(rankings: Rankings) -> bool:
    """Return whether there are many retrieved documents, also without queries that have few."""
    query, _ = rankings.retrieved_scores()
    # Two labels are 0 and 1 too.
    lengths = np.bincount(query)
    return bool(lengths[lengths >= FEWEST_OF_QUERY].sum() >= MANY_DOCUMENTS)


def _rises_and_falls(rankings: Rankings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many retrieved documents of a query have a higher score than the one before.

    Return as well how many have a lower one.
    """
    query, score = rankings.retrieved_scores()
    is_same_query = query[1:] == query[:-1]
    rises = query[1:][is_same_query & (score[1:] > score[:-1])]
    falls = query[1:][is_same_query & (score[1:] < score[:-1])]
    queries = rankings.queries
    return np.bincount(rises, minlength=queries), np.bincount(falls, minlength=queries)


def _hardly_rise_by_chance(
    rises: NDArray[np.int64], falls: NDArray[np.int64], are_counted: bool, have_ids: bool
) -> bool:
    """Return whether the scores of nearly all queries rise, and hardly by chance.

    Args:
        rises: how many documents of a query have a higher score than the one before.
        falls: how many have a lower one; with equal scores alone, a query tells nothing.
        are_counted: whether the scores of every query count from 0 or 1.
        have_ids: whether the documents are not by position, where a model that learned nothing
            scores all queries in one order.
    """
    are_rising = (falls == 0) & (rises > 0)
    others = int((falls > 0).sum())
    if others > MOST_OTHERS * are_rising.sum():
        return False
    lengths = np.minimum(rises[are_rising] + 1, len(LOG_ORDERS) - 1)
    if not have_ids:
        longest = LOG_ORDERS[lengths.max(initial=0)]
        return bool(lengths.sum() >= MANY_DOCUMENTS and longest >= HARDLY_BY_CHANCE)
    # The documents of a query rise in one of n! orders; if they count, in one of n**n cases.
    cases = LOG_ORDERS[lengths]
    if are_counted:
        cases = np.where(lengths >= FEWEST_OF_QUERY, lengths * np.log(lengths), cases)
    choices = _log_choices(len(lengths), others)
    return bool(cases.sum() - choices >= HARDLY_BY_CHANCE)


def _log_choices(queries: int, others: int) -> float:
    """Return the logarithm of how many choices of queries could be the others."""
    of_all = math.lgamma(queries + others + 1)
    return of_all - math.lgamma(queries + 1) - math.lgamma(others + 1)


def _rising_scores(rises: NDArray[np.int64], falls: NDArray[np.int64], order: str | None) -> str:
    """Return what a warning says about scores that rise in so many documents of a query."""
    are_rising = (falls == 0) & (rises > 0)
    queries = f"the scores of {are_rising.sum()} of {np.count_nonzero(rises + falls)} queries"
    last = "in the order of their documents, so the last one ranks first"
    if order == "ascending":
        highest = f"as of similarities, give {mark('score_order', 'descending')}"
        return f"{queries} fall {last}; if the highest is best, {highest}"
    lowest = f"as of ranks and distances, give {mark('score_order', 'ascending')}"
    return f"{queries} rise {last}; if the lowest is best, {lowest}; {highest_first()}"


def _counted_scores(first: int) -> str:
    problem = f"the scores of each query are {first}, {first + 1}, {first + 2}, ..., each once"
    ascending = mark("score_order", "ascending")
    hint = f"give the scores that were sorted; if the lowest is best, give {ascending}"
    return f"{problem}, as ranks and the positions of an argsort are; {hint}; {highest_first()}"
