"""The names that ndcg.py needs, from the modules that define them.

`make bundle` starts here. In the package, where the modules are at hand, ndcg.py imports this file itself.
"""

from ndcg.inputs.columns import settled as settled
from ndcg.inputs.exclusion import NothingExcludedError as NothingExcludedError
from ndcg.inputs.files import Limits as Limits
from ndcg.inputs.files import read_qrels as read_qrels
from ndcg.inputs.files import read_run as read_run
from ndcg.inputs.frames import is_spark as is_spark
from ndcg.inputs.rankings import Inputs as Inputs
from ndcg.inputs.rankings import to_arrow as to_arrow
from ndcg.loops.evaluator import sentence_transformers_evaluator as sentence_transformers_evaluator
from ndcg.loops.meter import meter as meter
from ndcg.loops.mteb_files import join_tasks as join_tasks
from ndcg.loops.mteb_files import read_mteb as read_mteb
from ndcg.loops.scorer import lightgbm_metric as lightgbm_metric
from ndcg.loops.scorer import scorer as scorer
from ndcg.loops.scorer import xgboost_metric as xgboost_metric
from ndcg.loops.trainer import trainer_metrics as trainer_metrics
from ndcg.measure.conventions import CONVENTIONS as CONVENTIONS
from ndcg.measure.options import OF_COMPUTE as OF_COMPUTE
from ndcg.measure.options import ComputeOptions as ComputeOptions
from ndcg.measure.options import Cutoffs as Cutoffs
from ndcg.measure.options import Options as Options
from ndcg.measure.options import QueryOptions as QueryOptions
from ndcg.measure.options import shows_options as shows_options
from ndcg.measure.options import signature as signature
from ndcg.scores.batches import Batch as Batch
from ndcg.scores.batches import Batches as Batches
from ndcg.scores.compute import compute as compute
from ndcg.scores.queries import checked_rankings as checked_rankings
from ndcg.scores.queries import from_files as from_files
from ndcg.scores.queries import from_frame as from_frame
from ndcg.scores.queries import query_values as query_values
from ndcg.scores.queries import scores as scores
from ndcg.scores.spark import compute_spark as compute_spark
from ndcg.statistics.comparison import Comparison as Comparison
from ndcg.statistics.comparison import compare as compare
from ndcg.statistics.explanation import Explanation as Explanation
from ndcg.statistics.explanation import explain as explain
from ndcg.statistics.report import Report as Report
from ndcg.statistics.report import Resampling as Resampling
from ndcg.statistics.report import report as report
from ndcg.statistics.report import report_on as report_on
