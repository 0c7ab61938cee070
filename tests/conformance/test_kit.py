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
import zipfile
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from conftest import MISSING, ROOT
from evaluate import Metric

from ndcg.explanations.slip_terms import Slip
from ndcg.explanations.slips import SLIPS
from ndcg.measure import options
from ndcg.measure.conventions import CONVENTIONS

KIT = ROOT / "conformance"
VECTORS: dict[str, Any] = json.loads((KIT / "vectors.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = VECTORS["cases"]
SETTINGS: dict[str, dict[str, Any]] = VECTORS["settings"]
MEASURES = ["CG", "DCG", "IDCG", "nDCG"]
EMPTY = {"left out": math.nan, "1 if nothing was retrieved, else 0": "perfect_if_empty"}


def of_compute(setting: str) -> dict[str, Any]:
    """The options of a setting as `compute` calls them."""
    options = dict(SETTINGS[setting]["options"])
    empty, negative = options.pop("nothing_relevant"), options.pop("negative")
    return {**options, "zero_division": EMPTY.get(empty, empty), "negative_relevance": negative}


def expected(case: dict[str, Any], setting: str) -> dict[str, Any] | None:
    """The value of a case under a setting; None if it is not stated."""
    return next((each for each in case["expected"] if setting in each["under"]), None)


def value(number: float | None) -> Any:
    return pytest.approx(math.nan if number is None else number, rel=1e-12, abs=1e-12, nan_ok=True)


# The file


def test_the_vectors_are_in_their_schema() -> None:
    schema = json.loads((KIT / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(VECTORS, schema)
    for broken in ({"k": 0}, {"run": {"q1": {"d1": "high"}}}, {"expected": [{"under": ["sklearn"], "refused": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**VECTORS, "cases": [{**CASES[0], **broken}]}, schema)


@pytest.mark.slow
@pytest.mark.parametrize(
    "conventions", [[], [str(ROOT / "ndcg" / "measure" / "conventions.py")]], ids=["alone", "by the conventions"]
)
def test_the_folder_makes_its_vectors_again(tmp_path: Path, conventions: list[str]) -> None:
    kit = shutil.copytree(KIT, tmp_path / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    kept = {"settings": {} if conventions else SETTINGS}
    (kit / "vectors.json").write_text(json.dumps(kept), encoding="utf-8")
    subprocess.run([sys.executable, "make_vectors.py", *conventions], cwd=kit, check=True)
    assert (kit / "vectors.json").read_bytes() == (KIT / "vectors.json").read_bytes(), "make vectors"
    assert (KIT / "vectors.json").stat().st_size < 2_000_000


def test_every_family_has_cases_enough_which_state_every_preset_once() -> None:
    families = Counter(case["family"] for case in CASES)
    assert (len(CASES), min(families.values()) >= 15) == (510, True)
    assert list(families) == list(VECTORS["families"])
    presets = {name for name, each in SETTINGS.items() if "library" in each}
    assert presets == set(CONVENTIONS)
    for case in CASES:
        stated = Counter(name for each in case["expected"] for name in each["under"])
        assert presets | {"plain"} <= stated.keys()
        assert max(stated.values()) == 1
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


# The values


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_metric_gives_every_value(ndcg: Metric, setting: str) -> None:
    """Score all cases of a cutoff in one batch, with the number of the case as the query id."""
    scored = 0
    stated = [(number, case, expected(case, setting)) for number, case in enumerate(CASES)]
    values = [(number, case, each) for number, case, each in stated if each is not None and "queries" in each]
    by_cutoff = sorted(values, key=lambda each: each[1]["k"] or 0)
    for k, several in groupby(by_cutoff, key=lambda each: each[1]["k"]):
        run, qrels, wanted = {}, {}, {}
        for number, case, each in several:
            run |= {f"{number}/{query}": documents for query, documents in case["run"].items()}
            qrels |= {f"{number}/{query}": documents for query, documents in case["qrels"].items()}
            wanted |= {f"{number}/{query}": found for query, found in each["queries"].items()}
        how = {"k": k, "measures": MEASURES, "use_aggregator": False, **of_compute(setting)}
        found = ndcg.compute(predictions=run, references=qrels, **how)
        for measure, got in zip(MEASURES, found.values(), strict=True):
            for query, score in zip(qrels, got, strict=True):
                assert score == value((wanted[query] or {}).get(measure)), (measure, CASES[int(query.split("/")[0])])
        scored += len(qrels)
    assert scored >= 16


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_metric_gives_every_mean_and_rejects_the_invalid_cases(ndcg: Metric, setting: str) -> None:
    for case in CASES:
        each = expected(case, setting)
        if each is None or (len(case["qrels"]) == 1 and "queries" in each):
            continue
        how = {"predictions": case["run"], "references": case["qrels"], "k": case["k"], **of_compute(setting)}
        if "refused" in each:
            with pytest.raises(ValueError, match=r"negative|k must be given"):
                ndcg.compute(**how)
        else:
            assert list(ndcg.compute(**how).values()) == [value(each["mean nDCG"])]


def test_a_score_too_large_for_32_bits_is_rejected_by_the_reference_and_the_metric(ndcg: Metric) -> None:
    reference = SimpleNamespace(**runpy.run_path(str(KIT / "reference.py")))
    run, qrels = {"q1": {"d1": 1e39, "d2": 1.0}}, {"q1": {"d1": 1.0}}
    assert reference.score(run, qrels, None, SETTINGS["sklearn"]["options"])["mean nDCG"] == 1.0
    assert ndcg.compute(predictions=run, references=qrels, **of_compute("sklearn")) == {"nDCG": 1.0}
    with pytest.raises(reference.RefusedError, match="too large for 32-bit floats"):
        reference.score(run, qrels, None, SETTINGS["trec_eval"]["options"])
    with pytest.raises(ValueError, match=r"1e\+39 is too large for score_dtype=\"float32\""):
        ndcg.compute(predictions=run, references=qrels, **of_compute("trec_eval"))


def test_a_mean_is_rounded_once() -> None:
    """gdeval leaves out the query with nothing relevant; the others have their document at ranks 2 and 1 of 2."""
    (case,) = (case for case in CASES if case["name"] == "empty: nothing relevant, beside two queries")
    each = expected(case, "gdeval")
    assert each is not None
    second = Decimal(2).ln() / Decimal(3).ln()  # 1 / log2(3), to 28 digits
    assert each["mean nDCG"] == float((second + 1) / 2)
    assert each["mean nDCG"] != (float(second) + 1) / 2


# The runners


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


def run(kit: Path, path: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of a kit, which finds what is installed in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, f"runners/{script}.py", *arguments]
    return subprocess.run(command, cwd=kit, env=environment, capture_output=True, text=True, check=True)


def table(copied: Path, *libraries: str) -> dict[str, list[str]]:
    """The rows that the runners print, by the library and its version."""
    return rows(run(copied / "conformance", copied / "site", "run", *libraries).stdout)


def rows(markdown: str) -> dict[str, list[str]]:
    lines = [line.strip("|").split("|") for line in markdown.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


PAGE = (KIT / "README.md").read_text(encoding="utf-8")
OF_PAGE = rows(PAGE.partition("<!-- made by runners/run.py -->")[2].partition("<!-- end -->")[0])


@pytest.mark.slow
def test_the_metric_agrees_with_every_preset_on_every_case(copied: Path) -> None:
    found = table(copied, "ndcg")
    row = f"ndcg {options.__version__}"
    assert list(found) == ["library", row]
    assert found[row][-1] == str(len(CASES))
    assert found.items() <= OF_PAGE.items()


PEERS = ["pytrec_eval", "ir_measures", "ranx", "sklearn", "torchmetrics", "rax", "ignite"]
PEERS += ["lightgbm", "xgboost", "catboost"]
RUNNERS = sorted((KIT / "runners").glob("*_runner.py"))


@pytest.mark.peers
@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=[pytest.mark.xdist_group("ranx")] * (name == "ranx")) for name in PEERS]
)
def test_the_page_says_where_a_library_agrees(copied: Path, library: str) -> None:
    """In the version that it names; in another one no family differs that did not."""
    if library in MISSING:
        pytest.skip(f"{library} is not installed")
    (_, cells), (row, found) = table(copied, library).items()
    (stated,) = (each for each, of_page in OF_PAGE.items() if of_page[0] == found[0])  # it may have another name
    assert cells == OF_PAGE["library"]
    assert row != stated or found == OF_PAGE[row]
    for family, now, then in zip(cells, found, OF_PAGE[stated], strict=True):
        assert "≠" not in now or "≠" in then, f"{row} on {family}: {now}"


def test_the_page_has_all_runners() -> None:
    assert {f"{name}_runner" for name in ("ndcg", *PEERS)} == {path.stem for path in RUNNERS}
    assert len(OF_PAGE) == 1 + len(RUNNERS)


NONE = "def score(case, preset):\n    return {query: 0.0 for query in case['qrels']}\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lib-cpu", None])
def test_a_library_has_the_name_under_which_it_is_installed(copied: Path, tmp_path: Path, name: str | None) -> None:
    kit = shutil.copytree(copied / "conformance", tmp_path / "kit")
    (kit / "runners" / "own_runner.py").write_text('MODULE, PRESETS, TOLERANCE = "lib", ("sklearn",), 1e-9\n' + NONE)
    (tmp_path / "lib.py").write_text("")
    if name is not None:
        metadata = tmp_path / f"{name.replace('-', '_')}-1.5.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        (metadata / "RECORD").write_text("lib.py,,\n")
    assert list(rows(run(kit, tmp_path, "run", "own").stdout)) == ["library", "lib" if name is None else f"{name} 1.5"]


def test_a_runner_with_a_wrong_mean_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(KIT / "runners")
    runners = importlib.import_module("run")
    (case,) = (case for case in CASES if case["name"] == "empty: nothing relevant, beside two queries")
    values = {query: each["nDCG"] for query, each in expected(case, "sklearn")["queries"].items()}

    def outcome(**functions: Any) -> str:
        runner = SimpleNamespace(TOLERANCE=1e-9, score=lambda case, preset: values, **functions)
        return runners.outcome(runner, case, "sklearn")[0]

    mean = sum(values.values()) / 3
    assert outcome() == outcome(mean=lambda case, preset: mean) == "agree"
    assert outcome(mean=lambda case, preset: mean * 3 / 2) == "differ"  # over two queries only
    values["q1"] = math.nan
    assert outcome() == "differ"


@pytest.mark.slow
def test_libraries_that_are_not_installed_are_named_and_left_out(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "sklearn.py").write_text("raise ImportError('not here')\n")
    process = run(copied / "conformance", tmp_path, "run", "sklearn")
    assert process.stderr == "sklearn: not installed: not here\n"
    assert list(rows(process.stdout)) == ["library"]


# Wrong implementations


@pytest.fixture(scope="module")
def wrong() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(KIT / "runners")
        yield importlib.import_module("wrong")


def test_right_implementations_pass_every_case(wrong: Any) -> None:
    """The wrong implementations differ in nothing but their fault."""
    for right in (*wrong.RIGHT, *(wrong.OnPreset(Slip("", ""), name, VECTORS) for name in wrong.PRESETS_OF_SLIPS)):
        assert wrong.differing(right, VECTORS).total() == 0


FAULTS = (
    "a sort that is unstable above 16 documents",
    "discounts for 12 ranks only",
    "no cutoff taken as 100",
    "ids compared by UTF-16 units",
    "DCG with the natural logarithm",
)


def test_no_slip_and_no_fault_passes_the_kit(wrong: Any) -> None:
    """A case has another score, or another DCG, by each of them."""
    cases = {name: counts.total() for name, _, counts in wrong.wrong(VECTORS)}
    assert list(cases) == [*(slip.name for slip in SLIPS), *FAULTS]
    assert [name for name, count in cases.items() if not count] == []


def test_another_logarithm_shows_in_the_dcg_only(wrong: Any) -> None:
    fault = wrong.FAULTS["DCG with the natural logarithm"]
    without_sums = SimpleNamespace(TOLERANCE=fault.TOLERANCE, PRESETS=fault.PRESETS, score=fault.score)
    assert wrong.differing(without_sums, VECTORS).total() == 0
    assert wrong.differing(fault, VECTORS).total() > len(CASES) / 2


@pytest.mark.slow
def test_the_page_says_which_families_show_a_wrong_implementation(copied: Path) -> None:
    process = run(copied / "conformance", copied / "site", "wrong")
    _, marker, rest = PAGE.partition("<!-- made by runners/wrong.py -->\n")
    assert marker
    assert process.stdout == rest.partition("<!-- end of the wrong ones -->")[0], "make conformance"


# The page

EXAMPLE = re.compile(r"^- `([^`]+)`, `([^`]+)`: `([^`]+) = (-?[\d.]+)`", re.MULTILINE)


def test_the_page_explains_every_family_by_a_case_with_correct_arithmetic() -> None:
    explained = set()
    by_name = {case["name"]: case for case in CASES}
    for name, setting, arithmetic, result in EXAMPLE.findall(PAGE):
        case = by_name[name]
        each = expected(case, setting)
        assert each is not None
        computed = eval(arithmetic, {"log2": math.log2})
        assert computed == value(each["mean nDCG"]), name
        assert f"{computed:.4f}" == result, name
        explained.add(case["family"])
    assert explained == set(VECTORS["families"]) - {"mixed"}
