"""The address of the page: it always names what is shown, so that a link, a reload and Back bring it back."""

import json
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from .choices import LONGEST_RANKING, parse_link, query_of
from .events import ASK, QUIET, follow, raise_errors
from .explanation import SOURCES
from .guide import STEPS, is_begun_with, rows_at
from .ranking import EMPTY, rows_of

JS = ASK + Path(__file__).with_name("address.js").read_text(encoding="utf-8")
LINK = "Link to this ranking and these choices"
TOO_LONG = "Link to these choices; the ranking is too long for a link"
LONG = "long"  # in place of a batch
SHORT = (
    f"(...texts) => texts.join('').length > {LONGEST_RANKING} ? '{LONG}' : JSON.stringify(texts)"
)


def keep_address(
    page: gr.Blocks,
    tabs: gr.Tabs,
    link: gr.Textbox,
    title: gr.HTML,
    fields: Sequence[Any],
    batch: Sequence[gr.Textbox],
) -> None:
    """Make the address follow the open tab and the fields, and make these follow the address; the link shows it."""
    by_name = {str(each.id): each for each in tabs.children if isinstance(each, gr.Tab)}
    names = list(by_name)
    backs = gr.Number(0, precision=0, visible="hidden")  # that are shown
    address = gr.HTML(
        {"query": "", "backs": 0},
        html_template="",
        js_on_load=JS,
        visible="hidden",
        elem_id="address",
    )
    opened = gr.Textbox(names[0], visible="hidden")
    usual = [each.value or "" for each in batch]
    short = gr.Textbox(
        json.dumps(usual), visible="hidden"
    )  # a long batch need not be sent with every change
    loaded = gr.Number(
        0, precision=0, visible="hidden"
    )  # 1 after the page has loaded the state in the address
    gr.on([each.change for each in batch], None, list(batch), short, js=SHORT, **QUIET)
    for name, each in by_name.items():
        each.select(None, None, opened, js=f"() => {name!r}", **QUIET)

    def load(request: gr.Request) -> list[Any]:
        """Return 1, for loaded, and the state in the address when the page opens."""
        parameters = dict(request.query_params)
        if not parameters:
            return [1, *[gr.skip()] * len(restored)]
        tab = (
            tab_at(parameters, names) if "tab" in parameters else [gr.skip()] * 2
        )  # one opened meanwhile stays open
        return [1, *tab, *fields_at(parameters, usual)]

    def go_back(event: gr.EventData) -> list[Any]:
        """Return the state in the address to which the browser went back, and how often it has gone back."""
        parameters = dict(urllib.parse.parse_qsl(str(event.query)[1:], keep_blank_values=True))
        return [*tab_at(parameters, names), *fields_at(parameters, usual), event.backs]

    @raise_errors
    def show(request: gr.Request, backs: int, tab: str, *fields: Any) -> list[Any]:
        """Return a link to the current state of the page, and its address."""
        query, whole = query_shown("" if tab == names[0] else tab, usual, *fields)
        referer = request.headers.get("referer", "").partition("?")[0]
        return [
            gr.Textbox(f"{referer}?{query}", label=LINK if whole else TOO_LONG),
            {"query": query, "backs": backs},
        ]

    restored = [tabs, opened, title, *fields, *batch]
    page.load(load, None, [loaded, *restored], **QUIET)
    address.back(go_back, None, [*restored, backs], **QUIET)
    # no other handler writes the address, since the answers of two could come in any order
    changed = [opened, *fields, short]
    follow([each.change for each in (loaded, *changed)], show, [backs, *changed], [link, address])


def query_shown(
    tab: str, usual: list[str], step: str, table: pd.DataFrame, convention: str, *fields: Any
) -> tuple[str, bool]:
    """Return the address, after its ?, of a tab and the fields of the page, and whether it has the whole ranking."""
    *bar, source, got, batch = fields
    rows = rows_of(table)
    query, whole = query_of(None if is_begun_with(rows, step) else rows, convention, *bar)
    query = (f"step={step}&" if step else "") + query + (f"&tab={tab}" if tab else "")
    others = {} if source == "ranking" else {"data": source}
    others |= {"got": got} if got else {}
    others |= {} if batch != LONG and json.loads(batch) == usual else {"batch": batch}
    return query + "".join(
        f"&{name}={urllib.parse.quote_plus(text)}" for name, text in others.items()
    ), whole


def tab_at(parameters: Mapping[str, str], names: Sequence[str]) -> list[Any]:
    """Return the tabs, with the tab of an address open, and its name."""
    tab = parameters["tab"] if parameters.get("tab") in names else names[0]
    return [gr.Tabs(selected=tab), tab]


def fields_at(parameters: Mapping[str, str], usual: list[str]) -> list[Any]:
    """Return the fields in an address, from the title of the ranking, which is empty, to the batch."""
    source = parameters.get("data", "")
    reported = [source if source in SOURCES else "ranking", parameters.get("got", "")[:30]]
    return ["", *shown_at(parameters), *reported, *batch_at(parameters.get("batch"), usual)]


def batch_at(text: str | None, usual: list[str]) -> list[Any]:
    """Return the fields of the batch in an address; a batch that was too long for it stays unchanged."""
    if text == LONG:
        return [gr.skip()] * len(usual)
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return usual
    fitting = (
        isinstance(found, list)
        and len(found) == len(usual)
        and all(isinstance(each, str) for each in found)
    )
    return found if fitting else usual


def shown_at(parameters: Mapping[str, str]) -> list[Any]:
    """Return the step, the table, the convention and the bar in an address."""
    step = parameters["step"] if parameters.get("step") in STEPS else ""
    rows, convention, bar, unread = parse_link(parameters, rows_at(step))
    label = f"Documents; {EMPTY}"
    if unread:
        faults = f"These parts of the link could not be read and have their defaults: {', '.join(unread)}."
        label = f"{faults} {EMPTY.capitalize()}"
    return [step, gr.Dataframe([list(row) for row in rows], label=label), convention, *bar]
