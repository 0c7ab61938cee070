"""The tab for programs, and the functions that it offers them, by HTTP and as tools of an agent."""

import base64
import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gradio as gr
import orjson
from fastapi import Request
from fastapi.responses import JSONResponse
from gradio.components.api_component import Api
from gradio.route_utils import FnIndexInferError
from gradio_client.utils import is_file_obj_with_meta

from .choices import CHOICES, CONVENTIONS, cutoffs_of, option_of
from .events import Handler, raise_errors
from .explanation import explanation_of
from .metric import ROOT, ndcg, tables
from .run_results import RUNS, compare_runs, report_on, run_names
from .uploads import Mappings, check_size, read_upload

CALLS = """
```python
from gradio_client import Client, handle_file

client = Client("{page}")
client.predict([[0.9, 0.1, 0.5]], [[1, 0, 2]], k="1,3", api_name="/score")
client.predict("q1 Q0 d1 1 0.9 mine", "q1 0 d1 1", per_query=True, api_name="/score_run")
client.predict([handle_file("bm25.run"), handle_file("dense.run")], handle_file("qrels.txt"), api_name="/compare")
client.predict(handle_file("bm25.run"), handle_file("qrels.txt"), "0.5921", api_name="/explain")
```

```sh
answer=$(curl -s {page}gradio_api/call/v2/score -H "Content-Type: application/json" \\
  -d '{{"predictions": [[0.9, 0.1, 0.5]], "references": [[1, 0, 2]], "k": "1,3"}}')
curl -sN {page}gradio_api/call/score/$(echo $answer | cut -d '"' -f 4)
```

Agents: `{page}gradio_api/mcp/`
"""
LOCAL = "http://127.0.0.1:7860/"
HERE = f"() => {json.dumps(CALLS.format(page=LOCAL))}.replaceAll('{LOCAL}', location.origin + location.pathname)"


class Parameter(NamedTuple):
    """A parameter of a function of the API.

    Attributes:
        schema: its values, in JSON Schema.
        about: its description.
        default: its default; None if it is required.
    """

    schema: dict[str, Any]
    about: str
    default: Any = None

    def field(self, name: str) -> Api:
        """Return the field by which Gradio lists the parameter, to clients and to agents."""
        schema = {**self.schema, "description": self.about, "additional_description": self.about}
        return Api(self.default, schema, name)


def _choice(name: str, *more: str) -> Parameter:
    """Return the parameter for a choice of the page's bar, with words that only programs may use."""
    option = tables.OPTIONS[name]
    allowed = [*CHOICES[name], *more]
    words = "; ".join(f"{word}: {option.words[word].replace('`', '')}" for word in allowed)
    return Parameter(
        {"type": "string", "enum": ["", *allowed]}, f'{option.meaning}: {words}; "": as the convention', ""
    )


def _numbers(about: str) -> Parameter:
    """Return the parameter of one list of numbers per query."""
    number = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    return Parameter({"type": "array", "items": {"type": "array", "items": number}}, about)


TEXT = "its text, or data:…;base64,… of it; clients in Python may upload it by handle_file"
PREDICTIONS = _numbers("the score of each document, a list per query; null: not retrieved")
REFERENCES = _numbers("the relevance of the same documents, in the same order; null: not judged")
GOT = Parameter(
    {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "array", "items": {}}, {"type": "object"}]},
    'the score to look for, with all of its digits as text, "0.5920"; several as "0.31@5,0.283@10"; or the value of '
    "each query: a list, by the ids of queries, or text such as the output of trec_eval -q or ndcg score -q",
)
QRELS = Parameter({"type": "string"}, f"the file of the qrels, in any form that the page reads: {TEXT}")
RUN = Parameter({"type": "string"}, f"the file of the run, in any form that the page reads: {TEXT}")
SEVERAL = Parameter(
    {
        "anyOf": [
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "array", "items": {"type": "string"}},
        ]
    },
    f"2 to {RUNS} runs, by their names or as a list; each is a file: {TEXT}",
)
WORDS = {
    "k": Parameter({"type": "string"}, 'how many ranks count: "10", several as "1,5,10", "" for all', "10"),
    "convention": Parameter({"type": "string", "enum": [*CONVENTIONS]}, "the library that defines nDCG", "sklearn"),
    "gain": _choice("gain"),
    "ties": _choice("ties"),
    "zero_division": Parameter(
        {"anyOf": [{"type": "string", "enum": ["", *CHOICES["zero_division"]]}, {"type": "number"}]},
        f'{tables.OPTIONS["zero_division"].meaning.replace("`", "")}; "": as the convention',
        "",
    ),
    "negative_relevance": _choice("negative_relevance"),
    "judged_only": Parameter(
        {"type": "boolean"},
        tables.OPTIONS["judged_only"].meaning,
        False,
    ),
    "log_base": Parameter({"type": "number"}, tables.OPTIONS["log_base"].meaning, 2.0),
    "discount": _choice("discount"),
    "ideal": _choice("ideal"),
    "missing": _choice("missing", "raise"),
    "score_dtype": _choice("score_dtype"),
}
NOT_HERE = "; ignore_index removes padding"  # a hint of the metric on an option that the functions do not have
PER_QUERY = Parameter({"type": "boolean"}, "whether the answer also has every query", False)


def options_of_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `compute` for the arguments of a program, with defaults for those it does not set."""
    given = {name: each.default for name, each in WORDS.items()} | dict(words)
    options = {"k": cutoffs_of(str(given["k"] or "")), "log_base": given["log_base"]}
    for name, parameter in WORDS.items():
        allowed = parameter.schema.get("enum")
        if allowed and given[name] not in allowed:
            raise ValueError(f"{name} must be one of {_listed(allowed)}; got {str(given[name])[:40]!r}")
    options |= {"convention": given["convention"], "judged_only": given["judged_only"]}
    for name in tables.CHOICES:
        if given[name] != "":
            try:
                options |= option_of(name, given[name])
            except (ValueError, TypeError):
                known = _listed(CHOICES[name])
                raise ValueError(f"{name} must be a number, or one of {known}; got {str(given[name])[:40]!r}") from None
    ndcg.signature(**options)
    return options


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f'"{each}"' for each in words)


class Function(NamedTuple):
    """A function of the API.

    Attributes:
        own: its parameters other than the options and `per_query`.
        answer: the function.
        names: the names of its parameters for those of the metric that errors may name.
    """

    own: dict[str, Parameter]
    answer: Handler
    names: dict[str, str]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """All of its parameters."""
        return {**self.own, **WORDS, "per_query": PER_QUERY}

    @property
    def endpoint(self) -> Handler:
        """The function as Gradio calls it, and describes it: an agent gets the text of JSON, a client its values."""

        @raise_errors
        def answer(*arguments: Any) -> Any:
            *given, per_query, request = arguments
            own, words = given[: len(self.own)], dict(zip(WORDS, given[len(self.own) :], strict=True))
            try:
                found = self.answer(*own, options_of_words(words), per_query)
            except (ValueError, TypeError) as problem:
                raise ValueError(in_own_words(str(problem), self.names)) from None
            text = orjson.dumps(found).decode()
            return text if request.headers.get("x-gradio-user") == "mcp" else orjson.loads(text)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        kept = {name: inspect.Parameter(name, kind, annotation=Any) for name in self.parameters}
        kept["request"] = inspect.Parameter("request", kind, annotation=gr.Request)
        answer.__signature__ = inspect.Signature([*kept.values()])  # type: ignore[attr-defined]
        answer.__annotations__ = {name: each.annotation for name, each in kept.items()}
        described = "\n".join(f"    {name}: {each.about}" for name, each in self.parameters.items())
        answer.__doc__ = f"{inspect.getdoc(self.answer)}\n\nArgs:\n{described}"
        answer.__name__ = self.answer.__name__
        return answer


def in_own_words(problem: str, names: Mapping[str, str]) -> str:
    """Return an error of the metric with the names of the function's parameters."""
    problem = problem.replace(NOT_HERE, "")
    return str(tables.in_words_of(names, problem)) if names else problem


def score(predictions: Any, references: Any, options: dict[str, Any], per_query: bool) -> dict[str, Any]:
    """Score ranked documents by nDCG: how good rankings are, from 0 to 1.

    The answer has the scores by name, such as "nDCG@10", and their "signature".
    """
    for name, side in (("predictions", predictions), ("references", references)):
        # never accept server paths
        if not isinstance(side, list) or not all(isinstance(each, list) for each in side):
            raise ValueError(f"{name} must be a list of one list per query")
        try:
            check_size(side)
        except ValueError as problem:
            raise ValueError(f"{name}: {problem}") from None
    given = {"predictions": predictions, "references": references, **options}
    found = {**ndcg.compute(**given), "signature": ndcg.signature(**options)}
    return found | ({"queries": ndcg.compute(**given, use_aggregator=False)} if per_query else {})


def score_run(run: Any, qrels: Any, options: dict[str, Any], per_query: bool) -> dict[str, Any]:
    """Score a TREC run (or CSV, Parquet, JSON) by qrels: nDCG with its confidence interval."""
    judged = read_given("qrels", qrels, "qrels")
    return _answer(report_on(read_given("run", run, "run"), judged, options), per_query)


def compare(runs: Any, qrels: Any, options: dict[str, Any], per_query: bool) -> dict[str, Any]:
    """Compare several runs with paired tests over the queries of the qrels.

    A judged query that is missing from a run counts as if nothing was retrieved, unless `missing` or the convention
    skips it.
    """
    named = name_runs(runs)
    judged = read_given("qrels", qrels, "qrels")
    read = {name: read_given(f"runs: {name}", each, "run") for name, each in named.items()}
    return _answer(compare_runs(read, judged, options), per_query)


def explain(run: Any, qrels: Any, got: Any, options: dict[str, Any], per_query: bool) -> dict[str, Any]:
    """Find the library with the definition of nDCG that gives a score; else the combination of options, or a slip.

    It accepts the options k, log_base and judged_only; all others are searched.
    """
    judged = read_given("qrels", qrels, "qrels")
    given = {"predictions": read_given("run", run, "run"), "references": judged}
    return _answer(explanation_of(given, got, options), per_query)


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by their names: the names that were given, the names of their files, or their positions."""
    if not isinstance(runs, (list, dict)) or is_file_obj_with_meta(runs):
        raise ValueError(f"runs must be a list of runs, or map their names to them; got {type(runs).__name__}")
    if not 2 <= len(runs) <= RUNS:
        raise ValueError(f"runs must be 2 to {RUNS}; got {len(runs)}")
    if isinstance(runs, dict):
        return runs
    paths = [each["path"] if is_file_obj_with_meta(each) else f"run {at}" for at, each in enumerate(runs, 1)]
    return dict(zip(run_names(paths), runs, strict=True))


def read_given(name: str, given: Any, kind: str) -> Mappings:
    """Read a run or qrels from a file that was uploaded, or from its text; never from a path of the server.

    Args:
        name: its name in errors.
        given: Gradio's description of an upload, which it has checked, or text.
        kind: ``"run"`` or ``"qrels"``.
    """
    if is_file_obj_with_meta(given):
        return read_upload(given["path"], kind)
    if not isinstance(given, str):
        raise ValueError(f"{name} must be the text of a file, or a file that is uploaded; got {type(given).__name__}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        try:
            coded = given.startswith("data:") and ";base64," in given[:200]
            path.write_bytes(base64.b64decode(given.partition(",")[2]) if coded else given.encode())
            return read_upload(str(path), kind)
        except ValueError as problem:
            raise ValueError(f"{name}: {str(problem).removeprefix('text: ')}") from None


def _answer(found: Any, per_query: bool) -> dict[str, Any]:
    """Return a report or a comparison in JSON types."""
    return {name: each for name, each in found.to_dict().items() if per_query or name != "queries"}


FUNCTIONS = [
    Function({"predictions": PREDICTIONS, "references": REFERENCES}, score, {}),
    Function({"run": RUN, "qrels": QRELS}, score_run, {"predictions": "run", "references": "qrels"}),
    Function({"runs": SEVERAL, "qrels": QRELS}, compare, {"systems": "runs", "references": "qrels"}),
    Function({"run": RUN, "qrels": QRELS, "got": GOT}, explain, {"predictions": "run", "references": "qrels"}),
]


BY_NAME = {each.answer.__name__: each for each in FUNCTIONS}


async def answer_wrong_call(request: Request, problem: Exception) -> JSONResponse:
    """Answer a call by HTTP of an unknown function, or with unknown or missing parameters; Gradio only raises an error.

    Raises:
        Exception: The error itself, if the call is right.
    """
    if "/call/" not in request.url.path:
        raise problem
    name = request.path_params["api_name"]
    if name not in BY_NAME:
        return JSONResponse({"detail": f"there is no function {name[:40]!r}; call {_listed([*BY_NAME])}"}, 404)
    given, parameters = await request.json(), BY_NAME[name].parameters
    said = [f"unknown parameter {each[:40]!r}" for each in given if each not in parameters]
    said += [f"{each} is missing" for each in BY_NAME[name].own if each not in given]
    if not said:
        raise problem
    return JSONResponse({"detail": f"{name}: {'; '.join(said)}; its parameters are {', '.join(parameters)}"}, 422)


ERROR_HANDLERS = dict.fromkeys((TypeError, KeyError, FnIndexInferError), answer_wrong_call)


def api_tab(page: gr.Blocks) -> None:
    """Lay out the tab, and list the functions; the examples have the address at which the page is open."""
    with gr.Tab("API", id="api"):
        about = (ROOT / "docs" / "space.md").read_text(encoding="utf-8").partition("## The API\n")[2]
        gr.Markdown(about.partition("## ")[0])
        calls = gr.Markdown(CALLS.format(page=LOCAL), elem_id="calls")
        page.load(None, None, calls, js=HERE)
        with gr.Row(visible=False):
            for each in FUNCTIONS:
                inputs = [parameter.field(name) for name, parameter in each.parameters.items()]
                answer = Api(None, {"type": "object"}, "answer")
                gr.Button().click(each.endpoint, inputs, answer, api_name=each.answer.__name__)
