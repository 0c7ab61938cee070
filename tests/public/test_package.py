"""The package installs what it needs, imports nothing else, and has the same scores as the metric."""

import email
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import ROOT, lean_environment

import ndcg as package
from ndcg.measure import options

pytestmark = pytest.mark.xdist_group("package")

RANKINGS: dict[str, Any] = {
    "predictions": [[0.9, 0.4, 0.1], [0.2, 0.2, 0.3], [0.5, 0.1, 0.4]],
    "references": [[0, 1, 2], [1, 0, 3], [2, 0, 1]],
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def needed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, NumPy and pyarrow, and nothing else."""
    folder = tmp_path_factory.mktemp("needed")
    (folder / "ndcg").symlink_to(ROOT / "ndcg")
    for name in ("numpy", "pyarrow"):
        origin = (find_spec(name) or pytest.fail(name)).origin
        package = Path(str(origin)).parent
        for found in (package, *package.parent.glob(f"{name}.libs")):
            (folder / found.name).symlink_to(found)
    return folder


Run = Callable[[str], Any]


@pytest.fixture
def alone(needed: Path, tmp_path: Path) -> Run:
    """Run code outside the clone with only the package, NumPy and pyarrow installed; return its output."""
    return lambda code: run(code, {"PATH": os.defpath, "PYTHONPATH": str(needed)}, tmp_path, "-S")


@pytest.fixture
def beside(tmp_path: Path) -> Run:
    """Run code outside the clone with all libraries of the tests installed, and the package."""
    environment = lean_environment()
    environment["PYTHONPATH"] += os.pathsep + str(ROOT)
    return lambda code: run(code, environment, tmp_path)


def run(code: str, environment: dict[str, str], folder: Path, *how: str) -> Any:
    prelude = f"import json, sys; RANKINGS = {RANKINGS!r}\n"
    command = [sys.executable, *how, "-c", prelude + code]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_needs_numpy_and_pyarrow(wheel: Path) -> None:
    package = ROOT / "ndcg"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (information,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(information))
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.suffix in (".py", ".typed")}
    assert {name.partition("/")[2] for name in names if name.startswith("ndcg/")} == files
    assert metadata["Version"] == options.__version__
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert sorted(each.partition(">=")[0] for each in needed) == ["numpy", "pyarrow"]


def test_the_package_computes_with_numpy_and_pyarrow_alone(alone: Run, ndcg: evaluate.Metric) -> None:
    printed = alone(
        "import ndcg\n"
        "values = ndcg.compute(**RANKINGS, k=[2, None], use_aggregator=False)\n"
        "names = sorted(ndcg.__all__) == dir(ndcg)\n"
        "try:\n    ndcg.nDCG\nexcept AttributeError as error:\n"
        "    print(json.dumps([ndcg.__version__, ndcg.signature(k=2), values, names, str(error)]))"
    )
    values = ndcg.compute(**RANKINGS, k=[2, None], use_aggregator=False)
    unknown = "module 'ndcg' has no attribute 'nDCG'"
    assert printed == [options.__version__, ndcg.signature(k=2), values, True, unknown]


def test_the_package_imports_nothing_heavy_and_a_name_when_it_is_first_used(alone: Run) -> None:
    code = "import ndcg\nbefore = 'numpy' in sys.modules\nndcg.signature()\nafter = 'numpy' in sys.modules\n"
    code += "import numpy, pyarrow.compute, pyarrow.csv\nknown = set(sys.modules)\n"
    code += "[getattr(ndcg, name) for name in ndcg.__all__ if name != 'NDCG']\n"
    before, after, imported = alone(code + "print(json.dumps([before, after, sorted(sys.modules.keys() - known)]))")
    assert (before, after) == (False, True)
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names <= {"ndcg", "numpy", "pyarrow"}
    assert not {"ndcg.metric", "ndcg.scores.batches", "ndcg.scores.batch_file"} & set(imported)


def test_the_package_imports_no_library_that_happens_to_be_there(beside: Run) -> None:
    code = "import ndcg\n[getattr(ndcg, name) for name in ndcg.__all__ if name != 'NDCG']\n"
    code += "heavy = {'pandas', 'scipy', 'datasets', 'evaluate', 'pyspark', 'matplotlib', 'tqdm'}\n"
    assert beside(code + "print(json.dumps(sorted(heavy & sys.modules.keys())))") == []


def test_the_package_reports_and_compares_as_the_metric_does(beside: Run, ndcg: evaluate.Metric) -> None:
    systems = {"a": RANKINGS["predictions"], "b": [[1, 2, 3]] * 3}
    printed = beside(
        "import ndcg\n"
        "report = ndcg.report(**RANKINGS, k=2)\n"
        f"comparison = ndcg.compare(systems={systems!r}, references=RANKINGS['references'], k=2)\n"
        "light = not {'evaluate', 'datasets', 'matplotlib'} & sys.modules.keys()\n"
        "print(json.dumps([report.to_dict(), comparison.to_dict(), light]))"
    )
    report = ndcg.report(**RANKINGS, k=2)
    comparison = ndcg.compare(systems=systems, references=RANKINGS["references"], k=2)
    assert printed == [report.to_dict(), comparison.to_dict(), True]


def test_the_package_has_the_metric_class(beside: Run, ndcg: evaluate.Metric) -> None:
    printed = beside(
        "import ndcg, pickle\n"
        "before = 'evaluate' in sys.modules\n"
        "metric = pickle.loads(pickle.dumps(ndcg.NDCG()))\n"
        "given = metric.compute(**RANKINGS, k=2)\n"
        "metric.add_batch(**RANKINGS)\n"
        "print(json.dumps([before, metric.name, given, metric.compute(k=2)]))"
    )
    values = ndcg.compute(**RANKINGS, k=2)
    assert printed == [False, "ndcg", values, values]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ndcg.NDCG", "NDCG needs datasets: pip install datasets evaluate"),
        ("ndcg.report(**RANKINGS)", "a confidence interval or a test needs SciPy: pip install scipy"),
        ("ndcg.compute_spark(None, prediction='p', reference='r')", "compute_spark needs PySpark: pip install pyspark"),
        ("ndcg.compute(**RANKINGS, engine='sklearn')", 'engine="sklearn" needs scikit-learn: pip install scikit-learn'),
        ("ndcg.scorer(k=10)", "scorer needs scikit-learn: pip install scikit-learn"),
    ],
)
def test_errors_about_missing_packages_name_those_of_an_extra(alone: Run, call: str, message: str) -> None:
    printed = alone(f"import ndcg\ntry:\n    {call}\nexcept ImportError as error:\n    print(json.dumps(str(error)))")
    assert printed == message
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = set(message.partition("pip install ")[2].split())
    assert named
    assert any(named <= {re.split("[<>=]", each)[0] for each in packages} for packages in extras.values())


def test_no_message_has_people_install_a_package_that_no_registry_has() -> None:
    files = [*ROOT.glob("*.py"), *ROOT.glob("page/*.py"), *ROOT.glob("ndcg/**/*.py"), *ROOT.glob("docs/*.md")]
    files.append(ROOT / "README.md")
    assert not [path for path in files if re.search(r"""["'` ]ndcg\[""", path.read_text(encoding="utf-8"))]


def test_in_the_clone_import_finds_the_package_and_not_the_metric_beside_it() -> None:
    code = "import json, ndcg; print(json.dumps([ndcg.__file__, callable(ndcg.report)]))"
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, cwd=ROOT, env=lean_environment(), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == [str(ROOT / "ndcg" / "__init__.py"), True]


@pytest.mark.slow
def test_the_metric_loads_without_docstrings(tmp_path: Path) -> None:
    code = f"import evaluate; print(evaluate.load({str(ROOT / 'ndcg.py')!r}).compute(**{RANKINGS!r}))"
    command = [sys.executable, "-OO", "-c", code]
    process = subprocess.run(command, cwd=tmp_path, env=lean_environment(), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == [str(package.compute(**RANKINGS))]


def test_the_examples_of_the_package_pass(alone: Run) -> None:
    code = "import doctest, ndcg\nndcg.compute\nmodules = ndcg, sys.modules['ndcg.scores.compute']\n"
    (failed, attempted), (failed_too, attempted_too) = alone(
        code + "print(json.dumps([*map(doctest.testmod, modules)]))"
    )
    assert failed == failed_too == 0
    assert attempted >= 2
    assert attempted_too >= 1


def test_the_page_about_the_package_shows_what_it_does(beside: Run) -> None:
    page = str(ROOT / "docs" / "package.md")
    failed, attempted = beside(
        f"import doctest\nprint(json.dumps(doctest.testfile({page!r}, module_relative=False, verbose=False)))"
    )
    assert failed == 0
    assert attempted >= 7
