"""The tab of the metric card: the README and the pages of docs/, which are fetched when it opens."""

import base64
import re
from pathlib import Path
from typing import Any

import gradio as gr

from .events import QUIET
from .metric import ROOT

DELIMITERS: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": r"\(", "right": r"\)", "display": False},  # a $ is also a shell's
]
TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp"}
CODE_OR_FORMULA = re.compile(r"(?s)(```.*?\n```|`[^`]+`)|(?<!\$)\$([^$]+)\$(?!\$)")


def card_tab() -> None:
    """Lay out the tab; its text is longer than all the rest of the page."""
    text = metric_card(ROOT)
    with gr.Tab("Metric card", id="card") as tab:
        card = gr.Markdown("Loading …", latex_delimiters=DELIMITERS, header_links=True, elem_id="card-text")
        is_there = gr.Checkbox(False, visible="hidden")

    def fetch(is_there: bool) -> tuple[Any, bool]:
        """Return the text, but once."""
        return gr.skip() if is_there else text, True

    tab.select(fetch, is_there, [card, is_there], **QUIET)


def metric_card(folder: Path) -> str:
    """Return the README without its front matter, then the pages of docs/: one text, with pictures and inner links."""
    card = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "docs").glob("*.md"))}
    titles = {name: page.partition("\n")[0].removeprefix("# ") for name, page in pages.items()}

    def within(link: re.Match[str]) -> str:
        is_picture, text, path, anchor = link.groups()
        if is_picture:
            # the README names it from the root, a page of docs/ from there
            file = folder / path if path.startswith("docs/") else folder / "docs" / path
            coded = base64.b64encode(file.read_bytes()).decode()
            return f"![{text}](data:{TYPES[file.suffix]};base64,{coded})"
        page = Path(path).stem
        if path and page not in pages:
            return text  # a file that the page does not show
        heading = anchor or re.sub(r"[^\w\- ]", "", titles[page].lower()).replace(" ", "-")
        return f"[{text}](#h-{heading})"  # Gradio names a heading by GitHub's rule, after an h-

    text = CODE_OR_FORMULA.sub(lambda found: found[1] or rf"\({found[2]}\)", "\n\n".join([card, *pages.values()]))
    return re.sub(r"(!?)\[([^]]+)\]\(([\w./-]*)(?:#([\w-]+))?\)", within, text)
