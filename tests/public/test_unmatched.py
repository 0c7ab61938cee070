"""A call warns once, with the first ids, if no retrieved document is judged."""

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import pandas as pd
import pytest
from conftest import METRIC, MetricFactory, spark_session
from refusals import refusal, warning
from sources import Inputs

import ndcg as package

RUN = {"q1": {"doc7": 0.9, "doc8": 0.1}, "q2": {"doc7": 0.3}}
QRELS = {"q1": {"7": 1, "8": 0}, "q2": {"7": 2}}
MATCHED = {"q1": {"7": 0.9}, "q2": {"doc7": 0.3}}
BOTH = {"predictions": RUN, "references": QRELS}
FIRST = (
    "o document was both retrieved and judged; first retrieved: query {}; first judged: query {}; "
)
BY_ID = FIRST.format("'q1', document 'doc7'", "'q1', document '7'")
HINT = "check that both sides have the same ids"


def joined(run: Any, qrels: Any) -> Inputs:
    """The full outer join of both sides."""
    sides = [
        pd.DataFrame(
            [(q, d, value) for q, of in side.items() for d, value in of.items()],
            columns=["q", "d", name],
        )
        for name, side in (("score", run), ("label", qrels))
    ]
    frame = sides[0].merge(sides[1], how="outer", on=["q", "d"])
    return {"data": frame, "predictions": "score", "references": "label", "query_ids": "q"}


def as_file(path: Path, side: Any) -> Path:
    path.write_text(json.dumps(side))
    return path


def warned(call: Callable[..., Any], *args: Any, **inputs: Any) -> list[str]:
    """The warnings of a call, all of which are in the line that makes it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*args, **inputs)
    assert {each.filename for each in found} <= {__file__}
    assert {each.category for each in found} <= {UserWarning}
    return [str(each.message) for each in found]


@pytest.mark.parametrize(
    ("inputs", "retrieved", "judged"),
    [
        (
            {"predictions": {"q1": ["doc7"]}, "references": {"q1": {"7"}}},
            "'q1', document 'doc7'",
            "'q1', document '7'",
        ),
        (
            {"predictions": [["doc7"]], "references": [["7"]]},
            "0, document 'doc7'",
            "0, document '7'",
        ),
        (
            {**joined(RUN, QRELS), "document_ids": "d"},
            "'q1', row 2, document 'doc7'",
            "'q1', row 0, document '7'",
        ),
        (joined(RUN, QRELS), "'q1', row 2", "'q1', row 0"),
        (joined({"1.0": {"d": 0.5}}, {"1": {"d": 1}}), "'1.0', row 1", "'1', row 0"),
    ],
    ids=[
        "ranked ids by query",
        "ranked ids",
        "columns",
        "columns without ids of documents",
        "other queries",
    ],
)
def test_no_document_in_common_is_warned_of_with_the_first_of_both_sides(
    ndcg: evaluate.Metric, inputs: Inputs, retrieved: str, judged: str
) -> None:
    assert warned(ndcg.compute, **inputs) == [
        f"predictions: n{FIRST.format(retrieved, judged)}{HINT}"
    ]


@pytest.mark.parametrize(
    "call",
    [
        *(METRIC.compute, METRIC.report, METRIC.explain, package.compute, package.report),
        lambda **inputs: evaluate.combine([METRIC]).compute(**inputs),
        partial(METRIC.compute, judged_only=True),
    ],
)
def test_no_document_in_common_is_warned_of_once_in_the_line_of_the_call(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    files = {name: as_file(tmp_path / name, side) for name, side in BOTH.items()}
    for inputs in (BOTH, files, {**files, "predictions": RUN}):
        assert warned(call, **inputs) == [f"predictions: n{BY_ID}{HINT}"]
    assert len(warned(call, **joined(RUN, QRELS))) == 1


@pytest.mark.filterwarnings("ignore:.*first retrieved")
def test_a_report_and_an_explanation_have_a_note_with_the_same_ids(ndcg: evaluate.Metric) -> None:
    note = f"N{BY_ID}{HINT}."
    assert ndcg.report(**BOTH, judged_only=True).notes[0] == note
    found = ndcg.explain(**BOTH, got=0.0)
    assert found.notes == (note,)
    assert note in str(found)
    assert found.to_dict()["notes"] == [note]


def test_a_comparison_names_the_systems_without_a_document_in_common(ndcg: evaluate.Metric) -> None:
    systems = {"good": MATCHED, "other": RUN, "third": RUN}
    with warning("systems['other'], systems['third']"):
        notes = ndcg.compare(systems=systems, references=QRELS).notes
    assert [note.partition(":")[0] for note in notes if BY_ID in note] == ["other", "third"]


def test_batches_are_warned_of_together(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric(keep_in_memory=True)
    for batches, expected in (([RUN, MATCHED], 0), ([RUN, RUN], 1)):
        for call in (metric.compute, metric.report):
            for at, run in enumerate(batches):
                sides = [
                    {f"{at} {query}": each for query, each in side.items()} for side in (run, QRELS)
                ]
                assert warned(metric.add_batch, predictions=sides[0], references=sides[1]) == []
            assert len(warned(call)) == expected


def test_parts_of_long_inputs_are_warned_of_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ndcg.inputs.reading.PART", 1)
    ranked = {"predictions": [["doc7"], ["7"]], "references": [["7"], ["7"]]}
    assert warned(package.compute, **ranked) == []
    assert len(warned(package.compute, **ranked | {"predictions": [["doc7"], ["doc7"]]})) == 1


@pytest.mark.parametrize(
    "inputs",
    [
        {"predictions": MATCHED, "references": QRELS},
        {"predictions": MATCHED, "references": QRELS, "exclude": {"q1": ["7"]}},
        {**joined(MATCHED, QRELS), "document_ids": "d", "exclude": {"q1": ["7"]}},
        {
            "predictions": {"a": {"7": 0.5}, "b": {}},
            "references": {"a": {}, "b": {"7": 1}},
        },  # each has only one side
        {"predictions": {"q1": {}}, "references": QRELS},
        {"predictions": [[0.5, None]], "references": [[None, 1]]},  # by position
    ],
    ids=[
        "in common",
        "excluded",
        "excluded columns",
        "each query on one side",
        "nothing retrieved",
        "by position",
    ],
)
def test_other_rankings_are_not_warned_of(ndcg: evaluate.Metric, inputs: Inputs) -> None:
    assert warned(ndcg.compute, **inputs) == []


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
def test_spark_warns_if_no_row_has_both_values(ndcg: evaluate.Metric) -> None:
    columns = {"predictions": "score", "references": "label", "query_ids": "qid"}
    schema = "qid string, docid string, score double, label double"

    def frame_of(*rows: tuple[Any, ...]) -> Any:
        return spark_session().createDataFrame(rows, schema).repartition(3)

    given = []
    for label, expected in ((None, 1), (0.0, 0)):
        frame = frame_of(("q", "a", 0.9, label), ("q", "b", None, 1.0))
        given.append(({"data": frame, **columns}, expected))
    qrels = frame_of(("q", "a", None, 1.0)).drop("score")
    for query, document, expected in (("q", "a", 0), ("q", "b", 1), ("p", "a", 1)):
        run = frame_of((query, document, 0.9, None)).drop("label")
        given.append(({"predictions": run, "references": qrels}, expected))
    for arguments, expected in given:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ndcg.compute(**arguments)
        said = [str(each.message) for each in found if each.filename == __file__]
        assert len(said) == expected
        assert all(each.startswith("no row has both a prediction and a reference") for each in said)
    frame = spark_session().createDataFrame([(1.0, 0.5, 1)], "qid double, score double, label int")
    with refusal("query"):
        ndcg.compute(data=frame, **columns)
