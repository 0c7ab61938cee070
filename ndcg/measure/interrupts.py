"""Ctrl-C and other signals during calls of code that may raise, or catch, the same errors."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTS = {"SIGINT", "SIGTERM", "SIGALRM"} & {*dir(signal)}  # Windows has no alarm


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise at the end what the handler of a signal has raised, such as KeyboardInterrupt on Ctrl-C.

    It replaces any other outcome: the code that was interrupted may catch every error, or raise one of its own. NumPy,
    for example, raises an ImportError with advice on how to install it.
    """
    raised: list[BaseException] = []
    before: dict[int, tuple[Any, Any]] = {}

    def watched(handler: Callable[..., Any]) -> Callable[..., Any]:
        def watch(number: int, frame: Any) -> Any:
            try:
                return handler(number, frame)
            except BaseException as error:
                raised.append(error)
                raise

        return watch

    try:
        with suppress(ValueError):  # in another thread than the main one, which no signal reaches
            for number in map(signal.Signals.__getitem__, INTERRUPTS):
                if callable(handler := signal.getsignal(number)):
                    before[number] = watched(handler), handler
                    signal.signal(number, before[number][0])
        yield
    finally:
        for caught, (ours, handler) in before.items():
            if signal.getsignal(caught) is ours:
                signal.signal(caught, handler)
        if raised:
            raise raised[0]
