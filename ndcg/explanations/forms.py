"""The ways in which functions of nDCG are called: what is passed, and what that shows."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import cycle, permutations, product
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from .slip_terms import Query, ranked

NDCGFunction = Callable[..., Any]
Arguments = tuple[Any, ...]
_CUTOFFS = ("k", "top_k", "topk", "top_n", "topn", "at", "at_k", "cutoff", "n", "depth", "limit")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Shows(NamedTuple):
    """What the arguments of a function can show of a ranking."""

    documents: bool = True  # that were not judged, or not retrieved
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
    # returns a ranking as these, in new objects; two copies of it, or several rankings, for a batch
    of: Callable[..., Arguments]
    shows: Shows
    has_ids: bool = False  # whether documents have ids, which must not matter
    is_batch: bool = False  # whether several rankings are passed
    module: str = "builtins"  # the module that makes the arguments
    must_be_hinted: bool = False  # only tried if all parameters hint at their arguments


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


def _batch(form: Form, text: str, *joins: Callable[[list[Any]], Any]) -> Form:
    """Return a form for several rankings, which `text` describes with {} for one of them."""

    def of(*queries: Query) -> Arguments:
        columns = zip(*map(form.of, _at_least_two(queries)), strict=True)
        return tuple(join(list(column)) for join, column in zip(cycle(joins), columns))

    arguments = [
        argument._replace(text=text.replace("{}", argument.text)) for argument in form.arguments
    ]
    return form._replace(arguments=tuple(arguments), of=of, is_batch=True)


def _at_least_two(queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """Return several rankings, or two copies of a single one."""
    return queries * 2 if len(queries) == 1 else queries


def _flat(argument: Argument, parts: Callable[[list[int]], Any]) -> Form:
    """Return a form for rankings in one list, with an argument made of their lengths."""
    rows = _batch(_LISTS, "{}", np.concatenate)
    return rows._replace(
        arguments=(*rows.arguments, argument),
        of=lambda *queries: (
            *rows.of(*queries),
            parts([len(query.run) for query in _at_least_two(queries)]),
        ),
    )


def _lists(query: Query) -> Arguments:
    scores = list(query.run.values())
    return scores, list(map(query.qrels.get, query.run))


def _tensor(values: Any) -> Any:
    return import_module("torch").from_numpy(np.array(values))


def _grades(query: Query, documents: Sequence[Any]) -> list[float]:
    return [query.qrels.get(document, 0) for document in documents]


def _by_rank(query: Query) -> list[float]:
    return _grades(query, ranked(query))


def _columns(query: Query) -> Arguments:
    documents = list({**query.qrels, **query.run})
    columns = list(map(documents.index, ranked(query)))
    return np.array(columns, int), np.array(_grades(query, documents))


def _rank(query: Query) -> Arguments:
    """Return the rank of the only relevant document; None if it was not retrieved."""
    (relevant,) = query.relevant
    if relevant not in query.run:
        return (None,)
    return (ranked(query).index(relevant) + 1,)


def _by_query(values: list[Any]) -> dict[str, Any]:
    return {f"q{number}": value for number, value in enumerate(values, start=1)}


_ITEM = Form(
    (_IDS, Argument("relevant id", "relevant", "item target gt true pos")),
    lambda query: (ranked(query), *query.relevant),
    _OF_IDS._replace(several=False),
    has_ids=True,
    must_be_hinted=True,
)
_ITEMS = _ITEM._replace(
    arguments=(_IDS, _ITEM.arguments[1]._replace(words="actual item target gt true pos"))
)
_SETS = Form(
    (_IDS, _RELEVANT_SET), lambda query: (ranked(query), set(query.relevant)), _OF_IDS, has_ids=True
)
_LISTS_OF_IDS = Form(
    (_IDS, _RELEVANT), lambda query: (ranked(query), query.relevant), _OF_IDS, has_ids=True
)
_HITS_BY_RANK = Form((_HITS, _RELEVANT), lambda query: (_by_rank(query), query.relevant), _OF_IDS)
_RANKED = Form(
    (_IDS, _QRELS),
    lambda query: (ranked(query), dict(query.qrels)),
    Shows(scores=False),
    has_ids=True,
)
_MAPPINGS = Form(
    (_RUN, _QRELS), lambda query: (dict(query.run), dict(query.qrels)), Shows(), has_ids=True
)
_LISTS = Form((_SCORES, _RELEVANCE), _lists, _OF_LISTS)
_RELEVANCES = Form(
    (_BY_RANK,), lambda query: (_by_rank(query),), Shows(documents=False, scores=False)
)

# The ways that tell the fewest facts of a ranking come first.
FORMS = {
    "item": _ITEM,
    "items": _batch(_ITEMS, "[{}, …]", list),
    "rank": Form(
        (Argument("rank of the relevant id", "rank", "rank position"),),
        _rank,
        _OF_IDS._replace(several=False),
        must_be_hinted=True,
    ),
    "sets": _SETS,
    "ids": _LISTS_OF_IDS,
    "id_lists": _batch(_LISTS_OF_IDS, "[{}, …]", list),
    "set_runs": _batch(_SETS, "{query: {}}", _by_query),
    "hits": _HITS_BY_RANK,
    "hit_rows": _batch(_HITS_BY_RANK, "[{}, …]", np.array, list),
    "ranked": _RANKED,
    "ranked_runs": _batch(_RANKED, "{query: {}}", _by_query),
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
        # Scores and relevance may be called so, and then hide what is wrong with scores.
        must_be_hinted=True,
    ),
    "mappings": _MAPPINGS,
    "scored_ids": Form(
        (_IDS._replace(text="[(document, score), …]"), _QRELS),
        lambda query: (list(query.run.items()), dict(query.qrels)),
        Shows(),
        has_ids=True,
    ),
    "runs": _batch(_MAPPINGS, "{query: {}}", _by_query),
    "lists": _LISTS,
    "arrays": _LISTS._replace(of=lambda query: tuple(map(np.array, _lists(query)))),
    "tensors": _LISTS._replace(of=lambda query: tuple(map(_tensor, _lists(query))), module="torch"),
    "rows": _batch(_LISTS, "[{}, …]", np.array),
    "tensor_rows": _batch(_LISTS, "[{}, …]", _tensor)._replace(module="torch"),
    "queries": _flat(
        Argument("query ids", "queries", _GROUPS),
        lambda sizes: np.repeat(range(1, len(sizes) + 1), sizes),
    ),
    "groups": _flat(Argument("sizes of queries", "sizes", f"{_GROUPS} size"), np.array),
    "relevance": _RELEVANCES,
    "pairs": Form(
        (Argument("[(score, relevance), …]", "pairs", "pair row result"),),
        lambda query: (list(zip(*_lists(query), strict=True)),),
        _OF_LISTS,
    ),
    "relevance_rows": _batch(_RELEVANCES, "[{}, …]", np.array),
}


class Call(NamedTuple):
    """How a function is called."""

    form: str  # the form of the ranking
    # the position or the name of the cutoff, None if the function takes none
    cutoff: int | str | None = 2
    order: tuple[int, ...] = (0, 1)  # of the arguments
    k: int | None = None  # the cutoff that its answers are compared with
    keywords: tuple[str, ...] = ()  # the names of the last arguments, if they must be named
    names: tuple[str, ...] = ()  # the names of the parameters that take the arguments

    @property
    def hinted(self) -> list[bool]:
        """Whether the name of each parameter hints at its argument."""
        arguments = map(FORMS[self.form].arguments.__getitem__, self.order)
        return list(map(Argument.is_hinted_at, arguments, self.names))

    @property
    def is_contradicted(self) -> bool:
        """Whether the names of the parameters hint at another order, and none at this one."""
        if any(self.hinted):
            return False
        return any(all(self._replace(order=order).hinted) for order in permutations(self.order))

    def at_cutoff(self, k: int) -> int | None:
        """Return k, or the cutoff of the call if the function takes none or gets whole lists."""
        return self.k if self.cutoff is None or self.k is None else k

    @property
    def shows(self) -> Shows:
        """What it shows of a ranking."""
        return FORMS[self.form].shows

    @property
    def text(self) -> str:
        """The arguments in words."""
        words = self._ordered([argument.text for argument in FORMS[self.form].arguments], "k")
        if isinstance(self.cutoff, str):
            words.append("k")
        return ", ".join(words)

    def of(self, function: NDCGFunction, arguments: Arguments, k: int | None) -> Any:
        """Return the function's result."""
        ordered = self._ordered(arguments, k)
        positional = len(ordered) - len(self.keywords)
        named = dict(zip(self.keywords, ordered[positional:], strict=True))
        if isinstance(self.cutoff, str):
            named[self.cutoff] = k
        return function(*ordered[:positional], **named)

    def _ordered(self, arguments: Sequence[Any], k: Any) -> list[Any]:
        """Return arguments in their order, the cutoff among them if it has a position."""
        ordered = list(map(arguments.__getitem__, self.order))
        if isinstance(self.cutoff, int):
            ordered.insert(self.cutoff, k)
        return ordered


def possible_calls(function: NDCGFunction, k: int | None, forms: Sequence[str]) -> list[Call]:
    """Return the calls that a function may accept, in some forms.

    Those that its parameters hint at come first. A function without a cutoff is asked about whole
    rankings, and then about a cutoff that it may have inside.

    >>> [call.text for call in possible_calls(lambda r, k, method=0: 0, 10, ("lists", "relevance"))]
    ['relevance by rank, k']
    """
    calls: list[Call] = []
    named = filter(_must_be_named, _parameters(function))
    keywords = tuple(parameter.name for parameter in named)
    for (names, cutoff), form in product(accepted_arguments(function, k), forms):
        cutoffs = dict.fromkeys([k])
        if cutoff is None:
            # A function without a cutoff may rank whole lists.
            cutoffs = dict.fromkeys((None, k))
        orders = permutations(range(len(FORMS[form].arguments)))
        for order, compared_cutoff in product(orders, cutoffs):
            calls.append(Call(form, cutoff, order, compared_cutoff, keywords, tuple(names)))
    if len(forms) > 1:
        # Nobody has said which form it is.
        calls = list(filter(_suits_parameters, calls))
    return sorted(calls, key=lambda call: sum(call.hinted), reverse=True)


def _suits_parameters(call: Call) -> bool:
    """Return whether parameters are as many as arguments, and hint at them if they must."""
    form = FORMS[call.form]
    if form.module not in sys.modules or len(form.arguments) != len(call.names):
        return False
    return not form.must_be_hinted or all(call.hinted)


def accepted_arguments(
    function: NDCGFunction, k: int | None
) -> Iterator[tuple[list[str], int | str | None]]:
    """Yield the names of other arguments than the cutoff, and its position or keyword.

    >>> [*accepted_arguments(lambda scores, relevance, base=2, k=10: 0, 5)]
    [(['scores', 'relevance'], 'k')]
    """
    parameters = _parameters(function)
    cutoff = next(filter(_is_cutoff, parameters), None)
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    others = [*positional, *filter(_must_be_named, parameters)]
    if cutoff in others:
        others.remove(cutoff)
    # Those that must be given come first.
    others.sort(key=_is_needed, reverse=True)
    # If all have a default, the first two are the ranking and the judgments.
    needed = sum(map(_is_needed, others)) or min(2, len(others))
    if needed == 1 and len(positional) > 1 and positional[1] in others:
        # such as y_score=None
        needed = 2
    names = [parameter.name for parameter in others[:needed]]
    if cutoff is None:
        has_keywords = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        yield from _with_any_cutoff(names, others, "k" if has_keywords else None)
        return
    position = parameters.index(cutoff)
    if cutoff in positional and position <= needed:
        yield names, position
    else:
        yield names, cutoff.name


def _with_any_cutoff(
    names: list[str], others: Sequence[inspect.Parameter], keyword: str | None
) -> Iterator[tuple[list[str], int | str | None]]:
    """Yield the names of arguments, and the cutoff, of a function with no parameter named so."""
    # A name of one letter, such as p, may be the cutoff, or predictions.
    is_letter = len(names) == len(others) == 2 and len(names[1]) == 1
    if len(names) > 2 or is_letter:
        yield names[:-1], len(names) - 1
        yield names, None
    elif len(others) > 2 and type(others[2].default) in (int, NoneType):
        # The third argument may be the cutoff.
        yield names, 2
        yield names, None
    else:
        yield names, keyword


def _parameters(function: NDCGFunction) -> list[inspect.Parameter]:
    """Return the parameters of a function; two and a cutoff if unknown, as of `*arguments`."""
    with suppress(ValueError, TypeError):
        parameters = list(inspect.signature(function).parameters.values())
        if all(parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters):
            return parameters
    return list(inspect.signature(lambda x, y, k: 0).parameters.values())


def _is_cutoff(parameter: inspect.Parameter) -> bool:
    return parameter.name.lower() in _CUTOFFS and parameter.kind is not parameter.VAR_KEYWORD


def _must_be_named(parameter: inspect.Parameter) -> bool:
    is_keyword = parameter.kind is parameter.KEYWORD_ONLY
    return is_keyword and _is_needed(parameter) and not _is_cutoff(parameter)


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def arguments_text(form: str, *queries: Query) -> str:
    """Return a ranking, or several for a batch, as the arguments of a function, to paste.

    >>> arguments_text("lists", Query({"d1": 2.0}, {"d1": 1}, 3))
    'scores = [2.0], relevance = [1], k = 3'
    """
    texts = []
    for argument, value in zip(FORMS[form].arguments, FORMS[form].of(*queries), strict=True):
        texts.append(f"{argument.name} = {argument_text(value)}")
    return ", ".join([*texts, f"k = {queries[0].k}"])


def argument_text(argument: Any) -> str:
    """Return an argument as text to paste, in which every change shows, with sets in order."""
    if isinstance(argument, set) and argument:
        return f"{{{', '.join(sorted(map(repr, argument)))}}}"
    if hasattr(argument, "tolist"):
        return str(argument.tolist())
    return str(argument)
