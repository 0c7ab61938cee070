"""With score_order="ascending", scores rank as their opposites do by default, to the bit, wherever rankings are read.

`SCORE_ORDER_RANKINGS` sets the number of random rankings of each type of scores.
"""

import json
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from conftest import METRIC, spark_session
from sklearn.base import BaseEstimator, RegressorMixin

from ndcg.shell import command_line

RANKINGS = int(os.environ.get("SCORE_ORDER_RANKINGS", 100))
DEPTH = 6
HIGHEST = {"int8": -1, "uint8": 2**8 - 1, "int32": -1, "int64": -1, "uint64": 2**64 - 1}  # minus the lowest, for signed
KINDS = ("float64", "float32", *HIGHEST)
EACH = {"use_aggregator": False}
OPTIONS: list[dict[str, Any]] = [
    *({"k": 3, "ties": ties} for ties in ("average", "first", "last", "best", "worst", "docid")),
    {"k": None, "score_dtype": "float32", "judged_only": True},
]
Rows = list[list[Any]]
How = dict[str, Any]


class Problem(NamedTuple):
    """Rankings by position; None for a document that was not retrieved, or not judged."""

    kind: str
    scores: Rows
    relevances: Rows

    def opposite(self) -> "Problem":
        """The same rankings with the highest score first."""
        highest = HIGHEST.get(self.kind, 0)
        return self._replace(scores=[[None if each is None else highest - each for each in row] for row in self.scores])

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.scores, self.kind), np.array(self.relevances)

    def masked(self) -> list[np.ndarray]:
        filled = [np.array([0 if each is None else each for each in row], self.kind) for row in self.scores]
        masks = [[each is None for each in row] for row in self.scores]
        return [np.ma.array(values, mask=mask) for values, mask in zip(filled, masks, strict=True)]

    def by_id(self) -> dict[str, Any]:
        sides = [
            {
                f"q{query}": {f"d{at}": each for at, each in enumerate(row) if each is not None}
                for query, row in enumerate(rows)
            }
            for rows in (self.scores, self.relevances)
        ]
        return dict(zip(("predictions", "references"), sides, strict=True))

    def systems(self) -> dict[str, Any]:
        run, qrels = self.by_id().values()
        other = {query: dict(zip(scores, [*scores.values()][::-1], strict=True)) for query, scores in run.items()}
        return {"systems": {"run": run, "other": other}, "references": qrels}

    def columns(self) -> dict[str, Any]:
        sides = {"predictions": self.scores, "references": self.relevances}
        places = [(f"q{query}", f"d{at}") for query in range(len(self.scores)) for at in range(DEPTH)]
        ids = dict(zip(("query_ids", "document_ids"), map(list, zip(*places, strict=True)), strict=True))
        return {**{name: list(chain.from_iterable(rows)) for name, rows in sides.items()}, **ids}

    def write(self) -> None:
        systems = self.systems()
        sides = {"qrels": systems["references"], **systems["systems"]}
        for name, side in sides.items():
            Path(f"{name}.json").write_text(json.dumps(side))


def problem_of(kind: str, lacking: float, unretrieved: Any = None) -> Problem:
    """Random rankings with ties, and documents that were not retrieved or not judged.

    Integers are at the ends of their type, and next to 2**53, where floats round them.
    """
    rng = np.random.default_rng(7)
    size = (RANKINGS, DEPTH)
    if kind in HIGHEST:
        limits = np.iinfo(kind)
        near = [limits.min, limits.min + 1, limits.max, limits.max - 1, *(2**53 + at for at in range(3)), 5, 4]
        scores = rng.choice(np.array([each for each in near if each <= limits.max], kind), size)
    else:
        scores = np.where(rng.random(size) < 0.3, rng.integers(-2, 3, size) / 4, rng.normal(size=size)).astype(kind)
    rows = []
    for values, missing in ((scores, unretrieved), (rng.integers(0, 4, size), None)):
        lacks = ((rng.random(size) < lacking) & (np.arange(DEPTH) > 0)).tolist()
        pairs = (zip(*row, strict=True) for row in zip(values.tolist(), lacks, strict=True))
        rows.append([[missing if lacks else value for value, lacks in row] for row in pairs])
    return Problem(kind, *rows)


# --- The entry points ------------------------------------------------------------------------------------------------


def metric(**settings: Any) -> Any:
    return type(METRIC)(hash=METRIC._hash, cache_dir="cache", **settings)


def data_frame(problem: Problem, how: How) -> Any:
    types = {"float32": "Float32", "float64": "Float64"}
    columns = problem.columns()
    kind = types.get(problem.kind, problem.kind.replace("i", "I").replace("u", "U"))
    frame = pd.DataFrame(columns | {"predictions": pd.array(columns["predictions"], kind)})
    frame["references"] = pd.array(columns["references"], "Int64")
    return METRIC.compute(data=frame, **{name: name for name in columns}, **EACH, **how)


def report(problem: Problem, how: How) -> Any:
    found = METRIC.report(**problem.by_id(), **how)
    return found.scores, found.queries.to_pylist(), found.notes


def comparison(problem: Problem, how: How) -> Any:
    found = METRIC.compare(**problem.systems(), **how)
    return found.scores, found.pairs, found.queries.to_pylist(), found.notes


def explanation(problem: Problem, how: How) -> Any:
    order = {name: value for name, value in how.items() if name == "score_order"}
    found = METRIC.explain(**problem.by_id(), got=METRIC.compute(**problem.by_id(), **how), **order)
    return found.scores, found.matches, found.slips


def documents(problem: Problem, how: How) -> Any:
    return METRIC.documents(**problem.by_id(), **how).to_pylist()


def batches(problem: Problem, how: How) -> Any:
    batched = metric()
    order = {"score_order": how.get("score_order")}
    rows = list(zip(problem.scores, problem.relevances, strict=True))
    batched.add(prediction=rows[0][0], reference=rows[0][1], **order)
    for part in (rows[1:10], rows[10:]):
        predictions, references = map(list, zip(*part, strict=True))
        batched.add_batch(predictions=predictions, references=references, **order)
    return batched.compute(**EACH, **how)


def batches_and_report(problem: Problem, how: How) -> Any:
    batched, how = metric(), dict(how)
    order = how.pop("score_order", None)  # compute and report need it only once
    batched.add_batch(predictions=problem.scores, references=problem.relevances, score_order=order)
    found = batched.report(**how)
    assert ("order:ascending" in found.signature) == (order == "ascending")
    return found.scores, found.queries.to_pylist()


def processes(problem: Problem, how: How) -> Any:
    settings = {"num_process": 2, "timeout": 60}
    first, second = (metric(process_id=each, **settings) for each in (0, 1))
    half = RANKINGS // 2
    parts = [
        {"predictions": problem.scores[rows], "references": problem.relevances[rows]}
        for rows in (slice(half), slice(half, None))
    ]
    with ThreadPoolExecutor(1) as other:
        handed_over = other.submit(second.compute, **parts[1], **how)
        first.add_batch(**parts[0], score_order=how.get("score_order"))
        values = first.compute(**EACH, **how)
        assert handed_over.result() is None
    return values


def files(problem: Problem, how: How) -> Any:
    problem.write()
    return METRIC.compute(predictions="run.json", references="qrels.json", **EACH, **how)


def trec_lines(problem: Problem, how: How) -> Any:
    problem.write()
    run = problem.by_id()["predictions"]
    lines = [f"{query} Q0 {document} 0 {score!r} tag\n" for query, of in run.items() for document, score in of.items()]
    Path("run.txt").write_text("".join(lines))
    return METRIC.compute(predictions=METRIC.read_run("run.txt"), references="qrels.json", **EACH, **how)


def spark(problem: Problem, how: How) -> Any:
    columns = problem.columns()
    kind = {"float64": "double", "float32": "float", "int8": "tinyint", "int32": "int", "int64": "bigint"}[problem.kind]
    schema = f"predictions {kind}, references int, query_ids string, document_ids string"
    frame = spark_session().createDataFrame(list(zip(*columns.values(), strict=True)), schema)
    names = {"query": "query_ids", "prediction": "predictions", "reference": "references"}
    names |= {"document": "document_ids"} if how.get("ties") == "docid" else {}
    return sorted(METRIC.compute_spark(frame, **names, **EACH, **how).collect())


def trainer(problem: Problem, how: How) -> Any:
    predictions, labels = problem.matrices()
    return METRIC.trainer_metrics(**how)(SimpleNamespace(predictions=predictions, label_ids=labels, inputs=None))


def meter(problem: Problem, how: How) -> Any:
    meter = METRIC.meter(**how)
    scores, labels = problem.matrices()
    for rows in (slice(10), slice(10, None)):
        meter.update(scores[rows], labels[rows])
    return meter.compute()


def meter_of_rows(problem: Problem, how: How) -> Any:
    meter = METRIC.meter(**how)
    scores, labels = problem.matrices()
    meter.update(scores.ravel(), labels.ravel(), query_ids=np.repeat(np.arange(RANKINGS), DEPTH))
    return meter.compute()


class Model(RegressorMixin, BaseEstimator):
    """A model that predicts its features."""

    def predict(self, features: np.ndarray) -> np.ndarray:
        return features


def scorer(problem: Problem, how: How) -> Any:
    return METRIC.scorer(**how)(Model(), *problem.matrices())


def lightgbm(problem: Problem, how: How) -> Any:
    scores, labels = problem.matrices()
    return METRIC.lightgbm_metric(**how)(labels.ravel(), scores.ravel(), None, np.full(RANKINGS, DEPTH))


def shell(command: str) -> Callable[[Problem, How], Any]:
    """A command that prints JSON into a file."""

    def run(problem: Problem, how: How) -> Any:
        problem.write()
        flags = {
            f"--{name.replace('_', '-')}": value for name, value in how.items() if name not in ("k", "judged_only")
        }
        words = [str(each) for flag in flags.items() for each in flag]
        words += ["-J"] if how.get("judged_only") else []
        with open("output.json", "w") as output, pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", output)
            status = command_line.main([*command.split(), "-k", str(how["k"] or "all"), *words, "-o", "json"])
        assert status in (0, 1)
        shown = json.loads(Path("output.json").read_text())
        return status, {name: each for name, each in shown.items() if name not in ("signature", "options")}

    return run


ANY = {  # entry points that read any type of scores
    "lists": lambda problem, how: METRIC.compute(
        predictions=problem.scores, references=problem.relevances, **EACH, **how
    ),
    "arrays": lambda problem, how: METRIC.compute(
        predictions=problem.masked(), references=problem.relevances, **EACH, **how
    ),
    "flat columns": lambda problem, how: METRIC.compute(**problem.columns(), **EACH, **how),
    "mappings": lambda problem, how: METRIC.compute(**problem.by_id(), **EACH, **how),
    "a DataFrame": data_frame,
    "report": report,
    "compare": comparison,
    "documents": documents,
}
SHORT = {"batches": batches, "report of batches": batches_and_report, "processes": processes}  # exact up to 2**53
SHORT |= {"files": files, "TREC lines": trec_lines}
SLOW = {
    "explain": explanation,
    "ndcg score": shell("score qrels.json run.json"),
    "ndcg compare": shell("compare qrels.json run.json other.json"),
    "ndcg gate": shell("gate qrels.json run.json other.json"),
    "ndcg audit": shell("audit qrels.json run.json"),
}
WHOLE = {"trainer": trainer, "meter": meter, "meter of rows": meter_of_rows, "scorer": scorer, "lightgbm": lightgbm}
WITHOUT_IDS = (batches, batches_and_report, processes, meter_of_rows)
ENTRY_POINTS = [
    *((name, entry, KINDS, 0.15) for name, entry in ANY.items()),
    *((name, entry, ("float64", "float32", "int8", "uint8", "int32"), 0.15) for name, entry in SHORT.items()),
    *((name, entry, KINDS, 0) for name, entry in WHOLE.items()),
    *((name, entry, ("float64",), 0.15) for name, entry in SLOW.items()),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def score_the_same(entry: Callable[[Problem, How], Any], problem: Problem, how: How) -> bool:
    """Whether opposites score the same, with every bit that repr shows, and score otherwise in the other order."""
    lowest_first = {**how, "score_order": "ascending"}
    expected = repr(entry(problem.opposite(), how))
    return repr(entry(problem, lowest_first)) == expected != repr(entry(problem, how))


@pytest.mark.parametrize(
    ("entry", "kind", "lacking"),
    [
        pytest.param(entry, kind, lacking, id=f"{name}-{kind}")
        for name, entry, kinds, lacking in ENTRY_POINTS
        for kind in kinds
    ],
)
def test_the_lowest_score_first_is_the_highest_of_opposites(entry: Any, kind: str, lacking: float) -> None:
    problem = problem_of(kind, lacking)
    for how in OPTIONS if entry not in SLOW.values() else OPTIONS[1::5]:
        is_rounded = kind == "uint64" and "score_dtype" in how  # and 2**64 - 1 - x otherwise than x
        lacks_ids = how.get("ties") == "docid" and entry in WITHOUT_IDS
        assert is_rounded or lacks_ids or score_the_same(entry, problem, how), how


@pytest.mark.parametrize("name", [*ANY, "batches", "processes"])
def test_inf_marks_a_document_that_was_not_retrieved(name: str) -> None:
    entry, how = (ANY | SHORT)[name], {"k": 3}
    marked, missing = problem_of("float64", 0.3, math.inf), problem_of("float64", 0.3)
    found = repr(entry(marked, {**how, "score_order": "ascending"}))
    assert found == repr(entry(marked.opposite(), how))
    assert found == repr(entry(missing.opposite(), how)) or name in ("a DataFrame", "compare", "documents")


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "int64"])
def test_the_lowest_score_first_on_spark(kind: str) -> None:
    problem = problem_of(kind, 0.15)
    for how in (OPTIONS[0], OPTIONS[5], OPTIONS[6]):
        assert score_the_same(spark, problem, how), how


# --- Each rule of the option, once ------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [-math.inf, math.nan])
def test_a_score_that_marks_nothing_in_ascending_order_is_an_error(score: float) -> None:
    with pytest.raises(ValueError, match=rf"^predictions: query 1, position 1: {score} is not a score; None or inf"):
        METRIC.compute(predictions=[[1.0], [0.5, score]], references=[[1], [0, 1]], score_order="ascending")


@pytest.mark.parametrize(
    ("ranked", "relevant"),
    [
        ([["c", "a", "b"]], [{"a"}]),
        ([[30, 10, 20]], [{10}]),
        ({"q": ["c", "a", "b"]}, {"q": {"a": 1}}),
        ({"q": ["c", "a", "b"]}, {"q": ["a"]}),
    ],
)
def test_ranked_ids_keep_their_order(ranked: Any, relevant: Any) -> None:
    second = pytest.approx(1 / math.log2(3))
    for order in ("descending", "ascending"):
        assert METRIC.compute(predictions=ranked, references=relevant, score_order=order) == {"nDCG": second}


def test_the_signature_names_ascending_order_only() -> None:
    assert "|order:ascending|" in METRIC.signature(score_order="ascending")
    assert METRIC.signature(score_order="descending") == METRIC.signature()


def test_batches_are_added_in_one_order() -> None:
    batched = metric()
    near = {"predictions": [[0.1, 0.9]], "references": [[1, 0]]}
    batched.add_batch(**near, score_order="ascending")
    problem = r'^score_order: the batches before were added in "ascending" order, so they cannot be in "descending"'
    for add in (batched.add_batch, batched.compute):
        with pytest.raises(ValueError, match=problem):
            add(**near)
    batched.add(prediction=[0.2, 0.1], reference=[1, 0], score_order="ascending")
    assert batched.compute(**EACH) == {"nDCG": [1.0, pytest.approx(1 / math.log2(3))]}
    batched.add_batch(**near)
    with pytest.raises(ValueError, match=r'^score_order: the batches before were added in "descending" order'):
        batched.compute(score_order="ascending")
    assert batched.compute() == {"nDCG": pytest.approx(1 / math.log2(3))}  # of descending order again


def test_systems_may_differ_in_their_order() -> None:
    bm25, relevances = {"q": {"a": 9.0, "b": 4.0}, "r": {"a": 1.0, "b": 2.0}}, {"q": {"a": 1}, "r": {"a": 1}}
    l2 = {query: {document: 10 - score for document, score in of.items()} for query, of in bm25.items()}
    found = METRIC.compare(systems={"bm25": bm25, "l2": l2}, references=relevances, score_order={"l2": "ascending"})
    assert [scores["nDCG"].value for scores in found.scores.values()] == [pytest.approx((1 + 1 / math.log2(3)) / 2)] * 2
    assert "|order:descending,ascending|" in found.signature
    with pytest.raises(ValueError, match=r'^a system in score_order must be one of "bm25", "l2"'):
        METRIC.compare(systems={"bm25": bm25, "l2": l2}, references=relevances, score_order={"dense": "ascending"})
