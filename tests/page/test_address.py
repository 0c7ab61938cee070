"""The address: it brings back what was shown, and a part at fault gets a note and its default."""

import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visitor import look

from page.address import Address, read_address
from page.guide import LESSONS
from page.settings import CHOICES, CONVENTIONS, Settings

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

CELLS = st.text(st.characters(exclude_categories=["C"]), max_size=5).map(str.strip)
ROWS = st.lists(
    st.tuples(
        CELLS.filter(bool), st.sampled_from(["", "0", "2"]), st.sampled_from(["", "1", "-0.5"])
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda row: row[0],
)


def read(query: str) -> tuple[Address, list[Any]]:
    return read_address(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)))


@given(rows=ROWS, data=st.data())
def test_an_address_brings_back_the_ranking(rows: Any, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(rows))))[: data.draw(st.integers(0, len(rows)))]
    text = ",".join(f"{place + 1}" for place in order).replace(",", "*,", 1) or "-"
    address = Address(rows=tuple(rows), order=text)
    assert read(address.query()) == (address, [])


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("at", range(max(map(len, CHOICES.values()))))
def test_an_address_brings_back_the_options_and_the_name_of_the_convention(
    convention: str, at: int
) -> None:
    chosen = Settings("1,3", convention)
    for name, choices in CHOICES.items():
        chosen = chosen.with_word(name, choices[at % len(choices)])
    for settings in (chosen, Settings("10", convention)):
        assert read(Address(settings=settings).query()) == (Address(settings=settings), [])
        changed = settings.with_word("log_base", "10")
        assert read(Address(settings=changed).query())[0].settings.options["log_base"] == 10


def test_an_address_is_short() -> None:
    assert Address().query() == ""
    assert read("rel=3,2,3,0,1,2&k=10&convention=sklearn")[0].query() == "rel=3,2,3,0,1,2"
    assert read("rel=1&scores=2")[0].query() == "rel=1&scores=2"
    assert Address(step="ties").query() == "step=ties"


def test_the_gain_of_labels_is_a_part_of_the_address() -> None:
    address, notes = read("rel=no,yes&gain=yes=2,no=0")
    assert notes == []
    assert address.settings.options["gain"] == {"yes": 2, "no": 0}
    assert read(address.query()) == (address, [])
    assert read("rel=0,1&gain=0,1,3")[0].settings.options["gain"] == [0, 1, 3]


FAULTY = {
    "k=abc": "k=abc was not read: Top: 'abc' is not a cutoff: write whole numbers from 1",
    "k=0": "'0' is not a cutoff",
    "k=" + ",".join("1" * 21): "21 cutoffs; give at most 20",
    "convention=none": "it must be one of sklearn, trec_eval, ",
    "gain=<b>": "gain=<b> was not read: Gain must be",
    "gain=a=1, b=x": "gain=a=1, b=x was not read: Gain",
    "log_base=e": "log_base=e was not read: Base of the logarithm must be",
    "log_base=inf": "log_base=inf was not read: Base of the logarithm must be",
    "ideal=full&k=all": 'Top must be given for Ideal set to "all of the highest gain" and at most',
    "gain=yes=1": "gain=yes=1 was not read: row 1: '0' is a label without a gain; Gain has 'yes'.",
    "step=nothing": "it must be one of gain, discount, ideal, ",
    "guess=Two": "guess=Two was not read: nothing is asked here.",
    "step=gain&guess=Two": "guess=Two was not read: it must be one of nDCG stays the same, nDCG",
    "rel=0,1&ids=a": "ids=a was not read: it must have as many cells as rel, 2; it has 1.",
    "rel=0,1&scores=1,2,3": "it must have as many cells as rel, 2; it has 3.",
    "scores=1,2": "it must have as many cells as rel, 0; it has 2.",
    "rel=" + ",".join("1" * 501): "501 documents; here at most 500 are shown.",
    "rel=1%0A2": "it must be one line.",
    "rel=x,2": "row 1: relevance must be a number up to 1e+100; got 'x'",
    "rel=1e400": "row 1: relevance must be a number up to 1e+100; got '1e400'",
    "rel=-1,2": "row 1 (d1): relevance −1 is negative",
    "order=1,9": "'9' is not the number of a document, 1 to 6.",
    "order=1,1": "it has a document twice.",
    "grade=9:1": "'9' is not the number of a document, 1 to 6.",
    "got=" + "1" * 31: "it must have at most 30 characters.",
    "tab=cards": "it must be one of understand, compare.",
    "paste=a 1%0Ab 2 3": "The ranking was not read: line 2 has 3 cells, in place of 2; ",
    "paste=": "The ranking was not read: there is no document; write relevances, such as",
    "colour=red": "The address has colour, which this page does not know.",
}


@pytest.mark.parametrize("query", FAULTY, ids=lambda query: query[:30])
def test_a_part_at_fault_gets_a_note_and_its_default_and_the_field_stays(query: str) -> None:
    page = look(f"?{query}")
    (note,) = page.notes
    assert FAULTY[query] in note
    assert page.value != ""
    assert page.found('<input name="k" value="(.*?)"') == ["all" if "k=all" in query else "10"]
    assert page.found('<option selected title=".*?">(.*?)</option>') == ["sklearn"]


def test_what_is_at_fault_leaves_the_rest_as_it_is() -> None:
    page = look("?k=abc&convention=lightgbm&rel=1,0")
    assert len(page.notes) == 1
    assert page.found('<option selected title=".*?">(.*?)</option>') == ["lightgbm"]
    assert page.found('aria-label="(d\\d), rank')[:2] == ["d1", "d2"]


def test_a_negative_relevance_can_be_counted_as_0_by_one_press() -> None:
    page = look("?rel=-1,2").follow("Count it as 0")
    assert page.notes == []
    assert page.found('aria-label="(d\\d), rank')[:2] == ["d1", "d2"]


def test_parameters_of_the_space_around_the_page_get_no_note() -> None:
    assert look("?__theme=dark&utm_source=x").notes == []


@pytest.mark.parametrize("step", LESSONS)
def test_each_step_and_its_guess_have_addresses(step: str) -> None:
    address, notes = read(f"step={step}&guess={urllib.parse.quote(LESSONS[step].choices[0])}")
    assert (address.step, address.guess, notes) == (step, LESSONS[step].choices[0], [])
    assert read(address.query()) == (address, [])
