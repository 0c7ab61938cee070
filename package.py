"""nDCG, DCG, IDCG and CG of rankings, with scikit-learn's numbers: the door of the installed package.

It needs NumPy and pyarrow. `ndcg.NDCG` is the metric for Hugging Face `evaluate`; that class, and
with it `evaluate` and `datasets`, is imported when it is asked for.

>>> import ndcg
>>> ndcg.compute(predictions=[[0.9, 0.4, 0.1]], references=[[0, 1, 2]], k=2)
{'nDCG@2': 0.23981246656813146}
"""

from typing import TYPE_CHECKING, Any

from .comparison import Comparison, compare
from .compute import compute
from .conventions import CONVENTIONS
from .explanation import Explanation, explain
from .files import Limits, read_qrels, read_run
from .options import __version__, signature
from .report import Report, report
from .spark import compute_spark
from .trainer import trainer_metrics

if TYPE_CHECKING:
    from .metric import NDCG

__all__ = [
    "CONVENTIONS",
    "NDCG",
    "Comparison",
    "Explanation",
    "Limits",
    "Report",
    "__version__",
    "compare",
    "compute",
    "compute_spark",
    "explain",
    "read_qrels",
    "read_run",
    "report",
    "signature",
    "trainer_metrics",
]


def __getattr__(name: str) -> Any:
    """Return the metric class, imported when it is first asked for."""
    if name != "NDCG":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .metric import NDCG
    except ModuleNotFoundError as error:
        raise ImportError(f'NDCG needs {error.name}: pip install "ndcg[evaluate]"') from None
    return NDCG


def __dir__() -> list[str]:
    return __all__
