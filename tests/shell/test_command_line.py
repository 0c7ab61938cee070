"""As a process: its exit status, streams, signals and imports."""

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TextIO

import pytest
from markdown_pages import DOCS, FENCE, text
from shells import MAIN, Call, Shell, write
from shells import call as call
from shells import environment as environment
from shells import folder as folder
from shells import shell as shell

from ndcg.shell import commands
from ndcg.shell.output import Listing

GATE = "gate qrels.txt main.txt worse.txt"


@contextmanager
def no_reader() -> Iterator[TextIO]:
    """A stream without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    with suppress(BrokenPipeError), open(writer, "w") as stream:
        yield stream


@contextmanager
def full_disk() -> Iterator[TextIO]:
    with suppress(OSError), open("/dev/full", "w") as stream:
        yield stream


STREAMS: dict[str, tuple[str, Callable[[], AbstractContextManager[TextIO | None]]]] = {
    "| true": ("stdout", no_reader),
    ">&-": ("stdout", nullcontext),
    "2>&-": ("stderr", nullcontext),
    "2> /dev/full": ("stderr", full_disk),
}


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (GATE, 1),
        (f"{GATE} -o junit", 1),
        ("gate qrels.txt main.txt main2.txt", 0),
        ("score qrels.txt none.txt", 2),
    ],
)
@pytest.mark.parametrize("output", STREAMS)
def test_the_status_does_not_depend_on_where_the_output_goes(
    call: Call, monkeypatch: pytest.MonkeyPatch, command: str, status: int, output: str
) -> None:
    write(main2=MAIN)
    name, stream = STREAMS[output]
    with stream() as opened:
        monkeypatch.setattr(sys, name, opened)
        found, _, said = call(command)
        if opened is None:
            getattr(sys, name).close()  # the one that took its place
    assert found == status
    assert "Traceback" not in said


def test_output_that_a_full_disk_cannot_hold_is_an_error(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_disk() as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert call(GATE) == (2, "", "ndcg gate: the output: No space left on device\n")


def test_the_status_is_that_of_the_process_whose_reader_stops_early_or_is_closed(
    shell: Shell,
) -> None:
    found = shell(
        f"ndcg {GATE} | head -1; echo ${{PIPESTATUS[0]}}; ndcg --help | head -1; ndcg {GATE} >&-; "
        "echo $?"
    )
    measure, piped, usage, closed = found.stdout.splitlines()
    assert (measure.split()[0], piped, usage.split()[0], closed) == ("measure", "1", "usage:", "1")
    assert found.stderr == ""


def test_no_error_has_control_characters(call: Call) -> None:
    assert (
        call("score 'a\x1b[31m.txt' main.txt")[2]
        == "ndcg score: a\\x1b[31m.txt: No such file or directory\n"
    )
    assert "\x1b" not in call("score qrels.txt main.txt 'a\x1b[31m' --b\x1bad")[2]


@pytest.mark.parametrize("kind", [RecursionError, TypeError, KeyError])
def test_an_unexpected_error_is_called_a_bug_and_no_regression(
    call: Call, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def fail(_: argparse.Namespace) -> None:
        raise kind("so it is")

    monkeypatch.setattr(commands, "answer", fail)
    status, printed, said = call(GATE)
    assert (status, printed) == (2, "")
    assert said.startswith("Traceback")
    report = "this is a bug, please report it with the lines above"
    assert re.search(rf"\nndcg: {kind.__name__}: '?so it is'?; {report}\n$", said)


def test_too_little_memory_is_no_bug(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: argparse.Namespace) -> None:
        raise MemoryError

    monkeypatch.setattr(commands, "answer", fail)
    assert call(GATE) == (2, "", "ndcg gate: not enough memory\n")


@pytest.fixture(autouse=True, scope="module")
def interrupts() -> Iterator[None]:
    """Let interrupts come, here and in new processes, even if the tests' shell ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# an interrupt during an import, of which some modules make another error
INTERRUPTED = """
import os, signal, sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from ndcg.shell.command_line import _WithoutPandas, main

class Interrupted(MetaPathFinder):
    def __init__(self, module, error):
        self.module, self.error = module, error

    def find_spec(self, name, *_):
        if name == self.module:
            sys.meta_path.remove(self)
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if self.error is not None:
                    raise self.error from None  # as modules of C do

sys.meta_path.insert(0, _WithoutPandas())  # as in a process of its own
for module, error, before in (
    ("numpy", ImportError("advice"), []),
    ("numpy", None, []),
    ("pyarrow.compute", SyntaxError("no unicodedata"), ["numpy", "pyarrow"]),
    ("scipy.special", ValueError(), ["pyarrow.compute"]),
):
    for name in before:
        import_module(name)
    assert module not in sys.modules
    if not (child := os.fork()):
        sys.meta_path.insert(0, Interrupted(module, error))
        sys.exit(main(["gate", "qrels.txt", "main.txt", "worse.txt"]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_an_interrupt_has_status_130_whatever_a_library_makes_of_it(
    environment: dict[str, str], folder: Path
) -> None:
    # from 3.12 on, Python warns when it forks while threads run, as those that NumPy and pyarrow
    # start
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", INTERRUPTED]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr, process.stdout.split()) == (0, "", ["130"] * 4)


ANSWER = Listing([], [], "signature", [], {})


def test_an_interrupt_goes_to_the_handler_that_a_program_has(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "answer", lambda _: signal.raise_signal(signal.SIGINT) or ANSWER)
    came: list[int] = []
    default = signal.getsignal(signal.SIGINT)
    assert call("score qrels.txt main.txt")[0] == 130
    assert signal.getsignal(signal.SIGINT) is default
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        assert call("score qrels.txt main.txt")[:2] == (0, "signature\n")
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert call("score qrels.txt main.txt")[:2] == (0, "signature\n")
    finally:
        signal.signal(signal.SIGINT, default)
    assert came == [signal.SIGINT]


IMPORTS = """
import sys
from ndcg.__main__ import main
try:
    main(["--help"])
except SystemExit:
    pass
heavy = {"numpy", "pyarrow", "dataclasses"} & sys.modules.keys()
sys.argv = ["ndcg", "score", "qrels.txt", "main.txt", "-k", "10"]
assert main() == 0
for name in ("evaluate", "datasets", "pandas", "scipy.stats", "matplotlib", "tqdm", "rich"):
    if sys.modules.get(name):
        heavy.add(name)
print(sorted(heavy))
"""


def test_help_imports_neither_numpy_nor_pyarrow_and_a_score_nothing_heavy(
    environment: Any, folder: Path
) -> None:
    command = [sys.executable, "-c", IMPORTS]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines()[-1] == "[]"


CONSOLE = {
    page.stem: [block[2] for block in FENCE.finditer(text(page)) if block[1] == "console"]
    for page in DOCS
}


@pytest.mark.parametrize(
    "page", sorted({"command-line", *(page for page, blocks in CONSOLE.items() if blocks)})
)
def test_a_page_shows_what_its_commands_print(
    call: Call, shell: Shell, folder: Path, page: str
) -> None:
    """Each line's ndcg runs in this process, the rest of the line in bash with its output."""
    assert CONSOLE[page]
    for block in CONSOLE[page]:
        printed = ""
        for command in re.findall(r"^\$ (.*)", block, re.MULTILINE):
            status, output, errors = (
                call(found[1]) if (found := re.match(r"ndcg ([^|<>;]*)", command)) else (0, "", "")
            )
            (folder / "printed").write_text(output)
            answer = shell(f"ndcg() {{ cat printed; return {status}; }}\n{command}")
            printed += f"$ {command}\n{errors}{answer.stderr}{answer.stdout}"
        assert printed == block
