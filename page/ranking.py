"""The tab of one ranking: a table to edit, its score, and how each document adds to it."""

import math
from typing import Any

import gradio as gr
import pandas as pd

from .choices import DOCUMENTS, Rows, link_to, options_of, parse_link, snippet, text_of
from .events import QUIET, follow, raise_errors, show_errors
from .figures import Ranking, as_lines, curves, steps, whole_ranks
from .metric import ndcg
from .render import csv_link, score_card, table_html

HEADERS = ["document", "relevance", "score"]
EXAMPLES: dict[str, list[tuple[str, str, str]]] = {
    "Textbook: 3 2 3 0 1 2": [(f"d{at + 1}", r, str(6 - at)) for at, r in enumerate("323012")],
    "Perfect": [("d1", "3", "4"), ("d2", "2", "3"), ("d3", "1", "2"), ("d4", "0", "1")],
    "Reversed": [("d1", "0", "4"), ("d2", "1", "3"), ("d3", "2", "2"), ("d4", "3", "1")],
    "All tied": [("d1", "3", "1"), ("d2", "2", "1"), ("d3", "1", "1"), ("d4", "0", "1")],
    "Nothing relevant": [("d1", "0", "3"), ("d2", "0", "2"), ("d3", "0", "1")],
    "Relevant documents not retrieved": [
        *((f"d{at + 1}", r, str(6 - at)) for at, r in enumerate("323012")),
        ("d7", "3", ""),
        ("d8", "2", ""),
    ],
}
FIRST = next(iter(EXAMPLES))
STEPS_CAPTION = (
    "Each document's share, up to the first cutoff. Ideal: what the ideal ranking has at this rank; "
    "loss: how much less this one has"
)
LARGEST = 1e100  # sums of more would not be finite
LINES = {"this ranking": "#2563eb", "ideal": "#b45309"}  # told apart, and seen, on light and dark
LINK = "Link to this ranking and these choices"
EMPTY = "relevance is empty where not judged, score where not retrieved"


def ranking_tab(page: gr.Blocks, convention: Any, bar: list[Any]) -> gr.Dataframe:
    """Lay out the tab and return its table; a link that opens the page sets the convention and the bar, too."""
    # what a first visit shows is there before any event
    first = score_ranking(table_of(EXAMPLES[FIRST]), *(each.value for each in bar))
    with gr.Tab("One ranking", id="ranking"):
        with gr.Row():
            with gr.Column(scale=2, min_width=320):
                table = _editor()
            with gr.Column(scale=3, min_width=320):
                score = gr.HTML(first[0], elem_id="ranking-score")
                dcg_plot = gr.LinePlot(  # drawn on load: a score should not wait for plots
                    x="rank",
                    y="DCG",
                    color="ranking",
                    color_map=LINES,
                    title="Cumulative DCG against the ideal",
                    y_lim=[0, None],
                    height=240,
                )
                ndcg_plot = gr.LinePlot(x="k", y="nDCG", title="nDCG at every cutoff", y_lim=[0, 1], height=240)
        step_table = gr.HTML(first[3], elem_id="steps")
        cutoff_table = gr.HTML(first[4], elem_id="by-cutoff")
        with gr.Row():
            signature = gr.Textbox(first[5], label="Signature", buttons=["copy"], min_width=300, elem_id="signature")
            link = gr.Textbox(label=LINK, buttons=["copy"], max_lines=3, min_width=300, elem_id="link")
        code = gr.Textbox(first[6], label="The same in Python", lines=8, max_lines=20, buttons=["copy"], elem_id="code")
        file = gr.HTML(first[7])

    def restore(request: gr.Request) -> list[Any]:
        """Return what the address of the page asks for, if anything, the link to it, and the first plots."""
        parameters = dict(request.query_params)
        rows, convention, bar, unread = parse_link(parameters, EXAMPLES[FIRST])
        asked = [rows, convention, *bar] if parameters else [gr.skip()] * (2 + len(bar))
        if unread:
            problem = f"Not readable in the link, and left as usual: {', '.join(unread)}"
            asked[0] = gr.Dataframe([list(row) for row in rows], label=f"{problem}. {EMPTY.capitalize()}")
        return [*asked, show_link(request, table_of(rows), *bar), *first[1:3]]

    changes = [each.change for each in (table, *bar)]
    page.load(restore, None, [table, convention, *bar, link, dcg_plot, ndcg_plot], **QUIET)
    shown = [score, dcg_plot, ndcg_plot, step_table, cutoff_table, signature, code, file]
    follow(changes, score_ranking, [table, *bar], shown)
    follow(changes, show_link, [table, *bar], link)
    return table


def _editor() -> gr.Dataframe:
    """Lay out the table of documents, with the examples and the buttons that change it."""
    example = gr.Dropdown(list(EXAMPLES), value=FIRST, label="Examples")
    table = gr.Dataframe(
        table_of(EXAMPLES[FIRST]),
        headers=HEADERS,
        datatype="str",
        column_count=(len(HEADERS), "fixed"),  # type: ignore[arg-type]  # which Gradio reads
        interactive=True,
        label=f"Documents; {EMPTY}",
        elem_id="table",
    )
    place = gr.Number(1, precision=0, minimum=1, label="Row, for the buttons below", elem_id="row")
    with gr.Row():
        add, remove = gr.Button("Add"), gr.Button("Remove")
        up, down = gr.Button("Move up"), gr.Button("Move down")
    example.input(take_example, example, table, **QUIET)
    table.select(choose_row, None, place, **QUIET)
    add.click(add_row, table, table, **QUIET)
    remove.click(remove_row, [table, place], table, **QUIET)
    up.click(lambda table, row: move(table, row, -1), [table, place], [table, place], **QUIET)
    down.click(lambda table, row: move(table, row, 1), [table, place], [table, place], **QUIET)
    return table


def table_of(rows: Rows) -> pd.DataFrame:
    """Return rows of document, relevance and score as the table that is edited."""
    return pd.DataFrame([list(row) for row in rows], columns=HEADERS)


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """Return document, relevance and score of each row, by the headers of their columns.

    Raises:
        ValueError: The table has other columns.
    """
    headers = [text_of(each) for each in table.columns]
    if sorted(headers) != sorted(HEADERS):
        found = ", ".join(headers)[:100] or "none"
        raise ValueError(f"The table must have the columns {', '.join(HEADERS)}; it has {found}. Choose an example.")
    rows: list[list[Any]] = table.set_axis(headers, axis=1)[HEADERS].to_numpy().tolist()
    return rows


def table_with(rows: Rows, what: str) -> gr.Dataframe:
    """Return the table with these rows, and what they are in its label."""
    return gr.Dataframe([list(row) for row in rows], label=f"{what}; {EMPTY}")


def take_example(name: str) -> gr.Dataframe:
    """Return the table of an example."""
    return table_with(EXAMPLES[name], "Documents")


def choose_row(event: gr.SelectData) -> int:
    """Return the row of the cell that was chosen."""
    return int(event.index[0]) + 1


@raise_errors
def add_row(table: pd.DataFrame) -> list[list[Any]]:
    """Return the table with one more document."""
    rows = rows_of(table)
    names = {text_of(row[0]) for row in rows}
    name = next(f"d{at}" for at in range(1, len(rows) + 2) if f"d{at}" not in names)
    return [*rows, [name, "0", ""]]


@raise_errors
def remove_row(table: pd.DataFrame, row: float | None) -> list[list[Any]]:
    """Return the table without a document."""
    return [each for at, each in enumerate(rows_of(table), 1) if at != row]


@raise_errors
def move(table: pd.DataFrame, row: float | None, by: int) -> tuple[list[list[Any]], int]:
    """Return the table with a document one place up or down, trading scores with its neighbour, and its new row."""
    rows = rows_of(table)
    at = int(row or 0) - 1
    other = at + by
    if 0 <= at < len(rows) and 0 <= other < len(rows):
        rows[at], rows[other] = rows[other], rows[at]
        rows[at][2], rows[other][2] = rows[other][2], rows[at][2]
    return rows, max(1, min(len(rows), other + 1))


@raise_errors
def show_link(request: gr.Request, table: pd.DataFrame, *bar: Any) -> gr.Textbox:
    """Return the link to what is shown."""
    address, whole = link_to(request.headers.get("referer", ""), rows_of(table), *bar)
    return gr.Textbox(address, label=LINK if whole else "Link to these choices; the ranking is too long for a link")


def ranking_of(rows: Rows) -> Ranking:
    """Return the ranking of an edited table; empty rows are skipped."""
    filled = [[text_of(cell) for cell in row] for row in rows]
    filled = [row for row in filled if any(row)]
    if not filled:
        raise ValueError("There is no document yet: fill in a row, or choose an example.")
    if len(filled) > DOCUMENTS:
        raise ValueError(f"{len(filled):,} documents; this tab takes {DOCUMENTS}, the metric itself any number.")
    columns = [
        [_number(row[at], name, place) for place, row in enumerate(filled, 1)]
        for at, name in ((1, "relevance"), (2, "score"))
    ]
    documents = [row[0] or f"document {place}" for place, row in enumerate(filled, 1)]
    if len(set(documents)) < len(documents):
        twice = next(each for each in documents if documents.count(each) > 1)
        raise ValueError(f"Document {twice!r} is there twice; give each document a name of its own.")
    return Ranking(documents, *columns)


def _number(cell: str, name: str, row: int) -> float | None:
    if not cell:
        return None
    try:
        value = float(cell if cell.isascii() and "_" not in cell else "")
    except ValueError:
        meaning = "was not judged" if name == "relevance" else "was not retrieved"
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} is not a number; leave it empty if it {meaning}.") from None
    if not math.isfinite(value):
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} must be finite.")
    if abs(value) > LARGEST:
        raise ValueError(f"Row {row}: {name} {cell[:40]!r} is too large to be shown; the metric itself takes it.")
    return value


@show_errors(8)
def score_ranking(table: pd.DataFrame, *bar: Any) -> tuple[Any, ...]:
    """Return everything the tab shows of a ranking."""
    options = options_of(*bar)
    ranking = ranking_of(rows_of(table))
    given = ranking.given(options)
    by_query = ndcg.compute(**given, **options, use_aggregator=False)
    result = {name: value for name, (value,) in by_query.items()}
    if any(math.isnan(value) for value in result.values()):
        raise ValueError("Nothing relevant was judged, and such queries are left out of the mean: there is no score.")
    ranks = steps(ranking, options, options["k"][0])
    by_cutoff = curves(ranking, options)
    added = ["contribution", "ideal", "loss"]
    sums = pd.DataFrame({"rank": ["sum"], **dict.fromkeys(["document", "relevance"], ""), **ranks[added].sum()})
    ideal, lost = ranks["ideal"].sum(), ranks["loss"].sum()
    note = f"{_tie_note(ranking, options)} Of the ideal {ideal:.4f}, this ranking loses {lost:.4f}."
    if ideal <= 0:
        note = f"Nothing relevant was judged: this is the value chosen for such queries. {note}"
    return (
        score_card(result, note),
        whole_ranks(as_lines(by_cutoff)),
        whole_ranks(by_cutoff[["k", "nDCG"]]),
        table_html(STEPS_CAPTION, pd.concat([ranks, sums])),
        table_html("The curves in numbers", by_cutoff),
        ndcg.signature(**options),
        snippet(given, options),
        csv_link(ranks, "ranking.csv"),
    )


def _tie_note(ranking: Ranking, options: dict[str, Any]) -> str:
    """Return what the order of tied documents can do to the score at the first cutoff."""
    how = {**options, "k": options["k"][0], "use_aggregator": False}
    (name, worst), (_, best) = (
        next(iter(ndcg.compute(**ranking.inputs, **{**how, "ties": ties}).items())) for ties in ("worst", "best")
    )
    if worst != best:
        return f"Tied documents: by their order, {name} could be anything from {worst[0]:.4f} to {best[0]:.4f}."
    scores = [score for score in ranking.score if score is not None]
    if len(set(scores)) == len(scores):
        return "No documents are tied."
    return "The order of tied documents does not change this score."
