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

from .contributions import Ranking, steps
from .events import ASK
from .picture import HIGHLIGHT, bar_html, dots_for, grade_html

JS = ASK + Path(__file__).with_name("queries.js").read_text(encoding="utf-8") + HIGHLIGHT
BARS = 1000  # queries that are drawn
DRAWN = 20  # documents of a ranking
MISSED = 8  # relevant documents that are named


def query_bars(
    values: pd.DataFrame, caption: str, runs: Sequence[str], lacks: Mapping[str, str], chosen: str = ""
) -> str:
    """Return a bar per query: to the left where the first run is better, to the right where the second is.

    Args:
        values: the query, and what is drawn of it.
        caption: what that is.
        runs: one, or two, the better first.
        lacks: the run that lacks a query, by the query.
        chosen: the query whose rankings are shown.
    """
    are_two = len(runs) > 1
    widest = max([abs(each) for each in values.iloc[:, 1] if each == each], default=0) or 1
    rows = []
    for query, value in values.head(BARS).itertuples(index=False):
        side = "second" if value < 0 else "first"
        width = 0 if math.isnan(value) else (49.6 if are_two else 100) * abs(value) / widest
        text = "left out" if math.isnan(value) else f"{value + 0.0:+.4f}" if are_two else f"{value + 0.0:.4f}"
        lacking = f" <small>not in {escape(lacks[query])}</small>" if query in lacks else ""
        name = escape(query)
        kind = " class='chosen'" if query == chosen else ""
        rows.append(
            f"<tr data-query='{name}'{kind}>"
            f"<td><button type='button' aria-label='Open query {name}'>{name}</button>{lacking}</td>"
            f"<td><span class='{'two' if are_two else 'one'}' aria-hidden='true'>"
            f"<b class='{side}' style='width:{width:.4g}%'></b></span></td><td>{text}</td></tr>"
        )
    first, second = [escape(f"{each} better") for each in runs] if are_two else ["", ""]
    label = escape(f"{caption}, {min(len(values), BARS):,} of {len(values):,} queries: choose one to see its rankings")
    head = f"<th>query</th><th class='sides'><span>{first}</span><span>{second}</span></th><th>value</th>"
    return (
        f"<figure data-runs='{escape(json.dumps(list(runs)))}'><figcaption>{label}</figcaption>"
        f"<div class='sheet by-query' role='region' tabindex='0' aria-label='{label}'>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></figure>"
    )


def side_by_side(
    query: str, rankings: Mapping[str, Ranking], sums: Mapping[str, Mapping[str, float]], options: dict[str, Any]
) -> str:
    """Return the rankings of a query, beside each other.

    Args:
        query: what it is called.
        rankings: of this query, by the runs' names; without a document that is retrieved where a run lacks it.
        sums: of each its nDCG, DCG and ideal DCG, by what they are called.
        options: of `compute`, with one cutoff.
    """
    (k,) = options["k"]
    ranks = {name: steps(ranking, options, k).to_dict("records") for name, ranking in rankings.items()}
    places = {
        name: {row["document"]: row["rank"] for row in rows if row["rank"][0].isdigit()} for name, rows in ranks.items()
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
        cards = [_row(row, grades[row["document"]], dots, widest, others) for row in ranked[:DRAWN]]
        columns.append(
            f"<section><h3>{escape(name)}: {escape(measure)} {'left out' if math.isnan(value) else f'{value:.4f}'}</h3>"
            f"<p>{'' if math.isnan(value) else f'DCG {dcg + 0.0:.4f} ÷ ideal {ideal + 0.0:.4f} '}"
            f"<button type='button' class='open' data-query='{escape(query)}' "
            f"data-runs='{escape(json.dumps([name]))}' "
            f"aria-label='Open {escape(name)} of query {escape(query)} in One ranking'>open in One ranking</button></p>"
            f"<ol class='order'>{''.join(cards)}</ol>"
            f"{f'<p>{len(ranked) - DRAWN:,} more documents follow.</p>' if len(ranked) > DRAWN else ''}"
            f"{'' if ranked else f'<p>This query is missing from {escape(name)}: nothing was retrieved.</p>'}"
            f"{_missed(missed)}</section>"
        )
    key = "<small>: ↑ higher, ↓ lower here than in the other ranking</small>" if len(columns) > 1 else ""
    return (
        f"<div class='picture beside' role='region' aria-label='Query {escape(query)}'>"
        f"<h3 class='query'>Query {escape(query)}{key}</h3><div class='columns'>{''.join(columns)}</div></div>"
    )


def _row(
    row: Mapping[str, Any],
    relevance: float | None,
    dots: int,
    widest: float,
    others: Mapping[str, Mapping[str, str]],
) -> str:
    """Return a document at its rank: its relevance, what it adds, and where another run has it."""
    document, added = escape(row["document"]), row["contribution"]
    elsewhere = "".join(_elsewhere(row, name, placed.get(row["document"])) for name, placed in others.items())
    tied = f" class='tied' data-tied='{row['rank']}'" if "–" in row["rank"] else ""
    kind, judged = (" unjudged", "not judged") if relevance is None else ("", f"relevance {relevance:g}")
    return (
        f"<li{tied}><span class='card{kind}' data-term='document {document}'><span class='document' title='{document}'>"
        f"{document}</span><span class='grade' role='img' aria-label='{judged}'>{grade_html(relevance, dots)}</span>"
        f"</span>{bar_html(row['gain'], added, widest, 'dcg')}"
        f"<span class='sum'>{added + 0.0:.2f}{elsewhere}</span></li>"
    )


def _elsewhere(row: Mapping[str, Any], name: str, rank: str | None) -> str:
    """Return where another run has a document, and whether it is higher or lower here."""
    if rank is None:
        return f"<small class='up'>not in {escape(name)}</small>"
    here, there = (fmean(map(int, each.split("–"))) for each in (row["rank"], rank))
    kind, sign = ("up", "↑ ") if here < there else ("down", "↓ ") if here > there else ("same", "")
    return f"<small class='{kind}'>{sign}{rank} in {escape(name)}</small>"


def _missed(rows: list[dict[str, Any]]) -> str:
    """Return which relevant documents a run did not retrieve, in a sentence."""
    if not rows:
        return ""
    some = ", ".join(f"{escape(row['document'])} (relevance {escape(row['relevance'])})" for row in rows[:MISSED])
    return f"<p>Relevant, not retrieved: {some}{', …' if len(rows) > MISSED else ''}</p>"
