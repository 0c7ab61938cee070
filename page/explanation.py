"""The tab that finds the conventions that give a score: the data under every convention, next to the reported score."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import gradio as gr
import pandas as pd

from .batch import batch_of
from .card import file_address
from .choices import SIDES, gains_by_label, in_words, largest, options_of
from .events import follow, show_errors
from .guide import is_begun_with
from .metric import ndcg, tables
from .paste import DECIMAL_COMMA, HOW, pasted_rows
from .ranking import ranking_of, rows_of
from .render import text_table
from .results import read_files

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
WITHOUT_DIGITS = re.compile(r"\s*([01])\.?\s*(@.*)?")
NO_SIGN = re.compile(r"\s*([2-9]|10|[1-9]\.\d+)\s*")  # above 1, but rather a DCG than a percentage
ALLOWED = re.compile(r"[-+\d.eE%@, ]+|nan")  # never the path of a file of the server
LONGEST = 200_000  # characters of values of queries


def explanation_tab(
    bar: list[Any], table: gr.Dataframe, files: list[gr.File], batch: list[gr.Textbox]
) -> tuple[gr.Radio, gr.Textbox]:
    """Lay out the tab, and return its fields of the data to explain and of the reported score."""
    with gr.Tab("Explain a score", id="explain") as tab:
        with gr.Row():
            choices = [(label, name) for name, label in SOURCES.items()]
            source = gr.Radio(
                choices,
                value="ranking",
                label="Data",
                scale=3,
                min_width=320,
                elem_id="explained-data",
            )
            got = gr.Textbox(
                "",
                label="The score I got, such as 0.5921 or 59.21; or several, such as 0.31@5,0.283@10",
                max_length=30,
                min_width=320,
                elem_id="got",
            )
        values = gr.Textbox(
            "",
            label="Or the value of each query: lines of its id and the value, as trec_eval -q prints, or values alone",
            lines=2,
            max_lines=8,
            max_length=LONGEST,
            elem_id="values",
        )
        own = gr.Textbox(
            "",
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
    events = [
        tab.select,
        *(each.change for each in (source, got, values, own)),
        *(each.change for each in bar),
    ]
    follow(events, explain_reported, inputs, shown, queue=True)
    return source, got


def explain_reported(source: str, *fields: Any) -> str:
    """Return the explanation of a score as HTML, or the error in it."""
    names = SIDES if source == "runs" else {}
    shown: str = show_errors(str, names)(explanation_html)(names, source, *fields)
    return shown


def explanation_html(
    names: Mapping[str, str],
    source: str,
    got: str,
    values: str,
    own: str,
    table: pd.DataFrame,
    *others: Any,
) -> str:
    """Return the explanation of a score as HTML, with these names of arguments in its sentences."""
    files, batch, bar = others[:2], others[2:6], others[6:]
    options = options_of(*bar)
    given: Mapping[str, Mapping[str, Any]]
    if source == "ranking":
        rows = pasted_rows(own) if own.strip() else rows_of(table)
        is_example = is_begun_with(rows, "")
        given = {"The page's example" if is_example else "": ranking_of(rows, options).ids()}
    elif source == "runs":
        qrels, runs = read_files(files[0], files[1], options)
        given = {name: {"predictions": run, "references": qrels} for name, run in runs.items()}
    else:
        given = {"": batch_of(*batch) if source == "batch" else CARD_EXAMPLE}
    if values.strip():
        reported: str | None = f"{values.strip()}\n"
    else:
        reported = score_of(got)
    explanations = {name: explanation_of(each, reported, options) for name, each in given.items()}
    if (
        reported
        and NO_SIGN.fullmatch(reported)
        and all(each.percent for each in explanations.values())
    ):
        raise ValueError(
            f"{reported} is above 1, the highest nDCG. If it is a percentage, write {reported}%."
        )
    return "".join(
        [
            *(_in_sentences(name, each, names) for name, each in explanations.items()),
            _table_of_conventions(explanations),
            *(
                _difference(name, each)
                for name, each in explanations.items()
                if each.between is not None
            ),
        ]
    )


def score_of(got: str) -> str | None:
    """Return the score, or scores, of the field; None if it is empty.

    Raises:
        ValueError: a comma is in place of a point, or a score has no digits after it, to which most conventions round.
    """
    if DECIMAL_COMMA.fullmatch(got.strip()):
        raise ValueError(
            f"Write {got.strip().replace(',', '.')}: a comma separates scores, as in 0.31@5,0.283@10."
        )
    for each in got.split(","):
        if found := WITHOUT_DIGITS.fullmatch(each):
            digits = f"write the digits that you have, such as 0.97 or {found[1]}.00"
            raise ValueError(f"Nearly every convention rounds to {found[1]}: {digits}.")
    return got.strip() or None


def explanation_of(given: Mapping[str, Any], got: Any, options: Mapping[str, Any]) -> Any:
    """Return the explanation of a reported score, which is never read from a file of the server."""
    if isinstance(got, str) and "\n" not in got and not ALLOWED.fullmatch(got):
        raise tables.InputError(
            f"{tables.mark('got')} must be an nDCG, such as 0.5921, or several, such as 0.31@5,0.283@10; got "
            f"{got[:40]!r}"
        )
    usual = {
        "log_base": None,
        "duplicates": "raise",
        "judged_only": False,
        "score_order": "descending",
    }
    known = {
        name: options[name] for name, value in usual.items() if options.get(name, value) != value
    }
    known |= {"gain": options["gain"]} if gains_by_label(options) else {}
    names = got if isinstance(got, Mapping) else ()
    has_cutoffs = (isinstance(got, str) and "@" in got) or any(
        tables.NDCG.fullmatch(name) for name in names
    )
    if not has_cutoffs:
        known["k"] = largest(options["k"])
    return ndcg.explain(**given, **known, got=got)


def _in_sentences(name: str, explanation: Any, names: Mapping[str, str]) -> str:
    """Return as HTML what a reported score tells; without one, the question."""
    remarks = explanation.remarks() if explanation.got is not None else [_question(explanation)]
    title, *remarks = (in_words(each, names) for each in remarks)
    unknown = explanation.got is not None and not explanation.matches
    return "".join(
        [
            f"<h3>{escape(f'{name}: {title}' if name else title)}</h3>",
            f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in remarks)}</ul>"
            if remarks
            else "",
            f"<p>See all {_slips_link()}, with rankings that show them.</p>" if unknown else "",
        ]
    )


def _table_of_conventions(explanations: Mapping[str, Any]) -> str:
    """Return the scores of all runs under each convention as one table."""
    named = explanations if len(explanations) > 1 else {"": next(iter(explanations.values()))}
    measure = next(iter(explanations.values())).measure
    return text_table(f"{measure} under each convention", tables.table_of_conventions(named))


def _difference(name: str, explanation: Any) -> str:
    """Return why two conventions give a run different scores."""
    before, after = explanation.between
    of_run = f"{name}: w" if name else "W"
    return text_table(f"{of_run}hy {after} differs from {before}", explanation.tables()[-1])


def _question(explanation: Any) -> str:
    """Return what to do without a reported score."""
    different = len({f"{each:.4f}" for each in explanation.scores.values() if each is not None})
    return f"The conventions make {different} different scores for this data. Enter the score you want to identify."


def _slips_link() -> str:
    """Return a link to the page of docs on slips, if the page runs in a Space; else its words."""
    address = file_address("docs/slips.md")
    return f"<a href='{address}' target='_blank'>known slips</a>" if address else "known slips"
