"""Format values, and the errors of other libraries, for error messages."""

import difflib
import json
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np


class ShortRepr(reprlib.Repr):
    """Show values in short, and numbers of NumPy as Python's: 0.5 for np.float64(0.5)."""

    def repr_instance(self, x: Any, level: int) -> str:
        """Return a value of a type without a limit of its own, in short."""
        if isinstance(x, np.generic):
            value = x.item()
            if not isinstance(value, np.generic):  # Python has no long double
                return self.repr1(value, level)
        return super().repr_instance(x, level)


_BRIEF = ShortRepr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 102  # 100 characters in quotes


def shown(value: Any) -> str:
    """Return a value as error messages show it: on one line, and shortened if it is long.

    >>> shown("d1"), shown([*range(9)])
    ("'d1'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # Python refuses to print integers with too many digits
        if isinstance(value, int):
            text = f"an integer of {value.bit_length()} bits"
        else:
            text = type(value).__name__
    return " ".join(text.splitlines())


def brief(names: Iterable[str], separator: str) -> str:
    """Join names, as many as a message has room for."""
    names = list(names)
    if len(names) > 9:
        names = [*names[:9], "…"]
    return separator.join(names)


# How an entry point writes a mark: a function of its text in Python, its name, and the values.
Words = Callable[..., str]
_MARK = re.compile("\x0e(.*?)\x1f(.*?)\x1f(.*?)\x1f(.*?)\x0f", re.DOTALL)
_VALUES = json.JSONEncoder(default=shown)  # made once; `json.dumps` would make one for every mark


def mark(name: str, *values: Any, said: str = "", before: str = "", after: str = "") -> str:
    """Mark an option or an argument in a message, with the values that it may have there.

    An entry point writes marks in its words by `worded`; Python writes them as in a call, or as
    `said`. The text before and after goes with the mark, which is left out where an entry point has
    no words for it.
    """
    if _MARK.search(name):  # marked already
        return name
    if not said:
        # Words are in the quotes of the docs.
        texts = [f'"{value}"' if isinstance(value, str) else repr(value) for value in values]
        said = f"{name}={' or '.join(texts)}" if texts else name
    fields = ", ".join(map(_VALUES.encode, [name, *values]))  # text alone is encoded much faster
    return f"\x0e{before}\x1f{visible(said)}\x1f{after}\x1f[{fields}]\x0f"


def place_of_file(path: str) -> str:
    """Return the path of a file as a place; entry points may write it otherwise."""
    return mark("path", path, said=path)


def worded(message: Any, words: Words | None = None) -> str:
    """Return an error, a warning or a note with its marks as an entry point writes them.

    Without words, they are as in Python.

    >>> worded(f"{mark('k')} must be positive, or give {mark('ties', 'last')}")
    'k must be positive, or give ties="last"'
    """

    def write(match: re.Match[str]) -> str:
        before, text, after, fields = match.groups()
        if words is not None:
            text = words(text, *json.loads(fields))
        if not text:
            return ""
        return f"{before}{text}{after}"

    return _MARK.sub(write, marked(message))


def marked(message: Any) -> str:
    """Return the text of an error, a warning or a note with its marks."""
    return str(getattr(message, "marked", message))


def renamed(names: Mapping[str, str]) -> Words:
    """Return the words of Python with other names of arguments; one without a name is left out."""

    def write(said: str, name: str, *_: Any) -> str:
        if name not in names:
            return said
        if not names[name]:
            return ""
        return names[name] + said[len(name) :]

    return write


class Message(str):
    """A warning or a note in the words of Python, which other entry points word by its marks."""

    marked: str

    def __new__(cls, text: str) -> "Message":
        """Keep the text with its marks, beside the words of Python."""
        message = super().__new__(cls, worded(text))
        message.marked = marked(text)
        return message


class InputError(ValueError):
    """An error about an input: what is wrong, in which argument, and at which place in it.

    The places lead from the argument, or a file, to a query; with a position, the document there is
    meant.

    >>> print(InputError("the hit has no id", "references", "query 'q1'", position=3))
    references: query 'q1', position 3: the hit has no id
    """

    def __init__(
        self, problem: str, *places: str, position: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(worded(problem))
        self.problem, self.hint = problem, hint
        self.places, self.position = places, position

    @property
    def marked(self) -> str:
        """The message with its options marked."""
        places = list(map(mark, filter(None, self.places)))
        if self.position is not None:  # in the last place: "query 'q1', position 3"
            places[-1:] = [", ".join([*places[-1:], f"position {self.position}"])]
        problem = ": ".join(filter(None, [*places, self.problem]))
        return "; ".join(filter(None, [problem, self.hint]))

    @property
    def options(self) -> list[str]:
        """The names of the arguments and options in the message, in their order."""
        return [json.loads(match[4])[0] for match in _MARK.finditer(self.marked)]

    @property
    def argument(self) -> str:
        """The argument that the message names first."""
        return next(iter(self.options), "")

    def __str__(self) -> str:
        return worded(self)


def must_be(name: str, allowed: str, value: Any, hint: str = "") -> InputError:
    """Return the error for a value of an argument or an option that is not allowed.

    >>> print(must_be("k", "positive", -1))
    k must be positive; got -1
    """
    return InputError(f"{mark(name)} must be {allowed}; got {shown(value)}", hint=hint)


def within(error: ValueError, *places: str, instead_of: str = "") -> InputError:
    """Return an error with the places around it, or with the first one instead of another."""
    if not isinstance(error, InputError):
        error = InputError(str(error))
    kept = [place for place in error.places if place != instead_of]
    error.places = (*places, *kept)
    return error


@contextmanager
def in_place(*places: str, instead_of: str = "") -> Iterator[None]:
    """Name the places around an error, as `within` does."""
    try:
        yield
    except ValueError as error:
        raise within(error, *places, instead_of=instead_of) from None


def visible(text: str) -> str:
    """Return text with nonprinting characters escaped: no id can move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that resembles a wrong one, or alone begins with it; else nothing.

    >>> nearest("Measure", ["measures", "k"]), nearest("exp", ["linear", "exponential"])
    ('measures', 'exponential')
    """
    by_lower_case = {known_name.lower(): known_name for known_name in known}
    wrong = name[:100].lower()
    similar = difflib.get_close_matches(wrong, by_lower_case, 1)
    if not similar and len(wrong) > 2:  # fewer letters begin a name by chance
        similar = [lower for lower in by_lower_case if lower.startswith(wrong)]
    if len(similar) != 1:
        return ""
    return by_lower_case[similar[0]]


def missing_library(feature: str, library: str, packages: str) -> ImportError:
    """Return the error for a missing library that a feature needs, with the packages to install.

    >>> missing_library("plot", "Matplotlib", "matplotlib")
    ImportError('plot needs Matplotlib: pip install matplotlib')
    """
    return ImportError(f"{feature} needs {library}: pip install {packages}")


def imported(module: str, feature: str, library: str, packages: str) -> Any:
    """Return a module of a library that a feature needs; the error says what to install."""
    try:
        return import_module(module)
    except ImportError:
        raise missing_library(feature, library, packages) from None


def warn(problem: str) -> None:
    """Warn about rankings, and point at the line that called this package or evaluate."""
    packages = {__name__.partition(".")[0], "evaluate"}
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in packages:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(Message(problem), stacklevel=level)


def in_short(error: BaseException) -> str:
    """Return the message of a library's error, on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200].rstrip(".")


def raise_unless_of_values(error: BaseException) -> None:
    """Re-raise an error unless it concerns values."""
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, Exception):
        return
    # A panic in a Rust library, such as Polars, is no Exception.
    if type(error).__name__ == "PanicException":
        return
    raise error
