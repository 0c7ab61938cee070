"""The report on one system: its scores, their intervals, and what a reader needs to judge them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.reading import Inputs
from ..inputs.slices import Slices, Value, slice_name
from ..measure.messages import imported, missing_library, shown
from ..measure.options import Cutoffs, Options, QueryOptions, choice, whole
from ..measure.ties import Mask
from ..scores.frames import from_frame
from ..scores.means import mean
from ..scores.queries import Notify, warn_of_predictions
from ..show.drawing import LINES, Mark, draw_mark, draw_rows, figure_of, legend_above
from ..show.tables import Table, count_text, counted_text, interval_text
from .independent import mean_of_slices
from .measured import (
    COUNTS,
    EXCLUDED,
    SHOWN,
    PerQuery,
    Resampling,
    Score,
    Scores,
    Slice,
    in_slices,
    lacks_value,
    mean_table,
    plotted_names,
    query_columns,
    query_figures,
    query_slices,
    query_table,
    range_text,
    samples_of,
    score_system,
    select_present,
    slice_rows,
    slices_in,
)
from .notes import first_slices, notes_of, slice_notes
from .saved import (
    Evaluation,
    Saved,
    check_counted,
    check_row_count,
    saved_columns,
    saved_count,
    saved_scores,
    saved_slices,
    version_in,
)
from .significance import Sample

# The rows of a report's table that counts queries.
COUNTED = {
    "queries": "all",
    "nothing_relevant": "no relevant documents",
    "all_relevant": "all documents relevant",
    "nothing_retrieved": "no documents retrieved",
    "left_out": "excluded from a mean",
}


@dataclass(frozen=True)
class Report(Evaluation):
    """The scores of one system, their intervals, and what a reader needs to judge them.

    Attributes:
        signature: every option that the scores depend on.
        scores: the scores by name, such as ``"nDCG@10"``.
        counts: the number of ``queries``, and how many of them have no relevant documents
            (``nothing_relevant``), only relevant documents (``all_relevant``: everything that was
            retrieved or judged is relevant), no retrieved documents (``nothing_retrieved``), and
            how many are excluded from a mean (``left_out``). With `exclude` also how many of its
            documents were retrieved (``excluded_retrieved``) and judged (``excluded_judged``; with
            ``exclude_from="run"`` they stay in the ideals).
        queries: a table with a row per query: ``query`` (its id, or its index), its ``slice`` if
            there are any, the number of documents ``retrieved``, ``judged`` and ``relevant``, and
            for every score such as ``nDCG@10`` the query's value under this name (null if it has
            none), ``worst nDCG@10`` and ``best nDCG@10`` under the worst and the best order of
            ties, ``random order nDCG@10``, the expected value of a random order, and
            ``unjudged@10``, the number of unjudged documents within the cutoff.
        resampling: the confidence of the intervals.
        notes: sentences with further facts for the reader.
        slices: the scores of every slice, by its value of `by`, ascending; queries without a value,
            None, come last.
        mean_of_slices: the mean of the slices' scores, in which all slices count the same; None is
            no slice. Its interval takes the slices as given, and their queries as samples. None
            without slices.
    """

    signature: str
    scores: Scores
    counts: dict[str, int]
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()
    slices: dict[Value, Slice] = field(default_factory=dict)
    mean_of_slices: Slice | None = None

    def _tables(self) -> list[Table]:
        level = self.resampling.level
        queries = self.counts["queries"]
        means: Table = []
        for name, score in self.scores.items():
            cells = score.cells(level, queries=queries)
            means.append([name, *cells.values()])
        means.insert(0, ["measure", *cells])
        counted = [name for name in COUNTED if name in self.counts]
        counts = [[COUNTED[name], count_text(self.counts[name])] for name in counted]
        counts.insert(0, ["queries", "count"])
        if not self.slices:
            return [means, counts]
        rows = [([title], part) for title, part, _ in slice_rows(self, SHOWN)]
        return [means, mean_table(["slice"], rows, level), counts]

    def _remarks(self) -> list[str]:
        return [f"{self.resampling}.", *first_slices(self.slices), *self.notes]

    @classmethod
    def _read(
        cls, values: Saved, options: Options, queries: pa.Table, resampling: Resampling
    ) -> dict[str, Any]:
        names = options.names
        columns = saved_columns(queries, names, values["signature"])
        counts = {}
        for name, count in values["counts"].items():
            counts[name] = saved_count(count, f"counts: {name}")
        if version_in(values["signature"]).startswith("2."):
            by = slices_in(queries)
            results = _scores_and_slices(columns, by, names, resampling.confidence)
            counts |= {"queries": len(queries), "left_out": _left_out(columns, names)}
            return {"counts": counts, **results}
        scores = saved_scores(values["scores"], names)
        check_counted(scores, columns, "scores")
        check_row_count(counts["queries"], len(queries), "counts")

        def read(part: Saved) -> Slice:
            return Slice(part["queries"], saved_scores(part["scores"], names))

        return {"counts": counts, "scores": scores, **saved_slices(values, queries, read)}

    def lowest(self, n: int | None = 10, measure: str | None = None) -> pa.Table:
        """Return the queries with the lowest values.

        The columns are ``query``, the value, and the numbers of documents. The lowest comes first.
        Queries without a value or without relevant documents are left out, because no ranking could
        improve them. `documents` lists their documents with their ranks.

        Args:
            n: the number of queries; None for all.
            measure: the name of a score; by default the first.

        Raises:
            ValueError: the measure is unknown, or `n` is negative.
        """
        if measure is None:
            measure = next(iter(self.scores))
        else:
            choice("measure", measure, tuple(self.scores))
        if n is not None:
            n = whole("n", n, 0)
        table = select_present(self.queries, ["query", "slice", measure, *COUNTS])
        is_counted = pc.is_valid(table[measure])
        if "relevant" in table.column_names:
            is_counted = pc.and_(is_counted, pc.greater(table["relevant"], 0))
        table = table.filter(is_counted)
        # Queries with equal values stay in their order.
        return table.take(np.argsort(table[measure].to_numpy(), kind="stable")[:n])

    def flat(self) -> dict[str, float]:
        """Return the scores as one dict of floats, as experiment trackers log them.

        Next to `nDCG@10`, it has the ends of the interval as `nDCG@10/low` and `nDCG@10/high`, and
        for a slice such as `de` the same three under `nDCG@10/slice=de`. Values and intervals that
        a slice does not have are omitted.

        Raises:
            ValueError: two values would have the same name, for slices such as `de` and `de/low`.
        """
        flat: dict[str, float] = {}
        for part, (_, scores) in self._parts():
            for name, score in scores.items():
                key = f"{name}/{part}" if part else name
                figures = {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
                twice = flat.keys() & figures
                if twice:
                    raise ValueError(
                        f"by: two values would be called {shown(min(twice))}; give the slices "
                        "other names"
                    )
                flat |= figures
        return {key: value for key, value in flat.items() if not math.isnan(value)}

    def _parts(self) -> Iterator[tuple[str, Slice]]:
        """Yield all queries, without a name, then every slice, and then their mean."""
        yield "", Slice(self.counts["queries"], self.scores)
        for value, part in self.slices.items():
            yield f"slice={slice_name(value)}", part
        if self.mean_of_slices is not None:
            yield "mean_of_slices", self.mean_of_slices

    def to_model_index(
        self, *, model_name: str, dataset: str, task_type: str = "text-ranking", **fields: Any
    ) -> list[dict[str, Any]]:
        """Return the `model-index` of a model card's metadata: every score, also of every slice.

        The `args` of every score contain its interval, the number of queries in the mean
        (`queries`), the number of queries that are excluded from it (`left_out`, if any), and the
        signature.

        Args:
            model_name: the model's name.
            dataset: the id of the dataset on the Hub.
            task_type: one of the Hub's tasks, such as `"text-ranking"` or `"sentence-similarity"`.
            **fields: fields of `huggingface_hub.EvalResult`, such as `dataset_name`, which is the
                id by default, `dataset_split`, `dataset_revision`, `source_url`.

        Raises:
            ImportError: huggingface_hub is missing.
            ValueError: a name is not a string, or is empty.
        """
        names = {"model_name": model_name, "dataset": dataset, "task_type": task_type}
        for argument, text in names.items():
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"{argument} must be a name; got {shown(text)}")
        hub = imported("huggingface_hub", "to_model_index", "huggingface_hub", "huggingface_hub")
        # The user's fields come last, so that they may replace the others.
        fields = {
            "task_type": task_type,
            "dataset_type": dataset,
            "dataset_name": dataset,
            **fields,
        }
        results = []
        for part, (queries, scores) in self._parts():
            for name, score in scores.items():
                if math.isnan(score.value):
                    continue
                arguments: dict[str, Any] = {}
                if not math.isnan(score.low):
                    confidence = self.resampling.confidence
                    arguments = {"confidence": confidence, "low": score.low, "high": score.high}
                arguments["queries"] = score.queries
                if score.queries < queries:
                    arguments["left_out"] = queries - score.queries
                arguments["signature"] = self.signature
                result = hub.EvalResult(
                    **fields,
                    metric_type=name.lower(),
                    metric_name=f"{name} {part}" if part else name,
                    metric_value=score.value,
                    metric_args=arguments,
                )
                results.append(result)
        index = hub.repocard_data.eval_results_to_model_index(model_name, results)
        return list(index)

    def to_eval_results(
        self, *, dataset: str, task_id: str, measure: str | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        """Return the contents of a file in `.eval_results/` of a model's repository.

        It is one score, for a leaderboard. The notes name the score, its interval, the number of
        queries in the mean, of all if some are excluded, and the signature.

        Args:
            dataset: the id of the benchmark's dataset on the Hub.
            task_id: one of the benchmark's tasks.
            measure: the score, such as `"nDCG@10"`; None if there is only one.
            **fields: fields of `huggingface_hub.EvalResultEntry`, such as `dataset_revision`,
                `date`, `source_url`.

        Raises:
            ValueError: a measure that is not in the report.
            ImportError: huggingface_hub is missing or older than 1.16.
        """
        try:
            from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
        except ImportError:
            library, packages = "huggingface_hub 1.16 or newer", '"huggingface_hub>=1.16"'
            raise missing_library("to_eval_results", library, packages) from None
        if measure is None and len(self.scores) == 1:
            measure = next(iter(self.scores))
        measure = choice("measure", measure, tuple(self.scores))
        score = self.scores[measure]
        interval = f"{self.resampling.level} {interval_text(score.low, score.high)}"
        queries = counted_text(score.queries, self.counts["queries"])
        notes = f"{measure}, {interval}, queries: {queries}; {self.signature}"
        entry = EvalResultEntry(
            dataset_id=dataset,
            task_id=task_id,
            value=score.value,
            **{"notes": notes, **fields},
        )
        return eval_result_entries_to_yaml([entry])

    def plot(
        self,
        measure: str | None = None,
        *,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Return a Matplotlib figure of a measure.

        It shows the means with intervals, the values for all queries, and the slices.

        Args:
            measure: a measure, such as ``"nDCG"``, at all its cutoffs, or a result, such as
                ``"nDCG@10"``; by default the first measure.
            ax: Matplotlib Axes to draw into: one for the means, or a list for the means, the
                queries and the slices. By default a new figure has all of them.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: `measure` is not in the report; `ax` or `figsize` has another type.
        """
        names = plotted_names(measure, list(self.scores))
        panels = [self._plot_means, self._plot_queries]
        if self.slices:
            panels.append(self._plot_slices)
        height = max(4.0, 0.3 * min(len(self.slices), SHOWN))
        figure, axes = figure_of(len(panels), height, ax=ax, figsize=figsize)
        # With fewer axes, only the first panels are drawn.
        for draw, panel_axes in zip(panels, axes, strict=False):
            draw(panel_axes, names)
        return figure

    def _plot_means(self, axes: Any, names: Sequence[str]) -> None:
        counts = []
        for index, name in enumerate(names):
            score = self.scores[name]
            counts.append(score.queries)
            draw_mark(axes, _mark_of_mean(score), index, f"C{index}", upright=True)
        # More names would overlap.
        rotation = 30 if len(names) > 4 else 0
        axes.set_xticks(range(len(names)), names, rotation=rotation)
        axes.margins(x=0.3)
        axes.set_ylabel(f"mean, with {self.resampling.level}")
        axes.set_title(f"Mean of {range_text(counts)} queries")

    def _plot_queries(self, axes: Any, names: Sequence[str]) -> None:
        for index, name in enumerate(names):
            values = self.queries[name].drop_null().sort().to_numpy()
            # A query stands for an equal share, of which its point is the middle.
            shares = 100 * (np.arange(len(values)) + 0.5) / len(values)
            axes.plot(shares, values, linestyle=LINES[index % len(LINES)], label=name)
        axes.set_xlabel("% of the queries, lowest first")
        axes.set_ylabel("value of a query")
        legend_above(axes)

    def _plot_slices(self, axes: Any, names: Sequence[str]) -> None:
        rows = []
        for title, part, _ in slice_rows(self, SHOWN):
            scores = [part.scores[name] for name in names]
            counts = range_text([score.queries for score in scores])
            rows.append((f"{title} ({counts})", list(map(_mark_of_mean, scores))))
        draw_rows(axes, rows, names)
        axes.set_xlabel(f"mean, with {self.resampling.level}, by slices (and their queries)")
        legend_above(axes)


def _mark_of_mean(score: Score) -> Mark:
    return Mark(score.value, score.low, score.high)


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
    fields: Any = None,
    confidence: float = 0.95,
    **options: Unpack[QueryOptions],
) -> Report:
    """Score like `compute`, with confidence intervals and figures that help to judge the scores.

    A single query has a score without an interval.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        k: the cutoff or cutoffs.
        sample_weight: one weight per query for the mean, as in `compute`.
        query_ids: for flat predictions and references.
        document_ids: the document id of every row, with `query_ids`.
        data: a DataFrame; then the arguments above may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        fields: the names of fields and columns, as in `compute`.
        by: a value per query (a string, an integer or a boolean; None for none), such as its
            language; the queries with the same value are scored as a slice. In the order of the
            queries, or `{query: value}`. The report then also has the mean of slices, in which all
            slices count the same.
        confidence: the confidence level of the intervals, between 0 and 1.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `compute`.
        ImportError: SciPy is missing.

    >>> predictions = [[3, 2, 1], [1, 1, 2], [1, 2, 3]]
    >>> references = [[2, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> score = report(predictions=predictions, references=references, k=[1, 3]).scores["nDCG@3"]
    >>> round(score.value, 4), score.tied
    (0.8552, 1)
    """
    resampling = Resampling.parse(confidence)
    parsed = Options.for_method(report, k, options)
    inputs = Inputs(
        predictions, references, query_ids, document_ids, exclude, sample_weight, by, fields
    )
    return report_on(from_frame(data, inputs), options=parsed, resampling=resampling)[0]


def report_on(
    inputs: Inputs,
    *,
    options: Options,
    resampling: Resampling,
    notify: Notify = warn_of_predictions,
) -> tuple[Report, Mask]:
    """Return the report on rankings, once the options are checked, and a mask of its queries.

    The mask is True for queries that are missing from the predictions, not for empty lists.
    `notify` is called as in `describe_queries`.
    """
    doubts: list[str] = []
    columns = query_columns(inputs, options, doubts.append)
    for doubt in doubts:
        notify(doubt)
    names = options.names
    queries = len(columns["ideal"])
    slices = query_slices(inputs.by, columns)
    results = _scores_and_slices(columns, slices, names, resampling.confidence)
    counts = {
        "queries": queries,
        "nothing_relevant": int(np.count_nonzero(columns["ideal"] <= 0)),
        "all_relevant": int(np.count_nonzero(columns["all relevant"])),
        "nothing_retrieved": int(np.count_nonzero(columns["retrieved"] == 0)),
        "left_out": _left_out(columns, names),
    }
    for name in EXCLUDED:
        if name in columns:
            counts[name.replace(" ", "_")] = int(columns[name].sum())
    is_weighted = inputs.sample_weight is not None
    is_excluding = inputs.exclude is not None
    lacking = sum(min(part.counted) < 2 for part in results["slices"].values())
    result = Report(
        signature=options.signature(weighted=is_weighted, excluding=is_excluding),
        counts=counts,
        queries=query_table(columns, slices),
        resampling=resampling,
        notes=(
            *notes_of(columns, options, results["scores"], doubts),
            *slice_notes(slices, lacking, "have no interval"),
        ),
        **results,
    )
    return result, columns["missing"]


def _scores_and_slices(
    columns: PerQuery, slices: Slices, names: Sequence[str], confidence: float
) -> dict[str, Any]:
    figures = query_figures(columns, names)
    scores = score_system(figures, samples_of(figures, names), confidence)
    for name, score in scores.items():
        if not score.queries:
            mean(name, columns[name], columns.get("weight"))  # raises the error
    by_slice: dict[Value, Slice] = {}
    samples: dict[Value, dict[str, Sample]] = {}
    for value, part in in_slices(figures, slices):
        samples[value] = samples_of(part, names)
        by_slice[value] = Slice(len(part["ideal"]), score_system(part, samples[value], confidence))
    means = mean_of_slices(samples, by_slice, confidence)
    return {"scores": scores, "slices": by_slice, "mean_of_slices": means}


def _left_out(columns: PerQuery, names: Sequence[str]) -> int:
    is_left_out = lacks_value(columns, names) | (columns.get("weight", 1) == 0)
    return int(np.count_nonzero(is_left_out))
