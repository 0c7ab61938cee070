"""What a person reads: a report on one system, a comparison of several.

Both are plain values, given by :mod:`ndcg`, and ways to show them: text, Markdown, HTML,
LaTeX, a plot, and a dict that JSON can hold and that makes the same report again.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

SIGNIFICANT = 0.05  # the corrected p-value below which tables mark a difference
COUNTS = ("retrieved", "judged", "relevant")


class Score(NamedTuple):
    """A mean over queries, and how sure it is.

    Attributes:
        value: the mean.
        low: lower end of its confidence interval.
        high: upper end.
        standard_error: of the mean, by the bootstrap.
        worst: the mean if every tie were ordered in the worst way.
        best: the mean if every tie were ordered in the best way.
        tied: queries whose value depends on how ties are ordered.
        ranked: documents within the cutoff, over all queries.
        unjudged: those of them that were not judged; an expectation where ties leave open which they are.

    Queries of weight 0 are not counted.
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


class Pair(NamedTuple):
    """How two systems differ in one measure.

    Attributes:
        measure: the name of the result, such as ``"nDCG@10"``.
        system: the one.
        other: the one it is compared with.
        difference: the mean of ``system`` less that of ``other``.
        low: lower end of its confidence interval.
        high: upper end.
        standard_error: of the difference, by the bootstrap.
        p: of the randomisation test.
        p_holm: the same, corrected by Holm for all pairs of this measure.
        p_t: of the paired t-test.
        p_t_holm: the same, corrected.
        wins: queries, of those with any weight, in which ``system`` scores higher.
        ties: queries in which both score the same, up to rounding.
        losses: queries in which ``system`` scores lower.
    """

    measure: str
    system: str
    other: str
    difference: float
    low: float
    high: float
    standard_error: float
    p: float
    p_holm: float
    p_t: float
    p_t_holm: float
    wins: int
    ties: int
    losses: int


class Resampling(NamedTuple):
    """How intervals and tests were found.

    Attributes:
        confidence: of the intervals.
        resamples: how often queries were drawn, or exchanged.
        seed: of the random numbers.
        exact: of a comparison's randomisation test, whether all exchanges were tried.
    """

    confidence: float
    resamples: int
    seed: int
    exact: bool = False

    @property
    def drawing(self) -> dict[str, Any]:
        """What the bootstrap is told."""
        return {"confidence": self.confidence, "resamples": self.resamples, "seed": self.seed}

    def __str__(self) -> str:
        level, drawn = f"{100 * self.confidence:g}%", f"{self.resamples:,} resamples of the queries, seed {self.seed}"
        return f"{level} intervals by the percentile bootstrap ({drawn})"


class _Shown:
    """What reports and comparisons have in common: tables, a line of notes, and the signature."""

    signature: str
    notes: tuple[str, ...]

    def _tables(self) -> list[list[list[str]]]:
        """Tables of text, the header first; the first column holds names."""
        raise NotImplementedError

    def _remarks(self) -> list[str]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Tables and notes as Markdown."""
        tables = [
            "\n".join(
                "| " + " | ".join(map(_markdown, row)) + " |" + ("\n|---" + "|---:" * (len(row) - 1) + "|") * (at == 0)
                for at, row in enumerate(table)
            )
            for table in self._tables()
        ]
        remarks = [_markdown(remark) for remark in self._remarks()]
        return "\n\n".join([*tables, *remarks, f"Signature: `{self.signature}`"])

    def __str__(self) -> str:
        tables = []
        for table in self._tables():
            widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
            tables.append(
                "\n".join(
                    "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table
                )
            )
        return "\n\n".join([*tables, "\n".join([*self._remarks(), f"Signature: {self.signature}"])])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tables = []
        for header, *rows in self._tables():
            cells = ["".join(f"<th>{html.escape(each)}</th>" for each in header)]
            cells += ["".join(f"<td>{html.escape(each)}</td>" for each in row) for row in rows]
            tables.append("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
        remarks = "".join(f"<p>{html.escape(each)}</p>" for each in self._remarks())
        return "".join(tables) + remarks + f"<p>Signature: <code>{html.escape(self.signature)}</code></p>"


@dataclass(frozen=True)
class Report(_Shown):
    """The scores of one system, how sure they are, and what they rest on.

    Attributes:
        signature: every choice that the scores depend on.
        scores: by name, such as ``"nDCG@10"``.
        counts: ``queries``; of these ``nothing_relevant`` and ``nothing_retrieved``.
        queries: a row per query: ``query`` (its id, or its index), how many documents were
            ``retrieved``, ``judged`` and ``relevant``, and under each score's name the query's
            value (null where it has none), ``worst`` and ``best`` with its name before them the
            values by the order of ties, ``unjudged@k`` the unjudged documents within the cutoff.
        resampling: how the intervals were found.
        notes: what the reader should know besides.
    """

    signature: str
    scores: dict[str, Score]
    counts: dict[str, int]
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()

    def _tables(self) -> list[list[list[str]]]:
        level = f"{100 * self.resampling.confidence:g}% interval"
        header = [
            "measure",
            "mean",
            level,
            "standard error",
            "by order of ties",
            "queries so tied",
            "unjudged",
        ]
        rows = [
            [
                name,
                _number(score.value),
                f"{_number(score.low)} – {_number(score.high)}",
                _number(score.standard_error),
                f"{_number(score.worst)} – {_number(score.best)}",
                f"{score.tied:,}",
                f"{score.unjudged:,.6g} of {score.ranked:,}",
            ]
            for name, score in self.scores.items()
        ]
        counts = [["queries", "number"]]
        counts += [[name.replace("_", " "), f"{count:,}"] for name, count in self.counts.items()]
        counts[1][0] = "all"
        return [[header, *rows], counts]

    def _remarks(self) -> list[str]:
        return [f"{self.resampling}.", *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, as JSON can hold it."""
        return {
            "signature": self.signature,
            "scores": {name: score._asdict() for name, score in self.scores.items()},
            "counts": self.counts,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Report":
        """The report that `to_dict` was called on."""
        return cls(
            signature=values["signature"],
            scores={name: Score(**score) for name, score in values["scores"].items()},
            counts=dict(values["counts"]),
            queries=_table(values["queries"]),
            resampling=Resampling(**values["resampling"]),
            notes=tuple(values["notes"]),
        )

    def plot(self, measure: str | None = None) -> Any:
        """A measure over its cutoffs with its intervals, and its values for all queries: a Matplotlib figure.

        Args:
            measure: such as ``"nDCG"``, all of whose cutoffs are shown; by default the first.

        Raises:
            ValueError: a measure that is not in the report.
        """
        measures = list(dict.fromkeys(name.partition("@")[0] for name in self.scores))
        measure = measures[0] if measure is None else measure.partition("@")[0]
        if measure not in measures:
            raise ValueError(f"{measure!r:.100} is not in this report, which has {', '.join(map(repr, measures))}")
        scores = {name: score for name, score in self.scores.items() if name.partition("@")[0] == measure}
        figure, (means, queries) = _figure(2)
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
        return figure


@dataclass(frozen=True)
class Comparison(_Shown):
    """Which of several systems is better, and how sure that is.

    Attributes:
        signature: every choice that the scores depend on.
        scores: by system, then by name.
        pairs: the differences, by measure.
        baseline: the system that all others are compared with, or None for each with each.
        queries: a row per system and query: ``system``, ``query`` and under each score's name the
            query's value (null where it has none).
        resampling: how intervals and tests were found.
        notes: what the reader should know besides.
    """

    signature: str
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]
    baseline: str | None
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The names of the results, such as ``"nDCG@10"``."""
        return list(next(iter(self.scores.values())))

    def differences(self, system: str, other: str, measure: str | None = None, n: int = 10) -> pa.Table:
        """The queries in which two systems differ most: ``query``, both values and the ``difference``.

        Args:
            system: the one.
            other: the one it is compared with.
            measure: the name of a result; by default the first.
            n: how many queries.

        Raises:
            ValueError: an unknown system or measure.
        """
        measure = self.measures[0] if measure is None else measure
        for name, known in ((system, list(self.scores)), (other, list(self.scores)), (measure, self.measures)):
            if name not in known:
                raise ValueError(f"{name!r:.100} is not in this comparison, which has {', '.join(map(repr, known))}")
        sides = [self.queries.filter(pc.equal(self.queries["system"], each)) for each in (system, other)]
        values = [side[measure] for side in sides]
        table = pa.table({"query": sides[0]["query"], "system": values[0], "other": values[1]})
        table = table.append_column("difference", pc.subtract(*values)).drop_null()
        order = pc.sort_indices(pc.negate(pc.abs(table["difference"])))
        return table.take(order[:n]).rename_columns(["query", system, other, "difference"])

    def _letters(self) -> dict[str, str]:
        return {system: _letter(at) for at, system in enumerate(self.scores)}

    def _better_than(self, system: str, measure: str) -> str:
        """The letters of the systems that this one surpasses, surely enough."""
        letters = self._letters()
        beaten = []
        for pair in self.pairs:
            if pair.measure == measure and pair.p_holm < SIGNIFICANT:
                if pair.system == system and pair.difference > 0:
                    beaten.append(letters[pair.other])
                if pair.other == system and pair.difference < 0:
                    beaten.append(letters[pair.system])
        return " ".join(sorted(beaten, key=lambda letter: (len(letter), letter)))

    def _tables(self) -> list[list[list[str]]]:
        level = f"{100 * self.resampling.confidence:g}% interval"
        systems = [["system", *(text for name in self.measures for text in (name, level, "better than"))]]
        for system, letter in self._letters().items():
            row = [f"{letter}  {system}"]
            for name in self.measures:
                score = self.scores[system][name]
                interval = f"{_number(score.low)} – {_number(score.high)}"
                row += [_number(score.value), interval, self._better_than(system, name)]
            systems.append(row)
        pairs = [
            ["pair", "measure", "difference", level, "p", "p (Holm)", "p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
        ]
        for pair in self.pairs:
            pairs.append(
                [
                    f"{pair.system} – {pair.other}",
                    pair.measure,
                    f"{pair.difference:+.4f}",
                    f"{pair.low:+.4f} – {pair.high:+.4f}",
                    *(_p_value(each) for each in (pair.p, pair.p_holm, pair.p_t, pair.p_t_holm)),
                    f"{pair.wins:,}–{pair.ties:,}–{pair.losses:,}",
                ]
            )
        most = [["queries that differ most", "query", "first", "second", "difference"]]
        for pair in self.pairs:
            if pair.measure == self.measures[0]:
                columns = self.differences(pair.system, pair.other, n=3).columns
                for query, first, second, difference in zip(*(each.to_pylist() for each in columns), strict=True):
                    values = [str(query), _number(first), _number(second), f"{difference:+.4f}"]
                    most.append([f"{pair.system} – {pair.other}", *values])
        return [systems, pairs, most]

    def _remarks(self) -> list[str]:
        tried = "all exchanges" if self.resampling.exact else f"{self.resampling.resamples:,} exchanges"
        return [
            f"{self.resampling}. p: paired randomisation test ({tried} of the two systems' scores), beside it the "
            f"paired t-test; both also corrected by Holm for the pairs of a measure. Better than: p (Holm) < "
            f"{SIGNIFICANT}.",
            *self.notes,
        ]

    def to_latex(self) -> str:
        """The systems' scores as a LaTeX tabular, with what its marks mean as comments before it.

        A superscript names the systems that one surpasses, with a corrected p below 0.05; the
        highest score of each measure is bold.
        """
        marks = "Bold: the highest. Superscripts: the systems that one surpasses, by letter"
        best = {name: max(scores[name].value for scores in self.scores.values()) for name in self.measures}
        lines = [
            f"% {marks} (paired randomisation test, p corrected by Holm < {SIGNIFICANT}).",
            *(f"% {remark}" for remark in self._remarks()),
            f"% {self.signature}",
            "\\begin{tabular}{ll" + "c" * len(self.measures) + "}",
            "\\hline",
            " & ".join(["", "System", *map(_latex, self.measures)]) + " \\\\",
            "\\hline",
        ]
        for system, letter in self._letters().items():
            cells = [f"$^{{{letter}}}$", _latex(system)]
            for name in self.measures:
                value = self.scores[system][name].value
                text = f"\\textbf{{{_number(value)}}}" if value == best[name] else _number(value)
                beaten = self._better_than(system, name).replace(" ", "")
                cells.append(text + (f"$^{{{beaten}}}$" if beaten else ""))
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\hline", "\\end{tabular}"])

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, as JSON can hold it."""
        return {
            "signature": self.signature,
            "scores": {
                system: {name: score._asdict() for name, score in scores.items()}
                for system, scores in self.scores.items()
            },
            "pairs": [pair._asdict() for pair in self.pairs],
            "baseline": self.baseline,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Comparison":
        """The comparison that `to_dict` was called on."""
        return cls(
            signature=values["signature"],
            scores={
                system: {name: Score(**score) for name, score in scores.items()}
                for system, scores in values["scores"].items()
            },
            pairs=tuple(Pair(**pair) for pair in values["pairs"]),
            baseline=values["baseline"],
            queries=_table(values["queries"]),
            resampling=Resampling(**values["resampling"]),
            notes=tuple(values["notes"]),
        )

    def plot(self, measure: str | None = None) -> Any:
        """The differences in one measure with their intervals: a Matplotlib figure.

        Args:
            measure: such as ``"nDCG@10"``, or ``"nDCG"`` for the first of its cutoffs; by default the first of all.

        Raises:
            ValueError: an unknown measure.
        """
        of_measure = [name for name in self.measures if measure in (None, name, name.partition("@")[0])]
        if not of_measure:
            raise ValueError(f"{measure!r:.100} is not in this comparison, which has {', '.join(self.measures)}")
        measure = of_measure[0]
        pairs = [pair for pair in self.pairs if pair.measure == measure]
        figure, (axes,) = _figure(1, height=1.2 + 0.4 * len(pairs))
        for at, pair in enumerate(reversed(pairs)):
            sure = pair.p_holm < SIGNIFICANT
            axes.plot([pair.low, pair.high], [at, at], color="C0", linewidth=2)
            axes.plot(pair.difference, at, "o", color="C0", markerfacecolor="C0" if sure else "white")
        axes.axvline(0, color="gray", linewidth=1)
        axes.set_yticks(range(len(pairs)), [f"{pair.system} – {pair.other}" for pair in reversed(pairs)])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.margins(y=0.5 / max(1, len(pairs)))
        level = f"{100 * self.resampling.confidence:g}%"
        axes.set_xlabel(f"difference in {measure}, with {level} interval; filled: corrected p < {SIGNIFICANT}")
        return figure


def _table(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """A table of queries from plain lists: text and counts as they are, values as float64."""
    kinds = {"system": pa.string(), "query": None, **dict.fromkeys(COUNTS, pa.int64())}
    return pa.table({name: pa.array(values, kinds.get(name, pa.float64())) for name, values in columns.items()})


def _number(value: float) -> str:
    return f"{value:.4f}"


def _p_value(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _letter(index: int) -> str:
    """The letters a, b, ..., z, aa, ab, ..."""
    return (_letter(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    escaped = "".join("\\" + each if each in "\\`*_{}[]<>#|~$&" else each for each in text)
    return " ".join(escaped.split())


def _latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    special = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    return "".join(special.get(each, "\\" + each if each in "&%$#_{}" else each) for each in text)


def _figure(axes: int, height: float = 4.0) -> tuple[Any, Any]:
    """A figure that belongs to no window, with its axes in one row."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot needs Matplotlib: pip install matplotlib") from None
    figure = Figure(figsize=(5 * axes + 2 * (axes == 1), height), layout="constrained")
    return figure, figure.subplots(1, axes, squeeze=False)[0]
