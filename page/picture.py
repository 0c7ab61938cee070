"""The picture of one ranking: its documents as cards to move, what each adds, and the best order next to them.

It is HTML that picture.js brings to life; each of its numbers comes from the metric. Parts with the same
``data-term`` light each other up.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .choices import (
    CHOICES,
    LONGEST_CUTOFF,
    cell_of,
    gain_word,
    gains_by_label,
    scrubbed,
    shown_relevance,
    symbols,
)
from .contributions import Ranking, best_order, place_discounts, scores_of
from .events import ASK
from .guide import query_of_documents

HIGHLIGHT = Path(__file__).with_name("highlight.js").read_text(encoding="utf-8")
JS = ASK + Path(__file__).with_name("picture.js").read_text(encoding="utf-8") + HIGHLIGHT
TEMPLATE = "${(globalThis.pictureToShow ?? String)(value)}"
DRAWN = 100  # documents of a list; the table has the others
SEARCHED = 40  # documents that are swapped with each other in search of the best swap
LEAST_DOTS = 3.0  # so that a relevance up to this can be chosen if all documents have less
MOST_DOTS = 4  # the highest relevance that is shown as dots
SHOWS = 5e-5  # the smallest change that shows in four digits
# the meaning of each word, next to what it names
ABOUT_QUERY = (
    "<span class='about'>. A search engine ranked these documents; people judged how well each of them answers the "
    "query: the dots.</span>"
)
RELEVANCE = (
    "<b>Relevance</b>, in dots: how well a document answers the query; no dot is not at all."
)
LABEL = "<b>Relevance</b>: how well a document answers the query, as a label; press it for the next one."
SCORE = (
    "<b>Score</b>: the number that the search engine gave a document; the highest comes first. Documents with the same "
    "score are <b>tied</b>: nothing says which of them comes first; the step Ties shows how they count."
)
JUDGED = (
    "<b>Judged</b>: somebody said how relevant a document is; hatched documents were not judged."
)
GAIN_AND_DISCOUNT = (
    "<b>Gain</b>, the dashed bar: what a document is worth; the more relevant, the more. <b>Discount</b>, the line: "
    "how much of the gain counts at a rank: all of it at rank 1, less further down, where fewer people look. Solid "
    "bar: gain × discount."
)
HOW_TO_CHANGE = "Drag a card to move it, or a value with a dotted underline to change it."
IDEAL = (
    "The same bars if the most relevant documents come first: no order has a higher <b>DCG</b>, discounted cumulative "
    "gain, the sum of the solid bars. <b>nDCG</b> is the DCG of your order divided by the DCG of the ideal order, so "
    "that 1 is the most for any query, with few relevant documents or many."
)
RETRIEVED = "the system returns the <b>retrieved</b> documents, and may miss relevant ones"


class Advice(NamedTuple):
    """The one change that would add most to a score: in words, of two documents to swap or of one to retrieve."""

    text: str
    documents: tuple[str, ...]
    adds: float


def advice(ranking: Ranking, ranked: Sequence[str], options: dict[str, Any]) -> Advice | None:
    """Return the swap of two cards, or the missed one put first, that adds most when done; None if none adds."""
    shown = [*ranked[:DRAWN]]
    missed = [
        each for each, score in zip(ranking.documents, ranking.score, strict=True) if score is None
    ]
    tries: list[tuple[str, tuple[str, ...]]] = [("", ())]
    rankings = [ranking]
    for one, other in combinations(range(min(len(shown), SEARCHED)), 2):
        order = [*shown]
        order[one], order[other] = order[other], order[one]
        tries.append((f"swap {shown[one]} and {shown[other]}", (shown[one], shown[other])))
        rankings.append(ranking.reordered(order, missed, options["score_order"]))
    for document in missed[:SEARCHED]:
        tries.append((f"retrieve {document} at rank 1", (document,)))
        others = [each for each in missed if each != document]
        rankings.append(ranking.reordered([document, *shown], others, options["score_order"]))
    scores = scores_of(rankings, options)
    best = max(range(len(scores)), key=scores.__getitem__)
    adds = scores[best] - scores[0]
    return Advice(*tries[best], adds) if adds >= SHOWS else None


def picture(
    ranking: Ranking,
    ranks: pd.DataFrame,
    result: Mapping[str, float],
    options: dict[str, Any],
    note: str,
    edits: int,
) -> str:
    """Return the picture of a ranking and its steps; the first of its scores is the one that is drawn."""
    rows = ranks.to_dict("records")
    ranked = [row for row in rows if row["rank"][0].isdigit()]
    ideal = sum(row["ideal"] for row in rows)
    advised = advice(ranking, [row["document"] for row in ranked], options) if ideal > 0 else None
    tied = any("–" in row["rank"] for row in ranked)
    labels = [
        cell_of(label)
        for label, _ in sorted(gains_by_label(options).items(), key=lambda each: each[1])
    ]
    highest = max(
        [LEAST_DOTS, *(each for each in ranking.relevance if isinstance(each, (int, float)))]
    )
    cards = _Cards.of(ranking, rows, advised, highest, labels)
    tray = "".join(cards.unranked(row) for row in rows if row["rank"] == "not retrieved")
    removed = "".join(cards.unranked(row) for row in rows if row["rank"] == "removed")
    best = best_order(ranking, ranks, options)[:DRAWN]
    more = len(ranked) - DRAWN
    name, value = next(iter(result.items()))
    query = query_of_documents(ranking.documents)
    others = [
        f"<span>{escape(each)} <b>{number:.4f}</b></span>"
        for each, number in result.items()
        if each != name
    ]
    return "".join(
        [
            f"<div class='picture' data-edits='{edits}' data-highest='{highest!r}' data-labels='{cards.labels}'"
            f"{_live(ranking, ranks, options)}>",
            f"<p><span class='query'>Search: <b>{escape(query)}</b></span>{ABOUT_QUERY}</p>"
            if query
            else "",
            f"<p class='score' role='status'><span class='name'>{escape(name)} <b class='change'></b></span>",
            f"<output class='value'>{value:.4f}</output><span class='sign'>=</span>",
            _part("dcg", sum(row["contribution"] for row in rows), "DCG, this order"),
            f"<span class='sign'>÷</span>{_part('ideal', ideal, 'DCG, ideal order')}</p>",
            f"<p class='others'>{' '.join(others)}</p>" if others else "",
            f"<p class='said'>{_said(value, ideal, advised, _reasons(rows), tied=tied)} {escape(note)}</p>",
            f"<p class='formula'>{symbols(options)} {_choices(options)}</p>",
            "<button type='button' class='undo' title='Ctrl+Z'>Undo</button>",
            "<div class='lists'><section><div class='heads'><h3>Your order",
            "<small class='shown'>relevance<span>, score</span></small></h3>",
            "<h3 data-term='dcg'>gain × discount</h3></div>",
            f"<ol class='order'>{''.join(map(cards.row, curved(ranked[:DRAWN])))}</ol>",
            f"<p>{more:,} more documents are in the table below.</p>" if more > 0 else "",
            f"<div class='words'><p>{LABEL if labels else RELEVANCE}</p><p class='of-score'>{SCORE}</p>",
            f"<p>{JUDGED}</p>" if None in ranking.relevance else "",
            f"<p>{GAIN_AND_DISCOUNT}</p><p>{HOW_TO_CHANGE}</p></div>",
            f"<div class='tray'><h3>Not retrieved<small>: {RETRIEVED}</small></h3><ul>{tray}</ul>",
            "<p class='nothing'>drop a document here</p></div>",
            f"<div class='removed'><h3>Removed, since not judged</h3><ul>{removed}</ul></div>"
            if removed
            else "",
            "</section><section class='best'><h3 data-term='ideal'>The ideal order</h3>",
            f"<ol class='ideal'>{''.join(cards.ideal(*each) for each in best)}</ol>",
            f"<p class='words'>{IDEAL}</p></section></div></div>",
        ]
    )


def _choices(options: Mapping[str, Any]) -> str:
    """Return the fields next to the formula: the gain, and the cutoff."""
    gain = gain_word(options)
    names = dict.fromkeys([*CHOICES["gain"], gain])
    words = [f"<option{' selected' if each == gain else ''}>{each}</option>" for each in names]
    k = "" if options["k"][0] is None else options["k"][0]
    is_needed = options["ideal"] == "full"  # which has as many documents as there are ranks
    all_ranks, otherwise = (
        ("required", "") if is_needed else ("placeholder='all'", ", or leave k empty for all ranks")
    )
    limits = f"type='number' min='1' max='{LONGEST_CUTOFF}' {all_ranks} aria-describedby='k-fault'"
    return (
        f"<span class='choices'><label>gain <select data-option='gain' data-chosen='{gain}'>{''.join(words)}"
        f"</select></label> <label>k <input data-option='k' data-chosen='{k}' value='{k}' {limits}></label></span> "
        "<small id='k-fault' class='fault' role='alert' hidden>"
        f"k: write a whole number, at most {LONGEST_CUTOFF:,}{otherwise}</small>"
    )


def curved(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with their part of the curve of discounts: from halfway to the row above to halfway to that below."""
    discounts = [row["discount"] for row in rows]
    around = zip(
        [*discounts[:1], *discounts], discounts, [*discounts[1:], *discounts[-1:]], strict=False
    )
    curves = [((above + here) / 2, here, (here + below) / 2) for above, here, below in around]
    return [{**row, "curve": curve} for row, curve in zip(rows, curves, strict=True)]


def bar_html(
    gain: float, added: float, widest: float, term: str, curve: Sequence[float] = ()
) -> str:
    """Return a gain as a dashed bar and, within it, the part that is added, next to a gain that fills the width.

    The curve is that of discounts, as parts of the width: where it enters the row, where it is, and where it leaves.
    """
    points = " ".join(f"{100 * x:.4g},{y}" for x, y in zip(curve, (0, 50, 100), strict=False))
    line = (
        f"<svg viewBox='0 0 100 100' preserveAspectRatio='none'><polyline points='{points}'/></svg>"
        if curve
        else ""
    )
    outer, inner = (100 * min(1, max(0, each) / widest) for each in (gain, added))
    return (
        f"<span class='bar {term}' aria-hidden='true'><i data-term='gain' style='width:{outer:.4g}%'></i>"
        f"<b data-term='{term}' style='width:{inner:.4g}%'></b>{line}</span>"
    )


def dots_for(relevance: Iterable[float | str | None]) -> int:
    """Return how many dots show each relevance; 0 if a number or a label does."""
    judged = [each for each in relevance if each is not None]
    numbers = [
        each for each in judged if isinstance(each, (int, float)) and each in range(MOST_DOTS + 1)
    ]
    return int(max([1, *numbers])) if len(numbers) == len(judged) else 0


def grade_html(relevance: float | str | None, dots: int) -> str:
    """Return a relevance as dots, or without them as a number or a label."""
    if relevance is None:
        return "not judged"
    if isinstance(relevance, str) or not dots:
        return escape(shown_relevance(relevance))
    return "".join(f"<i{' class=on' if at < relevance else ''}></i>" for at in range(dots))


def _live(ranking: Ranking, ranks: pd.DataFrame, options: dict[str, Any]) -> str:
    """Return the data that picture.js needs to sum an order before it is sent; none if only the metric can sum it.

    Documents that are tied have the discounts of their places if they share them. What a card that comes or goes
    changes of ties, of an ideal of what was retrieved, or of a list that is not drawn whole, is for the metric.
    """
    scores = [score for score in ranking.score if score is not None]
    is_tied, ideal = len(set(scores)) < len(scores), float(ranks["ideal"].sum())
    if ideal <= 0 or (is_tied and options["ties"] != "average"):
        return ""
    ranked = ranks[ranks["rank"].str[0].str.isdigit()]
    discounts = json.dumps(place_discounts(ranks, options, options["k"][0]))
    rest = float(ranked["contribution"][DRAWN:].sum())
    is_free = not is_tied and len(ranked) <= DRAWN and options["ideal"] in ("judged", "full")
    count = (
        "" if is_free and not options["judged_only"] else f" data-count='{min(len(ranked), DRAWN)}'"
    )
    return f" data-discounts='{discounts}' data-ideal='{ideal!r}' data-rest='{rest!r}'{count}"


def decimals(number: float, digits: int) -> str:
    """Return a number with digits after the point; a large one, as of exponential gain, with a power of ten.

    >>> decimals(-0.0, 2), decimals(12.345, 2), decimals(2.0**40, 4)
    ('0.00', '12.35', '1.100e+12')
    """
    return f"{number + 0.0:.{digits}f}" if abs(number) < 1e5 else f"{number:.3e}"


def _part(term: str, number: float, what: str) -> str:
    return f"<span class='part' data-term='{term}'><b>{decimals(number, 4)}</b><small>{what}</small></span>"


def _reasons(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return why an order is not the best, as far as its gains show."""
    by_rank: dict[str, list[float]] = {}  # documents that are tied have the same ranks
    for row in rows:
        by_rank.setdefault(row["rank"], []).append(row["gain"])
    ranked = [gains for rank, gains in by_rank.items() if rank[0].isdigit()]
    reasons = {
        "less relevant documents are above more relevant ones": any(
            lowest < max(below)
            for lowest, below in zip(accumulate(map(min, ranked), min), ranked[1:], strict=False)
        ),
        "documents of different relevance are tied": any(
            min(gains) < max(gains) for gains in ranked
        ),
        "relevant documents were not retrieved": max(by_rank.get("not retrieved", [0.0])) > 0,
    }
    return " and ".join(reason for reason, is_so in reasons.items() if is_so)


def _said(value: float, ideal: float, advised: Advice | None, reasons: str, *, tied: bool) -> str:
    """Return how good a score is, why it is not the best, and what would help most, in words."""
    if ideal <= 0:
        return "No relevant document was judged: this is the value chosen for such queries."
    since = f", since {reasons}" if reasons and value < 1 else ""
    share = (
        f"{_percent(value)} of what the best order would score{since}." if 0 <= value <= 1 else ""
    )
    if advised is None:
        return f"{share} No swap helps{' while documents are tied' if tied and value < 1 else ''}."
    swap = f"<button class='advice' type='button'>{escape(advised.text)}</button>"
    return f"{share} Best change: {swap} <b class='adds'>+{advised.adds:.4f}</b>"


def _percent(value: float) -> str:
    """Return a share in percent, with decimals if it would otherwise read 0 or 100% and is neither."""
    texts = [f"{value:.{digits}%}" for digits in range(3)]
    return next((each for each in texts if float(each[:-1]) not in (0, 100)), texts[0])


class _Cards(NamedTuple):
    """Documents as they are drawn."""

    relevance: dict[str, float | str | None]
    highest: float  # relevance of a card
    score: dict[str, float | None]
    widest: float  # the gain that fills the width of a bar
    dots: int  # that show a relevance; 0 for its number or label
    labels: str  # that a relevance may be, the lowest gain first, as JSON; an empty list if it is a number
    advised: tuple[str, ...]

    @classmethod
    def of(
        cls,
        ranking: Ranking,
        rows: Sequence[Mapping[str, Any]],
        advised: Advice | None,
        highest: float,
        labels: list[str],
    ) -> "_Cards":
        """Return the documents of a ranking."""
        return cls(
            dict(zip(ranking.documents, ranking.relevance, strict=True)),
            highest,
            dict(zip(ranking.documents, ranking.score, strict=True)),
            max([abs(row[name]) for row in rows for name in ("gain", "ideal")]) or 1,
            0 if labels else dots_for([LEAST_DOTS, *ranking.relevance]),
            escape(json.dumps(labels)),
            advised.documents if advised else (),
        )

    def row(self, row: Mapping[str, Any]) -> str:
        """Return a ranked document: its card, its gain × discount as a bar and in numbers, the ranks it shares."""
        document, rank, gain, added = row["document"], row["rank"], row["gain"], row["contribution"]
        discount = f"{row['discount']:.2f}"
        grade = f"{gain:g}" if self.labels != "[]" else scrubbed("relevance", f"{gain:g}")
        tied = f"<small>tied {rank}</small>" if "–" in rank else ""
        kind = f" class='tied' data-tied='{rank}'" if tied else ""
        return (
            f"<li data-document='{escape(document)}' data-gain='{gain!r}'{kind}>{self._card(document, f'rank {rank}')}"
            f"{bar_html(gain, added, self.widest, 'dcg', row['curve'])}<span class='sum'><span class='product'>"
            f"<span data-term='gain'>{grade}</span> × <span data-term='discount'>{discount}</span> = </span>"
            f"<span data-term='dcg'>{decimals(added, 2)}</span>{tied}</span></li>"
        )

    def unranked(self, row: Mapping[str, Any]) -> str:
        """Return a document without a rank."""
        name = escape(row["document"])
        return f"<li data-document='{name}' data-gain='{row['gain']!r}'>{self._card(row['document'], row['rank'])}</li>"

    def ideal(self, document: str, gain: float, added: float) -> str:
        """Return a document of the ideal order."""
        name = escape(document)
        term = f" data-term='document {name}' title='{name}'" if document else ""
        text = f"<span{term}>{name}</span> <span data-term='ideal'>{decimals(added, 2)}</span>"
        return (
            f"<li>{bar_html(gain, added, self.widest, 'ideal')}<span class='sum'>{text}</span></li>"
        )

    def _card(self, document: str, place: str) -> str:
        relevance, score = self.relevance[document], self.score[document]
        name, judged = escape(document), "not judged"
        if relevance is not None:
            of_highest = f" of {self.highest:g}" if self.labels == "[]" else ""
            judged = f"relevance {escape(shown_relevance(relevance))}{of_highest}"
        kind = f"card{' unjudged' if relevance is None else ''}{' advised' if document in self.advised else ''}"
        scored = (
            ""
            if score is None
            else f"<span class='at'><span class='sr-said'>score </span>{score:g}</span>"
        )
        return (
            f"<div class='{kind}' data-term='document {name}'>"
            f"<button type='button' class='grip' aria-label='Move {name}, {place}: arrow keys'>⋮⋮</button>"
            f"<span class='document' title='{name}'>{name}</span>"
            f"<button type='button' class='grade' data-relevance='{escape(cell_of(relevance))}'"
            f" aria-label='{name}: {judged}; press for more'>"
            f"{grade_html(relevance, self.dots)}</button>{scored}</div>"
        )
