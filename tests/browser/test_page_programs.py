"""The page as programs use it, and the work that it asks of the server and of the line."""

import asyncio
import gzip
import html
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import ROOT

from .conftest import PATIENCE, QRELS, RUNS, Server
from .visits import BROWSER, TEXTBOOK

pytestmark = [*BROWSER, pytest.mark.xdist_group("compare")]


@pytest.fixture(scope="package")
def client(server: Server) -> Any:
    from gradio_client import Client

    return Client(server.url, verbose=False)


another_client = client  # a client's own calls at the same time can lose an answer


CHOSEN = {
    "ties": "docid",
    "judged_only": True,
    "gain": "exponential",
    "negative_relevance": "clip",
    "log_base": 10,
}


def test_a_client_scores_lists(client: Any, ndcg: evaluate.Metric) -> None:
    from gradio_client.exceptions import AppError

    unlike = {"predictions": [[6, 5, 5, 3, 2, 1]], "references": [[3, -2, None, 0, 1, 2]]}
    chosen = {**CHOSEN, "ties": "first"}
    for given, k, options in (
        (TEXTBOOK, "3,10", {}),
        (TEXTBOOK, "", {"convention": "rax"}),
        (unlike, "4", chosen),
    ):
        how = {"k": [int(each) for each in k.split(",") if each] or None, **options}
        result = client.predict(**given, k=k, **options, api_name="/score")
        assert result == {**ndcg.compute(**given, **how), "signature": ndcg.signature(**how)}
    with pytest.raises(AppError, match="predictions and references differ in length, 2 and 6"):
        client.predict(**{**TEXTBOOK, "predictions": [[1, 2]]}, api_name="/score")


def test_a_client_scores_and_compares_files_and_texts(
    client: Any, ndcg: evaluate.Metric, files: Path
) -> None:
    from gradio_client import handle_file

    paths = {"predictions": files / "bm25.run", "references": files / "qrels.txt"}
    run, qrels = map(handle_file, paths.values())
    result = client.predict(run, qrels, "5,10", "sklearn", api_name="/score_run")
    expected = ndcg.report(**paths, k=[5, 10]).to_dict()
    assert result == {name: each for name, each in expected.items() if name != "queries"} | {
        "notes": result["notes"]
    }
    value = ndcg.compute(**paths, k=10, **CHOSEN)["nDCG@10"]
    result = client.predict(run, qrels, **CHOSEN, api_name="/score_run")
    assert result["scores"]["nDCG@10"]["value"] == value
    runs = [handle_file(files / f"{name}.run") for name in RUNS]
    result = client.predict(runs, qrels, **CHOSEN, api_name="/compare")
    assert result["scores"].keys() == RUNS.keys()
    assert result["scores"]["bm25"]["nDCG@10"]["value"] == value
    result = client.predict(RUNS["bm25"], QRELS, per_query=True, api_name="/score_run")
    assert result["queries"] == ndcg.report(**paths, k=10).to_dict()["queries"]


def get(request: str | urllib.request.Request) -> str:
    with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as response:
        return str(response.read().decode())


def post(server: Server, name: str, given: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    address = f"{server.url}gradio_api/call/{name}"
    return json.loads(get(urllib.request.Request(address, json.dumps(given).encode(), headers)))


def ask(server: Server, name: str, given: dict[str, Any]) -> str:
    """Ask a function by HTTP, with the names of its parameters; return its events."""
    return get(
        f"{server.url}gradio_api/call/{name}/{post(server, f'v2/{name}', given)['event_id']}"
    )


def test_a_path_of_the_server_is_never_read(server: Server) -> None:
    path = str(ROOT / "README.md")
    for given in ({"path": path}, {"path": path, "meta": {"_type": "gradio.FileData"}}, path):
        answer = ask(server, "score_run", {"run": given, "qrels": QRELS})
        assert answer.startswith("event: error"), answer
        assert "license" not in answer


def test_the_documentation_shows_calls_to_the_address_of_the_page(
    server: Server, ndcg: evaluate.Metric
) -> None:
    document = "docs/space.md"
    page = get(f"{server.url}docs/{document}")
    shell = html.unescape(re.findall(r'(?s)<code class="language-sh">(answer=.*?)</code>', page)[0])
    assert server.url in shell
    ran = subprocess.run(
        ["bash", "-c", shell], check=True, capture_output=True, text=True, timeout=60
    )
    expected = ndcg.compute(predictions=[[0.9, 0.1, 0.5]], references=[[1, 0, 2]], k=[1, 3])
    answer = ran.stdout.partition("data: ")[2]
    assert expected.items() <= json.loads(answer)[0].items()


def test_a_tool_of_an_agent_answers_in_json(
    server: Server, ndcg: evaluate.Metric, files: Path
) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def call() -> tuple[dict[str, Any], list[Any]]:
        address = f"{server.url}gradio_api/mcp/"
        async with (
            streamablehttp_client(address) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {
                tool.name.removeprefix("nDCG_"): tool for tool in (await session.list_tools()).tools
            }
            coded = "data:;base64," + b64encode(gzip.compress(QRELS.encode())).decode()
            calls = [
                ("score", {**TEXTBOOK, "k": "10"}),
                (
                    "compare",
                    {"runs": RUNS, "qrels": coded, "zero_division": "nan", "per_query": True},
                ),
                ("compare", {"runs": RUNS, "qrels": "junk"}),
            ]
            answers = [await session.call_tool(tools[name].name, given) for name, given in calls]
            return {name: tool.inputSchema for name, tool in tools.items()}, [
                each.content[0].text for each in answers
            ]

    with ThreadPoolExecutor(1) as thread:  # Playwright has an event loop in this one
        schemas, (scored, compared, refused) = thread.submit(lambda: asyncio.run(call())).result()
    assert set(schemas) == {"score", "score_run", "compare", "explain"}
    assert all(
        each["description"] for schema in schemas.values() for each in schema["properties"].values()
    )
    assert json.loads(scored) == {
        **ndcg.compute(**TEXTBOOK, k=10),
        "signature": ndcg.signature(k=10),
    }
    systems = {name: files / f"{name}.run" for name in RUNS}
    (pair,) = ndcg.compare(
        systems=systems, references=files / "qrels.txt", k=10, missing="empty"
    ).pairs
    answer = json.loads(compared)
    assert answer["pairs"][0]["difference"] == pytest.approx(pair.difference)
    assert len(answer["queries"]["query"]) == 6
    assert "qrels: line 1: 1 column" in refused


@pytest.mark.parametrize(
    ("name", "given", "status", "message"),
    [
        (
            "v2/score",
            {"references": [[1]]},
            422,
            "score: predictions is missing; its parameters are pred",
        ),
        (
            "v2/score",
            {**TEXTBOOK, "cutofs": "3"},
            422,
            "score: unknown parameter 'cutofs'; its parameters are pred",
        ),
        (
            "v2/score_run",
            {"run": "", "empty": 1},
            422,
            "score_run: unknown parameter 'empty'; qrels is missing",
        ),
        ("v2/compare", {}, 422, "compare: qrels is missing; runs is missing"),
        (
            "v2/scor",
            TEXTBOOK,
            404,
            "there is no function 'scor'; call score, score_run, compare, explain",
        ),
        ("scor", {"data": []}, 404, "there is no function 'scor'"),
    ],
)
def test_an_error_names_the_parameter_that_is_missing_or_unknown(
    server: Server, name: str, given: dict[str, Any], status: int, message: str
) -> None:
    with pytest.raises(urllib.error.HTTPError) as answered:
        post(server, name, given)
    assert answered.value.code == status
    assert json.load(answered.value)["detail"].startswith(message)


LINE = b"q1 Q0 d1 1 1.0 t\n"


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("large.run", lambda: LINE * 1_300_000, "413|exceed"),  # 22 MB
        (
            "bomb.run.gz",
            lambda: gzip.compress(LINE * 6_800_000),
            "bomb.run.gz: ",
        ),  # 300 KB, of 116 MB
        ("junk.parquet", lambda: os.urandom(100_000), "junk.parquet"),
    ],
)
def test_a_hostile_upload_is_rejected_while_others_go_on(
    client: Any,
    another_client: Any,
    ndcg: evaluate.Metric,
    tmp_path: Path,
    name: str,
    make: Any,
    message: str,
) -> None:
    from gradio_client import handle_file

    (tmp_path / name).write_bytes(make())
    with ThreadPoolExecutor(1) as other:
        scores = other.map(
            lambda _: another_client.predict(**TEXTBOOK, k="10", api_name="/score"), range(10)
        )
        with pytest.raises(Exception, match=f"(?i){message}") as caught:
            client.predict(handle_file(tmp_path / name), QRELS, "10", api_name="/score_run")
        assert "Traceback" not in str(caught.value)
        assert {each["nDCG@10"] for each in scores} == {ndcg.compute(**TEXTBOOK, k=10)["nDCG@10"]}


def test_many_clients_at_once_get_right_answers(server: Server, ndcg: evaluate.Metric) -> None:
    expected = [ndcg.compute(**TEXTBOOK, k=k)[f"nDCG@{k}"] for k in range(1, 7)]

    def score_over_http(request: int) -> None:
        k = 1 + request % 6
        *beats, last = ask(server, "score", {**TEXTBOOK, "k": str(k)}).strip().split("\n\n")
        assert all(beat.startswith("event: heartbeat") for beat in beats)  # while a client waits
        assert last.startswith("event: complete"), last
        assert json.loads(last.partition("data: ")[2])[0][f"nDCG@{k}"] == expected[k - 1]

    with ThreadPoolExecutor(50) as clients:
        assert len([*clients.map(score_over_http, range(250))]) == 250
        before = server.memory  # with a thread and its memory for each client
        assert len([*clients.map(score_over_http, range(250))]) == 250
    assert server.memory < 1.2 * before, (before, server.memory)
