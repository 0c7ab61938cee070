"""Processes for tests: scripts that run in forks of a server that has already imported evaluate.

A new interpreter needs seconds to import evaluate, a fork next to none. For trainings, a second
server has imported PyTorch and transformers too. A server starts once, before any thread does.
Tests meet these processes at points that the scripts name instead of waiting for a time.
"""

import io
import json
import os
import resource
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

# evaluate does without transformers, which take twice as long to import as all else.
sys.modules["transformers"] = None  # type: ignore[assignment]
import evaluate  # noqa: E402

del sys.modules["transformers"]

CONTEXT = get_context("forkserver")
SERVER, TRAINING_SERVER = forkserver.ForkServer(), forkserver.ForkServer()
TRAINING = ["transformers.trainer", "torchmetrics"]  # modules that take seconds to import
FOREVER = 600  # seconds after which a process hangs, however busy the machine


class Fork:
    """A script in a process of its own, which may call `meet()` to wait for the test.

    Args:
        script: what it runs; what it prints is its output.
        names: what the script finds defined.
        server: the server that it is forked from.
    """

    def __init__(
        self, script: str, names: dict[str, Any], server: forkserver.ForkServer = SERVER
    ) -> None:
        self._connection, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_run, args=(script, names, theirs))
        # a context knows one server only
        with patch.object(forkserver, "connect_to_new_process", server.connect_to_new_process):
            self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def await_meeting(self) -> None:
        """Wait until the script is in its next `meet()`, where it stays."""
        self._receive("met")

    def release(self) -> None:
        """Let the script go on."""
        self._connection.send(None)

    def output(self) -> str:
        """Wait for the end, which must not be an error, and return what was printed."""
        printed = self._receive("printed")
        self.process.join(FOREVER)
        assert self.process.exitcode == 0
        return printed.strip()

    def await_death(self) -> int | None:
        """Wait until the process is dead; return its exit code, minus the signal that killed it."""
        self.process.join(FOREVER)
        return self.process.exitcode

    def kill(self) -> None:
        """End the process with SIGKILL."""
        self.process.kill()
        self.process.join()
        self._connection.close()

    def _receive(self, expected: str) -> str:
        assert self._connection.poll(FOREVER), "the process hangs"
        event, text = self._connection.recv()
        assert event == expected, text
        return str(text)


def in_a_fork(act: Callable[[], Any]) -> Any:
    """Return the result of a function in a child of this very process, or its error in words."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = act()
        except BaseException as error:  # noqa: BLE001 - the test sees it
            answer = f"{type(error).__name__}: {error}"
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def start_server(
    server: forkserver.ForkServer, path: list[Path], modules: Sequence[str] = ()
) -> None:
    """Start a server, with folders to import from first, and more modules that it imports."""
    found = os.pathsep.join(map(str, [*path, Path(__file__).parent]))
    with patch.dict(os.environ, PYTHONPATH=found):
        server.set_forkserver_preload([__name__, *modules])
        server.ensure_running()


def _run(script: str, names: dict[str, Any], connection: Connection) -> None:
    def meet() -> None:
        connection.send(("met", ""))
        connection.recv()

    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            exec(script, {**names, "meet": meet})
    except BaseException:
        connection.send(("raised", traceback.format_exc()))
        raise
    connection.send(("printed", printed.getvalue()))


def free_port() -> int:
    """Return a port of this machine at which processes may meet."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a disk that is full there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def nameless_files(folder: Path) -> list[int]:
    """Return the sizes of the files without a name in a folder that this process has open."""
    sizes = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            path, status = os.readlink(descriptor), os.stat(descriptor)
        except FileNotFoundError:  # the folder of descriptors itself
            continue
        if path.startswith(f"{folder}/") and status.st_nlink == 0:
            sizes.append(status.st_size)
    return sizes


def add_and_compute(metric: evaluate.Metric, inputs: dict[str, Any]) -> dict[str, float]:
    """The work of a pool's worker, which gets the metric as an argument."""
    metric.add_batch(**inputs)
    result: dict[str, float] = metric.compute()
    return result
