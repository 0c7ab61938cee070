"""Runs query by query: a bar for each, and the rankings of one of them side by side.

The HTML names queries and runs that can be chosen in ``data-query`` and ``data-runs``; JS tells the page of a choice.
"""

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from .choices import shown_relevance
from .contributions import Ranking, steps
from .events import ASK
from .picture import HIGHLIGHT, bar_html, dots_for, grade_html
from .standings import signed

JS = ASK + Path(__file__).with_name("queries.js").read_text(encoding="utf-8") + HIGHLIGHT
EXTREMES = 5  # queries at either end that are named
BARS = 1000  # others that can be unfolded
DRAWN = 20  # documents of a ranking at most
MISSED = 8  # relevant documents that are named


def query_bars(
    values: pd.Series,
    runs: Sequence[str],
    measure: str,
    missing: Mapping[str, Sequence[str]],
    chosen: str = "",
) -> str:
    """Return a bar for each query: to the right if the first run is better, to the left if the second is.

    The ends are named, and what is between is drawn small until it is unfolded. Of a run alone, the values are not
    differences, and the worst queries come first. The chosen query is the one that is shown with its rankings.
    """
    are_two = len(runs) > 1
    values = values.dropna().sort_values(ascending=not are_two, kind="stable")
    widest = float(values.abs().max()) or 1.0
    lacking = {query for run in runs for query in missing[run]}
    first = min(EXTREMES, int((values > 0).sum())) if are_two else EXTREMES
    last = min(EXTREMES, int((values < 0).sum())) if are_two else EXTREMES
    if len(values) <= 3 * EXTREMES:
        first, last = len(values), 0
    rows = []
    for query, value in values.items():
        text = signed(value) if are_two else f"{value:.3f}"
        rows.append(
            _bar(str(query), value / widest, text, are_two, query in lacking, query == chosen)
        )
    between = rows[first : len(rows) - last]
    drawn = "".join(
        f"<rect x='{min(0, value) / widest:.4g}' y='{at}' width='{abs(value) / widest:.4g}' height='.8' "
        f"class='{'loss' if value < 0 else 'gain'}'/>"
        for at, value in enumerate(values.iloc[first : len(rows) - last])
    )
    middle = (
        f"<li class='rest'><details><summary>{len(between):,} more<svg class='track' viewBox='{-1 if are_two else 0} 0 "
        f"{2 if are_two else 1} {len(between)}' preserveAspectRatio='none' aria-hidden='true' "
        f"style='height:{min(10.0, 0.25 * len(between)):.4g}rem'>{drawn}</svg></summary>"
        f"<ul>{''.join(between[:BARS])}</ul></details></li>"
        if between
        else ""
    )
    one, *other = map(escape, runs)
    title = f"Where {one} and {other[0]} differ" if other else f"The queries of {one}, worst first"
    sides = (
        f"<p class='sides'><span class='loss'>← {other[0]} better on {(values < 0).sum():,}</span>"
        f"<span class='gain'>{one} better on {(values > 0).sum():,} →</span></p>"
        if other
        else ""
    )
    return (
        f"<section class='by-query {'two' if are_two else 'one'}' data-measure='{escape(measure)}' "
        f"data-runs='{escape(json.dumps(list(runs)))}'><h3>{title}: choose a query to see its rankings</h3>{sides}"
        f"<ul>{''.join(rows[:first])}{middle}{''.join(rows[len(rows) - last :])}</ul></section>"
    )


def _bar(
    query: str, value: float, text: str, are_two: bool, is_missing: bool, is_chosen: bool
) -> str:
    """Return a query with its bar, of a value from -1 to 1, or from 0 if the bars begin on the left."""
    name, width = escape(query), (50 if are_two else 100) * abs(value)
    left = (50 - width * (value < 0)) if are_two else 0
    bar = f"<b class='{'loss' if value < 0 else 'gain'}' style='left:{left:.4g}%;width:{width:.4g}%'></b>"
    note = " <small>missing</small>" if is_missing else ""
    return (
        f"<li data-query='{name}'{' class=chosen' if is_chosen else ''}>"
        f"<span class='name'><button type='button' aria-label='Open query {name}'>{name}</button>{note}</span>"
        f"<span class='track' aria-hidden='true'>{bar}</span><span class='number'>{text}</span></li>"
    )


def side_by_side(
    query: str,
    rankings: Mapping[str, Ranking],
    sums: Mapping[str, Mapping[str, float]],
    options: dict[str, Any],
) -> str:
    """Return the rankings of a query by some runs, with the nDCG, DCG and ideal DCG of each, side by side."""
    (k,) = options["k"]
    ranks = {
        name: steps(ranking, options, k).to_dict("records") for name, ranking in rankings.items()
    }
    places = {
        name: {row["document"]: row["rank"] for row in rows if row["rank"][0].isdigit()}
        for name, rows in ranks.items()
    }
    widest = max([abs(row["gain"]) for rows in ranks.values() for row in rows], default=0) or 1
    grades = {
        document: relevance
        for ranking in rankings.values()
        for document, relevance in zip(ranking.documents, ranking.relevance, strict=True)
    }
    dots = dots_for(grades.values())
    columns = []
    for name, rows in ranks.items():
        others = {other: placed for other, placed in places.items() if other != name}
        ranked = [row for row in rows if row["document"] in places[name]]
        missed = [row for row in rows if row["rank"] == "not retrieved" and row["gain"] > 0]
        (measure, value), (_, dcg), (_, ideal) = sums[name].items()
        adding = [
            at for at, row in enumerate(ranked, 1) if row["contribution"]
        ]  # also beyond the cutoff, if tied
        drawn = DRAWN if k is None else min(DRAWN, max(k, *adding, 0))
        cards = [_row(row, grades[row["document"]], dots, widest, others) for row in ranked[:drawn]]
        columns.append(
            f"<section><h3>{escape(name)}: {escape(measure)} {'skipped' if math.isnan(value) else f'{value:.4f}'}</h3>"
            f"<p>{'' if math.isnan(value) else f'DCG {dcg + 0.0:.4f} ÷ ideal {ideal + 0.0:.4f} '}"
            f"<button type='button' class='open' data-query='{escape(query)}' "
            f"data-runs='{escape(json.dumps([name]))}' "
            f"aria-label='Open {escape(name)} of query {escape(query)} in One ranking'>open in One ranking</button></p>"
            f"<ol class='order'>{''.join(cards)}</ol>"
            f"{f'<p>{len(ranked) - drawn:,} more documents follow.</p>' if len(ranked) > drawn else ''}"
            f"{'' if ranked else f'<p>This query is missing from {escape(name)}: nothing was retrieved.</p>'}"
            f"{_missed(missed)}</section>"
        )
    key = (
        "<small>: ↑ higher, ↓ lower here than there, in the other ranking</small>"
        if len(columns) > 1
        else ""
    )
    return (
        f"<div class='picture beside' role='region' aria-label='Query {escape(query)}'>"
        f"<h3 class='query'>Query {escape(query)}{key}</h3><div class='columns'>{''.join(columns)}</div></div>"
    )


def _row(
    row: Mapping[str, Any],
    relevance: float | str | None,
    dots: int,
    widest: float,
    others: Mapping[str, Mapping[str, str]],
) -> str:
    """Return a document at its rank: its relevance, what it adds, and where another run has it."""
    document, added = escape(row["document"]), row["contribution"]
    elsewhere = "".join(_elsewhere(row, placed.get(row["document"])) for placed in others.values())
    tied = f" class='tied' data-tied='{row['rank']}'" if "–" in row["rank"] else ""
    kind, judged = " unjudged", "not judged"
    if relevance is not None:
        kind, judged = "", f"relevance {escape(shown_relevance(relevance))}"
    return (
        f"<li{tied}><span class='card{kind}' data-term='document {document}'><span class='document' title='{document}'>"
        f"{document}</span><span class='grade' role='img' aria-label='{judged}'>{grade_html(relevance, dots)}</span>"
        f"</span>{bar_html(row['gain'], added, widest, 'dcg')}"
        f"<span class='sum'>{added + 0.0:.2f}{elsewhere}</span></li>"
    )


def _elsewhere(row: Mapping[str, Any], rank: str | None) -> str:
    """Return where another run has a document, and whether it is higher or lower here."""
    if rank is None:
        return "<small class='up'>not there</small>"
    here, there = (fmean(map(int, each.split("–"))) for each in (row["rank"], rank))
    kind, sign = ("up", "↑ ") if here < there else ("down", "↓ ") if here > there else ("same", "")
    return f"<small class='{kind}'>{sign}{rank} there</small>"


def _missed(rows: list[dict[str, Any]]) -> str:
    """Return which relevant documents a run did not retrieve, in a sentence."""
    if not rows:
        return ""
    some = ", ".join(
        f"{escape(row['document'])} (relevance {escape(row['relevance'])})" for row in rows[:MISSED]
    )
    return f"<p>Relevant, not retrieved: {some}{', …' if len(rows) > MISSED else ''}</p>"
