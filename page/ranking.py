"""The tab of one ranking: its picture, a table to edit, and every number of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr
import pandas as pd

from .choices import (
    CHOICES,
    DOCUMENTS,
    LABELS,
    MEND_NEGATIVE,
    MEND_PADDING,
    WORDS,
    Rows,
    cell_of,
    convention_of,
    gain_word,
    labels_of,
    largest,
    option_of,
    options_of,
    same_values,
    snippet,
    text_of,
)
from .contributions import Ranking, steps
from .events import EACH, QUIET, follow, raise_errors, show_errors
from .guide import FIRST_RANKING, QUERY, guide
from .metric import ndcg, tables
from .paste import pasted_rows, with_point
from .picture import JS, SHOWS, TEMPLATE, picture
from .render import csv_link, error_html, list_html, table_html

HEADERS = ["document", "relevance", "score"]
EXAMPLES: dict[str, Rows] = {
    f"Search: {QUERY}": FIRST_RANKING,
    "Perfect": [("d1", "3", "4"), ("d2", "2", "3"), ("d3", "1", "2"), ("d4", "0", "1")],
    "Reversed": [("d1", "0", "4"), ("d2", "1", "3"), ("d3", "2", "2"), ("d4", "3", "1")],
    "All tied": [("d1", "3", "1"), ("d2", "2", "1"), ("d3", "1", "1"), ("d4", "0", "1")],
    "No relevant documents": [("d1", "0", "3"), ("d2", "0", "2"), ("d3", "0", "1")],
    "Relevant documents not retrieved": [
        *((f"d{at + 1}", r, str(6 - at)) for at, r in enumerate("323012")),
        ("d7", "3", ""),
        ("d8", "2", ""),
    ],
}
STEPS_CAPTION = """What each document adds to DCG, up to the largest cutoff. Ideal: what the ideal ranking adds at
this rank; loss: how much less this ranking adds"""
ADD = """table => {
  const names = table.data.map(row => row[0]);
  let at = 1;
  while (names.includes(`d${at}`)) at++;
  return { ...table, data: [...table.data, [`d${at}`, "0", ""]] };
}"""
REMOVE = "(table, row) => ({ ...table, data: table.data.filter((_, at) => at + 1 !== row) })"
LARGEST = 1e100  # sums of more would not be finite
EMPTY = "relevance is empty if not judged, score if not retrieved"


class Shown(NamedTuple):
    """What the tab shows of a ranking, and the fields that show it."""

    picture: Any
    changes: Any = None  # what each option changes
    ranks: Any = None  # what each document adds
    file: Any = None
    signature: Any = None
    code: Any = None


def ranking_tab(
    convention: gr.Dropdown, bar: list[Any]
) -> tuple[gr.Dataframe, gr.HTML, gr.Textbox, gr.Textbox]:
    """Lay out the tab and return its table, its title, its guided step, and the field for the link to its state."""
    # a first visit shows this before any event
    first = score_ranking(table_of(FIRST_RANKING), 0, *(each.value for each in bar))
    with gr.Tab("One ranking", id="ranking"):
        table = _table()
        edits = gr.Number(0, precision=0, visible="hidden")  # of the picture, that the table has
        title = gr.HTML("", elem_id="ranking-title")
        step = guide(table, title)
        drawn = gr.HTML(
            first.picture,
            html_template=TEMPLATE,
            js_on_load=JS,
            apply_default_css=False,
            elem_id="picture",
        )
        with gr.Accordion("Edit as a table, paste, or take an example", open=False):
            _editor(table, title)
        with gr.Accordion("What each option changes here", open=False):
            changed = gr.HTML(first.changes, elem_id="what-changes")
        with gr.Accordion("Every number", open=False):
            ranks = gr.HTML(first.ranks, elem_id="steps")
            file = gr.HTML(first.file)
        with gr.Accordion("Use it in code, or link to it", open=False):
            with gr.Row():
                signature = gr.Textbox(
                    first.signature,
                    label="Signature",
                    buttons=["copy"],
                    min_width=300,
                    elem_id="signature",
                )
                link = gr.Textbox(
                    "", label="Link", buttons=["copy"], max_lines=3, min_width=300, elem_id="link"
                )
            code = gr.Textbox(
                first.code,
                label="The same in Python",
                lines=8,
                max_lines=20,
                buttons=["copy"],
                elem_id="code",
            )

    changes = [each.change for each in (table, *bar)]
    shown = Shown(drawn, changed, ranks, file, signature, code)
    follow(changes, score_ranking, [table, edits, *bar], [*shown])
    edit = drawn.edit(
        take_edit, [table, *bar], [table, edits, *shown], **QUIET
    )  # shown by the one answer
    edit.failure(None, js="() => refuseEdit()")
    drawn.k(
        take_value, None, bar[0], **QUIET
    )  # each waits for the answer before, so the last one counts
    drawn.gain(take_gain, bar, [bar[2], convention], **QUIET)
    return table, title, step, link


def _table() -> gr.Dataframe:
    """Return the table of documents, which is laid out below."""
    return gr.Dataframe(
        table_of(FIRST_RANKING),
        headers=HEADERS,
        datatype="str",
        column_count=(len(HEADERS), "fixed"),  # type: ignore[arg-type]  # which Gradio reads
        interactive=True,
        label=f"Documents; {EMPTY}",
        elem_id="table",
        render=False,
    )


def _editor(table: gr.Dataframe, title: gr.HTML) -> None:
    """Lay out the table, with the examples and the buttons that change it."""
    with gr.Row():
        example = gr.Dropdown(
            list(EXAMPLES), value=next(iter(EXAMPLES)), label="Examples", min_width=300
        )
        paste = gr.Textbox(
            "",
            label="Paste: 3 2 3 0 1 2; lines of document, relevance, score; or a query's lines of qrels or of a run",
            lines=2,
            max_length=50_000,
            min_width=300,
            elem_id="paste",
        )
    unread = gr.HTML(elem_id="unread")
    table.render()
    place = gr.Number(1, precision=0, minimum=1, label="Row, for Remove", elem_id="row")
    with gr.Row():
        add, remove = gr.Button("Add"), gr.Button("Remove")
    example.input(take_example, example, [table, title], **QUIET)
    paste.change(take_paste, paste, [unread, table, title], **QUIET)
    table.select(choose_row, None, place, **EACH)
    add.click(None, table, table, js=ADD)
    remove.click(None, [table, place], table, js=REMOVE)


def table_of(rows: Rows) -> pd.DataFrame:
    """Return rows of document, relevance and score as the table that is edited."""
    return pd.DataFrame([list(row) for row in rows], columns=HEADERS)


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return document, relevance and score of each row, by the headers of their columns."""
    headers = [text_of(each) for each in table.columns]
    if sorted(headers) != sorted(HEADERS):
        found = ", ".join(headers)[:100] or "none"
        raise ValueError(
            f"The table must have the columns {', '.join(HEADERS)}; it has {found}. Choose an example."
        )
    rows: list[list[Any]] = table.set_axis(headers, axis=1)[HEADERS].to_numpy().tolist()
    return rows


def table_with(rows: Rows, what: str) -> gr.Dataframe:
    """Return the table with these rows, and a description of them in its label."""
    return gr.Dataframe([list(row) for row in rows], label=f"{what}; {EMPTY}")


def take_example(name: str) -> tuple[gr.Dataframe, str]:
    """Return the table of an example, and no title."""
    return table_with(EXAMPLES[name], "Documents"), ""


def take_paste(text: str) -> tuple[str, Any, Any]:
    """Return the fault of a pasted text, the table of its ranking, and no title; without a ranking, no change."""
    try:
        table = table_with(pasted_rows(text), "Documents, as pasted") if text.strip() else None
    except ValueError as problem:
        return error_html(problem), gr.skip(), gr.skip()
    return ("", gr.skip(), gr.skip()) if table is None else ("", table, "")


def take_value(event: gr.EventData) -> str:
    """Return the value of a field next to the formula."""
    return str(event.value)


def take_gain(event: gr.EventData, *bar: Any) -> tuple[str, str]:
    """Return the gain that was chosen next to the formula, and the convention that has these settings."""
    return event.value, convention_of(event.value, *bar[3:])


def choose_row(event: gr.SelectData) -> int:
    """Return the row of the cell that was chosen."""
    return int(event.index[0]) + 1


@raise_errors
def take_edit(event: gr.EventData, table: pd.DataFrame, *bar: Any) -> list[Any]:
    """Return the table as the cards were edited, the number of the edit, and the tab's picture of that ranking."""
    options = options_of(*bar)
    ranking = ranking_of(rows_of(table), options)
    relevance = [
        event.grades.get(name, old)
        for name, old in zip(ranking.documents, ranking.relevance, strict=True)
    ]
    rows = reordered(
        ranking._replace(relevance=relevance), event.ranked, event.missed, options["score_order"]
    )
    return [rows, event.edits, *score_ranking(table_of(rows), event.edits, *bar)]


def reordered(
    ranking: Ranking, ranked: Sequence[str], missed: Sequence[str], score_order: str = "descending"
) -> list[list[Any]]:
    """Return the rows of a ranking in another order, as `Ranking.reordered` has it."""
    columns = ranking.reordered(ranked, missed, score_order)
    return [
        [each, cell_of(relevance), cell_of(score)]
        for each, relevance, score in zip(*columns, strict=True)
    ]


def ranking_of(rows: Rows, options: dict[str, Any]) -> Ranking:
    """Return the ranking of an edited table under some options; empty rows are skipped."""
    filled = [[text_of(cell) for cell in row] for row in rows]
    filled = [row for row in filled if any(row)]
    if not filled:
        raise ValueError("There is no document yet: fill in a row, or choose an example.")
    if len(filled) > DOCUMENTS:
        raise ValueError(
            f"{len(filled):,} documents; this tab accepts {DOCUMENTS}, the metric itself any number."
        )
    labels = labels_of(options)
    relevance = [_relevance(row[1], place, labels) for place, row in enumerate(filled, 1)]
    score = [_number(row[2], "score", place) for place, row in enumerate(filled, 1)]
    documents = [row[0] or f"document {place}" for place, row in enumerate(filled, 1)]
    ranking = Ranking(documents, relevance, score)
    if len(set(documents)) == len(documents):
        return ranking
    if options["duplicates"] == "best":
        return ranking.each_once(options)
    twice = next(each for each in documents if documents.count(each) > 1)
    raise ValueError(
        f"Document {twice!r} appears twice; give each document a name of its own, or set {LABELS['duplicates']} in the "
        f"options to {WORDS['duplicates', 'best']}."
    )


def _relevance(cell: str, row: int, labels: Any) -> float | str | None:
    """Return the relevance in a cell: a number, or one of the labels."""
    if labels is None or not cell:
        return _number(cell, "relevance", row)
    label: float | str = tables.label_of(cell)
    if label not in dict(labels.gains):
        raise ValueError(f"Row {row}: {cell[:40]!r} {labels.unknown(label)}.")
    return label


def _number(cell: str, name: str, row: int) -> float | None:
    if not cell:
        return None
    try:
        value = float(with_point(cell) if cell.isascii() and "_" not in cell else "")
    except ValueError:
        meaning = "was not judged; for labels, give their gains in the options"
        meaning = meaning if name == "relevance" else "was not retrieved"
        raise ValueError(
            f"Row {row}: {name} {cell[:40]!r} is not a number; leave it empty if it {meaning}."
        ) from None
    if not math.isfinite(value):
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} must be finite.")
    if abs(value) > LARGEST:
        raise ValueError(
            f"Row {row}: {name} {cell[:40]!r} is too large to be shown; the metric itself takes it."
        )
    return value


@show_errors(Shown)
def score_ranking(table: pd.DataFrame, edits: int, *bar: Any) -> Shown:
    """Return everything the tab shows of a ranking, which is drawn at the largest of the cutoffs."""
    options = options_of(*bar)
    ranking = ranking_of(rows_of(table), options)
    refuse_negative(ranking, options)
    result = scores_by_name(ranking, options)
    if any(math.isnan(value) for value in result.values()):
        raise ValueError(
            "No relevant document was judged, and such queries are excluded from the mean: there is no score."
        )
    drawn = {**options, "k": [largest(options["k"])]}
    name, value = next(iter(scores_by_name(ranking, drawn).items()))
    ranks = steps(ranking, drawn, drawn["k"][0])
    added = ["contribution", "ideal", "loss"]
    sums = pd.DataFrame(
        {"rank": ["sum"], **dict.fromkeys(["document", "relevance"], ""), **ranks[added].sum()}
    )
    return Shown(
        picture(ranking, ranks, {name: value, **result}, drawn, _tie_note(ranking, drawn), edits),
        what_changes(ranking, drawn, value),
        table_html(STEPS_CAPTION, pd.concat([ranks, sums])),
        csv_link(ranks, "ranking.csv"),
        ndcg.signature(**options),
        snippet(ranking.given(options), options),
    )


def scores_by_name(ranking: Ranking, options: dict[str, Any]) -> dict[str, float]:
    """Return the scores of a ranking by their names."""
    by_query = ndcg.compute(**ranking.given(options), **options, use_aggregator=False)
    return {name: value for name, (value,) in by_query.items()}


def refuse_negative(ranking: Ranking, options: Mapping[str, Any]) -> None:
    """Raise an error that names the row of a relevance that the options reject."""
    if options["negative_relevance"] != "raise" or labels_of(options) is not None:
        return
    negative = {
        row: relevance
        for row, relevance in enumerate(ranking.relevance, 1)
        if isinstance(relevance, (int, float)) and relevance < 0
    }
    if not negative:
        return
    row, relevance = next(iter(negative.items()))
    problem = f"Row {row} ({ranking.documents[row - 1]}): relevance −{-relevance:g} is negative."
    if tables.are_padding_labels([*negative.values()]):
        problem = f"{problem} {MEND_PADDING}"
    raise ValueError(f"{problem} {MEND_NEGATIVE}")


def what_changes(ranking: Ranking, options: dict[str, Any], value: float) -> str:
    """Return a sentence on each option: this score with its other values."""
    lines = []
    for name, choices in CHOICES.items():
        words = {each: WORDS.get((name, each), each) for each in choices}
        chosen = next((each for each in choices if same_values(option_of(name, each), options)), "")
        others = []
        for each in choices:
            try:
                (number,) = scores_by_name(ranking, {**options, **option_of(name, each)}).values()
            except ValueError:  # such as a full ideal without a cutoff
                number = math.nan
            if not abs(number - value) < SHOWS:
                others.append(
                    f"{words[each]} would make it {'no score' if math.isnan(number) else f'{number:.4f}'}"
                )
        chosen = words.get(chosen, gain_word(options))
        lines.append(
            f"{LABELS[name]} is {chosen}: {', '.join(others) or 'no other choice changes this score'}."
        )
    return list_html("What each option changes here, in this one ranking", lines)


def _tie_note(ranking: Ranking, options: dict[str, Any]) -> str:
    """Return the effect of the order of tied documents on the score, if it has any."""
    (score,) = ndcg.report(**ranking.given(options), **options).scores.values()
    ends = f"{score.worst:.4f} to {score.best:.4f}"
    return (
        f"Depending on the order of tied documents, the score could be anything from {ends}."
        if score.tied
        else ""
    )
