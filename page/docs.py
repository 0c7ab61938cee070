"""The pages of docs/ and the README as HTML, with links that work on the page."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markupsafe import Markup

from .metric import ROOT

FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FOLDERS = ("docs", "benchmarks", "conformance", "examples")
SUFFIXES = (".md", ".py", ".png", ".webp", ".json", ".csv", ".txt", ".svg", ".sh")
# what can be asked for, and nothing else of the server
DOCUMENTS = set(map(ROOT.joinpath, FILES))
for folder in FOLDERS:
    paths = (ROOT / folder).rglob("*")
    DOCUMENTS |= {path for path in paths if path.suffix in SUFFIXES}
LOCAL = "http://127.0.0.1:7860/"  # in the examples of the API
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
FORMULA = re.compile(r"(?<!\$)\$([^$\n]+)\$(?!\$)")
CODE = re.compile(r"(```.*?```|`[^`]+`)", re.DOTALL)


def file_of(path: str) -> Path | None:
    """Return the file of the documentation at a path; None if there is none."""
    file = (ROOT / path).resolve()
    return file if file in DOCUMENTS else None


def html_of(file: Path, home: str) -> Markup:
    """Return a page of Markdown as HTML; its examples of the API have the address of the page."""
    text = FRONT_MATTER.sub("", file.read_text(encoding="utf-8")).replace(LOCAL, home)
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse("".join(map(_with_formulas, CODE.split(text))))
    names: Counter[str] = Counter()
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(inline.content, names))
    source = renderer.renderer.render(tokens, renderer.options, {})
    for tag in ("pre", "table"):  # which may scroll, by keys too
        source = source.replace(f"<{tag}>", f'<{tag} tabindex="0">')
    return Markup(source)  # noqa: S704 - text of the project


def _with_formulas(part: str) -> str:
    """Return text with its formulas as code, so that no star or underscore in them is Markdown."""
    if part.startswith("`"):
        return part
    part = re.sub(r"(?s)\$\$\n(.*?)\n\$\$", r"```\n\1\n```", part)
    return FORMULA.sub(r"`\1`", part)


def _anchor(heading: str, names: Counter[str]) -> str:
    """Return the anchor of a heading by GitHub's rule; of equal ones the second ends in -1."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
    count = names[name]
    names[name] += 1
    if count:
        return f"{name}-{count}"
    return name
