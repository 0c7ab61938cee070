"""The table of errors, and the snapshot of what they say: `make messages` writes it anew.

A row says which argument an error names, and which query and document; the snapshot has the whole
sentence of each, so that changed words are read in one diff. `make messages ARGS=--spark` writes
the rows of Spark, too, which takes a minute to start.
"""

import os
import sys
import tempfile
from pathlib import Path

import of_fields
import of_files
import of_ids
import of_options
import of_reported
import of_saved
import of_shell
import of_spark
import of_values
from refusals import Row, said_by, sentence

SNAPSHOT = Path(__file__).with_name("messages.txt")
GROUPS: dict[str, dict[str, Row]] = {
    "options": of_options.ROWS,
    "values": of_values.ROWS,
    "ids": of_ids.ROWS,
    "fields": of_fields.ROWS,
    "files": of_files.ROWS,
    "reported": of_reported.ROWS,
    "saved": of_saved.ROWS,
    "shell": of_shell.ROWS,
    "spark": of_spark.ROWS,
}
ERRORS: dict[str, Row] = {
    f"{group}/{name}": row for group, rows in GROUPS.items() for name, row in rows.items()
}


def snapshot() -> dict[str, str]:
    """Return the sentence of each row, as they were when the snapshot was written."""
    lines = SNAPSHOT.read_text(encoding="utf-8").splitlines() if SNAPSHOT.exists() else []
    return dict(line.split(" | ", 1) for line in lines)  # type: ignore[misc]


def write_snapshot(with_spark: bool) -> None:
    """Write the sentence of each row.

    The sentence of a row whose library is not installed stays, and that of a row of Spark unless
    it is asked for or new.
    """
    before, said = snapshot(), {}
    for name, row in ERRORS.items():
        if name.startswith("spark/") and before.get(name) and not with_spark:
            said[name] = before[name]
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                said[name] = sentence(said_by(row), row)
            except ModuleNotFoundError as error:
                print(f"{name}: {error}; its sentence stays", file=sys.stderr)
                said[name] = before.get(name, "")
    SNAPSHOT.write_text(
        "".join(f"{name} | {text}\n" for name, text in said.items()), encoding="utf-8"
    )


if __name__ == "__main__":
    write_snapshot(with_spark="--spark" in sys.argv)
    if "conftest" in sys.modules:  # which starts Spark
        sys.modules["conftest"].pytest_sessionfinish()
