"""Whose number it is: the same rankings by every convention, and which choice makes what difference.

Two libraries differ in a handful of choices: gain, discount, ideal, ties, empty queries, negative
relevance, missing queries. What each of these adds to the difference is its Shapley value: what
changing it adds, averaged over all orders in which the choices could be changed (Shapley, 1953).
So the parts add up to the whole difference, and none depends on which choice is changed first.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import Any, NamedTuple, SupportsIndex, Unpack

import numpy as np
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read
from ..inputs.sources import settled
from ..measure.arguments import OPTIONS
from ..measure.conventions import CHOICES, CONVENTIONS, empty_text
from ..measure.messages import shown
from ..measure.options import AGGREGATION_OPTIONS, ExplainOptions, Options, choice, is_real, result_name
from ..scores.queries import (
    NOTHING_TO_SCORE,
    UserTerms,
    from_files,
    from_frame,
    mean,
    progress,
    refuse_missing,
    score_part,
    weights,
)
from .drawing import figure_of
from .tables import Readable, number_text

NOT_IN_EXPLAIN = ("measures", "convention", *AGGREGATION_OPTIONS)
# What a number may differ by however many digits it has: some libraries compute in 32 bits.
PRECISION = 1e-6
ALTERNATIVES: dict[str, Sequence[Any]] = {
    **{option: tuple(OPTIONS[option].words) for option in ("gain", "discount", "ideal", "ties")},
    "zero_division": (0.0, 1.0, math.nan, "rightly_empty"),
    "negative_relevance": ("clip", "keep"),
    "missing": ("empty", "skip"),
}
SHOWN_VARIANTS = 5


class Choice(NamedTuple):
    """A choice in which two conventions differ.

    Attributes:
        name: of the option.
        before: what the first convention chooses.
        after: what the second chooses.
        adds: what it adds to the difference of their numbers.
    """

    name: str
    before: Any
    after: Any
    adds: float


class Variant(NamedTuple):
    """A convention with one choice changed.

    Attributes:
        convention: its name.
        name: of the option that is changed.
        value: what it is changed to.
        number: the nDCG then.
    """

    convention: str
    name: str
    value: Any
    number: float


@dataclass(frozen=True)
class Explanation(Readable):
    """The number of rankings under every convention, and why two of them differ.

    Attributes:
        signature: of the first convention that matches, else of the second of `between`, else of the
            first that has a number: every choice made.
        measure: such as ``"nDCG@10"``.
        numbers: by the name of the convention; None where it has none.
        refused: why a convention has none, by its name.
        got: the number to explain, if one was given.
        percent: whether it was given in percent.
        matches: the conventions whose number it is, to the digits that were given.
        variants: conventions that have the number with one choice changed, where none has it as it is.
        between: the two conventions whose difference `choices` explain.
        choices: in which they differ, with what each adds; together the difference.
    """

    signature: str
    measure: str
    numbers: dict[str, float | None]
    refused: dict[str, str]
    got: float | None = None
    percent: bool = False
    matches: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    between: tuple[str, str] | None = None
    choices: tuple[Choice, ...] = ()

    def _tables(self) -> list[list[list[str]]]:
        numbers = [["convention", self.measure]]
        if self.got is not None:
            numbers[0] += ["minus yours", ""]
        for name, number in self._sorted():
            cells = [name, number_text(number)]
            if self.got is not None:
                cells += [number_text(number - self.got, sign="+"), "yours" if name in self.matches else ""]
            numbers.append(cells)
        tables = [numbers]
        if self.between is not None:
            adds = [
                [each.name, _choice_text(each.name, each.before), _choice_text(each.name, each.after)]
                for each in self.choices
            ]
            added = [number_text(each.adds, sign="+") for each in self.choices]
            rows = [[*cells, text] for cells, text in zip(adds, added, strict=True)]
            whole = ["together", "", "", number_text(sum(each.adds for each in self.choices), sign="+")]
            tables.append([["choice", *self.between, "adds"], *rows, whole])
        return tables

    def _remarks(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.refused.items():
            by_reason.setdefault(reason, []).append(name)
        refused = [f"No number of {_enumerated(names)}: {reason}." for reason, names in by_reason.items()]
        return [*self._conclusion(), *refused]

    def _conclusion(self) -> Iterator[str]:
        """Yield what the number is, in words."""
        if self.got is None:
            return
        if self.percent:
            yield f"Your score was read as a percentage: {100 * self.got:g}% is {self.got:g}."
        if self.matches:
            yield f"{self.got:g} is the {self.measure} of {_enumerated(self.matches)}."
            return
        name, number = min(self._sorted(), key=lambda each: abs(each[1] - float(self.got or 0)))
        yield f"No convention has {self.got:g}; the nearest is {name}, {number_text(number)}."
        for each in self.variants[:SHOWN_VARIANTS]:
            yield f"It is that of {each.convention} with {each.name}: {_choice_text(each.name, each.value)}."
        if (more := len(self.variants) - SHOWN_VARIANTS) > 0:
            yield f"So it is in {more} other ways: see `variants`."
        if not self.variants:
            yield "Perhaps the cutoff was another, or other queries or documents were scored, weighted or excluded."

    def _sorted(self) -> list[tuple[str, float]]:
        """Return the conventions that have a number, the lowest first."""
        known = [(name, number) for name, number in self.numbers.items() if number is not None]
        return sorted(known, key=lambda each: each[1])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has; a choice that is no number, such as nan, as text."""
        lists = {name: [_in_json_types(each) for each in getattr(self, name)] for name in ("variants", "choices")}
        between = None if self.between is None else list(self.between)
        return {**vars(self), **lists, "matches": list(self.matches), "between": between}

    def plot(self) -> Any:
        """Return a Matplotlib figure: a dot for the number of each convention, filled if it is the one you got."""
        known = self._sorted()
        figure, (axes,) = figure_of(1, height=1.2 + 0.24 * len(known))
        for at, (name, number) in enumerate(known):
            axes.plot(number, at, "o", color="C0", markerfacecolor="C0" if name in self.matches else "white")
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        axes.grid(axis="x", alpha=0.3)
        axes.set_xlabel(self.measure)
        if self.got is not None:
            axes.axvline(self.got, color="gray", linewidth=1)
            axes.set_xlabel(f"{self.measure}; line: {self.got:g}, what you got; filled: the same to its digits")
        return figure


def explain(
    *,
    predictions: Any,
    references: Any,
    got: float | str | None = None,
    k: SupportsIndex | None = None,
    between: Sequence[str] | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Tell whose nDCG a number is: the number of rankings under every convention, and what makes the difference.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        got: the nDCG to find, from 0 to 1 or in percent; its digits say how close a match must be,
            so give "0.5920" as text to keep the last 0.
        k: the cutoff.
        between: two conventions whose difference to explain; by default scikit-learn's (or the first
            that has a number) and the one that has the number that was got.
        sample_weight: one weight per query for the mean.
        query_ids: for flat predictions and references.
        document_ids: with `query_ids`.
        data: a frame; then the arguments above may be names of its columns.
        exclude: documents to leave out, as in `compute`.
        **options: of `compute`, the same for every convention: what you know of the number.

    Raises:
        ValueError: what `compute` refuses of any convention; a number or a convention that is none;
            `between` a convention without a number.

    >>> scores, relevance = [[.5, .5, .2], [.9, .8, .7]], [[1, 0, 0], [0, 0, 0]]
    >>> found = explain(predictions=scores, references=relevance, got=0.9077)
    >>> found.matches, found.variants[0][:3]
    ((), ('sklearn', 'zero_division', 1.0))
    """
    digits = None if got is None else _number_and_precision(got)
    pair = None if between is None else _two_conventions(between)
    if len(Options.of_method(explain, k, options, lacks=NOT_IN_EXPLAIN).cutoffs) > 1:
        raise ValueError(f"k must be one cutoff, since a number has one; got {shown(k)}")
    inputs, weight = from_frame(data, Inputs(predictions, references, query_ids, document_ids, exclude), sample_weight)
    scorer = _Scorer(Inputs(*settled(**from_files(inputs)._asdict())), weight, k, options)
    numbers: dict[str, float | None] = {}
    refused = {}
    with progress(len(CONVENTIONS), "Scoring", " conventions") as bar:
        for name in CONVENTIONS:
            try:
                numbers[name] = scorer.number(scorer.options_of(name))
            except ValueError as error:
                numbers[name], refused[name] = None, str(error)
            bar.update(1)
    if all(number is None for number in numbers.values()):
        raise ValueError(next(iter(refused.values())))
    for name in pair or ():
        if name in refused:
            raise ValueError(f"between: {name} has no number: {refused[name]}")
    first = next(name for name, number in numbers.items() if number is not None)
    found = Explanation(scorer.signature(first), result_name("nDCG", scorer.cutoff), numbers, refused)
    if digits is not None:
        found = _with_matches(found, scorer, *digits)
    if pair is None and found.matches:  # the one that differs in the fewest choices
        pair = (first, min(found.matches, key=lambda name: len(scorer.differing(first, name))))
    if pair is None or pair[0] == pair[1]:
        return found
    signature = found.signature if found.matches else scorer.signature(pair[1])
    return replace(found, signature=signature, between=pair, choices=scorer.choices(*pair))


class _Scorer:
    """The same rankings, read once, under any choices."""

    def __init__(self, inputs: Inputs, sample_weight: Any, k: Any, options: Mapping[str, Any]) -> None:
        self.inputs, self.k, self.options = inputs, k, options
        self.given = {"weighted": sample_weight is not None, "excluding": inputs.exclude is not None}
        self.rankings: dict[bool, Rankings] = {}
        self.numbers: dict[tuple[str, ...], float] = {}
        plain = self._read(Options.parse(k=k, **options))
        if not plain.queries:
            raise ValueError(NOTHING_TO_SCORE)
        self.weight: NDArray[np.float64] | None = weights(sample_weight, plain.queries)

    @property
    def cutoff(self) -> int | None:
        """The cutoff."""
        return Options.parse(k=self.k).cutoffs[0]

    def signature(self, convention: str) -> str:
        """Return every choice of a convention."""
        return self.options_of(convention).signature(**self.given)

    def options_of(self, convention: str, **changed: Any) -> Options:
        """Return the options of a convention, what is given besides, and what is changed."""
        return Options.parse(k=self.k, convention=convention, **{**self.options, **changed})

    def number(self, options: Options) -> float:
        """Return the nDCG under some options.

        Raises:
            ValueError: there is none.
        """
        key = tuple(repr(getattr(options, name)) for name in CHOICES)
        if key not in self.numbers:
            rankings = self._read(options)
            if options.missing == "raise":
                refuse_missing(rankings)
            with UserTerms(rankings):
                values = score_part(rankings, options)["nDCG"][0]
            self.numbers[key] = mean("nDCG", values, self.weight)
        return self.numbers[key]

    def differing(self, one: str, other: str) -> list[str]:
        """Return the names of the choices in which two conventions differ."""
        before, after = self.options_of(one), self.options_of(other)
        return [name for name in CHOICES if repr(getattr(before, name)) != repr(getattr(after, name))]

    def choices(self, one: str, other: str) -> tuple[Choice, ...]:
        """Return the choices in which two conventions differ, with what each adds."""
        before, after = self.options_of(one), self.options_of(other)
        names = self.differing(one, other)

        def number(changed: Sequence[str]) -> float:
            return self.number(replace(before, **{name: getattr(after, name) for name in changed}))

        return tuple(
            Choice(name, getattr(before, name), getattr(after, name), _share(name, names, number)) for name in names
        )

    def variants(self) -> Iterator[Variant]:
        """Yield every convention with one choice changed, as far as it has a number."""
        for convention in CONVENTIONS:
            for name, values in ALTERNATIVES.items():
                for value in values if self.options.get(name) is None else ():
                    try:
                        options = self.options_of(convention, **{name: value})
                        yield Variant(convention, name, value, self.number(options))
                    except ValueError:  # as for the convention itself, with which the reason is told
                        continue

    def _read(self, options: Options) -> Rankings:
        by_docid = options.reading["by_docid"]
        if by_docid not in self.rankings:
            self.rankings[by_docid] = read(*self.inputs, **options.reading)
        return self.rankings[by_docid]


def _share(name: str, names: Sequence[str], number: Callable[[Sequence[str]], float]) -> float:
    """Return the Shapley value of a choice: what changing it adds, averaged over all orders of changing them."""
    others = [each for each in names if each != name]
    return math.fsum(
        (number([*changed, name]) - number(changed)) / (len(names) * math.comb(len(others), size))
        for size in range(len(names))
        for changed in combinations(others, size)
    )


def _with_matches(found: Explanation, scorer: _Scorer, got: float, precision: float, percent: bool) -> Explanation:
    """Return an explanation with the conventions that have a number, or that have it with one choice changed."""
    matches = [name for name, number in found.numbers.items() if number is not None and abs(number - got) <= precision]
    found = replace(found, got=got, percent=percent, matches=tuple(matches))
    if matches:
        return replace(found, signature=scorer.signature(matches[0]))
    variants = (each for each in scorer.variants() if abs(each.number - got) <= precision)
    return replace(found, variants=tuple(variants))


def _number_and_precision(got: Any) -> tuple[float, float, bool]:
    """Return a number from 0 to 1, how far from it another with the same digits may be, and whether it is in percent.

    Raises:
        ValueError: it is none.
    """
    plain = got.item() if getattr(got, "ndim", None) == 0 else got  # of an array or a tensor
    text = str(plain) if isinstance(plain, (str, Decimal)) else repr(float(plain)) if is_real(plain) else ""
    try:
        number = Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        number = Decimal("nan")
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not -300 < exponent < 3 or not -100 <= number <= 100:
        raise ValueError(f"got must be an nDCG, such as 0.5921, or in percent, such as 59.21; got {shown(got)}")
    percent = abs(number) > 1 or text.strip().endswith("%")
    unit = 10.0**exponent / (100 if percent else 1)
    return float(number / 100 if percent else number), max(0.5 * unit * (1 + PRECISION), PRECISION), percent


def _two_conventions(between: Any) -> tuple[str, str]:
    """Return the names of two conventions.

    Raises:
        ValueError: they are not two, or unknown.
    """
    if not isinstance(between, (list, tuple)) or len(between) != 2:
        raise ValueError(f"between must be the names of two conventions; got {shown(between)}")
    one, other = (choice("between", name, tuple(CONVENTIONS)) for name in between)
    return one, other


def _choice_text(name: str, value: Any) -> str:
    """Return a choice as tables show it."""
    return empty_text(value) if name == "zero_division" else str(value)


def _in_json_types(values: NamedTuple) -> dict[str, Any]:
    """Return a named tuple in types that JSON has."""
    fields = values._asdict()
    return {name: each if is_real(each) and math.isfinite(each) else str(each) for name, each in fields.items()}


def _enumerated(names: Sequence[str]) -> str:
    """Return names as a person lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
