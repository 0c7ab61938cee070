"""The project around the code: versions, make targets, the front matter, tracked files, docstrings."""

import ast
import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import conftest
import pytest
import yaml
from conftest import ROOT

PACKAGE = ROOT / "ndcg"
FOLDERS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
PAGE = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("page/*.py"))
SCRIPTS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("scripts/*.py"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """The version that the package states, without importing it."""
    values = [
        ast.literal_eval(statement.value)
        for statement in ast.parse(text("ndcg/measure/options.py")).body
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
    for arguments in (["help"], []):  # the default target of make
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


TESTS = sorted((ROOT / "tests").rglob("*.py"))
HELPERS = {path.stem: path for path in TESTS if not (path.parent / "__init__.py").exists()}  # found by name alone


def test_a_file_of_tests_runs_alone() -> None:
    """It imports helpers of its folder and of tests/ only: pytest finds those of another folder after a test of it."""
    for path in TESTS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and not each.level]
        helpers = [HELPERS[name] for name in names if name in HELPERS]
        assert [helper for helper in helpers if helper.parent not in (path.parent, ROOT / "tests")] == [], path


def undocumented(node: ast.AST, path: str) -> Iterator[str]:
    """Public functions, classes and methods without a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{path}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{path}{child.name}.")


def test_everything_public_has_a_docstring() -> None:
    for module in [*MODULES, *SCRIPTS, *PAGE, "app.py"]:
        tree = ast.parse(text(module))
        assert ast.get_docstring(tree), module
        assert list(undocumented(tree, "")) == [], module


@pytest.mark.parametrize("folder", ["", *FOLDERS])
def test_the_examples_in_docstrings_are_true(folder: str) -> None:
    for path in sorted((PACKAGE / folder).glob("*.py")):
        if path.stem != "__main__":
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            assert doctest.testmod(importlib.import_module(name)).failed == 0, name


def may_import(folder: str) -> set[str]:
    """The folders that a folder says it may import."""
    about = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    (names,) = re.findall(r"^May import(?: no other folder|: (.*))\.$", about, re.MULTILINE)
    return set(names.split(", ")) - {""}


def imported(module: Path) -> set[str]:
    """The modules of the package that a module imports, wherever in it, such as "measure.ties"."""
    statements = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    names = {str(each.module) for each in statements if isinstance(each, ast.ImportFrom) and not each.level}
    names |= {alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names}
    assert not [name for name in names if name.partition(".")[0] == "ndcg"], "import relatively"
    parents = module.relative_to(PACKAGE).parents
    relative = [each for each in statements if isinstance(each, ast.ImportFrom) and each.level]
    return {".".join([*parents[each.level - 1].parts, str(each.module)]) for each in relative}


def in_order(needs: dict[str, set[str]]) -> list[str]:
    """The names, each after those that it needs; those on a circle are left out."""
    done: list[str] = []
    while ready := [name for name in needs if name not in done and needs[name] <= {*done}]:
        done += ready
    return done


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_only_folders_that_it_names(folder: str) -> None:
    others = {name.partition(".")[0] for path in (PACKAGE / folder).glob("*.py") for name in imported(path)} - {folder}
    assert others <= may_import(folder)


def test_folders_stand_one_above_the_other() -> None:
    order = in_order({folder: may_import(folder) for folder in FOLDERS})
    assert order == ["measure", "inputs", "show", "files", "scores", "explanations", "statistics", "loops", "shell"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_modules_of_a_folder_import_one_another_in_a_circle(folder: str) -> None:
    own = f"{folder}."
    modules = {path.stem: imported(path) for path in (PACKAGE / folder).glob("*.py")}
    needs = {
        name: {each.removeprefix(own) for each in names if each.startswith(own)} for name, names in modules.items()
    }
    assert sorted(in_order(needs)) == sorted(modules)


def libraries(module: str) -> set[str]:
    """The libraries that a module imports, wherever in it."""
    statements = list(ast.walk(ast.parse(text(module))))
    names = {str(each.module) for each in statements if isinstance(each, ast.ImportFrom) and not each.level}
    names |= {alias.name for each in statements if isinstance(each, ast.Import) for alias in each.names}
    return {name.partition(".")[0] for name in names}


def test_the_page_uses_only_the_metric_that_evaluate_loads() -> None:
    assert [module for module in ["app.py", *PAGE] if libraries(module) & {"ndcg", "ndcg_bundle"}] == []


def test_only_the_metric_class_imports_evaluate() -> None:
    assert [module for module in MODULES if libraries(module) & {"evaluate", "datasets"}] == ["ndcg/metric.py"]


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


def test_the_generated_files_are_what_the_modules_give() -> None:
    command = [sys.executable, "scripts/bundle.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
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
    read, known = script.read, {}

    def read_once(path: Path) -> Any:
        files = [each.read_bytes() for each in (path, path.with_name("__init__.py"))]
        key = (path, *files)
        if key not in known:
            known[key] = read(path)
        return known[key]

    vars(script)["read"] = read_once
    return script


def problem_of(script: ModuleType, *arguments: str) -> str:
    """What the script ends with, "" if it ends well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["bundle.py", *arguments])
        try:
            script.main()
        except SystemExit as error:
            return str(error)
    return ""


@pytest.mark.parametrize(
    ("module", "before", "after", "problem"),
    [
        ("ties.py", "Mask =", "def _flag(): ...\n\n\ndef turn(_flag): ...\n\n\nMask =", "the argument _flag has"),
        ("ties.py", '"""\n', '"""\n\nshown = 1\n', "shown means one thing in "),
        ("ties.py", '"""\n', '"""\n\nsum = 1\n', "sum is Python's own"),
        ("ties.py", '"""\n', '"""\n\nfrom math import fsum as sum\n', "sum is Python's own"),
        ("ties.py", '"""\n', '"""\n\nfrom math import *\n', "one by one"),
        ("ties.py", '"""\n', '"""\n\nimport ndcg.measure.messages\n', "import the package's own modules relatively"),
        ("ties.py", "Mask =", "try:\n    import mmap\nexcept ImportError:\n    mmap = None\nMask =", "only imports"),
        ("ties.py", "Mask =", "if Floats:\n    other = 1\nMask =", "only imports"),
        ("ties.py", "Mask =", "def change():\n    global Mask\n\n\nMask =", "no global statement"),
        ("ties.py", "Mask =", "here = __file__\nMask =", "__file__ is another in the bundle"),
        ("__init__.py", '"""\n', '"""\n\nimport os\n', "holds code, which the bundle leaves out"),
        ("ties.py", '"""\n', '"""\n\nfrom .options import choice\n', "imports itself, through others"),
        (
            "options.py",
            "import nearest, shown",
            "import nearest as near, shown",
            "of the package, and as they are",
        ),
        ("options.py", "def choice(", "def late():\n    from .ties import Mask\n\n\ndef choice(", "at the top"),
    ],
)
def test_the_bundle_is_rejected_if_it_would_mean_something_else(
    copied: ModuleType, module: str, before: str, after: str, problem: str
) -> None:
    path = copied.ROOT / "ndcg" / "measure" / module
    whole = path.read_text(encoding="utf-8")
    assert before in whole
    path.write_text(whole.replace(before, after, 1), encoding="utf-8")
    try:
        assert problem in problem_of(copied)
    finally:
        path.write_text(whole, encoding="utf-8")


def test_the_bundle_is_written_and_checked(copied: ModuleType) -> None:
    path = copied.ROOT / "ndcg" / "measure" / "ties.py"
    whole = path.read_text(encoding="utf-8")
    changed = whole.replace("Mask =", "Mask = Floats\nother =", 1)
    changed = changed.replace('"""\n', '"""\n\nimport xml.sax\nimport xml.dom\n\n_checked_option = 1\n', 1)
    path.write_text(changed, encoding="utf-8")
    assert problem_of(copied) == problem_of(copied, "--check") == ""
    for name in ("ndcg_bundle.py", "ndcg.py"):
        (copied.ROOT / name).write_text("", encoding="utf-8")
        assert problem_of(copied, "--check") == f"{name} is not what ndcg/ gives: run make bundle"
    path.write_text(whole, encoding="utf-8")
