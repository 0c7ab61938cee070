"""The parts of error messages."""

import ast
import pickle
from pathlib import Path
from typing import Any

import pytest

from ndcg.measure.messages import (
    InputError,
    Message,
    in_short,
    mark,
    place_of_file,
    raise_unless_of_values,
    renamed,
    shown,
    visible,
    within,
    worded,
)
from ndcg.shell.commands import in_shell


@pytest.mark.parametrize("value", [[*range(10**6)], "x" * 10**6, {"d" * 10**6: 1}, "\n" * 50])
def test_a_value_is_shown_in_one_short_line(value: Any) -> None:
    assert len(shown(value)) < 150
    assert "\n" not in shown(value)


def test_a_short_value_is_shown_as_it_is_and_an_integer_too_long_to_print_by_its_size() -> None:
    for value in ("d1", 17, 0.5, None, ["a", 1], {"a": 1}, 2**64, "two\nlines"):
        assert shown(value) == repr(value)
    assert shown(1 << 20_000) == "an integer of 20001 bits"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("naïve – 漢字 🥇", "naïve – 漢字 🥇"),
        ("a\x1b[31m", r"a\x1b[31m"),
        ("two\nlines\tand\r", r"two\nlines\tand\r"),
        ("\x9b2J\x7f", r"\x9b2J\x7f"),
        ("a\u202eb", r"a\u202eb"),
        ("\udc80", r"\udc80"),
        ("x" * 1000 + "\0", "x" * 1000 + r"\x00"),
    ],
)
def test_characters_that_do_not_print_are_spelled_out_and_nothing_is_lost(
    text: str, expected: str
) -> None:
    assert visible(text) == expected
    assert visible(expected) == expected


def test_the_message_of_a_library_is_cut_to_one_short_line() -> None:
    assert in_short(ValueError("no numbers\n  in column x.")) == "no numbers in column x"
    assert len(in_short(ValueError("x" * 10**6))) == 200


class PanicException(BaseException):
    """The name of Rust's panics in Python."""


@pytest.mark.parametrize(
    "error", [ValueError("x"), OverflowError("x"), PanicException("x")], ids=repr
)
def test_an_error_of_the_values_is_left_to_the_caller(error: BaseException) -> None:
    raise_unless_of_values(error)


@pytest.mark.parametrize(
    "error", [MemoryError("x"), KeyboardInterrupt("x"), SystemExit(1)], ids=repr
)
def test_an_error_that_is_not_of_the_values_is_raised_again(error: BaseException) -> None:
    with pytest.raises(type(error)):
        raise_unless_of_values(error)


def test_an_error_names_its_argument_query_and_position_and_says_how_to_mend_it() -> None:
    error = within(
        InputError("the hit has no id", position=3, hint=f"give {mark('k', 5)}"),
        "references",
        "query 'q'",
    )
    assert str(error) == "references: query 'q', position 3: the hit has no id; give k=5"
    assert (error.argument, error.places, error.position) == (
        "references",
        ("references", "query 'q'"),
        3,
    )
    assert error.options == ["references", "query 'q'", "k"]
    other = within(error, "run.txt", instead_of="references")
    assert str(other) == "run.txt: query 'q', position 3: the hit has no id; give k=5"
    assert str(within(ValueError("no number"), "references")) == "references: no number"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # as between processes


def test_each_entry_point_words_the_options_of_a_message() -> None:
    fields = mark("fields", {"score": None})
    text = (
        f"{mark('ties', 'last')} needs {mark('k')}{mark('ignore_index', before='; or ')}; {fields}"
    )
    assert worded(text) == "ties=\"last\" needs k; or ignore_index; fields={'score': None}"
    of_library = renamed({"k": "depth", "ignore_index": ""})
    assert worded(text, of_library) == "ties=\"last\" needs depth; fields={'score': None}"
    assert worded(text, in_shell) == "--ties last needs -k; or --ignore-index; --score -"
    assert Message(text) == worded(text)
    assert worded(Message(text), in_shell) == worded(text, in_shell)


@pytest.mark.parametrize("text", ["\x0ek\x1f[1]\x0f", "a\x0e"])
def test_text_of_a_user_is_never_taken_for_a_mark(text: str) -> None:
    error = InputError("is not a file", place_of_file(text))
    assert str(error) == f"{visible(text)}: is not a file"


@pytest.mark.parametrize("path", sorted(Path("ndcg").rglob("*.py")), ids=str)
def test_only_an_error_that_can_word_them_has_marks(path: Path) -> None:
    calls = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]
    plain = [
        each for each in calls if each.startswith(("ValueError(", "TypeError(", "RuntimeError("))
    ]
    assert not [
        each for each in plain if "mark(" in each or "names.call(" in each or "within(" in each
    ]
