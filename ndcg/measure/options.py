"""The options of `compute`, checked once and kept in one object, with the names of results and the signature."""

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Generic, Literal, SupportsIndex, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .arguments import DISCOUNTS, GAINS, MEASURES, OF_LIBRARIES, OPTIONS, PERFECT_IF_EMPTY
from .conventions import CONVENTIONS
from .labels import Labels, label_of
from .messages import InputError, mark, nearest, shown
from .scoring import Discount, Gain, not_discounts

__version__ = "3.0.0"

Measure = Literal["nDCG", "DCG", "IDCG", "CG"]  # or with a cutoff, such as "nDCG@10"
Cutoffs = SupportsIndex | Sequence[SupportsIndex | None] | NDArray[np.integer[Any]] | None
Function = TypeVar("Function", bound=Callable[..., Any])
Computed = TypeVar("Computed")

CUTOFFS = mark("cutoffs", said="None for the whole list, or a list of these")
LONGEST_IDEAL = 10**6  # the most documents in a full ideal

# Checked options are remembered, for loops that score batch after batch.
MOST_REMEMBERED = 256
_REMEMBERED_TYPES = (str, int, bool, type(None))
_REMEMBERED: dict[tuple[Any, ...], "Options"] = {}

# Where to find arguments that people try on other methods: hints for errors about unknown options.
ELSEWHERE = {
    **dict.fromkeys(("by", "confidence"), "report and compare have it"),
    **dict.fromkeys(
        ("systems", "baseline", "alternative", "margin", "corrected_over"), "compare has it"
    ),
    **dict.fromkeys(("got", "between"), "explain has it"),
    **OF_LIBRARIES,
}
# Options that methods with their own aggregation do not accept.
AGGREGATION_OPTIONS = ("use_aggregator", "engine")


class ChosenOptions(TypedDict, total=False):
    """The options that a score depends on, for type checkers."""

    ignore_ties: bool
    gain: (
        Literal["linear", "exponential", "binary"]
        | Sequence[float]
        | Mapping[Any, float]
        | Callable[[NDArray[np.float64]], Any]
        | None
    )
    discount: (
        Literal["log", "reciprocal", "jarvelin"]
        | Sequence[float]
        | Callable[[NDArray[np.int64]], Any]
        | None
    )
    log_base: float | None
    ideal: Literal["judged", "truncated", "retrieved", "full"] | None
    score_dtype: Literal["given", "float32"] | None
    score_order: (
        Literal["descending", "ascending"] | Mapping[str, Literal["descending", "ascending"]] | None
    )
    ties: Literal["average", "first", "last", "best", "worst", "docid"] | None
    zero_division: float | Literal["perfect_if_empty"] | None
    negative_relevance: Literal["raise", "clip", "keep"] | None
    judged_only: bool
    duplicates: Literal["raise", "best"]
    exclude_from: Literal["both", "run"]


class ScoringOptions(ChosenOptions, total=False):
    """The options of every method that scores."""

    measures: Measure | str | Sequence[Measure | str]
    convention: str


class ExplainOptions(ChosenOptions, total=False):
    """The options of `explain`."""

    ignore_index: float | None
    missing: Literal["empty", "skip", "raise"] | None


class QueryOptions(ScoringOptions, ExplainOptions, total=False):
    """The options of methods that read whole queries."""


class ComputeOptions(QueryOptions, total=False):
    """The options of `compute`."""

    use_aggregator: bool
    engine: Literal["numpy", "sklearn"]


class Derived(Generic[Computed]):
    """A property that is computed on first access, like `cached_property`, but without its lock in Python 3.11.

    Spark pickles this class for its workers, and a lock cannot be pickled.
    """

    def __init__(self, compute: Callable[[Any], Computed]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, owner: Any, kind: type) -> Computed:
        """Return the value, and store it under the property's name; on the class, return the property itself."""
        value: Any = self
        if owner is not None:
            value = vars(owner).setdefault(self.compute.__name__, self.compute(owner))
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Options:
    """Checked options: how to read and score rankings, and how to return the values."""

    with_cutoffs: tuple[tuple[str, int | None], ...]  # measures with their cutoffs
    gain: Gain | Labels
    discount: Discount
    log_base: float
    ideal: str
    score_dtype: str
    score_order: str
    ties: str
    zero_division: float | str
    negative_relevance: str
    judged_only: bool
    duplicates: str
    exclude_from: str
    ignore_index: float | None
    missing: str
    use_aggregator: bool
    engine: str

    @classmethod
    def parse(cls, **given: Any) -> "Options":
        """Check the options of `compute`; None means the convention's choice."""
        # only hashable, immutable values; floats are excluded because 0.0 == -0.0
        if not all(type(value) in _REMEMBERED_TYPES for value in given.values()):
            return _parsed_options(given)
        key = tuple((name, type(value), value) for name, value in given.items())
        if (parsed := _REMEMBERED.get(key)) is None:
            parsed = _parsed_options(given)
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[key] = parsed
        return parsed

    @classmethod
    def of_method(
        cls,
        method: Callable[..., Any],
        k: Any,
        options: Mapping[str, Any],
        lacks: Sequence[str] = AGGREGATION_OPTIONS,
    ) -> "Options":
        """Check the options of a method that accepts those of `compute`, except some, in addition to its own."""
        refuse_unknown(options, method, lacks)
        return cls.parse(k=k, **options)

    @Derived
    def measures(self) -> tuple[str, ...]:
        """The measures, without cutoffs."""
        return tuple(dict.fromkeys(measure for measure, _ in self.with_cutoffs))

    @Derived
    def cutoffs(self) -> tuple[int | None, ...]:
        """The cutoffs of all measures."""
        return tuple(dict.fromkeys(k for _, k in self.with_cutoffs))

    @Derived
    def results(self) -> tuple[tuple[str, str, int], ...]:
        """The name of each result, its measure, and the index of its cutoff."""
        return tuple(
            (result_name(measure, k), measure, self.cutoffs.index(k))
            for measure, k in self.with_cutoffs
        )

    @property
    def labels(self) -> Labels | None:
        """The labels that references may have in place of relevances, with their gains."""
        return self.gain if isinstance(self.gain, Labels) else None

    @Derived
    def sides(self) -> dict[str, Any]:
        """The keyword arguments of `Inputs.settled` and `from_files`."""
        best = "last" if self.ties == "last" else "first"  # among equal scores
        keep = None if self.duplicates == "raise" else best
        return {"score_order": self.score_order, "labels": self.labels, "keep": keep}

    @Derived
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of `reading.read`."""
        names = ("judged_only", "exclude_from", "ignore_index", "score_dtype")
        return {
            **{name: getattr(self, name) for name in names},
            **self.sides,
            "by_docid": self.ties == "docid",
        }

    @Derived
    def scoring(self) -> dict[str, Any]:
        """The keyword arguments of `scoring.measure_queries`."""
        names = ("gain", "discount", "log_base", "ideal", "zero_division", "negative_relevance")
        ties = (
            "last" if self.ties == "docid" else self.ties
        )  # documents are read in ascending order of ids
        chosen = {name: getattr(self, name) for name in names}
        if self.labels is not None:  # each relevance is the gain of its label
            chosen |= {"gain": "linear", "negative_relevance": "keep"}
        return {"measures": self.measures, "cutoffs": self.cutoffs, "ties": ties, **chosen}

    @property
    def names(self) -> list[str]:
        """The names of all results."""
        return [name for name, _, _ in self.results]

    def signature(self, *, weighted: bool = False, excluding: bool = False) -> str:
        """Return every option that the scores depend on, in one line."""
        gain, discount = (
            _function_name("gain", self.gain, LABELS),
            _function_name("discount", self.discount, RANKS),
        )
        unjudged = "removed" if self.judged_only else "0"
        parts: dict[str, Any] = {
            **vars(self),
            "gain": gain,
            "discount": discount,
            "judged_only": unjudged,
        }
        if discount not in DISCOUNTS or DISCOUNTS[discount].base_above is None:
            del parts["log_base"]
        if not excluding:  # then no score depends on it
            del parts["exclude_from"]
        choices = {
            option.said_as: each if isinstance(each, str) else _number(each)
            for name, option in OPTIONS.items()
            if option.said_as
            and (each := parts.get(name)) is not None
            and each not in option.unsaid
        }
        choices |= {
            "v": __version__,
            **dict.fromkeys(["weights"] * weighted + ["excluded"] * excluding, "given"),
        }
        return "|".join(["+".join(self.names), *(f"{a}:{b}" for a, b in choices.items())])


def _parsed_options(given: Mapping[str, Any]) -> Options:
    """Check options: first the convention, then each option by itself, in the order of the table, then all together."""
    if unknown := [name for name in given if name not in OPTIONS]:
        raise TypeError(f"unknown option {unknown[0][:100]}; the options are {', '.join(OPTIONS)}")
    values = {name: given.get(name, option.default) for name, option in OPTIONS.items()}
    convention = CONVENTIONS[_checked_option("convention", values["convention"])]
    checked = {
        name: _checked_option(
            name, getattr(convention, name, option.usual) if values[name] is None else values[name]
        )
        for name, option in OPTIONS.items()
    }
    cutoffs, measures = checked.pop("k"), checked.pop("measures")
    if values["k"] is not None and all("@" in name for name in measures):
        k, several = (
            mark(name, values[name], said=f"{name}={shown(values[name])}")
            for name in ("k", "measures")
        )
        raise InputError(f"{k} and {several} both give cutoffs; give one of the two")
    if checked.pop("ignore_ties"):
        if values["ties"] not in (None, "last"):
            ties = mark("ties", values["ties"], said=f"ties={shown(values['ties'])}")
            both = f"{mark('ignore_ties', True)} means {mark('ties', 'last')}, but {ties} was given too"
            raise InputError(f"{both}; give one of the two")
        checked["ties"] = "last"
    _refuse_base(checked["log_base"], checked["discount"])
    del checked["convention"]
    options = Options(with_cutoffs=_with_cutoffs(measures, cutoffs), **checked)
    if options.ideal == "full":
        name = "convention" if values["ideal"] is None else "ideal"
        _refuse_endless_ideal(options.cutoffs, mark(name, values[name]))
    if options.engine == "sklearn":
        _refuse_what_sklearn_lacks(values, options)
    return options


def _checked_option(name: str, value: Any) -> Any:
    """Return the checked value of an option."""
    if name in _CHECKS:
        return _CHECKS[name](value)
    option = OPTIONS[name]
    return _flag(name, value) if option.is_flag else choice(name, value, tuple(option.words))


OF_COMPUTE = tuple(OPTIONS)  # the names of all options


def signature(
    k: Cutoffs = None,
    *,
    sample_weight: Any = None,
    exclude: Any = None,
    **options: Unpack[ComputeOptions],
) -> str:
    """Return every option that a score depends on, in one line; only equal signatures are comparable.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        sample_weight: the weights of the queries; the signature records whether there are any.
        exclude: documents to exclude; the signature records whether there are any.
        **options: the options of `compute`.

    >>> signature(k=10)
    'nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:3.0.0'
    """
    return Options.of_method(signature, k, options, lacks=()).signature(
        weighted=sample_weight is not None, excluding=exclude is not None
    )


def shows_options(function: Function) -> Function:
    """Show the options of `compute` in the signature of a function that accepts them as `**options`."""
    own = inspect.signature(function)
    named = {name: each for name, each in own.parameters.items() if each.kind != each.VAR_KEYWORD}
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=Any
        )
        for name, option in OPTIONS.items()
        if name not in named
    ]
    vars(function)["__signature__"] = own.replace(parameters=[*named.values(), *options])
    return function


def result_name(measure: str, k: int | None) -> str:
    """Return the name of a measure at a cutoff.

    >>> result_name("nDCG", 10), result_name("nDCG", None)
    ('nDCG@10', 'nDCG')
    """
    return measure if k is None else f"{measure}@{k}"


def measure_of(name: str) -> str:
    """Return the measure of a result by its name.

    >>> measure_of("nDCG@10")
    'nDCG'
    """
    return name.partition("@")[0]


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return a value if it is one of several words; else the error names the nearest one."""
    if not isinstance(value, str) or value not in choices:
        near = nearest(value, choices) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        allowed = ", ".join(f'"{each}"' for each in choices)
        raise InputError(f"{mark(name)} must be one of {allowed}; got {shown(value)}{hint}")
    return str(value)


def is_real(value: Any) -> bool:
    """Return whether a value is a number in the range of float64; a bool is not."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def between_0_and_1(name: str, value: Any, example: float) -> float:
    """Return a level, such as that of an interval, which lies between 0 and 1, and not too close to 1."""
    if not is_real(value) or not (float(value) > 0 and (1 + float(value)) / 2 < 1):
        raise InputError(
            f"{mark(name)} must be between 0 and 1, such as {example}; got {shown(value)}"
        )
    return float(value)


def in_units(name: str, value: Any) -> float:
    """Return an amount in units of the measure: a finite number, not negative."""
    if not is_real(value) or not 0 <= float(value) < math.inf:
        problem = (
            f"must be a finite number, at least 0, in units of the measure; got {shown(value)}"
        )
        raise InputError(f"{mark(name)} {problem}")
    return float(value)


def whole(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return an integer from `least` to `most`."""
    if not is_real(value) or not isinstance(value, Integral) or not least <= int(value) <= most:
        upper = "" if most == math.inf else f" and at most {most:,}"
        raise InputError(
            f"{mark(name)} must be an integer, at least {least}{upper}; got {shown(value)}"
        )
    return int(value)


def _refuse_endless_ideal(cutoffs: Sequence[int | None], setting: str) -> None:
    """Raise an error for cutoffs at which an ideal of k documents would be infinite or take too much memory."""
    if None in cutoffs:
        problem = (
            f"must be given for {setting}, since its ideal has k documents of the highest gain"
        )
        raise InputError(f"{mark('k')} {problem}")
    if (longest := max(k for k in cutoffs if k is not None)) > LONGEST_IDEAL:
        problem = f"must be at most {LONGEST_IDEAL:,} for {setting}, since its ideal has k documents; got {longest}"
        raise InputError(f"{mark('k')} {problem}")


def refuse_unknown(
    options: Iterable[str], method: Callable[..., Any], lacks: Sequence[str] = ()
) -> None:
    """Raise a TypeError for an option that a method does not have; it names the nearest one, or all options."""
    for name in options:
        if name not in OF_COMPUTE or name in lacks:
            raise _unknown_option(name, method, lacks)


def _unknown_option(name: str, method: Callable[..., Any], lacks: Sequence[str]) -> TypeError:
    """Return the error for an option that a method does not have."""
    own = [
        own
        for own, each in inspect.signature(method).parameters.items()
        if each.kind != each.VAR_KEYWORD
    ]
    of_compute = [each for each in OF_COMPUTE if each not in lacks]
    known = list(dict.fromkeys([*own, *of_compute]))
    near = "" if name in lacks else nearest(name, known)
    hint = ELSEWHERE.get(name) or (
        f"did you mean {near}?" if near else f"it has {', '.join(known)}"
    )
    return TypeError(f"{method.__name__} has no option {name[:100]}; {hint}")


def _refuse_what_sklearn_lacks(values: Mapping[str, Any], options: Options) -> None:
    """Raise an error for an option that is set but that `sklearn.metrics.ndcg_score` does not have."""
    for name, value in values.items():
        kept = getattr(options, name, value)
        usual = ("nDCG",) if name == "measures" else OPTIONS[name].default
        is_given = value is not None if usual is None else kept != usual
        if is_given and name not in ("k", "ignore_ties", "engine"):
            problem = f"sklearn.metrics.ndcg_score has no option {name}; got {shown(value)}"
            raise InputError(f"{mark('engine', 'sklearn')}: {problem}")


def _several(name: str, value: Any, check: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Check a single value or every value of a sequence; return them without duplicates."""
    if not isinstance(value, (list, tuple, range)) and not (
        isinstance(value, np.ndarray) and value.ndim == 1
    ):
        return (check(value),)
    if not len(value):
        raise InputError(f"{mark(name)} is empty; give at least one value")
    return tuple(dict.fromkeys(map(check, value)))


def _cutoff(k: Any) -> int | None:
    if k is not None and (not is_real(k) or not isinstance(k, Integral) or int(k) < 1):
        raise InputError(f"{mark('k')} must be a positive integer, {CUTOFFS}; got {shown(k)}")
    return None if k is None else int(k)


def _with_cutoffs(
    names: Sequence[str], cutoffs: Sequence[int | None]
) -> tuple[tuple[str, int | None], ...]:
    """Return each measure with every cutoff, or with the one in its name."""
    pairs = []
    for name in names:
        measure, _, own = name.partition("@")
        pairs += [(measure, cutoff) for cutoff in ([int(own)] if own else cutoffs)]
    return tuple(dict.fromkeys(pairs))


def _measure(name: Any) -> str:
    measure, at, cutoff = name.partition("@") if isinstance(name, str) else (name, "", "")
    if not at:
        if isinstance(name, str) and (
            cut := re.fullmatch(r"ndcg_cut[._]([0-9]+)", name)
        ):  # as in trec_eval
            raise InputError(f"{name} is nDCG@{cut[1]} here", "measures")
        return choice("measures", name, MEASURES)
    if not cutoff.isdecimal() or not cutoff.isascii() or len(cutoff) > 18 or int(cutoff) < 1:
        problem = f"must have a positive integer after the @, as in nDCG@10; got {shown(name)}"
        raise InputError(f"{mark('measures')} {problem}")
    return result_name(choice("measures", measure, MEASURES), int(cutoff))


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{mark(name)} must be True or False; got {shown(value)}")
    return bool(value)


def _log_base(value: Any) -> float:
    if not is_real(value) or not 0 < float(value) < math.inf or float(value) == 1:
        raise InputError(
            f"{mark('log_base')} must be a positive number other than 1; got {shown(value)}"
        )
    return float(value)


def _refuse_base(base: float, discount: Any) -> None:
    """Raise an error for a logarithm base that a discount does not allow."""
    above = DISCOUNTS[discount].base_above if isinstance(discount, str) else None
    if above is not None and base <= above:
        problem = f"must be above {above:g} for {mark('discount', discount)}; got {shown(base)}"
        raise InputError(f"{mark('log_base')} {problem}")


def _zero_division(value: Any) -> float | str:
    if isinstance(value, str) and value == PERFECT_IF_EMPTY:
        return value
    if not is_real(value) or math.isinf(float(value)):
        meaning = f'a finite number, nan to exclude queries with no relevant documents from the mean, or "{PERFECT_IF_EMPTY}"'
        raise InputError(f"{mark('zero_division')} must be {meaning}; got {shown(value)}")
    return float(value)


def _ignore_index(value: Any) -> float | None:
    if value is not None and (not is_real(value) or not math.isfinite(value)):
        allowed = f"a finite number, the reference of padding{mark('None', before=', or ')}"
        raise InputError(f"{mark('ignore_index')} must be {allowed}; got {shown(value)}")
    if value is None or isinstance(value, Integral):
        return None if value is None else int(value)
    return float(value)


def _gain(value: Any) -> Gain | Labels:
    if isinstance(value, str) and value in GAINS:
        return str(value)
    if isinstance(value, Mapping):
        return _gains_by_label(value)
    if callable(value):
        function: Callable[[NDArray[np.float64]], Any] = value
        return function
    table = _listed_numbers(value)
    if table is None:
        words = ", ".join(f'"{each}"' for each in GAINS)
        forms = "in a list or of any labels, {label: gain}, or a function"
        meaning = (
            f"{words}, the finite gains of labels 0, 1, 2, ... {mark('forms of gain', said=forms)}"
        )
        near = nearest(value, GAINS) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        raise InputError(f"{mark('gain')} must be {meaning}; got {shown(value)}{hint}")
    return table


def _gains_by_label(given: Mapping[Any, Any]) -> Gain | Labels:
    """Return gains by label: as a list if the labels are the numbers 0, 1, 2, ..."""
    gains: dict[str | float, float] = {}
    for label, gain in given.items():
        if not isinstance(label, (str, bool, np.bool_)) and not (
            is_real(label) and math.isfinite(label)
        ):
            raise InputError(
                f"a label is text, a finite number or a flag; got {shown(label)}", "gain"
            )
        if not is_real(gain) or not math.isfinite(gain):
            raise InputError(
                f"the gain of {shown(label)} must be a finite number; got {shown(gain)}", "gain"
            )
        if (plain := label_of(label)) in gains:
            raise InputError(
                f"the label {shown(label)} is there twice; give each label once", "gain"
            )
        gains[plain] = float(gain)
    if not gains:
        raise InputError(f"{mark('gain')} is empty; give the gain of each label")
    in_order = sorted(gains.items(), key=lambda each: (isinstance(each[0], str), each[0]))
    if [label for label, _ in in_order] == [*range(len(gains))] and not any(
        isinstance(each, str) for each in given
    ):
        return np.array([gain for _, gain in in_order])
    return Labels(tuple(in_order))


def _discount(value: Any) -> Discount:
    if isinstance(value, str):
        return choice("discount", value, tuple(DISCOUNTS))
    if callable(value):
        function: Callable[[NDArray[np.int64]], Any] = value
        return function
    listed = _listed_numbers(value)
    if listed is None or (problem := not_discounts(listed)):
        words = ", ".join(f'"{each}"' for each in DISCOUNTS)
        meaning = f"{words}, a list of the discounts of rank 1, 2, 3, ... or a function"
        reason = "" if listed is None else f", which {problem}"
        raise InputError(f"{mark('discount')} must be {meaning}; got {shown(value)}{reason}")
    return listed


def _listed_numbers(value: Any) -> NDArray[np.float64] | None:
    """Return a list of finite numbers as an array; None for anything else."""
    sequence = isinstance(value, (list, tuple)) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )
    table = np.array(value, np.float64) if sequence and all(map(is_real, value)) else np.empty(0)
    return table if table.size and np.isfinite(table).all() else None


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


_CHECKS: dict[
    str, Callable[[Any], Any]
] = {  # other options are flags, or one of the words in their row
    "k": partial(_several, "k", check=_cutoff),
    "measures": partial(_several, "measures", check=_measure),
    "convention": partial(choice, "convention", choices=tuple(CONVENTIONS)),
    "gain": _gain,
    "discount": _discount,
    "log_base": _log_base,
    "zero_division": _zero_division,
    "ignore_index": _ignore_index,
}

LABELS = np.array([*range(-2, 33), 100, 1000, *(0.1 * tenth for tenth in range(1, 50))])
RANKS = np.array([*range(1, 33), 100, 1000])


def _function_name(name: str, value: Gain | Labels | Discount, samples: NDArray[Any]) -> str:
    """Return the name of gains or discounts in a signature: of a function, a hash of its results for some values."""
    if isinstance(value, str):
        return value
    if isinstance(value, Labels):
        return value.signature
    if not callable(value):
        return ",".join(map(_number, value))
    answers: list[str] = []
    answered = False
    with np.errstate(all="ignore"):
        for at in range(len(samples)):
            try:
                answers.append(repr(np.asarray(value(samples[at : at + 1]), np.float64).tolist()))
                answered = True
            except Exception as error:  # noqa: BLE001 - whatever it raises, this value has no result
                answers.append(type(error).__name__)
    if not answered:
        known = "labels 0, 1, 2" if name == "gain" else "ranks 1, 2, 3"
        problem = f"has no value for any of the {known}, ..., so the signature cannot identify it"
        raise InputError(f"{mark(name)} {shown(value)} {problem}")
    return f"function#{hashlib.sha256(' '.join(answers).encode()).hexdigest()[:8]}"
