"""nDCG, DCG, IDCG and CG of rankings, with scikit-learn's numbers: the door of the installed package.

It needs NumPy and pyarrow. Each name is imported when it is first asked for, so that the command
line answers at once; with the metric for Hugging Face `evaluate`, `ndcg.NDCG`, come `evaluate` and
`datasets`.

>>> import ndcg
>>> ndcg.compute(predictions=[[0.9, 0.4, 0.1]], references=[[0, 1, 2]], k=2)
{'nDCG@2': 0.23981246656813146}
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import Comparison, compare
    from .compute import compute
    from .conventions import CONVENTIONS
    from .evaluator import sentence_transformers_evaluator
    from .explanation import Explanation, explain
    from .files import Limits, read_qrels, read_run
    from .meter import meter
    from .metric import NDCG
    from .mteb_files import join_tasks, read_mteb
    from .options import __version__, signature
    from .report import Report, report
    from .scorer import lightgbm_metric, scorer, xgboost_metric
    from .spark import compute_spark
    from .trainer import trainer_metrics

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
    "join_tasks",
    "lightgbm_metric",
    "meter",
    "read_mteb",
    "read_qrels",
    "read_run",
    "report",
    "scorer",
    "sentence_transformers_evaluator",
    "signature",
    "trainer_metrics",
    "xgboost_metric",
]

_ROOMS = {
    "comparison": ("Comparison", "compare"),
    "compute": ("compute",),
    "conventions": ("CONVENTIONS",),
    "evaluator": ("sentence_transformers_evaluator",),
    "explanation": ("Explanation", "explain"),
    "files": ("Limits", "read_qrels", "read_run"),
    "meter": ("meter",),
    "metric": ("NDCG",),
    "mteb_files": ("join_tasks", "read_mteb"),
    "options": ("__version__", "signature"),
    "report": ("Report", "report"),
    "scorer": ("lightgbm_metric", "scorer", "xgboost_metric"),
    "spark": ("compute_spark",),
    "trainer": ("trainer_metrics",),
}


class _Door(ModuleType):
    """The package, in which a function keeps its name from the module that is called the same, such as `report`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    """Return a name of the package, imported when it is first asked for."""
    room = next((room for room, names in _ROOMS.items() if name in names), None)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = getattr(import_module(f".{room}", __name__), name)
    except ModuleNotFoundError as error:
        if room != "metric":
            raise
        raise ImportError(f'NDCG needs {error.name}: pip install "ndcg[evaluate]"') from None
    setattr(sys.modules[__name__], name, found)
    return found


def __dir__() -> list[str]:
    return __all__


sys.modules[__name__].__class__ = _Door
