"""The card as the page shows it: the README, with links to the pages of docs/."""

import base64
import doctest
import re

import pytest
from conftest import ROOT
from markdown_pages import FENCE, README, anchors, prose

from page import card as room
from page.card import metric_card

SPACE = "https://huggingface.co/spaces/someone/nDCG/blob/main/"
TEXT = README.read_text("utf-8")


def links_of(markdown: str) -> list[str]:
    """The links of a page, not those of its pictures."""
    return re.findall(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)", prose(markdown))


def test_in_a_space_the_links_of_the_card_lead_to_its_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPACE_ID", "someone/nDCG")
    card = metric_card(ROOT)
    links = links_of(card)
    files = [link.removeprefix(SPACE) for link in links if link.startswith(SPACE)]
    assert files == [
        link for link in links_of(TEXT) if "://" not in link and not link.startswith("#")
    ]
    assert {"docs/inputs.md", "docs/speed.md"} <= {file.partition("#")[0] for file in files}
    assert all((ROOT / file.partition("#")[0]).exists() for file in files)
    assert {link for link in links if link.startswith("#")} <= {
        f"#h-{anchor}" for anchor in anchors(card)
    }


def test_outside_a_space_the_card_names_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPACE_ID", raising=False)
    card = metric_card(ROOT)
    assert all(link.startswith(("#h-", "https://")) for link in links_of(card))
    assert "(`docs/inputs.md`)" in card
    assert re.findall(r"\([^()]*\(`", card) == []  # such as (details (`docs/conventions.md`))
    assert doctest.testmod(room).failed == 0


def test_the_card_is_the_readme_and_shows_its_pictures() -> None:
    card = metric_card(ROOT)
    assert FENCE.findall(card) == FENCE.findall(TEXT)
    shown = [(ROOT / path).read_bytes() for path in re.findall(r"!\[[^]]+\]\((.+)\)", TEXT)]
    pictures = re.findall(r"\]\(data:[\w/+]+;base64,([^)]+)\)", card)
    assert [base64.b64decode(each) for each in pictures] == shown
    assert "$" not in prose(card).replace("$$", "")  # a dollar of a shell opens no formula
    assert r"\(" in card
