"""The names of fields: the standard ones, and what `fields=` names.

The column of a table and the field of an object are chosen in the same way: by the name that
`fields` gives, else by a standard name, in any spelling of case, underscores, hyphens and spaces.
If no field, or more than one, could have a role, one error lists all fields with examples, and the
`fields=` to write. Nothing is guessed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain, filterfalse, islice
from types import NoneType
from typing import Any, NamedTuple

from ..measure.labels import Labels, instead_of_text, label_of
from ..measure.messages import (
    InputError,
    ShortRepr,
    brief,
    mark,
    marked,
    shown,
    within,
)
from .sources import in_python

ROLES = ("query", "document", "score", "relevance")
# The role of the value of a document, by side.
VALUE = {"run": "score", "qrels": "relevance", "exclude": ""}

# The standard names of a role, in groups: a name of a later group counts only if there is none
# of an earlier one. Where a group has two names of one side, nothing tells which is meant.
Groups = tuple[tuple[str, ...], ...]
Keys = tuple[str, ...]
# fmt: off
QUERY: Groups = (
    ("query_id", "qid", "topic_id", "question_id", "user_id", "customer_id", "session_id"),
    ("query", "topic", "question", "user", "uid"),
)
QUERY_OF_LISTS: Groups = (*QUERY, ("id",))  # of an object that holds the documents of a query
DOCUMENT: Groups = (
    ("document_id", "doc_id", "docno", "corpus_id", "pid", "passage_id", "chunk_id", "article_id",
     "item_id", "iid", "movie_id", "product_id"),
    ("document", "item"),
)
DOCUMENT_OF_HITS: Groups = (
    DOCUMENT[0], (*DOCUMENT[1], "id", "node_id", "uuid", "object_id", "file_id"),
)
LISTS_OF_IDS: Mapping[str, Groups] = {
    "run": (("retrieved_ids", "retrieved_doc_ids", "retrieved_context_ids"),
            ("ids", "doc_ids", "document_ids", "item_ids")),
    "qrels": (("relevant_ids", "relevant_doc_ids", "ground_truth_doc_ids", "expected_ids",
               "gold_doc_ids", "reference_context_ids"),
              ("ids", "doc_ids", "document_ids", "item_ids")),
    "exclude": (("ids", "doc_ids", "document_ids", "item_ids"),),
}
SCORE: Groups = (
    ("score", "prediction", "est", "sim", "similarity", "relevance_score", "certainty",
     "_rankingscore", "@search.score", "@search.rerankerscore", "rerank_score", "reranker_score",
     "final_score"),
)
DISTANCES = ("distance", "dist", "loss")  # scores if `score_order` says which is best
LOWEST_FIRST = ("rank", "position", *DISTANCES)  # scores if the lowest is best
RELEVANCE: Groups = (
    ("relevance", "rel", "reference", "label", "grade", "judgment", "judgement", "verdict",
     "relevance_label", "relevance_grade", "rating", "r_ui", "relevant", "is_relevant",
     "has_answer"),
    ("weight", "score"),  # of a model unless they stand alone beside the ids, as in BEIR
)
LISTS_OF_VALUES: Mapping[str, Groups] = {
    "run": (("scores", "similarities"),),
    "qrels": (("relevances", "relevance", "labels", "ratings", "grades", "judgments",
               "relevance_scores"),),
}
LOWEST_FIRST_LISTS = ("ranks", "distances")
# The names of scores, of what is a score in ascending order, and if `score_order` is given at all.
SCORES = (*SCORE, LOWEST_FIRST, DISTANCES)
SCORES_IN_LISTS = (*LISTS_OF_VALUES["run"], LOWEST_FIRST_LISTS, LOWEST_FIRST_LISTS[1:])
# fmt: on
USERS = ("user_id", "customer_id", "session_id", "user", "uid")  # who may have several queries
ASKED = ("query", "topic", "question", "id")  # what they ask, or what a log calls a request
NAMES_OF_RANKS = re.compile(
    r"(?:^|\W|_)(rank|position|pos|slot|order|row[ _-]?number)s?$", re.IGNORECASE
)
NAMES_OF_DISTANCES = re.compile(
    r"(?:^|\W|_)(distance|dist|loss|nll|perplexity|cost)(?:e?s)?$", re.IGNORECASE
)
START_OF_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
RECBOLE = re.compile(r":(token|float)(_seq)?$")  # the types that RecBole writes after names

# The names that pandas writes for the numbers of rows.
ROW_NUMBER = re.compile(r"(Unnamed: \d+)?|__index_level_\d+__")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*(\.[0-9]{3})*,[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
WITH_POINTS = 'give numbers, as column.str.replace(",", ".").astype(float) makes them'
# Letters and digits several times, with a digit in each.
SEVERAL_IDS = re.compile(r"[A-Za-z]*[0-9]\w*(?:([\s,;|]+)[A-Za-z]*[0-9]\w*)+")
# A number in a path, as in the names of a list that was flattened: "documents.0.id".
NUMBER_IN_PATH = re.compile(r"(?<=\.)[0-9]+(?=\.)")
NUMBERED_ID = re.compile(r".*\.[0-9]+\..*id", re.DOTALL)
GRADE = re.compile("[0-9]|10")  # as the name of a list of ids
MOST_FIELDS = 100  # a mapping with more keys is of queries or documents
MOST_LISTED = 30  # fields in an error
_EXAMPLE = ShortRepr()
_EXAMPLE.maxstring = _EXAMPLE.maxother = _EXAMPLE.maxlong = 30
_EXAMPLE.maxlist = _EXAMPLE.maxtuple = _EXAMPLE.maxdict = _EXAMPLE.maxset = 2
_EXAMPLE.maxlevel = 2


# Spelling


@lru_cache(1 << 12)
def plain_name(name: Any) -> str:
    """Return a name in the spelling in which names are compared; empty if it is no text.

    >>> plain_name("Query-ID"), plain_name("_id"), plain_name("query_id:token"), plain_name(0)
    ('queryid', 'id', 'queryid', '')
    """
    if not isinstance(name, str):
        return ""
    return RECBOLE.sub("", name.strip()).lower().replace("_", "").replace("-", "").replace(" ", "")


@cache
def plain_names(*groups: tuple[str, ...]) -> frozenset[str]:
    """Return the names of groups in the spelling in which names are compared."""
    return frozenset(map(plain_name, chain(*groups)))


def spelled(names: Iterable[Any], standard: Iterable[str]) -> list[Any]:
    """Return the names that are one of the standard names, in the order of these.

    >>> spelled(["docId", "Query-ID", "score"], ["query_id", "doc_id"])
    ['Query-ID', 'docId']
    """
    # Of two names of one spelling, the first counts.
    by_spelling = {plain_name(name): name for name in reversed(list(names))}
    spellings = dict.fromkeys(map(plain_name, standard))
    return [by_spelling[spelling] for spelling in spellings if spelling in by_spelling]


def refuse_repeated_names(names: Iterable[Any]) -> None:
    """Raise an error for two columns of one name."""
    for name, count in Counter(names).items():
        said, hint = shown(name), "give each a name of its own"
        if str(name) == "":  # as in a sheet
            said = "without a name"
            hint = "delete those that are empty, and a title above the names"
        if count > 1:
            raise InputError(f"has {count} columns {said}; {hint}")


def says_lowest_first(name: Any, pattern: re.Pattern[str] = NAMES_OF_DISTANCES) -> bool:
    """Return whether the last word of a name says that the lowest score is best.

    >>> [says_lowest_first(name) for name in ("cosineDistance", "hits.$dist", "distance_score")]
    [True, True, False]
    """
    return isinstance(name, str) and pattern.search(_in_words(name)) is not None


@lru_cache(1 << 12)
def _in_words(name: str) -> str:
    """Return the last name on a path with an underscore between its words."""
    last = RECBOLE.sub("", name.strip()).rpartition(".")[2]
    return START_OF_WORD.sub("_", last)


def is_lowest_first(name: Any) -> bool:
    """Return whether the name of scores says that the lowest is best, or that they are ranks."""
    # Lists are called "ranks", in the plural.
    return says_lowest_first(name) or plain_name(name).removesuffix("s") in LOWEST_FIRST


def refuse_lowest_first(name: Any, argument: str = "", noun: str = "column") -> None:
    """Raise an error for scores whose name says that the lowest is best, such as "distance".

    Args:
        name: the name of the scores, if nobody said which score is best.
        argument: the argument that has them.
        noun: what has this name.
    """
    if is_lowest_first(name):
        problem = f"the {noun} {name!r} is best where it is lowest"
        highest = f"{mark('score_order', 'descending')} if the highest is best"
        hint = f"give {mark('score_order', 'ascending')}, or {highest}"
        raise InputError(problem, argument, hint=hint)


def column_of_ranks(
    columns: Iterable[Any], chosen: Mapping[str, Any], names: "Names"
) -> dict[str, Any]:
    """Return the only column of ranks of a run, apart from its scores, under "rank", if any.

    Beside scores, positions may be others, as those that users of a log saw. Without scores the
    order of rows counts, which any name of a rank may contradict, even that of the document.
    """
    ranks = [name for name in columns if says_lowest_first(name, NAMES_OF_RANKS)]
    if "score" in chosen:
        ranks = spelled(fields_without_role(ranks, chosen), ["rank"])
    return {"rank": ranks[0]} if names.kind == "run" and len(ranks) == 1 else {}


def fields_read(side: Any) -> Mapping[str, Any]:
    """Return the fields that a side was read from, by their roles; nothing of one without them."""
    fields = getattr(side, "fields", {})
    return fields if isinstance(fields, Mapping) else {}  # a UUID has others


def fields_without_role(fields: Iterable[Any], chosen: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields that are not read, without the row numbers of pandas.

    >>> fields_without_role(["qid", "docid", "score", "system"], {"query": "qid", "score": "score"})
    ('docid', 'system')
    """
    roles = set(chosen.values())
    left = [str(field) for field in fields if field not in roles]
    return tuple(filterfalse(ROW_NUMBER.fullmatch, left))


def instead_of_relevance(kind: str, fields: Mapping[str, Any], others: Sequence[str]) -> str:
    """Return what an error says about text that was read as relevances, beside other fields.

    >>> print(InputError(instead_of_relevance("qrels", {"relevance": "reference"}, ["verdicts"])))
    ; the relevance is 'reference', and fields={'relevance': '...'} names another of 'verdicts'
    """
    if kind != "qrels" or not others:
        return ""
    return f"; the relevance is {shown(fields['relevance'])}{or_another('relevance', others)}"


def or_another(role: str, others: Sequence[str]) -> str:
    """Return what an error says about fields that may have a role in place of another, if any."""
    if not others:
        return ""
    call = mark("fields", {role: "..."})
    return f", and {call} names another of {brief(map(shown, others), ', ')}"


# The argument `fields`


class Field(NamedTuple):
    """A field of objects, or a column of a table."""

    keys: Keys  # the names that lead to it from an object; of a column its name
    example: Any = None
    lists: tuple[int, ...] = ()  # after how many of these keys there is a list of objects
    has_fields: bool = False  # whether it leads to objects, whose fields have longer paths
    # what may hold several documents there: "hits", objects in a list, a "list" or a "mapping"
    holder: str = ""
    name: str = ""  # the last of its keys, in the spelling in which names are compared

    @property
    def list_path(self) -> Keys:
        """The path to the innermost list of objects that holds the field."""
        return self.keys[: self.lists[-1]] if self.lists else ()

    @property
    def may_have_role(self) -> bool:
        """Whether it may be named: it holds no fields, or maps documents to values."""
        return not self.has_fields or isinstance(self.example, Mapping)


class Fields(dict[Any, Field]):
    """The fields of a side, by their names or paths."""

    are_columns = False  # of a table, which may hold no row

    def tells(self, path: Any) -> bool:
        """Return whether a field tells its role, as one of objects that is always null does not."""
        return self.are_columns or self[path].example is not None

    @cached_property
    def leaves(self) -> "Fields":
        """The fields that hold no fields themselves."""
        return Fields({path: field for path, field in self.items() if not field.has_fields})

    @cached_property
    def by_holder(self) -> Mapping[str, "Fields"]:
        """The fields that hold no fields, by what may hold several documents there."""
        held: dict[str, Fields] = defaultdict(Fields)
        for path, field in self.leaves.items():
            held[field.holder][path] = field
        return held

    @property
    def outside_lists(self) -> "Fields":
        """The fields that no list of objects holds."""
        return Fields({path: field for path, field in self.items() if not field.lists})

    def within(self, start: Keys) -> "Fields":
        """Return the fields in a list of objects, also in lists within it; all outside of lists."""
        fields = self.items()
        return Fields({path: one for path, one in fields if one.list_path[: len(start)] == start})

    def names_at(self, place: Keys) -> set[Any]:
        """Return the names of the fields of the objects at a path."""
        depth = len(place)
        keys = [one.keys for one in self.values() if one.keys[:depth] == place]
        return {path[depth] for path in keys if len(path) > depth}

    def beside(self, field: Field) -> "Fields":
        """Return the fields in the same list of objects as another, or outside of all lists."""
        place = field.list_path
        return Fields({path: one for path, one in self.items() if one.list_path == place})

    def among(self, paths: Iterable[Any]) -> "Fields":
        """Return the fields at some paths."""
        return Fields({path: self[path] for path in paths})


def columns_as_fields(examples: Mapping[Any, Any]) -> Fields:
    """Return the columns of a table, of which examples are given, without the row numbers."""
    fields = Fields()
    fields.are_columns = True
    for name, cell in examples.items():
        if not ROW_NUMBER.fullmatch(str(name)):
            fields[name] = Field((name,), cell, name=plain_name(name))
    return fields


class Given(NamedTuple):
    """The name or the path that `fields` gives for a role; None if there is no such field."""

    name: str | None
    is_shared: bool = False  # one name for both sides, of which one may lack it


NOT_GIVEN = Given(None)


def check_fields(fields: Any) -> dict[str, dict[str, Given]]:
    """Return `fields` as the names of every role in the sides by their kinds.

    >>> check_fields({"document": ("docno", "pid")})["document"]["qrels"]
    Given(name='pid', is_shared=False)

    Raises:
        ValueError: it is no mapping, a role is unknown, or a name is no text.
    """
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        roles = ", ".join(ROLES)
        raise ValueError(f"fields must map {roles} to names of fields; got {shown(fields)}")
    names: dict[str, dict[str, Given]] = {}
    for role, name in fields.items():
        if role not in ROLES:
            known = ", ".join(ROLES)
            raise ValueError(f"fields: {shown(role)} is not a field; the fields are {known}")
        names[role] = _by_kind(role, name)
    return names


def _by_kind(role: str, name: Any) -> dict[str, Given]:
    """Return the names of a role in the run, in the references and in documents to exclude."""
    must_be = "must be the name of a field"
    pair: Sequence[Any] = (name, name)
    is_shared = role in ("query", "document")
    if is_shared:
        must_be += ", a pair of names (in the run, in the qrels)"
        if isinstance(name, (list, tuple)):
            pair, is_shared = name, False
    place = f"{mark('fields', after=': ')}{mark(role)}"
    if len(pair) != 2 or not all(map(_is_name_or_none, pair)):
        raise InputError(f"{place} {must_be} or None; got {shown(name)}")
    if role == "document" and None in pair:
        problem = "must be the name of a field, since each document has an id; got None"
        raise InputError(f"{place} {problem}")
    in_run, in_qrels = (Given(name, is_shared) for name in pair)
    # A pair says what each side has, but documents to exclude may have standard names too.
    return {"run": in_run, "qrels": in_qrels, "exclude": Given(pair[1], is_shared=True)}


def _is_name_or_none(name: Any) -> bool:
    return isinstance(name, (str, NoneType)) and name != ""


def with_names_of_columns(fields: Any, **arguments: Any) -> Any:
    """Return `fields` with the names that other arguments give, such as `query_ids="reader"`."""
    named = {role: name for role, name in arguments.items() if isinstance(name, str)}
    if not isinstance(fields, (Mapping, NoneType)):
        return fields
    return {**named, **(fields or {})}


# The names of one side


def examples_of_names(names: "Names") -> str:
    """Return what advice says about the names of columns, of which it cannot know the third.

    >>> print(InputError(examples_of_names(names_of_side("run"))))
    such as query_id, doc_id, and score, or rank or distance with score_order="ascending"
    """
    ranks = f"rank or distance with {mark('score_order', 'ascending')}"
    examples = {
        "run": f"query_id, doc_id, and score, or {ranks}",
        "qrels": "query_id, doc_id and relevance",
        "exclude": "query_id and doc_id",
    }
    return f"such as {examples[names.kind]}"


class Names(NamedTuple):
    """The names that the fields of one side may have, and how its documents are read."""

    kind: str  # "run", "qrels" or "exclude"
    value: str  # the role of the value of a document; empty for documents to exclude
    given: Mapping[str, Given] = {}  # what `fields` gives, by role
    has_query_ids: bool = False  # whether `query_ids` names the queries of objects
    takes_query_ids: bool = False  # whether `query_ids` may be given, as beside objects in memory
    ascending: bool = False  # whether the lowest score is best
    # whether `score_order` says which score of a run is best; other sides have no order
    is_order_given: bool = True
    labels: Labels | None = None  # what the relevances may be in place of numbers
    # of a document that a run lists several times, its best row is kept, the first or the last of
    # equal scores; None: an error
    keep: str | None = None
    query_ids: Any = None  # the argument, beside a side in memory

    def name(self, role: str) -> str | None:
        """Return the name that `fields` gives for a role; None if it gives none."""
        return self.given.get(role, NOT_GIVEN).name

    @property
    def given_names(self) -> list[str]:
        """The names that `fields` gives, one per role that has one."""
        return [given.name for given in self.given.values() if given.name is not None]

    def written(self, role: str) -> Any:
        """Return what an error writes for a name: a pair if the other side may have that given."""
        return ("...", "...") if self.given.get(role, NOT_GIVEN).is_shared else "..."

    def says_none(self, role: str) -> bool:
        """Return whether `fields` says that no field has a role."""
        return role in self.given and self.name(role) is None

    @property
    def has_no_query(self) -> bool:
        """Whether `fields` says that no field names the query, whose position does."""
        return self.says_none("query")

    @property
    def has_no_value(self) -> bool:
        """Whether documents have no value: `fields` says so, or they are to be excluded."""
        return self.says_none(self.value)

    @property
    def query_of_number(self) -> Mapping[int, Any]:
        """The ids that `query_ids` has, by the numbers of their queries, as messages name them."""
        ids = in_python(self.query_ids)
        return dict(enumerate(ids)) if isinstance(ids, (list, tuple)) else {}

    @property
    def way_without_query(self) -> str:
        """How to name queries if no field does, as an error says it."""
        if self.takes_query_ids:
            return mark("query_ids", said="query_ids=[...]")
        return "JSON of the form {query: object}"

    def refuse_unknown_order(self, name: Any, noun: str = "column") -> None:
        """Raise an error for scores that may be best where they are lowest, if nobody said so."""
        if not self.is_order_given:
            refuse_lowest_first(name, noun=noun)

    def without_value(self) -> "Names":
        """Return the names for documents whose values are given beside them."""
        return self._replace(given={**self.given, self.value: Given(None)})

    def values(self, number_beside: int) -> Groups:
        """Return the standard names of a value, where so many fields stand beside the id."""
        if self.kind == "run":
            return self._scores(*SCORES)
        return RELEVANCE if number_beside == 1 else RELEVANCE[:1]

    @property
    def values_in_lists(self) -> Groups:
        """The standard names of lists of values."""
        if self.kind == "run":
            return self._scores(*SCORES_IN_LISTS)
        return LISTS_OF_VALUES["qrels"]

    def _scores(self, scores: Keys, lowest_first: Keys, distances: Keys) -> Groups:
        """Return the names that are scores in the order that `score_order` says."""
        if self.ascending:
            return ((*lowest_first, *scores),)
        if self.is_order_given:
            return (scores, distances)  # Milvus calls a similarity a distance
        return (scores,)

    def candidates(self, role: str, fields: Fields, standard: Groups) -> list[Any]:
        """Return the fields that could have a role: what `fields` names, or standard ones."""
        return self.candidates_among(role, fields, [(fields, standard)])

    def candidates_among(
        self, role: str, fields: Fields, standard: Sequence[tuple[Fields, Groups]]
    ) -> list[Any]:
        """Return the fields that could have a role, of several kinds with other standard names.

        A name of an earlier group counts first, of whichever kind its field is.
        """
        if role in self.given:
            name, is_shared = self.given[role]
            if name is None:
                return []
            named = _called(name, fields)
            # One name for both sides may be that of the other side alone.
            if named or not is_shared:
                return named
        present = _with_standard_names(standard, self.given_names)
        return [*present, *_asked_by_users(present, fields, standard)]


def _with_standard_names(
    standard: Sequence[tuple[Fields, Groups]], taken: Sequence[str]
) -> list[Any]:
    """Return the fields with a standard name, of the first group that has any of their names.

    Fields that are taken have another role.
    """
    by_group: dict[int, list[Any]] = defaultdict(list)
    for possible, groups in standard:
        group_of = _group_of_names(groups)
        for path, field in possible.items():
            group = group_of.get(field.name)
            if group is not None and path not in taken and possible.tells(path):
                by_group[group].append(path)
    return by_group[min(by_group, default=0)]


@cache
def _group_of_names(groups: Groups) -> dict[str, int]:
    """Return the number of the first group that has a name, in the spelling of `plain_name`."""
    numbered = list(enumerate(groups))
    return {name: number for number, group in reversed(numbered) for name in plain_names(group)}


def _called(name: str, fields: Fields) -> list[Any]:
    """Return the field with this name or path; without one, the fields whose path it ends."""
    if name in fields and fields[name].may_have_role:
        return [name]
    if "." in name:
        return [path for path in fields.leaves if str(path).endswith(f".{name}")]
    return fields_called([plain_name(name)], fields.leaves)


def fields_called(names: Collection[str], fields: Fields) -> list[Any]:
    """Return the fields with one of some names, which are spelled as `plain_name` does."""
    return [path for path, field in fields.items() if field.name in names]


def _asked_by_users(
    present: Sequence[Any], fields: Fields, standard: Sequence[tuple[Fields, Groups]]
) -> list[Any]:
    """Return the fields of what users ask beside fields of users alone: nothing tells which."""
    if not present or not {fields[path].name for path in present} <= PLAIN_USERS:
        return []
    groups = chain.from_iterable(groups for _, groups in standard)
    return fields_called(plain_names(*groups).intersection(ASKED), fields)


def names_of_side(
    kind: str,
    fields: Any = None,
    score_order: str | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
    has_query_ids: bool | None = None,
    query_ids: Any = None,
) -> Names:
    """Return the names that the fields of one side may have.

    The order of scores is None if nobody said which one is best; then it is the highest.
    `has_query_ids` is None where there can be no argument `query_ids`, which names queries in
    messages.
    """
    value = VALUE[kind]
    # The value of the other side may be a field of this one too.
    roles = ("query", "document", value)
    given = {role: sides[kind] for role, sides in check_fields(fields).items() if role in roles}
    names = partial(
        Names,
        kind,
        value,
        given,
        has_query_ids or False,
        takes_query_ids=has_query_ids is not None,
        query_ids=query_ids,
    )
    if kind == "qrels":
        return names(labels=labels)
    if kind == "run":
        is_given = score_order is not None
        return names(ascending=score_order == "ascending", is_order_given=is_given, keep=keep)
    # Documents to exclude have no value, and may be repeated.
    given[value] = Given(None)
    return names(keep="first")


PLAIN_USERS = plain_names(USERS)
PLAIN_RELEVANCES = plain_names(RELEVANCE[0])
PLAIN_SCORES = plain_names(SCORE[0])
# The role of each standard name, in the spelling of `plain_name`.
_ROLE_OF_NAME = {
    **dict.fromkeys(plain_names(*QUERY), "query"),
    **dict.fromkeys(plain_names(*DOCUMENT_OF_HITS), "document"),
    **dict.fromkeys(plain_names(*SCORE, *RELEVANCE), "value"),
}


def are_names_of_fields(names: Iterable[Any]) -> bool:
    """Return whether names are of fields, not of queries or documents: two roles have one.

    >>> are_names_of_fields(["query_id", "docno", "x"]), are_names_of_fields(["query", "apple"])
    (True, False)
    """
    roles = set(map(_ROLE_OF_NAME.get, map(plain_name, names)))
    return len(roles - {None}) >= 2


def may_be_fields(keys: Mapping[Any, Any]) -> bool:
    """Return whether the keys of a mapping are names of fields, and no queries or documents."""
    # To spell many ids would take long, and no object has so many fields.
    return 1 < len(keys) < MOST_FIELDS and are_names_of_fields(keys)


# Choosing, and the error of a choice that is not clear


class UnknownFieldError(InputError):
    """No field, or more than one, could have a role.

    Args:
        problems: what is not clear, in sentences.
        written: what the error writes for the names of the roles that are not clear.
        chosen: the fields of the roles that are clear.
        there: what has the fields.
        fields: all fields there.
        ways: what else to do than to name a field, in sentences.
    """

    def __init__(
        self,
        problems: Sequence[str],
        written: Mapping[str, Any],
        chosen: Mapping[str, Any],
        there: str,
        fields: Fields,
        ways: Sequence[str] = (),
    ) -> None:
        super().__init__("")
        self.problems, self.written, self.chosen = problems, dict(written), chosen
        self.examples = {path: field.example for path, field in fields.items()}
        self.others = tuple(self.examples)  # none of them is read
        self.is_document_in_list = fields.get(chosen.get("document"), Field(())).holder != ""
        self.fields = f"{there} {listed_fields(self.examples)}"
        self.have_lists = any(field.lists for field in fields.values())
        self.ways: list[str] = []
        self.add(*ways)

    def add(self, *ways: str) -> None:
        """Add what else to do, and write the message."""
        self.ways += ways
        write = fields_to_write(self.written, self.ways)
        self.problem = f"{self.unclear}; {self.fields}; {write}"

    def add_decimals(self, hint: str) -> None:
        """Add what to do if the first number with a comma has it for decimals, if there is one."""
        texts = [example for example in self.examples.values() if isinstance(example, str)]
        number = next(filter(DECIMAL_COMMA.fullmatch, texts), None)
        if number is not None:
            self.add(f"if {number!r} has a comma for decimals, {hint}")

    def ask_for_both_lists(self) -> None:
        """Ask for the documents of each side, which one log may have in two lists."""
        if "document" in self.written or self.is_document_in_list:
            self.written["document"] = ("...", "...")
            self.add()

    @property
    def roles(self) -> list[str]:
        """The roles that are not clear."""
        return list(self.written)

    @property
    def unclear(self) -> str:
        """What is not clear, and what would be read of the rest."""
        clear = [f"the {role} is {shown(field)}" for role, field in self.chosen.items()]
        return "; ".join([*self.problems, *clear])


def chosen_fields(
    candidates: Mapping[str, Sequence[Any]], names: Names, fields: Fields, there: str
) -> dict[str, Any]:
    """Return the fields of the roles, among their candidates.

    A role that has no field, as `fields` says, is left out. `there` is what has the fields, as an
    error says it.

    Raises:
        UnknownFieldError: a role has no candidate, or more than one.
        InputError: the document is one of a list that was flattened into fields, or is in one of
            several lists by grade.
    """
    chosen: dict[str, Any] = {}
    unclear: dict[str, Sequence[Any]] = {}
    for role, possible in candidates.items():
        if len(possible) == 1:
            chosen[role] = possible[0]
        elif not names.says_none(role):
            unclear[role] = possible
    _refuse_one_of_flattened(chosen.get("document"), fields)
    if names.kind == "qrels" and "document" in unclear:
        _refuse_lists_by_grade(fields)
    if unclear:
        problems = _problems(unclear, names, fields)
        written, ways = _ways_to_choose(unclear, chosen, names, fields)
        raise UnknownFieldError(problems, written, chosen, there, fields, ways)
    # A score that is the relevance too would make every ranking ideal.
    twice = [role for role, field in chosen.items() if list(chosen.values()).count(field) > 1]
    if twice:
        problem = f"one field is named twice, {shown(chosen[twice[0]])}"
        raise UnknownFieldError([problem], dict.fromkeys(twice, "..."), {}, there, fields)
    return chosen


def _ways_to_choose(
    unclear: Mapping[str, Sequence[Any]], chosen: Mapping[str, Any], names: Names, fields: Fields
) -> tuple[dict[str, Any], list[str]]:
    """Return what an error writes for the names of unclear roles, and what else to do."""
    if names.kind == "exclude":  # whose fields `fields` does not name
        by_query = mark("pandas", said="{query: ids}", before=", or give ")
        return {}, [f"rename its columns to user_id and item_id{by_query}"]
    if not fields:
        return {}, [f"give pairs, {{query: [(id, {names.value}), ...]}}"]
    ways = []
    if "score" in unclear and not names.is_order_given:
        order = mark("score_order", "ascending", "descending")
        ways.append(f"a rank or a distance as the score needs {order}")
    ways += [*_word(chosen, names, fields), *_flattened(fields, fields)]
    if "document" in unclear:
        ways += _several_ids(fields)
    if fields.are_columns and "query" in unclear and "document" in chosen:
        ways.append("if all rows are of one query, add a column query_id with its id")
    return {role: names.written(role) for role in unclear}, ways


def _refuse_one_of_flattened(document: Any, fields: Fields) -> None:
    """Raise an error for a field such as `documents.0.id` beside `documents.1.id`."""
    hints = _flattened(fields.keys() & {document}, fields)
    if hints:
        problem = f"{shown(document)} is one document of a list that was flattened into fields"
        raise InputError(f"{problem}; {hints[0]}")


def _flattened(paths: Iterable[Any], fields: Fields) -> list[str]:
    """Return what to do with the first path such as `documents.0.id` beside `documents.1.id`.

    The ids of such a list are nearly always under a name that ends in "id".
    """
    for path in paths:
        if not NUMBERED_ID.fullmatch(str(fields[path].keys[-1])):
            continue
        *outer, last = pattern = _pattern(fields[path])
        if list(map(_pattern, fields.values())).count(pattern) == 1:
            continue
        row = "".join(["row", *(f"[{key!r}]" for key in outer)])
        name, first = f"f{last!r}", repr(last.replace("{n}", "0"))
        ids = f"[{row}[name] for n in range(100) if (name := {name}) in {row}]"
        by_query = f"{{row['...']: {ids} for row in rows if {first} in {row}}}"
        # The objects in a list would need another loop.
        call = "" if fields[path].lists else mark("pandas", said=by_query, before=", ")
        return [f"make a list of all {'.'.join(pattern)}{call}"]
    return []


def _pattern(field: Field) -> Keys:
    """Return the keys of a field, with {n} for a number in the last one, which may be a path."""
    *outer, last = map(str, field.keys)
    return (*outer, NUMBER_IN_PATH.sub("{n}", last))


def _refuse_lists_by_grade(fields: Fields) -> None:
    """Raise an error for lists of ids under their grades, such as `3` beside `2`.

    If the document is another field, or `fields` names it, they are no such lists.
    """
    lists = fields.by_holder["list"].items()
    by_grade = [path for path, field in lists if GRADE.fullmatch(str(field.keys[-1]))]
    if len(by_grade) > 1:
        row = "".join(["row", *(f"[{key!r}]" for key in fields[by_grade[0]].keys[:-1])])
        problem = f"{brief(map(shown, by_grade), ', ')} are numbers that name lists"
        by_id = f"{{id: int(grade) for grade, ids in {row}.items() for id in ids}}"
        raise InputError(f"{problem}; if they are grades, give {{query: {by_id}}}")


def _problems(unclear: Mapping[str, Sequence[Any]], names: Names, fields: Fields) -> list[str]:
    """Return what is not clear, in sentences."""
    problems = []
    lacking = []
    for role, possible in unclear.items():
        name = names.name(role)
        if possible and (name is None or _called(name, fields)):
            several = brief(map(shown, possible), ", ")
            problems.append(f"several fields could be the {role}: {several}")
        elif name is None:
            lacking.append(role)
        elif name in fields:
            problems.append(f"{shown(name)} has several values, and could not be the {role}")
        else:
            problems.append(f"no field called {shown(name)} could be the {role}")
    if lacking:
        *first, last = lacking
        listed = " or ".join(filter(None, [", ".join(first), last]))
        problems.append(f"no {listed} under a standard name")
    return problems


def _several_ids(fields: Fields) -> list[str]:
    """Return what an error says about the first cell that seems to hold several ids, if any."""
    for name, field in fields.items():
        text = str(field.example)
        several = SEVERAL_IDS.fullmatch(text)
        if several and not DECIMAL_COMMA.fullmatch(text):
            separator = several[1].strip() and repr(several[1])  # none splits at all spaces
            return [f"if {shown(name)} holds several ids, give {{query: cell.split({separator})}}"]
    return []


def _word(chosen: Mapping[str, Any], names: Names, fields: Fields) -> list[str]:
    """Return what an error says about a word as a relevance, which would be refused next."""
    example = fields.get(chosen.get("relevance"), Field(())).example
    word = example.strip() if isinstance(example, str) else ""
    is_number = label_of(word) != word or DECIMAL_COMMA.fullmatch(word)
    if word == "" or is_number or names.labels is not None:
        return []
    return [f"{shown(word)} is not a number; {instead_of_text(word, ['...'])}"]


def fields_to_write(names: Mapping[str, Any], ways: Sequence[str]) -> str:
    """Return what an error says to write for roles that are not clear, or to do in other ways."""
    preview = f"{mark('preview', said='ndcg.preview(...)')} then shows what is read"
    if not names:
        return "; ".join([*ways, preview])
    in_order = sorted(names.items(), key=lambda item: ROLES.index(item[0]))
    words = f"give {mark('fields', dict(in_order))}"
    if "relevance" in names:
        call = mark("gain", {"...": "..."}, said="gain={'...': ...}")
        none = mark("fields", {"relevance": None})
        each = f"each document of the {mark('references')}"
        words += f", with {call} for words, or {none} if {each} is relevant"
    if "score" in names:
        words += f", or {mark('fields', {'score': None})} if the order counts"
    return "; ".join([words, *ways, preview])


def listed_fields(examples: Mapping[Any, Any]) -> str:
    """Return fields with examples, as messages show them.

    >>> listed_fields({"case": 1, "hits.id": "d1"})
    "'case' (1), 'hits.id' ('d1')"
    """
    if not examples:
        return "none"
    first = islice(examples.items(), MOST_LISTED)
    words = ", ".join(f"{shown(field)} ({_example(example)})" for field, example in first)
    more = len(examples) - MOST_LISTED
    return f"{words} and {more} more" if more > 0 else words


def _example(value: Any) -> str:
    try:
        return " ".join(_EXAMPLE.repr(value).split())
    except Exception:  # noqa: BLE001 - a value that cannot be shown is no reason for another error
        return type(value).__name__


def one_error(
    errors: Mapping[str, InputError], are_one: bool, read: Mapping[str, Any]
) -> InputError:
    """Return one error for the errors of several sides, by argument.

    If the sides `are_one`, such as a log, the query has one name and the documents have two, which
    they have too if both list the same fields. Other sides may have been `read`.
    """
    relevance = fields_read(read.get("references")).get("relevance")
    may_have_two_lists = _may_have_two_lists({**read, **errors}, are_one)
    unknown: dict[str, UnknownFieldError] = {}
    for argument, error in errors.items():
        if isinstance(error, UnknownFieldError):
            within(error, argument, instead_of=argument)
            unknown[argument] = error
            if may_have_two_lists:
                error.ask_for_both_lists()
            if "score" in error.roles and plain_name(relevance) in PLAIN_SCORES:
                problem = f"the relevance of the references is {shown(relevance)}"
                error.add(f"{problem}; {mark('swapped', said='are both sides swapped?')}")
            error.add(*_on_other_sides(error, read), *_integers_on_other_sides(error, read))
    # Names that are lacking on both sides are asked for together, so that one answer is enough.
    if len(unknown) == len(errors) > 1:
        return _unknown_on_sides(unknown, are_one)
    first = next(iter(errors.values()))
    # An option has one error for all files, and of a swap one side tells.
    messages = list(dict.fromkeys(map(marked, errors.values())))
    if len(messages) == 1 or "swapped" in first.options:
        return first
    return InputError("; ".join(messages[:2]))


def _may_have_two_lists(sides: Mapping[str, Any], are_one: bool) -> bool:
    """Return whether documents may be in two lists of one log, or of two that look alike."""
    if not are_one and not _have_same_fields(sides):
        return False
    return not _have_own_documents(sides)


def _have_same_fields(sides: Mapping[str, Any]) -> bool:
    """Return whether the references list the same fields as another side, read or refused."""
    fields = {argument: all_fields(side) for argument, side in sides.items()}
    references = fields.pop("references", set())
    return len(references) > 0 and references in fields.values()


def _have_own_documents(sides: Mapping[str, Any]) -> bool:
    """Return whether the documents of all sides are clear, and are not the same."""
    documents = []
    for side in sides.values():
        chosen = getattr(side, "chosen", fields_read(side))  # an error has those that are clear
        documents.append(chosen.get("document"))
    return None not in documents and len(set(documents)) > 1


def all_fields(side: Any) -> set[Any]:
    """Return all fields of a side that was read or refused, as far as they are known."""
    return {*fields_read(side).values(), *getattr(side, "others", ())}


def _on_other_sides(error: UnknownFieldError, read: Mapping[str, Any]) -> Iterator[str]:
    """Yield which fields with unclear roles have this role on other sides."""
    for argument, side in read.items():
        for role, field in fields_read(side).items():
            if role in error.roles and field in error.examples:
                yield f"the {role} of the {mark(argument)} is {shown(field)}"


def _integers_on_other_sides(error: UnknownFieldError, read: Mapping[str, Any]) -> Iterator[str]:
    """Yield which other sides have integers as ids, if this side is a file, whose ids are text."""
    if "path" not in error.options:
        return
    for argument, side in read.items():
        if getattr(side, "positions", 0) is not None:  # it has no ids of queries
            continue
        ids = {"query": side.first_query, "document": side.first_id}
        unlike = [role for role in ids if role in error.roles and type(ids[role]) is int]
        if unlike:
            problem = f"the {' and '.join(unlike)} ids of the {mark(argument)} are integers"
            yield f"{problem}, such as {ids[unlike[0]]}; those in files are text"


def _unknown_on_sides(errors: Mapping[str, UnknownFieldError], are_one: bool) -> InputError:
    """Return one error for the fields that are not clear on several sides, or on one log."""
    written: dict[str, Any] = {}
    words: list[str] = []
    ways: list[str] = []
    for argument, error in errors.items():
        written.update(error.written)
        ways += error.ways
        places = [mark(argument), *error.places[1:]]
        words += [": ".join([*places, error.unclear]), error.fields]
    paired = {"document"} if are_one else {"query", "document"}
    written.update(dict.fromkeys(paired.intersection(written), ("...", "...")))
    write = fields_to_write(written, list(dict.fromkeys(ways)))
    return InputError("; ".join(dict.fromkeys([*words, write])))


def refuse_unused_fields(
    fields: Any, runs: Sequence[Any], qrels: Any, exclude: Any, **ids: Any
) -> None:
    """Raise an error for a name in `fields` that no side has.

    A side has no fields if it is a file of TREC, a mapping or a list of ids. `ids` are the
    arguments that may give a name in place of `fields`, such as ``query_ids="reader"``.
    """
    arguments = {name: argument for argument, name in ids.items() if isinstance(name, str)}
    for role, names in check_fields(fields).items():
        # The sides that may have a name, which may be one.
        having: dict[str | None, list[Any]] = {names["run"].name: [*runs]}
        having.setdefault(names["qrels"].name, []).extend([qrels, exclude])
        having.pop(None, None)
        for name, sides in having.items():
            if any(_has_field(side, role, name) for side in sides):
                continue
            call = mark("fields", {role: name})
            if name in arguments:
                call = mark(arguments[name], name)
            raise InputError(f"{call} names no field that is read; {_what_is_read(sides)}")


def _has_field(side: Any, role: str, name: Any) -> bool:
    """Return whether a side was read from a field of this name or path."""
    path = str(fields_read(side).get(role, ""))
    last = path.rpartition(".")[2]
    field = Field((last,), name=plain_name(last))
    return len(_called(name, Fields({path: field}))) > 0


def _what_is_read(sides: Sequence[Any]) -> str:
    """Return what sides that lack a field were read from, as an error says it."""
    fields = [fields_read(side).values() for side in sides]
    read = dict.fromkeys(chain.from_iterable(fields))
    if read:
        return f"what is read are {brief(map(shown, read), ', ')}"
    return "files of TREC, mappings and lists tell queries and documents by their places"
