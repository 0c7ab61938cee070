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
    """Return the mean over queries under the name of each result, or a list with the value of each query."""
    if options.engine == "sklearn":
        return score_by_sklearn(inputs, options)
    if (
        inputs.predictions is None
        and inputs.references is not None
        and options.measures == ("IDCG",)
    ):
        if options.ideal in ("retrieved", "truncated"):
            raise InputError(
                f"{mark('predictions')} are missing, on which {mark('ideal', options.ideal)} depends"
            )
        options = replace(options, missing="empty")
        inputs = without_run(
            from_files(inputs, **options.sides), options.score_order, options.labels
        )
    names: list[Any] = []
    values = measure_inputs(inputs, options, names=names)
    weight = weights(inputs.sample_weight, len(next(iter(values.values()))), names or None)
    if not options.use_aggregator:
        return {name: each.tolist() for name, each in values.items()}
    return {name: mean(name, each, weight) for name, each in values.items()}
