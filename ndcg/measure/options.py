"""The options of `compute`, checked once and kept in one object, with names and the signature."""

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import Any, Generic, Literal, SupportsIndex, TypedDict, TypeVar, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from .arguments import DISCOUNTS, GAINS, MEASURES, OF_LIBRARIES, OPTIONS, PERFECT_IF_EMPTY
from .conventions import CONVENTIONS
from .labels import Labels, label_of
from .messages import InputError, mark, must_be, nearest, shown
from .scoring import Discount, Gain, check_discounts
from .ties import Array

__version__ = "3.0.0"

Measure = Literal["nDCG", "DCG", "IDCG", "CG"]  # or with a cutoff, such as "nDCG@10"
Cutoffs = SupportsIndex | Sequence[SupportsIndex | None] | NDArray[np.integer[Any]] | None
Function = TypeVar("Function", bound=Callable[..., Any])
Computed = TypeVar("Computed")

CUTOFFS = mark("cutoffs", said="None for the whole list, or a list of these")
LONGEST_IDEAL = 10**6  # the most documents in a full ideal

# Options of these types are remembered once checked, for loops that score batch after batch. They
# are immutable; floats are excluded because 0.0 == -0.0. Spark cannot send an lru_cache to workers.
MOST_REMEMBERED = 256
_REMEMBERED_TYPES = {str, int, bool, type(None)}
_REMEMBERED: dict[tuple[Any, ...], "Options"] = {}

# Where to find arguments that people try on other methods: hints for errors about unknown options.
ELSEWHERE = {
    **dict.fromkeys(("by", "confidence"), "report and compare have it"),
    **dict.fromkeys(
        ("systems", "baseline", "alternative", "margin", "corrected_over"), "compare has it"
    ),
    **dict.fromkeys(("got", "between"), "explain has it"),
    "mask": "give ignore_index=-100, and references that are -100 where the mask is False",
    **OF_LIBRARIES,
}
# Options that methods with another aggregation than `compute` do not accept.
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
    """A property computed on first access, as `cached_property`, but without a lock in Python 3.11.

    Spark pickles this class for its workers, and a lock cannot be pickled.
    """

    def __init__(self, compute: Callable[[Any], Computed]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, owner: Any, kind: type) -> Computed:
        """Return the value, and store it under the property's name; on the class, the property."""
        if owner is None:
            return self  # type: ignore[return-value]
        value: Computed = vars(owner).setdefault(self.compute.__name__, self.compute(owner))
        return value


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
    # Whether `score_order` was given, also "descending": only warnings depend on it.
    is_order_given: bool = field(default=False, compare=False)

    @classmethod
    def parse(cls, **given: Any) -> "Options":
        """Check the options of `compute`; None means the convention's choice."""
        if not _REMEMBERED_TYPES.issuperset(map(type, given.values())):
            return _parsed_options(**given)
        key = tuple((name, type(value), value) for name, value in given.items())
        # Another thread may clear them at any time.
        options = _REMEMBERED.get(key)
        if options is None:
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            options = _REMEMBERED[key] = _parsed_options(**given)
        return options

    @classmethod
    def for_method(
        cls,
        method: Callable[..., Any],
        k: Any,
        options: Mapping[str, Any],
        lacks: Sequence[str] = AGGREGATION_OPTIONS,
    ) -> "Options":
        """Check the options of a method that accepts the options of `compute`, except some."""
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
        """The names of results, with the measure and the index of the cutoff."""
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
        keep = None
        if self.duplicates == "best":
            # Of equal scores, the best is the one that ranks first.
            keep = "last" if self.ties == "last" else "first"
        return {"score_order": self.given_order, "labels": self.labels, "keep": keep}

    @property
    def given_order(self) -> str | None:
        """The order of scores; None if nobody said that the highest is best."""
        if self.score_order == "descending" and not self.is_order_given:
            return None
        return self.score_order

    @Derived
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of `reading.read`."""
        names = ("judged_only", "exclude_from", "ignore_index", "score_dtype")
        chosen = {name: getattr(self, name) for name in names}
        return {**chosen, **self.sides, "by_docid": self.ties == "docid"}

    @Derived
    def scoring(self) -> dict[str, Any]:
        """The keyword arguments of `scoring.measure_queries`."""
        names = ("gain", "discount", "log_base", "ideal", "zero_division", "negative_relevance")
        chosen = {name: getattr(self, name) for name in names}
        if self.labels is not None:  # the relevances are the gains of labels by now
            chosen |= {"gain": "linear", "negative_relevance": "keep"}
        # By "docid", documents are read in ascending order of ids.
        ties = "last" if self.ties == "docid" else self.ties
        return {"measures": self.measures, "cutoffs": self.cutoffs, "ties": ties, **chosen}

    @Derived
    def gains(self) -> dict[str, Any]:
        """The keyword arguments of the kernel that the gain of a document depends on."""
        return {name: self.scoring[name] for name in ("gain", "negative_relevance")}

    @property
    def base_above(self) -> float:
        """The bound that the base of the logarithm must exceed; -inf if there is no logarithm."""
        if isinstance(self.discount, str):
            return DISCOUNTS[self.discount].base_above
        return -math.inf

    @property
    def names(self) -> list[str]:
        """The names of all results."""
        return [name for name, _, _ in self.results]

    def signature(self, *, weighted: bool = False, excluding: bool = False) -> str:
        """Return every option that the scores depend on, in one line."""
        chosen = dict(vars(self))
        chosen["gain"] = _function_name("gain", self.gain, LABELS)
        chosen["discount"] = _function_name("discount", self.discount, RANKS)
        chosen["judged_only"] = "removed" if self.judged_only else "0"
        if self.base_above < 0:
            del chosen["log_base"]  # no score depends on it
        ending = [f"v:{__version__}"]
        if weighted:
            ending.append("weights:given")
        if excluding:
            ending.append("excluded:given")
        else:
            del chosen["exclude_from"]  # nor on this
        parts = ["+".join(self.names)]
        for name, option in OPTIONS.items():
            value = chosen.get(name)
            # What nearly all scores have in common is left out.
            if not option.said_as or value in (None, *option.unsaid):
                continue
            parts.append(f"{option.said_as}:{value}".removesuffix(".0"))
        return "|".join([*parts, *ending])


def _parsed_options(**given: Any) -> Options:
    """Check the convention, then the options in the order of the table, then all together."""
    for name in sorted(given.keys() - OPTIONS.keys()):
        raise TypeError(f"unknown option {name[:100]}; the options are {', '.join(OPTIONS)}")
    values = {name: option.default for name, option in OPTIONS.items()} | given
    convention = CONVENTIONS[_checked_option("convention", values["convention"])]
    checked = {}
    for name, option in OPTIONS.items():
        value = values[name]
        if value is None:
            # What the convention does not set has its usual value.
            value = getattr(convention, name, option.usual)
        checked[name] = _checked_option(name, value)
    cutoffs, measures = checked.pop("k"), checked.pop("measures")
    # A cutoff of `k` is for measures without one.
    if values["k"] is not None and all(cutoff is not None for _, cutoff in measures):
        both = " and ".join(_setting(name, values[name]) for name in ("k", "measures"))
        raise InputError(f"{both} both give cutoffs; give one of the two")
    if checked.pop("ignore_ties"):
        if values["ties"] not in (None, "last"):
            meaning = f"{mark('ignore_ties', True)} means {mark('ties', 'last')}"
            other = _setting("ties", values["ties"])
            raise InputError(f"{meaning}, but {other} was given too; give one of the two")
        checked["ties"] = "last"
    del checked["convention"]
    checked["is_order_given"] = values["score_order"] is not None
    options = Options(_with_cutoffs(measures, cutoffs), **checked)
    if options.log_base <= options.base_above:
        allowed = f"above {options.base_above:g} for {mark('discount', options.discount)}"
        raise must_be("log_base", allowed, options.log_base)
    if options.ideal == "full":
        setting = "convention" if values["ideal"] is None else "ideal"
        _refuse_endless_ideal(options.cutoffs, mark(setting, values[setting]))
    if options.engine == "sklearn":
        _refuse_what_sklearn_lacks(values, options)
    return options


def _setting(name: str, value: Any) -> str:
    """Return an option and its value as they were given."""
    return mark(name, value, said=f"{name}={shown(value)}")


def _checked_option(name: str, value: Any) -> Any:
    if name in _CHECKS:
        return _CHECKS[name](value)
    option = OPTIONS[name]
    if not option.is_flag:
        return choice(name, value, tuple(option.words))
    is_flag = isinstance(value, (bool, np.bool_))
    return bool(_allowed(is_flag, name, "True or False", value))


OF_COMPUTE = tuple(OPTIONS)  # the names of all options


def signature(
    k: Cutoffs = None,
    *,
    sample_weight: Any = None,
    exclude: Any = None,
    **options: Unpack[ComputeOptions],
) -> str:
    """Return every option that a score depends on, in one line, to compare only equal signatures.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        sample_weight: the weights of the queries; the signature records whether there are any.
        exclude: documents to exclude; the signature records whether there are any.
        **options: the options of `compute`.

    >>> signature(k=10)
    'nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:3.0.0'
    """
    return Options.for_method(signature, k, options, lacks=()).signature(
        weighted=sample_weight is not None, excluding=exclude is not None
    )


def shows_options(function: Function) -> Function:
    """Show the options of `compute` in the signature of a function with them as `**options`."""
    parameters = named_parameters(function)
    for name, option in OPTIONS.items():
        kind = inspect.Parameter.KEYWORD_ONLY
        parameter = inspect.Parameter(name, kind, default=option.default, annotation=Any)
        parameters.setdefault(name, parameter)
    signature = inspect.signature(function).replace(parameters=list(parameters.values()))
    vars(function)["__signature__"] = signature
    return function


def named_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function by their names, without `*args` and `**options`."""
    parameters = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {parameter.name: parameter for parameter in parameters if parameter.kind not in several}


def result_name(measure: str, k: int | None) -> str:
    """Return the name of a measure at a cutoff.

    >>> result_name("nDCG", 10), result_name("nDCG", None)
    ('nDCG@10', 'nDCG')
    """
    if k is None:
        return measure
    return f"{measure}@{k}"


def measure_of(name: str) -> str:
    """Return the measure of a result by its name.

    >>> measure_of("nDCG@10")
    'nDCG'
    """
    return name.partition("@")[0]


def choice(name: str, value: Any, choices: Sequence[str], others: str = "") -> str:
    """Return a value if it is one of several words; else the error names the nearest one.

    The error also names what other values there may be.
    """
    if isinstance(value, str) and value in choices:
        return str(value)
    word = nearest(shown(value).strip("'"), choices)
    hint = f'did you mean "{word}"?' if word else ""
    raise must_be(name, f"one of {_quoted(choices)}{others}", value, hint)


def _allowed(holds: bool, name: str, allowed: str, value: Any) -> Any:
    """Return a value if a condition on it holds; else the error says what it may be."""
    if not holds:
        raise must_be(name, allowed, value)
    return value


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def is_real(value: Any) -> bool:
    """Return whether a value is a number in the range of float64; a bool is not."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def real(value: Any) -> float:
    """Return a number as a float; nan for anything else, which is in no range."""
    return float(value) if is_real(value) else math.nan


def _is_finite(value: Any) -> bool:
    return math.isfinite(real(value))


def between_0_and_1(name: str, value: Any, example: float) -> float:
    """Return a level, such as a confidence level, that is not too close to 0 or 1."""
    # The quantile of a two-sided interval must not round to the median or to 1.
    is_level = 0.5 < (1 + real(value)) / 2 < 1
    return float(_allowed(is_level, name, f"between 0 and 1, such as {example}", value))


def in_units(name: str, value: Any) -> float:
    """Return an amount in units of the measure: a finite number, not negative."""
    allowed = "a finite number, at least 0, in units of the measure"
    return float(_allowed(0 <= real(value) < math.inf, name, allowed, value))


def whole(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return an integer from `least` to `most`."""
    allowed = f"an integer, at least {least}"
    if most < math.inf:
        allowed += f" and at most {most:,}"
    return int(_allowed(_is_whole(value, least, most), name, allowed, value))


def _is_whole(value: Any, least: int, most: float = math.inf) -> bool:
    return isinstance(value, Integral) and least <= real(value) <= most


def _refuse_endless_ideal(cutoffs: Sequence[int | None], setting: str) -> None:
    """Raise an error for cutoffs at which an ideal of k documents is infinite or too large."""
    longest = max(cutoffs, key=lambda k: k or math.inf)
    if not real(longest) <= LONGEST_IDEAL:
        allowed = f"given for {setting} and at most {LONGEST_IDEAL:,}"
        raise must_be("k", f"{allowed}, since its ideal has k documents", longest)


def refuse_unknown(
    options: Iterable[str], method: Callable[..., Any], lacks: Sequence[str] = ()
) -> None:
    """Raise a TypeError for an option that a method does not have."""
    for name in sorted(set(options) - set(OF_COMPUTE).difference(lacks)):
        raise _unknown_option(name, method, lacks)


def _unknown_option(name: str, method: Callable[..., Any], lacks: Sequence[str]) -> TypeError:
    """Return the error for an option that a method lacks: the nearest one, or all it has."""
    problem = f"{method.__name__} has no option {name[:100]}"
    if name in ELSEWHERE:
        return TypeError(f"{problem}; {ELSEWHERE[name]}")
    known = dict.fromkeys([*named_parameters(method), *OF_COMPUTE])
    options = [option for option in known if option not in lacks]
    similar = nearest(name, options)
    if similar:
        return TypeError(f"{problem}; did you mean {similar}?")
    return TypeError(f"{problem}; it has {', '.join(options)}")


def _refuse_what_sklearn_lacks(values: Mapping[str, Any], options: Options) -> None:
    """Raise an error for an option that is set and that scikit-learn's ndcg_score lacks."""
    usual = {name: option.default for name, option in OPTIONS.items()} | {"measures": ("nDCG",)}
    others = [name for name in values if name not in ("k", "ignore_ties", "engine")]
    for name in others:
        value = values[name]
        # An option whose default is the convention's choice has no usual value.
        is_set = value is not None
        if usual[name] is not None:
            is_set = getattr(options, name, value) != usual[name]
        if is_set:
            raise InputError(
                f"{mark('engine', 'sklearn')}: sklearn.metrics.ndcg_score has no option {name}; "
                f"got {shown(value)}"
            )


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, range)) or np.ndim(value) == 1


def _several(name: str, value: Any, check: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Check a single value or every value of a sequence; return them without duplicates."""
    if not _is_list(value):
        return (check(value),)
    if not len(value):
        raise InputError(f"{mark(name)} is empty; give at least one value")
    return tuple(dict.fromkeys(map(check, value)))


def _cutoff(k: Any) -> int | None:
    if k is None:
        return None
    return int(_allowed(_is_whole(k, 1), "k", f"a positive integer, {CUTOFFS}", k))


def _with_cutoffs(
    measures: Sequence[tuple[str, int | None]], cutoffs: Sequence[int | None]
) -> tuple[tuple[str, int | None], ...]:
    """Return measures with every cutoff, or with the one in the name."""
    pairs: list[tuple[str, int | None]] = []
    for measure, cutoff_in_name in measures:
        if cutoff_in_name is None:
            pairs += [(measure, cutoff) for cutoff in cutoffs]
        else:
            pairs.append((measure, cutoff_in_name))
    return tuple(dict.fromkeys(pairs))


def _measure(name: Any) -> tuple[str, int | None]:
    """Return a measure, and the cutoff in its name if there is one."""
    if not isinstance(name, str) or "@" not in name:
        in_trec_eval = re.fullmatch(r"'ndcg_cut[._]([0-9]+)'", shown(name))
        if in_trec_eval:
            raise InputError(f"{name} is nDCG@{in_trec_eval[1]} here", "measures")
        return choice("measures", name, MEASURES), None
    measure, _, cutoff = name.partition("@")
    # More digits than 18 do not fit into 64 bits, and Python refuses to read thousands.
    if not re.fullmatch("0*[1-9][0-9]{0,17}", cutoff):
        raise InputError(
            f"{mark('measures')} must have a positive integer after the @, as in nDCG@10; got "
            f"{shown(name)}"
        )
    return choice("measures", measure, MEASURES), int(cutoff)


def _log_base(value: Any) -> float:
    is_base = 0 < real(value) < math.inf and real(value) != 1
    return float(_allowed(is_base, "log_base", "a positive number other than 1", value))


def _zero_division(value: Any) -> float | str:
    if isinstance(value, str) and value == PERFECT_IF_EMPTY:
        return value
    excluding = "nan to exclude queries with no relevant documents from the mean"
    allowed = f'a finite number, {excluding}, or "{PERFECT_IF_EMPTY}"'
    is_value = is_real(value) and not math.isinf(float(value))
    return float(_allowed(is_value, "zero_division", allowed, value))


def _ignore_index(value: Any) -> float | None:
    if value is None:
        return None
    allowed = f"a finite number, the reference of padding{mark('None', before=', or ')}"
    _allowed(_is_finite(value), "ignore_index", allowed, value)
    if isinstance(value, Integral):  # which float64 might round
        return int(value)
    return float(value)


def _word_list_or_function(name: str, value: Any, words: Sequence[str], listed: str) -> Any:
    """Return a word, a list of finite numbers as an array, or a function."""
    if isinstance(value, str):
        return choice(name, value, words, f", {listed}")
    if callable(value):
        return value
    are_numbers = _is_list(value) and len(value) > 0 and all(map(_is_finite, value))
    numbers = _allowed(are_numbers, name, f"{_quoted(words)}, {listed}", value)
    return np.array(numbers, np.float64)


def _gain(value: Any) -> Gain | Labels:
    if isinstance(value, Mapping):
        return _gains_by_label(value)
    forms = mark("forms of gain", said="in a list or of any labels, {label: gain}, or a function")
    listed = f"the finite gains of labels 0, 1, 2, ... {forms}"
    return cast(Gain, _word_list_or_function("gain", value, tuple(GAINS), listed))


def _gains_by_label(given: Mapping[Any, Any]) -> Labels:
    """Return gains by label."""
    gains: dict[str | float, float] = {}
    for label, gain in given.items():
        if not isinstance(label, (str, bool, np.bool_)) and not _is_finite(label):
            problem = f"a label is text, a finite number or a flag; got {shown(label)}"
            raise InputError(problem, "gain")
        if not _is_finite(gain):
            problem = f"the gain of {shown(label)} must be a finite number; got {shown(gain)}"
            raise InputError(problem, "gain")
        compared = label_of(label)
        if compared in gains:
            # Such as 1 and "1".
            problem = f"the label {shown(label)} is there twice; give it once"
            raise InputError(problem, "gain")
        gains[compared] = float(gain)
    if not gains:
        raise InputError(f"{mark('gain')} is empty; give the gains of labels")
    # Numbers come first, since they do not compare with text.
    in_order = sorted(gains, key=lambda label: (isinstance(label, str), label))
    return Labels(tuple((label, gains[label]) for label in in_order))


def _discount(value: Any) -> Discount:
    listed = "a list of the discounts of rank 1, 2, 3, ... or a function"
    discount = _word_list_or_function("discount", value, tuple(DISCOUNTS), listed)
    if isinstance(discount, np.ndarray):
        check_discounts(discount, "the list")
    return cast(Discount, discount)


def _plain_number(value: float) -> str:
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

# What a function returns for these tells it from others in a signature: usual labels and ranks.
LABELS = np.array([*range(-2, 33), 100, 1000, *(0.1 * tenth for tenth in range(1, 50))])
RANKS = np.array([*range(1, 33), 100, 1000])


def _function_name(name: str, value: Gain | Labels | Discount, samples: Array) -> str:
    """Return the name of gains or discounts in a signature.

    The name of a function is a hash of its results for some values.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Labels):
        return value.signature
    if not callable(value):
        return ",".join(map(_plain_number, value))
    results: list[str] = []
    has_result = False
    with np.errstate(all="ignore"):
        # One value after another, since a function may fail for some of them.
        for start in range(len(samples)):
            try:
                result = np.asarray(value(samples[start : start + 1]), np.float64)
                results.append(repr(result.tolist()))
                has_result = True
            except Exception as error:  # noqa: BLE001 - whatever it raises, there is no result
                results.append(type(error).__name__)
    if not has_result:
        tried = {"gain": "labels 0, 1, 2", "discount": "ranks 1, 2, 3"}[name]
        raise InputError(
            f"{mark(name)} {shown(value)} has no value for any of the {tried}, ..., so the "
            "signature cannot identify it"
        )
    return f"function#{hashlib.sha256(' '.join(results).encode()).hexdigest()[:8]}"
