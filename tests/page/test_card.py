"""The card as the page shows it: one text."""

import base64
import re

from conftest import ROOT
from markdown_pages import DOCS, FENCE, README, anchors, prose

from page.card import metric_card


def test_the_links_of_the_card_lead_within_it() -> None:
    card = metric_card(ROOT)
    links = re.findall(r"\]\(([^)\s]+)", prose(card))
    pictures = [link for link in links if link.startswith("data:")]
    links = [link for link in links if link not in pictures]
    within = [link for link in links if not link.startswith("https://")]
    assert {"#h-input-formats", "#h-speed", "#h-padding", "#h-how-sure-is-it"} < set(within)
    assert set(within) <= {f"#h-{anchor}" for anchor in anchors(card)}
    pages = [page.read_text("utf-8") for page in (README, *DOCS)]
    shown = [
        (page.parent / path).read_bytes()
        for page in (README, *DOCS)
        for path in re.findall(r"!\[[^]]+\]\((.+)\)", page.read_text("utf-8"))
    ]
    assert len(shown) > 2
    assert [base64.b64decode(each.partition(";base64,")[2]) for each in pictures] == shown
    assert {each.partition(";")[0] for each in pictures} == {"data:image/svg+xml", "data:image/webp"}
    assert len(links) - len(within) == sum(prose(page).count("](https://") for page in pages)
    assert FENCE.findall(card) == [block for page in pages for block in FENCE.findall(page)]


def test_a_dollar_of_a_shell_opens_no_formula() -> None:
    card = metric_card(ROOT)
    assert "exit status $?" in card
    assert "$" not in prose(card).replace("$$", "")
    assert r"\(1 / \log_b(i + 1)\)" in card
