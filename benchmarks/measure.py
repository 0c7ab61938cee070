"""Time and memory of the contenders on the shapes.

Run as a script, it does one job of its parent's in a process of its own.
"""

import gc
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from contenders import CONTENDERS, Call, Contender, contenders_of, ndcg_of_queries, threads
from numpy.typing import NDArray
from shapes import LENGTHS, SHAPES, Shape, Work

SHORTEST = 0.01  # seconds of a timing; shorter calls are repeated


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Attributes:
        scores: in the work of each shape.
        rounds: the number of turns of each contender.
        seconds: about how long a turn of a contender much slower than ours may take.
        growth: numbers of scores for cost as the work grows; none: not measured.
        growth_rounds: processes per contender and number of scores.
        simd: whether to measure with NumPy's SIMD features switched off.
        forms: documents in flat columns and files, ten times those in mappings.
    """

    scores: int = 5_000_000
    rounds: int = 5
    seconds: float = 0.1
    growth: tuple[int, ...] = (10**5, 10**6, 10**7, 10**8)
    growth_rounds: int = 3
    simd: bool = True
    forms: int = 10_000_000


QUICK = Plan(
    scores=200_000, rounds=2, seconds=0.02, growth=(10**5, 10**6), growth_rounds=1, forms=200_000
)


@dataclass
class Run:
    """One contender on one shape.

    Attributes:
        ns: nanoseconds per score, in each round.
        scores: how many it was given.
        note: why it was not measured; empty if it was.
    """

    shape: Shape
    name: str
    ns: list[float] = field(default_factory=list)
    scores: int = 0
    note: str = ""
    call: Call | None = None
    repeats: int = 1

    def turn(self) -> None:
        """Time it once."""
        if self.call is not None:
            try:
                self.ns.append(
                    _seconds(self.call, CONTENDERS[self.name], self.repeats) * 1e9 / self.scores
                )
            except Exception as error:  # noqa: BLE001  whatever a contender raises is reported
                self.call, self.note = None, _problem(error)


class Results(dict[tuple[Shape, str], Run]):
    """The runs, by shape and contender; also the cost as the work grows and without SIMD.

    Attributes:
        plan: the plan of the measurement.
        load: the load of the machine before the measurement.
        growth: by contender and number of scores, ``{"ns": …, "extra": …}`` or ``{"note": …}``:
            nanoseconds per score, and peak memory above the input's, as a fraction of it.
        simd: by the NumPy features switched off, kernel over scikit-learn by shape, or a note.
        forms: by the form of the rankings, seconds of each way to score them, or a note.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self.load = os.getloadavg()[0]
        self.growth: dict[tuple[str, int], dict[str, Any]] = {}
        self.simd: dict[str, dict[str, float] | str] = {}
        self.forms: dict[str, dict[str, float | str]] = {}

    def ratio(self, slow: tuple[Shape, str], fast: tuple[Shape, str]) -> float | None:
        """How many times longer one takes than the other; None if one was not measured."""
        both = [self[key].ns if key in self and not self[key].note else [] for key in (slow, fast)]
        return statistics.median(a / b for a, b in zip(*both, strict=True)) if all(both) else None

    def ratios(self, slow: str, fast: str, shapes: Iterable[Shape]) -> dict[str, float]:
        """Return the ``ratio`` of two contenders on each shape on which both were measured."""
        ratios = {str(shape): self.ratio((shape, slow), (shape, fast)) for shape in shapes}
        return {name: ratio for name, ratio in ratios.items() if ratio is not None}


def run(
    plan: Plan, shapes: Sequence[Shape] = SHAPES, contenders: Sequence[str] = tuple(CONTENDERS)
) -> Results:
    """Measure everything that is planned."""
    results = Results(plan)
    groups: dict[Shape, list[Shape]] = {}  # continuous and tied take turns too
    for shape in shapes:
        groups.setdefault(replace(shape, tied=False), []).append(shape)
    gc.disable()  # as timeit does
    try:
        for number, (shape, group) in enumerate(groups.items(), 1):
            print(f"{number}/{len(groups)} {shape}", file=sys.stderr, flush=True)
            runs_by_work = []
            works = shape.works(plan.scores, [member.tied for member in group])
            for member, work in zip(group, works, strict=True):
                expected = ndcg_of_queries(work)
                names = [name for name in contenders_of(member) if name in contenders]
                runs_by_work.append([_ready(member, name, work, expected, plan) for name in names])
            for _ in range(plan.rounds):
                for runs in runs_by_work:
                    for contender in runs:
                        contender.turn()
                    runs.reverse()  # whoever is first finds none of the work in the cache
            for contender in chain.from_iterable(runs_by_work):
                contender.call = None
                results[contender.shape, contender.name] = contender
            gc.collect()
    finally:
        gc.enable()
    return results


def _ready(shape: Shape, name: str, work: Work, expected: NDArray[np.float64], plan: Plan) -> Run:
    """Return the run of a contender, or the reason why it does not give the kernel's scores."""
    this, contender = Run(shape, name), CONTENDERS[name]
    try:
        part = work if contender.whole else work.head(_affordable(contender, work, plan))
        call, this.scores = contender.prepare(part), part.score.size
        start = time.perf_counter()
        with threads(contender.threads):
            answer = float(call())
        this.repeats = max(1, math.ceil(SHORTEST / (time.perf_counter() - start)))
        right = float(expected[: part.queries].mean())
        checked = contender.averages_ties or not shape.tied
        if checked and not math.isclose(answer, right, rel_tol=contender.tolerance, abs_tol=1e-12):
            raise ValueError(f"differs: it answers {answer!r}, the kernel {right!r}")
        this.call = call
    except ImportError as error:
        this.note = f"not installed: {_problem(error)}"
    except Exception as error:  # noqa: BLE001  whatever a contender raises is reported
        this.note = _problem(error)
    return this


def _affordable(contender: Contender, work: Work, plan: Plan) -> int:
    """How many queries take a contender about as long as its turn may."""
    few = max(1, math.ceil(work.queries * min(1.0, 20_000 / work.score.size)))
    call = contender.prepare(work.head(few))
    call()  # imports, compiles
    return min(work.queries, max(few, int(few * plan.seconds / _seconds(call, contender))))


def _seconds(call: Call, contender: Contender, repeats: int = 1) -> float:
    with threads(contender.threads):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / repeats


def _problem(error: Exception) -> str:
    """Return the kind of an error and its first line."""
    return (
        f"{type(error).__name__}: "
        f"{str(error).strip().splitlines()[0] if str(error).strip() else ''}"
    )


# Cost as the work grows, each in a process of its own

GROWING = ("kernel", "compute", "add_batch", "torch.topk", "sklearn", "stock evaluate")
# Seconds: for a call of those that are much slower than ours, and for the calls of a process.
PATIENCE = 5.0


def grow(results: Results) -> None:
    """Measure time and peak memory for more and more scores, in turns too."""
    plan = results.plan
    rounds: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for _ in range(plan.growth_rounds):
        for scores in plan.growth:
            for name in GROWING:
                measured = rounds.setdefault((name, scores), [])
                before = rounds.get((name, scores // 10), [{"ns": 0.0}])[-1]
                print(f"{scores:,} scores: {name}", file=sys.stderr, flush=True)
                if (
                    not CONTENDERS[name].whole
                    and before.get("ns", math.inf) * scores / 1e9 > PATIENCE
                ):
                    measured.append(
                        {"note": f"not run: a call would take more than {PATIENCE:g} s"}
                    )
                else:
                    measured.append(_child({"contender": name, "scores": scores}))
    for key, measured in rounds.items():
        failed = [run for run in measured if "note" in run]
        results.growth[key] = (
            failed[0]
            if failed
            else {of: statistics.median(run[of] for run in measured) for of in ("ns", "extra")}
        )


def _grown(contender: str, scores: int) -> dict[str, Any]:
    """Time and peak memory of one contender on 100 documents a query, k=10, dense, float64."""
    random, shape = np.random.default_rng(0), (scores // 100, 100)
    score, relevance = np.empty(shape), np.empty(shape)
    for start in range(0, len(score), 10_000):  # whole temporaries would count as peak memory
        rows = slice(start, start + 10_000)
        score[rows] = random.random(score[rows].shape)
        relevance[rows] = random.integers(0, 5, score[rows].shape)
    work = Work(relevance, score, None, 10)
    measured, prepare = CONTENDERS[contender], CONTENDERS[contender].prepare
    with threads(measured.threads):
        prepare(work.head(20))()  # imports
    call = prepare(work)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = memory_of_process("VmRSS")
    seconds = [_seconds(call, measured)]
    while len(seconds) < 3 or sum(seconds) < 0.2:
        seconds.append(_seconds(call, measured))
        if sum(seconds) > PATIENCE:
            break
    extra = memory_of_process("VmHWM") - before
    return {
        "ns": statistics.median(seconds) * 1e9 / scores,
        "extra": extra / (score.nbytes + relevance.nbytes),
    }


def memory_of_process(name: str) -> int:
    """Return a figure of this process's memory, in bytes."""
    line = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if line is None:
        raise OSError(f"/proc/self/status has no {name}")
    return int(line[1]) * 1024


# NumPy's SIMD features switched off


def dispatched() -> list[str]:
    """Return the SIMD features that NumPy found here and can do without, the oldest first."""
    from numpy._core import _multiarray_umath as umath

    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]


def without_simd(results: Results) -> None:
    """Measure the kernel over scikit-learn as is, without AVX-512, and without other features."""
    features = dispatched()
    avx512 = [name for name in features if name.startswith(("X86_V4", "AVX512"))]
    job = {"scores": results.plan.scores // 5, "rounds": results.plan.rounds}
    # A machine may have no AVX-512, or nothing else.
    for off in dict.fromkeys(("", " ".join(avx512), " ".join(features))):
        print(f"NumPy's SIMD features off: {off or 'none'}", file=sys.stderr, flush=True)
        environment = {}
        if off:
            environment["NPY_DISABLE_CPU_FEATURES"] = off
        answer = _child(job, environment)
        results.simd[off] = answer.get("note") or answer["ratios"]


def _kernel_over_sklearn(scores: int, rounds: int) -> dict[str, Any]:
    """Kernel over scikit-learn on the plain shapes, and the SIMD features that are in use."""
    shapes = [Shape(documents, k) for documents in LENGTHS for k in (10, None)]
    results = run(Plan(scores=scores, rounds=rounds, seconds=0.1), shapes, ("kernel", "sklearn"))
    return {"ratios": results.ratios("sklearn", "kernel", shapes), "features": dispatched()}


def _child(job: dict[str, Any], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Do a job in a fresh process, and return its answer, or a note on why it has none."""
    command = [sys.executable, __file__, json.dumps(job)]
    variables = {**os.environ, **(environment or {})}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = [f"exit status {done.returncode}", *done.stderr.strip().splitlines()]
        return {"note": f"failed: {lines[-1]}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    off = set((environment or {}).get("NPY_DISABLE_CPU_FEATURES", "").split())
    if off & set(answer.get("features", ())):
        return {"note": f"NumPy did not switch off {' '.join(sorted(off))}"}
    return answer


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = json.loads(sys.argv[1])
    print(json.dumps(_grown(**given) if "contender" in given else _kernel_over_sklearn(**given)))
