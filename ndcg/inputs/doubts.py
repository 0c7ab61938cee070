"""What warnings say about rankings as they were read: marks among scores, gaps, doubtful ids."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain, compress
from typing import Any

import numpy as np

from ..measure.messages import shown
from .columns import numbered
from .documents import has_ids
from .ids import PROBE
from .rankings import Rankings

LOWEST_FLOAT32 = float(np.finfo(np.float32).min)
QUERIES_LOOKED_AT = 1 << 4  # whose ids are looked at
SPARE_ZEROS = re.compile(r"\n0[0-9]|\.0\n")


def doubts_about_scores(rankings: Rankings, score_order: str) -> Iterator[str]:
    """Yield what warnings say about scores as they were given, before their order is changed."""
    if float(rankings.score[:PROBE].min(initial=0)) == LOWEST_FLOAT32:
        # Libraries write it in place of the scores of items that they filter out.
        mask = f"the score {LOWEST_FLOAT32:g}, the lowest of 32 bits, marks filtered documents"
        yield f"{mask}; leave them out, or give them the score None"
    if score_order == "ascending" and rankings.place is not None:
        yield from _gap_in_ranks(rankings)


def _gap_in_ranks(rankings: Rankings) -> Iterator[str]:
    """Yield what a warning says about the first gap in ranks.

    Scores are ranks if they are whole numbers from 1 that differ within a query.
    """
    query, score = rankings.sorted_scores()
    query, score = query[score < np.inf], score[score < np.inf]
    if len(score) == 0 or score.min() != 1 or (score != np.trunc(score)).any():
        return
    is_next = query[1:] == query[:-1]  # the next document is of the same query
    if (is_next & (score[1:] == score[:-1])).any():
        return
    gaps = is_next & (score[1:] > score[:-1] + 1)
    if not gaps.any():
        return
    row = int(gaps.argmax())
    place = (rankings.place or numbered)(int(query[row]), None)
    before, after = score[row : row + 2].tolist()
    problem = f"no document has a rank between {before:g} and {after:g}, so those below move up"
    hint = "if these are ranks, give each retrieved document, also if nobody judged it"
    yield f"{place}: {problem}; {hint}"


def doubts_about_ids(rankings: Rankings, run: Any, qrels: Any) -> Iterator[str]:
    """Yield what warnings say about the ids of the first queries, if both sides have ids.

    Nothing is said where no document was both retrieved and judged, which is a warning of its own.
    """
    if not has_ids(run) or not has_ids(qrels) or rankings.unmatched:
        return
    # Both faults leave a judged document that was not retrieved.
    if rankings.documents is None or rankings.retrieved is None:
        return
    may_be_positions = rankings.excluded is None and str(run.first_id).isdigit()
    has_unjudged = rankings.judged is not None
    if not may_be_positions and not has_unjudged:
        return
    queries = range(min(rankings.queries, QUERIES_LOOKED_AT))
    ids = [rankings.documents(query) for query in queries]
    if may_be_positions:
        yield from _positions_as_ids(rankings, ids)
    if has_unjudged and _may_be_respelled(ids):
        yield from _respelled_ids(rankings, ids)


def _positions_as_ids(rankings: Rankings, ids: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield what a warning says about ids of a run that may be positions.

    The ids of every query are 0, 1, 2, ... in any order, as rerankers number their candidates, and
    some judged documents have other ids.
    """
    others: list[str] = []
    most = 0
    for query, documents in enumerate(ids):
        retrieved, _ = rankings.sides_of(query)
        ranked = set(map(str, compress(documents, retrieved)))
        if ranked != set(map(str, range(len(ranked)))):
            return
        others += [str(document) for document in documents if str(document) not in ranked]
        most = max(most, len(ranked))
    # A single document that is called 0 tells nothing.
    if most >= 2 and others and others[0].isdigit():
        problem = "the ids of every query count from 0, as positions among its candidates do"
        hint = "if they are positions, look up the ids, ids[position]"
        yield f"{problem}, and {others[0]} is judged too; {hint}"


def _respelled_ids(rankings: Rankings, ids: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield what a warning says about a judged id that was retrieved in another spelling.

    It differs in case, spaces, zeros or Unicode's form from an id that nobody judged.
    """
    for query, documents in enumerate(ids):
        retrieved, judged = rankings.sides_of(query)
        unjudged = compress(documents, retrieved & ~judged)
        by_spelling = {spelling(document): document for document in unjudged}
        for document in compress(documents, judged & ~retrieved):
            other = by_spelling.get(spelling(document))
            if other is not None:
                place = (rankings.place or numbered)(query, None)
                both = f"{shown(document)} is judged and {shown(other)} retrieved"
                hint = "give ids with the same case, spaces, zeros and Unicode form"
                yield f"{place}: {both}, which are two ids; {hint}"
                return


def _may_be_respelled(ids: Sequence[Sequence[Any]]) -> bool:
    """Return whether ids hold spaces, letters of both cases, zeros or more than ASCII.

    A number may lose zeros, as 007 and 7.0. Most ids hold none of these, so that no two of them
    can be the same id in other spellings.
    """
    try:
        text = "\n" + "\n".join(chain(*ids)) + "\n"
    except TypeError:  # ids of another type
        return False
    if " " in text or not text.isascii() or SPARE_ZEROS.search(text):
        return True
    return text != text.lower() and text != text.upper()


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
