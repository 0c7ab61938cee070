"""What is no ranking is refused with what is there, and queries without names go by position."""

import json
import math
import re
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import METRIC
from refusals import refusal, warning
from sources import ROWS_IN, TABLES, Records, as_table, save_csv, save_json, save_lines

import ndcg
from ndcg import compute

RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d7": 0.7, "d3": 0.1}, "q2": {"d5": 0.6, "d4": 0.5}}
QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1, "d9": 2}, "q2": {"d4": 1, "d5": 0}}
EXPECTED = compute(predictions=RUN, references=QRELS, k=10)


def as_lines(content: Any) -> str:
    """JSON with a line for each object of a list."""
    return "\n".join(map(json.dumps, content if isinstance(content, list) else [content]))


POSITIONS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda rows: rows,
    "JSON": json.dumps,
    "JSON Lines": as_lines,
    "JSON Lines of hits": lambda rows: as_lines(
        [{"hits": [{"id": each} for each in row]} for row in rows]
    ),
    "JSON Lines of ids": lambda rows: as_lines([{"doc_ids": row} for row in rows]).replace(
        "\n", "\n\n"
    ),
}


def by_position(name: str, rows: Any, path: Path) -> Any:
    """Lists, or the path of a file with them."""
    content = POSITIONS[name](rows)
    if content is rows:
        return rows
    path.write_text(content)
    return path


@pytest.mark.parametrize("chunk", [8, 64])  # bytes of a part, so that a file has many
@pytest.mark.parametrize("references", POSITIONS)
@pytest.mark.parametrize("predictions", POSITIONS)
def test_queries_without_names_are_matched_by_position(
    predictions: str, references: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    ranked = [[f"document-{query}-{at}" for at in range(9)] for query in range(9)]
    run = [["d2", "d1"], [], [], [], *ranked, []]
    relevant = [
        ["d1"],
        ["d9"],
        ["d9"],
        ["d9"],
        *([row[at]] for at, row in enumerate(ranked)),
        ["d9"],
    ]
    got = by_position(predictions, run, tmp_path / "run")
    found = compute(
        predictions=got,
        references=by_position(references, relevant, tmp_path / "qrels"),
        use_aggregator=False,
        fields={"query": None},  # which objects need
    )
    assert found == {
        "nDCG": pytest.approx(
            [1 / math.log2(3), 0, 0, 0, *(1 / math.log2(at + 2) for at in range(9)), 0]
        )
    }
    more = by_position(references, [*relevant, ["unasked"]], tmp_path / "qrels")
    with refusal("predictions and references differ in the number of queries, 14 and 15;"):
        compute(predictions=got, references=more, fields={"query": None})


NAMED_LINE, UNNAMED_LINE = '{"query_id": "q1", "hits": [{"id": "d1"}]}', '{"hits": [{"id": "d1"}]}'


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([NAMED_LINE, UNNAMED_LINE], "line 2: "),
        ([UNNAMED_LINE, NAMED_LINE], "line 1: "),
        ([UNNAMED_LINE, '{"query_id": "q2", "hits": []}'], "line 1: "),
        ([UNNAMED_LINE, UNNAMED_LINE], "query_ids"),
    ],
)
def test_names_of_queries_are_in_both_files_or_in_neither(
    tmp_path: Path, lines: list[str], place: str
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=place) as said:
        compute(predictions=path, references=QRELS)
    assert said.value.argument == "predictions"  # type: ignore[attr-defined]


HIT = {"id": "d2", "score": 0.9}
PAIRS = [("q1", "d2"), ("q1", "d1"), ("q2", "d4")]
CLICKS = pa.table({"user_id": ["q1"], "item_id": ["d1"], "time": [7]})
# predictions, references, the argument, and what the error shows of it or says to write
OTHERS: list[tuple[Any, Any, str, str]] = [
    (RUN["q1"], QRELS["q1"], "predictions", "query 'd2'"),
    (["d2", "d1"], [{"d1"}], "predictions", "predictions=[predictions]"),
    ([["d2"]], {"d1": 3}, "references", "query 'd1'"),
    ([HIT], [{"d1"}], "predictions", "'id' ('d2'), 'score' (0.9)"),
    ({"q1": HIT}, QRELS, "predictions", "{'id': 'd2', 'score': 0.9}"),
    ([[{"index": 3, "score": 0.9}]], [[1, 0, 2]], "predictions", "'index' (3)"),
    ({"q1": [{"index": -1}]}, {"q1": {"d1": 1}}, "predictions", "'index' (-1)"),
    (
        {"q1": {"a": [{"uri": 1}], "b": [{"uri": 2}]}},
        QRELS,
        "predictions",
        "'a.uri' (1), 'b.uri' (2)",
    ),
    ({"q1": {"a": [HIT], "b": [HIT]}}, QRELS, "predictions", "'a.id', 'b.id'"),
    ({"q1": [{"uri": "d2"}]}, QRELS, "predictions", "'uri' ('d2')"),
    ([("q1", "d2", 0.9)], [("q1", "d1", 3)], "predictions", "('q1', 'd2', 0.9)"),
    ([(1, 2, 0.9)], {1: {2: 3}}, "predictions", "(1, 2, 0.9)"),
    (PAIRS, PAIRS, "predictions", "('q1', 'd2')"),
    (StringIO("q1 Q0 d2 1 0.9 t"), QRELS, "predictions", "give its path"),
    (["q 0 d 1"], QRELS, "predictions", "predictions=[predictions]"),
    (json.dumps(RUN), QRELS, "predictions", "json.loads"),
    (None, [[3, 2, 0]], "predictions", "IDCG"),
    (pl.DataFrame({"a": [0.9], "b": [0.1]}), [[1, 0]], "predictions", "'a' (0.9), 'b' (0.1)"),
    ({"qid": ["q1"], "name": ["d1"], "score": [0.9], "k": 7}, QRELS, "predictions", "'name'"),
    (RUN, CLICKS, "references", "'time' (7)"),
]


@pytest.mark.parametrize(("predictions", "references", "argument", "shown"), OTHERS)
def test_what_is_no_ranking_is_refused_with_what_is_there(
    predictions: Any, references: Any, argument: str, shown: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(shown)) as said:
        compute(predictions=predictions, references=references)
    assert said.value.argument == argument  # type: ignore[attr-defined]


def test_rows_of_three_scores_may_hold_infinity() -> None:
    run = [[0, 1, -math.inf], [0, 0, 0]]
    assert compute(predictions=run, references=[[0, 1, 0], [0, 0, 0]]) == {"nDCG": 0.5}


def test_a_table_beside_columns_is_refused_with_both_as_tables() -> None:
    run, qrels = as_table(RUN, "run"), as_table(QRELS, "qrels")
    with refusal("predictions"):
        compute(
            data=run, predictions="score", references=qrels, query_ids="qid", document_ids="docno"
        )
    assert (
        compute(predictions=run, references=qrels, query_ids="qid", document_ids="docno", k=10)
        == EXPECTED
    )


@pytest.mark.parametrize("hit", [{"score": 0.7}, {"id": "d3"}])
def test_a_hit_that_lacks_something_is_named_with_its_query(hit: Any, tmp_path: Path) -> None:
    found = [{"id": "d1", "score": 0.9}, hit]
    path = tmp_path / "run.jsonl"
    for lines in (
        [{"query_id": "q0", "hits": found[:1]}, {"query_id": "q1", "hits": found}],
        [{"q0": ["d1"]}, {"q1": found}],
    ):
        path.write_text(as_lines(lines))
        with refusal("predictions"):
            compute(predictions=path, references=QRELS)
    for predictions, references, query in ({"q1": found}, QRELS, "'q1'"), ([found], [{"d1"}], "0"):
        with refusal("predictions", f"query {query}, position 1"):
            compute(predictions=predictions, references=references)


@pytest.mark.parametrize("order", ["descending", "ascending"])
def test_integers_beyond_2_53_keep_their_order_where_scores_are_missing(order: str) -> None:
    score = [2**53 + 1, 2**53, None, 2**53 + 2, None]
    table = {"qid": ["q"] * 5, "docno": list("abcde"), "score": pa.array(score, pa.int64())}
    found = compute(
        predictions=pa.table(table), references={"q": {"a": 1, "c": 1}}, score_order=order
    )
    assert found["nDCG"] == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("name", TABLES)
def test_a_negative_relevance_of_a_table_is_named_by_its_row(name: str, tmp_path: Path) -> None:
    qrels = TABLES[name](as_table({"q1": {"d1": 3, "d2": -2}}, "qrels"), tmp_path)
    with refusal("references", "row 1", "query 'q1', document 'd2'"):
        compute(predictions=RUN, references=qrels)


LABELS, MODEL = [[1, 0, 0], [1, 0, 0]], [[0.8, 0.9, 0.1], [0.5, 0.6, 0.05]]
BY_ID = [
    {f"q{at}": dict(zip("abc", row, strict=True)) for at, row in enumerate(rows)}
    for rows in (LABELS, MODEL)
]


@pytest.mark.parametrize(
    ("labels", "scores"), [(LABELS, MODEL), (np.array(LABELS), np.array(MODEL)), BY_ID]
)
def test_labels_as_predictions_and_scores_as_references_get_a_warning(
    labels: Any, scores: Any
) -> None:
    with warning("predictions"):
        compute(predictions=labels, references=scores)
    compute(predictions=scores, references=labels)
    compute(predictions=labels, references=labels)


HITS = {
    "by query": lambda hits, _: {"q1": hits},
    "objects": lambda hits, _: [{"query_id": "q1", "hits": hits}],
    "JSON": lambda hits, path: save_json({"q1": hits}, path),
    "JSON Lines": lambda hits, path: save_lines([{"query_id": "q1", "hits": hits}], path),
}


def named(run: Any) -> str:
    """What a warning about the hits of a query names first: a file, or else the argument."""
    return str(run) if isinstance(run, (str, Path)) else "predictions"


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"score": [1, 2]}, None),
        ({"rank": [2, 1]}, {"score": None}),
        ({"score": [1, 1], "rank": [1, 2]}, None),
    ],
)
def test_hits_in_another_order_than_their_scores_or_ranks_get_a_warning(
    tmp_path: Path, source: str, values: dict[str, list[int]], fields: Any
) -> None:
    hits: list[dict[str, Any]] = [{"id": "d1"}, {"id": "d2"}]
    for name, numbers in values.items():
        for hit, number in zip(hits, numbers, strict=True):
            hit[name] = number
    run = HITS[source](hits, tmp_path / "run.json")
    with warning(named(run), "query 'q1'"):
        compute(predictions=run, references=QRELS, fields=fields)
    if len(values) == 1:
        run = HITS[source](hits[::-1], tmp_path / "run.json")
        compute(predictions=run, references=QRELS, fields=fields)


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize(
    "said",
    [
        {"score_order": "descending"},
        {"score_order": "ascending"},
        {"fields": {"score": "score"}},
    ],
)
def test_hits_may_be_in_any_order_if_the_call_says_which_score_is_best(
    tmp_path: Path, source: str, said: dict[str, Any]
) -> None:
    hits = [{"id": f"d{at}", "score": score} for at, score in enumerate((2, 1, 3))]
    compute(predictions=HITS[source](hits, tmp_path / "run.json"), references=QRELS, **said)


@pytest.mark.parametrize("source", HITS)
def test_a_similarity_that_is_called_best_where_it_is_lowest_gets_a_warning(
    tmp_path: Path, source: str
) -> None:
    hits = [{"id": f"d{at}", "similarity": score} for at, score in enumerate((0.9, 0.5, 0.1))]
    run = HITS[source](hits, tmp_path / "run.json")
    with warning(named(run), "query 'q1'"):
        compute(predictions=run, references=QRELS, score_order="ascending")


@pytest.mark.parametrize("source", HITS)
def test_similarities_that_fields_names_get_a_warning_if_they_fall_in_all_queries(
    tmp_path: Path, source: str
) -> None:
    how: dict[str, Any] = {"fields": {"score": "nearness"}, "score_order": "ascending"}
    for values in ([0.9, 0.8, 0.7, 0.5, 0.4, 0.2, 0.1], [7, 6, 5, 4, 3, 2, 1]):
        hits = [{"id": f"d{at}", "nearness": value} for at, value in enumerate(values)]
        falling = {"predictions": HITS[source](hits, tmp_path / "a.json"), "references": QRELS}
        rising = {**falling, "predictions": HITS[source](hits[::-1], tmp_path / "b.json")}
        compute(**rising, **how)
        if values[0] >= 1:  # ranks may be in any order
            compute(**falling, **how)
            continue
        with warning("predictions"):
            compute(**falling, **how)
        compute(**falling, **how | {"score_order": "descending"})


Run = dict[str, dict[str, Any]]


def rising(lengths: list[int], first: float = 1) -> Run:
    """A run whose scores rise by one, with so many documents in its queries."""
    run: Run = {}
    for query, length in enumerate(lengths):
        run[f"q{query}"] = {f"d{at}": first + at for at in range(length)}
    return run


def records(run: Run) -> list[dict[str, Any]]:
    rows = []
    for query, documents in run.items():
        for document, score in documents.items():
            rows.append({"query_id": query, "doc_id": document, "score": score})
    return rows


def trec(run: Run, path: Path) -> str:
    """A TREC run whose ranks are all 0."""
    rows = [f"{row['query_id']} Q0 {row['doc_id']} 0 {row['score']} tag\n" for row in records(run)]
    path.write_text("".join(rows))
    return str(path)


RISING: dict[str, Callable[[Run, Path], Any]] = {
    "mapping": lambda run, _: run,
    "records": lambda run, _: records(run),
    "table": lambda run, _: pa.Table.from_pylist(records(run)),
    "interleaved rows": lambda run, _: sorted(records(run), key=lambda row: row["doc_id"]),
    "JSON": save_json,
    "JSON Lines": lambda run, path: save_lines(records(run), path),
    "CSV": lambda run, path: save_csv(records(run), path),
    "TREC": trec,
}


@pytest.mark.parametrize("source", RISING)
@pytest.mark.parametrize("first", [0, 1, 0.25])
def test_scores_that_rise_get_one_warning(tmp_path: Path, source: str, first: float) -> None:
    run = rising([6, 1, 5], first)
    qrels = {query: {"d0": 1} for query in run}
    inputs = {"predictions": RISING[source](run, tmp_path / "run.json"), "references": qrels}
    with warning("predictions"):
        compute(**inputs)
    for order in ("ascending", "descending"):
        inputs["predictions"] = RISING[source](run, tmp_path / order)
        compute(**inputs, score_order=order)


@pytest.mark.parametrize(
    ("lengths", "first"), [([7], 0.25), ([2] * 10, 0.25), ([3] * 4, 0.25), ([3, 3, 2], 1)]
)
def test_scores_that_hardly_rise_by_chance_get_a_warning(lengths: list[int], first: float) -> None:
    run = rising(lengths, first)
    with warning("predictions"):
        compute(predictions=run, references={query: {"d0": 1} for query in run})


def test_scores_beside_document_ids_that_rise_get_one_warning() -> None:
    distances, ids = np.array([[0.1, 0.2, 0.3, 0.4, 0.5]] * 2), np.array([[5, 6, 7, 8, 9]] * 2)
    inputs: dict[str, Any] = {"predictions": distances, "document_ids": ids}
    rows = {
        "predictions": distances.ravel(),
        "document_ids": ids.ravel(),
        "query_ids": np.repeat(["q", "p"], 5),
        "references": np.tile([1, 0, 0, 0, 0], 2),
    }
    for call in ({**inputs, "references": [{5}, {6}]}, rows):
        with warning("predictions"):
            compute(**call)
        compute(**call, score_order="descending")


def test_scores_that_fields_names_get_a_warning_if_they_rise_in_all_queries() -> None:
    hits = [{"id": f"d{at}", "cosine": at / 10} for at in range(5)]
    run = {"q1": hits, "q2": hits}
    qrels = {query: {"d1": 1} for query in run}
    with warning("predictions"):
        compute(predictions=run, references=qrels, fields={"score": "cosine"})


def test_scores_beside_ranks_in_the_same_order_get_none(tmp_path: Path) -> None:
    rows = records(rising([12]))
    for at, row in enumerate(rows):
        row["rank"] = len(rows) - at
    qrels = {"q0": {"d0": 1}}
    compute(predictions=rows, references=qrels)
    compute(predictions=pa.Table.from_pylist(rows), references=qrels)
    compute(predictions=save_csv(rows, tmp_path / "run.csv"), references=qrels)
    lines = [f"q0 Q0 {row['doc_id']} {row['rank']} {row['score']} tag\n" for row in rows]
    (tmp_path / "run.txt").write_text("".join(lines))
    compute(predictions=str(tmp_path / "run.txt"), references=qrels)


def trec_with_ranks(rows: list[dict[str, Any]], path: Path) -> str:
    lines = [f"{row['query_id']} Q0 {row['doc_id']} {row['rank']} 1 tag\n" for row in rows]
    path.write_text("".join(lines))
    return str(path)


ROWS_WITH_RANKS = {**ROWS_IN, "TREC": trec_with_ranks}


@pytest.mark.parametrize("source", ROWS_WITH_RANKS)
@pytest.mark.parametrize("ranks", [[0, 1, 2], [1, 2, 4], [3, 3, 3], [1, 1, 2]], ids=repr)
def test_rows_in_the_order_of_their_ranks_count_in_it(
    source: str, ranks: list[int], tmp_path: Path
) -> None:
    rows = [
        {"query_id": "q", "doc_id": name, "rank": at} for name, at in zip("abc", ranks, strict=True)
    ]
    inputs: dict[str, Any] = {"references": {"q": {"b": 1}}, "fields": {"score": None}}
    saved = ROWS_WITH_RANKS[source](rows, tmp_path / "run")
    assert compute(predictions=saved, **inputs)["nDCG"] == pytest.approx(1 / math.log2(3))
    if ranks[0] == ranks[-1]:
        return
    saved = ROWS_WITH_RANKS[source](rows[::-1], tmp_path / "reversed")
    with warning(str(saved) if isinstance(saved, str | Path) else "predictions"):
        compute(predictions=saved, **inputs)


@pytest.mark.parametrize("first", [0, 1])
def test_equal_scores_beside_ranks_get_a_warning(first: int) -> None:
    rows = [
        {"query_id": "q", "doc_id": name, "rank": first + at, "score": 0.5}
        for at, name in enumerate("abc")
    ]
    with warning("predictions"):
        compute(predictions=pa.Table.from_pylist(rows), references={"q": {"b": 1}})


@pytest.mark.parametrize("source", ROWS_WITH_RANKS)
@pytest.mark.parametrize("ranks", [(1, 1, 1), (2, 2, 3)])
def test_ranks_that_are_one_number_in_a_query_tell_no_systems(
    source: str, ranks: tuple[int, ...], tmp_path: Path
) -> None:
    rows = []
    for query, rank in zip("pqr", ranks, strict=True):
        for document, score in zip("abc", (0.9, 0.5, 0.1), strict=True):
            row = {"query_id": query, "doc_id": document, "rank": rank, "score": score}
            rows.append(row)
    compute(
        predictions=ROWS_WITH_RANKS[source](rows, tmp_path / "run"),
        references={query: {"a": 1} for query in "pqr"},
    )


@pytest.mark.parametrize(
    "unread",
    [
        {"rank": [4, 3, 2, 1]},  # of the first stage, which a reranker scored anew
        {"rank": [1, 2, 2, 3]},
        {"rank": [None] * 4},
        {"rank": ["first"] * 4},
        {"position": [1, 1, 1, 2]},  # of a log, which has sessions
    ],
    ids=repr,
)
def test_other_ranks_in_a_table_that_are_not_read_get_no_warning(unread: dict[str, Any]) -> None:
    table = {"query": [*"qqqr"], "score": [0.9, 0.5, 0.1, 0.2], "grade": [1, 0, 1, 1], **unread}
    compute(data=table, predictions="score", references="grade", query_ids="query")


@pytest.mark.parametrize(
    "run",
    [
        rising([6], 0.25),  # one order of 720
        rising([2] * 9, 0.25),
        rising([3, 3, 3, *[1] * 9], 0.25),
        rising([3, 3]),  # one case of 729
        {**rising([6, 6]), "q1": {"d0": 2, "d1": 1}},
        {**rising([6, 6]), "q1": {"d0": 2, "d1": 2}},
        {"q0": dict(reversed(rising([12])["q0"].items()))},
    ],
)
def test_other_scores_get_none(run: Run) -> None:
    qrels = {query: {"d0": 1} for query in run}
    compute(predictions=run, references=qrels)
    compute(predictions=records(run), references=qrels)


# Scores by position that count, as ranks and positions do

SCORES = np.random.default_rng(0).random((4, 5))
LABELS = np.eye(4, 5)
SORTED = np.argsort(-SCORES)  # 0 to 4 in each row
COUNTED: dict[str, Callable[[Any], Any]] = {
    "array": lambda rows: rows,
    "floats": lambda rows: rows.astype(float),
    "lists": lambda rows: rows.tolist(),
    "Arrow": lambda rows: pa.array(rows.tolist()),
    "ragged": lambda rows: [*rows.tolist(), [0]],
    "not retrieved": lambda rows: [[*row, None] for row in rows.tolist()],
}


def with_labels_of(predictions: Any) -> dict[str, Any]:
    rows = predictions.to_pylist() if isinstance(predictions, pa.Array) else predictions
    return {"predictions": predictions, "references": [[1] + [0] * (len(row) - 1) for row in rows]}


@pytest.mark.parametrize("source", COUNTED)
@pytest.mark.parametrize("first", [0, 1])
def test_scores_that_count_get_a_warning_unless_their_order_is_given(
    source: str, first: int
) -> None:
    predictions = COUNTED[source](SORTED + first)
    if source == "ragged":
        predictions[-1] = [first]
    inputs = with_labels_of(predictions)
    with warning("predictions"):
        compute(**inputs)
    for order in ("ascending", "descending"):
        compute(**inputs, score_order=order)


@pytest.mark.parametrize("rows", [SORTED, np.sort(SORTED)])
def test_scores_that_count_in_rows_of_queries_get_one_warning(rows: np.ndarray) -> None:
    with warning("predictions"):
        compute(
            predictions=rows.ravel(),
            references=LABELS.ravel(),
            query_ids=np.repeat(["a", "b", "c", "d"], 5),
        )


@pytest.mark.parametrize("source", ["mapping", "records", "table", "JSON", "CSV", "TREC"])
def test_ranks_by_ids_in_any_order_get_one_warning(tmp_path: Path, source: str) -> None:
    run = rising([12, 12])
    run["q0"] = {document: 13 - rank for document, rank in run["q0"].items()}
    qrels = {query: {"d0": 1} for query in run}
    inputs = {"predictions": RISING[source](run, tmp_path / "run.json"), "references": qrels}
    with warning("predictions"):
        compute(**inputs)
    inputs["predictions"] = RISING[source](run, tmp_path / "ranks")
    compute(**inputs, score_order="ascending")


def test_points_that_fall_from_hit_to_hit_get_no_warning() -> None:
    run = {"q0": {f"d{at}": 20 - at for at in range(20)}}
    compute(predictions=run, references={"q0": {"d5": 1}})
    compute(predictions=run, references={"q0": {"d5": 1}}, ties="docid")


# What a search among 200 documents returns: their numbers, the best first
NUMBERS = np.argsort(-np.random.default_rng(0).random((5, 200)))[:, :5]


@pytest.mark.parametrize(
    "source", [name for name in COUNTED if name not in ("floats", "not retrieved")]
)
def test_integers_that_may_be_ids_get_a_warning_unless_they_are_said_to_be_scores(
    source: str,
) -> None:
    inputs = with_labels_of(COUNTED[source](NUMBERS))
    with warning("predictions"):
        compute(**inputs)
    compute(**inputs, score_order="descending")


@pytest.mark.parametrize(
    "scores",
    [
        NUMBERS.astype(float),
        NUMBERS[:4],
        NUMBERS // 50,  # some twice in a query
        np.arange(5000, 0, -200).reshape(5, 5),  # never twice
        np.tile([5, 4, 3, 2, 1], (5, 1)),
    ],
    ids=["floats", "few queries", "repeated", "of one query each", "negative ranks"],
)
def test_other_numbers_by_position_may_be_scores(scores: np.ndarray) -> None:
    compute(**with_labels_of(scores))


DISTANCES = np.sort(np.random.default_rng(1).random((3, 7)))  # as a search by distance returns


@pytest.mark.parametrize("source", COUNTED)
def test_scores_by_position_that_rise_in_all_rows_get_a_warning(source: str) -> None:
    inputs = with_labels_of(COUNTED[source](DISTANCES))
    with warning("predictions"):
        compute(**inputs)
    for order in ("ascending", "descending"):
        compute(**inputs, score_order=order)


def with_equal_neighbors(rows: np.ndarray) -> None:
    rows[:, 3] = rows[:, 2]


def with_a_row_in_another_order(rows: np.ndarray) -> None:
    rows[4] = rows[4, ::-1]


def with_a_row_of_equals(rows: np.ndarray) -> None:
    rows[4] = 0.5


@pytest.mark.parametrize(
    "change", [with_equal_neighbors, with_a_row_in_another_order, with_a_row_of_equals]
)
@pytest.mark.parametrize("source", ["array", *RISING])
def test_distances_with_ties_or_one_row_in_another_order_get_a_warning(
    tmp_path: Path, source: str, change: Callable[[np.ndarray], None]
) -> None:
    distances = np.sort(np.random.default_rng(2).random((12, 8)))
    change(distances)
    predictions: Any = distances
    references: Any = np.eye(12, 8)
    if source != "array":
        ids = [f"d{at}" for at in range(8)]
        run = {
            f"q{at}": dict(zip(ids, row, strict=True)) for at, row in enumerate(distances.tolist())
        }
        predictions = RISING[source](run, tmp_path / "run.json")
        references = {query: {"d1": 1} for query in run}
    with warning("predictions"):
        compute(predictions=predictions, references=references)
    compute(predictions=predictions, references=references, score_order="descending")


@pytest.mark.parametrize(
    "predictions",
    [
        [[0, 3, 2, 1, 4]] * 3,  # few documents
        [[0.1, 0.2, 0.5, 0.6, 0.7, 0.8, 0.9]] * 2,
        [[0.1, 0.2, 0.7]] * 20,  # from a model that scores all rows alike
        [*DISTANCES.tolist(), [0.2, 0.1]],
        [*DISTANCES.tolist(), [0.3, 0.2]] * 3,
        [[4, 3, 2, 1, 0]] * 4,  # in the order of their scores
        [[1, 0], [0, 1]] * 10,  # two labels
        [[True, False], [False, True]] * 10,
        [*[[1, 3, 2, 5, 4]] * 4, [5, 4, 3, 2, 2]],
        [*[[1, 3, 2, 5, 4]] * 4, [4, 3, 2, 1, 0]],
        [[2, 3, 4, 6, 5]] * 4,
        [[0.5, 1.5, 2.5, 4.5, 3.5]] * 4,
        [[0, 0, 0, 0, 0]] * 4,
    ],
)
def test_other_scores_by_position_get_no_warning(predictions: list[list[float]]) -> None:
    compute(**with_labels_of(predictions))


def added(**inputs: Any) -> None:
    metric = type(METRIC)()
    for scores, relevance in zip(inputs["predictions"], inputs["references"], strict=True):
        metric.add(prediction=scores.tolist(), reference=relevance.tolist())
    metric.compute()


def compared(predictions: Any, references: Any) -> None:
    ndcg.compare(systems={"a": predictions, "b": -predictions}, references=references)


@pytest.mark.parametrize("method", ["compute", "report"])
def test_an_order_that_is_given_with_a_batch_holds_when_it_is_scored(method: str) -> None:
    metric = type(METRIC)()
    metric.add_batch(predictions=DISTANCES, references=np.eye(3, 7), score_order="descending")
    getattr(metric, method)()


def test_positions_in_a_meter_get_one_warning() -> None:
    rows = ndcg.meter()
    with warning("predictions"):
        rows.update(SORTED.ravel(), LABELS.ravel(), query_ids=np.repeat([1, 2, 3, 4], 5))
        rows.compute()


ENTRY_POINTS: dict[str, tuple[Callable[..., Any], str]] = {
    "add": (added, "predictions"),
    "compare": (compared, "systems['a']"),
    "documents": (ndcg.documents, "predictions"),
    "explain": (partial(ndcg.explain, got=0.5), "predictions"),
    "preview": (ndcg.preview, "predictions"),
    "report": (ndcg.report, "predictions"),
}


@pytest.mark.parametrize("name", ENTRY_POINTS)
@pytest.mark.parametrize("predictions", [DISTANCES, SORTED])
def test_doubtful_scores_get_one_warning_at_every_entry_point(
    predictions: np.ndarray, name: str
) -> None:
    entry_point, argument = ENTRY_POINTS[name]
    with warning(argument):
        entry_point(predictions=predictions, references=np.eye(*predictions.shape))


@pytest.mark.parametrize("other", [None, (), 5])
def test_what_is_no_pair_is_named_beside_pairs_of_an_object_and_a_score(other: Any) -> None:
    run = {"q1": [({"id": "d1"}, 0.5), other]}
    with refusal("predictions", "query 'q1', position 1"):
        compute(predictions=run, references=QRELS)


# Values that some lists lack, and empty lists in files

BESIDE_IDS = [
    {"query_id": f"q{at}", "retrieved_ids": ["a", "b", "c"], "scores": [0.9, 0.5, 0.1]}
    for at in range(4)
]


@pytest.mark.parametrize("scores", [None, [], [0.9]])
@pytest.mark.parametrize("source", ["memory", "JSON", "JSON Lines"])
def test_a_list_of_scores_that_one_query_lacks_is_an_error(
    tmp_path: Path, scores: Any, source: str
) -> None:
    run = [*BESIDE_IDS, {**BESIDE_IDS[0], "query_id": "q4", "scores": scores}]
    save = {"memory": lambda run, _: run, "JSON": save_json, "JSON Lines": save_lines}[source]
    qrels = {f"q{at}": {"c": 1} for at in range(5)}
    with refusal("predictions"):
        compute(predictions=save(run, tmp_path / "run.json"), references=qrels)
    with refusal("references"):
        compute(
            predictions=qrels,
            references=[
                {"query_id": "q0", "relevant_ids": ["x", "y"], "grades": [1, 3]},
                {"query_id": "q1", "relevant_ids": ["z", "w"], "grades": scores},
            ],
        )


def test_contexts_of_the_run_are_no_values_of_references() -> None:
    ids = (["c1", "c2"], ["c2"]), (["c5", "c6"], ["c5", "c9"])
    log = []
    for query, (retrieved, relevant) in enumerate(ids):
        row = {"qid": query, "retrieved_ids": retrieved, "relevant_ids": relevant}
        log.append({**row, "retrieved_contexts": ["a text", "another"]})
    found = compute(predictions=log, references=log, use_aggregator=False)
    second = 1 / math.log2(3)
    assert found == {"nDCG": pytest.approx([second, 1 / (1 + second)])}


def test_an_empty_list_of_a_file_is_no_missing_query(tmp_path: Path) -> None:
    responses = {"responses": [{"hits": [{"id": "a", "score": 1}]}, {"hits": []}]}
    for value in ([["a"], []], responses):
        run = save_json(value, tmp_path / "run.json")
        for queries in (["q1", "q2"], None):
            qrels: Any = [{"a"}, {"c"}]
            how: dict[str, Any] = {"missing": "raise"}
            if queries is not None:
                qrels = dict(zip(queries, qrels, strict=True))
                how["query_ids"] = queries
            elif value is responses:
                how["fields"] = {"query": None}
            assert compute(predictions=run, references=qrels, **how) == {"nDCG": 0.5}


def test_empty_mappings_are_queries_without_documents() -> None:
    assert compute(predictions=[{}], references=[{"a": 1}]) == {"nDCG": 0.0}
    assert compute(predictions=[{"a": 1}, {"b": 2}], references=[{}, {"b": 1}]) == {"nDCG": 0.5}


# Ids that may be positions, and scores of what was filtered out

RERANKED = {"q1": [2, 0, 1], "q2": [1, 0]}  # as a reranker returns them
# Three of each query's 6 candidates, and what is judged
BEST_OF_6 = {query: [(query + step) % 6 for step in (4, 0, 3)] for query in range(6)}
OF_MANY = {query: {query: 1, 30 + query: 1, 50: 1} for query in range(6)}


@pytest.mark.parametrize("source", [dict, records, pl.DataFrame])
def test_a_judged_id_in_another_spelling_gets_a_warning(source: Any) -> None:
    run: Run = {"q1": {"D1": 0.9, "Cafe\u0301 2": 0.5}, "q2": {"D3": 0.4}}
    predictions = source(run) if source is not pl.DataFrame else source(records(run))
    for document in ("d1", "D1 ", "Caf\u00e9 2"):
        with warning("predictions", "query 'q1'"):
            compute(predictions=predictions, references={"q1": {document: 1}, "q2": {"D3": 1}})
    for documents in (["D1", "d1"], ["d9"]):  # one of them is judged as it is; another document
        qrels = {"q1": dict.fromkeys(documents, 1), "q2": {"D3": 1}}
        compute(predictions=predictions, references=qrels)


def test_a_similarity_that_is_called_a_distance_is_read_if_the_call_says_so() -> None:
    hits = {"q1": [{"id": "d2", "distance": 0.9}, {"id": "d1", "distance": 0.8}]}
    qrels = {"q1": {"d1": 1}}
    second = pytest.approx(1 / math.log2(3))
    assert compute(predictions=hits, references=qrels, score_order="descending")["nDCG"] == second
    beside = {"q1": [{**hit, "score": -hit["distance"]} for hit in hits["q1"]]}
    with warning("predictions", "query 'q1'"):
        assert compute(predictions=beside, references=qrels)["nDCG"] == 1.0


@pytest.mark.parametrize("source", HITS)
def test_ranks_that_are_the_scores_are_not_held_against_them(source: str, tmp_path: Path) -> None:
    hits = [{"id": "d2", "rank": 0.9}, {"id": "d1", "rank": 0.8}]  # as ts_rank of PostgreSQL
    run = HITS[source](hits, tmp_path / "run.json")
    how: dict[str, Any] = {"fields": {"score": "rank"}, "score_order": "descending"}
    ndcg = compute(predictions=run, references={"q1": {"d1": 1}}, **how)["nDCG"]
    assert ndcg == pytest.approx(1 / math.log2(3))


def test_ids_of_all_of_many_candidates_are_positions_too() -> None:
    run = {"q": [7 * rank % 150 for rank in range(150)]}  # each of 0 to 149
    with warning("predictions"):
        compute(predictions=run, references={"q": {3: 1, 900: 1}})


def test_ids_that_count_from_0_beside_other_ids_get_one_warning() -> None:
    run, qrels = RERANKED, {"q1": {2: 1, 70: 1}, "q2": {1: 1}}
    texts = {query: list(map(str, row)) for query, row in run.items()}
    text_qrels = {query: {str(key): 1 for key in row} for query, row in qrels.items()}
    for predictions, references in ((run, qrels), (texts, text_qrels), (BEST_OF_6, OF_MANY)):
        with warning("predictions"):
            compute(predictions=predictions, references=references)


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (RERANKED, {"q1": {2: 1}, "q2": {1: 1}}),  # positions on both sides
        ({**RERANKED, "q3": [5, 1]}, {"q1": {2: 1, 70: 1}, "q3": {5: 1}}),
        ({"q1": [1, 2, 3]}, {"q1": {2: 1, 70: 1}}),
        (BEST_OF_6, {query: {query: 1, 3: 1, 50: 1} for query in range(6)}),  # most could be found
        (BEST_OF_6, {query: OF_MANY[query] for query in range(4)}),  # few queries
        ({**BEST_OF_6, 5: [3, 1, 70]}, OF_MANY),
        ({query: sorted(row) for query, row in BEST_OF_6.items()}, OF_MANY),  # the most popular
    ],
)
def test_other_ids_get_none(run: Any, qrels: Any) -> None:
    compute(predictions=run, references=qrels)


@pytest.mark.parametrize(
    ("run", "grades"),
    [
        ({"q": {1: 0.9, 0: 0.5}}, {"q": [0, 1]}),
        ([[{"id": 1, "score": 0.9}, {"id": 0, "score": 0.5}]], [[0, 1]]),
        ({"p": [2, 0], "q": [1, 2]}, {"p": [2, 0, 1], "q": [1, 2, 0]}),  # the best two of three
        ({"p": [2, 0, 1], "q": [1, 0]}, {"p": [3, 0, 1], "q": [0, 1]}),  # and 3 is judged too
    ],
)
def test_grades_in_lists_that_would_be_ids_get_one_warning(
    run: Any, grades: Any, tmp_path: Path
) -> None:
    paths = save_json(run, tmp_path / "run.json"), save_json(grades, tmp_path / "qrels.json")
    with warning("predictions"):
        compute(predictions=paths[0], references=paths[1])


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"q": [1, 0]}, {"q": {0, 1}}),
        ({"q": [1, 0]}, {"q": {0: 1, 1: 1}}),
        ({"q": [2, 0]}, {"q": [0, 1, 2]}),  # some relevant documents of one query
        ({"p": [1, 0, 2], "q": [1, 0]}, {"p": [0, 1], "q": [0, 1]}),  # another document
        ({"p": [1, 0], "q": [1, 2]}, {"p": [0, 1], "q": [1, 2]}),
        ({"p": [0], "q": [0]}, {"p": [0], "q": [0]}),
    ],
)
def test_ids_in_lists_that_are_no_grades_get_none(run: Any, qrels: Any) -> None:
    compute(predictions=run, references=qrels)


def test_the_lowest_float32_gets_a_warning_and_other_low_scores_none() -> None:
    lowest = float(np.finfo(np.float32).min)
    with warning("predictions"):
        compute(predictions={"q1": {"d1": 0.5, "d2": lowest}}, references=QRELS)
    compute(predictions=[[0.5, -1e9, -math.inf]], references=[[1, 0, 0]])


def save_trec(rows: Records, path: Path) -> Path:
    lines = [f"{row['qid']} Q0 {row['docno']} {row['rank']} {row['score']} tag\n" for row in rows]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("name", [*ROWS_IN, "TREC"])
def test_systems_one_after_the_other_are_told_in_the_first_rows(name: str, tmp_path: Path) -> None:
    write = save_trec if name == "TREC" else ROWS_IN[name]
    rows = [
        {"qid": f"q{query}", "docno": f"{system}{rank}", "rank": rank, "score": best / rank}
        for system, best in (("a", 1.0), ("b", 30.0))
        for query in range(4)
        for rank in range(1, 11)
    ]
    qrels = {f"q{query}": {"a1": 1, "b2": 1} for query in range(4)}
    one_system = write(rows[: len(rows) // 2], tmp_path / "one")
    compute(predictions=one_system, references=qrels)
    both_systems = write(rows, tmp_path / "both")
    with warning(named(both_systems)):
        compute(predictions=both_systems, references=qrels)


def test_equal_scores_of_trec_get_a_warning_unless_the_order_counts(tmp_path: Path) -> None:
    rows = [
        {"qid": "q", "docno": docno, "rank": rank, "score": 1}
        for rank, docno in ((1, "a"), (2, "b"))
    ]
    inputs = {"predictions": save_trec(rows, tmp_path / "run.txt"), "references": {"q": {"b": 1}}}
    with warning(named(inputs["predictions"]), "query 'q'"):
        compute(**inputs)
    ndcg = compute(**inputs, fields={"score": None})["nDCG"]
    assert ndcg == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("name", ["dicts", "objects", "JSON", "JSON Lines"])
@pytest.mark.parametrize(
    "fault", [{"qid": ["q"]}, {"score": [1]}, {"score": {"bm25": 1}}], ids=repr
)
def test_a_faulty_row_beside_ranks_gets_its_error(
    name: str, fault: dict[str, Any], tmp_path: Path
) -> None:
    rows = [
        {"qid": "q", "docno": "a", "rank": 1, "score": 0.5},
        {"qid": "q", "docno": "b", "rank": 2, "score": 0.4} | fault,
    ]
    run = ROWS_IN[name](rows, tmp_path / "run")
    with refusal("predictions"):
        compute(predictions=run, references={"q": {"a": 1}})


@pytest.mark.parametrize("name", ["dicts", "objects", "JSON", "JSON Lines"])
@pytest.mark.parametrize("rank", [[2], {"bm25": 2}, "second", None], ids=repr)
def test_ranks_that_are_no_numbers_tell_nothing(name: str, rank: Any, tmp_path: Path) -> None:
    rows = [
        {"qid": "q", "docno": "a", "rank": 1, "score": 0.5},
        {"qid": "q", "docno": "b", "rank": rank, "score": 0.4},
    ]
    run = ROWS_IN[name](rows, tmp_path / "run")
    ndcg = compute(predictions=run, references={"q": {"b": 1}})["nDCG"]
    assert ndcg == pytest.approx(1 / math.log2(3))


ZEROS = np.array([[0.5, -0.5, 0.2, 0], [-0.1, 0.3, 0, 0]] * 3)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        (ZEROS + 1, np.eye(6, 4)),  # in no row is a 0
        (np.abs(ZEROS), np.eye(6, 4, 1) * (ZEROS != 0)),  # below all other scores
        (ZEROS[:, [3, 0, 2, 1]], np.zeros((6, 4))),  # at both ends and between other scores
        (ZEROS, np.ones((6, 4)) + np.eye(6, 4)),  # of relevant documents
        (ZEROS[[0] * 6], np.eye(6, 4) * (ZEROS[[0] * 6] != 0)),  # as many in each row
        (-np.arange(6) - np.eye(6)[:, 5:], np.eye(6, 6, 1)),  # negated ranks
    ],
)
def test_other_zeros_get_no_warning(scores: np.ndarray, labels: np.ndarray) -> None:
    compute(predictions=scores, references=labels)


def test_zeros_that_are_named_as_padding_get_no_warning() -> None:
    labels = np.where(ZEROS == 0, -100, np.eye(6, 4))
    compute(predictions=ZEROS, references=labels, ignore_index=-100)


@pytest.mark.parametrize(
    ("scores", "labels", "options"),
    [
        (SCORES, LABELS * 0, {}),  # equal relevances of irrelevant documents
        (SCORES, LABELS + np.eye(4, 5, 1), {}),
        (SCORES, np.sort(LABELS + np.eye(4, 5, 1)), {"ignore_index": 0}),  # zeros at one end
        (np.where(LABELS, -np.inf, SCORES), LABELS, {}),  # some documents without a score
    ],
)
def test_other_relevances_and_masks_get_no_warning(
    scores: np.ndarray, labels: np.ndarray, options: dict[str, Any]
) -> None:
    compute(predictions=scores, references=labels, **options)


GRADES = np.arange(20).reshape(4, 5) % 3
FALLING = {f"d{place}": 20 - place for place in range(20)}


@pytest.mark.parametrize(
    ("scores", "labels", "options"),
    [
        (GRADES * 2, GRADES, {}),
        (np.ones((1, 20)), np.ones((1, 20)), {}),  # any order is ideal
        (GRADES + np.eye(4, 5, 1), GRADES, {}),  # one differs
        (GRADES[:3], GRADES[:3], {}),  # few, as in a trial
        (GRADES, GRADES, {"score_order": "ascending"}),
        ({"q": FALLING}, {"q": FALLING}, {}),  # an oracle
    ],
)
def test_predictions_unlike_the_references_get_no_warning(
    scores: Any, labels: Any, options: dict[str, Any]
) -> None:
    compute(predictions=scores, references=labels, **options)


@pytest.mark.parametrize("position", [1, 2])
def test_ranks_that_some_queries_share_get_no_warning(position: int) -> None:
    rows = [
        {"query_id": query, "doc_id": document, "position": rank}
        for query, ranks in (("q", (1, 1, 3)), ("r", (1, position, 3)))
        for document, rank in zip("abc", ranks, strict=True)
    ]
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    inputs: dict[str, Any] = {"predictions": rows, "references": qrels, "score_order": "ascending"}
    if position == 1:
        with warning("predictions"):
            compute(**inputs)
    else:
        compute(**inputs)


def clicked(*positions: list[int]) -> dict[str, Any]:
    """A log of sessions with these positions, as data."""
    rows = [
        {"session": session, "position": position, "clicked": position % 2}
        for session, of_session in enumerate(positions)
        for position in of_session
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    names = {"predictions": "position", "references": "clicked", "query_ids": "session"}
    return {"data": columns, "score_order": "ascending", **names}


SEARCHES = [[1, 2, 3, 1, 2], [1, 2, 1, 2], [1, 1, 2, 2, 3], [1, 2] * 3, [1, 2, 1, 2, 3]]


@pytest.mark.parametrize("as_data", [dict, pa.table, pl.DataFrame])
def test_several_searches_in_some_sessions_get_a_warning(as_data: Any) -> None:
    inputs = clicked(*SEARCHES, [1, 2, 3], [1])
    with warning("predictions"):
        compute(**inputs | {"data": as_data(inputs["data"])})


@pytest.mark.parametrize(
    "positions",
    [
        [*SEARCHES[:4], [1, 2]],  # few sessions
        [*SEARCHES, [1, 2, 2]],  # a tie of one ranking
        [*SEARCHES[:4], [1, 1, 2], [1, 2]],
    ],
    ids=repr,
)
def test_ties_of_ranks_in_some_sessions_get_no_warning(positions: list[list[int]]) -> None:
    compute(**clicked(*positions))


def test_words_beside_positions_are_named_in_the_same_error() -> None:
    inputs = clicked([1, 2])
    inputs["data"] = pa.table({**inputs["data"], "clicked": ["t", "f"]})
    del inputs["score_order"]
    with refusal("predictions") as said:
        compute(**inputs)
    assert "gain={'t': ..., 'f': ...}" in str(said.value)
    value = compute(**inputs, score_order="ascending", gain={"t": 1, "f": 0})
    assert value == {"nDCG": 1.0}


def test_whole_distances_that_several_documents_have_get_no_warning() -> None:
    inputs = clicked(*SEARCHES)
    inputs["data"]["hops"] = inputs["data"].pop("position")
    compute(**inputs | {"predictions": "hops"})


OWN = {query: {query: 1, "x": 0.9} for query in "abcde"}  # queries that are documents
ABOUT_X = {query: {"x": 1} for query in OWN}


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (OWN, {query: {query: 1} for query in OWN}),  # are judged
        ({**OWN, "e": {"d": 1, "x": 0.9}}, ABOUT_X),
        (OWN, {query: {"x": 1} for query in "abcd"}),  # few queries
    ],
)
def test_other_documents_with_ids_of_queries_get_no_warning(run: Run, qrels: Run) -> None:
    compute(predictions=run, references=qrels)


def test_documents_of_queries_that_are_excluded_get_no_warning() -> None:
    compute(predictions=OWN, references=ABOUT_X, exclude={query: [query] for query in OWN})


def test_grades_as_scores_get_no_warning_if_their_order_is_given() -> None:
    scores, means = [[at % 4 for at in range(15)]], [[at / 16 + 0.01 for at in range(15)]]
    compute(predictions=scores, references=means, score_order="descending")


@pytest.mark.parametrize(("missing", "unjudged"), [(1, 10), (10, 1), (5, 0), (0, 20), (4, 4)])
def test_few_queries_without_the_other_side_get_no_warning(missing: int, unjudged: int) -> None:
    shared = [f"q{number}" for number in range(20)]
    run = {query: {"a": 2, "b": 1} for query in (*shared, *range(unjudged))}
    qrels = {query: {"a": 1} for query in (*shared, *(f"p{number}" for number in range(missing)))}
    run = {str(query): documents for query, documents in run.items()}
    compute(predictions=run, references=qrels)


@pytest.mark.parametrize("ids", [["x", "y"], [None, None]])
def test_documents_that_all_have_ids_or_none_get_no_warning(ids: list[str | None]) -> None:
    frame = pa.table({"user": ["a", "a"], "item": ids, "score": [0.5, 0.2], "label": [1, 0]})
    compute(data=frame, predictions="score", references="label", query_ids="user")


@pytest.mark.parametrize("source", [list, pl.DataFrame, pa.Table.from_pylist])
@pytest.mark.parametrize(
    ("references", "are_labels"),
    [
        (["yes", "no", "no", "yes"], True),
        ([1, 0, 2, 3], True),
        (["1", "0", "2", "3"], True),
        (["exact", "partial", "related", "no"], True),
        ([f"It is a tort of {act}." for act in "abcdef"], False),
    ],
    ids=repr,
)
def test_prose_in_a_field_with_the_name_of_a_relevance_gets_no_warning(
    source: Any, references: list[Any], are_labels: bool
) -> None:
    log = [
        {"question": f"q{at}", "reference": reference, "relevant_ids": ["a"]}
        for at, reference in enumerate(references)
    ]
    run = {f"q{at}": ["b", "a"] for at in range(len(log))}
    inputs = {"predictions": run, "references": source(log), "fields": {"relevance": None}}
    if are_labels:
        with warning("references"):
            compute(**inputs)
    else:
        compute(**inputs)


@pytest.mark.parametrize(
    "queries",
    [
        ["q", "total", "total"],
        ["p", "q", "total"],
        ["q", "q", "total war"],
        ["q", "q", "sum total"],
    ],
)
def test_other_queries_than_rows_of_totals_get_no_warning(queries: list[str]) -> None:
    compute(predictions=[0.9, 0.5, 1.4], references=[1, 0, 1], query_ids=queries)
