"""The tab of the metric card: the README, with links to the pages of docs/; it is fetched when the tab opens."""

import base64
import os
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
TYPES = {".png": "image/png", ".webp": "image/webp"}
CODE_OR_FORMULA = re.compile(r"(?s)(```.*?\n```|`[^`]+`)|(?<!\$)\$([^$]+)\$(?!\$)")


def card_tab() -> None:
    """Lay out the tab."""
    text = metric_card(ROOT)
    with gr.Tab("Metric card", id="card") as tab:
        card = gr.Markdown(
            "Loading …", latex_delimiters=DELIMITERS, header_links=True, elem_id="card-text"
        )
        is_there = gr.Checkbox(False, visible="hidden")

    def fetch(is_there: bool) -> tuple[Any, bool]:
        """Return the text, but only once."""
        return gr.skip() if is_there else text, True

    tab.select(fetch, is_there, [card, is_there], **QUIET)


def file_address(path: str) -> str:
    """Return the address at which the Hub shows a file of the Space; an empty string outside a Space."""
    space = os.environ.get("SPACE_ID")  # set by the Hub
    return f"https://huggingface.co/spaces/{space}/blob/main/{path}" if space else ""


def file_link(text: str, path: str, *, in_parentheses: bool = False) -> str:
    """Return a Markdown link to a file of the Space; outside a Space, the text and the path.

    >>> file_link("input formats", "docs/inputs.md#padding")
    'input formats (`docs/inputs.md`)'
    >>> file_link("details", "docs/inputs.md", in_parentheses=True)
    'details: `docs/inputs.md`'
    """
    if address := file_address(path):
        return f"[{text}]({address})"
    name = f"`{path.partition('#')[0]}`"
    return f"{text}: {name}" if in_parentheses else f"{text} ({name})"


def metric_card(folder: Path) -> str:
    """Return the README without its front matter, with its pictures, and with links that work on the page."""
    card = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]

    def linked(link: re.Match[str]) -> str:
        is_picture, text, path, anchor = link.groups()
        if is_picture:
            coded = base64.b64encode((folder / path).read_bytes()).decode()
            return f"![{text}](data:{TYPES[Path(path).suffix]};base64,{coded})"
        if path:
            around = link.string[link.start() - 1], link.string[link.end()]
            return file_link(
                text, f"{path}#{anchor}" if anchor else path, in_parentheses=around == ("(", ")")
            )
        return f"[{text}](#h-{anchor})"  # Gradio names a heading by GitHub's rule, after an h-

    text = CODE_OR_FORMULA.sub(lambda match: match[1] or rf"\({match[2]}\)", card)
    return re.sub(r"(!?)\[([^]]+)\]\(([\w./-]*)(?:#([\w-]+))?\)", linked, text)
