"""The place Compare: files to one zone; which run is best, how surely, and on which queries."""

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote

from .address import LONGEST, Address, Note, read_address
from .explanation import libraries
from .files import are_samples
from .grid import Grid, Side, pair_of, ranking_in, sorts_of
from .html import csv_address, listed, render
from .ranking import Ranking
from .results import Results, key_of, results_of
from .settings import CHOICES, SIDES, Words, cutoffs_of, in_words
from .standings import (
    Remark,
    Standing,
    chosen_of,
    missing_remarks,
    order_remarks,
    rows_of,
)

TITLE = "nDCG: which run is better?"
# notes to warn of
SERIOUS = re.compile(
    "same value in every|both retrieved and judged|cannot be significant|too few queries"
)
AUDIT = ("run", "documents", "queries", "not judged", "not ranked", "tied", "unjudged within k")
LARGE = 20_000  # rows in all runs; finding the library of a paper's score takes seconds for more


def page(address: Address, notes: Sequence[Note], shown: Mapping[str, Any]) -> str:
    """Return the place as HTML."""
    results = results_of(address)
    values = {}
    if not results.problem:
        values = _shown_of(address, results)
    return render(
        "compare.html",
        **shown,
        **values,
        address=address,
        notes=[*notes, *unknown_files(address, results), *values.get("unknown", ())],
        title=TITLE,
        files=results.contents.files,
        are_samples=are_samples(address),
        choices=CHOICES,
        scores={},
        offer=results.offer,
        problem=results.problem,
    )


def _shown_of(address: Address, results: Results) -> dict[str, Any]:
    standing = Standing.of(results.scores, results.pairs, address.chosen)
    sorts = sorts_of(standing, results)
    grid = Grid(standing, results, chosen_of(address.chosen, "sort", sorts))
    pair = rankings_of(address, grid)
    rows, axis = rows_of(standing)
    first = results.reports[0]
    tables: list[Any] = []
    markdown = [standing.headline()]
    for report in results.reports:
        tables += report.tables()
        markdown.append(report.to_markdown())
    return {
        "unknown": unknown_choices(address, results, sorts),
        "standing": standing,
        "rows": rows,
        "axis": axis,
        "measures": list(results.scores[standing.base]),
        "remarks": remarks_on(results, standing, address),
        "grid": grid,
        "sorts": sorts,
        "pair": pair,
        "groups": groups_of(results, standing),
        "strips": strips_of(address, results, standing),
        "tables": tables,
        "audit": (AUDIT, audit_of(results, standing)),
        "report_notes": [in_words(remark, SIDES) for remark in first.remarks()],
        "markdown": "\n\n".join(markdown),
        "latex": first.to_latex() if results.pairs else "",
        "signature": first.signature,
        "summary_file": csv_address(*summary_of(results)),
        "queries_file": csv_address(*values_of(results)),
    }


def unknown_files(address: Address, results: Results) -> Iterator[Note]:
    """Yield a note for files of the address that are not kept any more."""
    if address.chosen.get("files") and are_samples(address):
        yield Note("The files of this link are not kept any more; these are the samples.")
        return
    names = [file.name for file in results.contents.files]
    for role in ("judgments", "groups"):
        yield from _unknown(address, role, names, f"the files are {listed(names, 'files')}")


def unknown_choices(address: Address, results: Results, sorts: Words) -> Iterator[Note]:
    """Yield a note for every part of the address that these files do not have."""
    runs = list(results.scores)
    known = {
        "measure": list(results.scores[runs[0]]),
        "base": runs,
        "other": runs,
        "query": results.queries,
    }
    for name, values in known.items():
        yield from _unknown(address, name, values, f"these files have {listed(values)}")
    yield from _unknown(address, "sort", sorts, f"the orders here are {listed([*sorts])}")


def _unknown(address: Address, name: str, values: Collection[str], there: str) -> Iterator[Note]:
    text = address.chosen.get(name, "")
    if text not in ("", *values):
        yield Note(f"The address has {name}={text[:40]}, but {there}.")


def remarks_on(results: Results, standing: Standing, address: Address) -> list[Remark]:
    """Return what may be wrong with the files or with what they seem to show."""
    notes = itertools.chain(*(report.notes for report in results.reports))
    remarks = order_remarks(results, standing.base)
    for note in dict.fromkeys(notes):
        if SERIOUS.search(note):
            remarks.append(Remark(in_words(note, SIDES)))
    remarks += missing_remarks(results.missing, address.settings.word("missing"))
    return remarks


def rankings_of(address: Address, grid: Grid) -> dict[str, Any]:
    """Return the rankings of a query by the base and another run, at the cutoff of the measure.

    If no other run is chosen, it is the best of this query.
    """
    standing, results = grid.standing, grid.results
    queries = results.queries
    query = chosen_of(address.chosen, "query", [queries[grid.opened], *queries])
    place = queries.index(query)
    rivals = list(standing.scores)
    rivals.remove(standing.base)
    other = chosen_of(address.chosen, "other", [grid.best_other(place), *rivals])
    # "nDCG" alone counts the whole list
    _, _, cutoff = standing.measure.partition("@")
    options = {**address.settings.options, "k": cutoffs_of(cutoff)}
    contents, sides = results.contents, []
    for run in filter(None, (standing.base, other)):
        ranking = ranking_in(contents.runs[run], contents.judgments, query, options)
        value = float(results.values[standing.measure, run][place])
        is_missing = query in results.missing[run]
        chosen = {**address.chosen, "query": query, "other": other, "run": run}
        link = _link(address._replace(chosen=chosen), ranking)
        sides.append(Side(run, value, ranking, is_missing, link))
    return pair_of(query, sides)


def _link(address: Address, ranking: Ranking) -> str:
    """Return a link to a ranking in Understand; empty if it is too long for an address."""
    rows = tuple(tuple(map(_cell, document)) for document in ranking.documents)
    link = Address(settings=address.settings, rows=rows, chosen=address.chosen).link()
    return link if len(link) <= LONGEST else ""


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value}".removesuffix(".0")


def strips_of(address: Address, results: Results, standing: Standing) -> list[dict[str, Any]]:
    """Return the scores of runs in 28 libraries; of large runs only the base's, and on request."""
    runs = list(standing.scores)
    if sum(documents for documents, _, _ in results.audit.values()) > LARGE:
        runs = [standing.base]
        if not address.got and not address.chosen.get("libraries"):
            return []
    query = f"{key_of(address)}&got={quote(address.got)}"
    return [_libraries_at(query, run) for run in runs]


@lru_cache(maxsize=100)
def _libraries_at(query: str, run: str) -> dict[str, Any]:
    address, _ = read_address(dict(parse_qsl(query)))
    contents = results_of(address).contents
    data = {"predictions": contents.runs[run], "references": contents.judgments}
    return libraries(run, data, address.got, address.settings, SIDES)


def groups_of(results: Results, standing: Standing) -> list[tuple[Any, ...]]:
    """Return the number of queries and the means of each group, the best run first."""
    # runs with one query have a report each, and one group
    if len(results.reports) > 1:
        return []
    rows = []
    for group, part in results.reports[0].slices.items():
        scores = part.scores
        if len(standing.scores) == 1:
            scores = {standing.base: scores}
        means = [scores[run][standing.measure].value for run in standing.scores]
        rows.append((group, part.queries, *means))
    return rows


def audit_of(results: Results, standing: Standing) -> list[tuple[Any, ...]]:
    """Return the size of every run, and how much of it has no judgments."""
    rows = []
    for run, counts in results.audit.items():
        score, missing = standing.scores[run], len(results.missing[run])
        unjudged = f"{round(score.unjudged, 2):g} of {score.ranked}"
        rows.append((run, *counts, missing, score.tied, unjudged))
    return rows


def summary_of(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Return every figure of the means and of the pairs, as a header and rows."""
    records = []
    for run, scores in results.scores.items():
        for measure, score in scores.items():
            records.append({"run": run, "measure": measure, **score._asdict()})
    records += [pair._asdict() for pair in results.pairs]
    # pairs have other figures than means; what a record lacks is left empty
    header = list(dict.fromkeys(itertools.chain(*records)))
    return header, [list(map(record.get, header)) for record in records]


def values_of(results: Results) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the value of every query in every run, as a header and rows."""
    header = ["query"]
    columns = [results.queries]
    for (measure, run), values in results.values.items():
        header.append(f"{run} {measure}")
        columns.append(values.tolist())
    return header, list(zip(*columns, strict=True))
