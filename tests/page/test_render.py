"""Text stays text in HTML, and in a spreadsheet."""

import base64
import csv
import io
import re
from typing import Any

import pandas as pd
import pytest

from page.render import CSS, csv_link, error_html, score_card, table_html

EVIL = "<img src=x>"


def test_typed_text_is_not_read_as_html() -> None:
    table = table_html(EVIL, pd.DataFrame({EVIL: [EVIL]}))
    for shown in (score_card({EVIL: 0.5, f"{EVIL}2": 1}, EVIL), error_html(EVIL), table):
        assert EVIL not in shown
        assert "&lt;img src=x&gt;" in shown


def in_csv(**columns: Any) -> str:
    (data,) = re.findall("base64,([^']+)", csv_link(pd.DataFrame(columns), "a.csv"))
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


@pytest.mark.parametrize(("scheme", "behind"), [(":root", "#ffffff"), (r"\.dark", "#27272a")])
def test_marks_stand_out_from_their_background(scheme: str, behind: str) -> None:
    (declared,) = re.findall(rf"^{scheme} {{\n(.*?)\n}}", CSS, re.MULTILINE | re.DOTALL)
    colors = dict(re.findall(r"--(\w+): (#\w{6});", declared))
    for mark, ground in (
        (m, g) for m in ("own", "best", "won", "edge") for g in (behind, colors["face"])
    ):
        low, high = sorted((luminance(colors[mark]), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3, (mark, ground)
