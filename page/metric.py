"""The metric as evaluate loads it, the only part of the package that the page uses."""

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import evaluate

Options = Mapping[str, Any]  # of `compute`
ROOT = Path(__file__).resolve().parent.parent


def metric_file(folder: Path) -> Path:
    """Return the one file that defines the class NDCG.

    It is ndcg.py, which on a Space has the name of the Space.
    """
    defined = re.compile(r"(?m)^class NDCG[(:]")
    paths = sorted(folder.glob("*.py"))
    files = [path for path in paths if defined.search(path.read_text(encoding="utf-8"))]
    if len(files) != 1:
        problem = f"{folder} must hold one file that defines the class NDCG"
        raise RuntimeError(f"{problem}; it holds {len(files)}")
    return files[0]


KEPT: ContextVar[list[Any] | None] = ContextVar("KEPT", default=None)
SHOW = warnings.showwarning


@contextmanager
def kept_warnings() -> Iterator[list[Any]]:
    """Keep what the metric warns of for the page.

    `warnings.catch_warnings` would also catch what it warns of in other threads.
    """
    warnings.showwarning = _keep_or_show
    kept: list[Any] = []
    token = KEPT.set(kept)
    try:
        yield kept
    finally:
        KEPT.reset(token)


def _keep_or_show(message: Any, *place: Any, **more: Any) -> None:
    kept = KEPT.get()
    if kept is None:
        SHOW(message, *place, **more)
    else:
        kept.append(message.args[0])


warnings.filterwarnings("always", category=UserWarning, module="page")
warnings.filterwarnings(
    "ignore", ".*no document was both retrieved and judged", UserWarning
)  # a note on the page
ndcg = evaluate.load(str(metric_file(ROOT)))
tables = sys.modules[
    type(ndcg.CONVENTIONS["sklearn"]).__module__
]  # of options and conventions, and their words
