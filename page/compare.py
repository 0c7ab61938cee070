"""The place Compare: files to one zone; which run is best, how surely, and on which queries."""

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote

from .address import LONGEST, Address, Note, choices_of, read_address
from .explanation import Libraries, libraries
from .files import are_samples, contents_of
from .grid import Pair, grid_of, pair_of, ranking_in, sorts_of
from .html import csv_address, render
from .ranking import Ranking
from .results import Results, key_of, results_of
from .settings import CONVENTIONS, LABELS, SIDES, in_words
from .standings import (
    Remark,
    Standing,
    chosen_of,
    listed,
    missing_remarks,
    rows_of,
    tie_remarks,
)

TITLE = "nDCG: which run is better?"
SERIOUS = (
    "both retrieved and judged",
    "cannot be significant",
    "too few queries",
)  # notes to warn of
AUDIT = ("run", "documents", "queries", "not judged", "not ranked", "tied", "unjudged within k")
SMALL = 20_000  # rows in all runs up to which the strips of libraries are drawn unasked
LARGE = 200_000  # rows up to which they are drawn for all runs


def page(address: Address, notes: Sequence[Note], shown: Mapping[str, Any]) -> str:
    """Return the place as HTML."""
    results = results_of(address)
    values = {**shown, **_frame(address, notes, results)}
    if results.problem:
        return render("compare.html", **values, problem=results.problem, standing=None)
    return render(
        "compare.html", **values, problem="", **_results(address, results, values["notes"])
    )


def _frame(address: Address, notes: Sequence[Note], results: Results) -> dict[str, Any]:
    """Return what is shown with and without results."""
    return {
        "address": address,
        "notes": [*notes, *unknown_files(address, results)],
        "title": TITLE,
        "files": results.files,
        "are_samples": are_samples(address),
        "choices": choices_of(address),
        "conventions": CONVENTIONS,
        "labels": LABELS,
        "offer": results.offer,
    }


def _results(address: Address, results: Results, notes: list[Note]) -> dict[str, Any]:
    """Return what is shown of results; a choice that they do not have gets a note."""
    standing = Standing.of(results.scores, results.pairs, address.chosen)
    sorts = sorts_of(standing, results)
    notes += unknown_choices(address, results, sorts)
    sort = chosen_of(address.chosen, "sort", sorts)
    rows, axis = rows_of(standing)
    query, other = opened(address, standing, results, sort)
    pair = rankings_of(address, standing, results, query, other)
    report = results.reports[0]
    return {
        "standing": standing,
        "rows": rows,
        "axis": axis,
        "measures": list(results.scores[standing.base]),
        "remarks": remarks_on(results, standing, address),
        "grid": grid_of(standing, results, sort, query, other, every=False),
        "opened": opened_sentence(address, pair),
        "sorts": sorts,
        "pair": pair,
        "strips": strips_of(address, results, standing),
        "tables": [table for report in results.reports for table in report.tables()],
        "audit": (AUDIT, audit_of(results, standing)),
        "report_notes": [in_words(remark, SIDES) for remark in report.remarks()],
        "markdown": "\n\n".join(
            [standing.headline(), *(report.to_markdown() for report in results.reports)]
        ),
        "latex": report.to_latex() if results.pairs else "",
        "signature": report.signature,
        "summary_file": csv_address(*summary_of(results)),
        "queries_file": csv_address(*values_of(results)),
    }


def unknown_files(address: Address, results: Results) -> list[Note]:
    """Return a note for files of the address that are not kept any more."""
    token = address.chosen.get("files", "")
    if token and are_samples(address):
        return [Note("The files of this link are not kept any more; these are the samples.")]
    names = [file.name for file in results.files]
    notes = []
    for role in ("judgments", "groups"):
        name = address.chosen.get(role, "")
        if name and name not in names:
            there = f"the files are {listed(names, 'files')}"
            notes.append(Note(f"The address has {role}={name[:40]}, but {there}."))
    return notes


def unknown_choices(address: Address, results: Results, sorts: Mapping[str, str]) -> list[Note]:
    """Return a note for each part of the address that these files do not have."""
    runs = list(results.scores)
    known = {
        "measure": list(results.scores[runs[0]]),
        "base": runs,
        "other": runs,
        "query": results.queries,
        "sort": list(sorts),
    }
    notes = []
    for name, values in known.items():
        text = address.chosen.get(name, "")
        if text and text not in values:
            some = listed(list(values))
            notes.append(Note(f"The address has {name}={text[:40]}, but these files have {some}."))
    return notes


def opened(address: Address, standing: Standing, results: Results, sort: str) -> tuple[str, str]:
    """Return the query that is open, and the run beside the base; else the first of the grid."""
    others = [run for run in standing.scores if run != standing.base]
    grid = grid_of(standing, results, sort, "", "", every=True)
    best_others = {row.query: row.other for row in grid.first}
    query = chosen_of(address.chosen, "query", best_others)
    # that of the standing is best over all queries; here it is the best of this query
    other = address.chosen.get("other", "")
    if other not in others:
        other = best_others[query]
    return query, other


def opened_sentence(address: Address, pair: Pair) -> str:
    """Return the scores of a query that the reader has chosen; empty if none is chosen."""
    if not address.chosen.get("query") and not address.chosen.get("other"):
        return ""
    scores = " and ".join(f"{side.value} in {side.run}" for side in pair.sides)
    return f"{pair.query} has {scores}."


def remarks_on(results: Results, standing: Standing, address: Address) -> list[Remark]:
    """Return what may be wrong with the files or with what they seem to show."""
    there = {run: scores[standing.measure] for run, scores in results.by_trec_eval.items()}
    notes = dict.fromkeys(note for report in results.reports for note in report.notes)
    serious = []
    for note in notes:
        if any(word in note for word in SERIOUS):
            serious.append(Remark(in_words(note, SIDES)))
    same = [Remark(f"{run} and {first} are the same run.") for run, first in results.same.items()]
    missing = missing_remarks(results.missing, address.settings.word("missing"))
    return [*serious, *same, *missing, *tie_remarks(standing.scores, there, standing.measure)]


def rankings_of(
    address: Address, standing: Standing, results: Results, query: str, other: str
) -> Pair:
    """Return the rankings of a query by the base and another run, at the cutoff of the measure."""
    names = [run for run in (standing.base, other) if run]
    contents = contents_of(address, names)
    # "nDCG" alone counts the whole list
    cutoff = None
    if "@" in standing.measure:
        cutoff = int(standing.measure.partition("@")[2])
    options = {**address.settings.options, "k": [cutoff]}
    place = results.queries.index(query)
    runs, values, links = {}, {}, {}
    for name in names:
        runs[name] = contents.runs[name]
        values[name] = float(results.values[standing.measure, name][place])
        ranking = ranking_in(runs[name], contents.judgments, query, options)
        chosen = {**address.chosen, "query": query, "other": other, "run": name}
        links[name] = _link(address._replace(chosen=chosen), ranking)
    return pair_of(query, runs, contents.judgments, options, values, links)


def _link(address: Address, ranking: Ranking) -> str:
    """Return a link to a ranking in Understand; empty if it is too long for an address."""
    rows = []
    for name, relevance, score in ranking.documents:
        rows.append((name, _cell(relevance), _cell(score)))
    link = Address(settings=address.settings, rows=tuple(rows), chosen=address.chosen).link()
    return link if len(link) <= LONGEST else ""


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return repr(value).removesuffix(".0")


def strips_of(address: Address, results: Results, standing: Standing) -> list[Libraries]:
    """Return the scores of runs in 28 libraries, of many rows only if they are asked for.

    Whose score a paper's may be takes far longer: of many rows, the base alone is searched.
    """
    rows = sum(documents for documents, _, _ in results.audit.values())
    is_asked = address.got or address.chosen.get("libraries")
    if rows > SMALL and not is_asked:
        return []
    drawn = searched = list(standing.scores)
    if rows > SMALL:
        searched = [standing.base]
    if rows > LARGE:
        drawn = [standing.base]
    strips = []
    for name in drawn:
        query = key_of(address)
        if name in searched:
            query = f"{query}&got={quote(address.got)}"
        strips.append(_libraries_at(query, name))
    return strips


@lru_cache(maxsize=100)
def _libraries_at(query: str, run: str) -> Libraries:
    address, _ = read_address(dict(parse_qsl(query)))
    contents = contents_of(address, [run])
    given = {
        "predictions": contents.runs[run],
        "references": contents.judgments,
        "sample_weight": contents.weights,
    }
    return libraries(run, given, address.got, address.settings, SIDES)


def audit_of(results: Results, standing: Standing) -> list[tuple[Any, ...]]:
    """Return what each run holds, and what of it has no judgments."""
    rows = []
    for run, (documents, queries, not_judged) in results.audit.items():
        score, missing = standing.scores[run], len(results.missing[run])
        unjudged = f"{round(score.unjudged, 2):g} of {score.ranked}"
        rows.append((run, documents, queries, not_judged, missing, score.tied, unjudged))
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
    rows = []
    for record in records:
        rows.append([_filled(record.get(name)) for name in header])
    return header, rows


def _filled(value: Any) -> Any:
    is_missing = value is None or value != value
    return "" if is_missing else value


def values_of(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Return the value of each query in each run, as a header and rows."""
    header, columns = ["query"], [list(results.queries)]
    for (measure, run), column in results.values.items():
        header.append(f"{run} {measure}")
        columns.append([_filled(value) for value in column.tolist()])
    return header, [list(row) for row in zip(*columns, strict=True)]
