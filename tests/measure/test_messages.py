"""The parts of error messages."""

from typing import Any

import pytest

from ndcg.measure.messages import in_short, raise_unless_of_values, shown, visible


@pytest.mark.parametrize("value", [[*range(10**6)], "x" * 10**6, {"d" * 10**6: 1}, "\n" * 50])
def test_a_value_is_shown_in_one_short_line(value: Any) -> None:
    assert len(shown(value)) < 150
    assert "\n" not in shown(value)


def test_a_short_value_is_shown_as_it_is_and_an_integer_that_python_does_not_print_by_its_size() -> None:
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
def test_characters_that_do_not_print_are_spelled_out_and_nothing_is_lost(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert visible(expected) == expected


def test_the_message_of_a_library_is_cut_to_one_short_line() -> None:
    assert in_short(ValueError("no numbers\n  in column x.")) == "no numbers in column x"
    assert len(in_short(ValueError("x" * 10**6))) == 200


class PanicException(BaseException):
    """The name of Rust's panics in Python."""


@pytest.mark.parametrize("error", [ValueError("x"), OverflowError("x"), PanicException("x")], ids=repr)
def test_an_error_of_the_values_is_left_to_the_caller(error: BaseException) -> None:
    raise_unless_of_values(error)


@pytest.mark.parametrize("error", [MemoryError("x"), KeyboardInterrupt("x"), SystemExit(1)], ids=repr)
def test_an_error_that_is_not_of_the_values_is_raised_again(error: BaseException) -> None:
    with pytest.raises(type(error)):
        raise_unless_of_values(error)
