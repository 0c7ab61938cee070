"""How the processes of an evaluation hand their batches to process 0: by files in a shared folder.

1. A process draws a token. All but process 0 write theirs to a file, and wait for an answer that
   holds it.
2. Process 0 removes the tokens of earlier runs, waits for the tokens of all processes, and answers
   with its token and theirs. A process whose token was removed writes it again. So a process knows
   that the others run now.
3. All add batches. No process waits for another one.
4. A process writes its batches, with the token of process 0, to a temporary file. It hands them
   over by giving this file the name that process 0 waits for, in one step.
5. Process 0 reads the batches of all processes, scores them, and removes all files. The others may
   begin the next round once their batches are removed.

A token is drawn once. So process 0 never scores what a killed run has left, or a part of a file,
and no batches are scored by two evaluations that use the same files.
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
        """Return the tokens of the other processes, once all of them have begun."""
        self._remove("token")
        others = range(1, self.num_process)
        return tuple(self._await_begin(process, partial(self._text, process)) for process in others)

    def answer(self, tokens: tuple[str, ...]) -> None:
        """Answer with the tokens of process 0 and of the others, which may then add batches."""
        self._write_text(" ".join(tokens))

    def collect(self, tokens: tuple[str, ...]) -> list[list[pa.Table]]:
        """Return the tables of the other processes, once all have handed theirs over.

        The tokens are the ones that the answer holds.
        """
        collected = []
        for process in range(1, self.num_process):
            problem = f"process {process} has not called compute within {self.timeout} seconds"
            hint = "call compute again once it has, or run all processes again"
            problem = f"{problem} of process 0, or has died; {hint}"
            collected.append(self._await(partial(self._tables_of, process, tokens), problem))
        return collected

    def _tables_of(self, process: int, tokens: tuple[str, ...]) -> list[pa.Table] | None:
        """Return the tables of a process, or None if it has not handed them over."""
        if self._text(0) != " ".join(tokens):
            raise self._another()
        path = self._path(process, "arrow")
        try:
            return read_tables(path, tokens[0])
        except (OSError, pa.ArrowException) as error:
            raise ValueError(
                f"the file of process {process} cannot be read: {path}: {error}; run all processes "
                "again"
            ) from None

    def finish(self) -> None:
        """Let the next round begin."""
        self._remove("token")
        self._remove("arrow")

    def _remove(self, kind: str) -> None:
        """Remove files of all processes; one that waits for an answer writes its token again."""
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

    def meet_process_0(self, token: str) -> str:
        """Return the token of process 0, once it has answered with the token of this process."""
        self._write_text(token)

        def look() -> str | None:
            answer = self._text(0) or ""
            if token in answer:
                return answer.split()[0]
            written = self._text(self.process_id)
            if written is None:
                # Process 0 has removed it with what earlier runs have left.
                self._write_text(token)
            elif written != token:
                raise self._another()
            return None

        return self._await_begin(0, look)

    def prepare(self, token: str, tables: list[pa.Table]) -> None:
        """Write the tables of this process to a temporary file."""
        write_tables(self._path(self.process_id, "part"), token, tables)

    def is_prepared(self) -> bool:
        """Return whether there is a temporary file, which has not been handed over."""
        return self._path(self.process_id, "part").exists()

    def hand_over(self) -> None:
        """Give the temporary file the name that process 0 waits for."""
        self._rename_temporary("arrow")

    # In all

    def _await_begin(self, process: int, look: Callable[[], str | None]) -> str:
        """Wait until a process has begun, and return what it has written."""
        problem = f"not all of the {self.num_process} processes have begun"
        hint = f"each must add a batch or compute: process {process} has not, or has died"
        return self._await(look, f"{problem} within {self.timeout} seconds; {hint}")

    def _await(self, look: Callable[[], Awaited | None], problem: str) -> Awaited:
        """Look until there is something, and return it; raise an error after the timeout."""
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
        self._path(self.process_id, "part").write_text(text, encoding="ascii")
        self._rename_temporary("token")

    def _rename_temporary(self, kind: str) -> None:
        try:
            os.replace(self._path(self.process_id, "part"), self._path(self.process_id, kind))
        except FileNotFoundError:
            raise self._another() from None

    def _another(self) -> ValueError:
        problem = f"another process {self.process_id} uses the files {self.prefix}-*"
        return ValueError(f"{problem}; give every evaluation another experiment_id")

    def _path(self, process: int, kind: str) -> Path:
        return Path(f"{self.prefix}-{process}.{kind}")
