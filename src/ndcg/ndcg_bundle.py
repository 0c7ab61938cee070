"""The names that ndcg.py needs, from the modules that define them.

`make bundle` starts here. In the package, where the modules are at hand, ndcg.py imports this file itself.
"""

from .inputs.exclusion import NothingExcludedError as NothingExcludedError
from .inputs.file_content import Limits as Limits
from .inputs.files import read_qrels as read_qrels
from .inputs.files import read_run as read_run
from .inputs.reading import Inputs as Inputs
from .inputs.rankings import to_arrow as to_arrow
from .inputs.sources import is_spark as is_spark
from .inputs.sources import settled as settled
from .loops.evaluator import sentence_transformers_evaluator as sentence_transformers_evaluator
from .loops.meter import meter as meter
from .loops.mteb_files import join_tasks as join_tasks
from .loops.mteb_files import read_mteb as read_mteb
from .loops.scorer import lightgbm_metric as lightgbm_metric
from .loops.scorer import scorer as scorer
from .loops.scorer import xgboost_metric as xgboost_metric
from .loops.trainer import trainer_metrics as trainer_metrics
from .measure.arguments import OPTIONS as OPTIONS
from .measure.arguments import lines_of as lines_of
from .measure.conventions import CONVENTIONS as CONVENTIONS
from .measure.options import ComputeOptions as ComputeOptions
from .measure.options import Cutoffs as Cutoffs
from .measure.options import Options as Options
from .measure.options import refuse_unknown as refuse_unknown
from .measure.options import QueryOptions as QueryOptions
from .measure.options import shows_options as shows_options
from .measure.options import signature as signature
from .scores.batches import Batch as Batch
from .scores.batches import Batches as Batches
from .scores.compute import compute as compute
from .scores.queries import checked_rankings as checked_rankings
from .scores.queries import from_files as from_files
from .scores.queries import from_frame as from_frame
from .scores.queries import query_values as query_values
from .scores.queries import scores as scores
from .scores.spark import compute_spark as compute_spark
from .statistics.check import Check as Check
from .statistics.check import check as check
from .statistics.comparison import Comparison as Comparison
from .statistics.comparison import compare as compare
from .statistics.explanation import Explanation as Explanation
from .statistics.explanation import explain as explain
from .statistics.measured import Resampling as Resampling
from .statistics.report import Report as Report
from .statistics.report import report as report
from .statistics.report import report_on as report_on
from .statistics.slips import SLIPS as SLIPS
