"""Lists of scores and relevances as a file or pasted text: a batch is a run and its judgments."""

import json
import re
from pathlib import Path

import evaluate
import pytest
from visitor import send

from page.batch import Batch, read_batch

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

ANYTHING = {"run": {"1": {"d1": 1, "d2": 2}}, "judgments": {"1": {"d1": 1, "d2": 0}}}


def read(folder: Path, text: str | bytes) -> Batch:
    (folder / "b").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_batch(str(folder / "b"))


@pytest.mark.parametrize(
    "text",
    [
        '{"predictions": [[1, 2]], "references": [[1, 0]], "other": 1}',
        "[[1, 2]]\n[[1, 0]]",
        "[[1, 2]], [[1, 0]]",
        "{'predictions': [[1, 2]], 'references': [[1, 0]]}",
        '{"predictions": [1, 2], "references": [1, 0], "query_ids": [1, 1]}',
        '{"predictions": [[1], [2]], "references": [[1], [0]], "query_ids": ["1", "1"]}',
        '{"predictions": {"1": {"d1": 1, "d2": 2}}, "references": {"1": {"d1": 1, "d2": 0}}}',
        "predictions = [[1, 2]]\nreferences = [[1, 0]]  # of one query",
        "import json\n\npredictions = [\n    [1, 2],\n]\nreferences = [[1, 0]]\n",
        "query_id,prediction,reference\n1,1,1\n1,2,0\n",
        "\ufeffQuery_id;prediction;other;reference\n1;1;x;1\n1;2;;0\n",
        'query_id\t"prediction"\treference\r\n1\t1\t1\r\n1\t2\t0',
    ],
    ids=repr,
)
def test_a_batch_comes_as_json_as_python_or_as_csv(tmp_path: Path, text: str) -> None:
    batch = read(tmp_path, text)
    assert (batch.run, batch.judgments) == (ANYTHING["run"], ANYTHING["judgments"])


def test_what_was_not_retrieved_or_not_judged_is_left_out(tmp_path: Path) -> None:
    batch = read(tmp_path, "[[1, null]]\n[[null, 2]]")
    assert (batch.run, batch.judgments) == ({"1": {"d1": 1}}, {"1": {"d2": 2}})


def test_queries_have_the_ids_that_were_given(ndcg: evaluate.Metric) -> None:
    lists = {
        "predictions": [1, 2, 3, 4],
        "references": [1, 0, 0, 1],
        "query_ids": ["b", "a", "b", "a"],
    }
    page = send(**{"batch.json": json.dumps(lists)})
    values = ndcg.compute(**lists, k=10, use_aggregator=False)["nDCG@10"]
    grid = re.findall(r'<tr data-query="(\w)">.*?<span>([\d.]+)<', page.source.replace("\n", " "))
    assert dict(grid) == {name: f"{value:.3f}" for name, value in zip("ba", values, strict=True)}
    mean = ndcg.compute(**lists, k=10)["nDCG@10"]
    assert f"batch has nDCG@10 {mean:.3f}." in page.says("verdict")


def test_labels_are_scored_by_their_gains() -> None:
    text = "prediction,reference,query_id\n3,no,a\n2,yes,a\n1,,a\n5,2,b\n"
    page = send("?tab=compare&gain=yes=2,no=0,2=1", **{"batch.csv": text})
    grid = re.findall(r'<tr data-query="(\w)">.*?<span>([\d.]+)<', page.source.replace("\n", " "))
    assert dict(grid) == {"a": "0.631", "b": "1.000"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Empty CSV file"),
        (b"a,b\n1,2\n", "has no list or mapping of predictions"),
        (
            b"prediction,reference,query_id\n2026-01-01,1,q\n",
            "CSV conversion error to double: invalid value '2026-01-01'",
        ),
        (
            b"prediction,reference\n1,1\n",
            "predictions must be a list per query; for one flat list, give query_ids",
        ),
        (b"prediction,reference\n1,2,3\n", "CSV parse error: Expected 2 columns, got 3: 1,2,3"),
        (b"," * 99, "holds too many columns"),
        (b"PAR1\xff", "is not text in UTF-8; give CSV or JSON"),
        (b'{"predictions": []}', "has no list or mapping of references"),
        (b'{"predictions": 1, "references": []}', "has no list or mapping of predictions"),
        (b'{"predictions": [', "Expecting value: line 1 column 18"),
        (b"[1]", "has no list or mapping of predictions"),
        (
            b'{"predictions": [[1]], "references": [[1]], "weights": [2]}',
            "has weights, which the page does not use; leave them out",
        ),
        (
            b'{"predictions": [[1]], "references": [[1]], "query_ids": 5}',
            "query_ids must be a list of as many ids as predictions, 1; got 5",
        ),
        (
            b'{"predictions": [1, 2], "references": [1, 0], "query_ids": ["a"]}',
            r"query_ids must be a list of as many ids as predictions, 2; got \['a'\]",
        ),
        (b"[[1]]\n{[1]: 2}", "Expecting property name"),
        (b"predictions = {[1]: 2}\nreferences = [[1]]", "is neither JSON nor Python with lists"),
        (b"predictions = f(x)\nreferences = [[1]]", "is neither JSON nor Python with lists"),
        (
            b"[[1, 2]]\n[[1]]",
            "query 1: predictions and references differ in length, 2 and 1; give both",
        ),
        (
            b'{"predictions": [[]' + b", []" * 20_000 + b'], "references": []}',
            "too many queries: the limit here is 20,000",
        ),
        (b'{"predictions":' + b"[" * 100_000, "maximum recursion depth exceeded"),
        (b" " * 20_000_001, "holds too many bytes: the limit here is 20,000,000"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_batch_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^b: .*{message}") as caught:
        read(tmp_path, content)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "query", "said"),
    [
        ("[[2, 1]]\n[[1, -1]]", "", "is negative"),
        ("[[2, 1]]\n[[1, 0]]", "&k=all&gain=exponential", "has nDCG 1.000."),
        (
            "[[2, 1]]\n[[0, 0]]",
            "&zero_division=nan",
            'No relevant documents set to "skipped" excludes',
        ),
        ("[[2, 1]]\n[['yes', 'no']]", "", "'yes' is not a number"),
        (
            "[[2, 1]]\n[['yes', 'no']]",
            "&gain=no=0",
            "'yes' is a label without a gain; Gain has 'no'",
        ),
    ],
)
def test_results_and_errors_are_in_the_words_of_the_page(text: str, query: str, said: str) -> None:
    assert said in send(f"?tab=compare{query}", text=text).text


def test_a_negative_relevance_is_counted_as_0_by_one_press() -> None:
    page = send(text="[[2, 1]]\n[[1, -1]]")
    assert "pasted has nDCG@10 1.000." in page.follow("Count a negative relevance as 0").text
