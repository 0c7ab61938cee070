"""The tab that finds whose number it is: the same data by every convention, and the number that was got among them."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import gradio as gr
import pandas as pd

from .batch import batch_of
from .choices import LABELS, largest, options_of
from .events import follow, show_errors
from .found import read_files
from .metric import ndcg, tables
from .picture import SHOWS
from .ranking import ranking_of, rows_of
from .render import list_html, table_html

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
KNOWN = ("log_base", "judged_only")  # options that no convention sets
SHOWN_WAYS = 5


def whose_tab(
    bar: list[Any], table: gr.Dataframe, files: list[gr.File], batch: list[gr.Textbox]
) -> tuple[gr.Radio, gr.Textbox]:
    """Lay out the tab, which explains a number of the table of the first tab, of files, a batch or an example.

    Returns:
        What it explains, and the number that was got.
    """
    with gr.Tab("Whose number is it?", id="whose") as tab:
        with gr.Row():
            choices = [(label, name) for name, label in SOURCES.items()]
            source = gr.Radio(choices, value="ranking", label="Data", scale=3, min_width=320)
            got = gr.Textbox(
                label="The number I got, such as 0.5921 or 59.21", max_length=30, min_width=320, elem_id="got"
            )
        found = gr.HTML(elem_id="whose")
        with gr.Accordion("What each convention chooses", open=False):
            gr.Markdown(tables.convention_notes())
    inputs = [source, got, table, *files, *batch, *bar]
    events = [tab.select, source.change, got.change, *(each.change for each in bar)]
    follow(events, find_owner, inputs, found, queue=True)
    return source, got


@show_errors(1)
def find_owner(
    source: str, got: str, table: pd.DataFrame, qrels_file: str | None, run_files: list[str] | None, *others: Any
) -> str:
    """Return whose number it is, as HTML: in words, as dots, and which choices make the difference."""
    batch, bar = others[:4], others[4:]
    options = options_of(*bar)
    options = {"k": largest(options["k"])} | {name: options[name] for name in KNOWN}
    given: Mapping[str, Mapping[str, Any]]
    if source == "ranking":
        given = {"": ranking_of(rows_of(table)).ids()}
    elif source == "runs":
        qrels, runs = read_files(qrels_file, run_files)
        given = {name: {"predictions": run, "references": qrels} for name, run in runs.items()}
    else:
        given = {"": batch_of(*batch) if source == "batch" else CARD_EXAMPLE}
    number = got.strip() or None
    return "".join(_explained(name, ndcg.explain(**each, **options, got=number)) for name, each in given.items())


def _explained(name: str, found: Any) -> str:
    """Return an explanation as HTML."""
    numbers: dict[str, list[str]] = {}  # by the number as it is shown, the lowest first
    for number, convention in sorted((n, c) for c, n in found.numbers.items() if n is not None):
        numbers.setdefault(f"{number:.4f}", []).append(convention)
    values = [float(each) for each in numbers] + ([] if found.got is None else [found.got])
    low, high = min(values), max(values)

    def place(value: float) -> str:
        return f"{100 * (value - low) / ((high - low) or 1):.4g}%"

    line = "" if found.got is None else f"<i style='left:{place(found.got)}'></i>"
    rows = []
    for text, names in numbers.items():
        yours = set(names) & set(found.matches)
        dot = f"<b{' class=yours' if yours else ''} style='left:{place(float(text))}'></b>"
        mark = "<strong>yours</strong>" if yours else ""
        cells = (escape(", ".join(names)), text, f"<span class='dots' aria-hidden='true'>{line}{dot}</span>", mark)
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    title = f"{name}: " if name else ""
    heads = "".join(f"<th scope='col'>{each}</th>" for each in ("conventions", found.measure, "", ""))
    parts = [
        f"<h3>{escape(title + _conclusion(found))}</h3>",
        f"<table class='owners'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
    ]
    if found.choices:
        one, other = found.between
        matter = [each for each in found.choices if abs(each.adds) >= SHOWS]
        lines = [[LABELS[each.name], _text(each.before), _text(each.after), each.adds] for each in matter]
        lines.append(["together", "", "", sum(each.adds for each in found.choices)])
        columns = ["choice", one, other, "adds"]
        parts.append(table_html(f"Why {other} differs from {one}", pd.DataFrame(lines, columns=columns)))
    if found.refused:
        parts.append(list_html("No number", [f"{who}: {why}" for who, why in found.refused.items()]))
    return "".join(parts)


def _conclusion(found: Any) -> str:
    """Return whose number it is, in a sentence."""
    if found.got is None:
        different = len({f"{each:.4f}" for each in found.numbers.values() if each is not None})
        return f"The conventions make {different} different numbers of this. Give the one you got."
    if found.matches:
        return f"{found.got:g} is the {found.measure} of {_listed(found.matches)}."
    ways = [str(each) for each in found.combinations[:SHOWN_WAYS]]
    ways += [f"{convention} with a slip: {slip}" for slip, convention in found.slips[:SHOWN_WAYS]]
    also = f"; it is that of {_listed(ways, 'or')}" if ways else ", nor has any combination of options"
    chance = ""
    if found.combinations:
        count = f"{len(found.combinations):,} of {found.tried:,} combinations have it"
        chance = f" {count}; by chance, about {found.by_chance:.1f} would."
    return f"No convention has {found.reported}{also}.{chance}"


def _text(value: Any) -> str:
    """Return a choice in the words of the page."""
    return tables.empty_text(value) if isinstance(value, float) or value == "rightly_empty" else str(value)


def _listed(names: Sequence[str], last: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
