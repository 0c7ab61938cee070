"""A full disk, or the end of a process, cuts off the copies that `evaluate.load` makes of the metric's files."""

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
        for name in [name for name in sys.modules if name.startswith("evaluate_modules.metrics.cut.")]:
            sys.modules.pop(name)
        return evaluate.load(str(folder / "cut.py"), **how)

    return load


def copies(metric: evaluate.Metric) -> tuple[Path, Path]:
    path = Path(sys.modules[type(metric).__module__].__file__ or "")
    return path, path.with_name("ndcg_bundle.py")


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def works(metric: evaluate.Metric) -> bool:
    return bool(metric.compute(predictions=[[0.5, 0.1]], references=[[1, 0]]) == {"nDCG": 1.0})


LAST = BUNDLE.rindex(b"\n\n\ndef ")  # what is before the last function is valid code


@pytest.mark.parametrize("size", [0, LAST, len(BUNDLE) - 2])
def test_a_bundle_that_was_cut_off_is_copied_again(load: Load, size: int) -> None:
    _, path = copies(load())
    cut(path, size)
    with pytest.raises(ImportError, match=rf"^{path} was cut off .*; it is deleted now: .*load the metric again$"):
        load()
    assert works(load())


@pytest.mark.parametrize("start", [b"@evaluate.utils.file_utils.add_start", b"    check = ", b"# the end"])
def test_a_metric_that_was_cut_off_is_copied_again(load: Load, start: bytes) -> None:
    path, _ = copies(load())
    cut(path, path.read_bytes().rindex(start))
    with pytest.raises(ImportError, match=f"^{path} was cut off"):
        load()
    assert works(load())


def test_a_metric_that_is_no_longer_code_is_copied_again_on_demand(load: Load) -> None:
    path, _ = copies(load())
    cut(path, path.read_bytes().index(b"jarvelin2002"))
    with pytest.raises(SyntaxError):
        load()
    assert works(load(download_mode="force_redownload"))


def test_a_copy_that_cannot_be_deleted_is_named_with_its_folder(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    _, path = copies(load())
    cut(path, 4096)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(PermissionError()))
        with pytest.raises(ImportError, match=f"; delete the folder {path.parent}, and load the metric again$"):
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
    cut(compiled, size)
    assert works(load())
    assert compiled.stat().st_size > 100_000
