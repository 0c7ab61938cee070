"""The functions as programs see them: their descriptions, results and errors."""

import inspect
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import NOTHING_IN_COMMON
from sources import Late

from page.metric import ndcg, tables
from page.settings import CHOICES, OTHERS

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open
gradio, utils, api = map(Late, ("gradio", "gradio.utils", "page.api"))
OF_THE_BAR = ("duplicates", "judged_only", "score_order")  # that no convention sets
UPLOAD = {"path": "folder/bm25.run.gz", "meta": {"_type": "gradio.FileData"}}
FILES = {"run": "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 1 t", "qrels": "q1 0 b 1\nq2 0 a 1"}


def call(name: str, user: str = "api", **given: Any) -> Any:
    """The answer of a function, as Gradio calls it."""
    defaults = {
        name: default for name, _, default, _ in utils.get_function_params(api.FUNCTIONS[name])
    }
    return api.FUNCTIONS[name](
        *{**defaults, **given}.values(), SimpleNamespace(headers={"x-gradio-user": user})
    )


def test_every_parameter_is_described_to_clients_and_to_agents() -> None:
    for function in api.FUNCTIONS.values():
        summary, to_agents, _ = utils.get_function_description(function)
        assert summary.startswith(("Score", "Compare", "Find"))
        fields = api.parameter_fields(function)
        *names, request = inspect.signature(function).parameters
        assert names == [each.label for each in fields]
        assert names[-len(api.OPTIONS) :] == [*api.OPTIONS]
        assert request == "request"  # which Gradio fills in
        for each in fields:
            assert to_agents[each.label] == each.api_info()["additional_description"] != ""
            assert each.api_info().keys() & {"type", "anyOf", "enum"}


def test_choices_are_enumerated_where_they_are_few() -> None:
    schemas = {each.label: each.api_info() for each in api.parameter_fields(api.FUNCTIONS["score"])}
    free = {name for name in api.OPTIONS if "enum" not in schemas[name]}
    assert free == {"k", "gain", "zero_division", "judged_only", "log_base", "per_query"}
    assert schemas["gain"]["anyOf"][0]["enum"] == ["", "linear", "exponential", "binary"]


def test_options_have_the_names_of_compute() -> None:
    assert api.OPTIONS.keys() == {
        "k",
        "convention",
        "log_base",
        "per_query",
        *tables.CHOICES,
        *OF_THE_BAR,
    }
    assert [*CHOICES] == [*tables.CHOICES, *OF_THE_BAR]
    assert {*CHOICES, *OTHERS, "k", "convention"} == api.OPTIONS.keys() - {
        "per_query"
    }  # of the address


def test_an_agent_gets_json_and_a_client_its_values() -> None:
    words = {
        "k": "1,5",
        "convention": "lightgbm",
        "judged_only": True,
        "zero_division": "nan",
        "per_query": True,
    }
    given = {"predictions": [[2, 1], [1]], "references": [[0, 1], [0]], **words}
    options = {
        "k": [1, 5],
        "convention": "lightgbm",
        "judged_only": True,
        "zero_division": float("nan"),
    }
    value = ndcg.compute(predictions=[[2, 1]], references=[[0, 1]], k=5)["nDCG@5"]
    # JSON has no nan
    expected = {"nDCG@1": 0.0, "nDCG@5": value, "signature": ndcg.signature(**options)}
    expected["queries"] = {"nDCG@1": [0.0, None], "nDCG@5": [value, None]}
    assert call("score", **given) == expected
    assert json.loads(call("score", "mcp", **given)) == expected


@pytest.mark.parametrize(
    "got", ["0.8155", {"q1": 0.6309, "q2": 1}, "q1 0.6309\nq2 1.0000", "0.5@1,0.8155@2"]
)
def test_a_reported_score_is_explained(got: Any) -> None:
    assert "sklearn" in call("explain", **FILES, got=got)["matches"]


@pytest.mark.parametrize("gain", ["yes=2, no=0", {"yes": 2, "no": 0}])
def test_gains_by_label_and_repeated_documents_are_options_of_each_function(gain: Any) -> None:
    lines = ("{0} Q0 a 1 3 t\n{0} Q0 a 2 2 t\n{0} Q0 b 3 1 t\n", "{0} 0 a no\n{0} 0 b yes\n")
    run, qrels = ("".join(map(each.format, "pq")) for each in lines)
    options = {"gain": gain, "duplicates": "best"}
    value = ndcg.compute(predictions=[[2, 1]], references=[[0, 1]])["nDCG"]
    assert (
        call("score", predictions=[[2, 1]], references=[["no", "yes"]], gain=gain)["nDCG@10"]
        == value
    )
    assert call("score_run", run=run, qrels=qrels, **options)["scores"]["nDCG@10"]["value"] == value
    compared = call("compare", runs=[run, "q Q0 b 1 1 t"], qrels=qrels, **options)
    assert compared["scores"]["run 1"]["nDCG@10"]["value"] == value
    assert "sklearn" in call("explain", run=run, qrels=qrels, got="0.6309", **options)["matches"]


RUN = "q Q0 doc1 1 1 t\np Q0 doc1 1 1 t"


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("score_run", {"run": RUN}),
        ("compare", {"runs": {"a": RUN, "b": RUN.replace("doc", "")}}),
        ("explain", {"run": RUN, "got": 0}),
    ],
)
def test_an_answer_notes_that_no_document_is_in_common(name: str, given: dict[str, Any]) -> None:
    notes = call(name, **given, qrels="q 0 1 1\np 0 1 1")["notes"]
    assert any(
        "first retrieved: query 'q', document 'doc1'; first judged: query 'q', document '1'" in n
        for n in notes
    )


def test_an_answer_is_in_the_words_of_the_function() -> None:
    said = call("explain", **FILES | {"qrels": "q1 0 b 1\nq2 0 a -1"}, got="0.5")["errors"][
        "sklearn"
    ]
    assert re.search(
        f"^qrels: query 'q2', document 'a': the relevance -1 is negative; {COUNTED}; "
        "if nobody could judge it, leave it out of the qrels$",
        said,
    )


def test_runs_have_the_names_that_were_given_or_those_of_their_files() -> None:
    assert api.name_runs({"mine": "text", "yours": UPLOAD}) == {"mine": "text", "yours": UPLOAD}
    assert api.name_runs([UPLOAD, "text", UPLOAD]) == {
        "bm25": UPLOAD,
        "run 2": "text",
        "bm25 (2)": UPLOAD,
    }


@pytest.mark.parametrize(
    "text",
    ["q1 Q0 a 1 2.5 t", "query,document,score\nq1,a,2.5", "data:;base64,cTEgUTAgYSAxIDIuNSB0"],
)
def test_a_file_is_read_from_its_text_or_its_bytes(text: str) -> None:
    assert api.read_sent("run", text, "run", {}) == {"q1": {"a": 2.5}}


USUAL: dict[str, dict[str, Any]] = {
    "score": {"predictions": [[1]], "references": [[1]]},
    "score_run": {"run": "q Q0 d 1 1 t", "qrels": "q 0 d 1"},
    "compare": {"qrels": "q 0 d 1"},
    "explain": {"run": "q Q0 d 1 1 t", "qrels": "q 0 d 1", "got": 1},
}
OWN_NAME = r"^qrels: .* 'hits.stars' \(1\); give in Python: fields={'relevance': '...'}, with gain="
COUNTED = (
    'negative_relevance="clip" counts it as gain 0, as convention="trec_eval" does, "keep" as it is'
)
NEGATIVE = f"in Python: ignore_index=-1 removes it if it is padding; {COUNTED}$"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("score", {"gain": "none"}, "^gain must be .*; got 'none'"),
        (
            "score",
            {"predictions": [[0.5]], "references": [["yes"]]},
            "^references: .*for labels, .*, gain={'yes': ",
        ),
        (
            "score",
            {"references": [["yes"]], "gain": "no=0"},
            "^references: .*'yes' is a label without a gain; gain has",
        ),
        (
            "score_run",
            {"qrels": "q 0 d yes", "gain": {"no": 0}},
            "^qrels: line 1: .*'yes' is a label without a gain",
        ),
        (
            "score_run",
            {"run": "q Q0 d 1 1 t\nq Q0 d 2 1 t"},
            '^run: line 2: .*, or duplicates="best" to count it once',
        ),
        (
            "score",
            {"zero_division": "x"},
            "^zero_division must be a finite number, nan to exclude ",
        ),
        ("score", {"judged_only": "kept"}, "^judged_only must be True or False; got 'kept'$"),
        ("score", {"k": "0"}, "^k: '0' is not a cutoff"),
        (
            "score",
            {"predictions": "/etc/passwd"},
            "^predictions must be a list of one list per query$",
        ),
        (
            "score",
            {"references": {"q": {"d": 1}}},
            "^references must be a list of one list per query$",
        ),
        ("score", {"predictions": [[1]] * 20_001}, "predictions: holds too many queries"),
        (
            "score",
            {"references": [[0]], "zero_division": "nan"},
            "has a value: zero_division=nan excludes queries",
        ),
        ("score", {"references": [[-1]]}, NEGATIVE),
        ("score_run", {"qrels": "q 0 d -2"}, '^qrels: .*; negative_relevance="clip"'),
        ("score_run", {"run": "q d 1"}, "^run: line 1: 3 columns"),
        ("score_run", {"run": "data:;base64,!"}, "^run: "),
        ("score_run", {"run": "\ud800"}, "^run: "),
        ("score_run", {"run": "/etc/passwd"}, "^run: line 1: 1 column"),
        (
            "score_run",
            {"run": {"path": "/etc/passwd"}},
            "^run must be the text of a file, or a file that is uploaded",
        ),
        ("score_run", {"qrels": '[{"query": "q", "hits": [{"id": "d", "stars": 1}]}]'}, OWN_NAME),
        (
            "score",
            {"predictions": [["x"]]},
            "^references: hold lists of numbers beside documents with ids, such as 'x'",
        ),
        ("score_run", {"missing": "raise", "qrels": "q 0 d 1\np 0 d 1"}, "^run: .*p"),
        ("explain", {"got": "/etc/passwd"}, "^got must be an nDCG, such as 0.5921, or several"),
        ("explain", {"got": {"p": 0.5}}, "^got: 'p' is neither an nDCG nor a query"),
        (
            "compare",
            {"runs": "q Q0 d 1 1 t"},
            "^runs must be a list of runs, or map their names to them; got str",
        ),
        ("compare", {"runs": ["q Q0 d 1 1 t"]}, "^runs must be 2 to 20; got 1"),
        ("compare", {"runs": {"a": "q Q0 d 1 1 t", "b": "q"}}, "^runs: b: line 1: 1 column"),
    ],
)
def test_an_error_is_a_sentence_in_the_words_of_the_function(
    name: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(gradio.Error) as refused:
        call(name, **{**USUAL[name], **given})
    assert re.search(message, refused.value.message), refused.value.message
