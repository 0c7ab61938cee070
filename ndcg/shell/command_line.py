"""The command line, run by `ndcg` and `python -m ndcg`: its streams, signals and exit status.

`commands.py` does the work. It is imported only when a command runs, so that `--help` is fast.
"""

import codecs
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from typing import Any

from ..measure.interrupts import interruptible
from .flags import ArgumentsError, parser

PLAIN = {"–": "-", "—": "-", "─": "-", "…": "..."}
BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses other than 0, and 1 for a regression


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 success, 1 regression, 2 bad input, 130 interrupted.

    A reader that stops early, such as `head`, does not change the status of a gate, nor does a
    closed output. A bug has the status of bad input, so that 1 always means a regression.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - as long as the process
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python would exit with status 1
        sys.excepthook(type(error), error, error.__traceback__)
        hint = "this is a bug, please report it with the lines above"
        _say(f"ndcg: {type(error).__name__}: {error}; {hint}")
        return BAD_INPUT
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                _flush(stream)


def _flush(stream: Any) -> None:
    """Write the buffer of a stream, or drop it if it cannot be written."""
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        # A reader that stopped early, such as head, has what it wants.
        if not isinstance(error, BrokenPipeError):
            raise


def _say(sentence: str) -> None:
    """Print a sentence on standard error, on one line, without characters that move the cursor."""
    from ..measure.messages import visible

    with suppress(OSError):
        print(visible(" ".join(sentence.split())), file=sys.stderr)


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; return its exit status, unless it prints help and exits."""
    try:
        args = parser().parse_args(arguments)
    except ArgumentsError as error:
        _say(str(error))
        return BAD_INPUT
    # A console may lack characters of the output, which must not end the command.
    codecs.register_error("plain", _plain_characters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    if arguments is None and args.command != "check":
        # This is a separate process, and no function of the user runs in it.
        sys.meta_path.insert(0, _WithoutPandas())
    try:
        with interruptible(), warnings.catch_warnings():
            from ..measure.messages import worded
            from .commands import answer, in_shell

            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda problem, *_: _say(
                f"ndcg {args.command}: {worded(problem.args[0], in_shell)}"
            )
            listing = answer(args)
            text = listing.text(args.output)
        with suppress(BrokenPipeError):
            print(text, end="\n" if text else "")  # without rows, print no line
        _flush(sys.stdout)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        problem = _sentence(error)
        _say(f"ndcg {args.command}: {problem}")
        if args.output == "junit":
            _report_error(problem)
        return BAD_INPUT
    return listing.status


def _sentence(error: Exception) -> str:
    """Return what an error says; an error of the system with the name of its file."""
    if isinstance(error, OSError) and error.strerror is not None:
        place = "the output" if error.filename is None else error.filename
        return f"{place}: {error.strerror}"
    return str(error) or "not enough memory"


def _plain_characters(error: Any) -> tuple[str, int]:
    """Replace characters that a console cannot show, such as a dash with a hyphen in cp850."""
    lacking = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, "?") for character in lacking), error.end


def _report_error(problem: str) -> None:
    """Print a JUnit report in which the gate has an error, so that a CI system shows it."""
    from ..show.junit import ERROR, Case, junit_of

    with suppress(OSError):
        print(junit_of([Case("ndcg gate", ERROR, problem)]))
        _flush(sys.stdout)


class _WithoutPandas(MetaPathFinder):
    """Keep pyarrow from importing pandas, which it does if it is installed; nothing here needs it.

    ``sys.modules["pandas"] = None`` does not: pyarrow is compiled by Cython, which takes None for
    the module.
    """

    def find_spec(self, name: str, *_: Any) -> None:
        """Block the import of pandas, and leave other modules to other finders."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
