"""The results of an evaluation under their names: means over queries, or the values of queries."""

from dataclasses import replace
from typing import Any

from ..files.paths import from_files
from ..inputs.reading import Inputs, without_run
from ..measure.messages import InputError, mark
from ..measure.options import Options
from .means import mean, weights
from .queries import measure_inputs
from .sklearn_engine import score_by_sklearn


def score_inputs(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the mean over queries by result, or a list with the value of every query."""
    if options.engine == "sklearn":
        return score_by_sklearn(inputs, options)
    needs_run = options.measures != ("IDCG",)
    if not needs_run and inputs.predictions is None and inputs.references is not None:
        if options.ideal in ("retrieved", "truncated"):
            raise InputError(
                f"{mark('predictions')} are missing, on which {mark('ideal', options.ideal)} "
                "depends"
            )
        inputs = from_files(inputs, **options.sides)
        inputs = without_run(inputs, options.score_order, options.labels)
        options = replace(options, missing="empty")
    names: list[Any] = []
    values = measure_inputs(inputs, options, names=names)
    queries = len(next(iter(values.values())))
    weight = weights(inputs.sample_weight, queries, names or None)
    if options.use_aggregator:
        return {name: mean(name, by_query, weight) for name, by_query in values.items()}
    return {name: by_query.tolist() for name, by_query in values.items()}
