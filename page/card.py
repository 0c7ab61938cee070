"""The tab of the metric card: the README and the pages of docs/."""

import re
from pathlib import Path

import gradio as gr

from .metric import ROOT

DELIMITERS: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]


def card_tab() -> None:
    """Lay out the tab."""
    with gr.Tab("Metric card", id="card"):
        gr.Markdown(metric_card(ROOT), latex_delimiters=DELIMITERS, header_links=True, elem_id="card-text")


def metric_card(folder: Path) -> str:
    """Return the README without its front matter, then the pages of docs/: as one text, whose links lead within it."""
    card = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").glob("*.md"))}

    def within(link: re.Match[str]) -> str:
        text, path, anchor = link.groups()
        page = Path(path).stem
        if path and page not in pages:
            return text  # a file that the page does not show
        return f"[{text}](#h-{anchor or page})"  # Gradio names a heading by GitHub's rule, after an h-

    return re.sub(r"\[([^]]+)\]\(([\w./-]*)(?:#([\w-]+))?\)", within, "\n\n".join([card, *pages.values()]))
