"""Handle Ctrl-C and other signals in code that may catch or replace the errors they raise."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

INTERRUPTS = {"SIGINT", "SIGTERM", "SIGALRM"} & {*dir(signal)}  # Windows has no alarm


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise, at the end of the block, the error that a signal handler raised in it.

    Such an error, as KeyboardInterrupt, takes precedence over every other outcome, because the
    interrupted code may catch it or raise another. NumPy, for example, raises an ImportError with
    advice on how to install it.
    """
    raised: list[BaseException] = []
    replaced: dict[int, tuple[Any, Any]] = {}

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
                handler = signal.getsignal(number)
                if callable(handler):
                    replaced[number] = watched(handler), handler
                    signal.signal(number, replaced[number][0])
        yield
    finally:
        for replaced_signal, (ours, handler) in replaced.items():
            if signal.getsignal(replaced_signal) is ours:  # the block may have set another
                signal.signal(replaced_signal, handler)
        if raised:
            raise raised[0]
