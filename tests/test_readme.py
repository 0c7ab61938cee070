"""The metric card: every Python block runs, in order, and says what it says it says."""

import doctest
import re
from typing import Any

import pytest
from conftest import ROOT, spark_session

README = ROOT / "README.md"
BLOCK = re.compile(r"^```(?:python|py|pycon)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore:PySpark does not yet", "ignore::ResourceWarning")
def test_every_python_block_runs_and_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    spark_session()  # the one that the README asks for
    monkeypatch.chdir(ROOT)
    readme = README.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(readme))
    assert blocks, "the README has no Python block"
    namespace: dict[str, Any] = {"__name__": "readme"}
    output: list[str] = []
    runner = doctest.DocTestRunner()
    for block in blocks:
        source, line = block[1], readme.count("\n", 0, block.start(1))
        if ">>>" in source:
            test = doctest.DocTestParser().get_doctest(source, {}, "README.md", str(README), line)
            test.globs = namespace
            runner.run(test, out=output.append, clear_globs=False)
        else:
            exec(compile("\n" * line + source, str(README), "exec"), namespace)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_the_figures_of_speed_are_those_that_were_measured() -> None:
    section = README.read_text(encoding="utf-8").split("### How fast is it?")[1].split("###")[0]
    rows = re.findall(r"^\| (.+?) \| ([\d.]+×) \| ([\d.]+×) \|$", section, re.MULTILINE)
    assert rows
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    for label, mean, worst in rows:
        assert re.search(rf"^\| {re.escape(label)} \| [^|]+ \| {mean} \| {worst}: ", results, re.MULTILINE), label


def test_no_python_block_is_fenced_in_another_way() -> None:
    readme = README.read_text(encoding="utf-8")
    assert readme.count(">>> ") == sum(block[1].count(">>> ") for block in BLOCK.finditer(readme))
