"""The tab for programs, and the functions that it offers them."""

import inspect
from functools import wraps
from typing import Any

import gradio as gr

from .choices import CHOICES, LEFT_OUT, RIGHTLY_EMPTY, cutoffs_of, zero_division_of
from .events import Handler, raise_errors
from .found import compare_runs, read_files, report_on
from .metric import ROOT, ndcg
from .uploads import check_size

CALLS = """
```python
from gradio_client import Client, handle_file

client = Client("http://127.0.0.1:7860/")  # or the name of this Space
client.predict([[0.9, 0.1, 0.5]], [[1, 0, 2]], cutoffs="1,3", api_name="/score")
client.predict(handle_file("bm25.run"), handle_file("qrels.txt"), cutoffs="10", api_name="/score_run")
client.predict([handle_file("bm25.run"), handle_file("dense.run")], handle_file("qrels.txt"), api_name="/compare")
```
"""


def options_of_words(
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
    negative: str = "",
    unjudged: str = "gain 0",
    log_base: float = 2.0,
    discount: str = "",
    ideal: str = "",
    missing: str = "",
) -> dict[str, Any]:
    """Return the options of `compute` for a program's words.

    Args:
        cutoffs: how many ranks count: "10", several as "1,5,10", or "" for the whole list.
        convention: whose nDCG: "sklearn", "trec_eval", "lightgbm" and others of the metric card.
        gain: "linear", "exponential" or "binary"; "" for the convention's.
        ties: "average", "first", "last", "best" or "worst"; "" for the convention's.
        empty: nDCG of a query with nothing relevant: a number, "left out", or "1 if nothing was retrieved, else 0"; ""
            for the convention's.
        negative: what to do with a negative relevance: "raise", "clip" or "keep"; "" for the convention's.
        unjudged: documents without relevance: "gain 0", or "removed" before ranking.
        log_base: of the logarithm in the discount.
        discount: "log", "reciprocal" or "jarvelin"; "" for the convention's.
        ideal: of "judged" documents, "truncated" to as many as were retrieved, of "retrieved" ones alone, or "full" of
            the most relevant; "" for the convention's.
        missing: a judged query that the run lacks: "empty" counts it as having retrieved nothing, "skip" leaves it out,
            "raise" refuses it; "" for the convention's.
    """
    words = {
        "convention": convention,
        "gain": gain,
        "discount": discount,
        "ideal": ideal,
        "missing": missing,
        "ties": ties,
        "empty": empty,
        "negative": negative,
    }
    for name, word in words.items():
        if not isinstance(word, str):
            raise ValueError(f"{name} must be text; got {type(word).__name__}")
    if unjudged not in CHOICES["unjudged"]:
        raise ValueError(f'unjudged: must be "gain 0" or "removed"; got {str(unjudged)[:40]!r}')
    options: dict[str, Any] = {"k": cutoffs_of(str(cutoffs or "")), "convention": convention}
    chosen = {"gain": gain, "discount": discount, "ideal": ideal, "ties": ties, "negative_relevance": negative}
    chosen["missing"] = missing
    options |= {name: value for name, value in chosen.items() if value}
    options |= {"judged_only": unjudged == "removed", "log_base": log_base}
    if empty:
        try:
            options["zero_division"] = zero_division_of(empty)
        except ValueError:
            known = f'"{LEFT_OUT}" or "{RIGHTLY_EMPTY}"'
            raise ValueError(f"empty: must be a number, {known}; got {empty[:40]!r}") from None
    ndcg.signature(**options)
    return options


WORDS = inspect.signature(options_of_words).parameters
OPTIONS = "        options: of `compute`."


def endpoint(function: Handler) -> Handler:
    """Let programs call a function with words in place of its options, its last parameter.

    Gradio reads the names and types of what it calls, their defaults and their descriptions.
    """
    own = list(inspect.signature(function).parameters.values())[:-1]

    @raise_errors
    @wraps(function)
    def answer(*arguments: Any) -> Any:
        return function(*arguments[: len(own)], options_of_words(*arguments[len(own) :]))

    parameters = [*own, *WORDS.values()]
    described = str(options_of_words.__doc__).partition("Args:\n")[2].rstrip()
    answer.__signature__ = inspect.Signature(parameters, return_annotation=dict)  # type: ignore[attr-defined]
    answer.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": dict}
    answer.__doc__ = str(function.__doc__).replace(OPTIONS, described)
    return answer


@endpoint
def score(
    predictions: list[list[float | None]], references: list[list[float | None]], options: dict[str, Any]
) -> dict[str, Any]:
    """Score ranked documents by nDCG: how good rankings are, from 0 to 1.

    Args:
        predictions: the score of each document of each query, one list per query; null: not retrieved.
        references: the relevance of the same documents in the same order; null: not judged.
        options: of `compute`.

    Returns:
        The scores by name, such as "nDCG@10", and their "signature".
    """
    for name, side in (("predictions", predictions), ("references", references)):
        # never accept server paths
        if not isinstance(side, list) or not all(isinstance(each, list) for each in side):
            raise ValueError(f"{name} must be a list of one list per query")
        try:
            check_size(side)
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None
    result = ndcg.compute(predictions=predictions, references=references, **options)
    return {**result, "signature": ndcg.signature(**options)}


@endpoint
def score_run(run: str, qrels: str, options: dict[str, Any]) -> dict[str, Any]:
    """Score a TREC run (or CSV, Parquet, JSON) by qrels: nDCG with its confidence interval.

    Args:
        run: the file of the run.
        qrels: the file of the qrels.
        options: of `compute`.
    """
    judged, runs = read_files(qrels, [run])
    (ranked,) = runs.values()
    return _without_queries(report_on(ranked, judged, options))


@endpoint
def compare(runs: list[str], qrels: str, options: dict[str, Any]) -> dict[str, Any]:
    """Which of several runs is better, and how sure that is: paired tests over the queries of the qrels.

    A judged query that a run lacks counts as one with nothing retrieved, unless `missing` or the convention skips it.

    Args:
        runs: the files of two to five runs.
        qrels: the file of the qrels.
        options: of `compute`.
    """
    judged, read = read_files(qrels, runs)
    return _without_queries(compare_runs(read, judged, options))


# Gradio lists a tool for it, but hands no list of files to one: `compare_two` is for agents.
compare._mcp_type = "none"  # type: ignore[attr-defined]


@endpoint
def compare_two(run: str, other: str, qrels: str, options: dict[str, Any]) -> dict[str, Any]:
    """Which of two runs is better, and how sure that is: paired tests over the queries of the qrels.

    Args:
        run: the file of a run.
        other: the file of the other run.
        qrels: the file of the qrels.
        options: of `compute`.
    """
    judged, read = read_files(qrels, [run, other])
    return _without_queries(compare_runs(read, judged, options))


def _without_queries(found: Any) -> dict[str, Any]:
    return {name: each for name, each in found.to_dict().items() if name != "queries"}


def api_tab() -> None:
    """Lay out the tab; its hidden fields tell Gradio what the functions take."""
    with gr.Tab("API", id="api"):
        about = (ROOT / "docs" / "space.md").read_text(encoding="utf-8").partition("## The API\n")[2]
        gr.Markdown(about.partition("## ")[0] + CALLS)
        gr.events.api(score, api_name="score")
        with gr.Row(visible=False):
            run, other, qrels = gr.File(label="run"), gr.File(label="other"), gr.File(label="qrels")
            runs = gr.File(label="runs", file_count="multiple")
            fields = {str: gr.Textbox, float: gr.Number}
            words = [fields[each.annotation](each.default, label=name) for name, each in WORDS.items()]
            for function, files in ((score_run, [run]), (compare, [runs]), (compare_two, [run, other])):
                inputs = [*files, qrels, *words]
                gr.Button().click(function, inputs, gr.JSON(), api_name=function.__name__)
