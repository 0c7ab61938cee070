"""The metric card and docs/: Python blocks print what they show, and links lead somewhere."""

import doctest
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, spark_session
from markdown_pages import DOCS, FENCE, README, anchors, dead_links, name, text

from ndcg.inputs.fields import (
    DOCUMENT_OF_HITS,
    LISTS_OF_IDS,
    LISTS_OF_VALUES,
    LOWEST_FIRST,
    LOWEST_FIRST_LISTS,
    QUERY_OF_LISTS,
    RELEVANCE,
    SCORE,
)

MARKS = {
    "pytorch": (pytest.mark.xdist_group("torch"),),  # which takes seconds to import
    "training": (
        pytest.mark.peers,
        pytest.mark.xdist_group("torch"),
        pytest.mark.filterwarnings("ignore::FutureWarning"),
    ),  # of the oldest LightGBM
    "spark": (
        pytest.mark.spark,
        pytest.mark.xdist_group("spark"),
        pytest.mark.filterwarnings("ignore:PySpark does not yet", "ignore::ResourceWarning"),
    ),
}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=MARKS.get(page.stem, ()))
        for page in (README, *DOCS)
        if page.stem
        != "recipes"  # whose blocks need objects of other tools: test_recipes.py has them
    ],
)
def test_every_python_block_runs_and_prints_what_it_shows(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = text(page)
    for library in ("torch", "sentence_transformers", "trackio", "wandb"):
        if f"import {library}" in content or f"from {library} import" in content:
            pytest.importorskip(library)
    if page.stem == "spark":
        spark_session()  # the one that the page asks for
    monkeypatch.chdir(ROOT)
    namespace: dict[str, Any] = {"__name__": "page"}
    output: list[str] = []
    runner = doctest.DocTestRunner()
    for block in FENCE.finditer(content):
        language, source, line = block[1], block[2], content.count("\n", 0, block.start(2))
        assert language == "python" or ">>> " not in source, (
            f"{page.name}, line {line}: a block that would not run"
        )
        if ">>> " in source:
            test = doctest.DocTestParser().get_doctest(source, {}, page.name, str(page), line)
            test.globs = namespace
            runner.run(test, out=output.append, clear_globs=False)
        elif language == "python":
            exec(compile("\n" * line + source, str(page), "exec"), namespace)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_the_card_is_short_and_its_first_number_is_on_the_first_screen() -> None:
    content = text(README)
    assert len(content.encode()) <= 12 * 1024
    card = content.split("---\n", 2)[2]
    assert "{'nDCG': 0.6956940443813076}" in "\n".join(card.splitlines()[:32])


def test_the_card_leads_to_every_page() -> None:
    for page in DOCS:
        assert f"]({name(page)})" in text(README), page.name


def test_the_figures_of_speed_are_those_that_were_measured() -> None:
    rows = re.findall(
        r"^\| (.+?) \| ([\d.]+×) \| ([\d.]+×) \|$", text(ROOT / "docs" / "speed.md"), re.MULTILINE
    )
    assert rows
    results = text(ROOT / "benchmarks" / "RESULTS.md")
    for label, mean, worst in rows:
        assert re.search(
            rf"^\| {re.escape(label)} \| {mean} \| {worst}: ", results, re.MULTILINE
        ), label


# --- Links ----------------------------------------------------------------------------------------


def test_every_link_of_the_changelog_leads_somewhere() -> None:
    """The other pages are in the Space, whose links test_space.py follows."""
    assert list(dead_links(ROOT / "CHANGELOG.md")) == []


def test_every_page_and_picture_that_a_file_names_exists() -> None:
    folders = ("benchmarks", "conformance", "docs", "examples", "ndcg", "page", "scripts", "tests")
    places = [ROOT.glob("*"), *((ROOT / folder).rglob("*") for folder in folders)]
    files = {path for found in places for path in found if path.suffix in (".md", ".py", ".toml")}
    named = {
        f"{name(file)}: {path}{anchor}"
        for file in files - {ROOT / "CHANGELOG.md"}
        for path, anchor in re.findall(r"\b(docs/[\w/-]+\.\w+)(#[\w-]+)?", text(file))
        if not (ROOT / path).is_file() or (anchor and anchor[1:] not in anchors(text(ROOT / path)))
    }
    assert named == set()


def test_the_page_on_inputs_lists_every_standard_name_and_no_other() -> None:
    standard = {
        "query": (*QUERY_OF_LISTS,),
        "document": (*DOCUMENT_OF_HITS,),
        "score, of predictions": (*SCORE, LOWEST_FIRST),
        "relevance, of references": (*RELEVANCE,),
        "list of ids, in the run": (*LISTS_OF_IDS["run"],),
        "list of ids, in references": (*LISTS_OF_IDS["qrels"],),
        "list of values beside these": (
            *LISTS_OF_VALUES["run"],
            *LISTS_OF_VALUES["qrels"],
            LOWEST_FIRST_LISTS,
        ),
    }
    section = text(ROOT / "docs" / "inputs.md").split("## Names of fields\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"(?m)^\| ([\w, ]+) \| (.+) \|$", section))
    for field, groups in standard.items():
        listed = [bare(name) for name in re.findall(r"`([^`]+)`", rows[field]) if "=" not in name]
        assert sorted(listed) == sorted(bare(name) for group in groups for name in group), field


def bare(column: str) -> str:
    """The name of a column without what does not matter: case, spaces, - and _."""
    return re.sub(r"[-_ ]", "", column.lower())


def test_dead_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    good = (
        "[a](page.md) [b](#what-it-is-1) [c](page.md#speed-x_y--z) [d](https://no.where/x.md) "
        "`[e](x.md)`"
    )
    headings = (
        "# What *it* is?\n\n## What it is\n\n### Speed, `x_y` & z\n\n```sh\n# no heading\n```\n"
    )
    page.write_text(f"{headings}\n{good}\n")
    assert list(dead_links(page)) == []
    page.write_text(
        f"{headings}\n{good}\n[f](other.md) [g](#no-heading)\n[h](page.md#What-it-is)\n"
    )
    assert list(dead_links(page)) == [
        "page.md: other.md",
        "page.md: #no-heading",
        "page.md: page.md#What-it-is",
    ]


def test_every_page_starts_with_its_title_and_no_heading_stands_twice() -> None:
    """The Space shows them in one: there a link to a page leads to its title."""
    every: Counter[str] = Counter()
    for page in (README, *DOCS):
        every.update(anchors(text(page)))
        assert page == README or re.match(r"# \w.*\n", text(page))
    assert [anchor for anchor, times in every.items() if times > 1] == []


def test_every_picture_is_shown_by_a_page() -> None:
    shown = {
        found
        for page in (README, *DOCS)
        for found in re.findall(r"images/([\w-]+\.\w+)", text(page))
    }
    assert {path.name for path in (ROOT / "docs" / "images").iterdir()} == shown
