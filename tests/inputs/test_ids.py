"""Which values are ids, and the ids of rows as numbers, in the order of their first rows."""

import datetime
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ALL_EXCLUDED
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import refusal

from ndcg import compute
from ndcg.inputs import ids as room

TIME = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
KINDS: dict[str, tuple[list[Any], list[pa.DataType]]] = {
    "text": (["a", "", np.str_("a")], [pa.string(), pa.large_string(), pa.string_view()]),
    "integers": ([7, 2**70, np.int8(7), np.uint64(7)], [pa.int8(), pa.uint64()]),
    "bytes": ([b"a", np.bytes_(b"a")], [pa.binary(), pa.large_binary()]),
    "dates": ([TIME.date()], [pa.date32(), pa.date64()]),
    "times": ([TIME, pd.Timestamp(TIME)], [pa.timestamp("s"), pa.timestamp("ns", "UTC")]),
    "": (
        [
            None,
            math.nan,
            1.0,
            True,
            np.bool_(True),
            np.float32(1),
            np.timedelta64(1, "s"),
            pd.NaT,
            pd.NA,
            ("a", 1),
            1j,
        ],
        [
            pa.null(),
            pa.float64(),
            pa.bool_(),
            pa.duration("s"),
            pa.decimal128(5),
            pa.list_(pa.string()),
        ],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_is_text_an_integer_bytes_a_date_or_a_time(kind: str) -> None:
    values, types = KINDS[kind]
    assert {room.id_kind(type(each)) for each in values} | {
        room.id_kind(each) for each in types
    } == {kind}


@pytest.mark.parametrize(
    "ids", [[b"1", "1"], ["1", b"1"], [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 5)]]
)
def test_rows_have_ids_of_one_kind(ids: list[Any]) -> None:
    with refusal("query_ids"):
        compute(predictions=[1.0, 2.0], references=[1, 0], query_ids=ids)


ROWS = {
    "grouped": [3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2],
    "an id comes back": [3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3],
    "no two the same in a row": [1, 2, 1, 3, 2, 1, 2, 3],
    "grouped at first": [1] * 10 + [2, 1, 3, 2, 1, 2, 3, 1, 2],
    "one row": [5],
    "no rows": [],
}
ID_TYPES = [
    pa.int8(),
    pa.uint64(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us"),
]


@pytest.mark.parametrize("threaded", [4, 1 << 20])
@pytest.mark.parametrize("probe", [2, 8, 1 << 10])
@pytest.mark.parametrize("kind", ID_TYPES, ids=str)
@pytest.mark.parametrize("rows", ROWS)
def test_ids_are_numbered_in_the_order_of_their_first_rows(
    monkeypatch: pytest.MonkeyPatch, rows: str, kind: pa.DataType, probe: int, threaded: int
) -> None:
    monkeypatch.setattr(room, "FEW_ROWS", 0)
    monkeypatch.setattr(room, "PROBE", probe)
    monkeypatch.setattr(room, "THREADED", threaded)
    numbers = pa.array(ROWS[rows], pa.int32())
    ids = (
        numbers.cast(pa.string()).cast(kind)
        if kind in ID_TYPES[2:6]
        else numbers.cast(pa.int64())
        .cast(pa.int32() if kind == pa.date32() else pa.int64())
        .cast(kind)
    )
    distinct = list(dict.fromkeys(ids.to_pylist()))
    for column in (
        ids,
        pa.chunked_array([ids[:6], ids[6:]], kind),
        pa.concat_arrays([ids, ids])[len(ids) :],
    ):
        codes, found = room.encode_ids("query_ids", column)
        assert found.to_pylist() == distinct
        assert codes.dtype == np.int64
        assert [distinct[code] for code in codes] == ids.to_pylist()


@settings(max_examples=15)
@ALL_EXCLUDED  # of one document
@given(
    st.one_of(
        st.lists(each, min_size=1, max_size=6, unique=True)
        for each in (
            st.binary(max_size=3),
            st.text(min_size=1, max_size=3),
            st.integers(-(2**63), 2**63 - 1),
        )
    )
)
@example([b"\xff", b"b"])
@example(["ü".encode(), b"z"])
def test_documents_with_equal_scores_have_one_order_by_docid(ids: list[Any]) -> None:
    in_order = sorted(
        ids, key=lambda each: each if isinstance(each, bytes) else str(each).encode()
    )[::-1]
    relevance = {each: grade for grade, each in enumerate(ids)}

    def by_position(documents: list[Any]) -> dict[str, float]:
        scores = [[-float(rank) for rank in range(len(documents))]]
        return compute(predictions=scores, references=[[relevance[each] for each in documents]])

    tied = {
        "predictions": [1.0] * len(ids),
        "references": list(relevance.values()),
        "query_ids": ["q"] * len(ids),
    }
    mappings = {"predictions": {"q": dict.fromkeys(ids, 1.0)}, "references": {"q": relevance}}
    for exclude, expected in (
        (None, in_order),
        ({"q": ids[:1]}, [each for each in in_order if each != ids[0]]),
    ):
        for inputs in (
            mappings,
            *({**tied, "document_ids": column(ids)} for column in (list, pa.array)),
        ):
            assert compute(**inputs, exclude=exclude, ties="docid") == pytest.approx(
                by_position(expected)
            )


def test_an_id_with_spaces_and_digits_is_one_id_if_no_part_is_known() -> None:
    rows = {"query_id": ["q", "q"], "doc_id": ["1984 2001", "7"], "score": [0.9, 0.5]}
    (value,) = compute(predictions=pd.DataFrame(rows), references={"q": {"7": 1}}).values()
    assert value == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("separator", [" ", ", ", ";", "|"])
def test_cells_of_both_sides_may_hold_several_ids(separator: str) -> None:
    run, qrels = separator.join(["a1", "b2"]), separator.join(["b2", "c3"])

    def table(*ids: str) -> pd.DataFrame:
        return pd.DataFrame({"query_id": "q", "doc_id": ids})

    with refusal("predictions"):
        compute(predictions=table(run), references=table(qrels))
    # An id in common tells that all cells are ids.
    compute(predictions=table(run, "x"), references=table(qrels, "x"))


@pytest.mark.parametrize(("place", "doubts"), [(0, 1), (4, 0)])
def test_the_document_of_a_query_s_own_id_is_doubtful_where_it_ranks_first(
    place: int, doubts: int
) -> None:
    run: dict[int, dict[int, int]] = {}
    for query in range(8):
        others = [document for document in range(8) if document != query]
        ranked = [*others[:place], query, *others[place:]]
        run[query] = dict(zip(ranked, range(8, 0, -1), strict=True))
    qrels = {query: {(query + 1) % 8: 1} for query in run}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        compute(predictions=run, references=qrels)
    assert len(caught) == doubts


@pytest.mark.parametrize("empty", [None, ""])
def test_a_column_without_any_id_of_a_document_is_not_read(empty: str | None) -> None:
    rows = [{"user": "q", "item": empty, "score": value, "label": 1 - value} for value in (0, 1)]
    flat = compute(data=rows, predictions="score", references="label", query_ids="user")
    assert flat == compute(predictions=[[0, 1]], references=[[1, 0]])
