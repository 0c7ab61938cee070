"""Show what is read of rankings: the form of every side, its fields, and a query."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ..files.paths import from_files
from ..inputs.documents import ById, has_ids
from ..inputs.hashes import Columns
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, parts
from ..inputs.sources import is_spark
from ..measure.labels import Labels
from ..measure.messages import InputError, ShortRepr, brief, shown
from ..measure.options import ComputeOptions, Options, shows_options
from ..show.tables import Readable, Table
from .documents import OneQuery
from .doubts import doubts_about
from .frames import from_frame
from .queries import warn_of_predictions

FIRST_DOCUMENTS = 20  # of a query
FIRST_MISSED = 5  # of the judged ones that were not retrieved, if there are so many
IN_TITLE = ShortRepr()  # shows a query in a column's title
IN_TITLE.maxstring = IN_TITLE.maxother = 42
ROLES_OF_VALUES = {"predictions": "score", "references": "relevance"}
LACKING = {"rank": "not retrieved", "relevance": "not judged"}  # in place of a value


@dataclass(frozen=True)
class SidePreview:
    """What was read of one side.

    Attributes:
        form: what held it, such as "lists of hits".
        fields: the field or the column of every role: query, document, score or relevance.
        queries: how many queries it has.
        documents: how many documents these have together.
        has_values: whether its documents have scores, or relevances. Without them the order of a
            run counts, and every document of the references is relevant.
        not_read: the fields or columns that are not read.
        lacking: how many of its rows have no value and are left out.
    """

    form: str
    fields: Mapping[str, str]
    queries: int
    documents: int
    has_values: bool = True
    not_read: Sequence[str] = ()
    lacking: int = 0


@dataclass(frozen=True)
class Preview(Readable):
    """What was read of rankings: to print, to show in a notebook, or as plain values.

    Attributes:
        predictions: what was read of the predictions.
        references: what was read of the references.
        queries: how many queries the references have, all of which count.
        missing: how many of these are missing from the run.
        not_judged: how many queries of the run, if they have ids, the references lack.
        retrieved: how many documents these queries have in the run.
        judged: how many of the retrieved documents are judged.
        relevances: the lowest and the highest relevance; none without judged documents.
        excluded_retrieved: how many documents in `exclude` were retrieved; None without `exclude`.
        excluded_judged: how many documents in `exclude` are judged; None without `exclude`.
        query: the id of the first query that the run has, or its number.
        documents: the first documents of this query, with their `rank`, `document`, `score` and
            `relevance`; None for what a document does not have. First is what was retrieved, then
            what is judged and was not, the most relevant first.
        more_retrieved: how many more documents of this query were retrieved.
        more_judged: how many more are judged and were not retrieved.
        none_relevant: how many queries have no relevant document.
        none_relevant_effect: what these do to a mean of nDCG, such as "counted as 0 in nDCG"; empty
            if that depends on the gains or on what was retrieved.
    """

    predictions: SidePreview
    references: SidePreview
    queries: int
    missing: int
    not_judged: int
    retrieved: int
    judged: int
    relevances: tuple[float, ...]
    excluded_retrieved: int | None
    excluded_judged: int | None
    query: Any
    documents: Sequence[Mapping[str, Any]]
    more_retrieved: int
    more_judged: int
    none_relevant: int
    none_relevant_effect: str
    signature = ""

    def _sides(self) -> dict[str, SidePreview]:
        return {"predictions": self.predictions, "references": self.references}

    def _tables(self) -> list[Table]:
        titles = ["", "read as", "query field", "document field", "value", "queries", "documents"]
        sides = [titles]
        for name, side in self._sides().items():
            fields = [side.fields.get("query"), side.fields.get("document"), _value_of(name, side)]
            counts = [f"{side.queries:,}", f"{side.documents:,}"]
            sides.append([name, side.form, *map(_cell, fields), *counts])
        names = ["rank", "document", "score", "relevance"]
        documents = [[f"rank for query {IN_TITLE.repr(self.query)}", *names[1:]]]
        for row in self.documents:
            documents.append([_cell(row[name], LACKING.get(name, "–")) for name in names])
        return [sides, documents]

    def _remarks(self) -> list[str]:
        remarks = []
        if self.more_retrieved + self.more_judged:
            retrieved, judged = f"{self.more_retrieved:,}", f"{self.more_judged:,}"
            counts = f"{retrieved} retrieved, {judged} judged but not retrieved"
            remarks.append(f"Documents of query {shown(self.query)} not shown: {counts}.")
        remarks += self._remarks_on_queries()
        if self.excluded_retrieved is not None:
            counts = f"{self.excluded_retrieved:,} retrieved, {self.excluded_judged:,} judged"
            remarks.append(f"Documents to exclude: {counts}.")
        if self.relevances:
            lowest, highest = self.relevances
            if lowest == highest:
                remarks.append(f"All relevances are {lowest:g}.")
            else:
                remarks.append(f"The relevances go from {lowest:g} to {highest:g}.")
        for name, side in self._sides().items():
            if side.lacking:
                value = ROLES_OF_VALUES[name]
                one = f"1 row of the {name} has no {value} and is left out."
                several = f"{side.lacking:,} rows of the {name} have no {value} and are left out."
                remarks.append(_by_number(side.lacking, one, several))
            if side.not_read:
                fields = brief(map(shown, side.not_read), ", ")
                remarks.append(f"Fields of the {name} that are not read: {fields}.")
        return remarks

    def _remarks_on_queries(self) -> Iterator[str]:
        """Yield what is the case for some of all queries, not only for the one that is shown."""
        judged = f"{self.queries:,} judged queries"
        ranked = f"{self.predictions.queries:,} queries of the run"
        none = ", ".join(filter(None, ["no relevant document", self.none_relevant_effect]))
        shares = [
            (self.missing, judged, "is missing from the run", "are missing from the run"),
            (self.not_judged, ranked, "is not judged", "are not judged"),
            (self.none_relevant, judged, f"has {none}", f"have {none}"),
        ]
        for count, among, one, several in shares:
            if count:
                yield f"{count:,} of {among} {_by_number(count, one, several)}."
        queries = _by_number(self.queries, "query", f"{self.queries:,} queries")
        documents = f"{self.judged:,} of {self.retrieved:,} documents"
        are = _by_number(self.judged, "is", "are")
        yield f"{documents} retrieved for the {queries} of the references {are} judged."

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON if the ids are text or integers."""
        values = {**vars(self), "documents": list(map(dict, self.documents))}
        values["relevances"] = list(self.relevances)
        for name, side in self._sides().items():
            not_read = list(side.not_read)
            values[name] = {**vars(side), "fields": dict(side.fields), "not_read": not_read}
        return values


def _value_of(argument: str, side: SidePreview) -> str:
    """Return the field of the values of a side, or how its documents have values without one."""
    field = side.fields.get("score", side.fields.get("relevance"))
    if field is not None:
        return field
    if side.has_values:
        return "numbers"
    if argument == "predictions":
        return "by order"
    return "each relevant"


def _by_number(count: int, one: str, several: str) -> str:
    """Return the words for one or for several."""
    return one if count == 1 else several


def _effect_without_relevant(options: Options) -> str:
    """Return what queries without a relevant document do to a mean of nDCG, if options tell."""
    value = options.zero_division
    # The caller's own gains may be above 0 where the relevance is 0.
    if isinstance(value, str) or not isinstance(options.gain, (str, Labels)):
        return ""
    if math.isnan(value):
        return "not counted in nDCG"
    return f"counted as {value:g} in nDCG"


def _cell(value: Any, lacking: str = "–") -> str:
    if value is None:
        return lacking
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@shows_options
def preview(
    *,
    predictions: Any = None,
    references: Any = None,
    k: Any = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[ComputeOptions],
) -> Preview:
    """Return what would be scored, without scoring it: how every side is read, and the first query.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        k: as in `compute`; it changes nothing here.
        sample_weight: as in `compute`; it is not read here.
        query_ids: as in `compute`.
        document_ids: as in `compute`.
        data: as in `compute`.
        exclude: as in `compute`; these documents are left out.
        fields: as in `compute`.
        **options: the options of `compute`. Those of scoring alone, such as `discount`, change
            nothing here.

    Returns:
        A `Preview`: for every side its form, the field of every role, and how many queries and
        documents it has; how many retrieved documents are judged; and the first query.

    Raises:
        ValueError: the rankings cannot be read, as in `compute`.

    >>> result = preview(predictions={"q": ["a", "b"]}, references={"q": {"b": 2, "z": 1}})
    >>> result.predictions.form, result.judged, result.documents[0]
    ('lists of ids', 1, {'rank': 1, 'document': 'a', 'score': None, 'relevance': None})
    """
    parsed = Options.for_method(preview, k, options, lacks=())
    if any(map(is_spark, (predictions, references, data))):
        raise InputError(
            "a Spark DataFrame is not previewed; give its first rows, frame.limit(100).toArrow()"
        )
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    columns = {name: _names_of_columns(inputs, name, data) for name in ROLES_OF_VALUES}
    inputs = from_files(from_frame(data, inputs), **parsed.sides).settled(**parsed.sides)
    queries = missing = ranked = retrieved = judged = documents = none_relevant = 0
    excluded: Sequence[int | None] = (None, None)
    relevances: tuple[float, ...] = ()
    first_query: tuple[Any, dict[str, Any]] | None = None
    for part in parts(inputs, **parsed.reading):
        counts = part.counts()
        queries += part.queries
        missing += int(part.missing.sum())
        ranked += int(part.ranked().sum())
        has_none = counts["relevant"] == 0
        if parsed.missing == "skip":
            has_none &= ~part.lacking()
        none_relevant += int(has_none.sum())
        retrieved += int(counts["retrieved"].sum())
        judged += int(counts["retrieved and judged"].sum())
        has_score, is_judged = part.sides()
        documents += int((has_score | is_judged).sum())
        if is_judged.any():
            judgments = part.relevance[is_judged]
            ends = (*relevances, float(judgments.min()), float(judgments.max()))
            relevances = (min(ends), max(ends))
        if part.excluded is not None:  # documents with ids, which are read in one part
            excluded = part.excluded.sum(axis=0).tolist()
        if first_query is None and part.queries:
            index = int(part.ranked().argmax())  # of the first that the run has
            first_query = part.names()[index], _ranking_of(part, index, inputs.predictions, parsed)
            for doubt in doubts_about(part, parsed):
                warn_of_predictions(doubt)
    if first_query is None:
        raise ValueError("predictions and references hold no queries; there is nothing to show")
    query, ranking = first_query
    run = _side(inputs.predictions, columns["predictions"], queries, documents)
    return Preview(
        predictions=run,
        references=_side(inputs.references, columns["references"], queries, documents),
        queries=queries,
        missing=missing,
        not_judged=run.queries - ranked if has_ids(inputs.predictions) else 0,
        retrieved=retrieved,
        judged=judged,
        relevances=relevances,
        excluded_retrieved=excluded[0],
        excluded_judged=excluded[1],
        query=query,
        **ranking,
        none_relevant=none_relevant,
        none_relevant_effect=_effect_without_relevant(parsed),
    )


def _names_of_columns(inputs: Inputs, argument: str, data: Any) -> dict[str, str]:
    """Return the arguments with the ids and the values of a side, or the columns they name."""
    names = {}
    for role, ids in (("query", inputs.query_ids), ("document", inputs.document_ids)):
        if isinstance(ids, str):
            names[role] = ids
        elif ids is not None:
            names[role] = f"{role}_ids"
    values = getattr(inputs, argument)
    if data is not None and isinstance(values, str):
        names[ROLES_OF_VALUES[argument]] = values
    return names


def _side(side: Any, columns: Mapping[str, str], queries: int, documents: int) -> SidePreview:
    """Return what was read of a side; numbers by position have as many queries as both sides."""
    lacking = 0
    if isinstance(side, Columns):
        counts = (len(side.query_ids), len(side.query))
        lacking = len(side.lacking)
    elif isinstance(side, ById):
        counts = (len(side.queries), sum(map(len, side.queries.values())))
    else:
        is_in_data = ROLES_OF_VALUES.values() & columns.keys()
        form = "a column of data" if is_in_data else "numbers by position"
        return SidePreview(form, columns, queries, documents)
    return SidePreview(side.form, side.fields, *counts, side.has_values, side.others, lacking)


def _ranking_of(part: Rankings, query: int, run: Any, options: Options) -> dict[str, Any]:
    """Return the first documents of a query, and how many more there are."""
    ids, relevance, score, judged, retrieved = OneQuery.of(part, query)
    ranked = np.flatnonzero(retrieved)
    ranked = ranked[np.argsort(-score[ranked].astype(float), kind="stable")]
    missed = np.flatnonzero(~retrieved & judged)
    missed = missed[np.argsort(-relevance[missed].astype(float), kind="stable")]
    first_ranked = ranked[: FIRST_DOCUMENTS - min(len(missed), FIRST_MISSED)]
    first_missed = missed[: FIRST_DOCUMENTS - len(first_ranked)]
    # Ascending scores are read negated.
    sign = -1 if options.score_order == "ascending" else 1
    has_scores = getattr(run, "has_values", True)
    rows: list[dict[str, Any]] = []
    for position in [*first_ranked, *first_missed]:
        row: dict[str, Any] = dict.fromkeys(("rank", "document", "score", "relevance"))
        row["document"] = ids[position]
        if retrieved[position]:
            row["rank"] = len(rows) + 1
            if has_scores:
                row["score"] = sign * float(score[position])
        if judged[position]:
            row["relevance"] = float(relevance[position])
        rows.append(row)
    return {
        "documents": rows,
        "more_retrieved": len(ranked) - len(first_ranked),
        "more_judged": len(missed) - len(first_missed),
    }
