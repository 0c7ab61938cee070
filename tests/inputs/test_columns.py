"""One side of the rankings: numbers are read alike, few or many, and arrays however they lie."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ndcg.inputs import columns

NUMBERS: dict[str, Any] = {
    "floats": [[0.5, -1.25], [math.nan, math.inf, -0.0]],
    "floats and None": [[0.5, None], [], [None, -2.5]],
    "floats, integers and None": [[0.5, None, 2], [3]],
    "floats and bools": [[0.5, True], [False]],
    "bytes": [[0, 255], [3]],
    "eight bytes, as one float has": [[0, 255, 1, 2], [3, 4, 5, 6]],
    "bytes and None": [[0, None], [3]],
    "integers": [[256, -1], [2**62]],
    "large integers and None": [[256, None], [2**62 + 1]],
    "unsigned integers": [[2**64 - 1], [1]],
    "integers and bools": [[1, True], [False]],
    "bools": [[True, False], [True]],
    "None alone": [[None], [None]],
    "no numbers": [[], []],
    "tuples": [(0.5, 1.5), (2.5,)],
    "large floats": [[2.0**60], [1e300, 0.5]],
    "floats and an integer that is held": [[0.5, 2**53], [2**60]],
    "floats and an integer that is rounded": [[0.5, 2**53 + 1], [1.5]],
    "floats and an integer beyond all floats": [[0.5], [10**400]],
    "longdoubles that are rounded": [[0.5, np.longdouble(1) / 3], [1.5]],
    "longdoubles, rounded, and None": [[0.5, None], [np.longdouble(1) / 3]],
    "fractions": [[0.5, Fraction(1, 3)]],
    "scalars of float32": [[np.float32(0.1), np.float32(2)], [np.float32(0.3)]],
    "floats and scalars": [[0.5, np.float16(0.1), np.int8(100)], [np.int8(100), None]],
    "integers of NumPy and None": [[np.int64(1), None, 2], [np.int64(2**62)]],
    "floats of NumPy and None": [[np.float64(0.1), None], [0.5, np.float64(3)]],
    "floats and integers of NumPy": [[np.float64(0.5), None], [np.int64(2**53)]],
    "floats and an integer of NumPy that is rounded": [[0.5, None], [np.int64(2**53 + 1)]],
    "truth values of NumPy": [[np.True_, None], [2**63, np.False_]],
    "truth values of NumPy and an integer that is held": [[np.True_, 2**64], [1]],
    "masked": [[0.5, np.ma.masked], [1.5]],
    "text": [[0.5, 1.5], ["1"]],
    "decimals": [[0.5, 1], [Decimal(1)]],
    "bytes of text": [[1, 2], [b"1"]],
    "lists in lists": [[[0.5]], [1.5]],
    "a set": [[0.5], {1.5}],
    "a range": [[1], range(3)],
}


@pytest.mark.parametrize("ignore_index", [None, 0, 3, 0.5])
@pytest.mark.parametrize("given", NUMBERS)
def test_many_numbers_are_read_as_few_are(
    monkeypatch: pytest.MonkeyPatch, given: str, ignore_index: float | None
) -> None:
    found = []
    for many in (1, 1 << 60):
        monkeypatch.setattr(columns, "MANY", many)
        try:
            column = columns.read_column("references", NUMBERS[given], ignore_index)
        except ValueError as error:
            found.append(str(error))
        else:
            padding = column.padding if column.padding is None else column.padding.tolist()
            missing = None if column.present is None else column.present.tolist()
            found.append(
                [repr(each) for each in (column.values.tolist(), column.offsets, missing, padding)]
            )
    assert found[0] == found[1]


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("dtype", ["float16", ">f8", "int8", "bool", "uint64"])
def test_arrays_of_one_type_are_put_one_after_the_other_however_they_lie(
    step: int, dtype: str
) -> None:
    rows = [np.array([1, 0, 3, 1][: length + 1], dtype)[::step] for length in range(4)]
    column = columns.read_column("references", rows)
    assert column.values.tolist() == [value for row in rows for value in row.tolist()]
    assert column.values.dtype == np.dtype(dtype).newbyteorder("=")
    assert np.diff(column.offsets).tolist() == list(map(len, rows))
