"""The functions for programs, by HTTP and as tools of an agent."""

import base64
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import gradio as gr
import orjson
from fastapi import Request
from fastapi.responses import JSONResponse
from gradio.components.api_component import Api
from gradio.route_utils import FnIndexInferError
from gradio.utils import get_function_description, get_function_params
from gradio_client.utils import is_file_obj_with_meta, python_type_to_json_schema

from .explanation import explanation_of
from .files import run_names
from .metric import Options, ndcg, tables
from .reading import Mappings, check_size, read_upload
from .results import RUNS, compare_runs
from .settings import CALLED, CHOICES, CONVENTIONS, IN_PYTHON, cutoffs_of, option_of

DATA = re.compile("data:[^,]{0,200};base64,")
Handler = Callable[..., Any]
FILE = "its text, or data:…;base64,… of it; clients in Python may upload it by handle_file"
ABOUT = {
    "predictions": "the scores of documents, a list per query; null: not retrieved",
    "references": "the relevance of the same documents, in the same order, or their labels; "
    "null: not judged",
    "run": f"the file of the run, in any format that the page reads: {FILE}",
    "qrels": f"the file of the qrels, in any format that the page reads: {FILE}",
    "runs": f"2 to {RUNS} runs, by their names or as a list; each is a file: {FILE}",
    "got": 'the score to look for, with all of its digits as text, "0.5920"; several as '
    '"0.31@5,0.283@10"; or a value per query: a list, by the ids of queries, or text such as '
    "the output of trec_eval -q or ndcg score -q",
}
SIDES = {"predictions": "run", "references": "qrels"}  # the names of both sides in files
Numbers = list[list[float | None]]
Relevances = list[list[float | str | None]]
Runs = dict[str, str] | list[str]
Answer = dict[str, Any]
Reported = float | str | list[Any] | dict[str, Any]
ORDER = (
    "gain",
    "ties",
    "zero_division",
    "negative_relevance",
    "judged_only",
    "log_base",
    "discount",
    "ideal",
    "missing",
    "score_dtype",
    "score_order",
    "duplicates",
)
OTHERS = {  # types and defaults of the options that are more or less than their words
    "gain": (Literal["", *CHOICES["gain"]] | str | dict[str, float], ""),
    "zero_division": (Literal["", *CHOICES["zero_division"]] | float, ""),
    "duplicates": (Literal[*CHOICES["duplicates"]], "raise"),
    "judged_only": (bool, False),
    "log_base": (float, 2.0),
}


def _options() -> dict[str, tuple[Any, Any, str]]:
    """Return the types, defaults and descriptions of all options, by their names."""
    options: dict[str, tuple[Any, Any, str]] = {
        "k": (str, "10", 'how many ranks count: "10", several as "1,5,10", "" for all'),
        "convention": (Literal[*CONVENTIONS], "sklearn", "the library that defines nDCG"),
    }
    for name in ORDER:
        option = tables.OPTIONS[name]
        kind, default = OTHERS.get(name, (Literal["", *option.words], ""))
        words = "; ".join(f"{word}: {about}" for word, about in option.words.items())
        about = ": ".join(filter(None, [option.meaning, words])).replace("`", "")
        if name == "gain":
            about = f'{about}; or of labels, such as "relevant=3,no=0"'
        options[name] = kind, default, about
    return options | {"per_query": (bool, False, "whether the answer also has every query")}


OPTIONS = _options()
# how messages say what the functions do not take
NOT_HERE = {name: called for name, called in CALLED.items() if called in ("", IN_PYTHON)}
NOT_HERE |= {"None": "null", "document_ids": "document ids"}
NOT_HERE |= {"query_ids": IN_PYTHON, "sample_weight": IN_PYTHON}


def options_of_words(k: Any, words: Options) -> dict[str, Any]:
    """Return the options of `compute` for a program's arguments; if empty, the convention's."""
    options = {name: word for name, word in words.items() if word != ""}
    options["k"] = cutoffs_of(str(k))
    if isinstance(options.get("gain"), str):
        options |= option_of("gain", options["gain"])
    with suppress(KeyError, TypeError, ValueError):  # the metric takes or refuses other words
        options |= option_of("zero_division", options["zero_division"])
    ndcg.signature(**options)
    return options


def endpoint(function: Handler, names: Mapping[str, str]) -> Handler:
    """Return a function as Gradio calls and describes it.

    An agent gets the text of JSON, a client its values.

    Args:
        function: a function of some inputs, the options of `compute`, and whether every query is
            wanted.
        names: the names of its inputs for the arguments of the metric that errors may name.
    """
    *inputs, _, _ = inspect.signature(function).parameters.values()
    renamed = tables.renamed(names)

    def words_of_api(said: str, name: str, *values: Any) -> str:
        if name in NOT_HERE:
            return NOT_HERE[name].format(said)
        called: str = renamed(said, name, *values)
        return called

    def answer(*values: Any) -> Any:
        given, request = values[: len(inputs)], values[-1]
        words = dict(zip(OPTIONS, values[len(inputs) : -1], strict=True))
        per_query = words.pop("per_query")
        try:
            options = options_of_words(words.pop("k"), words)
            result = function(*given, options, per_query)
        except (ValueError, TypeError) as problem:
            raise gr.Error(tables.worded(problem, words_of_api)[:500]) from None
        # notes and errors in the answer, too, name options as Python does
        notes = orjson.OPT_PASSTHROUGH_SUBCLASS
        text = orjson.dumps(result, lambda note: tables.worded(note, words_of_api), notes).decode()
        if request.headers.get("x-gradio-user") == "mcp":
            return text
        return orjson.loads(text)

    # Gradio reads the parameters from the signature, and their descriptions from the docstring
    parameter = partial(inspect.Parameter, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(inputs)
    described = [f"    {named.name}: {ABOUT[named.name]}" for named in inputs]
    for name, (kind, default, about) in OPTIONS.items():
        parameters.append(parameter(name, default=default, annotation=kind))
        described.append(f"    {name}: {about}")
    parameters.append(parameter("request", default=None, annotation=gr.Request))
    answer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    answer.__annotations__ = {named.name: named.annotation for named in parameters}
    about = f"{inspect.getdoc(function)}\n\nOptions that are empty are as the convention has them."
    answer.__doc__ = "\n".join([f"{about}\n\nArgs:", *described])
    answer.__name__ = function.__name__
    return answer


def score(
    predictions: Numbers, references: Relevances, options: Options, per_query: bool
) -> Answer:
    """Score ranked documents by nDCG: how good rankings are, from 0 to 1.

    The answer has the scores by name, such as "nDCG@10", and their "signature".
    """
    sides = {"predictions": predictions, "references": references}
    for name, side in sides.items():
        _check_lists(name, side)
    result = {**ndcg.compute(**sides, **options), "signature": ndcg.signature(**options)}
    if per_query:
        result["queries"] = ndcg.compute(**sides, **options, use_aggregator=False)
    return result


def _check_lists(name: str, side: Any) -> None:
    """Raise an error for anything but a list per query: the path of a file is never read here."""
    if not isinstance(side, list) or not all(isinstance(query, list) for query in side):
        raise ValueError(f"{name} must be a list of one list per query")
    with tables.in_place(name):
        check_size(side)


def score_run(run: str, qrels: str, options: Options, per_query: bool) -> Answer:
    """Score a TREC run (or CSV, Parquet, JSON) by qrels: nDCG with its confidence interval."""
    return _answer(ndcg.report(**_sides(run, qrels, options), **options), per_query)


def compare(runs: Runs, qrels: str, options: Options, per_query: bool) -> Answer:
    """Compare several runs with paired tests over the queries of the qrels.

    A judged query that is missing from a run counts as if nothing was retrieved, unless `missing`
    or the convention skips it.
    """
    sent = name_runs(runs)
    judgments = read_sent("qrels", qrels, "judgments", options)
    read = {name: read_sent(f"runs: {name}", run, "run", options) for name, run in sent.items()}
    return _answer(compare_runs(read, judgments, options), per_query)


def explain(run: str, qrels: str, got: Reported, options: Options, per_query: bool) -> Answer:
    """Find the library whose nDCG gives a score; else the combination of options, or a slip.

    It accepts the options k, log_base, duplicates, judged_only and score_order, and the gain of
    labels; all others are searched.
    """
    return _answer(explanation_of(_sides(run, qrels, options), got, options), per_query)


def _sides(run: str, qrels: str, options: Options) -> dict[str, Any]:
    judgments = read_sent("qrels", qrels, "judgments", options)
    return {"predictions": read_sent("run", run, "run", options), "references": judgments}


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by their names: as given, by their files, or by their positions."""
    if not isinstance(runs, (list, dict)) or is_file_obj_with_meta(runs):
        raise ValueError(
            f"runs must be a list of runs, or map their names to them; got {type(runs).__name__}"
        )
    if not 2 <= len(runs) <= RUNS:
        raise ValueError(f"runs must be 2 to {RUNS}; got {len(runs)}")
    if isinstance(runs, dict):
        return runs
    paths = []
    for number, run in enumerate(runs, 1):
        paths.append(run["path"] if is_file_obj_with_meta(run) else f"run {number}")
    return dict(zip(run_names(paths), runs, strict=True))


def read_sent(name: str, sent: Any, role: str, options: Options) -> Mappings:
    """Read a run or judgments from text, or from an upload that Gradio has checked.

    It never reads from a path of the server.
    """
    if is_file_obj_with_meta(sent):
        return read_upload(sent["path"], role, options)
    if not isinstance(sent, str):
        problem = "must be the text of a file, or a file that is uploaded"
        raise ValueError(f"{name} {problem}; got {type(sent).__name__}")
    path_in_errors = tables.place_of_file("text")
    with TemporaryDirectory() as folder, tables.in_place(name, instead_of=path_in_errors):
        path = Path(folder) / "text"
        content = sent.encode()
        coded = DATA.match(sent)
        if coded:
            content = base64.b64decode(sent[coded.end() :])
        path.write_bytes(content)
        return read_upload(str(path), role, options)


def _answer(report: Any, per_query: bool) -> Answer:
    answer: Answer = report.to_dict()
    if not per_query:
        answer.pop("queries", None)
    return answer


FUNCTIONS = {
    "score": endpoint(score, {}),
    "score_run": endpoint(score_run, SIDES),
    "compare": endpoint(compare, {"systems": "runs", **SIDES}),
    "explain": endpoint(explain, SIDES),
}


async def answer_wrong_call(request: Request, problem: Exception) -> JSONResponse:
    """Answer an HTTP call of an unknown function, or with wrong parameters, in a sentence."""
    if "/call/" not in request.url.path:
        raise problem
    name = request.path_params["api_name"]
    if name not in FUNCTIONS:
        return JSONResponse(
            {"detail": f"there is no function {name[:40]!r}; call {', '.join(FUNCTIONS)}"}, 404
        )
    sent = await request.json()
    has_default = {parameter: has for parameter, has, *_ in get_function_params(FUNCTIONS[name])}
    needed = {parameter for parameter, has in has_default.items() if not has}
    unknown = sorted(sent.keys() - has_default)
    missing = sorted(needed - sent.keys())
    faults = [*map("unknown parameter {!r:.40}".format, unknown)]
    faults += map("{} is missing".format, missing)
    if not faults:
        raise problem
    detail = f"{name}: {'; '.join(faults)}; its parameters are {', '.join(has_default)}"
    return JSONResponse({"detail": detail}, 422)


ERROR_HANDLERS = dict.fromkeys((TypeError, KeyError, FnIndexInferError), answer_wrong_call)


def open_api() -> Any:
    """Return the functions as Gradio serves them, without a page."""
    with gr.Blocks(mode="server", title="nDCG", delete_cache=(3600, 3600)) as api:
        for name, function in FUNCTIONS.items():
            answer = Api(None, {"type": "object"}, "answer")
            gr.Button().click(function, parameter_fields(function), answer, api_name=name)
    api.queue(max_size=200, default_concurrency_limit=4)
    return api


def parameter_fields(function: Handler) -> list[Api]:
    """Return the fields by which Gradio lists the parameters of a function.

    `gr.api` would leave out what they mean.
    """
    _, about, *_ = get_function_description(function)
    fields = []
    for name, _, default, kind in get_function_params(function):
        schema = python_type_to_json_schema(kind)
        # agents are shown the first of the two, clients the second
        schema |= {"description": about[name], "additional_description": about[name]}
        fields.append(Api(default, schema, name))
    return fields
