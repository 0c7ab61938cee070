"""Text stays text in HTML, and in a spreadsheet."""

import base64
import re

import pandas as pd

from page.render import csv_link, error_html, score_card, table_html

EVIL = "<img src=x>"


def test_what_people_typed_is_no_html() -> None:
    shown = [
        score_card({EVIL: 0.5, f"{EVIL}2": 1}, EVIL),
        error_html(EVIL),
        table_html(EVIL, pd.DataFrame({EVIL: [EVIL]})),
    ]
    assert not any(EVIL in each for each in shown)
    assert all("&lt;img src=x&gt;" in each for each in shown)


def test_a_csv_file_holds_no_formulas_and_no_noise() -> None:
    table = pd.DataFrame({"document": ["=1+1", "-d", "-2"], "rank": [1, 2, 3], "value": [0.1 + 0.2, -0.0, 1.0]})
    (data,) = re.findall("base64,([^']+)", csv_link(table, "a.csv"))
    lines = base64.b64decode(data).decode().split()
    assert lines == ["document,rank,value", "'=1+1,1,0.3", "'-d,2,0.0", "-2,3,1.0"]
