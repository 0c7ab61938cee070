"""Columns without standard names: the first rows, with a choice above each column."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from visitor import Page, look, send, server

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

JUDGED = "Query;Doc;Relevance\nq1;a;3\nq1;b;0\nq2;c;1\nq2;d;2\n"
RUN = "topic,url,points\nq1,b,3.5\nq1,a,2\nq2,c,7\nq2,d,1\n"
READ = {"q1": {"a": 3, "b": 0}, "q2": {"c": 1, "d": 2}}
RANKED = {"q1": {"b": 3.5, "a": 2}, "q2": {"c": 7, "d": 1}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def table(page: Page, file: str) -> Any:
    """The choices above the columns of a file, their names, and the rows below."""
    (region,) = re.findall(rf'(?s)aria-label="Columns of {file}"><table>(.*?)</table>', page.source)
    header, *rows = re.findall("(?s)<tr>(.*?)</tr>", region)
    chosen = re.findall(r"<option[^>]* selected>(.*?)</option>", header)
    names = [" ".join(name.split()) for name in re.findall("(?s)</select><br>(.*?)</th>", header)]
    return chosen, names, [re.findall("<td>(.*?)</td>", row) for row in rows]


def choose(page: Page, file: str, column: str, role: str) -> Page:
    """Return the page after a choice above a column."""
    label = f'aria-label="What the column {column} of {file} holds"'
    (field,) = re.findall(rf"(?s){re.escape(label)}>(.*?)</select>", page.source)
    (link,) = Page(field).found(rf'<option value="(.*?)"(?: selected)?>{role}<')
    return look(link)


def test_the_first_three_rows_are_shown_with_what_is_known_of_their_columns() -> None:
    page = send(**{"run.csv": RUN, "qrels.csv": JUDGED})
    assert table(page, "qrels.csv") == (
        ["query", "–", "relevance"],
        ["Query", "Doc", "Relevance"],
        [["q1", "a", "3"], ["q1", "b", "0"], ["q2", "c", "1"]],
    )
    chosen, names, rows = table(page, "run.csv")
    assert (chosen, names, len(rows)) == (["query", "–", "–"], ["topic", "url", "points"], 3)


def test_columns_that_are_chosen_are_read(ndcg: Any) -> None:
    page = send(**{"run.csv": RUN, "qrels.csv": JUDGED})
    page = choose(page, "qrels.csv", "Doc", "document")
    page = choose(page, "run.csv", "url", "document")
    page = choose(page, "run.csv", "points", "score")
    score = ndcg.compute(predictions=RANKED, references=READ, k=10)["nDCG@10"]
    assert f"run has nDCG@10 {score:.3f}." in page.says("verdict")
    assert "Columns of" not in page.source
    # the address has them: a link shows the same
    assert f"run has nDCG@10 {score:.3f}." in look(page.address).text


def test_without_scores_the_order_may_count(ndcg: Any) -> None:
    page = send(**{"run.csv": RUN, "qrels.txt": "q1 0 a 1\nq2 0 c 1\n"})
    page = choose(page, "run.csv", "url", "document")
    page = page.follow("No column has scores: the order counts")
    run = {query: list(documents) for query, documents in RANKED.items()}
    judged = {"q1": {"a": 1}, "q2": {"c": 1}}
    score = ndcg.compute(predictions=run, references=judged, k=10)["nDCG@10"]
    assert f"run has nDCG@10 {score:.3f}." in page.text


def test_a_wrong_choice_can_be_changed() -> None:
    page = send(**{"run.csv": RUN, "qrels.txt": "q1 0 a 1\nq2 0 c 1\n"})
    page = choose(page, "run.csv", "points", "document")
    assert table(page, "run.csv")[0] == ["query", "–", "document"]
    page = choose(page, "run.csv", "points", "score")
    assert table(page, "run.csv")[0] == ["query", "–", "score"]
    assert table(choose(page, "run.csv", "points", "–"), "run.csv")[0] == ["query", "–", "–"]


def test_a_file_that_is_no_text_shows_its_first_row(folder: Path) -> None:
    columns = {"topic": ["q1", "q1"], "url": ["b", "a"], "points": [3.5, 2.0]}
    parquet.write_table(pa.table(columns), folder / "run.parquet")
    content = (folder / "run.parquet").read_bytes()
    files = [("files", ("run.parquet", content)), ("files", ("qrels.txt", b"q1 0 a 1\n"))]
    page = Page(server().post("/files?tab=compare", data={"text": ""}, files=files).text)
    chosen, names, rows = table(page, "run.parquet")
    assert (chosen, names, len(rows)) == (["query", "–", "–"], ["topic", "url", "points"], 1)


@pytest.mark.parametrize(
    "columns", ["[", "[]", '{"a": 1}', '{"a": {"rank": "x"}}', '{"a": {"query": 1}}', "1"]
)
def test_columns_of_an_address_that_are_none_get_a_note(columns: str) -> None:
    (note,) = look(f"?tab=compare&columns={columns}").notes
    assert note.startswith(f"columns={columns} was not read: it must ")
