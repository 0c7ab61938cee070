"""The measurements for people: RESULTS.md and the plot."""

import math
import platform
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from contenders import BATCHES, CONTENDERS, CPUS, PACKAGES, PEERS, contenders_of
from measure import GROWING, Results, dispatched
from shapes import GRID, LISTS, ONE_QUERY, SMALLS, Shape


class Summary(NamedTuple):
    """One measurement over all its shapes.

    Attributes:
        text: the goal in words.
        values: by shape.
        is_cost: whether less is better.
    """

    text: str
    values: dict[str, float]
    is_cost: bool = False

    def row(self) -> list[str]:
        """Return what is measured, its geometric mean, and its worst shape."""
        if not self.values:
            return [self.text, "–", "not measured"]
        unit = "" if "%" in self.text or "µs" in self.text else "×"
        mean = statistics.geometric_mean(self.values.values())
        shape, worst = (max if self.is_cost else min)(self.values.items(), key=lambda item: item[1])
        return [self.text, number(mean) + unit, f"{number(worst)}{unit}: {shape}"]


def summaries(results: Results) -> Iterator[Summary]:
    """Yield how many times faster ours is than others, and what it costs."""
    arrays = [shape for shape in GRID if shape.documents]
    ragged = [shape for shape in GRID if not shape.documents]
    untied = [shape for shape in arrays if not shape.tied]
    all_threads = f"{len(CPUS)} threads each"
    of = results.ratios
    yield Summary("kernel over scikit-learn", of("sklearn", "kernel", arrays))
    yield Summary(
        f"kernel over bare `torch.topk`, {all_threads}", of("torch.topk", "kernel", untied)
    )
    one = of("torch.topk, 1 thread", "kernel, 1 thread", untied)
    yield Summary("kernel over bare `torch.topk`, 1 thread each", one)
    yield Summary(
        "kernel's time on tied over continuous scores", tied_over_continuous(results), is_cost=True
    )
    yield Summary("ragged: kernel over scikit-learn, list by list", of("sklearn", "kernel", ragged))
    lists = of("torch.topk", "kernel", [shape for shape in ragged if not shape.tied])
    yield Summary(f"ragged: kernel over `torch.topk`, list by list, {all_threads}", lists)
    yield Summary(
        "arrays: `compute` over stock `evaluate`", of("stock evaluate", "compute", arrays)
    )
    yield Summary(
        "nested lists: `compute` over stock `evaluate`", of("stock evaluate", "compute", LISTS)
    )
    yield Summary(
        "arrays: `add_batch` and `compute` over stock", of("stock evaluate", "add_batch", arrays)
    )
    overhead = of("compute", "kernel", [*GRID, *SMALLS])
    yield Summary("time of `compute` over the kernel's, from 10^5 scores", overhead, is_cost=True)
    query = {
        str(shape): statistics.median(run.ns) * run.scores / 1000
        for shape in ONE_QUERY
        if (run := results.get((shape, "compute"))) and run.ns
    }
    yield Summary("one query of five documents by `compute`, µs", query, is_cost=True)
    for features, ratios in results.simd.items():
        label = f"SIMD features off: {features or 'none, as is'}: kernel over scikit-learn"
        yield Summary(label, {} if isinstance(ratios, str) else ratios)
    for documents in ("1,000", "100"):
        mappings = _over(results, f"mappings, {documents} ", "pytrec_eval")
        yield Summary(f"mappings of {documents} documents: `compute` over pytrec_eval", mappings)
    yield Summary("mappings: `compute` over ranx", _over(results, "mappings", "ranx"))
    yield Summary(
        "two frames: `compute` over ir_measures", _over(results, "two frames", "ir_measures")
    )
    for peer in ("pytrec_eval", "ranx"):
        yield Summary(f"TREC files: `compute` over {peer}", _over(results, "TREC", peer))
    flat = {
        form: 1 / ratio
        for form, ratio in _over(results, "flat", "the kernel, grouped already").items()
    }
    yield Summary("flat: `compute`'s time over the kernel's, grouped already", flat, is_cost=True)
    table_over = _over(results, "flat", "ours, data=")
    yield Summary("`data=`: time of `compute` over that of its columns", table_over, is_cost=True)
    if not results.growth:
        return
    first, last = (
        (10**6 if 10**6 in results.plan.growth[:-1] else results.plan.growth[0]),
        results.plan.growth[-1],
    )
    small, large = (results.growth.get(("compute", scores), {}) for scores in (first, last))
    extra = {f"{last:,} scores": large["extra"] * 100} if "extra" in large else {}
    yield Summary("peak extra memory of `compute`, % of its input", extra, is_cost=True)
    growth = (
        {f"{last:,} over {first:,}": large["ns"] / small["ns"]}
        if "ns" in large and "ns" in small
        else {}
    )
    yield Summary("`compute`'s ns per score as the work grows", growth, is_cost=True)


def _over(results: Results, kind: str, peer: str) -> dict[str, float]:
    """By form of rankings, how many times faster ours is."""
    return {
        form: ways[peer] / ways["ours"]
        for form, ways in results.forms.items()
        if form.startswith(kind) and isinstance(ways.get(peer), float)
    }


def tied_over_continuous(results: Results) -> dict[str, float]:
    """By shape of tied scores, the kernel's time over that on continuous ones."""
    ratios = {
        str(shape): results.ratio((shape, "kernel"), (replace(shape, tied=False), "kernel"))
        for shape in GRID
        if shape.tied
    }
    return {name: ratio for name, ratio in ratios.items() if ratio is not None}


def markdown(results: Results, seconds: float) -> str:
    """Return the text of RESULTS.md, but for the plot."""
    measured = list(summaries(results))
    faster, costs = (
        [row.row() for row in measured if row.is_cost == is_cost] for is_cost in (False, True)
    )
    return "\n\n".join(
        [
            "# Benchmark",
            "How many times faster nDCG is computed than by other libraries on the same work, and "
            f"what that costs. Measured on {datetime.now(UTC).date()} in {seconds / 60:.0f} "
            "minutes, on one machine: " + machine(results.load),
            "## Times faster",
            table(["", "geometric mean", "worst shape"], faster),
            f"A ratio is the median over {results.plan.rounds} rounds, in which all take turns on "
            f"about {results.plan.scores:,} scores of each shape; the mean is over all shapes "
            "that were measured. *kernel*: `measure_queries` on arrays; *stock*: a metric of "
            "evaluate over scikit-learn; *dense*: relevance 0 to 4 everywhere; *sparse*: 1 to 3 "
            "on 5% of the documents; *tied*: scores of two decimals. `--quick` measures few "
            "rounds on little work, which is rough, and `--only` some of the shapes.",
            "## Time and memory",
            table(["", "geometric mean", "worst shape"], costs),
            *_sections(results),
        ]
    )


def _sections(results: Results) -> Iterator[str]:
    """Yield the texts and tables of the parts that were measured."""
    yield from _ratios_and_times(results)
    yield from _compared(results)
    yield "## Not measured"
    yield (
        "\n".join(_missing(results))
        or "Nothing: every contender was measured on all it was planned for."
    )
    if results.simd:
        yield from _without_simd(results)
    if results.forms:
        yield from _by_form(results)
    if results.growth:
        yield from _as_it_grows(results)


def _ratios_and_times(results: Results) -> Iterator[str]:
    scores = results.plan.scores
    shapes = [shape for shape in GRID if any(key[0] == shape for key in results)]
    against = {
        "sklearn / kernel": ("sklearn", "kernel"),
        "torch.topk / kernel": ("torch.topk", "kernel"),
        "torch.topk / kernel, 1 thread": ("torch.topk, 1 thread", "kernel, 1 thread"),
        "stock / compute": ("stock evaluate", "compute"),
        "stock / add_batch": ("stock evaluate", "add_batch"),
        "compute / kernel": ("compute", "kernel"),
    }
    yield f"## Ratios of time, about {scores:,} scores"
    yield (
        "`torch.topk` orders tied scores at will: on those it is timed, but its answer is not "
        "the same."
    )
    rows = [
        [str(s), *(number(results.ratio((s, slow), (s, fast))) for slow, fast in against.values())]
        for s in shapes
    ]
    yield table(["", *against], rows)
    yield "## Nanoseconds per score"
    yield _nanoseconds(results, shapes, [name for name in CONTENDERS if name not in PEERS])
    yield "### Nested lists, small work and one query"
    yield _nanoseconds(
        results,
        [*LISTS, *SMALLS, *ONE_QUERY],
        ("kernel", "compute", "add_batch", "stock evaluate", "sklearn"),
    )
    yield "### Other libraries"
    yield "Dense, continuous, float64 rankings; in parentheses the kernel's speed over theirs."
    plain = [shape for shape in shapes if "rax" in contenders_of(shape)]
    yield _nanoseconds(results, plain, ("kernel", *PEERS), over="kernel")


def _compared(results: Results) -> Iterator[str]:
    yield "## Who is compared"
    yield (
        "Each contender holds the work in its own form before it is timed, and its mean nDCG is "
        "checked against the kernel's, which scikit-learn's thereby checks. Those much slower "
        f"than ours get the first queries only, as many as take about {results.plan.seconds:g} s. "
        f"`add_batch` gets {BATCHES} batches; stock `evaluate` one, which its `compute` makes of "
        "its inputs."
    )
    described = []
    for name, contender in CONTENDERS.items():
        given = [
            run.scores
            for (_, who), run in results.items()
            if who == name and run.ns and run.scores > 5
        ]
        sizes = f"{min(given):,} to {max(given):,}" if given else "–"
        ties = "averaged" if contender.averages_ties else "at will; checked on untied scores"
        threads = "its default" if contender.threads is None else str(contender.threads)
        line = (contender.prepare.__doc__ or "").splitlines()[0].replace("``", "`")
        described.append([name, line, ties, f"{contender.tolerance:g}", threads, sizes])
    yield table(["", "what", "ties", "tolerance", "threads", "scores"], described)


def _without_simd(results: Results) -> Iterator[str]:
    yield "## Without SIMD"
    yield "The kernel over scikit-learn with `NPY_DISABLE_CPU_FEATURES` set."
    measured = {
        features: ratios for features, ratios in results.simd.items() if not isinstance(ratios, str)
    }
    shapes = list(dict.fromkeys(name for ratios in measured.values() for name in ratios))
    rows = [[name, *(number(ratios.get(name)) for ratios in measured.values())] for name in shapes]
    yield table(["", *(f"off: {features or 'none'}" for features in measured)], rows)


def _by_form(results: Results) -> Iterator[str]:
    yield "## From the form people hold to the mean, seconds"
    ways = list(dict.fromkeys(way for seconds in results.forms.values() for way in seconds))
    cells = {
        form: [seconds.get(way, "–") for way in ways] for form, seconds in results.forms.items()
    }
    rows = [
        [form, *(number(c) if isinstance(c, float) else str(c) for c in row)]
        for form, row in cells.items()
    ]
    yield table(["", *ways], rows)


def _as_it_grows(results: Results) -> Iterator[str]:
    yield "## As the work grows"
    yield (
        "100 documents, k=10, dense, continuous, float64, each in a process of its own: "
        "nanoseconds per score, and in parentheses peak extra memory in % of the input."
    )
    rows = [
        [f"{scores:,}", *(_grown(results.growth.get((name, scores), {})) for name in GROWING)]
        for scores in results.plan.growth
    ]
    yield table(["scores", *GROWING], rows)


def _grown(measured: dict[str, float | str]) -> str:
    if "ns" not in measured:
        return str(measured.get("note", "–"))
    return f"{number(float(measured['ns']))} ({number(100 * float(measured['extra']))}%)"


def _nanoseconds(
    results: Results, shapes: Sequence[Shape], names: Sequence[str], over: str = ""
) -> str:
    """Return a table of times; with ``over`` also their ratios to that contender's."""

    def cell(shape: Shape, name: str) -> str:
        run = results.get((shape, name))
        if run is None:
            return "–"
        if run.note.startswith("not installed"):
            return "missing"
        if run.note:
            return "failed"
        time = number(statistics.median(run.ns))
        if name == over or not over:
            return time
        ratio = results.ratio((shape, name), (shape, over))
        if ratio is None:
            return time
        return f"{time} ({number(ratio)}×)"

    rows = [[str(shape), *(cell(shape, name) for name in names)] for shape in shapes]
    return table(["", *names], rows)


def _missing(results: Results) -> Iterator[str]:
    """Return the contenders that were not measured somewhere, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for (shape, name), run in results.items():
        if run.note:
            reasons.setdefault((name, run.note), []).append(str(shape))
    for (name, scores), measured in results.growth.items():
        if "note" in measured:
            reasons.setdefault((name, str(measured["note"])), []).append(
                f"growth to {scores:,} scores"
            )
    for features, ratios in results.simd.items():
        if isinstance(ratios, str):
            reasons.setdefault(("kernel over scikit-learn", ratios), []).append(
                f"SIMD features off: {features}"
            )
    for (name, note), (first, *others) in reasons.items():
        more = ""
        if others:
            more = f" and {len(others)} more"
        yield f"- {name}: {note} ({first}{more})"


def machine(load: float) -> str:
    """Return a description of the machine: processor, NumPy's SIMD features, versions."""
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    return (
        f"{model[1] if model else platform.machine()}, {len(CPUS)} CPUs (load {load:.1f} at the "
        f"start); SIMD features that NumPy found: {', '.join(dispatched()) or 'none'}. "
        f"Python {platform.python_version()}, {', '.join(versions)}."
    )


def plot(results: Results, folder: Path) -> str:
    """Draw time and memory as work grows; return its line for RESULTS.md, or why there is none."""
    if not results.growth:
        return ""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        return f"\n\nNo plot: {error}.\n"
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = {"ns": "nanoseconds per score", "extra": "peak extra memory, % of the input"}
    for axes, (of, label) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        for name, marker in zip(GROWING, "os^Dvx", strict=True):
            points = [
                (scores, measured[of] * (100 if of == "extra" else 1))
                for (who, scores), measured in results.growth.items()
                if who == name and of in measured
            ]
            axes.plot(*zip(*points, strict=True) if points else ([], []), marker=marker, label=name)
        axes.set(xscale="log", yscale="log", xlabel="scores", ylabel=label)
        axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    figure.savefig(folder / "growth.png", dpi=150, metadata={"Software": None})
    return "\n\n![Nanoseconds per score and peak extra memory by number of scores](growth.png)\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, columns of numbers to the right."""
    numbers = [all(row[column][:1] in "0123456789–" for row in rows) for column in range(len(head))]
    aligned = ["---:" if right else "---" for right in ("", *numbers[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, aligned, *rows))


def number(value: float | None) -> str:
    """Three digits, or a dash if nothing was measured."""
    if not value:
        return "–" if value is None else "0"
    return (
        f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
        if abs(value) >= 0.01
        else f"{value:.1g}"
    )
