"""Show the progress of work that takes long."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, TypeVar

_Item = TypeVar("_Item")


def progress(total: int, doing: str, unit: str) -> Any:
    """Return a progress bar for work that takes over two seconds, on a terminal."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext(SimpleNamespace(update=lambda done: None))
    disable = None  # shows it on a terminal only
    datasets = sys.modules.get("datasets")
    if datasets and datasets.are_progress_bars_disabled():
        disable = True
    return tqdm(total=total, desc=doing, unit=unit, delay=2, leave=False, disable=disable)


def tracked(items: Sequence[_Item], doing: str, unit: str) -> Iterator[_Item]:
    """Yield items, and show how many are done."""
    with progress(len(items), doing, unit) as bar:
        for item in items:
            yield item
            bar.update(1)
