"""Describe options that give reported scores as a few changes of a convention, for Python and the shell."""

import shlex
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import text_of_gain
from ..measure.conventions import CONVENTIONS
from ..measure.messages import mark, worded


class Combination(NamedTuple):
    """Options that give the reported scores.

    Attributes:
        convention: the convention that differs in the fewest options.
        changed: the options that differ from it, with their values; `k` among them if the cutoff is another.
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
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            if value is not False:
                words.append(flag if value is True else f"{flag} {_shell_text(value)}")
        return " ".join(words)

    @property
    def marked(self) -> str:
        """The combination in words, with its options marked."""
        texts = {name: "the whole list" if value is None else value for name, value in self.changed.items()}
        changed = (mark(name, self.changed[name], said=f"{name}={text}") for name, text in texts.items())
        return f"{self.convention}, but {' and '.join(changed)}" if texts else self.convention

    def __str__(self) -> str:
        return worded(self)


def by_convention(
    options: Mapping[str, Any], matter: Set[str], score: float, given: Mapping[str, Any], asked: Sequence[int | None]
) -> Combination:
    """Return a combination as changes to the convention that differs from it in the fewest relevant options.

    Args:
        options: the options, and the cutoff, or all cutoffs that the reported scores have.
        matter: the options that may change the score.
        score: the mean under these options.
        given: the options that the caller set.
        asked: the cutoffs of the reported scores, or of the caller.
    """
    cutoff = {} if options["k"] in (asked, *asked) else {"k": options["k"]}
    chosen = {name: value for name, value in options.items() if name in matter and name not in given}

    def changed(convention: str) -> dict[str, Any]:
        usual = {**CONVENTIONS[convention].options, "judged_only": False}
        return {name: value for name, value in chosen.items() if repr(value) != repr(usual[name])}

    convention = min(CONVENTIONS, key=lambda name: len(changed(name)))
    return Combination(convention, changed(convention) | cutoff, score, {**given, "k": options["k"]})


def _python_text(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and np.isnan(value) else repr(value)


def _shell_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shlex.quote(text_of_gain(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shell_text, value))
    return "all" if value is None else str(value)
