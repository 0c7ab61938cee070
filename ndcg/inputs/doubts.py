"""What warnings say about rankings as they were read: marks among scores, gaps, doubtful ids."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import mark, shown
from .documents import has_ids, has_lists_of_ids, is_log
from .fields import (
    LISTS_OF_IDS,
    NAMES_OF_RANKS,
    all_fields,
    fields_read,
    plain_name,
    plain_names,
    says_lowest_first,
)
from .ids import PROBE, as_list
from .no_rankings import MANY_DOCUMENTS, several_first_ranks
from .rankings import Rankings

LOWEST_FLOAT32 = float(np.finfo(np.float32).min)
QUERIES_LOOKED_AT = 1 << 4  # whose ids are looked at
HIGHEST_LOOKED_AT = 1 << 6  # unjudged documents of such a query
MOST_CANDIDATES = 1 << 10  # of a reranker
MOST_CUT = 100  # candidates, of which only the best may be left
IDS_LOOKED_AT = 1 << 10  # of the queries of a run that are not judged
MOST_UNMATCHED = 1 / 10  # of the queries; as many may well be unmatched on both sides
FIRST_PART = 1 / 4  # of the documents of a query, among which its own one is
FEWEST_QUERIES = 5  # fewer may have ids in common, or no scores, by chance
TWO_IDS = ", which are two ids; give ids with the same case, spaces, zeros and Unicode form"
# spaces, zeros and more than ASCII in lines of ids
SPARE = re.compile(r" |\n0[0-9]|\.0\n|[^\x00-\x7f]")


def doubts_about_scores(rankings: Rankings, name: Any, score_order: str) -> Iterator[str]:
    """Yield what warnings say about scores of a run, as they were before their order is changed.

    Their field or column has a name, if it is known.
    """
    if float(rankings.score[:PROBE].min(initial=0)) == LOWEST_FLOAT32:
        # Libraries write it in place of the scores of items that they filter out.
        mask = f"the score {LOWEST_FLOAT32:g}, the lowest of 32 bits, marks filtered documents"
        yield f"{mask}; leave them out, or give them the score None"
    if rankings.excluded is not None and rankings.excluded[:, 0].any():
        return  # they leave gaps in ranks
    if score_order == "ascending" and rankings.place is not None:
        yield from _doubts_about_ranks(rankings, says_lowest_first(name, NAMES_OF_RANKS))


def _doubts_about_ranks(rankings: Rankings, are_called_ranks: bool) -> Iterator[str]:
    """Yield what a warning says about the first gap in ranks, or about several first ranks.

    Scores are ranks if they are whole numbers from 1 that differ within a query, or by their name.
    """
    query, score = rankings.sorted_scores()
    query, score = query[score < np.inf], score[score < np.inf]
    if score.min(initial=2) != 1:
        return
    if (score != np.trunc(score)).any():
        return
    is_next = query[1:] == query[:-1]  # the next document is of the same query
    shared = is_next & (score[1:] == score[:-1])
    if shared.any():
        several = _with_several_rankings(query, score) if are_called_ranks else 0
        if several:
            yield several_first_ranks(f"{several} of {rankings.queries} queries")
        return
    gaps = is_next & (score[1:] > score[:-1] + 1)
    if not gaps.any():
        return
    row = int(gaps.argmax())
    place = rankings.words(int(query[row]), None)
    before, after = score[row : row + 2].tolist()
    problem = f"no document has a rank between {before:g} and {after:g}, so those below move up"
    hint = "if these are ranks, give each retrieved document, also if nobody judged it"
    yield f"{place}: {problem}; {hint}"


def _with_several_rankings(query: NDArray[Any], rank: NDArray[Any]) -> int:
    """Return how many queries probably hold several rankings: documents share their first rank.

    All queries do, or in some the second rank is shared too, and no rank has more documents than
    the one before, as ties of a single ranking would have. Documents are in the order of their
    queries, and of their ranks there.
    """
    is_new = np.concatenate([[True], (query[1:] != query[:-1]) | (rank[1:] != rank[:-1])])
    start = np.flatnonzero(is_new)  # of the documents of one rank
    count = np.diff(np.append(start, len(rank)))
    follows = query[start][1:] == query[start][:-1]  # the rank before is of the same query
    is_first = np.concatenate([[True], ~follows])
    several = int((is_first & (count > 1)).sum())
    if several == is_first.sum():
        return several
    has_more = follows & (count[1:] > count[:-1])
    share_two = follows & is_first[:-1] & (count[1:] > 1)
    return 0 if has_more.any() or share_two.sum() < FEWEST_QUERIES else several


def doubts_about_equal_sides(rankings: Rankings) -> Iterator[str]:
    """Yield what a warning says about many scores that are the relevances themselves."""
    score, relevance = rankings.score, rankings.relevance
    # The first document tells nearly always, and the first ones of many.
    if len(score) < MANY_DOCUMENTS:
        return
    if not rankings.is_full:
        return
    if score[0] != relevance[0]:
        return
    looked_at = (slice(PROBE), slice(None))
    are_equal = all(np.array_equal(score[rows], relevance[rows]) for rows in looked_at)
    if are_equal and not rankings.are_equally_relevant():
        problem = "the scores of all documents are their relevances, so that every ranking is ideal"
        yield f"{problem}; if these are labels, or the references, give the scores of a model"


def doubts_about_one_list(rankings: Rankings, run: Any, qrels: Any) -> Iterator[str]:
    """Yield what a warning says about one list of a log, or of two alike, that is both sides."""
    if not rankings.is_full:
        return
    if not is_log(run):
        return
    if all_fields(run) != all_fields(qrels):
        return
    document = fields_read(run).get("document", "")
    if document != fields_read(qrels).get("document"):
        return
    if _is_one_list_twice(rankings, run, qrels):
        problem = f"these are the documents of the references too, {shown(document)}"
        hint = f"name the list of each, {mark('fields', {'document': ('...', '...')})}"
        yield f"{problem}; if both are in one log, {hint}"


def _is_one_list_twice(rankings: Rankings, run: Any, qrels: Any) -> bool:
    """Return whether the one list that both sides read seems to belong to one of them."""
    if not qrels.has_values:
        return True
    if not run.has_values and any(map(_is_list_of_run, run.others)):
        return True
    if fields_read(run).get("score") != fields_read(qrels).get("relevance"):
        return False
    return np.array_equal(rankings.score, rankings.relevance)


def _is_list_of_run(path: Any) -> bool:
    """Return whether the last name on a path is a standard one of what was retrieved."""
    return plain_name(str(path).rpartition(".")[2]) in plain_names(LISTS_OF_IDS["run"][0])


def doubts_about_ids(rankings: Rankings, run: Any, qrels: Any) -> Iterator[str]:
    """Yield what warnings say about the ids of the first queries, if both sides have ids.

    Nothing is said where no document was both retrieved and judged, which is a warning of its own.
    """
    if not has_ids(run):
        return
    if rankings.query_ids is None:
        return
    if rankings.unmatched:
        return
    # Whoever excludes documents knows of them.
    if rankings.excluded is None:
        yield from _own_documents(rankings)
        if str(run.first_id).isdigit():
            yield from _doubts_about_numbers(rankings, has_lists_of_ids(qrels))
    if rankings.retrieved is None:
        return  # all judged documents are retrieved
    yield from _respelled_queries(rankings, run)
    # The ids of the first query tell nearly always.
    if _may_be_respelled(next(_first_ids(rankings), ())):
        yield from respelled_ids(rankings)


def _first_ids(rankings: Rankings) -> Iterator[Sequence[Any]]:
    """Return the ids of the documents of the first queries."""
    documents: Any = rankings.documents  # only rankings with ids come here
    return map(documents, range(min(rankings.queries, QUERIES_LOOKED_AT)))


def _respelled_queries(rankings: Rankings, run: Any) -> Iterator[str]:
    """Yield what a warning says about judged queries that the run may have in another spelling."""
    missing = np.flatnonzero(rankings.missing).tolist()
    if not missing:
        return
    queries = rankings.names()
    known = set(queries)
    others = [query for query in as_list(run.query_ids) if query not in known]
    first_missing = [queries[index] for index in missing[:QUERIES_LOOKED_AT]]
    for query, other in in_another_spelling(first_missing, others[:IDS_LOOKED_AT]):
        yield f"query {shown(query)} is judged and query {shown(other)} in the run{TWO_IDS}"
        return
    # More missing queries get a warning of their own.
    few_are_missing = 2 * len(missing) < rankings.queries
    fewest = max(FEWEST_QUERIES, MOST_UNMATCHED * rankings.queries)
    if few_are_missing and min(len(missing), len(others)) >= fewest:
        problem = f"{len(missing):,} judged queries are missing from the run, such as "
        problem += f"{shown(queries[missing[0]])}, and {len(others):,} of the run are not judged"
        yield f"{problem}, such as {shown(others[0])}; if these are the same, give the same ids"


def _own_documents(rankings: Rankings) -> Iterator[str]:
    """Yield what a warning says about queries that retrieve the document of their own id.

    Nobody judged it, as in collections whose queries are documents. BEIR leaves it out.
    """
    if rankings.queries < FEWEST_QUERIES:
        return
    if rankings.judged is None:
        return
    first = enumerate(_first_ids(rankings))
    if all(_finds_itself(rankings, index, documents) for index, documents in first):
        problem = "every query retrieves the document of its own id, which nobody judged"
        yield f"{problem}; BEIR leaves it out, as exclude={{query: [query] for query in run}} does"


def _finds_itself(rankings: Rankings, index: int, documents: Sequence[Any]) -> bool:
    """Return whether the first documents of a query have that of its id, which nobody judged."""
    (query,) = rankings.names_of(slice(index, index + 1))
    if query not in documents:
        return False
    place = documents.index(query)
    retrieved, judged = rankings.sides_of(index)
    if judged[place] or not retrieved[place]:
        return False
    # A search finds the query itself first; a document with the same number may rank anywhere.
    score = rankings.score[rankings.offsets[index] : rankings.offsets[index + 1]]
    return bool((score[retrieved] > score[place]).mean() <= FIRST_PART)


def _doubts_about_numbers(rankings: Rankings, are_listed: bool) -> Iterator[str]:
    """Yield what warnings say about ids that are numbers: they may be grades, or positions.

    Only in lists are grades read as ids, so `are_listed` says whether the judged ids are in lists.
    """
    by_place = "give dict(enumerate(grades)) in place of each list"
    if are_listed and _may_be_grades(rankings):
        problem = "each list of the references holds 0, 1, ... in some order, which are read as ids"
        yield f"{problem}; if they are grades, {by_place}"
    or_grades = ""
    if are_listed:
        or_grades = f"; if the references are grades, {by_place}"
    for doubt in _doubts_about_positions(rankings):
        yield f"{doubt}{or_grades}"


def _may_be_grades(rankings: Rankings) -> bool:
    """Return whether the relevant ids of each query may be the grades of its documents.

    They are 0, 1, 2, ... in any order, and no other document was retrieved.
    """
    if rankings.judged is not None:
        return False
    # Of one query, some of a few relevant documents may well be retrieved.
    if rankings.queries == 1 and not rankings.is_full:
        return False
    # A single document that is called 0 tells nothing.
    have_several = rankings.queries < len(rankings.relevance)
    return have_several and all(map(_count_from_zero, _first_ids(rankings)))


def _count_from_zero(ids: Sequence[Any]) -> bool:
    """Return whether ids are 0, 1, 2, ... in any order."""
    return set(map(str, ids)) == set(map(str, range(len(ids))))


def _doubts_about_positions(rankings: Rankings) -> Iterator[str]:
    """Yield what a warning says about ids of a run that may be positions.

    As rerankers number their candidates, the ids of every query are 0, 1, 2, ... in any order, and
    some judged documents have other ids. If only the best candidates are left, the ids of all
    queries are numbers below the same low one, and most judged documents have others.
    """
    ranked: list[NDArray[Any]] = []
    by_id: list[NDArray[Any]] = []  # the scores of the documents in the order of their ids
    judged_ids: list[Any] = []
    for query, documents in enumerate(_first_ids(rankings)):
        if not all(map(str.isdecimal, map(str, documents))):
            return
        retrieved, judged = rankings.sides_of(query)
        ids = np.array(list(map(int, compress(documents, retrieved))))
        if ids.max(initial=0) >= MOST_CANDIDATES:
            return
        scores = rankings.score[rankings.offsets[query] : rankings.offsets[query + 1]]
        ranked.append(ids)
        by_id.append(scores[retrieved][ids.argsort()])
        judged_ids += map(int, compress(documents, judged))
    positions = np.concatenate(ranked)
    highest = int(positions.max(initial=0))
    others = [document for document in judged_ids if document > highest]
    fewest = 0  # of judged documents with other ids
    if any(len(ids) <= ids.max(initial=-1) for ids in ranked):
        if not _may_be_cut(positions, by_id):
            return
        fewest = len(judged_ids) // 2
    # A single document that is called 0 tells nothing.
    if highest > 0 and len(others) > fewest:
        problem = f"the ids of all queries count from 0 to {highest}"
        hint = "if they are positions, look up the ids, ids[position]"
        yield f"{problem}, as positions among candidates do, and {others[0]} is judged too; {hint}"


def _may_be_cut(positions: NDArray[Any], by_id: Sequence[NDArray[Any]]) -> bool:
    """Return whether ids with gaps may be positions among few candidates of a reranker.

    A run may hold only the best candidates of each query.

    Args:
        positions: the ids of the retrieved documents, one query after the other.
        by_id: the scores of the documents of each query, in the order of their ids.
    """
    highest = positions.max(initial=0)
    if len(by_id) < FEWEST_QUERIES:
        return False
    if highest >= min(MOST_CUT, len(positions)):
        return False
    # Items may be numbered by how popular they are, and recommended in this order.
    are_by_popularity = all((np.diff(scores) <= 0).all() for scores in by_id)
    return not are_by_popularity


def respelled_ids(rankings: Rankings) -> Iterator[str]:
    """Yield what a warning says about a judged id that was retrieved in another spelling.

    It differs in case, spaces, zeros or Unicode's form from an id that nobody judged.
    """
    for query, documents in enumerate(_first_ids(rankings)):
        retrieved, judged = rankings.sides_of(query)
        missed = compress(documents, judged & ~retrieved)
        unjudged = islice(compress(documents, retrieved & ~judged), HIGHEST_LOOKED_AT)
        for document, other in in_another_spelling(missed, unjudged):
            place = rankings.words(query, None)
            yield f"{place}: {shown(document)} is judged and {shown(other)} retrieved{TWO_IDS}"
            return


def _may_be_respelled(ids: Sequence[Any]) -> bool:
    """Return whether ids hold spaces, letters of both cases, zeros or more than ASCII.

    A number may lose zeros, as 007 and 7.0. Most ids hold none of these, so that no two of them
    can be the same id in other spellings.
    """
    text = "\n".join(["", *map(str, ids), ""])
    if SPARE.search(text):
        return True
    return text != text.lower() and text != text.upper()


def in_another_spelling(ids: Iterable[Any], others: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the ids that are among others in another spelling, each with the other id."""
    by_spelling = {spelling(other): other for other in others}
    for one in ids:
        if spelling(one) in by_spelling:
            yield one, by_spelling[spelling(one)]


def spelling(document: Any) -> Any:
    r"""Return an id without what people overlook: case, spaces around it and Unicode's form.

    A number has no zeros before it, and no decimals that are 0.

    >>> spelling(" Cafe\u0301"), spelling("007"), spelling("7.0"), spelling(7)
    ('caf\xe9', '7', '7', 7)
    """
    if not isinstance(document, str):
        return document
    document = unicodedata.normalize("NFC", document).strip().casefold()
    number = document.removesuffix(".0")
    if number.isdecimal():
        return number.lstrip("0") or "0"
    return document
