"""Take pictures of the page in each of its states, at two widths, in light and dark.

Run it as `python benchmarks/page_pictures.py http://127.0.0.1:7860/`, with the address of a page
that runs: it takes the pictures of docs/images/ again. With a folder after the address, it takes
pictures of all states into that folder.
"""

import io
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

SHOWN = (
    Path(__file__).resolve().parent.parent / "docs" / "images"
)  # by pages of docs/ and the README
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
STATES = {  # the address, the parts to unfold, and whether runs are scored first
    "one-ranking": ("", (), False),
    "swapped": ("?rel=3,2,3,2,1,0", (), False),
    "options": ("?convention=lightgbm&k=5", ("Options",), False),
    "table": ("", ("Edit as a table",), False),
    "numbers": ("?k=1,3,10", ("Every number",), False),
    "code": ("", ("Use it in code",), False),
    "error": ("?rel=3,-2,1", (), False),
    "step-gain": ("?step=gain", (), False),
    "step-discount": ("?step=discount", (), False),
    "step-ideal": ("?step=ideal", (), False),
    "step-ties": ("?step=ties", (), False),
    "step-missing": ("?step=missing", (), False),
    "step-exponential": ("?step=exponential", (), False),
    "compare": ("?tab=runs", (), True),
    "batch": ("?tab=batch", (), False),
    "explain": ("?tab=explain&data=example&got=0.6496", (), False),
    "card": ("?tab=card", (), False),
    "api": ("?tab=api", (), False),
}


def show(page: Any, address: str, unfolded: tuple[str, ...], scored: bool) -> None:
    """Open a state of the page, and wait until it is drawn."""
    page.goto(address)
    page.wait_for_selector("#picture .value, #picture .error", state="attached")
    page.wait_for_timeout(1500)
    for name in unfolded:
        page.get_by_role("button", name=name).click()
    if scored:
        page.wait_for_selector("#runs-view h2")
        page.locator("#runs-view").evaluate("each => each.scrollIntoView()")
    page.wait_for_timeout(1000)


def main(url: str, folder: Path | None = None) -> None:
    """Take pictures of all states into a folder; without one, those of docs/images/."""
    wanted = set() if folder else {path.stem for path in SHOWN.glob("*.webp")}
    folder = folder or SHOWN
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for width, scheme in LOOKS:
            page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
            for state, (query, unfolded, scored) in STATES.items():
                name = f"{state}-{width}-{scheme}"
                if wanted and name not in wanted:
                    continue
                theme = f"{'&' if query else '?'}__theme={scheme}"
                show(page, url + query + theme, unfolded, scored)
                picture = Image.open(io.BytesIO(page.screenshot()))
                picture.save(folder / f"{name}.webp", quality=80, method=6)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:3]))
