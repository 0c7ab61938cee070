"""nDCG, DCG, IDCG and CG of rankings, equal to scikit-learn's: the package's public functions.

They need NumPy and pyarrow. Every name is imported when it is first used, so that the command line
starts quickly. `ndcg.NDCG`, the metric for Hugging Face `evaluate`, also needs `evaluate` and
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
    from .explanations.check import Check as Check
    from .explanations.check import check as check
    from .explanations.explanation import Explanation as Explanation
    from .explanations.explanation import explain as explain
    from .explanations.slips import SLIPS as SLIPS
    from .files.content import Limits as Limits
    from .files.reader import read_qrels as read_qrels
    from .files.reader import read_run as read_run
    from .loops.evaluator import sentence_transformers_evaluator as sentence_transformers_evaluator
    from .loops.meter import meter as meter
    from .loops.scorer import lightgbm_metric as lightgbm_metric
    from .loops.scorer import scorer as scorer
    from .loops.scorer import xgboost_metric as xgboost_metric
    from .loops.torchmetrics_metric import torchmetrics_metric as torchmetrics_metric
    from .loops.trainer import trainer_metrics as trainer_metrics
    from .measure.conventions import CONVENTIONS as CONVENTIONS
    from .measure.options import __version__ as __version__
    from .measure.options import signature as signature
    from .metric import NDCG as NDCG
    from .scores.compute import compute as compute
    from .scores.documents import documents as documents
    from .scores.preview import Preview as Preview
    from .scores.preview import preview as preview
    from .scores.spark import compute_spark as compute_spark
    from .statistics.comparing import compare as compare
    from .statistics.comparing_reports import compare_reports as compare_reports
    from .statistics.comparison import Comparison as Comparison
    from .statistics.report import Report as Report
    from .statistics.report import report as report

_MODULES = {
    "Check": "explanations.check",
    "check": "explanations.check",
    "Explanation": "explanations.explanation",
    "explain": "explanations.explanation",
    "SLIPS": "explanations.slips",
    "Limits": "files.content",
    "read_qrels": "files.reader",
    "read_run": "files.reader",
    "sentence_transformers_evaluator": "loops.evaluator",
    "meter": "loops.meter",
    "lightgbm_metric": "loops.scorer",
    "scorer": "loops.scorer",
    "xgboost_metric": "loops.scorer",
    "torchmetrics_metric": "loops.torchmetrics_metric",
    "trainer_metrics": "loops.trainer",
    "CONVENTIONS": "measure.conventions",
    "__version__": "measure.options",
    "signature": "measure.options",
    "NDCG": "metric",
    "compute": "scores.compute",
    "documents": "scores.documents",
    "Preview": "scores.preview",
    "preview": "scores.preview",
    "compute_spark": "scores.spark",
    "compare": "statistics.comparing",
    "compare_reports": "statistics.comparing_reports",
    "Comparison": "statistics.comparison",
    "Report": "statistics.report",
    "report": "statistics.report",
}


class Package(ModuleType):
    """This package, of which `datasets` hashes only the name.

    Its contents depend on which names were used before.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = Package
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    """Return a public name, imported when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES[name]
    try:
        value = getattr(import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        if module != "metric":
            raise
        from .measure.messages import missing_library

        raise missing_library("NDCG", str(error.name), "datasets evaluate") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
