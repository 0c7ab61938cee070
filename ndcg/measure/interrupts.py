"""Handle Ctrl-C and other signals while running code that may catch or replace the errors they raise."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTS = {"SIGINT", "SIGTERM", "SIGALRM"} & {*dir(signal)}  # Windows has no alarm


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise, at the end of the block, the error that a signal handler raised in it, such as KeyboardInterrupt.

    It takes precedence over every other outcome, because the interrupted code may catch the error
    or raise another. NumPy, for example, raises an ImportError with advice on how to install it.
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
        with suppress(ValueError):  # signals only reach the main thread
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
