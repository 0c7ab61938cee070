"""With score_order="ascending", scores rank as their opposites do by default, to the bit.

`SCORE_ORDER_RANKINGS` sets the number of random rankings of each type of scores.
"""

import json
import math
import os
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import METRIC, spark_session
from refusals import refusal
from sklearn.base import BaseEstimator, RegressorMixin
from sources import by_ids

from ndcg.shell import command_line

RANKINGS = int(os.environ.get("SCORE_ORDER_RANKINGS", "30"))
DEPTH = 6
HIGHEST = {"int8": -1, "int64": -1, "uint64": 2**64 - 1}  # minus the lowest, for signed
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
        return self._replace(
            scores=[
                [None if each is None else highest - each for each in row] for row in self.scores
            ]
        )

    def lists(self, rows: slice = slice(None)) -> dict[str, Any]:
        return {"predictions": self.scores[rows], "references": self.relevances[rows]}

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.scores, self.kind), np.array(self.relevances)

    def masked(self) -> dict[str, Any]:
        filled = np.array(
            [[0 if each is None else each for each in row] for row in self.scores], self.kind
        )
        masks = [[each is None for each in row] for row in self.scores]
        return {"predictions": np.ma.array(filled, mask=masks), "references": self.relevances}

    def mappings(self) -> dict[str, Any]:
        return {"predictions": by_ids(self.scores), "references": by_ids(self.relevances)}

    def systems(self) -> dict[str, Any]:
        run, qrels = self.mappings().values()
        other = {
            query: dict(zip(scores, [*scores.values()][::-1], strict=True))
            for query, scores in run.items()
        }
        return {"systems": {"run": run, "other": other}, "references": qrels}

    def columns(self) -> dict[str, Any]:
        places = [
            (f"q{query}", f"d{at}") for query in range(len(self.scores)) for at in range(DEPTH)
        ]
        ids = dict(
            zip(("query_ids", "document_ids"), map(list, zip(*places, strict=True)), strict=True)
        )
        return {
            **{name: list(chain.from_iterable(rows)) for name, rows in self.lists().items()},
            **ids,
        }

    def files(self) -> dict[str, Any]:
        systems = self.systems()
        for name, side in {"qrels": systems["references"], **systems["systems"]}.items():
            Path(f"{name}.json").write_text(json.dumps(side))
        return {"predictions": "run.json", "references": "qrels.json"}


def problem_of(kind: str, lacking: float, unretrieved: Any = None) -> Problem:
    """Random rankings with ties, and documents that were not retrieved or not judged.

    Integers are at the ends of their type, and next to 2**53, where floats round them.
    """
    rng = np.random.default_rng(7)
    size = (RANKINGS, DEPTH)
    if kind in HIGHEST:
        limits = np.iinfo(kind)
        near = [
            limits.min,
            limits.min + 1,
            limits.max,
            limits.max - 1,
            *(2**53 + at for at in range(3)),
            5,
            4,
        ]
        scores = rng.choice(np.array([each for each in near if each <= limits.max], kind), size)
    else:
        scores = np.where(
            rng.random(size) < 0.3, rng.integers(-2, 3, size) / 4, rng.normal(size=size)
        ).astype(kind)
    rows = []
    for values, missing in ((scores, unretrieved), (rng.integers(0, 4, size), None)):
        lacks = ((rng.random(size) < lacking) & (np.arange(DEPTH) > 0)).tolist()
        pairs = (zip(*row, strict=True) for row in zip(values.tolist(), lacks, strict=True))
        rows.append([[missing if lacks else value for value, lacks in row] for row in pairs])
    return Problem(kind, *rows)


# --- The entry points -----------------------------------------------------------------------------


def metric() -> Any:
    return type(METRIC)(hash=METRIC._hash, cache_dir="cache")


def computed(format_: Callable[[Problem], dict[str, Any]]) -> Callable[[Problem, How], Any]:
    return lambda problem, how: METRIC.compute(**format_(problem), **EACH, **how)


def report(problem: Problem, how: How) -> Any:
    found = METRIC.report(**problem.mappings(), **how)
    return found.scores, found.queries.to_pylist(), found.notes


def comparison(problem: Problem, how: How) -> Any:
    found = METRIC.compare(**problem.systems(), **how)
    return found.scores, found.pairs, found.queries.to_pylist(), found.notes


def explanation(problem: Problem, how: How) -> Any:
    order = {name: value for name, value in how.items() if name == "score_order"}
    found = METRIC.explain(
        **problem.mappings(), got=METRIC.compute(**problem.mappings(), **how), **order
    )
    return found.scores, found.matches, found.slips


def documents(problem: Problem, how: How) -> Any:
    return METRIC.documents(**problem.mappings(), **how).to_pylist()


def batches(problem: Problem, how: How) -> Any:
    batched, order = metric(), {"score_order": how.get("score_order")}
    batched.add(prediction=problem.scores[0], reference=problem.relevances[0], **order)
    for rows in (slice(1, 10), slice(10, None)):
        batched.add_batch(**problem.lists(rows), **order)
    return batched.compute(**EACH, **how)


def batches_and_report(problem: Problem, how: How) -> Any:
    batched, how = metric(), dict(how)
    order = how.pop("score_order", None)  # compute and report need it only once
    batched.add_batch(**problem.lists(), score_order=order)
    found = batched.report(**how)
    assert ("order:ascending" in found.signature) == (order == "ascending")
    return found.scores, found.queries.to_pylist()


def spark(problem: Problem, how: How) -> Any:
    columns = problem.columns()
    kind = {"float64": "double", "float32": "float", "int8": "tinyint", "int64": "bigint"}[
        problem.kind
    ]
    schema = f"predictions {kind}, references int, query_ids string, document_ids string"
    rows = zip(*columns.values(), strict=True)
    # A row with neither a score nor a relevance is refused.
    given = [row for row in rows if row[0] is not None or row[1] is not None]
    frame = spark_session().createDataFrame(given, schema)
    names = {"query": "query_ids", "prediction": "predictions", "reference": "references"}
    names |= {"document": "document_ids"} if how.get("ties") == "docid" else {}
    return sorted(METRIC.compute_spark(frame, **names, **EACH, **how).collect())


def trainer(problem: Problem, how: How) -> Any:
    predictions, labels = problem.matrices()
    return METRIC.trainer_metrics(**how)(
        SimpleNamespace(predictions=predictions, label_ids=labels, inputs=None)
    )


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
    return METRIC.lightgbm_metric(**how)(
        labels.ravel(), scores.ravel(), None, np.full(RANKINGS, DEPTH)
    )


def shell(command: str) -> Callable[[Problem, How], Any]:
    """A command that prints JSON into a file."""

    def run(problem: Problem, how: How) -> Any:
        problem.files()
        flags = [
            f"--{name.replace('_', '-')}={value}" for name, value in how.items() if name != "k"
        ]
        with open("output.json", "w") as output, pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", output)
            status = command_line.main(
                [*command.split(), "-k", str(how["k"] or "all"), *flags, "-o", "json"]
            )
        assert status in (0, 1)
        shown = json.loads(Path("output.json").read_text())
        return status, {
            name: each for name, each in shown.items() if name not in ("signature", "options")
        }

    return run


WITH_IDS = {
    "flat columns": computed(Problem.columns),
    "mappings": computed(Problem.mappings),
    "report": report,
    "compare": comparison,
    "documents": documents,
}
BY_POSITION = {"lists": computed(Problem.lists), "arrays": computed(Problem.masked)}
BATCHES = {"batches": batches, "report of batches": batches_and_report}  # without ids of documents
WHOLE = {"trainer": trainer, "meter": meter, "scorer": scorer, "lightgbm": lightgbm}
SLOW = {
    "explain": explanation,
    "ndcg score": shell("score qrels.json run.json"),
    "ndcg compare": shell("compare qrels.json run.json other.json"),
    "ndcg gate": shell("gate qrels.json run.json other.json"),
    "ndcg audit": shell("audit qrels.json run.json"),
}
ALL_KINDS, EXACT_IN_64_BITS = ("float64", "float32", *HIGHEST), ("float64", "float32", "int8")
WITHOUT_DOCID = [how for how in OPTIONS if how.get("ties") != "docid"]
# entry points, the types of scores that they read exactly, how much they lack, and their options
CASES = [
    ({**WITH_IDS, **BY_POSITION}, ALL_KINDS, 0.15, OPTIONS),
    ({"files": computed(Problem.files)}, EXACT_IN_64_BITS, 0.15, OPTIONS),
    (BATCHES, EXACT_IN_64_BITS, 0.15, WITHOUT_DOCID),
    (WHOLE, ALL_KINDS, 0, OPTIONS),
    ({"meter of rows": meter_of_rows}, ALL_KINDS, 0, WITHOUT_DOCID),
    (SLOW, ("float64",), 0.15, [{"k": 3, "ties": "first"}, {"k": None, "score_dtype": "float32"}]),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def score_the_same(entry: Callable[[Problem, How], Any], problem: Problem, how: How) -> bool:
    """Whether opposites score the same to the bit, and not the same in the other order."""
    lowest_first = {**how, "score_order": "ascending"}
    expected = repr(entry(problem.opposite(), how))
    return repr(entry(problem, lowest_first)) == expected != repr(entry(problem, how))


@pytest.mark.parametrize(
    ("entry", "kind", "lacking", "options"),
    [
        # the options are those of scores of any type: others have each third
        pytest.param(
            entry, kind, lacking, options if kind == kinds[0] else options[::3], id=f"{name}-{kind}"
        )
        for entries, kinds, lacking, options in CASES
        for name, entry in entries.items()
        for kind in kinds
    ],
)
def test_the_lowest_score_first_is_the_highest_of_opposites(
    entry: Any, kind: str, lacking: float, options: list[How]
) -> None:
    problem = problem_of(kind, lacking)
    for how in options:
        is_rounded = kind == "uint64" and "score_dtype" in how  # and 2**64 - 1 - x otherwise than x
        assert is_rounded or score_the_same(entry, problem, how), how


def test_inf_marks_a_document_that_was_not_retrieved() -> None:
    marked, missing = problem_of("float64", 0.3, math.inf), problem_of("float64", 0.3)
    for entry in (
        *BY_POSITION.values(),
        computed(Problem.columns),
        computed(Problem.mappings),
        report,
        batches,
    ):
        found = repr(entry(marked, {"k": 3, "score_order": "ascending"}))
        assert (
            found
            == repr(entry(marked.opposite(), {"k": 3}))
            == repr(entry(missing.opposite(), {"k": 3}))
        )


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "int64"])
def test_the_lowest_score_first_on_spark(kind: str) -> None:
    problem = problem_of(kind, 0.15)
    for how in (OPTIONS[0], OPTIONS[5], OPTIONS[6]):
        assert score_the_same(spark, problem, how), how


# --- Each rule of the option, once ----------------------------------------------------------------


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
        assert METRIC.compute(predictions=ranked, references=relevant, score_order=order) == {
            "nDCG": second
        }


def test_the_signature_names_ascending_order_only() -> None:
    assert "|order:ascending|" in METRIC.signature(score_order="ascending")
    assert METRIC.signature(score_order="descending") == METRIC.signature()


def test_batches_are_added_in_one_order() -> None:
    batched = metric()
    near = {"predictions": [[0.1, 0.9]], "references": [[1, 0]]}
    batched.add_batch(**near, score_order="ascending")
    for add in (batched.add_batch, batched.compute):
        with refusal("score_order"):
            add(**near)
    batched.add(prediction=[0.2, 0.1], reference=[1, 0], score_order="ascending")
    assert batched.compute(**EACH) == {"nDCG": [1.0, pytest.approx(1 / math.log2(3))]}
    batched.add_batch(**near)  # in descending order again
    with refusal("score_order"):
        batched.compute(score_order="ascending")


def test_systems_may_differ_in_their_order() -> None:
    bm25, relevances = (
        {"q": {"a": 9.5, "b": 4.0}, "r": {"a": 1.0, "b": 2.0}},
        {"q": {"a": 1}, "r": {"a": 1}},
    )
    l2 = {
        query: {document: 10 - score for document, score in of.items()}
        for query, of in bm25.items()
    }
    found = METRIC.compare(
        systems={"bm25": bm25, "l2": l2}, references=relevances, score_order={"l2": "ascending"}
    )
    assert [scores["nDCG"].value for scores in found.scores.values()] == [
        pytest.approx((1 + 1 / math.log2(3)) / 2)
    ] * 2
    assert "|order:descending,ascending|" in found.signature
