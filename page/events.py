"""How the page answers events, and the errors that it shows."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr

from .choices import in_words
from .render import error_html

Handler = Callable[..., Any]
QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "trigger_mode": "always_last",
    "api_visibility": "private",
    "queue": False,  # answers at once; slower events wait in the queue
}
EACH = {
    **QUIET,
    "trigger_mode": "multiple",
}  # for events that, if they waited, would be sent with the data of another
ALOUD: dict[str, Any] = {
    "queue": True
}  # Gradio pops up errors and remarks of events in its queue only
ASK = Path(__file__).with_name("events.js").read_text(encoding="utf-8")
LAST = """() => new Promise((resolve, reject) => {
  const waiting = window.waiting ??= {};
  waiting[FOLLOWER]?.();  // Gradio ends an event if its script rejects
  waiting[FOLLOWER] = reject;
  setTimeout(resolve, 0, []);
})"""
followers = count()


def follow(events: Sequence[Any], handler: Handler, inputs: Any, outputs: Any, **how: Any) -> None:
    """Answer any of these events by a handler; if several come at the same time, answer the last of them only.

    A convention, for example, changes seven fields at the same time. Gradio would call the handler for each field, and
    the answers could come in any order. The handler is put behind an event of its own: when Gradio has deferred one of
    several handlers of an event, it runs all of them again, and two such events would keep each other going.
    """
    last = LAST.replace("FOLLOWER", str(next(followers)))
    gr.on(events, None, js=last).then(handler, inputs, outputs, **{**QUIET, **how})


class MendableError(ValueError):
    """An error that a button mends, which offers an option: its name, its choice, and the text of the button."""

    def __init__(self, problem: str, offer: tuple[str, str, str]) -> None:
        super().__init__(problem)
        self.offer = offer


def show_errors(
    shown: Callable[[str], Any], names: Mapping[str, str] = {}
) -> Callable[[Handler], Handler]:
    """Make a handler show an error: in the first field of `shown`, its other fields cleared.

    The names are those of arguments in the tab.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def handle(*arguments: Any) -> Any:
            try:
                return handler(*arguments)
            except (ValueError, TypeError, OverflowError) as problem:
                return shown(error_html(in_words(problem, names), getattr(problem, "offer", None)))

        return handle

    return decorate


def raise_errors(handler: Handler) -> Handler:
    """Turn errors into the sentence that the page pops up, or that a program receives."""

    @wraps(handler)
    def handle(*arguments: Any) -> Any:
        try:
            return handler(*arguments)
        except (ValueError, TypeError) as problem:
            raise gr.Error(in_words(problem)[:500]) from None

    return handle
