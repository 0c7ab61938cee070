"""The names of fields: those that are known, and those that `fields=` gives.

A column of a table, a field of a record and of a hit have the same names. A name is known in any spelling of case,
underscores, hyphens and spaces. What has another name is never taken for granted: whatever could be a score or a
relevance is an error that shows the `fields=` to write.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np

from ..measure.labels import Labels
from ..measure.messages import InputError, brief, mark, nearest, shown

Possible = Mapping[str, tuple[str, ...]]  # the names that each field may have

# The first name that is present is used. Ids come before fields that may be text, judgments before possible scores.
# fmt: off
IDS = {
    "query": (
        "query_id", "qid", "topic_id", "question_id", "user_id", "customer_id", "session_id", "query", "topic",
        "question", "user", "uid",
    ),
    "document": (
        "document_id", "doc_id", "docno", "corpus_id", "pid", "passage_id", "chunk_id", "article_id", "item_id", "iid",
        "movie_id", "product_id", "document", "item",
    ),
}
IDS_OF_HITS = {
    "query": (*IDS["query"], "id"),
    "document": ("id", *IDS["document"], "node_id", "uuid", "object_id", "file_id"),
}
# Fields that may name queries or documents in two ways: users have several queries, and documents several chunks.
ALTERNATIVES = {
    "query": ("user_id", "customer_id", "session_id", "query", "topic", "user", "uid"),
    "document": tuple(name for name in IDS["document"] if name not in ("document", "item")),
}
LOWEST_FIRST = ("rank", "position", "distance", "dist", "loss")  # of which the lowest is best
VALUES_OF_ROWS = {
    "run": ("score", "prediction", "est", "sim", "similarity", "relevance_score"),
    "qrels": (
        "relevance", "rel", "reference", "label", "grade", "judgment", "judgement", "verdict", "relevance_label",
        "relevance_grade", "rating", "r_ui", "relevant", "is_relevant", "weight", "score",
    ),
    "exclude": (),
}
VALUES_OF_HITS = {
    "run": (*VALUES_OF_ROWS["run"], "_rankingscore", "@search.score", "certainty"),
    "qrels": ("has_answer", *VALUES_OF_ROWS["qrels"]),
    "exclude": (),
}
# fmt: on
OF_DOCUMENT = {"run": "score", "qrels": "relevance"}  # the field of the value of a document
ROLES = ("query", "document", "score", "relevance")
RECBOLE = re.compile(r":(token|float)(_seq)?$")  # the types that RecBole writes after the names of columns
INDEX = re.compile(r"(?:unnamed: \d+|index)?$|__", re.IGNORECASE)  # the rows' own names in tables of pandas
# what judges and annotators write in place of a grade
JUDGED = re.compile(
    r"(?i)\s*(?:(?:not|non|partially|partly|somewhat|highly|fully|very|perfectly|marginally)[ _-]?)*(?:ir)?relevant\s*|"
    r"\s*(?:yes|no|true|false|good|bad|fair|excellent|perfect|poor|correct|incorrect|pass|fail)\s*"
)

LONGEST_WORD = 40  # of a judge, in characters
# how the name of a judge's word ends, and what any name in the way to a grade holds
VERDICTS = (
    *("verdict", "judgment", "judgement", "relevance", "grade", "rating", "vote", "decision"),
    *("assessment", "opinion", "feedback", "evaluation", "level", "label", "relevancy", "usefulness"),
)
JUDGING = re.compile("vote|judg|grade|rating|stars|assess|opinion|score|relevan|verdict|review|feedback|label|decision")


class UnknownColumnError(InputError):
    """A table has no column with a known name for "query", "document", "score" or "relevance"."""

    def __init__(self, columns: Sequence[str], problem: str, others: Sequence[str] = ()) -> None:
        super().__init__(problem)
        self.columns = columns  # the fields without a column
        self.others = others  # the columns that are no known fields

    def with_hint(self, more: str = "") -> "UnknownColumnError":
        """Return the error with the argument that names the columns, and with more."""
        only = self.others[0] if len(self.columns) == len(self.others) == 1 else "..."
        if self.columns:
            self.hint = f"or give their names, {mark('fields', dict.fromkeys(self.columns, only))}"
        self.hint = "; ".join(filter(None, [self.hint, more]))
        return self


@lru_cache(1 << 12)
def plain_name(name: str) -> str:
    """Return a name in the spelling in which names are compared.

    >>> plain_name("Query-ID"), plain_name("queryId"), plain_name("query_id:token")
    ('queryid', 'queryid', 'queryid')
    """
    name = RECBOLE.sub("", name.strip()) if ":" in name else name
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


PLAIN = {
    name: plain_name(name)
    for names in (IDS_OF_HITS, VALUES_OF_HITS, {"": LOWEST_FIRST})
    for each in names.values()
    for name in each
}
COLUMNS_OF_ROWS = {PLAIN[name] for names in (*IDS.values(), *VALUES_OF_ROWS.values(), LOWEST_FIRST) for name in names}


@dataclass(frozen=True)
class Names:
    """The names that the fields of one side may have."""

    kind: str  # "run", "qrels" or "exclude"
    given: Mapping[str, Any]  # the names that `fields` gives, by field; None for a field that is not there
    score_order: str = "descending"
    labels: Labels | None = None  # what the relevances may be in place of numbers
    # of a document that a run lists several times, its best row is kept, the first or the last of equal scores; None:
    # an error
    keep: str | None = None

    @property
    def ascending(self) -> bool:
        """Whether the lowest score is best."""
        return self.score_order == "ascending" and self.kind == "run"

    @property
    def value(self) -> str:
        """The field of the value of a document, "score" or "relevance"; empty for documents to exclude."""
        return OF_DOCUMENT.get(self.kind, "")

    @property
    def has_no_value(self) -> bool:
        """Whether `fields` says that documents have no value."""
        return self.value in self.given and self.given[self.value] is None

    @cached_property
    def columns(self) -> Possible:
        """The names that the columns of a table may have."""
        return self._possible(IDS, VALUES_OF_ROWS)

    @cached_property
    def of_hits(self) -> Possible:
        """The names that the fields of a hit, and of an object with the hits of a query, may have."""
        return self._possible(IDS_OF_HITS, VALUES_OF_HITS)

    def _possible(self, ids: Possible, values: Possible) -> Possible:
        possible = dict(ids)
        if self.value and not self.has_no_value:
            possible[self.value] = (*LOWEST_FIRST, *values[self.kind]) if self.ascending else values[self.kind]
        taken = {plain_name(name) for names in self.given.values() for name in names or ()}
        for field, names in possible.items() if taken else ():
            possible[field] = tuple(name for name in names if plain_name(name) not in taken)
        for field, names in self.given.items():
            if field in possible:
                possible[field] = () if names is None else names
        return possible

    def within(self, path: tuple[str, ...]) -> "Names":
        """Return the names without the path to a list of objects, in which they are."""
        start = "".join(f"{name}." for name in path)
        given = {
            field: these and tuple(each.removeprefix(start) for each in these) for field, these in self.given.items()
        }
        return replace(self, given=given) if path else self

    def call(self, name: str | None) -> str:
        """Return the argument that names the value of a document, as it is written in a call.

        >>> print(InputError(Names("qrels", {}).call("stars")))
        fields={'relevance': 'stars'}
        """
        return mark("fields", {self.value: name})


def check_fields(fields: Any) -> dict[str, tuple[str | None, str | None]]:
    """Return `fields` as the name of each field in the run and in the qrels; None for a field that is not there.

    >>> check_fields({"document": ("docno", "pid"), "relevance": None})
    {'document': ('docno', 'pid'), 'relevance': (None, None)}

    Raises:
        ValueError: it is not a mapping, a field is unknown, or a name is not text.
    """
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        raise ValueError(f"fields must map {', '.join(ROLES)} to names of fields; got {shown(fields)}")
    found: dict[str, tuple[str | None, str | None]] = {}
    for field, name in fields.items():
        if field not in ROLES:
            near = nearest(str(field), ROLES)
            hint = f"; did you mean {near!r}?" if near else f"; the fields are {', '.join(ROLES)}"
            raise ValueError(f"fields: {shown(field)} is not a field{hint}")
        is_pair = isinstance(name, (list, tuple)) and len(name) == 2 and field in ("query", "document")
        pair = tuple(name) if is_pair else (name, name)
        if not all(each is None or (isinstance(each, str) and each) for each in pair):
            pairs = ", a pair of names (in the run, in the qrels)" if field in ("query", "document") else ""
            problem = f"must be the name of a field{pairs} or None; got {shown(name)}"
            raise InputError(f"{mark('fields', after=': ')}{mark(field)} {problem}")
        if field == "document" and None in pair:
            problem = f"{mark(field)} must be the name of a field, since each document has an id; got None"
            raise InputError(f"{mark('fields', after=': ')}{problem}")
        found[field] = (pair[0], pair[1])
    return found


def names_of_side(
    kind: str,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
) -> Names:
    """Return the names that the fields of one side may have, with the ones that `fields` gives for it."""
    if fields is None and labels is None and keep is None:
        return _known_names(kind, score_order)
    given: dict[str, Any] = {}
    for field, (of_run, of_qrels) in check_fields(fields).items():
        those = {"run": (of_run,), "qrels": (of_qrels,), "exclude": (of_qrels, of_run)}[kind]
        known = IDS.get(field, ()) if kind == "exclude" else ()
        given[field] = None if None in those else tuple(dict.fromkeys((*those, *known)))
    names = Names(kind, given, score_order, labels if kind == "qrels" else None, keep if kind == "run" else None)
    if names.value == "score" and score_order == "descending":
        for name in given.get("score") or ():
            refuse_lowest_first(name)
    return names


@cache
def _known_names(kind: str, score_order: str) -> Names:
    """Return the names that are known without `fields`, looked up once."""
    return Names(kind, {}, score_order)


def with_names_of_columns(fields: Any, **given: Any) -> Any:
    """Return `fields` with the names that other arguments give, such as `query_ids="reader"` beside two tables."""
    named = {field: name for field, name in given.items() if isinstance(name, str)}
    return {**named, **(fields or {})} if named and isinstance(fields, (Mapping, NoneType)) else fields


def refuse_lowest_first(name: Any, argument: str = "") -> None:
    """Raise an error for a column of scores whose name says that the lowest is best, such as "distance"."""
    plain = plain_name(name) if isinstance(name, str) else ""
    if plain in LOWEST_FIRST or "distance" in plain:
        hint = f"give {mark('score_order', 'ascending')}, or another name if the highest is best"
        raise InputError(f"the column {name!r} is best where it is lowest", argument, hint=hint)


def spelled(names: Iterable[Any], possible: Iterable[str]) -> list[Any]:
    """Return those of the names that are possible ones, in the order of these.

    >>> spelled(["docId", "Query-ID", "score"], ["query_id", "doc_id"])
    ['Query-ID', 'docId']
    """
    own: dict[str, Any] = {}
    for name in names:
        if isinstance(name, str):
            own.setdefault(plain_name(name), name)
    found = (own.get(PLAIN.get(each) or plain_name(each)) for each in possible)
    return list(dict.fromkeys(each for each in found if each is not None))


def is_last_resort(names: Iterable[Any], possible: Iterable[str]) -> bool:
    """Return whether the only known relevance is a score or a weight, which may be those of a model."""
    return {plain_name(name) for name in spelled(names, possible)} in ({"score"}, {"weight"}, {"score", "weight"})


def could_be_value(value: Any) -> bool:
    """Return whether a value could be a score or a relevance: a number, a flag, their text, a judge's word, or None.

    >>> [could_be_value(each) for each in (2, False, None, "1.0", "not relevant", "a title")]
    [True, True, True, True, True, False]
    """
    if isinstance(value, str):
        if len(value) > LONGEST_WORD:
            return False
        if JUDGED.fullmatch(value):
            return True
        try:
            float(value)
        except ValueError:
            return False
        return True
    return value is None or isinstance(value, (Real, Decimal, np.bool_)) or getattr(value, "ndim", None) == 0


UNRELATED = (  # fields that are neither ids nor values, although they may hold numbers
    *("version", "page", "page_number", "page_label", "total_pages", "year", "date", "time", "timestamp", "ts"),
    *("index", "idx", "chunk", "chunk_index", "iter", "iteration", "start", "end", "start_char", "end_char", "length"),
    *("tokens", "lang", "language", "title", "text", "content", "body", "name", "url", "source", "path", "author"),
    *("annotator", "level_0", "price", "start_index", "char_start", "char_end", "offset", "section", "paragraph"),
    *("line", "row", "slide", "sheet", "chunk_no", "chunk_size", "n_tokens", "num_tokens", "token_count", "word_count"),
    *(
        "size",
        "size_kb",
        "duration",
        "latency",
        "seconds",
        "hop",
        "step",
        "revision",
        "created",
        "created_at",
        "updated_at",
    ),
    *("modified", "mtime", "age_days", "lat", "lon", "is_table", "archived"),
)
ROLE_NAMES = {plain_name(name) for names in (*IDS_OF_HITS.values(), LOWEST_FIRST, UNRELATED) for name in names}


def unknown_values(names: Iterable[Any], value_of: Any) -> list[str]:
    """Return the names, of no known meaning, under which a record or a row has what could be a score or a relevance."""
    return [name for name in names if is_unknown(name) and could_be_value(value_of(name))]


def is_unknown(name: Any) -> bool:
    """Return whether a field has no known meaning: it is no id, rank or distance, no text and no index."""
    if not isinstance(name, str) or INDEX.match(name):
        return False
    plain = plain_name(name)
    return plain not in ROLE_NAMES and not plain.endswith(LOWEST_FIRST)


def unknown_error(names: Names, unknown: Sequence[str], there: str = "its hits have") -> str:
    """Return what an error says about fields that could be the value of a document, but have no known name."""
    them = brief(map(shown, unknown), ", ")
    none = "the order counts" if names.kind == "run" else "each document is relevant"
    judging = [name for name in unknown if len(unknown) == 1 or are_of_judges([name])]
    one = judging[0] if len(judging) == 1 else "..."
    say = f"give {names.call(one)}, or {names.call(None)} if {none}"
    if names.kind == "run":  # the order mostly counts, and other numbers, such as prices, are no scores
        say = f"give {names.call(None)} if {none}, or {names.call(one)} if that is the score"
        say += "" if names.ascending else f", with {mark('score_order', 'ascending')} if the lowest is best"
    return f"no {names.value} under a known name, but {there} {them}; {say}"


def for_one_side(field: str, called: str, names: Sequence[Any], kind: str) -> str:
    """Return what an error about a name that one side lacks says if that side has a known name, and the other this one.

    >>> print(InputError(for_one_side("query", "case", ["user_id", "hits"], "qrels")))
    ; if only the run has it, give a pair, fields={'query': ('case', 'user_id')}
    """
    known = spelled(names, IDS_OF_HITS.get(field, ()))
    if not known or kind == "exclude":
        return ""
    pair, other = ([called, known[0]], "run") if kind == "qrels" else ([known[0], called], "references")
    have = "have" if other == "references" else "has"
    return f"; if only the {other} {have} it, give a pair, {mark('fields', {field: tuple(pair)})}"


def are_of_judges(names: Iterable[Any]) -> bool:
    """Return whether one of the names has a word for judgments, such as those that lead to a grade in an object.

    >>> are_of_judges(["review", "value"]), are_of_judges(["meta", "split_id"])
    (True, False)
    """
    return any(JUDGING.search(plain_name(name)) for name in names if isinstance(name, str))


class OneToOne:
    """Tells whether two names for the same thing, such as `user_id` and `query`, group rows in the same way."""

    def __init__(self) -> None:
        self.one: dict[Any, Any] = {}
        self.other: dict[Any, Any] = {}

    def agree(self, one: Any, other: Any) -> bool:
        """Return whether no row so far has one of the two values with another partner."""
        return bool(self.one.setdefault(one, other) == other and self.other.setdefault(other, one) == one)


@lru_cache(1 << 10)
def alternatives(field: str, names: tuple[Any, ...], of_hits: bool = False) -> list[Any]:
    """Return the names of the ids of queries, or of documents, among which none is the obvious one.

    >>> alternatives("query", ("user_id", "query", "score")), alternatives("query", ("query_id", "user_id"))
    (['user_id', 'query'], [])
    >>> alternatives("document", ("id", "doc_id"), of_hits=True)  # a chunk and its document
    ['id', 'doc_id']
    """
    found = spelled(names, IDS_OF_HITS[field] if of_hits else IDS[field])
    several = spelled(found, ("id", *ALTERNATIVES[field]) if of_hits else ALTERNATIVES[field])
    return several if len(several) > 1 and several[0] == found[0] else []


def ambiguous(field: str, one: str, other: str) -> str:
    """Return what an error says about two names for the query, or the document, of a row."""
    noun = {"query": "queries", "document": "documents"}[field]
    call = mark("fields", {field: one}, {field: other})
    return f"{shown(one)} and {shown(other)} name its {noun} in different ways; say which one counts, {call}"
