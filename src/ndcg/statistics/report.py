"""One system: its scores, how sure they are, and what they rest on.

A report is a plain value, with ways to show it: text, Markdown, HTML, a plot, and a dict that
JSON can hold and that makes the same report again.
"""

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..inputs.slices import Slices, Value, read_slices, slice_name, slices_of
from ..measure.messages import shown, visible
from ..measure.options import (
    Cutoffs,
    Options,
    QueryOptions,
    __version__,
    between_0_and_1,
    is_real,
    measure_of,
    result_name,
    whole,
)
from ..measure.scoring import discounts, score_queries, sign
from ..scores.queries import describe_queries, from_frame, mean, score_part, weights
from .significance import FEW, Intervals, Parts, differences, intervals

COUNTS = ("retrieved", "judged", "relevant")
SAVED = 1e-9  # relative to the values, what saved figures may differ by from those found again elsewhere
SHOWN = 50  # slices, at most, in tables and plots
LARGE = 1e15  # from here on, a number is shown by its first digits: float64 does not hold all that are before the point
PIECE = 1 << 19  # documents that are described at a time: what is made of them is small, and its memory used again
SLICED = 1 << 14  # queries, about so many, whose slices are computed at a time: their arrays stay small

PerQuery = dict[str, NDArray[Any]]  # columns by name, with a row for each query


class Score(NamedTuple):
    """A mean over queries, and how sure it is.

    Attributes:
        value: the mean.
        low: lower end of its confidence interval; nan where there is none.
        high: upper end.
        standard_error: of the mean.
        worst: the mean if every tie were ordered in the worst way.
        best: the mean if every tie were ordered in the best way.
        tied: queries whose value depends on how ties are ordered.
        ranked: documents within the cutoff, over all queries.
        unjudged: those of them that were not judged; an expectation where ties leave open which they are.
        chance: the mean that a random order of the same documents has on average: that of equal scores.

    Queries of weight 0, or without a value, are not counted.
    """

    value: float
    low: float
    high: float
    standard_error: float
    worst: float
    best: float
    tied: int
    ranked: int
    unjudged: float
    chance: float = math.nan


class Slice(NamedTuple):
    """The scores of the queries that have one value of `by`.

    Attributes:
        queries: how many there are.
        scores: by name; without an interval if fewer than two of the queries have a value.
    """

    queries: int
    scores: dict[str, Score]


class Resampling(NamedTuple):
    """How sure intervals are, and how a comparison's randomisation test was made.

    Attributes:
        confidence: of the intervals.
        resamples: how often the systems' scores were exchanged.
        seed: of the random numbers.
        exact: whether all exchanges were tried.
    """

    confidence: float
    resamples: int
    seed: int
    exact: bool = False

    @classmethod
    def parse(cls, confidence: Any, resamples: Any, seed: Any) -> "Resampling":
        """Check how intervals and tests are to be found.

        Raises:
            ValueError: names the option, what it was and what it may be.
        """
        return cls(
            between_0_and_1("confidence", confidence, 0.95),
            whole("resamples", resamples, 2, 10**8),  # more would not fit into memory
            whole("seed", seed, 0),
        )

    def __str__(self) -> str:
        return f"{100 * self.confidence:g}% intervals of means by Wilson, of differences by Student"


class Readable:
    """Tables, remarks and the signature of a report or a comparison, as a person reads them."""

    signature: str
    notes: tuple[str, ...]

    def tables(self) -> list[list[list[str]]]:
        """Return tables of text, the header first; the first column holds names.

        Characters that do not print, as ids may have, are spelled out.
        """
        return [[list(map(visible, row)) for row in table] for table in self._tables()]

    def remarks(self) -> list[str]:
        """Return the sentences below the tables, in which all characters print too."""
        return list(map(visible, self._remarks()))

    def _tables(self) -> list[list[list[str]]]:
        raise NotImplementedError

    def _remarks(self) -> Sequence[str]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return tables and notes as Markdown."""
        tables = [
            "\n".join(
                "| " + " | ".join(map(_markdown, row)) + " |" + ("\n|---" + "|---:" * (len(row) - 1) + "|") * (at == 0)
                for at, row in enumerate(table)
            )
            for table in self.tables()
        ]
        remarks = [_markdown(remark) for remark in self.remarks()]
        return "\n\n".join([*tables, *remarks, f"Signature: `{visible(self.signature)}`"])

    def __str__(self) -> str:
        tables = []
        for table in self.tables():
            widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
            tables.append(
                "\n".join(
                    "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table
                )
            )
        return "\n\n".join([*tables, "\n".join([*self.remarks(), f"Signature: {visible(self.signature)}"])])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        tables = []
        for header, *rows in self.tables():
            cells = ["".join(f"<th>{html.escape(each)}</th>" for each in header)]
            cells += ["".join(f"<td>{html.escape(each)}</td>" for each in row) for row in rows]
            tables.append("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
        remarks = "".join(f"<p>{html.escape(each)}</p>" for each in self.remarks())
        return "".join(tables) + remarks + f"<p>Signature: <code>{html.escape(visible(self.signature))}</code></p>"


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Reject values that `to_dict` has not given, in one kind of error."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be what {kind}.to_dict() gave, whole and unchanged ({problem})") from error


@dataclass(frozen=True)
class Report(Readable):
    """The scores of one system, how sure they are, and what they rest on.

    Attributes:
        signature: every choice that the scores depend on.
        scores: by name, such as ``"nDCG@10"``.
        counts: ``queries``; of these ``nothing_relevant``, ``nothing_irrelevant`` (all that was
            retrieved or judged is relevant), ``nothing_retrieved``, and ``left_out`` of the means.
        queries: a row per query: ``query`` (its id, or its index), its ``slice`` if there are any,
            how many documents were
            ``retrieved``, ``judged`` and ``relevant``, and under each score's name the query's
            value (null where it has none), under that name after ``worst`` and ``best`` the values
            by the order of ties, after ``chance`` that of a random order, and under ``unjudged@k``
            the unjudged documents within the cutoff.
        resampling: how the intervals were found.
        notes: what the reader should know besides.
        slices: by each value of `by`, ascending; queries without one, None, come last.
    """

    signature: str
    scores: dict[str, Score]
    counts: dict[str, int]
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()
    slices: dict[Value, Slice] = field(default_factory=dict)

    def _tables(self) -> list[list[list[str]]]:
        level = f"{100 * self.resampling.confidence:g}% interval"
        header = [
            "measure",
            "mean",
            level,
            "chance",
            "standard error",
            "range over tie orders",
            "queries affected by ties",
            "unjudged",
        ]
        rows = [
            [
                name,
                number_text(score.value),
                interval_text(score.low, score.high),
                number_text(score.chance),
                number_text(score.standard_error),
                interval_text(score.worst, score.best),
                f"{score.tied:,}",
                f"{count_text(score.unjudged)} of {score.ranked:,}",
            ]
            for name, score in self.scores.items()
        ]
        counts = [["queries", "number"]]
        counts += [[name.replace("_", " "), f"{count:,}"] for name, count in self.counts.items()]
        counts[1][0] = "all"
        slices = [["slice", "queries", *(text for name in self.scores for text in (name, level))]]
        for value, each in islice(self.slices.items(), SHOWN):
            cells = [
                text
                for score in each.scores.values()
                for text in (number_text(score.value), interval_text(score.low, score.high))
            ]
            slices.append([slice_name(value), f"{each.queries:,}", *cells])
        return [[header, *rows], *([slices] if self.slices else []), counts]

    def _remarks(self) -> list[str]:
        return [f"{self.resampling}.", *first_slices(self.slices), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        return {
            "signature": self.signature,
            "scores": score_dicts(self.scores),
            "counts": self.counts,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
            "slices": [
                {"slice": value, "queries": each.queries, "scores": score_dicts(each.scores)}
                for value, each in self.slices.items()
            ],
        }

    @classmethod
    @as_saved("Report")
    def from_dict(cls, values: Mapping[str, Any]) -> "Report":
        """Return the report that `to_dict` was called on, in this version or in 1.0.

        Every entry must have its type and range. Means, intervals and counts must follow from the values of the
        queries, up to rounding; intervals only if this version found them. These cannot be checked: ids, notes, the
        signature after its measures, how many documents of a query are judged or relevant, how many queries have
        nothing relevant or nothing irrelevant, and `resamples` and `seed`, which have no effect. Since weights are not
        saved, a weighted mean need only lie among the values, and within its interval.

        Raises:
            ValueError: the values are others; names the entry.
        """
        scores = scores_from_dicts(values["scores"], "scores", values["signature"])
        found = cls(
            signature=saved_signature(values["signature"], scores),
            scores=scores,
            counts={name: saved_count(each, f"counts: {name}") for name, each in values["counts"].items()},
            queries=table_from_lists(values["queries"]),
            resampling=saved_resampling(values["resampling"]),
            notes=saved_notes(values["notes"]),
            slices={
                each["slice"]: Slice(
                    saved_count(each["queries"], place := f"slices: {slice_name(each['slice'])}"),
                    scores_from_dicts(each["scores"], place, values["signature"]),
                )
                for each in values.get("slices", [])
            },
        )
        found._check_figures()
        return found

    def _check_figures(self) -> None:
        """Raise an error unless the figures follow from the values of the queries."""
        options = Options.parse(measures=list(self.scores))
        columns = saved_columns(self.queries, options.names)
        expected = set(columns) - {"ideal"}
        if "retrieved" in columns:
            expected |= {*COUNTS, *(result_name("unjudged", k) for k in options.cutoffs)}
        if is_of_this_version(self.signature) and set(self.queries.column_names) - {"slice"} != expected | {"query"}:
            raise ValueError(f"queries: must have the columns query, {', '.join(sorted(expected))}")
        if self.resampling.exact:
            raise ValueError("resampling: exact: must be False in a report; got True")
        (scores,) = scored(columns, options, None, self.resampling.confidence)
        check_scores(self.scores, scores, columns, self.signature, "scores")
        none: NDArray[np.bool_] = np.any([np.isnan(columns[name]) for name in self.scores], axis=0)
        counts: dict[str, int | None] = {"queries": len(none), "left_out": int(none.sum())}
        if "retrieved" in columns:
            unknown = {name: self.counts.get(name) for name in ("nothing_relevant", "nothing_irrelevant")}
            counts |= {**unknown, "nothing_retrieved": int(np.count_nonzero(columns["retrieved"] == 0))}
        if self.counts != counts or max(self.counts.values()) > len(none):
            raise ValueError(f"counts: do not follow from the queries; got {shown(self.counts)}")
        slices = saved_slices(self.queries, self.slices)
        again = {} if slices is None else _slices(slices, columns, options, None, self.resampling.confidence)
        for value, each in self.slices.items():
            place = f"slices: {slice_name(value)}"
            if each.queries != again[value].queries:
                raise ValueError(f"{place}: queries: must be {again[value].queries}; got {each.queries}")
            check_scores(each.scores, again[value].scores, columns, self.signature, place)

    def flat(self) -> dict[str, float]:
        """Return the scores as experiment trackers log them, without what a slice has no value or interval of.

        Beside `nDCG@10` stand `nDCG@10/low` and `nDCG@10/high`, and for a slice such as `de` all three under
        `nDCG@10/slice=de`.

        Raises:
            ValueError: two values would have one name, by slices such as `de` and `de/low`.
        """
        found: dict[str, float] = {}
        for where, _, scores in self._parts():
            for name, score in scores.items():
                key = name if where is None else f"{name}/slice={where}"
                flat = {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
                if both := found.keys() & flat:
                    raise ValueError(f"by: two values would be called {shown(min(both))}; give the slices other names")
                found |= flat
        return {key: value for key, value in found.items() if not math.isnan(value)}

    def to_model_index(
        self, *, model_name: str, dataset: str, task_type: str = "text-ranking", **fields: Any
    ) -> list[dict[str, Any]]:
        """Return the `model-index` of a model card's metadata: every score, of each slice too.

        The `args` of each score hold its interval, the number of queries and the signature.

        Args:
            model_name: the model's name.
            dataset: the id of the dataset on the Hub.
            task_type: of the Hub's tasks, such as `"text-ranking"` or `"sentence-similarity"`.
            **fields: of `huggingface_hub.EvalResult`, such as `dataset_name`, which is the id by default,
                `dataset_split`, `dataset_revision`, `source_url`.

        Raises:
            ImportError: huggingface_hub is missing.
            ValueError: a name that is no text, or empty.
        """
        for argument, text in {"model_name": model_name, "dataset": dataset, "task_type": task_type}.items():
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"{argument} must be a name; got {shown(text)}")
        try:
            from huggingface_hub import EvalResult
            from huggingface_hub.repocard_data import eval_results_to_model_index
        except ImportError:
            hint = 'pip install huggingface_hub, or "ndcg[card]"'
            raise ImportError(f"to_model_index needs huggingface_hub: {hint}") from None
        fields = {"task_type": task_type, "dataset_type": dataset, "dataset_name": dataset, **fields}
        results = [
            EvalResult(
                **fields,
                metric_type=name.lower(),
                metric_name=name if where is None else f"{name} slice={where}",
                metric_value=score.value,
                metric_args={**self._interval(score), "queries": queries, "signature": self.signature},
            )
            for where, queries, scores in self._parts()
            for name, score in scores.items()
            if not math.isnan(score.value)
        ]
        return eval_results_to_model_index(model_name, results)

    def to_eval_results(
        self, *, dataset: str, task_id: str, measure: str | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        """Return what a file in the `.eval_results/` of a model's repository holds: one score, for a leaderboard.

        The notes name the score, its interval, the number of queries and the signature.

        Args:
            dataset: the id of the benchmark's dataset on the Hub.
            task_id: of the benchmark's tasks.
            measure: the score, such as `"nDCG@10"`; None where there is only one.
            **fields: of `huggingface_hub.EvalResultEntry`, such as `dataset_revision`, `date`, `source_url`.

        Raises:
            ValueError: a measure that is not in the report.
            ImportError: huggingface_hub is missing or older than 1.16.
        """
        try:
            from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
        except ImportError:
            hint = 'pip install "huggingface_hub>=1.16", or "ndcg[card]"'
            raise ImportError(f"to_eval_results needs huggingface_hub 1.16 or newer: {hint}") from None
        if measure is None and len(self.scores) == 1:
            measure = next(iter(self.scores))
        if not isinstance(measure, str) or measure not in self.scores:
            raise ValueError(f"measure must be one of {', '.join(map(repr, self.scores))}; got {shown(measure)}")
        score = self.scores[measure]
        level, queries = f"{100 * self.resampling.confidence:g}% interval", f"{self.counts['queries']:,} queries"
        notes = f"{measure}, {level} {interval_text(score.low, score.high)}, {queries}; {self.signature}"
        entry = EvalResultEntry(dataset_id=dataset, task_id=task_id, value=score.value, **{"notes": notes, **fields})
        return eval_result_entries_to_yaml([entry])

    def plot(self, measure: str | None = None) -> Any:
        """Return a Matplotlib figure of a measure: its means with intervals, its values for all queries, its slices.

        Args:
            measure: such as ``"nDCG"``, all of whose cutoffs are shown; by default the first.

        Raises:
            ValueError: a measure that is not in the report.
        """
        measures = list(dict.fromkeys(measure_of(name) for name in self.scores))
        if measure not in (None, *measures, *self.scores):
            raise ValueError(f"{shown(measure)} is not in this report, which has {', '.join(map(repr, measures))}")
        measure = measures[0] if measure is None else measure_of(measure)
        scores = {name: score for name, score in self.scores.items() if measure_of(name) == measure}
        height = max(4.0, 0.3 * min(len(self.slices), SHOWN))
        figure, (means, queries, *slices) = figure_of(2 + bool(self.slices), height)
        for at, (name, score) in enumerate(scores.items()):
            means.plot([at, at], [score.low, score.high], color=f"C{at}", linewidth=2)
            means.plot(at, score.value, "o", color=f"C{at}")
            values = self.queries[name].drop_null().sort().to_numpy()
            queries.plot([100 * (each + 0.5) / len(values) for each in range(len(values))], values, label=name)
        means.set_xticks(range(len(scores)), scores, rotation=30 if len(scores) > 4 else 0)
        means.margins(x=0.3)
        means.set_ylabel(f"mean, with {100 * self.resampling.confidence:g}% interval")
        means.set_title(f"Mean of {self.counts['queries']:,} queries")
        queries.set_xlabel("% of the queries, lowest first")
        queries.set_ylabel("value of a query")
        queries.set_title("From the lowest to the highest query")
        queries.legend()
        if self.slices:
            self._plot_slices(slices[0], list(scores))
        return figure

    def _parts(self) -> Iterator[tuple[str | None, int, dict[str, Score]]]:
        """Return the scores of all queries, then those of each slice by its name, with how many queries there are."""
        yield None, self.counts["queries"], self.scores
        for value, each in self.slices.items():
            yield slice_name(value), each.queries, each.scores

    def _interval(self, score: Score) -> dict[str, float]:
        """Return the interval of a score, where it has one."""
        if math.isnan(score.low):
            return {}
        return {"confidence": self.resampling.confidence, "low": score.low, "high": score.high}

    def _plot_slices(self, axes: Any, names: Sequence[str]) -> None:
        """Draw the means of slices, the first on top, with their intervals."""
        slices = list(self.slices.items())[:SHOWN]
        for at, (_, each) in enumerate(slices):
            for row, name in enumerate(names):
                height, score = at + (row + 0.5) / len(names) / 2 - 0.25, each.scores[name]
                axes.plot([score.low, score.high], [height, height], color=f"C{row}", linewidth=2)
                axes.plot(score.value, height, "o", color=f"C{row}")
        axes.set_yticks(range(len(slices)), [f"{slice_name(value)} ({each.queries:,})" for value, each in slices])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.invert_yaxis()
        axes.set_xlabel(f"mean, with {100 * self.resampling.confidence:g}% interval")
        axes.set_title("Slices (and their queries)")


def report(
    *,
    predictions: Any,
    references: Any,
    k: Cutoffs = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **options: Unpack[QueryOptions],
) -> Report:
    """Score as `compute` does, and say how sure the scores are and what they rest on.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        k: the cutoff or cutoffs.
        sample_weight: one weight per query for the mean.
        query_ids: for flat predictions and references.
        document_ids: with `query_ids`.
        data: a frame; then the arguments above may be names of its columns.
        exclude: documents to leave out, as in `compute`.
        by: a value per query (text, an integer or a boolean; None for none), such as its language: the
            queries that share one are scored as a slice. In the order of the queries, or `{query: value}`.
        confidence: of the intervals, between 0 and 1.
        resamples: of no effect since 1.1, whose intervals are found without drawing queries anew.
        seed: likewise.
        **options: of `compute`, but `use_aggregator` and `engine`.

    Raises:
        ValueError: what `compute` refuses, and fewer than two queries.
        ImportError: SciPy is missing.

    >>> predictions, references = [[3, 2, 1], [1, 1, 2], [1, 2, 3]], [[2, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> found = report(predictions=predictions, references=references, k=[1, 3])
    >>> found.scores["nDCG@3"].value.__round__(4), found.scores["nDCG@3"].tied
    (0.8552, 1)
    """
    resampling = Resampling.parse(confidence, resamples, seed)
    parsed = Options.of_method(report, k, options)
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
    rankings = from_frame(data, inputs, sample_weight, by=by)
    return report_on(*rankings, options=parsed, resampling=resampling)


def report_on(
    inputs: Inputs, sample_weight: Any = None, by: Any = None, *, options: Options, resampling: Resampling
) -> Report:
    """Return the report on rankings, once the options are checked."""
    columns = query_columns(inputs, options)
    weight = weights(sample_weight, len(columns["ideal"]))
    signature = options.signature(weighted=weight is not None, excluding=inputs.exclude is not None)
    return report_of(columns, weight, by, options=options, resampling=resampling, signature=signature)


def report_of(
    columns: PerQuery,
    weight: NDArray[np.float64] | None,
    by: Any,
    *,
    options: Options,
    resampling: Resampling,
    signature: str,
) -> Report:
    """Return the report on what is known of each query, of values alone too, whose rankings are unknown."""
    queries = len(columns["ideal"])
    parts = None if by is None else slices_of(by, columns.get("query"), queries)
    (scores,) = scored(columns, options, weight, resampling.confidence)
    slices = {} if parts is None else _slices(parts, columns, options, weight, resampling.confidence)
    counts = {"queries": queries}
    if "retrieved" in columns:
        counts |= {
            "nothing_relevant": int(np.count_nonzero(columns["ideal"] <= 0)),
            "nothing_irrelevant": int(np.count_nonzero(columns["nothing irrelevant"])),
            "nothing_retrieved": int(np.count_nonzero(columns["retrieved"] == 0)),
        }
    return Report(
        signature=signature,
        scores=scores,
        counts={
            **counts,
            "left_out": int(np.isnan([columns[name] for name in options.names]).any(axis=0).sum()),
        },
        queries=query_table(columns if parts is None else with_slices(columns, parts)),
        resampling=resampling,
        notes=(
            *notes([columns], options, weight),
            *chance_notes(scores, columns),
            *small_slices(slices),
            *slice_notes(slices),
        ),
        slices=slices,
    )


def scored(
    columns: PerQuery,
    options: Options,
    weight: NDArray[np.float64] | None,
    confidence: float,
    parts: Parts | None = None,
) -> list[dict[str, Score]]:
    """Return the scores of a system by name: of each part of the queries, or of all queries as the only one."""
    values = np.stack([columns[name] for name in options.names])
    found = intervals(values, weight, greatest=greatest_values(options), confidence=confidence, parts=parts)
    return scores_of(columns, options, weight, found, parts)


def _slices(
    parts: Slices, columns: PerQuery, options: Options, weight: NDArray[np.float64] | None, confidence: float
) -> dict[Value, Slice]:
    """Return the scores of each slice, as its queries alone have them."""
    found: list[Slice] = []
    for part in in_pieces(parts):
        own = {name: column[part.queries] for name, column in columns.items()}
        own_weight = None if weight is None else weight[part.queries]
        scores = scored(own, options, own_weight, confidence, part.parts)
        found += map(Slice, part.parts.sizes.tolist(), scores)
    return dict(zip(parts.values, found, strict=True))


class Piece(NamedTuple):
    """Some slices that follow each other.

    Attributes:
        values: of the slices.
        queries: all queries of theirs, slice after slice.
        parts: where each slice begins.
    """

    values: list[Value]
    queries: NDArray[np.intp]
    parts: Parts


def in_pieces(slices: Slices) -> Iterator[Piece]:
    """Yield slices with their queries, as many slices at a time as have few queries together.

    >>> slices = Slices(["de", "en", None], np.array([1, 2, 0, 1]))
    >>> [(piece.values, piece.queries.tolist()) for piece in in_pieces(slices)]
    [(['de', 'en', None], [2, 0, 3, 1])]
    """
    order = np.argsort(slices.code, kind="stable")
    sizes = np.bincount(slices.code, minlength=len(slices.values))
    end = np.cumsum(sizes)
    pieces = np.split(np.arange(len(sizes)), np.flatnonzero(np.diff((end - 1) // SLICED)) + 1)
    for own in pieces:
        first, last = own[0], own[-1]
        yield Piece(slices.values[first : last + 1], order[end[first] - sizes[first] : end[last]], Parts(sizes[own]))


def columns_of_values(queries: Sequence[Any], values: Mapping[str, NDArray[np.float64]]) -> PerQuery:
    """Return the columns of queries of which only the values are known, by the name of each result."""
    columns: PerQuery = {"query": np.array(queries, object), "ideal": np.ones(len(queries))}
    for name, each in values.items():
        columns |= dict.fromkeys((name, f"worst {name}", f"best {name}"), each)
        columns[f"chance {name}"] = np.full(len(queries), np.nan)
    return columns


def query_columns(inputs: Inputs, options: Options) -> PerQuery:
    """Return the columns of a report's table of queries.

    `query` is there only where queries have ids; `ideal`, the highest IDCG of all that was judged, tells those
    with nothing relevant.
    """
    return describe_queries(partial(_describe, options), inputs, options, PIECE)


def _describe(options: Options, part: Rankings) -> PerQuery:
    measures = tuple(dict.fromkeys([*options.measures, "IDCG"]))
    chosen = options.scoring["ties"]
    by_ties = {ties: score_part(part, options, measures=measures, ties=ties) for ties in {chosen, "worst", "best"}}
    scored = by_ties[chosen]
    no_order = part._replace(score=np.where(part.score > -np.inf, np.float32(0), np.float32(-np.inf)))
    by_chance = score_part(no_order, options, ties="average")
    columns: PerQuery = part.counts()
    if part.query_ids is not None:
        ids = part.query_ids.to_pylist() if isinstance(part.query_ids, pa.Array) else part.query_ids
        columns["query"] = np.fromiter(ids, object, part.queries)
    for name, measure, row in options.results:
        columns[name] = scored[measure][row]
        values = np.stack([each[measure][row] for each in by_ties.values()])
        columns[f"worst {name}"], columns[f"best {name}"] = values.min(axis=0), values.max(axis=0)
        columns[f"chance {name}"] = by_chance[measure][row]
    for k, unjudged in zip(options.cutoffs, _unjudged(options, part), strict=True):
        columns[result_name("unjudged", k)] = unjudged
    columns["nothing irrelevant"] = _nothing_irrelevant(columns)
    columns["missing"] = np.zeros(part.queries, bool) if part.missing is None else part.missing
    ideal = scored["IDCG"]
    if options.ideal != "judged" or options.missing == "skip":  # it may be of nothing where something is relevant
        how = {**options.scoring, "measures": ("IDCG",), "ideal": "judged"}
        ideal = score_queries(**part.arrays(), **how)["IDCG"]
    columns["ideal"] = (ideal * sign(discounts(1, options.log_base, options.discount))).max(axis=0)
    return columns


def _unjudged(options: Options, part: Rankings) -> NDArray[np.float64]:
    """Return the unjudged documents within each cutoff, of shape ``(cutoffs, queries)``."""
    if part.judged is None:
        return np.zeros((len(options.cutoffs), part.queries))
    # the CG where each of them has a gain of 1, and the others none
    arrays = {**part.arrays(), "relevance": np.where(part.judged, 0.0, 1.0), "judged": None}
    ties = options.scoring["ties"]
    # of tied documents those not judged, without gain, come last in the best order
    ties = {"best": "worst", "worst": "best"}.get(ties, ties)
    how = {**options.scoring, "measures": ("CG",), "gain": "linear", "ties": ties}
    return np.asarray(score_queries(**arrays, **how)["CG"])


def _nothing_irrelevant(counts: PerQuery) -> NDArray[np.bool_]:
    """Return which queries have documents, all of which that were retrieved or judged are relevant."""
    is_judged = counts["retrieved and judged"] == counts["retrieved"]
    return np.asarray(is_judged & (counts["relevant"] == counts["judged"]) & (counts["retrieved"] > 0))


def with_slices(columns: PerQuery, parts: Slices) -> PerQuery:
    """Return columns with the slice of each query as the first."""
    return {"slice": np.array(parts.values, object)[parts.code], **columns}


def query_table(columns: PerQuery) -> pa.Table:
    """Return the table of a report: ids or indices first, missing values as nulls."""
    ids = columns.get("query", np.arange(len(columns["ideal"])))
    hidden = ("query", "ideal", "missing", "retrieved and judged", "nothing irrelevant")
    kept = {name: column for name, column in columns.items() if name not in hidden}
    return pa.table(
        {"query": _saved_ids(ids), **{name: pa.array(column, from_pandas=True) for name, column in kept.items()}}
    )


def _saved_ids(ids: NDArray[Any]) -> pa.Array:
    """Return ids as integers of 64 bits if all are, else as text, in which what is no Unicode is spelled out."""
    values = ids.tolist()
    kinds = set(map(type, values))
    with suppress(OverflowError, UnicodeError, pa.ArrowException):
        if all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds):
            return pa.array(list(map(int, values)), pa.int64())
        if kinds == {str}:
            return pa.array(values, pa.string())
    return pa.array([str(each).encode("utf-8", "backslashreplace").decode() for each in values])


def scores_of(
    columns: PerQuery,
    options: Options,
    weight: NDArray[np.float64] | None,
    found: Intervals,
    parts: Parts | None = None,
) -> list[dict[str, Score]]:
    """Return the scores of a system by name, from the columns of its queries and the intervals of its means.

    They are those of each part of the queries, or of all queries as the only one.
    """
    queries = len(columns["ideal"])
    parts = Parts([queries]) if parts is None else parts
    low, high, error = (each.reshape(-1, len(parts)) for each in found)
    scores: list[dict[str, Score]] = [{} for _ in range(len(parts))]
    for at, (name, _, row) in enumerate(options.results):
        k = options.cutoffs[row]
        worst, best = columns[f"worst {name}"], columns[f"best {name}"]
        counted = ~np.isnan(columns[name]) & (True if weight is None else weight > 0)
        none = np.zeros(queries)  # of values alone, whose rankings are unknown
        retrieved = columns.get("retrieved", none)
        ranked = np.minimum(retrieved, retrieved if k is None else min(k, 2**62))
        value = _means(name, columns[name], weight, counted, parts)
        figures: dict[str, NDArray[Any]] = {
            "value": value,
            "low": np.minimum(value, low[at]),
            "high": np.maximum(value, high[at]),
            "standard_error": error[at],
            "worst": _means(name, worst, weight, counted, parts),
            "best": _means(name, best, weight, counted, parts),
            "tied": parts.sums((differences(best, worst) > 0) & counted),
            "ranked": parts.sums(np.where(counted, ranked, 0).astype(np.int64)),
            "unjudged": parts.float_sums(columns.get(result_name("unjudged", k), none), counted),
            "chance": _means(name, columns[f"chance {name}"], weight, counted, parts),
        }
        lists = (plain_list(figures[each]) for each in Score._fields)
        for of_part, score in zip(scores, zip(*lists, strict=True), strict=True):
            of_part[name] = Score._make(score)
    return scores


def _means(
    name: str, values: NDArray[np.float64], weight: NDArray[np.float64] | None, counted: NDArray[np.bool_], parts: Parts
) -> NDArray[np.float64]:
    """Return the mean of each part over the queries that have a value, nan if none of these is counted.

    Raises:
        ValueError: the sum of a part overflows.
    """
    valued = ~np.isnan(values)
    found = np.full(len(parts), np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for block in parts.blocks(valued):
            if not block.size:
                continue
            own = values[block.queries]
            if weight is None:
                found[block.parts] = own.mean(axis=1)
            else:
                weights = weight[block.queries]
                found[block.parts] = (own * weights).sum(axis=1) / weights.sum(axis=1)
    has_mean = parts.sums(valued & counted) > 0
    for part in np.flatnonzero(has_mean & ~np.isfinite(found)).tolist():
        queries = slice(parts.first[part], parts.first[part] + parts.sizes[part])
        mean(name, values[queries], None if weight is None else weight[queries])  # raises the error
    return np.where(has_mean, found, np.nan)


def notes(systems: Sequence[PerQuery], options: Options, weight: NDArray[np.float64] | None = None) -> tuple[str, ...]:
    """Return what the reader should know besides: a cutoff that cuts nothing off, ids that never meet, few queries."""
    few = _few_queries(systems, options, weight)
    if "retrieved" not in systems[0]:  # values alone, whose rankings are unknown
        return few
    longest = max(int(columns[name].max()) for columns in systems for name in ("retrieved", "judged"))
    found = [
        f"The cutoff {k} cuts nothing off: no query has more than {longest} documents retrieved, or judged."
        for k in options.cutoffs
        if k is not None and k > longest
    ]
    met = [columns["retrieved and judged"].any() for columns in systems if columns["retrieved"].any()]
    if systems[0]["judged"].any() and not all(met):
        found.append("No document was both retrieved and judged: are the ids of documents the same on both sides?")
    alike = np.logical_and.reduce([columns["nothing irrelevant"] for columns in systems])
    if 10 * np.count_nonzero(alike) >= len(alike):
        number = f"{np.count_nonzero(alike):,} of {len(alike):,} queries"
        found.append(f"No negatives: in {number} all documents are relevant, so that any order of them scores high.")
    return (*found, *few)


def _few_queries(
    systems: Sequence[PerQuery], options: Options, weight: NDArray[np.float64] | None = None
) -> tuple[str, ...]:
    """Return a sentence on queries that are few, if they are."""
    shares = np.ones(len(systems[0]["ideal"])) if weight is None else weight
    of_results = [shares[~np.isnan(each[name])] for each in systems for name in options.names]
    fewest = min(of_results, key=_counted_as)
    if (counted := _counted_as(fewest)) >= FEW:
        return ()
    number = f"{np.count_nonzero(fewest):,}"
    alike = counted > 0.999 * np.count_nonzero(fewest)
    number += "" if alike else f", which count as {counted:.1f} by their weights"
    problem = "intervals and tests may be wrong more often than they say"
    return (f"Few queries ({number}): below {FEW}, {problem}.",)


def _counted_as(weight: NDArray[np.float64]) -> float:
    """Return how many queries of equal weight tell as much (Kish, 1965)."""
    return float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0


def chance_notes(scores: Mapping[str, Score], columns: PerQuery) -> list[str]:
    """Return for each score that may be by chance, or is below it, a sentence that says so."""
    found = []
    for name, score in scores.items():
        differs = np.abs(differences(columns[name], columns[f"chance {name}"])) > 0
        if score.low <= score.chance and differs.any():  # else the order decides nothing
            chance = f"a random order of the same documents has {number_text(score.chance)} on average"
            below = f"{name} is below chance, {chance}: do higher scores rank first?"
            found.append(f"{name} may be chance: {chance}." if score.chance <= score.high else below)
    return found


def slice_notes(slices: Mapping[Value, Slice]) -> list[str]:
    """Return a sentence on the slices without an interval, if there are any."""
    without = sum(any(math.isnan(score.low) for score in each.scores.values()) for each in slices.values())
    few = "fewer than two of their queries have a value"
    return [f"{without:,} of {len(slices):,} slices have no interval: {few}."] if without else []


def small_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices of few queries, if there are any."""
    few = sum(each.queries < FEW for each in slices.values())
    problem = f"have fewer than {FEW} queries: intervals may miss the true value more often than they say"
    return [f"{few:,} of {len(slices):,} slices {problem}."] if few else []


def first_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices that tables leave out, if there are any."""
    return [f"Of {len(slices):,} slices the first {SHOWN} are shown."] if len(slices) > SHOWN else []


def greatest_values(options: Options) -> NDArray[np.float64]:
    """Return the greatest value that a query can have in each result."""
    return np.array([1.0 if measure_of(name) == "nDCG" else np.inf for name in options.names])


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists: text and counts as they are, values as float64."""
    found = {}
    for name, values in columns.items():
        place = f"queries: {name}"
        if not isinstance(name, str) or not isinstance(values, (list, tuple)):
            raise ValueError(f"{place}: must be a list; got {shown(values)}")
        if name in COUNTS:
            found[name] = pa.array([saved_count(each, place) for each in values], pa.int64())
        elif name in ("system", "query"):
            if len(kinds := {type(each) for each in values}) != 1 or not kinds <= (
                {str, int} if name == "query" else {str}
            ):
                raise ValueError(f"{place}: must be all text" + " or all integers" * (name == "query"))
            found[name] = pa.array(values)
        elif name == "slice":
            found[name] = pa.array(values)
        else:
            found[name] = pa.array([saved_number(each, place) for each in values], pa.float64(), from_pandas=True)
    return pa.table(found)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not is_real(value) or not math.isfinite(value) or float(value) != value:
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_count(value: Any, place: str) -> int:
    """Return a saved number of queries or documents."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{place}: must be a count; got {shown(value)}")
    return value


def saved_notes(notes: Any) -> tuple[str, ...]:
    """Return saved notes."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(each, str) for each in notes):
        raise ValueError(f"notes: must be a list of texts; got {shown(notes)}")
    return tuple(notes)


def saved_signature(signature: Any, names: Iterable[str]) -> str:
    """Return a saved signature, which begins with the measures."""
    if not isinstance(signature, str) or signature.split("|")[0] != "+".join(names) or "|v:" not in signature:
        raise ValueError(f"signature: must be of the measures {', '.join(names)}; got {shown(signature)}")
    return signature


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return how saved intervals were found."""
    found = Resampling(**values)
    if not isinstance(found.exact, bool):
        raise ValueError(f"resampling: exact: must be True or False; got {shown(found.exact)}")
    return Resampling.parse(*found[:3])._replace(exact=found.exact)


def saved_columns(table: pa.Table, names: Sequence[str]) -> PerQuery:
    """Return columns of a saved table, nan for those that it does not have."""
    nothing = np.full(len(table), np.nan)
    columns = {
        each: table[each].to_numpy().copy() if each in table.column_names else nothing
        for name in names
        for each in (name, f"worst {name}", f"best {name}", f"chance {name}")
    }
    others = [each for each in table.column_names if each in COUNTS or measure_of(each) == "unjudged"]
    return {**columns, **{each: table[each].to_numpy() for each in others}, "ideal": np.ones(len(table))}


def saved_slices(table: pa.Table, values: Iterable[Value], left_out: bool = False) -> Slices | None:
    """Return the slices of a saved table, if it has any, which must be those of the values, or have left some out."""
    slices = read_slices(table["slice"]) if "slice" in table.column_names else None
    known = [] if slices is None else [(type(each), each) for each in slices.values]
    given = [(type(each), each) for each in values]
    if given != (known if not left_out else [each for each in known if each in given]):
        raise ValueError("slices: are not those of the queries")
    return slices


def is_of_this_version(signature: str) -> bool:
    """Return whether figures were found by the methods of this version."""
    return f"|v:{__version__}" in signature


def check_scores(
    scores: Mapping[str, Score], again: Mapping[str, Score], columns: PerQuery, signature: str, place: str
) -> None:
    """Raise an error unless saved scores are those found again from the values of queries, as far as these tell."""
    if list(scores) != list(again):
        raise ValueError(f"{place}: must be of {', '.join(again)}; got {', '.join(map(shown, scores))}")
    for name, score in scores.items():
        at, size = f"{place}: {name}", float(np.nanmax(np.abs(columns[name]), initial=0))
        if score.low > score.value or score.value > score.high or score.worst > score.best or score.unjudged < 0:
            raise ValueError(f"{at}: the ends of an interval or range are in the wrong order")
        fields = ["value", "low", "high", "standard_error"] if is_of_this_version(signature) else ["value"]
        if "unjudged" in map(measure_of, columns):
            fields += ["ranked", "unjudged"]
        if f"worst {name}" in columns and not np.isnan(columns[f"worst {name}"]).all():
            fields += ["worst", "best", "tied", *["chance"] * is_of_this_version(signature)]
        if "|weights:given" in signature:
            _check_weighted(score, name, columns, at, size)
        else:
            check_figures(score, again[name], fields, at, size)


def _check_weighted(score: Score, name: str, columns: PerQuery, place: str, size: float) -> None:
    """Raise an error if no weights of the queries could have given a score."""
    for figure, column in zip(("value", "worst", "best", "chance"), ("", "worst ", "best ", "chance "), strict=True):
        values, mean = columns[column + name], getattr(score, figure)
        if np.isnan(values).all():  # not known, as in a comparison
            continue
        if not math.isnan(mean) and not np.nanmin(values) - SAVED * size <= mean <= np.nanmax(values) + SAVED * size:
            raise ValueError(f"{place}: {figure}: is beyond the values of all queries; got {mean}")
    if math.isnan(score.value) != math.isnan(score.worst) or score.tied > len(columns[name]):
        raise ValueError(f"{place}: does not follow from the values of the queries")


def check_figures(found: Any, again: Any, fields: Iterable[str], place: str, size: float) -> None:
    """Raise an error unless saved figures are those found again, up to rounding of numbers of some size."""
    for name in fields:
        one, other = (math.nan if each is None else each for each in (getattr(found, name), getattr(again, name)))
        if not (
            math.isclose(one, other, rel_tol=SAVED, abs_tol=SAVED * size) or (math.isnan(one) and math.isnan(other))
        ):
            raise ValueError(f"{place}: {name}: must be {other:.6g}, by the values of the queries; got {shown(one)}")


def number_text(value: float | None, places: int = 4, sign: str = "") -> str:
    """Return a number as tables show it, with a sign before positive ones too if that is "+".

    >>> number_text(0.5), number_text(0.25, 2, "+"), number_text(1.5e200), number_text(math.nan)
    ('0.5000', '+0.25', '1.5000e+200', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{value:{sign}.{places}{'f' if abs(value) < LARGE else 'e'}}"


def interval_text(low: float, high: float, places: int = 4, sign: str = "") -> str:
    """Return an interval, or a range, as tables show it."""
    return "–" if math.isnan(low) else f"{number_text(low, places, sign)} – {number_text(high, places, sign)}"


def count_text(value: float) -> str:
    """Return a number of documents as tables show it: it may be an expectation.

    >>> count_text(1234567.0), count_text(12.25)
    ('1,234,567', '12.25')
    """
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def score_dicts(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    """Return scores by name in types that JSON has: None for nan."""
    return {name: without_nan(score) for name, score in scores.items()}


def without_nan(figures: Any) -> dict[str, Any]:
    """Return a named tuple as a dict, with None for nan."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in figures._asdict().items()
    }


def scores_from_dicts(scores: Mapping[str, Mapping[str, Any]], place: str, signature: str) -> dict[str, Score]:
    """Return the scores that `score_dicts` was called on."""
    found = {}
    for name, score in scores.items():
        if is_of_this_version(signature) and "chance" not in score:  # which 1.0 did not have
            raise ValueError(f"{place}: {name}: chance is missing")
        kinds = {"tied": saved_count, "ranked": saved_count}
        checked: dict[str, Any] = {
            key: kinds.get(key, saved_number)(each, f"{place}: {name}: {key}") for key, each in score.items()
        }
        found[name] = Score(**checked)
    return found


def plain_list(figures: NDArray[Any]) -> list[Any]:
    """Return figures as numbers of Python; nan is always the same one, so that equal figures are equal."""
    return [math.nan if each != each else each for each in figures.tolist()]


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is."""
    escaped = "".join("\\" + each if each in "\\`*_{}[]<>#|~$&" else each for each in text)
    return " ".join(escaped.split())


def figure_of(axes: int, height: float = 4.0) -> tuple[Any, Any]:
    """Return a figure that belongs to no window, with its axes in one row."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('plot needs Matplotlib: pip install matplotlib, or "ndcg[report]"') from None
    figure = Figure(figsize=(5 * axes + 2 * (axes == 1), height), layout="constrained")
    return figure, figure.subplots(1, axes, squeeze=False)[0]
