"""Shared by the tests of the page: a real server, a real browser, and a visit.

A visit ends with a look at its errors.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, lean_environment

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox"]
ARGUMENTS += [
    f"--disable-{each}"
    for each in ("gpu", "quic", "background-networking", "component-update", "sync")
]
PATIENCE = 120_000  # milliseconds
PLAIN = "?rel=3,2,3,0,1,2"  # of documents d1 to d6
EVIL = "<img/src=x/onerror=alert(1)>"
QRELS = f"q1 0 d1 2\nq1 0 d2 0\nq1 0 d9 1\nq2 0 {EVIL} 1\nq3 0 d1 1\nq3 0 d2 0\n"
RUNS = {
    "bm25": "q1 Q0 d1 1 1 t\nq1 Q0 d2 2 1 t\nq1 Q0 d5 3 0.5 t\n"
    f"q2 Q0 {EVIL} 2 1 t\nq2 Q0 d3 1 2 t\nq3 Q0 d1 1 3 t\n",
    "dense": "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d3 1 2 t\nq4 Q0 d1 1 3 t\n",
}


class Server:
    """The app of the tree that `make space` builds, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "app.log"
        with (
            socket.socket() as free
        ):  # of two servers that look for a port at the same time, one would find none
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        environment = lean_environment(
            GRADIO_SERVER_NAME="127.0.0.1",
            GRADIO_SERVER_PORT=port,
            GRADIO_TEMP_DIR=str(folder / "gradio"),
            PYTHONUNBUFFERED="1",
        )
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py"],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.url = f"http://127.0.0.1:{port}/"
        while self.url[:-1] not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)

    @property
    def memory(self) -> int:
        """Resident bytes of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0])


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    copy = tmp_path_factory.mktemp("space") / "project"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "tests")
    )
    subprocess.run(["make", "space", "NAME=nDCG"], cwd=copy, check=True, capture_output=True)
    running = Server(copy / "dist" / "space")
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


Opener = Callable[..., Any]
# an answer waits up to this many milliseconds, and so does what is asked
LATE = int(os.environ.get("LATE_ANSWERS", "0"))
SCRIPT = """
window.underway = 0;
const ask = window.fetch;
const sleep = () => new Promise(go => setTimeout(go, LATE * Math.random()));
const wait = () => LATE && Math.random() < .5 && sleep();
window.fetch = async (...request) => {
  ++window.underway;
  try {
    await wait();
    const answer = await ask(...request);
    await wait();
    return answer;
  } finally {
    setTimeout(() => --window.underway);  // once the page has the answer
  }
};
// an answer that is cut off when the visitor leaves the page is not an error
addEventListener("beforeunload", () => { console.error = () => {}; });
""".replace("LATE", str(LATE))


class Tabs:
    """Tabs of the browser, used again.

    A page loads in half the time in a tab that has loaded it before.
    """

    def __init__(self, browser: Any, url: str) -> None:
        self.browser, self.url = browser, url
        self.contexts: dict[tuple[int, str], Any] = {}
        self.problems: list[str] = []

    def all(self, width: int, scheme: str) -> Iterator[Any]:
        """The tabs of this width and scheme, and new ones after them."""
        look = width, scheme
        if look not in self.contexts:
            self.contexts[look] = self.context(scheme)
        yield from self.contexts[look].pages
        while True:
            yield self.contexts[look].new_page()

    def context(self, scheme: str) -> Any:
        """Return what notes each request to another host, error and dialog in any of its tabs."""

        def note(problem: str, is_one: bool = True) -> None:
            if is_one:
                self.problems.append(problem)

        ours = (self.url, "data:", "blob:")
        context = self.browser.new_context(color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(SCRIPT)
        context.on(
            "request", lambda request: note(f"asks {request.url}", not request.url.startswith(ours))
        )
        context.on("console", lambda message: note(message.text, message.type == "error"))
        context.on("weberror", lambda error: note(f"page error: {error.error}"))
        context.on("dialog", lambda dialog: (note(f"dialog: {dialog.message}"), dialog.dismiss()))
        return context


@pytest.fixture(scope="package")
def tabs(browser: Any, server: Server) -> Tabs:
    return Tabs(browser, server.url)


@pytest.fixture
def expected() -> list[str]:
    """A list to which a test adds the text of each console error that it expects."""
    return []


@pytest.fixture
def visit(tabs: Tabs, expected: list[str]) -> Iterator[Opener]:
    """Opens the page, each time in another tab.

    Afterwards it asserts that nothing was asked of other hosts, and that no tab had an error, other
    than those that the test expects.
    """
    used: list[Any] = []

    def open_page(query: str = "", width: int = 1280, scheme: str = "light") -> Any:
        page = next(tab for tab in tabs.all(width, scheme) if tab not in used)
        used.append(page)
        page.bring_to_front()  # hidden tabs draw no frames
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(tabs.url + query)
        return page

    yield open_page
    for page in used:
        come_to_rest(page)
    problems = tabs.problems.copy()  # none of an answer that is cut off when the page is left
    for page in used:
        page.goto("about:blank")  # requests that are still open belong to this test
    tabs.problems.clear()
    assert [each for each in problems if not any(text in each for text in expected)] == []
    assert [text for text in expected if not any(text in each for each in problems)] == []


def come_to_rest(page: Any) -> None:
    """Wait until the server has answered all that was asked."""
    page.wait_for_function("() => !window.underway && !document.querySelector('.busy')")


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text(QRELS)
    for name, lines in RUNS.items():
        (folder / f"{name}.run").write_text(lines)
    return folder
