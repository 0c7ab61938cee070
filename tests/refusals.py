"""Rows of the table of errors: a call that is refused or warned about, and what is named then."""

import contextlib
import io
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ndcg.shell import command_line

# a query, a line or another part of an input, or a file, before what is wrong there
PLACE = re.compile(
    r"((?:query|line|row|record|position|the column) [\d'\"(Nb](?:(?!: ).)*|[\w./-]+\.\w+): "
)


LONGEST = 1200  # characters of a sentence that lists the fields of both sides


class File(NamedTuple):
    """A file as the value of an argument: it is written before the call, which gets its name."""

    name: str
    content: str | bytes


class Made(NamedTuple):
    """The value of an argument that is made for each call: it needs a library or is read once."""

    make: Callable[[], Any]


class Row(NamedTuple):
    """A call, and the argument and the places in it that its error or its warning names."""

    method: Callable[..., Any]
    argument: str
    places: tuple[str, ...]
    inputs: Mapping[str, Any]
    is_warning: bool = False
    ending: str = ""  # what stands before the words of another library, which may change
    is_of_scoring: bool = False  # whether the inputs may be added to a batch

    def quoting(self, ending: str) -> "Row":
        """Return the row of a sentence in which the words of another library follow."""
        return self._replace(ending=ending)

    def when_scored(self) -> "Row":
        """Return the row of inputs that only the options of scoring do not allow."""
        return self._replace(is_of_scoring=True)


def refused(method: Callable[..., Any], argument: str, *places: str, **inputs: Any) -> Row:
    """Return the row of a call that ends in an error."""
    return Row(method, argument, places, inputs)


def warned(method: Callable[..., Any], argument: str, *places: str, **inputs: Any) -> Row:
    """Return the row of a call that ends in a warning and a result."""
    return Row(method, argument, places, inputs, is_warning=True)


# Inputs


NO_QUERIES: dict[str, Any] = {"predictions": [], "references": []}
EVALUATED: dict[str, Any] = {"queries": {}, "corpus": {}, "relevant_docs": {}, "k": None}
# each method with options, and the arguments that it needs
METHODS: dict[str, dict[str, Any]] = {
    "compute": NO_QUERIES,
    "report": NO_QUERIES,
    "explain": {**NO_QUERIES, "got": 1},
    "compare": {"systems": {}, "references": {}},
    "compute_spark": {"df": None, "prediction": "p", "reference": "r"},
    "trainer_metrics": {},
    "sentence_transformers_evaluator": EVALUATED,
    "meter": {},
    "torchmetrics_metric": {},
    "scorer": {},
    "lightgbm_metric": {},
    "xgboost_metric": {},
    "signature": {},
}


class Unreadable:
    """An array of a library that cannot convert it."""

    def __repr__(self) -> str:
        return "Unreadable()"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("the device is lost")


class UnreadableCapsule:
    """An array whose memory another library holds."""

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("the capsule is lost")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


# The call


def given(value: Any) -> Any:
    """Return what a call gets: the name of a file, which is written, or what is made."""
    if isinstance(value, File):
        path = Path(value.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = value.content.encode() if isinstance(value.content, str) else value.content
        path.write_bytes(content)
        return value.name
    if isinstance(value, Made):
        return given(value.make())
    if type(value) is dict:
        return {key: given(item) for key, item in value.items()}
    if type(value) is list and any(isinstance(item, (File, Made)) for item in value):
        return [given(item) for item in value]
    return value


def said_by(row: Row, method: Callable[..., Any] | None = None) -> Any:
    """Return the error or the warning of a row, or of another method with its inputs."""
    call = row.method if method is None else method
    inputs = {name: given(value) for name, value in row.inputs.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            call(**inputs)
        except ModuleNotFoundError:
            raise  # a library that the row needs
        except (ValueError, TypeError, OSError, ImportError) as error:
            if row.is_warning:
                raise
            return error
    messages = [str(warning.message) for warning in caught if warning.category is UserWarning]
    assert row.is_warning, "nothing was refused"
    assert len(messages) == 1, messages
    return messages[0]


def named_by(said: Any, expected: str) -> tuple[str, ...]:
    """Return the argument and the places that an error or a warning names.

    An `InputError` has the argument that it names first. Other sentences, such as those of the
    shell, begin with the argument that is expected.
    """
    text = str(said)
    argument = getattr(said, "argument", "")
    if argument != expected and text.startswith(expected):
        argument = expected
    rest = text.removeprefix(f"{argument}: ")
    places = []
    while place := PLACE.match(rest):
        places.append(place[1])
        rest = rest[place.end() :]
    return (argument, *places)


def begins_with(said: Any, argument: str, places: tuple[str, ...]) -> bool:
    """Return whether an error or a warning names an argument, then places.

    A place is followed by a colon, or is the subject of the sentence: "query 'q' is missing".
    """
    if named_by(said, argument)[0] != argument:
        return False
    rest = str(said).removeprefix(f"{argument}: ")
    return re.match("".join(f"{re.escape(place)}:? " for place in places), rest) is not None


@contextlib.contextmanager
def refusal(argument: str, *places: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error that names an argument and the first places there, in whatever words."""
    with pytest.raises((ValueError, TypeError)) as caught:
        yield caught
    text = str(caught.value)
    assert begins_with(caught.value, argument, places), text
    assert len(text) < LONGEST


@contextlib.contextmanager
def warning(argument: str, *places: str) -> Iterator[None]:
    """Expect one warning that names an argument and the first places there, in whatever words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    (said,) = [str(warned.message) for warned in caught if warned.category is UserWarning]
    assert begins_with(said, argument, places), said


def sentence(said: Any, row: Row) -> str:
    """Return what a user reads, without the words of another library."""
    text = str(said)
    ours, ending, _ = text.partition(row.ending) if row.ending else (text, "", "")
    return f"{ours}{ending}…" if ending else text


# The command line


class ShellError(ValueError):
    """What a command says on standard error."""


def shell(command: str, **files: str | bytes) -> None:
    """Run a command beside files, and raise what it says; `run_txt` is the file run.txt.

    Raises:
        ShellError: what the command says, after its name, if its status is that of bad input.
    """
    for name, content in files.items():
        given(File(name.replace("_", "."), content))
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        try:
            status = command_line.main(shlex.split(command))
        except SystemExit as exit_:
            status = int(str(exit_.code))
    if status == 0:
        return
    name = " ".join(["ndcg", *shlex.split(command)[:1]])
    assert (status, printed.getvalue()) == (2, ""), (status, printed.getvalue(), said.getvalue())
    raise ShellError(said.getvalue().removesuffix("\n").removeprefix(f"{name}: "))
