"""The Space: its tree, loaded from a Hub as evaluate loads it, and its page."""

import http.server
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import ROOT, lean_environment
from markdown_pages import dead_links
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOAD = """
import sys
from importlib.machinery import PathFinder

find, absent = PathFinder.find_spec, set(sys.argv[1:])
PathFinder.find_spec = lambda name, *where: None if name in absent else find(name, *where)
import evaluate

ndcg = evaluate.load("user/nDCG")
assert "user--nDCG" in type(ndcg).__module__, type(ndcg).__module__
one = {"predictions": [[1, 1, 0, 0, 0]], "references": [[1, 0, 0, 0, 0]]}
print(ndcg.name, ndcg.compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]]))
ndcg.add_batch(**one)
print(ndcg.compute(k=1), ndcg.compute(**one, k=1, engine="sklearn"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, in which make may build."""
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "tests")
    )
    return copy


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def built(project: Path, name: str) -> Path:
    """The tree that `make space` builds, without what was there before."""
    tree = project / "dist" / "space"
    tree.mkdir(parents=True, exist_ok=True)
    (tree / "old.py").touch()
    subprocess.run(["make", "space", f"NAME={name}"], cwd=project, check=True, capture_output=True)
    return tree


@pytest.fixture(scope="module")
def space(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.move(built(project, "nDCG"), tmp_path_factory.mktemp("space") / "tree")


class Hub(http.server.SimpleHTTPRequestHandler):
    """A Hub that has files in a folder, and lists the requests at its server."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        self.server.requests.append((self.command, self.path, int(code)))

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def hub(space: Path, tmp_path: Path) -> Iterator[Any]:
    folder = tmp_path / "hub" / "spaces" / "user" / "nDCG" / "resolve"
    folder.mkdir(parents=True)
    (folder / "main").symlink_to(space)
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Hub, directory=tmp_path / "hub")
    ) as server:
        server.requests = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_tree_holds_what_a_space_needs_and_nothing_else(space: Path) -> None:
    modules = {"app.py", "nDCG.py", "ndcg_bundle.py"}
    benchmarks = ("AGREEMENT.md", "EXPLANATIONS.md", "RESULTS.md", "SCALE.md", "SIMULATIONS.md")
    pictures = ("comparison.png", "coverage.png", "growth.png", "power.png")
    linked = {f"benchmarks/{name}" for name in (*benchmarks, *pictures)}
    patterns = (
        "conformance/[!.]*.* conformance/runners/*.py docs/*.md docs/images/*.webp "
        "examples/*.* page/*.py"
    )
    for pattern in (*patterns.split(), "page/samples/*", "page/static/*", "page/templates/*"):
        linked |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)}
    expected = {"README.md", "CONTRIBUTING.md", "requirements.txt", "LICENSE", *modules, *linked}
    assert files_in(space) == expected
    for name in expected:
        assert (space / name).read_bytes() == (
            ROOT / name.replace("nDCG.py", "ndcg.py")
        ).read_bytes()


def test_every_link_of_the_tree_leads_somewhere(space: Path) -> None:
    pages = list(space.rglob("*.md"))
    assert len(pages) > 5
    assert [link for page in pages for link in dead_links(page)] == []


def not_required() -> list[str]:
    """The modules that are installed here but not in requirements.txt."""
    waiting = [
        Requirement(line)
        for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    ]
    required: set[tuple[str, str]] = set()
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        for extra in {(name, extra) for extra in each.extras or {""}} - required:
            required.add(extra)
            needed = map(Requirement, metadata.requires(name) or [])
            waiting += [
                one
                for one in needed
                if one.marker is None or one.marker.evaluate({"extra": extra[1]})
            ]
    names = {name for name, _ in required}
    modules = metadata.packages_distributions().items()
    return [
        name
        for name, owners in modules
        if not names & {canonicalize_name(owner) for owner in owners}
    ]


@pytest.mark.slow
def test_evaluate_loads_the_metric_from_a_hub_with_the_requirements_alone(
    hub: Any, tmp_path: Path
) -> None:
    environment = {
        name: value for name, value in lean_environment().items() if not name.startswith("HF_")
    } | {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "1",  # the tests' own setting; evaluate has another one
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    others = not_required()
    assert {"polars", "pytest"} <= set(others)

    def load() -> list[str]:
        # in a directory of its own, or "user/nDCG" could be a path
        command = [sys.executable, "-c", LOAD, *others]
        process = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr
        return process.stdout.splitlines()

    assert load() == ["ndcg {'nDCG': 0.6956940443813076}", "{'nDCG@1': 0.5} {'nDCG@1': 0.5}"]
    base = "/spaces/user/nDCG/resolve"
    assert hub.requests[0] == ("HEAD", f"{base}/v{evaluate.__version__}/nDCG.py", 404)
    assert {status for _, _, status in hub.requests[1:]} == {200}
    fetched = [path for method, path, _ in hub.requests if method == "GET"]
    assert fetched == [f"{base}/main/{name}.py" for name in ("nDCG", "ndcg_bundle")]
    assert len(hub.requests) <= 6
    hub.requests.clear()
    load()
    assert len(hub.requests) <= 4


def test_a_dry_run_of_publishing_lists_what_would_go(project: Path) -> None:
    tree = built(project, "ranker")
    assert (tree / "ranker.py").is_file()
    assert not (tree / "nDCG.py").exists()

    def publish(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "scripts/publish.py", "--dry-run", name]
        return subprocess.run(
            command,
            cwd=project,
            capture_output=True,
            text=True,
            env={**os.environ, "HF_TOKEN": ""},
            check=False,
        )

    listed = publish("user/ranker")
    assert listed.returncode == 0, listed.stderr
    assert {line.split()[0] for line in listed.stdout.splitlines()} == files_in(tree)
    assert all(line.endswith("-> user/ranker") for line in listed.stdout.splitlines())
    for wrong, message in (
        ("ranker", "must be given as user/nDCG"),
        ("user/other", "make space NAME=other"),
    ):
        rejected = publish(wrong)
        assert rejected.returncode == 2
        assert message in rejected.stderr


def test_the_space_installs_what_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = [extras[name] for name in ("app", "evaluate", "report", "sklearn")]
    needed = {*project["dependencies"], *chain.from_iterable(named)}
    wanted = {
        each for each in needed if not each.startswith(("ndcg[", "matplotlib"))
    }  # the page draws by itself
    assert set((ROOT / "requirements.txt").read_text(encoding="utf-8").split()) == wanted
