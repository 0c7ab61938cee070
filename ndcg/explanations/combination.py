"""Describe options that give reported scores as a few changes of a convention."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import text_of_gain
from ..measure.messages import mark, worded


class Combination(NamedTuple):
    """Options that give the reported scores.

    Attributes:
        convention: the convention that differs in the fewest options.
        changed: the options that differ from it, with their values; `k` among them if the cutoff is
            another.
        score: the mean under these options.
        given: the options that the caller set, and the cutoff, unless they are changed.
    """

    convention: str
    changed: dict[str, Any]
    score: float
    given: dict[str, Any] = {}  # noqa: RUF012  # never changed

    @property
    def options(self) -> dict[str, Any]:
        """The options of `compute`."""
        return {"convention": self.convention, **self.given, **self.changed}

    @property
    def call(self) -> str:
        """The options as Python arguments.

        >>> Combination("rectools", {"gain": "exponential", "k": 20}, 0.283).call
        "convention='rectools', gain='exponential', k=20"
        """
        return ", ".join(f"{name}={_python_text(value)}" for name, value in self.options.items())

    @property
    def flags(self) -> str:
        """The options as arguments in the shell.

        >>> Combination("rectools", {"judged_only": True, "k": None}, 0.283).flags
        '--convention rectools --judged-only -k all'
        """
        words = []
        for name, value in self.options.items():
            flag = f"--{name.replace('_', '-')}"
            if name == "k":
                flag = "-k"
            if value is True:
                words.append(flag)
            elif value is not False:
                words.append(f"{flag} {_shell_text(value)}")
        return " ".join(words)

    @property
    def marked(self) -> str:
        """The combination in words, with its options marked."""
        if not self.changed:
            return self.convention
        changed = []
        for name, value in self.changed.items():
            text = "the whole list" if value is None else value
            changed.append(mark(name, value, said=f"{name}={text}"))
        return f"{self.convention}, but {' and '.join(changed)}"

    def __str__(self) -> str:
        return worded(self)


def _python_text(value: Any) -> str:
    if isinstance(value, float) and np.isnan(value):
        # repr gives nan, which is no name in Python.
        return 'float("nan")'
    return repr(value)


def _shell_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shlex.quote(text_of_gain(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shell_text, value))
    if value is None:
        return "all"
    return str(value)
