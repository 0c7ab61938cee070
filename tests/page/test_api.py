"""What programs are told of the functions, and what these refuse."""

import inspect
from typing import Any

import gradio as gr
import pytest
from gradio.utils import get_function_description

from page.api import WORDS, compare, compare_two, options_of_words, score, score_run
from page.metric import ndcg


@pytest.mark.parametrize(
    ("function", "own"),
    [
        (score, ["predictions", "references"]),
        (score_run, ["run", "qrels"]),
        (compare, ["runs", "qrels"]),
        (compare_two, ["run", "other", "qrels"]),
    ],
    ids=["score", "score_run", "compare", "compare_two"],
)
def test_every_function_takes_the_same_words_and_describes_them(function: Any, own: list[str]) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [*own, *WORDS]
    assert all(parameters[name] == each for name, each in WORDS.items())
    summary, described, _ = get_function_description(function)
    assert summary.startswith(("Score", "Which of"))
    assert list(described) == list(parameters)
    assert all(described.values())


def test_words_that_are_not_given_are_the_conventions() -> None:
    assert ndcg.signature(**options_of_words()) == ndcg.signature(k=10)
    options = options_of_words("1,5", "lightgbm", empty="left out", unjudged="removed")
    chosen = {"convention": "lightgbm", "zero_division": float("nan"), "judged_only": True}
    assert ndcg.signature(**options) == ndcg.signature(k=[1, 5], **chosen)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"gain": ["linear"]}, "gain must be text; got list"),
        ({"predictions": [[1]] * 20_001}, "predictions: holds more than 20,000 queries"),
    ],
)
def test_what_is_refused_is_a_sentence(words: dict[str, Any], message: str) -> None:
    inputs = {
        "predictions": [[1]],
        "references": [[1]],
        **{name: each.default for name, each in WORDS.items()},
        **words,
    }
    with pytest.raises(gr.Error, match=message):
        score(*inputs.values())
