"""Pages in Markdown: which there are, and their text, headings and links."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(markdown: str) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "`", FENCE.sub("", markdown))


def anchors(markdown: str) -> set[str]:
    """The anchors of a page's headings by GitHub's rule; of equal ones the second ends in -1."""
    found: Counter[str] = Counter()
    named = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", markdown), re.MULTILINE):
        seen = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)  # of a link its text
        anchor = re.sub(r"[^\w\- ]", "", seen.lower()).replace(" ", "-")
        named.add(f"{anchor}-{found[anchor]}" if found[anchor] else anchor)
        found[anchor] += 1
    return named


def dead_links(page: Path) -> Iterator[str]:
    """The relative links of a page that lead to no file, or to no heading."""
    for target in re.findall(r"\]\(([^)\s]+)", prose(text(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.is_file() or (anchor and anchor not in anchors(text(file))):
            yield f"{page.name}: {target}"
