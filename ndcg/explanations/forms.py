"""The ways in which functions of nDCG are called, as one table: what is passed, and what it shows of a ranking."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import cycle, permutations, product
from typing import Any, NamedTuple

import numpy as np

from .slip_terms import Query, ranked

NDCGFunction = Callable[..., Any]
Arguments = tuple[Any, ...]
CUTOFF_NAMES = (
    "k",
    "top_k",
    "topk",
    "top_n",
    "topn",
    "at",
    "at_k",
    "cutoff",
    "n",
    "depth",
    "limit",
)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REPEATED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Shows(NamedTuple):
    """What the arguments of a function can show of a ranking."""

    documents: bool = True  # those that were not judged, and those that were not retrieved
    scores: bool = True  # and with them ties
    grades: bool = True  # of relevance, rather than only which documents are relevant
    several: bool = True  # relevant documents, rather than a single one


class Argument(NamedTuple):
    """An argument of a function."""

    text: str  # what it has
    name: str  # a name for it
    words: str  # parts of the names that code gives it

    def is_hinted_at(self, name: str) -> bool:
        """Return whether the name of a parameter hints at it."""
        return any(word in name.lower() for word in self.words.split())


class Form(NamedTuple):
    """A way of calling a function of nDCG."""

    arguments: tuple[Argument, ...]
    of: Callable[[Query], Arguments]  # returns a ranking as these, in new objects
    shows: Shows
    has_ids: bool = False  # whether documents have ids, which must not matter
    is_batch: bool = False  # whether several rankings are passed: two copies of one
    module: str = ""  # the module that makes the arguments
    must_be_hinted: bool = False  # whether it is only tried if each parameter hints at its argument


_OF_IDS = Shows(scores=False, grades=False)
_OF_LISTS = Shows(documents=False)
_SCORES = Argument("scores", "scores", "score pred output logit prob")
_RELEVANCE = Argument("relevance", "relevance", "true truth label target rel grade gain")
_IDS = Argument("ids", "ids", "rank rec pred retrieved result list top id doc item")
_RELEVANT_SET = Argument(
    "{relevant ids}", "relevant", "relevant actual truth true gold gt pos test"
)
_RELEVANT = _RELEVANT_SET._replace(text="[relevant ids]")
_HITS = Argument("0 or 1 by rank", "hits", "hit rel")
_BY_RANK = Argument("relevance by rank", "relevance", "rel gain grade hit current pred rank")
_RUN = Argument("{document: score}", "run", "run score pred result ret")
_QRELS = Argument("{document: relevance}", "qrels", "qrel rel true truth label target gold gt judg")
_GROUPS = "query qid group user session"


def _several(argument: Argument) -> Argument:
    return argument._replace(text=f"[{argument.text}, …]")


def _twice(
    of: Callable[[Query], Arguments], *join: Callable[[list[Any]], Any]
) -> Callable[[Query], Arguments]:
    """Return the arguments of two copies of a ranking, each joined in its own way."""

    def arguments(query: Query) -> Arguments:
        pairs = zip(of(query), of(query), strict=True)
        return tuple(each(list(pair)) for each, pair in zip(cycle(join), pairs, strict=False))

    return arguments


def _lists(query: Query) -> Arguments:
    return [query.run[each] for each in query.run], [query.qrels.get(each) for each in query.run]


def _tensor(values: Any) -> Any:
    return import_module("torch").from_numpy(np.array(values))


def _relevant(query: Query) -> list[Any]:
    return [document for document, relevance in query.qrels.items() if relevance > 0]


def _ids(query: Query) -> Arguments:
    return ranked(query), _relevant(query)


def _by_rank(query: Query) -> list[float]:
    return [query.qrels.get(each, 0) for each in ranked(query)]


def _hits(query: Query) -> Arguments:
    return _by_rank(query), _relevant(query)


def _columns(query: Query) -> Arguments:
    column = {document: at for at, document in enumerate({**query.qrels, **query.run})}
    relevance = [query.qrels.get(document, 0) for document in column]
    return np.array([column[each] for each in ranked(query)], int), np.array(relevance)


def _rank(query: Query) -> Arguments:
    """Return the rank of the only relevant document; None if it was not retrieved."""
    ids, (relevant,) = _ids(query)
    return (ids.index(relevant) + 1 if relevant in ids else None,)


def _mappings(query: Query) -> Arguments:
    return dict(query.run), dict(query.qrels)


def _by_query(pair: list[Any]) -> dict[str, Any]:
    return dict(zip(("q1", "q2"), pair, strict=True))


# The ways that tell the fewest facts of a ranking come first.
FORMS = {
    "item": Form(
        (_IDS, Argument("relevant id", "relevant", "item target gt true pos")),
        lambda query: (ranked(query), *_relevant(query)),
        _OF_IDS._replace(several=False),
        has_ids=True,
        must_be_hinted=True,
    ),
    "items": Form(
        (
            _several(_IDS),
            Argument("[relevant id, …]", "relevant", "actual item target gt true pos"),
        ),
        _twice(lambda query: (ranked(query), *_relevant(query)), list),
        _OF_IDS._replace(several=False),
        has_ids=True,
        is_batch=True,
        must_be_hinted=True,
    ),
    "rank": Form(
        (Argument("rank of the relevant id", "rank", "rank position"),),
        _rank,
        _OF_IDS._replace(several=False),
        must_be_hinted=True,
    ),
    "sets": Form(
        (_IDS, _RELEVANT_SET),
        lambda query: (ranked(query), set(_relevant(query))),
        _OF_IDS,
        has_ids=True,
    ),
    "ids": Form((_IDS, _RELEVANT), _ids, _OF_IDS, has_ids=True),
    "id_lists": Form(
        (_several(_IDS), _several(_RELEVANT)),
        _twice(_ids, list),
        _OF_IDS,
        has_ids=True,
        is_batch=True,
    ),
    "set_runs": Form(
        (
            _IDS._replace(text="{query: ids}"),
            _RELEVANT_SET._replace(text="{query: {relevant ids}}"),
        ),
        _twice(lambda query: (ranked(query), set(_relevant(query))), _by_query),
        _OF_IDS,
        has_ids=True,
        is_batch=True,
    ),
    "hits": Form((_HITS, _RELEVANT), _hits, _OF_IDS),
    "hit_rows": Form(
        (_several(_HITS), _several(_RELEVANT)),
        _twice(_hits, np.array, list),
        _OF_IDS,
        is_batch=True,
    ),
    "ranked": Form(
        (_IDS, _QRELS),
        lambda query: (ranked(query), dict(query.qrels)),
        Shows(scores=False),
        has_ids=True,
    ),
    "ranked_runs": Form(
        (
            _IDS._replace(text="{query: ids}"),
            _QRELS._replace(text="{query: {document: relevance}}"),
        ),
        _twice(lambda query: (ranked(query), dict(query.qrels)), _by_query),
        Shows(scores=False),
        has_ids=True,
        is_batch=True,
    ),
    "columns": Form(
        (
            Argument("columns by rank", "ranked", _IDS.words),
            Argument("relevance by column", "relevance", _QRELS.words),
        ),
        _columns,
        Shows(scores=False),
    ),
    "ideal": Form(
        (
            _BY_RANK,
            Argument(
                "relevance of all, highest first", "ideal", "ideal gold true truth best all orig"
            ),
        ),
        lambda query: (_by_rank(query), sorted(query.qrels.values(), reverse=True)),
        Shows(scores=False),
        must_be_hinted=True,  # scores and relevance may be called so, and then hide what is wrong with scores
    ),
    "mappings": Form((_RUN, _QRELS), _mappings, Shows(), has_ids=True),
    "scored_ids": Form(
        (_IDS._replace(text="[(document, score), …]"), _QRELS),
        lambda query: (list(query.run.items()), dict(query.qrels)),
        Shows(),
        has_ids=True,
    ),
    "runs": Form(
        (
            _RUN._replace(text="{query: {document: score}}"),
            _QRELS._replace(text="{query: {document: relevance}}"),
        ),
        _twice(_mappings, _by_query),
        Shows(),
        has_ids=True,
        is_batch=True,
    ),
    "lists": Form((_SCORES, _RELEVANCE), _lists, _OF_LISTS),
    "arrays": Form(
        (_SCORES, _RELEVANCE), lambda query: tuple(map(np.array, _lists(query))), _OF_LISTS
    ),
    "tensors": Form(
        (_SCORES, _RELEVANCE),
        lambda query: tuple(map(_tensor, _lists(query))),
        _OF_LISTS,
        module="torch",
    ),
    "rows": Form(
        (_several(_SCORES), _several(_RELEVANCE)),
        _twice(_lists, np.array),
        _OF_LISTS,
        is_batch=True,
    ),
    "tensor_rows": Form(
        (_several(_SCORES), _several(_RELEVANCE)),
        _twice(_lists, _tensor),
        _OF_LISTS,
        is_batch=True,
        module="torch",
    ),
    "queries": Form(
        (_SCORES, _RELEVANCE, Argument("query ids", "queries", _GROUPS)),
        lambda query: (*_twice(_lists, np.concatenate)(query), np.repeat([1, 2], len(query.run))),
        _OF_LISTS,
        is_batch=True,
    ),
    "groups": Form(
        (_SCORES, _RELEVANCE, Argument("sizes of queries", "sizes", f"{_GROUPS} size")),
        lambda query: (*_twice(_lists, np.concatenate)(query), np.repeat(len(query.run), 2)),
        _OF_LISTS,
        is_batch=True,
    ),
    "relevance": Form(
        (_BY_RANK,), lambda query: (_by_rank(query),), Shows(documents=False, scores=False)
    ),
    "pairs": Form(
        (Argument("[(score, relevance), …]", "pairs", "pair row result"),),
        lambda query: (list(zip(*_lists(query), strict=True)),),
        _OF_LISTS,
    ),
    "relevance_rows": Form(
        (_several(_BY_RANK),),
        _twice(lambda query: (_by_rank(query),), np.array),
        Shows(documents=False, scores=False),
        is_batch=True,
    ),
}


class Call(NamedTuple):
    """How a function is called."""

    form: str  # the form of the ranking
    cutoff: int | str | None = (
        2  # the position or the name of the cutoff, None if the function takes none
    )
    order: tuple[int, ...] = (0, 1)  # of the arguments
    k: int | None = None  # the cutoff that its answers are compared with
    is_binary: bool = False  # whether no relevance is above 1
    keywords: tuple[str, ...] = ()  # the names of the last arguments, if they must be named

    @property
    def shows(self) -> Shows:
        """What it shows of a ranking."""
        shows = FORMS[self.form].shows
        return shows._replace(grades=shows.grades and not self.is_binary)

    @property
    def text(self) -> str:
        """The arguments in words."""
        words = [FORMS[self.form].arguments[at].text for at in self.order]
        if self.cutoff is not None:
            words.insert(self.cutoff if isinstance(self.cutoff, int) else len(words), "k")
        return ", ".join(words)

    def of(self, function: NDCGFunction, arguments: Arguments, k: int | None) -> Any:
        """Return the function's result."""
        ordered, named = [arguments[at] for at in self.order], {}
        if isinstance(self.cutoff, int):
            ordered.insert(self.cutoff, k)
        elif self.cutoff is not None:
            named[self.cutoff] = k
        first = len(ordered) - len(self.keywords)
        return function(
            *ordered[:first], **dict(zip(self.keywords, ordered[first:], strict=True)), **named
        )


def possible_calls(function: NDCGFunction, k: int | None, forms: Sequence[str]) -> list[Call]:
    """Return the calls that a function may accept, in some forms; those that its parameters hint at come first.

    A function without a cutoff is asked about whole rankings, and then about a cutoff that it may have of its own.

    >>> [call.text for call in possible_calls(lambda r, k, method=0: 0, 10, ("lists", "relevance"))]
    ['relevance by rank, k']
    """
    hints: dict[Call, int] = {}
    keywords = tuple(each.name for each in _parameters(function) or () if _must_be_named(each))
    is_named = len(forms) == 1
    for (names, cutoff), form in product(accepted_arguments(function, k), forms):
        arguments = FORMS[form].arguments
        if not is_named and (
            len(arguments) != len(names) or FORMS[form].module not in {"", *sys.modules}
        ):
            continue
        for order in permutations(range(len(arguments))):
            hinted = [
                arguments[at].is_hinted_at(name) for at, name in zip(order, names, strict=False)
            ]
            if is_named or all(hinted) or not FORMS[form].must_be_hinted:
                for compared_at in dict.fromkeys((k if cutoff is not None else None, k)):
                    hints[Call(form, cutoff, order, compared_at, keywords=keywords)] = sum(hinted)
    return sorted(hints, key=lambda call: -hints[call])


def accepted_arguments(
    function: NDCGFunction, k: int | None
) -> Iterator[tuple[list[str], int | str | None]]:
    """Yield the names of arguments other than the cutoff, and where the cutoff goes: a position, a keyword, or None.

    >>> [*accepted_arguments(lambda scores, relevance, base=2, k=10: 0, 5)]
    [(['scores', 'relevance'], 'k')]
    """
    if (parameters := _parameters(function)) is None:
        yield ["", ""], None if k is None else 2
        return
    kinds = {each.kind for each in parameters}
    positional = [each for each in parameters if each.kind in _POSITIONAL]
    of_cutoff = [
        each
        for each in parameters
        if each.name.lower() in CUTOFF_NAMES and each.kind not in _REPEATED
    ]
    others = [
        each
        for each in parameters
        if _must_be_named(each) or (each in positional and each not in of_cutoff[:1])
    ]
    others.sort(
        key=lambda each: each.default is not each.empty
    )  # those that must be given come first
    names, needed = (
        [each.name for each in others],
        sum(each.default is each.empty for each in others),
    )
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        names, needed = [*names, "", ""], max(2, needed)
    needed = needed or min(2, len(names))
    if needed == 1 and any(each in others for each in positional[1:2]):  # such as y_score=None
        needed = 2
    if of_cutoff:
        is_early = of_cutoff[0] in positional[: needed + 1]
        yield names[:needed], positional.index(of_cutoff[0]) if is_early else of_cutoff[0].name
    elif needed > 2 or (
        needed == len(others) == 2 and len(names[1]) == 1
    ):  # such as p: the cutoff, or predictions
        yield names[: needed - 1], needed - 1
        yield names[:needed], None
    elif len(others) > 2 and (others[2].default is None or type(others[2].default) is int):
        yield names[:needed], 2
        yield names[:needed], None
    elif inspect.Parameter.VAR_POSITIONAL in kinds:
        yield names[:needed], 2
    else:
        yield names[:needed], "k" if inspect.Parameter.VAR_KEYWORD in kinds else None


def _parameters(function: NDCGFunction) -> list[inspect.Parameter] | None:
    """Return the parameters of a function; None if they are unknown, as of a built-in function."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def _must_be_named(each: inspect.Parameter) -> bool:
    is_cutoff = each.name.lower() in CUTOFF_NAMES
    return each.kind is each.KEYWORD_ONLY and each.default is each.empty and not is_cutoff


def arguments_text(query: Query, form: str) -> str:
    """Return a ranking as the arguments of a function, to paste.

    >>> arguments_text(Query({"d1": 2.0}, {"d1": 1}, 3), "lists")
    'scores = [2.0], relevance = [1], k = 3'
    """
    names, values = (
        [each.name for each in FORMS[form].arguments],
        map(argument_text, FORMS[form].of(query)),
    )
    return ", ".join(
        f"{name} = {value}" for name, value in zip((*names, "k"), (*values, query.k), strict=True)
    )


def argument_text(argument: Any) -> str:
    """Return an argument as text to paste, which shows each change that a function makes; sets in order."""
    if isinstance(argument, set):
        return f"{{{', '.join(sorted(map(repr, argument)))}}}" if argument else "set()"
    return str(argument.tolist() if hasattr(argument, "tolist") else argument)
