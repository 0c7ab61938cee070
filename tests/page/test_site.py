"""The site: what every answer holds, and that nothing that is sent breaks it."""

import re

import pytest
from visitor import look, send, server

from page.html import STATIC

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open


@pytest.mark.parametrize(
    ("address", "title"),
    [("/", "nDCG: how good is this ranking?"), ("/?tab=compare", "nDCG: which run is better?")],
)
def test_a_shared_link_previews_as_the_page(address: str, title: str) -> None:
    page = look(address[1:])
    assert page.found("<title>(.*?)</title>") == [title]
    meta = dict(re.findall(r'<meta (?:name|property)="(.*?)" content="(.*?)">', page.source))
    assert meta["og:title"] == title
    assert meta["description"] == meta["og:description"] != ""
    picture = server().get(meta["og:image"])
    assert meta["og:image"].startswith("http://testserver/")
    assert picture.headers["content-type"] == "image/png"


def test_the_question_whether_the_page_runs_is_answered_without_a_page() -> None:
    answer = server().head("/")
    assert (answer.status_code, answer.headers["content-length"]) == (200, "0")


def test_behind_a_proxy_the_preview_has_its_scheme() -> None:
    answer = server().get("/", headers={"x-forwarded-proto": "https"})
    assert 'content="https://testserver/static/preview.png' in answer.text


def test_the_header_has_both_places_the_documentation_and_the_api() -> None:
    for address, other in (("", "Compare"), ("?tab=compare", "Understand")):
        page = look(address)
        header = page.source.partition("<header>")[2].partition("</header>")[0]
        assert re.findall(r">(Understand|Compare|Docs|API)</", header) == [
            "Understand",
            "Compare",
            "Docs",
            "API",
        ]
        assert len(page.links(other)) == 1
    kept = look("?k=3&convention=rax").follow("Compare")
    assert kept.found('name="k" value="(.*?)"')[0] == "3"
    assert kept.found('<option selected title=".*?">(.*?)</option>') == ["rax"]


def test_the_page_asks_no_other_host_and_keeps_its_files() -> None:
    page = look()
    sources = page.found('(?:src|href)="((?:https?:)?//.*?|static/.*?)"')
    assert sources
    for source in sources:
        assert source.startswith("static/")
        assert server().get(f"/{source}").status_code == 200
    assert {path.name for path in STATIC.iterdir()} - {"preview.png"} == {
        re.split(r"[/?]", source)[1] for source in sources
    }


def test_answers_are_compressed_and_small() -> None:
    for address in ("/", "/?tab=compare"):
        with server().stream("GET", address, headers={"accept-encoding": "gzip"}) as answer:
            assert answer.headers["content-encoding"] == "gzip"
            assert len(b"".join(answer.iter_raw())) < 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_space_may_ask_for_light_or_dark(scheme: str) -> None:
    assert f'style="color-scheme: {scheme}"' in look(f"?__theme={scheme}").source
    assert "color-scheme" not in look("?__theme=<b>").source


def test_a_form_without_a_length_or_with_too_much_is_not_read() -> None:
    answer = server().post("/files?tab=compare", content=iter([b"x"]))
    assert answer.status_code == 413
    assert "nothing was added" in answer.text
    assert "These are two sample runs." in answer.text


def test_a_form_keeps_the_options_of_the_page() -> None:
    page = send("?tab=compare&k=3&convention=rax", **{"qrels.txt": "q 0 a 1\n"})
    assert "k=3&convention=rax" in page.address


def test_settings_that_cannot_be_shown_leave_the_ranking_as_it_is() -> None:
    page = look("?rel=2000,1,2&gain=exponential")
    assert page.notes[0].startswith("The settings are reset: ")
    assert page.address == "?rel=2000,1,2"


@pytest.mark.parametrize(
    "query",
    [
        "?rel=1e99,1e99&gain=exponential",
        "?rel=5000&gain=exponential",
        "?log_base=1",
        "?log_base=1e-300&rel=1,2",
        "?rel=" + ",".join(["1e100"] * 500),
        "?scores=&rel=",
        "?order=-",
        "?tab=compare&k=all&ideal=full",
        "?tab=compare&gain=a=1",
        "?grade=1:",
        "?rel=%F0%9F%90%9D&ids=%ED%A0%80",
        "?k=100000",
    ],
)
def test_no_address_breaks_the_page(query: str) -> None:
    page = look(query)
    assert page.source.rstrip().endswith("</html>")
    assert "nan" not in page.text.split()
