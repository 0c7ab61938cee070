"""How long the page takes to answer when many people use it, also while one uploads a large run.

Run it as `python benchmarks/visitors.py http://127.0.0.1:7860/`, with the address of a page that
runs. A browser opens the page and moves a card, and its requests are recorded. Each visitor then
sends the same requests, in its own session: first all requests of a first visit, then a move every
few seconds.
"""

import asyncio
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import sync_playwright

CROWD = 100
PAUSE = 5.0  # seconds between two moves of a visitor, in the mean
SECONDS = 30.0  # of moves
CONNECTIONS = 6  # of a browser to a server
KEPT = 4.0  # seconds that a connection stays open, less than the server's five
ROWS = 500_000  # as many as the page accepts
QUERIES = 5_000


class Visit(NamedTuple):
    """The requests of a visit.

    Attributes:
        paths: everything that a first visit loads, the page itself first.
        move: the path of the request that a move of a card makes, and its JSON.
    """

    paths: list[str]
    move: tuple[str, dict[str, Any]]


def record(url: str) -> Visit:
    """Open the page in a browser, move a card, and return the requests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        asked: list[Any] = []
        page.on("request", asked.append)
        page.goto(url)
        page.locator("#picture .grip").nth(1).wait_for()
        page.wait_for_timeout(3000)
        paths = [
            request.url.removeprefix(url)
            for request in asked
            if request.method == "GET" and "/heartbeat/" not in request.url
        ]
        asked.clear()
        page.locator("#picture .grip").first.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(2000)
        moves = [request for request in asked if request.method == "POST"]
        browser.close()
    return Visit(paths, (moves[0].url.removeprefix(url), json.loads(moves[0].post_data)))


async def timed(client: httpx.AsyncClient, method: str, path: str, **what: Any) -> float:
    """Return the milliseconds that a request takes to its end; raise an answer that is an error."""
    start = time.perf_counter()
    answer = await client.request(method, path, **what)
    answer.raise_for_status()
    return 1000 * (time.perf_counter() - start)


async def arrive(client: httpx.AsyncClient, visit: Visit) -> tuple[float, float]:
    """Return the milliseconds until the page has its first score, and until it is complete."""
    start = time.perf_counter()
    first = await timed(client, "GET", visit.paths[0])
    await asyncio.gather(*[timed(client, "GET", path) for path in visit.paths[1:]])
    return first, 1000 * (time.perf_counter() - start)


async def move(client: httpx.AsyncClient, visit: Visit, until: float) -> list[float]:
    """Move a card again and again, and return the milliseconds of each answer."""
    path, given = visit.move
    inputs = {**given, "session_hash": f"{random.getrandbits(52):x}"}
    times = []
    while True:
        await asyncio.sleep(random.uniform(0, 2 * PAUSE))  # noqa: S311 - no secret
        if time.perf_counter() > until:
            return times
        times.append(await timed(client, "POST", path, json=inputs))


def lines(kind: str) -> Iterator[str]:
    """Yield the lines of a run or of its qrels, with as many rows as the page accepts."""
    retrieved = ROWS // QUERIES
    for query in range(QUERIES):
        for rank in range(retrieved):
            document = f"document-{(query * 7 + rank * 13) % 100_000:06d}"
            if kind == "run":
                yield f"{query} Q0 {document} {rank + 1} {retrieved - rank}.5 bench\n"
            elif rank % 10 == 0:
                yield f"{query} 0 {document} {rank % 4}\n"


async def upload(client: httpx.AsyncClient, files: list[Any]) -> tuple[float, float]:
    """Upload and score a run, and return the milliseconds of both."""
    start = time.perf_counter()
    paths = (await client.post("gradio_api/upload", files=files)).raise_for_status().json()
    sent = time.perf_counter()
    qrels, run = ({"path": path, "meta": {"_type": "gradio.FileData"}} for path in paths)
    call = await client.post("gradio_api/call/v2/score_run", json={"qrels": qrels, "run": run})
    event = call.raise_for_status().json()["event_id"]
    answer = (await client.get(f"gradio_api/call/score_run/{event}")).raise_for_status().text
    if "event: complete" not in answer:
        raise RuntimeError(answer[-500:])
    return 1000 * (sent - start), 1000 * (time.perf_counter() - sent)


def row(what: str, times: Sequence[float]) -> str:
    """Return the median, the ninth decile and the maximum of times as a row of a table."""
    tenth = quantiles(times, n=10, method="inclusive")[-1] if len(times) > 1 else times[0]
    return (
        f"| {what} | {len(times):,} | {median(times):.0f} ms | {tenth:.0f} ms | "
        f"{max(times):.0f} ms |"
    )


async def measure(url: str, visit: Visit) -> None:
    """Print a table of the times of one visitor, of a crowd, and of a crowd next to uploads."""
    files = [("files", (f"{kind}.txt", "".join(lines(kind)).encode())) for kind in ("qrels", "run")]
    size = f"{len(files[1][1][1]) / 1e6:.0f} MB"
    print("| | answers | median | 90% below | longest |\n|---|---:|---:|---:|---:|")
    for visitors, uploads in ((1, False), (CROWD, False), (CROWD, True)):
        limits = httpx.Limits(max_connections=CONNECTIONS, keepalive_expiry=KEPT)
        clients = [
            httpx.AsyncClient(base_url=url, timeout=120, limits=limits)
            for _ in range(visitors + uploads)
        ]
        name = f"{visitors} visitors at once" if visitors > 1 else "one visitor"
        if not uploads:
            first, whole = zip(
                *await asyncio.gather(*[arrive(client, visit) for client in clients]), strict=True
            )
            print(row(f"{name}: the page with its first score", first))
            print(row(f"{name}: all {len(visit.paths)} files of the page", whole))
        until = time.perf_counter() + SECONDS
        moving = asyncio.gather(*[move(client, visit, until) for client in clients[:visitors]])
        times = []
        while uploads and time.perf_counter() < until:
            times.append(await upload(clients[-1], files))
            await asyncio.sleep(PAUSE)
        moved = [time for times_of_one in await moving for time in times_of_one]
        print(
            row(
                f"{name}{f', while one uploads {size}' * uploads}: a move of a card to its answer",
                moved,
            )
        )
        if times:
            sent, scored = zip(*times, strict=True)
            print(row(f"the upload of {size} next to {visitors} visitors", sent))
            print(row(f"the score of its {ROWS:,} rows", scored))
        for client in clients:
            await client.aclose()
    print(
        f"\nEach visitor moves a card every {PAUSE:.0f} s. "
        f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    )


if __name__ == "__main__":
    address = sys.argv[1]
    asyncio.run(measure(address, record(address)))
