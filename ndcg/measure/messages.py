"""Format values, and the errors of other libraries, for error messages."""

import difflib
import re
import reprlib
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 102  # 100 characters in quotes


def shown(value: Any) -> str:
    """Return a value as error messages show it: on one line, and shortened if it is long.

    >>> shown("d1"), shown([*range(9)])
    ("'d1'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # Python refuses to print integers with too many digits
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return " ".join(text.splitlines())


def brief(names: Iterable[str], separator: str) -> str:
    """Join names, as many as a message has room for."""
    names = list(names)
    return separator.join(names[:9]) + (f"{separator}…" if len(names) > 9 else "")


def in_words_of(names: Mapping[str, str], problem: str, setting: str = "{}={}") -> str:
    """Return an error message with an entry point's names for arguments and options; `setting` is how it sets one.

    >>> in_words_of({"k": "-k", "ties": "--ties"}, 'k must be positive; ties="last" needs k', "{} {}")
    '-k must be positive; --ties last needs k'
    """
    known = rf"(?<![-\w])({'|'.join(map(re.escape, names))})"
    problem = re.sub(rf'{known}=("?)([\w.]+)\2', lambda found: setting.format(names[found[1]], found[3]), problem)
    return re.sub(rf"{known}(?=: (?:query|row) |\[| must | removes )", lambda found: names[found[1]], problem)


def visible(text: str) -> str:
    """Return text with nonprinting characters escaped, so that no id can move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that resembles a wrong one, or the only one that begins with it; else an empty string.

    >>> nearest("Measure", ["measures", "k"]), nearest("exp", ["linear", "exponential"])
    ('measures', 'exponential')
    """
    by_name = {each.lower(): each for each in known}
    wrong = name[:100].lower()
    longer = [each for each in by_name if len(wrong) > 2 and each.startswith(wrong)]
    near = difflib.get_close_matches(wrong, by_name, 1) or longer
    return by_name[near[0]] if len(near) == 1 else ""


def missing_library(feature: str, library: str, packages: str) -> ImportError:
    """Return the error for a missing library that a feature needs, with the packages to install.

    >>> missing_library("plot", "Matplotlib", "matplotlib")
    ImportError('plot needs Matplotlib: pip install matplotlib')
    """
    return ImportError(f"{feature} needs {library}: pip install {packages}")


def warn(problem: str) -> None:
    """Warn about rankings, and point at the line that called this package, directly or through evaluate."""
    own = {__name__.partition(".")[0], "evaluate"}
    level, frame = 2, sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in own and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(problem, stacklevel=level)


def in_short(error: BaseException) -> str:
    """Return the message of a library's error, on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200].rstrip(".")


def raise_unless_of_values(error: BaseException) -> None:
    """Re-raise an error unless it concerns values; a panic in a Rust library is not an Exception."""
    of_values = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    if isinstance(error, MemoryError) or not of_values:
        raise error
