"""The settings of a score: which options can be chosen, how the page calls them, and as Python."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .metric import Options, tables

CONVENTIONS = tables.CONVENTIONS
LONGEST_CUTOFF = 100_000
MOST_CUTOFFS = 20
WHOLE = re.compile(r"0*([0-9]{1,9})")  # int refuses thousands of digits with another error
WORDED = ("gain", "discount", "ideal", "score_dtype", "ties")  # of which every word can be chosen
CHOICES = {
    **{name: [*tables.OPTIONS[name].words] for name in WORDED},
    "zero_division": ["0", "1", "nan", "perfect_if_empty"],
    "negative_relevance": [*tables.OPTIONS["negative_relevance"].words],
    "missing": ["empty", "skip"],  # an error in place of a result would say less
    "duplicates": [*tables.OPTIONS["duplicates"].words],
    "judged_only": ["false", "true"],
    "score_order": [*tables.OPTIONS["score_order"].words],
}
# the options that no convention sets, with their values on a first visit
OTHERS = {
    "log_base": "2",
    "duplicates": "raise",
    "judged_only": "false",
    "score_order": "",  # not said, so that the metric warns of scores that seem to be distances
}
LABELS = {
    "gain": "Gain",
    "discount": "Discount",
    "ideal": "Ideal",
    "score_dtype": "Scores compared",
    "ties": "Tied documents",
    "zero_division": "No relevant documents",
    "negative_relevance": "Negative relevance",
    "missing": "Query not in the run",
    "duplicates": "Listed several times",
    "judged_only": "Not judged",
    "score_order": "Ranked first",
}
WORDS = {  # of a choice on the page, if they are not its name
    "k": {"none": "all"},
    "ideal": {
        "judged": "all judged",
        "truncated": "as many as retrieved",
        "retrieved": "only retrieved",
        "full": "all of the highest gain",
    },
    "score_dtype": {"given": "as given", "float32": "as 32-bit floats"},
    "ties": {
        "average": "averaged",
        "first": "first comes first",
        "last": "last comes first",
        "best": "at their best",
        "worst": "at their worst",
        "docid": "by id",
    },
    "zero_division": {
        "nan": tables.empty_text(math.nan),
        "perfect_if_empty": tables.empty_text("perfect_if_empty"),
    },
    "negative_relevance": {"raise": "reject"},
    "missing": {"skip": "skipped", "empty": "nothing retrieved"},
    "duplicates": {"raise": "reject", "best": "count once"},
    "judged_only": {"false": "gain 0", "true": "removed"},
    "score_order": {
        "": "the highest score",
        "descending": "the highest score",
        "ascending": "the lowest score",
    },
}
Words = Mapping[str, str]  # by names of options, of arguments, or of parts of an address
NO_WORDS: Words = {}
SIDES = {"predictions": "run", "references": "judgments"}  # the names of both sides in files
IN_PYTHON = "in Python: {}"  # of what the page has no control for
CALLED = {  # how the page says what messages name as Python does; "" leaves it out
    **LABELS,
    "convention": "Convention",
    **dict.fromkeys(("k", "cutoff of nDCG"), "Top"),
    "log_base": "Base of the logarithm",
    "got": "The paper's score",
    "query_ids": "query ids",
    "sample_weight": "weights",
    "document_ids": "document ids",
    **dict.fromkeys(("predictions", "references", "swapped"), "{}"),
    "cutoffs": "all for the whole list, or several, such as 1, 5, 10",
    "forms of gain": "as 0, 1, 3, or label=gain, ...",
    "None": "null",
    **dict.fromkeys(("data", "file", "file of got", "pandas"), ""),
    **dict.fromkeys(
        ("by", "engine", "exclude", "exclude_from", "fields", "format", "preview"), IN_PYTHON
    ),
    **dict.fromkeys(("ignore_index", "ignore_ties", "measures", "use_aggregator"), IN_PYTHON),
    **dict.fromkeys(("alternative", "between", "margin"), IN_PYTHON),
    **dict.fromkeys(("options", "paired", "report"), IN_PYTHON),
}


def cutoffs_of(text: str) -> list[int | None]:
    """Return the cutoffs of a text such as "1, 5, 10"; of "all" or nothing, the whole list."""
    cutoffs = list(map(_cutoff, text.replace(";", " ").replace(",", " ").split()))
    if len(cutoffs) > MOST_CUTOFFS:
        raise tables.InputError(f"{len(cutoffs)} cutoffs; give at most {MOST_CUTOFFS}", "k")
    return cutoffs or [None]


def largest_cutoff(cutoffs: Sequence[int | None]) -> int | None:
    """Return the largest of some cutoffs; None for the whole list."""
    if None in cutoffs:
        return None
    return max(filter(None, cutoffs))


def _cutoff(text: str) -> int | None:
    if text.lower() in ("all", "none"):
        return None
    cutoff = whole_number(text, LONGEST_CUTOFF)
    if not cutoff:
        range_text = f"whole numbers from 1 to {LONGEST_CUTOFF:,}, such as 1, 5, 10"
        problem = f"{text[:40]!r} is not a cutoff: write {range_text}; or all for the whole list"
        raise tables.InputError(problem, "k")
    return cutoff


def whole_number(text: str, most: int) -> int:
    """Return the number from 1 to `most` that a text is; 0 for any other text."""
    match = WHOLE.fullmatch(text)
    if match is None or int(match[1]) > most:
        return 0
    return int(match[1])


def option_of(name: str, word: str) -> dict[str, Any]:
    """Return the option of `compute` for a word of the page; nothing if it is not said."""
    if not word:
        return {}
    if name == "judged_only":
        return {name: word == "true"}
    if name == "gain":
        return {name: tables.gain_in(word)}
    return {name: tables.number_in(word)}


def said(name: str, word: str) -> str:
    """Return a word as the page writes it."""
    text: str = WORDS.get(name, {}).get(word, word)
    return text


class Offer(NamedTuple):
    """What a press does about a problem: another word of an option, or another convention."""

    option: str
    word: str
    text: str


class Settings(NamedTuple):
    """How a ranking is scored: cutoffs, a convention, and the options that differ from it."""

    k: str = "10"
    convention: str = "sklearn"
    chosen: Words = NO_WORDS

    @property
    def usual(self) -> dict[str, str]:
        """The words of all options if the reader has chosen none."""
        options = CONVENTIONS[self.convention].options
        return {name: word_of(value) for name, value in options.items()} | OTHERS

    def word(self, name: str) -> str:
        """Return the word of an option."""
        return {**self.usual, **self.chosen}[name]

    def with_word(self, name: str, word: str) -> "Settings":
        """Return the settings with another word of an option, or with another convention."""
        if name == "convention":
            return Settings(self.k, word)
        if name == "k":
            return self._replace(k=word.strip())
        chosen = {**self.chosen, name: word}
        if word == self.usual[name]:
            del chosen[name]
        return self._replace(chosen=chosen)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `compute`."""
        options: dict[str, Any] = {"k": cutoffs_of(self.k)}
        for name, word in {**self.usual, **self.chosen}.items():
            options |= option_of(name, word)
        return options

    @property
    def drawn(self) -> dict[str, Any]:
        """The options at the largest cutoff, at which a ranking is drawn."""
        return {**self.options, "k": [self.cutoff]}

    @property
    def cutoff(self) -> int | None:
        """The largest cutoff; None for the whole list."""
        return largest_cutoff(cutoffs_of(self.k))

    @property
    def gain(self) -> str:
        """The gain in a word."""
        word = self.word("gain")
        return word if word in CHOICES["gain"] else "by label"

    @property
    def python(self) -> dict[str, Any]:
        """The cutoffs, the convention and what differs from it, as arguments of `compute`."""
        arguments: dict[str, Any] = {"k": cutoffs_of(self.k), "convention": self.convention}
        for name, word in self.chosen.items():
            arguments |= option_of(name, word)
        return arguments

    def check(self) -> None:
        """Raise an error for settings that no ranking can be scored by."""
        tables.Options.parse(**self.drawn)


def labels_of(options: Options) -> Any:
    """Return the labels that relevances are, with their gains; None if relevances are numbers."""
    return tables.Options.parse(gain=options.get("gain")).labels


def label_names(options: Options) -> list[str]:
    """Return the labels that a relevance may be, the lowest gain first; none if it is a number."""
    labels = labels_of(options)
    if labels is None:
        return []
    return [f"{label}" for label, _ in sorted(labels.gains, key=lambda pair: pair[1])]


def is_lowest_first(options: Options) -> bool:
    """Return whether the lowest score is best."""
    return bool(options.get("score_order") == "ascending")


def snippet(inputs: Mapping[str, Any], settings: Settings) -> str:
    """Return Python that computes the same."""
    arguments = {**inputs, **settings.python}
    lines = "".join(f"    {name}={_python(value)},\n" for name, value in arguments.items())
    load = 'ndcg = evaluate.load("ndcg.py")  # or the name of this Space'
    return f"import evaluate\n\n{load}\nndcg.compute(\n{lines})\n"


def _python(value: Any) -> str:
    if value != value:  # nan
        return 'float("nan")'
    return repr(value)


def in_words(message: Any, names: Words = NO_WORDS) -> str:
    """Return an error or a note of the metric in the words of the page, with these names."""

    def words(text: str, name: str, *values: Any) -> str:
        return names.get(name) or _on_page(text, name, values)

    sentence: str = tables.worded(message, words)
    return sentence


def _on_page(text: str, name: str, values: Sequence[Any]) -> str:
    """Return what the page calls an option or an argument; files and systems go by their names."""
    if name == "path":
        return Path(values[0]).name
    called = CALLED.get(name, "{}")
    # options that the page has no control for go by the first of them
    if name in ("systems", "options") and values:
        return called.format(values[0])
    if not values or called in ("", IN_PYTHON):
        return called.format(text)
    if isinstance(values[0], dict):
        return f"in {called}: {tables.text_of_gain(values[0])}"
    choices = [f'"{said(name, word_of(value))}"' for value in values]
    return f"{called} set to {' or '.join(choices)}"


def word_of(value: Any) -> str:
    """Return the value of an option as a word of the page.

    >>> word_of(True), word_of(2.0), word_of("docid")
    ('true', '2', 'docid')
    """
    return f"{value}".removesuffix(".0").lower()
