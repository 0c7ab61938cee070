"""Take pictures of the page, at two widths, in light and dark.

Run it as `python benchmarks/page_pictures.py http://127.0.0.1:7860/`, with the address of a page
that runs: it takes the pictures that README.md and docs/space.md show. With a folder after the
address, it takes pictures of all states into that folder.
"""

import io
import itertools
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "page" / "samples"
HEIGHT = 844  # of a phone's screen; no picture is higher
STATES = {  # the address, and the parts of the page that are in the picture
    "first-screen": ("", "header, .orders, .thread"),
    "solved": ("?order=2,3,4,5,6,1*", "header, .orders, .thread"),
    "ties": ("?step=ties&guess=From 0.92 to 1", "header, .orders, .thread"),
    "missing": ("?step=missing", "header, .tray, .thread"),
    "libraries": ("?step=libraries&guess=Nine&got=0.906", ".libraries"),
    "compare": ("RUNS", "header, .verdict"),
    "query": ("RUNS&query=q03&other=bm25", ".queries"),
}
FUSED = {"rrf_bm25": (3, 1), "rrf": (1, 1), "rrf_dense": (1, 3)}  # weights of bm25 and dense
EDGES = """
parts => {
  const edges = parts.map(part => part.getBoundingClientRect());
  return [Math.min(...edges.map(edge => edge.top)), Math.max(...edges.map(edge => edge.bottom))];
}
"""


def fused_run(weights: tuple[int, int]) -> str:
    """Return the reciprocal rank fusion of the two sample runs."""
    scores: dict[tuple[str, str], float] = defaultdict(float)
    for name, weight in zip(("bm25", "dense"), weights, strict=True):
        for line in (SAMPLES / f"{name}.txt").read_text().splitlines():
            query, _, document, rank, *_ = line.split()
            scores[query, document] += weight / (60 + int(rank))
    lines = [f"{query} Q0 {document} 0 {score} rrf" for (query, document), score in scores.items()]
    return "\n".join(lines)


def upload_runs(page: Any, url: str) -> str:
    """Choose the samples and the fused runs in Compare; return the address that shows them."""
    texts = {path.name: path.read_text() for path in SAMPLES.iterdir()}
    for name, weights in FUSED.items():
        texts[f"{name}.txt"] = fused_run(weights)
    files = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in texts.items()
    ]
    page.goto(f"{url}?tab=compare")
    page.set_input_files(".zone input[type=file]", files)
    page.wait_for_function("location.search.includes('files=')")
    return str(page.evaluate("location.search"))


def take(page: Any, parts: str) -> Image.Image:
    """Return a picture from the top of the first part to the end of the last."""
    top, end = page.eval_on_selector_all(parts, EDGES)
    height = min(end + 16 - top, HEIGHT)
    area = {"x": 0, "y": top, "width": page.viewport_size["width"], "height": height}
    return Image.open(io.BytesIO(page.screenshot(full_page=True, clip=area)))


def main(url: str, folder: Path | None = None) -> None:
    """Take pictures of all states into a folder; without one, those of docs/images/."""
    texts = (ROOT / "README.md").read_text() + (ROOT / "docs" / "space.md").read_text()
    shown = re.findall(r"images/([\w-]+)\.webp", texts)
    target = folder or ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        runs = upload_runs(browser.new_page(), url)
        for state, width, scheme in itertools.product(STATES, (1280, 390), ("light", "dark")):
            name = f"{state}-{width}-{scheme}"
            if folder is None and name not in shown:
                continue
            address, parts = STATES[state]
            size = {"width": width, "height": HEIGHT}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(url + address.replace("RUNS", runs), wait_until="networkidle")
            take(page, parts).save(target / f"{name}.webp", quality=80, method=6)
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:3]))
