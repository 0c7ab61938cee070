"""How the processes of an evaluation hand their batches to process 0: by files in a shared folder.

1. Each other process draws a token, writes it to a file, and waits for an answer with this token.
2. Process 0 removes the tokens of earlier runs, waits for that of each process, and answers with
   all of them. A process whose token was removed writes it again. So each knows that the other
   runs now.
3. All add batches. No process waits for another one.
4. A process writes its batches, with its token, to a temporary file. It hands them over by giving
   this file the name that process 0 waits for, in one step.
5. Process 0 reads the batches of all processes, scores them, and removes all files. The others may
   begin the next round once their batches are removed.

A token is drawn once. So process 0 never scores what a killed run has left, or a part of a file.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from .batch_file import read_tables, write_tables

Awaited = TypeVar("Awaited")

LOOK_AGAIN = 0.02  # seconds between two looks for a file of another process


class Exchange:
    """The files of an evaluation, as one of its processes sees them during one call."""

    def __init__(
        self, folder: str, experiment_id: str, num_process: int, process_id: int, timeout: float
    ) -> None:
        self.prefix = os.path.join(folder, f"{experiment_id}-{num_process}")
        self.num_process = num_process
        self.process_id = process_id
        self.timeout = timeout
        self.deadline = time.monotonic() + timeout

    # In process 0

    def meet_others(self) -> tuple[str, ...]:
        """Return the token of each other process, once all of them have begun."""
        self._remove("token")
        others = range(1, self.num_process)
        return tuple(self._await_begin(process, partial(self._text, process)) for process in others)

    def answer(self, tokens: tuple[str, ...]) -> None:
        """Let the processes that drew these tokens add batches."""
        self._write_text("\n".join(tokens))

    def collect(self, tokens: tuple[str, ...]) -> list[list[pa.Table]]:
        """Return the tables of each other process, once all of them have handed theirs over."""
        collected = []
        for process, token in enumerate(tokens, 1):
            problem = f"process {process} has not called compute within {self.timeout} seconds"
            hint = "call compute again once it has, or run all processes again"
            problem = f"{problem} of process 0, or has died; {hint}"
            collected.append(self._await(partial(self._tables_of, process, token), problem))
        return collected

    def _tables_of(self, process: int, token: str) -> list[pa.Table] | None:
        """Return the tables of a process, or None if it has not handed them over."""
        path = self._path(process, "arrow")
        try:
            return read_tables(path, token)
        except (OSError, pa.ArrowException) as error:
            problem = f"the file of process {process} cannot be read: {path}: {error}"
            raise ValueError(f"{problem}; run all processes again") from None

    def finish(self) -> None:
        """Let the next round begin."""
        self._remove("token")
        self._remove("arrow")

    def _remove(self, kind: str) -> None:
        """Remove files of all processes; those that wait for an answer write their tokens again."""
        for process in range(self.num_process):
            self._path(process, kind).unlink(missing_ok=True)

    # In the other processes

    def await_scored(self) -> None:
        """Wait until process 0 has scored what this process handed over in the last round."""
        path = self._path(self.process_id, "arrow")
        problem = f"process 0 has not scored the last round within {self.timeout} seconds"
        problem = f"{problem}: {path} is still there"
        hint = "compute in all processes, or reload the metric in all of them"
        self._await(lambda: None if path.exists() else path, f"{problem}; {hint}")

    def meet_process_0(self, token: str) -> None:
        """Wait until process 0 has answered with the token of this process."""
        self._write_text(token)

        def look() -> str | None:
            answer = self._text(0) or ""
            if token in answer.split():
                return answer
            written = self._text(self.process_id)
            if written is None:
                # Process 0 has removed it with what earlier runs have left.
                self._write_text(token)
            elif written != token:
                problem = f"another process {self.process_id} uses the files {self.prefix}-*"
                raise ValueError(f"{problem}; give each evaluation an experiment_id of its own")
            return None

        self._await_begin(0, look)

    def prepare(self, token: str, tables: list[pa.Table]) -> None:
        """Write the tables of this process to a temporary file."""
        write_tables(self._path(self.process_id, "part"), token, tables)

    def is_prepared(self) -> bool:
        """Return whether there is a temporary file, which has not been handed over."""
        return self._path(self.process_id, "part").exists()

    def hand_over(self) -> None:
        """Give the temporary file the name that process 0 waits for."""
        os.replace(self._path(self.process_id, "part"), self._path(self.process_id, "arrow"))

    # In all

    def _await_begin(self, process: int, look: Callable[[], str | None]) -> str:
        """Wait until a process has begun, and return what it has written."""
        problem = f"not all of the {self.num_process} processes have begun"
        hint = f"each must add a batch or compute: process {process} has not, or has died"
        return self._await(look, f"{problem} within {self.timeout} seconds; {hint}")

    def _await(self, look: Callable[[], Awaited | None], problem: str) -> Awaited:
        """Look until there is something, and return it; after the timeout, raise an error."""
        while (awaited := look()) is None:
            if time.monotonic() > self.deadline:
                raise ValueError(problem)
            time.sleep(LOOK_AGAIN)
        return awaited

    def _text(self, process: int) -> str | None:
        """Return the token of a process, or the answer of process 0; None before it is written."""
        try:
            return self._path(process, "token").read_text(encoding="ascii")
        except FileNotFoundError:
            return None

    def _write_text(self, text: str) -> None:
        """Write the token of this process, or the answer of process 0, which appears whole."""
        temporary = self._path(self.process_id, "part")
        temporary.write_text(text, encoding="ascii")
        os.replace(temporary, self._path(self.process_id, "token"))

    def _path(self, process: int, kind: str) -> Path:
        return Path(f"{self.prefix}-{process}.{kind}")
