"""The documentation on the page: the README and docs/, whose links lead to pages and files."""

import posixpath
import re
from functools import cache

import pytest
from conftest import ROOT
from visitor import Page, look, server

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]


@cache
def answer_at(path: str) -> tuple[int, str]:
    """The status and the text of a document, which many links lead to."""
    answer = server().get(f"/docs/{path}")
    return answer.status_code, answer.text


def open_document(path: str) -> Page:
    status, source = answer_at(path)
    assert status == 200, path
    return Page(source)


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_document_leads_somewhere(path: str) -> None:
    page = open_document(path)
    article = page.source.partition("<article")[2]
    for link in re.findall(r'(?:href|src)="(.*?)"', article):
        if "://" in link or link.startswith("mailto:"):
            continue
        target, _, anchor = link.partition("#")
        there = (
            path
            if not target
            else posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        )
        status, source = answer_at(there)
        assert status == 200, link
        if anchor and there.endswith(".md"):
            assert f'id="{anchor}"' in source, link


def test_the_header_leads_to_the_documentation_and_to_the_api() -> None:
    page = look()
    (docs,), (api,) = page.links("Docs"), page.links("API")
    assert "Metric Card for nDCG" in open_document(docs.removeprefix("docs/")).text
    path, _, anchor = api.removeprefix("docs/").partition("#")
    assert f'id="{anchor}"' in open_document(path).source


def test_calls_of_the_api_have_the_address_of_the_page() -> None:
    page = open_document("docs/space.md")
    assert 'Client("http://testserver/")' in page.text
    assert "127.0.0.1:7860/gradio_api" not in page.text


def test_formulas_and_tables_can_be_read() -> None:
    source = open_document("README.md").source
    assert "<table " in source
    assert "<h1" in source
    assert "---\ntitle:" not in source


@pytest.mark.parametrize(
    "path",
    [
        "nothing.md",
        "../etc/passwd",
        "pyproject.toml",
        "ndcg/metric.py",
        "docs/../app.py",
        "docs",
        "",
    ],
)
def test_nothing_else_is_given_away(path: str) -> None:
    assert server().get(f"/docs/{path}").status_code == 404
