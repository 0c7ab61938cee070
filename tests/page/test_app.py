"""Handlers of fields in a tab that was never opened: Gradio sends the fields' initial values."""

import gc
import inspect
from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest

from page.choices import CALLED

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of the event loop that Gradio leaves open when a page is laid out
UPLOAD = "Upload the qrels and at least one run."


@pytest.fixture(scope="module")
def demo() -> gr.Blocks:
    from app import demo

    gc.collect()
    return demo


def begun_with(field: Any) -> Any:
    """The value that a handler gets for a field in a tab that was never opened."""
    value = field.value
    if isinstance(value, dict) and getattr(field, "data_model", None) is not None:
        value = field.data_model(**value)
    return field.preprocess(value)


def needs_a_tab(handler: Callable[..., Any], events: set[str]) -> bool:
    """Whether a handler answers only what is done in an open tab, such as choosing a cell, or the page's address."""
    kinds = [
        each.annotation for each in inspect.signature(handler, eval_str=True).parameters.values()
    ]
    done = any(
        isinstance(each, type) and issubclass(each, gr.EventData | gr.Request) for each in kinds
    )
    return done or events == {"upload"}


def test_every_handler_answers_the_fields_of_tabs_that_were_never_opened(demo: gr.Blocks) -> None:
    answered = []
    for each in demo.fns.values():
        events = {event for _, event in each.targets}
        if each.fn is None or each.api_visibility != "private" or needs_a_tab(each.fn, events):
            continue
        answer = each.fn(*map(begun_with, each.inputs))
        shown = [
            text
            for text in (answer if isinstance(answer, list | tuple) else [answer])
            if isinstance(text, str)
        ]
        wrong = [text for text in shown if "class='error'" in text and UPLOAD not in text]
        assert wrong == [], each.fn.__name__
        answered.append(each.fn.__name__)
    assert {
        "explain_reported",
        "score_batch",
        "show_results",
        "score_ranking",
        "take_texts",
    } <= set(answered)


def test_every_field_of_text_begins_with_text(demo: gr.Blocks) -> None:
    texts = [each for each in demo.blocks.values() if isinstance(each, gr.Textbox)]
    assert [each.label for each in texts if not isinstance(each.value, str)] == []


def test_messages_call_options_by_the_labels_of_their_fields(demo: gr.Blocks) -> None:
    labels = tuple(str(each.label) for each in demo.blocks.values() if getattr(each, "label", None))
    called = {each for each in CALLED.values() if each[:1].isupper()}
    assert [each for each in called if not any(label.startswith(each) for label in labels)] == []
