"""Text stays text in HTML and in a spreadsheet; numbers are written one way, colors can be told."""

import base64
import csv
import doctest
import io
import re
from typing import Any

import pytest
from visitor import look

from page import files, html, standings
from page.html import STATIC, csv_address

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

EVIL = "<img src=x>"
CSS = (STATIC / "page.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("module", [files, html, standings], ids=lambda module: module.__name__)
def test_the_examples_of_functions_are_right(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "query",
    [
        f"?rel=1,2&ids={EVIL},b",
        f"?k={EVIL}",
        f"?{EVIL.replace('=', '')}=1",
        f"?got={EVIL}",
        f"?gain={EVIL}=1",
        f"?tab=compare&base={EVIL}&query={EVIL}",
        f'?tab=compare&columns={{"{EVIL}":{{}}}}',
        f"?paste={EVIL.replace(' ', '')} 1",
    ],
)
def test_what_is_typed_is_never_html(query: str) -> None:
    page = look(query)
    assert "<img" not in page.source
    assert "&lt;img" in page.source


def in_csv(**columns: Any) -> str:
    (data,) = re.findall(
        "base64,(.+)", csv_address([*columns], zip(*columns.values(), strict=True))
    )
    return base64.b64decode(data).decode()


def test_a_csv_file_holds_no_formulas_and_no_noise() -> None:
    text = in_csv(document=["=1+1", "-d", "-2"], rank=[1, 2, 3], value=[0.1 + 0.2, -0.0, 1.0])
    assert text.split() == [
        '"document","rank","value"',
        '"\'=1+1",1,0.3',
        '"\'-d",2,0.0',
        '"-2",3,1.0',
    ]
    text = in_csv(query=["x;y", "a;-b", "1;2"], value=[1, 2, 3])  # quoted and in one cell
    assert text.split() == ['"query","value"', '"x;y",1', '"a;\'-b",2', '"1;2",3']


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-d", "@SUM(A1)", "＝1+1", "x;=1+1", "x;=1+1;y", "x\t@A1", "x\n=1+1"]
)
def test_a_csv_file_holds_no_formula_however_a_spreadsheet_splits_it(
    text: str, delimiter: str
) -> None:
    written = in_csv(value=[0.5], query=[text])
    cells = [cell for row in csv.reader(io.StringIO(written), delimiter=delimiter) for cell in row]
    assert [cell for cell in cells if cell.startswith(tuple("=+-@＝"))] == []
    *_, (_, plain) = csv.reader(io.StringIO(written, newline=""))
    assert plain.replace("'", "") == text
    assert f'"{plain}"' in written


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("names", "grounds", "least"),
    [
        (["ink", "quiet", "own", "best", "won", "fault"], ["paper", "face"], 4.5),  # text
        (["own", "best"], ["band", "best-band"], 3),  # bars
        (["edge"], ["paper"], 3),
    ],
)
def test_text_and_marks_stand_out_from_their_background(
    scheme: int, names: list[str], grounds: list[str], least: float
) -> None:
    declared = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", CSS)
    colors = {name: pair[scheme] for name, *pair in declared}
    for name in names:
        for ground in grounds:
            low, high = sorted((luminance(colors[name]), luminance(colors[ground])))
            assert (high + 0.05) / (low + 0.05) >= least, (name, ground)
