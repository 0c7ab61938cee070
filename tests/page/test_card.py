"""The card as the page shows it: one text."""

import re

from conftest import ROOT
from test_readme import DOCS, FENCE, README, anchors, prose

from page.card import metric_card


def test_the_links_of_the_card_lead_within_it() -> None:
    card = metric_card(ROOT)
    links = re.findall(r"\]\(([^)\s]+)", prose(card))
    within = [link for link in links if not link.startswith("https://")]
    assert {"#h-forms", "#h-speed", "#h-padding"} < set(within)
    assert set(within) <= {f"#h-{anchor}" for anchor in anchors(card)}
    pages = [page.read_text("utf-8") for page in (README, *DOCS)]
    assert len(links) - len(within) == sum(prose(page).count("](https://") for page in pages)
    assert FENCE.findall(card) == [block for page in pages for block in FENCE.findall(page)]
