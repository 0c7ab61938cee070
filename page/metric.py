"""The metric as evaluate loads it, the only part of the package that the page uses."""

import re
import sys
import warnings
from collections.abc import Mapping
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
    files = []
    for path in sorted(folder.glob("*.py")):
        if defined.search(path.read_text(encoding="utf-8")):
            files.append(path)
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise RuntimeError(
            f"{folder} must hold one file that defines the class NDCG; it holds {names}"
        )
    return files[0]


warnings.filterwarnings(
    "ignore", ".*no document was both retrieved and judged", UserWarning
)  # a note on the page
ndcg = evaluate.load(str(metric_file(ROOT)))
tables = sys.modules[
    type(ndcg.CONVENTIONS["sklearn"]).__module__
]  # of options and conventions, and their words
