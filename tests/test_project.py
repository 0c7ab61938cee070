"""The project around the code: versions, make targets, the front matter, tracked files, docstrings."""

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator

import conftest
import pytest
import yaml
from conftest import ROOT

ROOMS = (
    "batch_file.py",
    "batches.py",
    "columns.py",
    "comparison.py",
    "compute.py",
    "conventions.py",
    "evaluator.py",
    "files.py",
    "frames.py",
    "hashes.py",
    "joining.py",
    "messages.py",
    "meter.py",
    "mteb_files.py",
    "options.py",
    "queries.py",
    "ranked_ids.py",
    "rankings.py",
    "report.py",
    "scorer.py",
    "scoring.py",
    "significance.py",
    "slices.py",
    "spark.py",
    "ties.py",
    "trainer.py",
)
SHELL = ("command_line.py", "commands.py")  # rooms of the package only
PAGE = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("page/*.py"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """What options.py says, without importing it."""
    values = [
        ast.literal_eval(statement.value)
        for statement in ast.parse(text("options.py")).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__version__"
    ]
    assert len(values) == 1
    assert isinstance(values[0], str)
    return values[0]


def test_changelog_citation_and_metric_are_of_one_version() -> None:
    headings = re.findall(r"^## \[(.+?)\] - (.+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0][0] == version()
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in headings[1:])
    assert headings[-1][0] == "1.0.0"
    assert yaml.safe_load(text("CITATION.cff"))["version"] == version()


def test_the_version_is_semantic_and_no_tag_of_evaluate() -> None:
    assert re.fullmatch(r"[1-9]\d*\.\d+\.\d+", version())


def test_the_version_stands_in_one_place_of_the_code() -> None:
    project = text("pyproject.toml")
    assert re.search(r"^dynamic = .*version", project, re.MULTILINE)
    assert version() not in project


def test_make_help_lists_every_target() -> None:
    phony = re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)
    targets = [target for line in phony for target in line.split()]
    assert {"help", "demo", "test", "check", "app", "space", "clean"} <= set(targets)
    for arguments in (["help"], []):  # it is what make does when asked for nothing
        process = subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
        listed = re.findall(r"^\s*make (\S+)\s+\S.*$", process.stdout, re.MULTILINE)
        assert sorted({*listed, "help"}) == sorted(targets)


def test_one_floor_of_python_stands_everywhere() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    floor = project["project"]["requires-python"].removeprefix(">=")
    assert project["tool"]["ruff"]["target-version"] == "py" + floor.replace(".", "")
    assert re.findall(r"^OLDEST_PYTHON \?= python(.*)$", text("Makefile"), re.MULTILINE) == [floor]
    assert f"on a machine with Python {floor}" in text("README.md")
    assert front_matter()["python_version"] == floor


def front_matter() -> dict[str, object]:
    opening, matter, _ = text("README.md").split("---\n", 2)
    assert opening == ""
    values = yaml.safe_load(matter)
    assert isinstance(values, dict)
    return values


def test_the_front_matter_of_the_readme_makes_a_space() -> None:
    values = front_matter()
    assert values["title"] == "nDCG"
    assert values["sdk"] == "gradio"
    assert values["license"] == "mit"
    assert values["tags"] == ["evaluate", "metric", "ranking"]
    assert (ROOT / str(values["app_file"])).name == "app.py"
    assert (ROOT / str(values["app_file"])).is_file()
    # a number would read 3.20 as 3.2
    assert isinstance(values["python_version"], str)
    assert re.fullmatch(r"3\.\d+(\.\d+)?", values["python_version"])


def test_the_space_runs_the_gradio_that_is_tested() -> None:
    pinned = re.findall(r'"gradio\[mcp\]==([\d.]+)"', text("pyproject.toml"))
    assert len(pinned) == 1
    assert front_matter()["sdk_version"] == pinned[0]


def test_no_tracked_file_holds_a_path_of_some_machine() -> None:
    # -z: names as they are, not quoted
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert "ndcg.py" in names
    machine = re.compile(r"(?<![\w.}])(?:/(?:home|Users|root|work|tmp|mnt|private)/\w|[A-Z]:\\\w)")
    found = []
    for name in names:
        try:
            content = text(name)
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {match.group()}" for match in machine.finditer(content)]
    assert found == []


def undocumented(node: ast.AST, path: str) -> Iterator[str]:
    """Public functions, classes and methods without a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{path}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{path}{child.name}.")


@pytest.mark.parametrize("module", [*ROOMS, *SHELL, "ndcg.py", "app.py", *PAGE, "package.py", "publish.py"])
def test_everything_public_has_a_docstring(module: str) -> None:
    tree = ast.parse(text(module))
    assert ast.get_docstring(tree)
    assert list(undocumented(tree, "")) == []


FLOORS = {
    **{path.stem: 0 for path in ROOT.glob("*.py")},
    "columns": 1,
    "scoring": 1,
    "hashes": 1,
    "files": 2,
    "joining": 2,
    "options": 2,
    "frames": 2,
    "ranked_ids": 2,
    "exclusion": 3,
    "slices": 3,
    "rankings": 4,
    "queries": 5,
    "batches": 6,
    "meter": 6,
    "report": 6,
    "scorer": 6,
    "spark": 6,
    "trainer": 7,
    "comparison": 7,
    "explanation": 7,
    "evaluator": 7,
    "compute": 7,
    "mteb_files": 8,
    "ndcg": 9,
    "metric": 9,  # what ndcg.py is called in the package
    "package": 10,
    "commands": 8,
    "command_line": 9,
}


@pytest.mark.parametrize("module", [*ROOMS, *SHELL, "package.py"])
def test_a_room_imports_only_rooms_on_lower_floors(module: str) -> None:
    floor = FLOORS[module.removesuffix(".py")]
    for statement in ast.walk(ast.parse(text(module))):
        if isinstance(statement, ast.ImportFrom):
            imported = str(statement.module).partition(".")[0]
            assert statement.level == (imported in FLOORS)
            assert FLOORS.get(imported, -1) < floor
        elif isinstance(statement, ast.Import):
            assert not {alias.name.partition(".")[0] for alias in statement.names} & FLOORS.keys()


@pytest.mark.parametrize("module", ["app.py", *PAGE])
def test_of_the_metric_the_page_knows_only_what_evaluate_loads(module: str) -> None:
    imported = {
        alias.name if isinstance(statement, ast.Import) else str(statement.module)
        for statement in ast.walk(ast.parse(text(module)))
        if isinstance(statement, ast.Import) or (isinstance(statement, ast.ImportFrom) and not statement.level)
        for alias in statement.names
    }
    assert not {name.partition(".")[0] for name in imported} & {
        room.removesuffix(".py") for room in (*ROOMS, "ndcg.py")
    }


@pytest.mark.parametrize("module", [*ROOMS, *SHELL, "package.py"])
def test_only_the_door_imports_evaluate(module: str) -> None:
    imported = {
        name.partition(".")[0]
        for statement in ast.walk(ast.parse(text(module)))
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        for name in [getattr(statement, "module", None) or "", *(alias.name for alias in statement.names)]
    }
    assert not imported & {"evaluate", "datasets"}


@pytest.mark.parametrize(
    ("home", "path", "problem"),
    [
        ("/nonexistent", os.defpath, "no Java by JAVA_HOME=/nonexistent: .*No such file"),
        ("", "/nonexistent", "no Java on PATH: apt-get install"),
    ],
)
def test_without_java_the_tests_of_spark_are_skipped_with_a_reason(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: str, path: str, problem: str
) -> None:
    request.node.add_marker("spark")
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(pytest.skip.Exception, match=problem):
        conftest.pytest_runtest_setup(request.node)


def test_the_metric_names_every_room() -> None:
    """The loader copies only these; it does not follow what they import."""
    named = {node.module for node in ast.parse(text("ndcg.py")).body if isinstance(node, ast.ImportFrom) and node.level}
    made = re.search(r"^MODULES := (.*)$", text("Makefile"), re.MULTILINE)
    assert made is not None
    assert {f"{name}.py" for name in named} == set(made[1].split())
