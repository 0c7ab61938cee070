"""The package imports only what it installs, and has the scores of the metric."""

import ast
import email
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import ROOT, lean_environment

import ndcg as package
from ndcg.measure.options import __version__

pytestmark = pytest.mark.xdist_group("package")

RANKINGS: dict[str, Any] = {
    "predictions": [[0.9, 0.4, 0.1], [0.2, 0.2, 0.3], [0.5, 0.1, 0.4]],
    "references": [[0, 1, 2], [1, 0, 3], [2, 0, 1]],
}
NAMES = "[getattr(ndcg, name) for name in ndcg.__all__ if name != 'NDCG']"
# all libraries of the tests, and the package
BESIDE = lean_environment(PYTHONPATH=os.pathsep.join([lean_environment()["PYTHONPATH"], str(ROOT)]))
Run = Callable[[str], Any]


def run(code: str, environment: dict[str, str], folder: Path, *how: str) -> Any:
    """What code prints as JSON in a process of its own."""
    code = f"import json, sys, ndcg; RANKINGS = {RANKINGS!r}\n{textwrap.dedent(code)}"
    command = [sys.executable, *how, "-c", code]
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.fixture
def alone(tmp_path: Path) -> Run:
    """Run code with only the package, NumPy and pyarrow installed."""
    (tmp_path / "ndcg").symlink_to(ROOT / "ndcg")
    for name in ("numpy", "pyarrow"):
        place = Path(str(import_module(name).__file__)).parent
        for found in (place, *place.parent.glob(f"{name}.libs")):
            (tmp_path / found.name).symlink_to(found)
    return lambda code: run(code, {"PATH": os.defpath, "PYTHONPATH": str(tmp_path)}, tmp_path, "-S")


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_needs_numpy_and_pyarrow(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (information,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(information))
    package = ROOT / "ndcg"
    files = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.suffix in (".py", ".typed")
    }
    assert {name.partition("/")[2] for name in names if name.startswith("ndcg/")} == files
    assert metadata["Version"] == __version__
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert sorted(each.partition(">=")[0] for each in needed) == ["numpy", "pyarrow"]


def test_the_package_computes_with_numpy_and_pyarrow_alone(
    alone: Run, ndcg: evaluate.Metric
) -> None:
    options = {"k": [2, None], "use_aggregator": False}
    printed = alone(
        "print(json.dumps([ndcg.__version__, ndcg.signature(k=2), ndcg.compute(**RANKINGS, "
        f"**{options})]))"
    )
    assert printed == [__version__, ndcg.signature(k=2), ndcg.compute(**RANKINGS, **options)]


def test_the_package_lists_its_names() -> None:
    assert sorted(package.__all__) == dir(package)
    with pytest.raises(AttributeError, match="nDCG"):
        package.nDCG  # noqa: B018


def test_type_checkers_know_the_names_that_are_imported_when_they_are_first_used() -> None:
    tree = ast.parse((ROOT / "ndcg" / "__init__.py").read_text(encoding="utf-8"))
    (for_checkers,) = (each.body for each in tree.body if isinstance(each, ast.If))
    known = [
        (each.module, name.name)
        for each in for_checkers
        if isinstance(each, ast.ImportFrom)
        for name in each.names
    ]
    assert sorted(known) == sorted((module, name) for name, module in package._MODULES.items())


def test_the_package_imports_nothing_heavy_and_a_name_when_it_is_first_used(alone: Run) -> None:
    before, after, imported = alone(
        f"""
        before = "numpy" in sys.modules
        ndcg.signature()
        after = "numpy" in sys.modules
        import numpy, pyarrow.compute, pyarrow.csv
        known = set(sys.modules)
        {NAMES}
        print(json.dumps([before, after, sorted(sys.modules.keys() - known)]))
        """
    )
    assert (before, after) == (False, True)
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names <= {
        "ndcg",
        "numpy",
        "pyarrow",
    }
    assert not {"ndcg.metric", "ndcg.scores.batches", "ndcg.scores.exchange"} & set(imported)


def test_the_package_reports_and_compares_without_libraries_that_happen_to_be_there(
    tmp_path: Path, ndcg: evaluate.Metric
) -> None:
    systems = {"a": RANKINGS["predictions"], "b": [[1, 2, 3]] * 3}
    code = f"""
        {NAMES}
        loaded = sys.modules.keys()
        heavy = {{"pandas", "scipy", "pyspark", "tqdm"}} & loaded
        heavy |= {{"datasets", "evaluate", "matplotlib"}} & loaded
        report = ndcg.report(**RANKINGS, k=2).to_dict()
        references = RANKINGS["references"]
        comparison = ndcg.compare(systems={systems!r}, references=references, k=2).to_dict()
        heavy |= {{"datasets", "evaluate", "matplotlib"}} & loaded
        print(json.dumps([report, comparison, sorted(heavy)]))
        """
    report = ndcg.report(**RANKINGS, k=2)
    comparison = ndcg.compare(systems=systems, references=RANKINGS["references"], k=2)
    assert run(code, BESIDE, tmp_path) == [report.to_dict(), comparison.to_dict(), []]


def test_in_the_clone_import_finds_the_package_and_not_the_metric_beside_it() -> None:
    printed = run(
        "print(json.dumps([ndcg.__file__, callable(ndcg.report)]))", lean_environment(), ROOT
    )
    assert printed == [str(ROOT / "ndcg" / "__init__.py"), True]


def test_the_package_has_the_metric_class() -> None:
    metric = pickle.loads(pickle.dumps(package.NDCG()))
    assert metric.compute(**RANKINGS, k=2) == package.compute(**RANKINGS, k=2)


def test_errors_about_missing_packages_name_those_of_an_extra(alone: Run) -> None:
    expected = {
        "ndcg.NDCG": "NDCG needs datasets: pip install datasets evaluate",
        "ndcg.report(**RANKINGS)": "a confidence interval or a test needs SciPy: pip install scipy",
        "ndcg.compute_spark(None, prediction='p', reference='r')": (
            "compute_spark needs PySpark: pip install pyspark"
        ),
        "ndcg.compute(**RANKINGS, engine='sklearn')": (
            'engine="sklearn" needs scikit-learn: pip install scikit-learn'
        ),
        "ndcg.scorer(k=10)": "scorer needs scikit-learn: pip install scikit-learn",
    }
    said = alone(
        f"""
        said = {{}}
        for call in {list(expected)}:
            try:
                eval(call)
            except ImportError as error:
                said[call] = str(error)
        print(json.dumps(said))
        """
    )
    assert said == expected
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    for message in expected.values():
        named = set(message.partition("pip install ")[2].split())
        assert any(
            named <= {re.split("[<>=]", each)[0] for each in packages}
            for packages in extras.values()
        )


def test_no_message_has_people_install_a_package_that_no_registry_has() -> None:
    files = [
        *ROOT.glob("*.py"),
        *ROOT.glob("page/*.py"),
        *ROOT.glob("ndcg/**/*.py"),
        *ROOT.glob("docs/*.md"),
    ]
    files.append(ROOT / "README.md")
    assert not [
        path for path in files if re.search(r"""["'` ]ndcg\[""", path.read_text(encoding="utf-8"))
    ]


@pytest.mark.slow
def test_the_metric_loads_without_docstrings(tmp_path: Path) -> None:
    code = (
        "import evaluate; "
        f"print(json.dumps(evaluate.load({str(ROOT / 'ndcg.py')!r}).compute(**RANKINGS)))"
    )
    assert run(code, BESIDE, tmp_path, "-OO") == package.compute(**RANKINGS)
