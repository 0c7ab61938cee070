"""The tab that finds the conventions that give a score: the data under every convention, next to the reported score."""

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import gradio as gr
import pandas as pd

from .batch import batch_of
from .card import file_address
from .choices import LABELS, largest, options_of
from .events import follow, show_errors
from .guide import is_begun_with
from .metric import ndcg, tables
from .paste import HOW, pasted_rows
from .picture import SHOWS
from .ranking import ranking_of, rows_of
from .render import list_html, note_html, table_html
from .run_results import read_files

SOURCES = {
    "ranking": "The ranking of the first tab",
    "runs": "The search runs",
    "batch": "The batch",
    "example": "The example of the metric card",
}
CARD_EXAMPLE = {
    "predictions": [[0.5, 0.5, 0.2, 0.1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [6, 5, 4, 3, 2, 1]],
    "references": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [3, 2, 3, 0, 1, 2]],
}
SHOWN_WAYS = 5
ALLOWED = re.compile(r"[-+\d.eE%@, ]+|nan")  # never the path of a file of the server
LONGEST = 200_000  # characters of values of queries


def explanation_tab(
    bar: list[Any], table: gr.Dataframe, files: list[gr.File], batch: list[gr.Textbox]
) -> tuple[gr.Radio, gr.Textbox]:
    """Lay out the tab, which explains a number of the table of the first tab, of files, a batch or an example.

    Returns:
        The data to explain, and the reported score.
    """
    with gr.Tab("Explain a score", id="explain") as tab:
        with gr.Row():
            choices = [(label, name) for name, label in SOURCES.items()]
            source = gr.Radio(choices, value="ranking", label="Data", scale=3, min_width=320)
            got = gr.Textbox(
                label="The score I got, such as 0.5921 or 59.21; or several, such as 0.31@5,0.283@10",
                max_length=30,
                min_width=320,
                elem_id="got",
            )
        values = gr.Textbox(
            label="Or the value of each query: lines of its id and the value, as trec_eval -q prints, or values alone",
            lines=2,
            max_lines=8,
            max_length=LONGEST,
            elem_id="values",
        )
        own = gr.Textbox(
            label="Your ranking, instead of the ranking in the first tab: its relevance, or a line per document",
            placeholder=HOW,
            lines=2,
            max_lines=8,
            max_length=LONGEST,
            elem_id="own",
        )
        shown = gr.HTML(elem_id="explained")
        with gr.Accordion("The options of each convention", open=False):
            gr.Markdown(tables.convention_notes())
    inputs = [source, got, values, own, table, *files, *batch, *bar]
    events = [tab.select, *(each.change for each in (source, got, values, own)), *(each.change for each in bar)]
    follow(events, explain_reported, inputs, shown, queue=True)
    return source, got


@show_errors(1)
def explain_reported(
    source: str,
    got: str,
    values: str,
    own: str,
    table: pd.DataFrame,
    qrels_file: str | None,
    run_files: list[str] | None,
    *others: Any,
) -> str:
    """Return the explanation of a score as HTML: in words, as dots, and with the choices that make the difference."""
    batch, bar = others[:4], others[4:]
    options = options_of(*bar)
    given: Mapping[str, Mapping[str, Any]]
    if source == "ranking":
        rows = pasted_rows(own) if own.strip() else rows_of(table)
        is_example = is_begun_with(rows, "")
        given = {"The page's example" if is_example else "": ranking_of(rows).ids()}
    elif source == "runs":
        qrels, runs = read_files(qrels_file, run_files)
        given = {name: {"predictions": run, "references": qrels} for name, run in runs.items()}
    else:
        given = {"": batch_of(*batch) if source == "batch" else CARD_EXAMPLE}
    reported = f"{values.strip()}\n" if values.strip() else got.strip() or None
    return "".join(_explained(name, explanation_of(each, reported, options)) for name, each in given.items())


def explanation_of(given: Mapping[str, Any], got: Any, options: Mapping[str, Any]) -> Any:
    """Return the explanation of a reported score, which is never read from a file of the server.

    Args:
        given: the rankings.
        got: a score, several with their cutoffs, or the value of each query: a list, by id, or lines; None for nothing.
        options: the options of `compute`; those of a convention do not count as known.
    """
    if isinstance(got, str) and "\n" not in got and not ALLOWED.fullmatch(got):
        raise ValueError(f"got must be an nDCG, such as 0.5921, or several, such as 0.31@5,0.283@10; got {got[:40]!r}")
    known = {"log_base": options["log_base"], **({"judged_only": True} if options["judged_only"] else {})}
    if not (isinstance(got, str) and "@" in got) and not (
        isinstance(got, Mapping) and any(str(name).startswith("nDCG") for name in got)
    ):
        known["k"] = largest(options["k"])  # else the scores have cutoffs
    return ndcg.explain(**given, **known, got=got)


def _explained(name: str, explanation: Any) -> str:
    """Return an explanation as HTML."""
    numbers: dict[str, list[str]] = {}  # by the score as it is shown, the lowest first
    for number, convention in sorted((n, c) for c, n in explanation.scores.items() if n is not None):
        numbers.setdefault(f"{number:.4f}", []).append(convention)
    values = [float(each) for each in numbers] + ([] if explanation.got is None else [explanation.got])
    low, high = min(values), max(values)

    def place(value: float) -> str:
        return f"{100 * (value - low) / ((high - low) or 1):.4g}%"

    line = "" if explanation.got is None else f"<i style='left:{place(explanation.got)}'></i>"
    rows = []
    for text, names in numbers.items():
        yours = set(names) & set(explanation.matches)
        dot = f"<b{' class=yours' if yours else ''} style='left:{place(float(text))}'></b>"
        mark = "<strong>yours</strong>" if yours else ""
        cells = (escape(", ".join(names)), text, f"<span class='dots' aria-hidden='true'>{line}{dot}</span>", mark)
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    title = f"{name}: " if name else ""
    heads = "".join(f"<th scope='col'>{each}</th>" for each in ("conventions", explanation.measure, "", ""))
    ways = "".join(f"<li>{each}</li>" for each in _ways(explanation))
    unknown = explanation.got is not None and not explanation.matches
    parts = [
        f"<h3>{escape(title + _conclusion(explanation))}</h3>{f'<ul>{ways}</ul>' if ways else ''}",
        *map(note_html, explanation.notes),
        f"<p>See all {_slips_link('known slips')}, with rankings that show them.</p>" if unknown else "",
        f"<table class='owners'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
    ]
    if explanation.choices:
        one, other = explanation.between
        matter = [each for each in explanation.choices if abs(each.effect) >= SHOWS]
        lines = [[LABELS[each.name], _text(each.before), _text(each.after), each.effect] for each in matter]
        lines.append(["total", "", "", sum(each.effect for each in explanation.choices)])
        columns = ["choice", one, other, "effect"]
        parts.append(table_html(f"Why {other} differs from {one}", pd.DataFrame(lines, columns=columns)))
    if explanation.errors:
        parts.append(list_html("No score", [f"{who}: {why}" for who, why in explanation.errors.items()]))
    return "".join(parts)


def _conclusion(explanation: Any) -> str:
    """Return the result in a sentence."""
    if explanation.got is None:
        different = len({f"{each:.4f}" for each in explanation.scores.values() if each is not None})
        return f"The conventions make {different} different scores for this data. Enter the score you want to identify."
    reported = explanation.reported
    if explanation.percent and reported == f"{explanation.got:g}":
        reported = f"{100 * explanation.got:g} ({reported} as a percentage)"
    if explanation.matches:
        said = reported if reported.startswith("nDCG") else reported[0].upper() + reported[1:]
        return f"{said} {_be(explanation)} the {explanation.measure} of {_listed(explanation.matches)}."
    if explanation.combinations or explanation.slips:
        return f"No convention gives {reported}, but these do:"
    return f"No convention gives {reported}, and none of {explanation.tried:,} combinations of options does."


def _be(explanation: Any) -> str:
    return "are" if " and " in explanation.reported or explanation.reported.endswith("queries") else "is"


def _ways(explanation: Any) -> list[str]:
    """Return what gives the reported scores as items of a list, in HTML; or which queries differ from the nearest."""
    few = [each for each in explanation.combinations if len(each.changed) <= 1]
    slips = [f"{escape(convention)} with a slip: {_slips_link(slip)}" for slip, convention in explanation.slips]
    ways = [_way(each) for each in few] + slips + [_way(each) for each in explanation.combinations[len(few) :]]
    items = ways[:SHOWN_WAYS]
    if len(ways) > SHOWN_WAYS:
        items.append(f"and {len(ways) - SHOWN_WAYS:,} more")
    if explanation.combinations:
        by_chance = "" if math.isnan(explanation.by_chance) else f"; by chance, about {explanation.by_chance:.1f} would"
        items.append(f"{len(explanation.combinations):,} of {explanation.tried:,} combinations give it{by_chance}.")
    items += [f"Combinations with {escape(each)} have no score." for each in explanation.without_score]
    if explanation.nearest is not None:
        some = ", ".join(map(str, explanation.disagreeing[:SHOWN_WAYS]))
        more = ", …" if len(explanation.disagreeing) > SHOWN_WAYS else ""
        count = len(explanation.disagreeing)
        differ = "1 query differs" if count == 1 else f"{count:,} queries differ"
        items.append(escape(f"The nearest is {explanation.nearest}; {differ}: {some}{more}."))
        items += map(escape, explanation.in_common)
    return items


def _slips_link(text: str) -> str:
    """Return text as a link to the page of docs on slips, if the page runs in a Space."""
    address = file_address("docs/slips.md")
    return f"<a href='{address}' target='_blank'>{escape(text)}</a>" if address else escape(text)


def _way(combination: Any) -> str:
    return f"{escape(str(combination))} <code>{escape(combination.call)}</code>"


def _text(value: Any) -> str:
    """Return a choice in the words of the page."""
    return tables.empty_text(value) if isinstance(value, float) or value == "perfect_if_empty" else str(value)


def _listed(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
