"""The function `compute` of the package: for rankings in memory, files, DataFrames or on Spark."""

from typing import Any, Unpack

from ..inputs.reading import Inputs
from ..inputs.sources import is_spark
from ..measure.arguments import describes_arguments
from ..measure.options import ComputeOptions, Cutoffs, Options, shows_options
from .frames import from_frame
from .results import score_inputs
from .spark import compute_spark, compute_spark_tables


@shows_options
@describes_arguments
def compute(
    *,
    predictions: Any = None,
    references: Any = None,
    k: Cutoffs = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[ComputeOptions],
) -> Any:
    """Return nDCG (Järvelin and Kekäläinen, 2002), DCG, IDCG or CG: the mean, or of every query.

    Args:
        predictions: {predictions}
        references: {references}
        k: {k}
        sample_weight: {sample_weight}
        query_ids: {query_ids}
        document_ids: {document_ids}
        data: {data}
        exclude: {exclude}
        fields: {fields}
        **options: `measures`, `convention`, `gain`, `discount`, `log_base`, `ideal`, `score_dtype`,
            `score_order`, `ties`, `ignore_ties`, `zero_division`, `negative_relevance`,
            `judged_only`, `duplicates`, `exclude_from`, `ignore_index`, `missing`, `use_aggregator`
            and `engine`, as the metric card describes them.

    Returns:
        A value for every measure and cutoff under its name, such as `nDCG@10`: a float from 0 to 1
        for nDCG, or with `use_aggregator=False` a list with the value of every query. For a Spark
        DataFrame, the values of queries are a DataFrame, as in `compute_spark`.

    Raises:
        ValueError: an option or a ranking is invalid; names the option, or the argument, query and
            position.
        TypeError: an option is unknown; names the nearest, or all options.

    >>> compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]], k=3)
    {'nDCG@3': 0.4123818817534531}
    """
    others: dict[str, Any] = {"exclude": exclude, "sample_weight": sample_weight, "k": k, **options}
    # Spark scores its tables on the executors, so they are not read here.
    if is_spark(predictions) or is_spark(references):
        ids = {"query_ids": query_ids, "document_ids": document_ids, "fields": fields}
        return compute_spark_tables(predictions, references, **ids, **others)
    if is_spark(data):
        columns = {"prediction": predictions, "reference": references}
        columns |= {"query": query_ids, "document": document_ids}
        return compute_spark(data, **columns, **others)
    parsed = Options.for_method(compute, k, options, lacks=())
    inputs = Inputs(
        predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields
    )
    return score_inputs(from_frame(data, inputs), parsed)
