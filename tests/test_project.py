"""The project around the code: versions, make targets, front matter, files, docstrings, imports."""

import ast
import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import conftest
import pytest
import yaml
from conftest import FOLDERS, ROOT

PACKAGE = ROOT / "ndcg"
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGE = [ROOT / "app.py", *sorted(ROOT.glob("page/*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> set[str]:
    """The modules that a module imports anywhere; a dot for each folder up if relative."""
    statements = list(ast.walk(parsed(path)))
    froms = {
        "." * each.level + (each.module or "")
        for each in statements
        if isinstance(each, ast.ImportFrom)
    }
    return froms | {
        alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names
    }


def libraries(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)} - {""}


# --- Versions and what the Hub reads --------------------------------------------------------------


def front_matter() -> dict[str, Any]:
    opening, matter, _ = text("README.md").split("---\n", 2)
    assert opening == ""
    values: dict[str, Any] = yaml.safe_load(matter)
    return values


def test_one_version_stands_in_the_code_the_changelog_and_the_citation() -> None:
    (version,) = re.findall(
        r'^__version__ = "(.*)"$', text("ndcg/measure/options.py"), re.MULTILINE
    )
    assert re.fullmatch(r"[1-9]\d*\.\d+\.\d+", version)  # no tag of evaluate
    headings = re.findall(r"^## \[(.+?)\] - (.+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert headings[0][0] == version
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in headings[1:])
    assert headings[-1][0] == "1.0.0"
    assert yaml.safe_load(text("CITATION.cff"))["version"] == version
    assert re.search(r"^dynamic = .*version", text("pyproject.toml"), re.MULTILINE)
    assert version not in text("pyproject.toml")


def test_one_floor_of_python_stands_everywhere() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    floor = project["project"]["requires-python"].removeprefix(">=")
    assert project["tool"]["ruff"]["target-version"] == "py" + floor.replace(".", "")
    assert re.findall(r"^OLDEST_PYTHON \?= python(.*)$", text("Makefile"), re.MULTILINE) == [floor]
    assert f"on a machine with Python {floor}" in text("README.md")
    assert front_matter()["python_version"] == floor


def test_the_front_matter_of_the_readme_makes_a_space_with_the_gradio_that_is_tested() -> None:
    values = front_matter()
    assert {
        "title": "nDCG",
        "sdk": "gradio",
        "license": "mit",
        "app_file": "app.py",
    }.items() <= values.items()
    assert values["tags"] == ["evaluate", "metric", "ranking"]
    # a number would read 3.20 as 3.2
    assert isinstance(values["python_version"], str)
    assert re.findall(r'"gradio\[mcp\]==([\d.]+)"', text("pyproject.toml")) == [
        values["sdk_version"]
    ]


def test_make_help_lists_every_target() -> None:
    phony = re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)
    targets = [target for line in phony for target in line.split()]
    assert {"help", "demo", "test", "check", "app", "space", "clean"} <= set(targets)
    for arguments in (["help"], []):  # the default target of make
        process = subprocess.run(
            ["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        listed = re.findall(r"^\s*make (\S+)\s+\S.*$", process.stdout, re.MULTILINE)
        assert sorted({*listed, "help"}) == sorted(targets)


def test_the_map_of_contributing_has_every_module_in_the_row_of_its_folder() -> None:
    rows = text("CONTRIBUTING.md").splitlines()
    for folder in sorted({path.parent for path in MODULES} - {PACKAGE}):
        modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        (row,) = (line for line in rows if line.startswith(f"| `ndcg/{folder.name}/` |"))
        assert modules <= set(re.findall(r"`(\w+)`", row)), folder.name


def test_no_tracked_file_holds_a_path_of_some_machine() -> None:
    # -z: names as they are, not quoted
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert "ndcg.py" in names
    machine = re.compile(rb"(?<![\w.}])(?:/(?:home|Users|root|work|tmp|mnt|private)/\w|[A-Z]:\\\w)")
    contents = {name: (ROOT / name).read_bytes() for name in names}
    texts = {name: content for name, content in contents.items() if b"\0" not in content}
    assert [
        f"{name}: {match[0]!r}"
        for name, content in texts.items()
        for match in machine.finditer(content)
    ] == []


# --- Docstrings and imports -----------------------------------------------------------------------


def undocumented(node: ast.AST, path: str) -> Iterator[str]:
    """Public functions, classes and methods without a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(
            child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{path}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{path}{child.name}.")


def test_everything_public_has_a_docstring() -> None:
    for path in [*MODULES, *PAGE, *ROOT.glob("scripts/*.py")]:
        assert ast.get_docstring(parsed(path)), path
        assert list(undocumented(parsed(path), "")) == [], path


@pytest.mark.parametrize("folder", ["", *sorted(FOLDERS)])
def test_the_examples_in_docstrings_are_true(folder: str) -> None:
    for path in sorted((PACKAGE / folder).glob("*.py")):
        if path.stem != "__main__":
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            assert doctest.testmod(importlib.import_module(name)).failed == 0, name


def test_the_page_uses_only_the_metric_that_evaluate_loads() -> None:
    assert [path.name for path in PAGE if libraries(path) & {"ndcg", "ndcg_bundle"}] == []


def test_only_the_metric_class_imports_evaluate_and_none_the_package_by_its_name() -> None:
    assert [path.name for path in MODULES if libraries(path) & {"evaluate", "datasets"}] == [
        "metric.py"
    ]
    assert [path.name for path in MODULES if "ndcg" in libraries(path)] == []


def in_order(needs: dict[str, set[str]]) -> list[str]:
    """The names, each after those that it needs; those on a circle are left out."""
    done: list[str] = []
    while ready := [name for name in needs if name not in done and needs[name] <= {*done}]:
        done += ready
    return done


def test_folders_stand_one_above_the_other_and_import_only_those_that_they_name() -> None:
    may_import = {}
    for folder in sorted(FOLDERS):
        about = ast.get_docstring(parsed(PACKAGE / folder / "__init__.py")) or ""
        (names,) = re.findall(r"^May import(?: no other folder|: (.*))\.$", about, re.MULTILINE)
        may_import[folder] = set(names.split(", ")) - {""}
        others = {
            name
            for path in (PACKAGE / folder).glob("*.py")
            for name in imported(path)
            if name[:2] == ".."
        }
        assert {name.strip(".").partition(".")[0] for name in others} <= may_import[folder], folder
    order = [
        "measure",
        "inputs",
        "show",
        "files",
        "scores",
        "explanations",
        "statistics",
        "loops",
        "shell",
    ]
    assert in_order(may_import) == order


def test_no_modules_of_a_folder_import_one_another_in_a_circle() -> None:
    for folder in FOLDERS:
        modules = {path.stem: imported(path) for path in (PACKAGE / folder).glob("*.py")}
        needs = {
            name: {each[1:] for each in names if re.match(r"\.\w", each)}
            for name, names in modules.items()
        }
        assert sorted(in_order(needs)) == sorted(modules)


def test_a_file_of_tests_runs_alone() -> None:
    """Imported helpers are of its folder or tests/: pytest finds others only after their tests."""
    helpers = {
        path.stem: path for path in TESTS if not (path.parent / "__init__.py").exists()
    }  # found by name alone
    for path in TESTS:
        names = re.findall(
            r"^ *(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert {helpers[name].parent for name in names if name in helpers} <= {
            path.parent,
            ROOT / "tests",
        }, path


@pytest.mark.parametrize(
    ("home", "path", "problem"),
    [
        ("/nonexistent", os.defpath, "no Java by JAVA_HOME=/nonexistent: .*No such file"),
        ("", "/nonexistent", "no Java on PATH: apt-get install"),
    ],
)
def test_without_java_the_tests_of_spark_are_skipped_with_a_reason(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    home: str,
    path: str,
    problem: str,
) -> None:
    request.node.add_marker("spark")
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(pytest.skip.Exception, match=problem):
        conftest.pytest_runtest_setup(request.node)


# --- The bundle -----------------------------------------------------------------------------------


def test_the_generated_files_are_what_the_modules_give() -> None:
    command = [sys.executable, "scripts/bundle.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The script that writes the bundle, in a copy of the project; it reads each text once."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("ndcg", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    spec = spec_from_file_location("copied_bundle", folder / "scripts" / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, script)
        spec.loader.exec_module(script)
    read = script.read
    read_once = cache(lambda path, *_: read(path))
    vars(script)["read"] = lambda path: read_once(
        path, path.read_bytes(), path.with_name("__init__.py").read_bytes()
    )
    return script


@pytest.fixture
def change(script: ModuleType) -> Iterator[Callable[..., None]]:
    """Changes a text of a module of measure/ for the test."""
    wholes = {}

    def make(module: str, before: str, after: str) -> None:
        path = script.ROOT / "ndcg" / "measure" / module
        whole = path.read_text(encoding="utf-8")
        assert before in whole
        wholes.setdefault(path, whole)
        path.write_text(whole.replace(before, after, 1), encoding="utf-8")

    yield make
    for path, whole in wholes.items():
        path.write_text(whole, encoding="utf-8")


ALIAS = "must_be, nearest as near, shown"


@pytest.mark.parametrize(
    ("module", "before", "after", "problem"),
    [
        (
            "ties.py",
            "Mask =",
            "def _cutoff(): ...\n\n\ndef turn(_cutoff): ...\n\n\nMask =",
            "the argument _cutoff has",
        ),
        ("ties.py", '"""\n', '"""\n\nshown = 1\n', "shown means one thing in "),
        ("ties.py", '"""\n', '"""\n\nsum = 1\n', "sum is Python's own"),
        ("ties.py", '"""\n', '"""\n\nfrom math import fsum as sum\n', "sum is Python's own"),
        ("ties.py", '"""\n', '"""\n\nfrom math import *\n', "one by one"),
        (
            "ties.py",
            '"""\n',
            '"""\n\nimport ndcg.measure.messages\n',
            "import the package's own modules relatively",
        ),
        (
            "ties.py",
            "Mask =",
            "try:\n    import mmap\nexcept ImportError:\n    mmap = None\nMask =",
            "only imports",
        ),
        ("ties.py", "Mask =", "if Floats:\n    other = 1\nMask =", "only imports"),
        ("ties.py", "Mask =", "def change():\n    global Mask\n\n\nMask =", "no global statement"),
        ("ties.py", "Mask =", "here = __file__\nMask =", "__file__ is another in the bundle"),
        ("__init__.py", '"""\n', '"""\n\nimport os\n', "holds code, which the bundle leaves out"),
        (
            "ties.py",
            '"""\n',
            '"""\n\nfrom .options import choice\n',
            "imports itself, through others",
        ),
        ("options.py", "must_be, nearest, shown", ALIAS, "of the package, and as they are"),
        (
            "options.py",
            "def choice(",
            "def late():\n    from .ties import Mask\n\n\ndef choice(",
            "at the top",
        ),
    ],
)
def test_the_bundle_is_rejected_if_it_would_mean_something_else(
    script: ModuleType,
    change: Callable[..., None],
    module: str,
    before: str,
    after: str,
    problem: str,
) -> None:
    change(module, before, after)
    with pytest.raises(SystemExit, match=problem):
        script.written()


def test_the_bundle_is_written_and_checked(
    script: ModuleType, change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    change("ties.py", "Mask =", "Mask = Floats\nother =")
    change("ties.py", '"""\n', '"""\n\nimport xml.sax\nimport xml.dom\n\n_checked_option = 1\n')
    texts = script.written()
    monkeypatch.setattr(script, "written", lambda: texts)
    monkeypatch.setattr(sys, "argv", ["bundle.py"])
    script.main()
    monkeypatch.setattr(sys, "argv", ["bundle.py", "--check"])
    script.main()
    for name in ("ndcg_bundle.py", "ndcg.py"):
        (script.ROOT / name).write_text("", encoding="utf-8")
        with pytest.raises(SystemExit, match=f"^{name} is not what ndcg/ gives: run make bundle$"):
            script.main()
