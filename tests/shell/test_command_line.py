"""As a process: its exit status, streams, signals and imports."""

import argparse
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TextIO

import pytest
from markdown_pages import DOCS, FENCE, text
from shells import MAIN, Call, Shell, trec
from shells import call as call
from shells import environment as environment
from shells import folder as folder
from shells import shell as shell

from ndcg.shell import commands
from ndcg.shell.output import Listing


@contextmanager
def no_reader() -> Iterator[TextIO]:
    """A stream without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    with suppress(BrokenPipeError), open(writer, "w") as stream:
        yield stream


def full_disk() -> TextIO:
    return open("/dev/full", "w")


STREAMS: dict[str, tuple[str, Callable[[], AbstractContextManager[TextIO | None]]]] = {
    "| true": ("stdout", no_reader),
    ">&-": ("stdout", nullcontext),
    "2>&-": ("stderr", nullcontext),
    "2> /dev/full": ("stderr", full_disk),
}


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("gate qrels.txt main.txt worse.txt", 1),
        ("gate qrels.txt main.txt worse.txt -o junit", 1),
        ("gate qrels.txt main.txt main2.txt", 0),
        ("gate qrels.txt main.txt main2.txt -o junit", 0),
        ("score qrels.txt none.txt", 2),
    ],
)
@pytest.mark.parametrize("output", STREAMS)
def test_the_status_does_not_depend_on_where_the_output_goes(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, status: int, output: str
) -> None:
    shutil.copy(folder / "main.txt", folder / "main2.txt")
    name, stream = STREAMS[output]
    with stream() as opened:
        monkeypatch.setattr(sys, name, opened)
        found, _, said = call(command)
        if opened is None:
            getattr(sys, name).close()  # the one that took its place
    assert found == status
    assert "Traceback" not in said


@pytest.mark.parametrize("output", ["| true", ">&-"])
def test_the_status_is_that_of_the_process(shell: Shell, output: str) -> None:
    found = shell(f"ndcg gate qrels.txt main.txt worse.txt {output}; echo status ${{PIPESTATUS[0]}}")
    assert found.stdout.splitlines()[-1] == "status 1"
    assert "Traceback" not in found.stderr


def test_a_reader_that_stops_early_is_no_error_but_a_full_disk_is(shell: Any) -> None:
    found = shell("ndcg score qrels.txt main.txt -q | head -1; echo ${PIPESTATUS[0]}; ndcg --help | head -1")
    assert found.stdout == "query    nDCG\n0\nusage: ndcg [-h] [--version] [--print-completion SHELL] COMMAND ...\n"
    assert found.stderr == ""
    found = shell("ndcg gate qrels.txt main.txt worse.txt > /dev/full")
    assert (found.returncode, found.stderr) == (2, "ndcg gate: the output: No space left on device\n")


def test_no_error_has_control_characters(call: Call) -> None:
    assert call("score 'a\x1b[31m.txt' main.txt")[2] == "ndcg score: a\\x1b[31m.txt: No such file or directory\n"
    assert "\x1b" not in call("score qrels.txt main.txt 'a\x1b[31m' --b\x1bad")[2]


@pytest.mark.parametrize("kind", [OverflowError, RecursionError, TypeError, KeyError, AssertionError, MemoryError])
@pytest.mark.parametrize("command", ["gate qrels.txt main.txt worse.txt", "score qrels.txt main.txt"])
def test_an_unexpected_error_is_called_a_bug_and_no_regression(
    call: Call, monkeypatch: pytest.MonkeyPatch, command: str, kind: type[Exception]
) -> None:
    def fail(_: argparse.Namespace) -> None:
        raise kind() if kind is MemoryError else kind("so it is")

    monkeypatch.setattr(commands, "answer", fail)
    status, printed, said = call(command)
    assert (status, printed) == (2, "")
    if kind is MemoryError:
        assert said == f"ndcg {command.split()[0]}: not enough memory\n"
    else:
        report = "this is a bug, please report it with the lines above"
        assert said.startswith("Traceback")
        assert re.search(rf"\nndcg: {kind.__name__}: '?so it is'?; {report}\n$", said)


@pytest.fixture(autouse=True, scope="module")
def interrupts() -> Iterator[None]:
    """Let interrupts come, here and in processes begun here, also if a shell that runs the tests ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_until_reading(process: subprocess.Popen[bytes], pipe: TextIO) -> None:
    """Wait until a process sleeps in reading an empty pipe: just before, an interrupt would not end its reading."""
    while array("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]:
        time.sleep(0.01)
    asleep = 0
    while asleep < 3:
        time.sleep(0.01)
        state = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0


def test_an_interrupt_ends_it_with_status_130(environment: dict[str, str], folder: Path) -> None:
    os.mkfifo(folder / "run")
    command = [sys.executable, "-m", "ndcg", "score", "qrels.txt", "run"]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe) as process,
        open(folder / "run", "w") as run,  # waits until the command opens it too
    ):
        run.write(trec(MAIN, "run")[:100])
        run.flush()
        wait_until_reading(process, run)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate()
    assert (process.returncode, printed, errors) == (130, b"", b"")


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
ERRORS = {
    "numpy": [ImportError("advice"), None],
    "pyarrow.compute": [SyntaxError("no unicodedata"), ValueError()],
    "scipy.special": [ImportError("advice"), ValueError()],
}
BEFORE = {"numpy": [], "pyarrow.compute": ["numpy", "pyarrow"], "scipy.special": ["pyarrow.compute"]}
for module, before in BEFORE.items():
    for name in before:
        import_module(name)
    assert module not in sys.modules
    for error in ERRORS[module]:
        if not (child := os.fork()):
            sys.meta_path.insert(0, Interrupted(module, error))
            sys.exit(main(["gate", "qrels.txt", "main.txt", "worse.txt"]))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(module, type(error).__name__, status, flush=True)
"""


def test_an_interrupt_stays_one_whatever_a_library_makes_of_it(environment: dict[str, str], folder: Path) -> None:
    # from 3.12 on, Python warns when it forks while threads run, as those that NumPy and pyarrow start
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", INTERRUPTED]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.splitlines() == [
        *("numpy ImportError 130", "numpy NoneType 130"),
        *("pyarrow.compute SyntaxError 130", "pyarrow.compute ValueError 130"),
        *("scipy.special ImportError 130", "scipy.special ValueError 130"),
    ]


ANSWER = Listing([], [], "signature", [], {})


def test_an_interrupt_goes_to_the_handler_that_a_program_has(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_help_imports_neither_numpy_nor_pyarrow_and_a_score_nothing_heavy(
    environment: dict[str, str], folder: Path
) -> None:
    script = """
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
    command = [sys.executable, "-c", "\n".join(line[8:] for line in script.splitlines())]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1] == "[]"


CONSOLE = {page.stem: [block[2] for block in FENCE.finditer(text(page)) if block[1] == "console"] for page in DOCS}


@pytest.mark.parametrize("page", sorted({"command-line", *(page for page, blocks in CONSOLE.items() if blocks)}))
def test_a_page_shows_what_its_commands_print(call: Call, shell: Shell, page: str) -> None:
    assert CONSOLE[page]
    for block in CONSOLE[page]:
        printed = ""
        for command in re.findall(r"^\$ (.*)", block, re.MULTILINE):
            if plain := re.fullmatch(r'ndcg ([^|<>;]*)(; echo "exit status \$\?")?', command):
                status, output, errors = call(plain[1])
                answer = errors + output + f"exit status {status}\n" * bool(plain[2])
            else:
                found = shell(command)
                answer = found.stderr + found.stdout
            printed += f"$ {command}\n{answer}"
        assert printed == block
