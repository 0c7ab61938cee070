"""The conformance kit: its vectors against the metric, its runners, and its page."""

import importlib
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from conftest import MISSING, ROOT
from evaluate import Metric
from refusals import refusal

from ndcg.explanations.slip_terms import Slip
from ndcg.explanations.slips import SLIPS
from ndcg.measure import options
from ndcg.measure.conventions import CONVENTIONS

KIT = ROOT / "conformance"
VECTORS: dict[str, Any] = json.loads((KIT / "vectors.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = VECTORS["cases"]
BY_NAME = {case["name"]: case for case in CASES}
SETTINGS: dict[str, dict[str, Any]] = VECTORS["settings"]
MEASURES = ["CG", "DCG", "IDCG", "nDCG"]
EMPTY = {"left out": math.nan, "1 if nothing was retrieved, else 0": "perfect_if_empty"}


def of_compute(setting: str) -> dict[str, Any]:
    """The options of a setting as `compute` calls them."""
    options = dict(SETTINGS[setting]["options"])
    empty, negative = options.pop("nothing_relevant"), options.pop("negative")
    return {**options, "zero_division": EMPTY.get(empty, empty), "negative_relevance": negative}


def expected(case: dict[str, Any], setting: str) -> dict[str, Any]:
    """What a case states under a setting; empty if it states nothing."""
    return next((each for each in case["expected"] if setting in each["under"]), {})


def value(number: float | None) -> Any:
    return pytest.approx(math.nan if number is None else number, rel=1e-12, abs=1e-12, nan_ok=True)


# --- The vectors ----------------------------------------------------------------------------------


def test_the_vectors_are_in_their_schema() -> None:
    schema = json.loads((KIT / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(VECTORS, schema)
    for broken in (
        {"k": 0},
        {"run": {"q1": {"d1": "high"}}},
        {"expected": [{"under": ["sklearn"], "refused": 1}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**VECTORS, "cases": [{**CASES[0], **broken}]}, schema)


@pytest.mark.slow
@pytest.mark.parametrize("conventions", [[], [str(ROOT / "ndcg" / "measure" / "conventions.py")]])
def test_the_folder_makes_its_vectors_again(tmp_path: Path, conventions: list[str]) -> None:
    kit = shutil.copytree(KIT, tmp_path / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    kept = {"settings": {} if conventions else SETTINGS}
    (kit / "vectors.json").write_text(json.dumps(kept), encoding="utf-8")
    subprocess.run([sys.executable, "make_vectors.py", *conventions], cwd=kit, check=True)
    assert (kit / "vectors.json").read_bytes() == (KIT / "vectors.json").read_bytes(), (
        "make vectors"
    )


def test_every_family_has_many_small_cases() -> None:
    families = Counter(case["family"] for case in CASES)
    assert len(CASES) == len(BY_NAME) == 510
    assert list(families) == list(VECTORS["families"])
    assert min(families.values()) >= 15
    lengths = [
        max(len(each) for side in ("run", "qrels") for each in case[side].values())
        for case in CASES
    ]
    assert Counter(length for length in lengths if length > 12) == {20: 5, 120: 3}


def test_a_case_states_every_preset_once_and_the_order_of_its_run() -> None:
    presets = {name for name, each in SETTINGS.items() if "library" in each}
    assert presets == set(CONVENTIONS)
    for case in CASES:
        stated = Counter(name for each in case["expected"] for name in each["under"])
        assert max(stated.values()) == 1
        assert presets | {"plain"} <= stated.keys()
        assert case["order"] == {query: list(documents) for query, documents in case["run"].items()}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_preset_has_the_options_of_its_convention(name: str) -> None:
    preset, own = of_compute(name), CONVENTIONS[name].options
    assert preset.pop("log_base") == 2
    assert preset.pop("zero_division") == pytest.approx(own["zero_division"], nan_ok=True)
    assert preset == {option: own[option] for option in preset}


def test_every_option_and_value_is_explained() -> None:
    for each in SETTINGS.values():
        assert each["options"].keys() == VECTORS["options"].keys()
        for option, chosen in each["options"].items():
            explained = VECTORS["options"][option].get("values")
            assert explained is None or str(chosen) in explained


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_metric_gives_every_value(ndcg: Metric, setting: str) -> None:
    """Score all cases of a cutoff in one batch, with the name of the case in the query ids."""
    stated = [case for case in CASES if "queries" in expected(case, setting)]
    assert len(stated) >= 16
    for k, cases in groupby(
        sorted(stated, key=lambda case: case["k"] or 0), key=lambda case: case["k"]
    ):
        sides: dict[str, dict[Any, Any]] = {"run": {}, "qrels": {}, "queries": {}}
        for case in cases:
            for name, side in sides.items():
                queries = {**case, **expected(case, setting)}[name]
                side.update({f"{case['name']}: {query}": each for query, each in queries.items()})
        how = {"k": k, "measures": MEASURES, "use_aggregator": False, **of_compute(setting)}
        found = ndcg.compute(predictions=sides["run"], references=sides["qrels"], **how)
        for measure, values in zip(MEASURES, found.values(), strict=True):
            for query, score in zip(sides["qrels"], values, strict=True):
                assert score == value((sides["queries"][query] or {}).get(measure)), (
                    measure,
                    query,
                )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.filterwarnings("ignore:.* judged queries are missing:UserWarning")
def test_the_metric_gives_every_mean_and_rejects_the_invalid_cases(
    ndcg: Metric, setting: str
) -> None:
    how = of_compute(setting)
    for case in CASES:
        each, inputs = (
            expected(case, setting),
            {"predictions": case["run"], "references": case["qrels"]},
        )
        if "refused" in each:
            with pytest.raises(ValueError, match=r"negative|^k\b"):
                ndcg.compute(**inputs, k=case["k"], **how)
        elif each and len(case["qrels"]) > 1:
            assert list(ndcg.compute(**inputs, k=case["k"], **how).values()) == [
                value(each["mean nDCG"])
            ]


def test_a_score_too_large_for_32_bits_is_rejected_by_the_reference_and_the_metric(
    ndcg: Metric,
) -> None:
    reference = SimpleNamespace(**runpy.run_path(str(KIT / "reference.py")))
    run, qrels = {"q1": {"d1": 1e39, "d2": 1.0}}, {"q1": {"d1": 1.0}}
    assert reference.score(run, qrels, None, SETTINGS["sklearn"]["options"])["mean nDCG"] == 1.0
    assert ndcg.compute(predictions=run, references=qrels, **of_compute("sklearn")) == {"nDCG": 1.0}
    with pytest.raises(reference.RefusedError, match="32-bit"):
        reference.score(run, qrels, None, SETTINGS["trec_eval"]["options"])
    with refusal("predictions", "query 'q1', document 'd1'"):
        ndcg.compute(predictions=run, references=qrels, **of_compute("trec_eval"))


TWO_AND_EMPTY = BY_NAME["empty: nothing relevant, beside two queries"]


def test_a_mean_is_rounded_once() -> None:
    """gdeval leaves out the query with nothing relevant; the others score ranks 2 and 1 of 2."""
    mean = expected(TWO_AND_EMPTY, "gdeval")["mean nDCG"]
    second = Decimal(2).ln() / Decimal(3).ln()  # 1 / log2(3), to 28 digits
    assert mean == float((second + 1) / 2)
    assert mean != (float(second) + 1) / 2


# --- The runners ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder alone, and next to it the package as it is installed."""
    folder = tmp_path_factory.mktemp("kit")
    shutil.copytree(KIT, folder / "conformance", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder


def printed(copied: Path, script: str, *arguments: str, kit: str = "conformance") -> str:
    """Run a script of a copied kit, which finds the installed package."""
    environment = {**os.environ, "PYTHONPATH": str(copied / "site"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, f"runners/{script}.py", *arguments]
    return subprocess.run(
        command,
        cwd=copied / kit,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def rows(markdown: str) -> dict[str, list[str]]:
    """The rows of a table, by the library and its version."""
    lines = [line.strip("|").split("|") for line in markdown.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


PAGE = (KIT / "README.md").read_text(encoding="utf-8")
OF_PAGE = rows(PAGE.partition("<!-- made by runners/run.py -->")[2].partition("<!-- end -->")[0])
PEERS = ("pytrec_eval", "ir_measures", "ranx", "sklearn", "torchmetrics", "rax", "ignite")
PEERS += ("lightgbm", "xgboost", "catboost")


def agreement(cases: list[dict[str, Any]]) -> list[str]:
    """The cells of a library that agrees with every preset on all of the cases."""
    families = Counter(case["family"] for case in cases)
    counts = [families[family] for family in VECTORS["families"]]
    return ["every preset", *map(str, counts), str(len(cases))]


@pytest.mark.slow
def test_the_metric_agrees_with_every_preset_on_cases_of_every_family(copied: Path) -> None:
    """`test_the_metric_gives_every_value` has all cases, by the metric itself."""
    few = CASES[::4]
    shutil.copytree(copied / "conformance", copied / "few")
    (copied / "few" / "vectors.json").write_text(json.dumps({**VECTORS, "cases": few}))
    found = rows(printed(copied, "run", "ndcg", kit="few"))
    row = f"ndcg {options.__version__}"
    assert found == {"library": OF_PAGE["library"], row: agreement(few)}
    assert OF_PAGE[row] == agreement(CASES)


@pytest.mark.peers
@pytest.mark.parametrize(
    "library",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group("ranx")] * (name == "ranx"))
        for name in PEERS
    ],
)
def test_the_page_says_where_a_library_agrees(copied: Path, library: str) -> None:
    """In the version on the page all families agree; in another one no further family differs."""
    if library in MISSING:
        pytest.skip(f"{library} is not installed")
    (_, cells), (row, found) = rows(printed(copied, "run", library)).items()
    (stated,) = (
        each for each, of_page in OF_PAGE.items() if of_page[0] == found[0]
    )  # it may have another name
    assert cells == OF_PAGE["library"]
    assert row != stated or found == OF_PAGE[row]
    for family, now, then in zip(cells, found, OF_PAGE[stated], strict=True):
        assert "≠" not in now or "≠" in then, f"{row} on {family}: {now}"


def test_the_page_has_all_runners_which_are_short_and_import_nothing_from_the_repository() -> None:
    runners = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (KIT / "runners").glob("*_runner.py")
    }
    assert runners.keys() == {f"{name}_runner" for name in ("ndcg", *PEERS)}
    assert len(OF_PAGE) == 1 + len(runners)
    for source in runners.values():
        assert len(source.splitlines()) <= 60
        imported = set(re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE))
        assert len(imported - sys.stdlib_module_names - {"lists"}) <= 3
        assert not {path.stem for path in ROOT.glob("*.py")} & (imported - {"ndcg"})


@pytest.fixture(scope="module")
def runners() -> Iterator[Any]:
    """The scripts `run` and `wrong`, imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(KIT / "runners")
        yield SimpleNamespace(
            run=importlib.import_module("run"), wrong=importlib.import_module("wrong")
        )


def test_a_library_has_the_name_under_which_it_is_installed(runners: Any) -> None:
    assert (
        runners.run.label("sklearn", {"sklearn": ["scikit-learn"]})
        == f"scikit-learn {version('scikit-learn')}"
    )
    assert runners.run.label("lib", {"sklearn": ["scikit-learn"]}) == "lib"


def test_a_runner_with_a_wrong_mean_differs(runners: Any) -> None:
    values = {
        query: each["nDCG"] for query, each in expected(TWO_AND_EMPTY, "sklearn")["queries"].items()
    }

    def outcome(**functions: Any) -> str:
        runner = SimpleNamespace(TOLERANCE=1e-9, score=lambda case, preset: values, **functions)
        return str(runners.run.outcome(runner, TWO_AND_EMPTY, "sklearn")[0])

    mean = sum(values.values()) / 3
    assert outcome() == outcome(mean=lambda case, preset: mean) == "agree"
    assert outcome(mean=lambda case, preset: mean * 3 / 2) == "differ"  # over two queries only
    values["q1"] = math.nan
    assert outcome() == "differ"


def test_libraries_that_are_not_installed_are_named_and_left_out(
    runners: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn_runner", None)
    monkeypatch.setattr(sys, "argv", ["run.py", "sklearn"])
    with warnings.catch_warnings():  # which it ignores
        runners.run.main()
    out, error = capsys.readouterr()
    assert error.startswith("sklearn: not installed: ")
    assert list(rows(out)) == ["library"]


# --- Wrong implementations ------------------------------------------------------------------------

FAULTS = (
    "a sort that is unstable above 16 documents",
    "discounts for 12 ranks only",
    "no cutoff taken as 100",
    "ids compared by UTF-16 units",
    "DCG with the natural logarithm",
)


def test_right_implementations_pass_every_case(runners: Any) -> None:
    """The wrong implementations differ in nothing but their fault."""
    wrong = runners.wrong
    for right in (
        *wrong.RIGHT,
        *(wrong.OnPreset(Slip("", ""), name, VECTORS) for name in wrong.PRESETS_OF_SLIPS),
    ):
        assert wrong.differing(right, VECTORS).total() == 0


def test_every_slip_and_every_fault_fails_a_case(runners: Any) -> None:
    cases = {name: counts.total() for name, _, counts in runners.wrong.wrong(VECTORS)}
    assert list(cases) == [*(slip.name for slip in SLIPS), *FAULTS]
    assert [name for name, count in cases.items() if not count] == []


def test_another_logarithm_shows_in_the_dcg_only(runners: Any) -> None:
    fault = runners.wrong.FAULTS["DCG with the natural logarithm"]
    without_sums = SimpleNamespace(
        TOLERANCE=fault.TOLERANCE, PRESETS=fault.PRESETS, score=fault.score
    )
    assert runners.wrong.differing(without_sums, VECTORS).total() == 0
    assert runners.wrong.differing(fault, VECTORS).total() > len(CASES) / 2


# --- The page -------------------------------------------------------------------------------------

EXAMPLE = re.compile(r"^- `([^`]+)`, `([^`]+)`: `([^`]+) = (-?[\d.]+)`", re.MULTILINE)


@pytest.mark.slow
def test_the_page_says_which_families_show_a_wrong_implementation(copied: Path) -> None:
    found = printed(copied, "wrong")
    assert f"<!-- made by runners/wrong.py -->\n{found}<!-- end of the wrong ones -->" in PAGE, (
        "make conformance"
    )


def test_the_page_explains_every_family_by_a_case_with_correct_arithmetic() -> None:
    examples = EXAMPLE.findall(PAGE)
    for name, setting, arithmetic, result in examples:
        computed = eval(arithmetic, {"log2": math.log2})
        assert computed == value(expected(BY_NAME[name], setting)["mean nDCG"]), name
        assert f"{computed:.4f}" == result, name
    assert {BY_NAME[name]["family"] for name, *_ in examples} == set(VECTORS["families"]) - {
        "mixed"
    }
