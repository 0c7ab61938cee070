"""Any TREC files, however they are cut and read, give the number or the error of a slow reader.

`make fuzz` runs it for as long as FUZZ_MINUTES says; the suite for a hundred cases.
"""

import gzip
import itertools
import math
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import NOTHING_IN_COMMON
from evaluate import Metric
from file_helpers import piped
from reference import slow_scores
from sources import ODD_IDS, SPELLINGS

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))
CASES = 120
BYTE_ORDER_MARK = "\ufeff".encode()
COLUMNS = {
    "run": "a run has 6: query Q0 document rank",
    "qrels": "qrels have 4: query iteration document",
}
FINITE = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NAN_OR_INF = re.compile(rb"[+-]?(nan|inf|infinity)|nan\(\w*\)", re.IGNORECASE)
VALUE = {"run": "score", "qrels": "relevance"}
Mapping = dict[str, dict[str, float]]


class Fault(NamedTuple):
    """The first line that a file is refused for, none if it has no rows, and words of the error."""

    line: int | None
    words: tuple[str, ...]


# A slow reader


def as_shown(cell: bytes) -> str:
    """A cell as errors show it, of at most a hundred characters."""
    text = cell.decode(errors="replace")
    return repr(text if len(text) <= 100 else f"{text[:99]}…")


def is_text(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def cells_of(line: bytes) -> list[bytes]:
    return re.split(rb"[ \t]+", line.removesuffix(b"\r").strip(b" \t"))


def is_row(cells: list[bytes], widths: set[int]) -> bool:
    """Whether a line has the columns of a row, and a number where the value is."""
    value = cells[4 if 6 in widths else -1] if len(cells) in widths else b""
    return any(pattern.fullmatch(value) for pattern in (FINITE, NAN_OR_INF))


def widths_of(content: bytes, kind: str) -> set[int]:
    """How many columns a row may have: as the first line that does not begin with #."""
    if kind == "run":
        return set(range(6, 99))
    lines = list(map(cells_of, content.removeprefix(BYTE_ORDER_MARK).split(b"\n")))
    first = next((cells for cells in lines if cells[0] and not cells[0].startswith(b"#")), None)
    return {3 if first is not None and is_row(first, {3}) else 4}


def is_utf_16(start: bytes) -> bool:
    """Whether the first four bytes are two ASCII characters, either before or after zeros."""
    return any(
        start[at::2] == b"\0\0" and b"\0" not in start[1 - at :: 2] and start[1 - at :: 2].isascii()
        for at in (0, 1)
    )


def slow_read(content: bytes, kind: str, longest: int) -> Mapping | Fault:
    """Line by line, in plain Python."""
    found: Mapping = {}
    widths = widths_of(content, kind)
    lines: dict[tuple[str, str], int] = {}
    repeated = None  # said if no other line has a fault
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        text = line.removesuffix(b"\r")
        problems = {
            "holds a carriage return": b"\r" in text,
            "holds a NUL byte": b"\0" in text,
            "is longer than": len(text) > longest,
        }
        if any(problems.values()):
            faults = tuple(words for words, is_there in problems.items() if is_there)
            if content.startswith(b"ORC"):  # with a NUL byte soon after it, that of an ORC file
                return Fault(None, ("is an ORC file", *faults))
            if is_utf_16(content[:4]):
                return Fault(None, ("is text in UTF-16",))
            return Fault(number, faults)
        cells = cells_of(line)
        if not cells[0] or (cells[0].startswith(b"#") and not is_row(cells, widths)):
            continue
        if len(cells) not in widths:
            if not lines and len(cells) > 1 and all(cell.endswith(b",") for cell in cells[:-1]):
                return Fault(None, ("under a standard name",))  # a header, "query, document"
            words = COLUMNS[kind] if widths != {3} else "the first line has 3: query document"
            others: list[str] = []
            is_first = all(query.startswith("#") for query, _ in lines)  # that tells the layout
            if len(cells) == 3 and kind == "qrels" and is_first:
                others = [f"the relevance {as_shown(cells[2])} is not a number"]
                others += ["is not text in UTF-8"] * any(not is_text(each) for each in cells[:2])
            counted = f"{len(cells)} column{'s' if len(cells) > 1 else ''}; {words}"
            return Fault(number, (counted if is_text(line) else "is not text in UTF-8", *others))
        try:
            query, document = cells[0].decode(), cells[1 if widths == {3} else 2].decode()
        except UnicodeDecodeError:
            return Fault(number, ("is not text in UTF-8",))
        value = cells[4 if kind == "run" else 2 if widths == {3} else 3]
        if FINITE.fullmatch(value) is None and NAN_OR_INF.fullmatch(value) is None:
            fault = "has a comma" if re.fullmatch(rb"[0-9]+,[0-9]+", value) else "is not a number"
            return Fault(number, (f"the {VALUE[kind]} {as_shown(value)} {fault}",))
        if NAN_OR_INF.fullmatch(value) or math.isinf(float(value)):
            return Fault(number, (f"the {VALUE[kind]} {as_shown(value)} is not finite",))
        if (query, document) in lines:
            words = f"is in line {lines[query, document]} already"
            repeated = repeated or Fault(number, (words,))
            continue
        lines[query, document] = number
        found.setdefault(query, {})[document] = float(value)
    return repeated or found or Fault(None, (f"holds no {VALUE[kind]}s",))


def slow_read_or_time(content: bytes, kind: str, longest: int) -> Mapping | Fault:
    """As `slow_read`, but the first rows of qrels may end in times, which are no relevances."""
    side = slow_read(content, kind, longest)
    rows = list(filter(lambda cells: len(cells) > 2, map(cells_of, content.split(b"\n"))))
    if kind == "run" or {cells[1] for cells in rows} <= {b"0", b"Q0"}:
        return side
    are_times = [re.fullmatch(rb"[0-9]{9,}(\.0*)?", cells[-1]) is not None for cells in rows]
    # A line that is too long is cut, perhaps within a number.
    if isinstance(side, Fault) and (any(are_times) or "is longer than" in side.words):
        return Fault(None, (*side.words, "ends in a time"))
    return Fault(None, ("ends in a time",)) if all(are_times) else side


def slow_ndcg(run: Mapping, qrels: Mapping, k: int | None, ties: str) -> list[float] | str:
    """The nDCG of each query of the qrels, or words of the error."""
    if not run.keys() & qrels.keys():
        return "no query is in the references"
    values = []
    for query, judged in qrels.items():
        documents = sorted({**run.get(query, {}), **judged})
        relevance = [judged.get(document) for document in documents]
        score = [run.get(query, {}).get(document) for document in documents]
        how = "last" if ties == "docid" else ties
        values.append(slow_scores(relevance, score, k, lambda r: max(r, 0), ties=how)["nDCG"])
    return values


# Cases

IDS = [*ODD_IDS, "\0", "a\0", ",", "a#", "\x0b", "\x1f", "\u00a0", "\u2028", "\x85", "\ufeff"]
NOT_UTF8 = [b"\xff", b"d\xe9", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\xa5", b"\x80"]
SCORES = ["0", "2", "-0", "1e300", "007", *SPELLINGS]
RELEVANCES = [
    "0",
    "1",
    "1",
    "2",
    "3",
    "4",
    "0.5",
    ".5",
    "2.",
    "+1.5",
    "+2",
    "1e1",
    "-1",
    "-0.5",
    "00",
]
NO_NUMBERS = ["x", "1,5", "0x10", "1_0", "+", "+-1", "--1", "1e", ".", "e5", "NA", "１", "'1'"]
NO_NUMBERS += ["\x00", "1\x00", "1\x0b"]
NOT_FINITE = ["nan", "NaN", "+nan", "-nan", "inf", "-inf", "+Infinity", "1e400", "-1e999", "nan(1)"]
SPACES = [" ", " ", " ", " ", "\t", "  ", " \t ", "     "]
SKIPPED = [
    "",
    "",
    " ",
    "\t",
    "   \t",
    "#",
    "# a comment",
    "  #\tb",
    "#" * 30,
    "# 1 2 3 tag 5",
    "# depth 100",
]


def some_id(chance: random.Random) -> bytes:
    pick = chance.randrange(10)
    if pick < 5:
        return f"{chance.choice('dq')}{chance.randrange(30)}".encode()
    if pick < 7:
        return chance.choice(IDS).encode()
    return b"x" * chance.choice(
        [1, 6, 7, 8, 9, 15, 16, 17, 23, 31, 64, 100, 130]
    ) + b"y" * chance.randrange(3)


def some_text(kind: str, queries: list[bytes], longest: int, chance: random.Random) -> bytes:
    """A file, mostly in order; of a spoiled one a line or two are at fault."""
    pairs = [
        (chance.choice(queries), some_id(chance))
        for _ in range(chance.choice([1, 2, 3, 5, 8, 8, 13, 13, 21]) * (chance.random() < 0.98))
    ]
    good = []
    for query, document in dict.fromkeys(pairs):
        value = chance.choice(SCORES if kind == "run" else RELEVANCES).encode()
        tag = chance.choice([b"tag", b"tag", "modèle".encode("latin-1"), b"#", b'"'])
        good.append(
            [query, b"Q0", document, b"1", value, tag]
            if kind == "run"
            else [query, tag, document, value]
        )
    rows = good.copy()
    at_value = 4 if kind == "run" else 3
    for _ in range(chance.choice([0, 0, 0, 0, 0, 1, 2]) if rows else 0):
        row = chance.choice(good).copy()
        at, length = (
            chance.randrange(len(row)),
            longest - sum(map(len, row)) + chance.randrange(-3, 4),
        )
        faults: list[tuple[int, bytes]] = [
            (at_value, chance.choice(NO_NUMBERS).encode()),
            (at_value, chance.choice(NOT_FINITE).encode()),
            (chance.choice([0, 2]), chance.choice(NOT_UTF8)),
            (at, row[at] + chance.choice([b"\r", b"\r\r", b"\0"])),
            (2, b"z" * max(1, length)),
            (0, row[0]),  # a document twice
        ]
        spoil = chance.randrange(8)
        if spoil < len(faults):
            row[faults[spoil][0]] = faults[spoil][1]
        else:
            is_number = any(pattern.fullmatch(row[0]) for pattern in (FINITE, NAN_OR_INF))
            least = 2 if is_number else 1  # a number alone would begin a file of scores
            row = chance.choice(
                [row[: max(at + 1, least)], [*row, *[b"more"] * chance.choice([1, 2, 40])]]
            )
        rows.insert(chance.randrange(len(rows) + 1), row)
    lines = []
    clean = chance.random() < 0.5  # single spaces, line feeds, no comments
    for row in rows:
        while not clean and chance.random() < 0.2:
            lines.append(chance.choice(SKIPPED).encode())
        spaces = [b" " if clean else chance.choice(SPACES).encode() for _ in row]
        line = b"".join(itertools.chain.from_iterable(zip(row, spaces, strict=True)))
        lines.append(
            line.removesuffix(spaces[-1]) if clean or chance.random() < 0.8 else b" " + line
        )
    ends = [b"\n"] if clean else chance.choice([[b"\n"], [b"\r\n"], [b"\n", b"\r\n"]])
    text = b"".join(line + chance.choice(ends) for line in lines)
    if chance.random() < 0.3:
        text = text.removesuffix(b"\n")
    return BYTE_ORDER_MARK * (chance.random() < 0.1) + text


@contextmanager
def given_as(form: str, content: bytes, path: Path, chance: random.Random) -> Iterator[Path]:
    """A path to read the content from, once."""
    if "gz" in form:
        path = path.with_name(f"{path.name}.gz")
        half = chance.randrange(len(content) + 1)
        content = gzip.compress(content[:half]) + gzip.compress(content[half:])
    path.unlink(missing_ok=True)
    if "pipe" not in form:
        path.write_bytes(content)
        yield path
        return
    writer = piped(content, path, keep=True)
    yield path
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as unread:
        while writer.is_alive():  # as nobody has opened the pipe
            unread.read(1 << 16)
            writer.join(0.001)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ValueError as error:
        return str(error)


def assert_refused(found: Any, fault: Fault, prefix: str) -> None:
    """The error names the file, the line and the fault, in one short line."""
    assert isinstance(found, str), (found, fault)
    place = f"{prefix}: " if fault.line is None else f"{prefix}: line {fault.line}: "
    assert found.startswith(place), (found, fault)
    assert any(words in found for words in fault.words), (found, fault)
    of_one_side = found.partition("; references: ")[0]  # the other may be at fault as well
    assert len(of_one_side) < len(prefix) + 500
    assert len(found.splitlines()) == 1, found


def check(ndcg: Metric, folder: Path, chance: random.Random, longest: int) -> bool:
    """Whether the case was scored; otherwise it was refused."""
    queries = [some_id(chance) for _ in range(chance.choice([1, 2, 3]))]
    contents = {kind: some_text(kind, queries, longest, chance) for kind in ("run", "qrels")}
    sides = {kind: slow_read_or_time(contents[kind], kind, longest) for kind in contents}
    forms = {kind: chance.choice(["file", "file.gz", "pipe", "pipe.gz"]) for kind in contents}
    readers = {"run": ndcg.read_run, "qrels": ndcg.read_qrels}
    for kind, side in sides.items():
        with given_as(forms[kind], contents[kind], folder / kind, chance) as path:
            found = outcome(lambda: readers[kind](path))  # noqa: B023
        if isinstance(side, Fault):
            assert_refused(found, side, str(path))
        else:
            items = {query: list(documents.items()) for query, documents in side.items()}
            assert {query: list(documents.items()) for query, documents in found.items()} == items
            assert list(found) == list(side)

    mapping = chance.choice(["run", "qrels", None, None])
    if mapping is not None and isinstance(sides[mapping], Fault):
        mapping = None
    k, ties = chance.choice([None, 1, 2, 5]), chance.choice(["average", "docid", "average"])
    how = {"k": k, "ties": ties, "negative_relevance": "clip", "use_aggregator": False}
    with (
        given_as(forms["run"], contents["run"], folder / "run", chance) as run,
        given_as(forms["qrels"], contents["qrels"], folder / "qrels", chance) as qrels,
    ):
        predictions, references = (
            sides[kind] if kind == mapping else path
            for kind, path in (("run", run), ("qrels", qrels))
        )
        found = outcome(lambda: ndcg.compute(predictions=predictions, references=references, **how))
    for argument, kind, path in (("predictions", "run", run), ("references", "qrels", qrels)):
        side = sides[kind]
        if isinstance(side, Fault):
            assert_refused(found, side, f"{argument}: {path}")
            return False
    expected = slow_ndcg(sides["run"], sides["qrels"], k, ties)
    if isinstance(expected, str):
        assert expected in found
        return False
    name = "nDCG" if k is None else f"nDCG@{k}"
    assert found == {name: pytest.approx(expected, rel=1e-12, abs=1e-15)}
    return True


@NOTHING_IN_COMMON
@pytest.mark.filterwarnings("ignore:.*missing from the run:UserWarning")
@pytest.mark.filterwarnings("ignore:.*which are two ids:UserWarning")  # 7 and 007
@pytest.mark.filterwarnings("ignore:.*rise in the order of their documents:UserWarning")
def test_every_file_ends_in_the_number_of_a_slow_reader_or_in_its_error(
    ndcg: Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = refused = 0
    end = time.monotonic() + 60 * MINUTES
    first = time.time_ns() if MINUTES else 0
    for case in itertools.count(first):
        chance = random.Random(case)
        chunk = chance.choice([1, 3, 10, 30, 64, 100, 333, 1 << 22])
        longest = chance.choice([80, 150, 300, 2000, 1 << 20 if chunk > 300 else 5000])
        monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
        monkeypatch.setattr("ndcg.files.lines.LINE", longest)
        try:
            done = check(ndcg, tmp_path, chance, longest)
        except BaseException as error:
            error.add_note(f"case {case}: chunks of {chunk}, lines of at most {longest} bytes")
            raise
        scored, refused = scored + done, refused + (not done)
        if case - first >= CASES and time.monotonic() >= end:
            break
    print(f"{scored:,} cases scored, {refused:,} refused")
    assert min(scored, refused) > CASES // 4
