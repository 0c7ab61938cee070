"""A full disk or a killed process cuts off the copies that `evaluate.load` makes."""

import re
import sys
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import evaluate
import pytest
from conftest import ROOT

Load = Callable[..., evaluate.Metric]
BUNDLE = (ROOT / "ndcg_bundle.py").read_bytes()
METRIC = (ROOT / "ndcg.py").read_bytes()


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Loads a metric that other files of tests do not load, as in a new process."""
    folder = tmp_path_factory.mktemp("cut")
    # evaluate chooses the folder of the copies by the name and the code
    (folder / "cut.py").write_bytes(f'"{folder}"\n'.encode() + METRIC)
    (folder / "ndcg_bundle.py").write_bytes(BUNDLE)

    def load(**how: str) -> evaluate.Metric:
        for name in [
            name for name in sys.modules if name.startswith("evaluate_modules.metrics.cut.")
        ]:
            sys.modules.pop(name)
        return evaluate.load(str(folder / "cut.py"), **how)

    return load


def copies(metric: evaluate.Metric) -> tuple[Path, Path]:
    path = Path(sys.modules[type(metric).__module__].__file__ or "")
    return path, path.with_name("ndcg_bundle.py")


def cut(path: Path, before: bytes) -> None:
    """Leave what is before the last occurrence."""
    path.write_bytes(path.read_bytes().rpartition(before)[0])


def works(metric: evaluate.Metric) -> bool:
    return bool(metric.compute(predictions=[[0.5, 0.1]], references=[[1, 0]]) == {"nDCG": 1.0})


@pytest.mark.parametrize(
    ("at", "before"),
    [
        *((0, b"@evaluate.utils.file_utils.add_start"), (0, b"    check = "), (0, b"# the end")),
        *(
            (1, b"\n\n\ndef "),
            (1, b" is known to be whole"),
        ),  # before the last function, it is valid code
    ],
)
def test_a_file_that_was_cut_off_is_copied_again(load: Load, at: int, before: bytes) -> None:
    path = copies(load())[at]
    cut(path, before)
    with pytest.raises(ImportError, match=re.escape(str(path))):
        load()
    assert not path.exists()
    assert works(load())


def test_a_metric_that_is_no_longer_code_is_copied_again_on_demand(load: Load) -> None:
    cut(copies(load())[0], b"jarvelin2002")
    with pytest.raises(SyntaxError):
        load()
    assert works(load(download_mode="force_redownload"))


def test_a_copy_that_cannot_be_deleted_is_named_with_its_folder(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = copies(load())
    cut(path, b"\n\n\ndef ")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(PermissionError()))
        with pytest.raises(
            ImportError, match=f"; delete the folder {path.parent}, and load the metric again$"
        ):
            load()
    path.write_bytes(BUNDLE)


def test_a_copy_with_the_line_ends_of_windows_is_whole(load: Load) -> None:
    for path in copies(load()):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert works(load())


@pytest.mark.parametrize("size", [8, 100_000])
def test_compiled_code_that_was_cut_off_is_compiled_again(
    load: Load, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    compiled = Path(cache_from_source(str(copies(load())[1])))
    compiled.write_bytes(compiled.read_bytes()[:size])
    assert works(load())
    assert compiled.stat().st_size > 100_000
