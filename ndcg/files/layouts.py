"""The layout of lines: which columns a file of TREC, CSV or TSV has, as its first lines tell."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..inputs.fields import (
    VALUE,
    UnknownFieldError,
    are_names_of_fields,
    column_of_ranks,
    examples_of_names,
    fields_without_role,
)
from ..inputs.no_rankings import beside_ranks
from ..inputs.roles import columns_of_table
from ..measure.labels import number_of_text
from ..measure.messages import brief, mark, shown
from ..measure.ties import Mask
from .content import NO_TEXT, NOT_UTF_8, NUMBER, NUMERAL, delimiter_of, shown_cell
from .letor import as_qrels, is_row_of_letor, no_row
from .parts import ReadRequest, faulty_rows

TIME = re.compile(rb"[0-9]{9,}(?:\.0*)?")  # in seconds since 1970, from 1973 on
FLAG = re.compile(rb"(?i)\b(?:true|false)\b")
COMMENT = re.compile(rb"#[^\n]*")
REPLACED = "\ufffd"  # what stands for bytes that are not UTF-8
FIRST_LINES = 100  # where the first row of a table is looked for, as an example in errors
THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
HUNDREDS = re.compile("[1-9][0-9]{2}")
LINE_OF_EXCEL = re.compile("sep=.")  # which says how its cells are separated
NAMED_TABLE = re.compile(r"\.[ct]sv(\.|$)")
RATINGS = "give ratings as CSV or TSV with a first line that names the columns, such as "
RATING_COLUMNS = ("user_id", "item_id", "rating")


class Layout(NamedTuple):
    """How to split the lines of a file, and which columns to read: here of CSV or TSV."""

    kind: str
    names: Sequence[str]
    delimiter: str
    at: Sequence[int]  # the columns of query, document and value
    subject: str = "the header has"  # so many columns
    form: str = "TREC"  # what was read, as `preview` says it
    fields: Mapping[str, str] = {}  # the columns by role, if they have names
    others: Sequence[str] = ()  # the columns with names that are not read
    # the ids that rows lack: "document" for rows of LETOR, or scores, which are to be written in
    # this layout
    counted: str = ""

    @property
    def quote(self) -> Any:
        """The character around a cell that holds delimiters, as Arrow knows it."""
        return '"'

    @property
    def words(self) -> str:
        """A description of the contents of a line."""
        return f"{self.subject} {len(self.names)}: {brief(self.names, ' ')}"

    @property
    def padding(self) -> str:
        """The characters around a cell of CSV or TSV that are not part of it."""
        return " \t".replace(self.delimiter, "")

    def begins_at(self, first: re.Match[bytes]) -> int:
        """Return where the rows begin, of which the first line was matched."""
        return first.end()

    def notice(self, lines: Sequence[bytes]) -> tuple[str, Sequence[bytes]]:
        """Return what a warning says about the first lines, and the rows among them."""
        return _doubt_about_thousands(lines[1:], self), lines[1:]

    def plain(self, text: bytes) -> tuple[bytes, bool]:
        """Return lines as they are parsed, and whether some of them may be no rows."""
        return text, _are_adjacent(np.frombuffer(text, np.uint8) == ord("\n"))

    def is_comment(self, line: bytes) -> bool:
        """Return whether a line is no row."""
        return False

    def rows(self, text: bytes) -> bytes:
        """Return lines as rows that have these columns."""
        return text

    def has_flags(self, text: bytes) -> bool:
        """Return whether values may be true or false, as pandas writes them."""
        return FLAG.search(text) is not None

    def cells(self, row: str) -> list[str]:
        """Return the cells of a row."""
        return cells_of(row, self.delimiter)

    def faults(self, table: pa.Table) -> Mask:
        """Return which rows lack an id, or have no finite number."""
        return faulty_rows(table)

    def problem_in(self, row: bytes) -> str:
        """Return the error in a row that has no cells; empty if it has some."""
        if row.count(b'"') % 2 == 0:
            return ""
        problem = "has a quoted cell that continues on the next line"
        call = f"pandas.read_csv(path, sep={self.delimiter!r})"
        hint = f"put each row on a single line{mark('pandas', said=call, before=', or give ')}"
        return f"{problem}; {hint}"


class Trec(Layout):
    """A layout of TREC: columns have spaces between them, and no names."""

    @property
    def quote(self) -> Any:
        """False: a quote is a character of an id."""
        return False

    def begins_at(self, first: re.Match[bytes]) -> int:
        """Return 0: even a line that looks like a comment may be a row."""
        return 0

    def notice(self, lines: Sequence[bytes]) -> tuple[str, Sequence[bytes]]:
        """Return no warning, and the rows among the first lines with one space between cells."""
        cells_of_rows = list(filter(self.is_row, map(cells_of_trec, lines)))
        _refuse_spaces_in_ids(cells_of_rows)
        if self.kind == "qrels":
            _refuse_no_qrels(cells_of_rows)
        return "", list(map(b" ".join, cells_of_rows))

    def plain(self, text: bytes) -> tuple[bytes, bool]:
        """Return lines with one space between columns, and whether some of them may be no rows."""
        text = text.replace(b"\t", b" ").rstrip(b" ")
        has_blanks = _are_adjacent(np.frombuffer(text, np.uint8) <= ord(" "))
        if has_blanks:
            text = _with_single_spaces(text)
        # Searching for two bytes is slow.
        has_comments = b"#" in text and b"\n#" in b"\n" + text
        return text, has_blanks or has_comments

    def is_comment(self, line: bytes) -> bool:
        """Return whether a line begins with #, and not because that is how its query begins."""
        return line.startswith(b"#") and not self.is_row(line.split(b" "))

    def has_flags(self, text: bytes) -> bool:
        """Return False: values are numbers."""
        return False

    def cells(self, row: str) -> list[str]:
        """Return the cells of a row with one space between columns."""
        return row.split(" ")

    def faults(self, table: pa.Table) -> Mask:
        """Return which rows have no finite number: between spaces, ids are never empty."""
        return np.asarray(~np.isfinite(table["value"]))

    def problem_in(self, row: bytes) -> str:
        """Return nothing: a row may begin and end anywhere."""
        return ""

    def fits(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line of TREC has this layout, apart from its numbers."""
        if self.kind == "run":
            return len(cells) >= len(self.names)
        return len(cells) == len(self.names)

    def is_row(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line that begins with ``#`` is a row and not a comment."""
        if not self.fits(cells):
            return False
        if len(self.at) == 2:  # lines of ids have no number; a space after the # marks a comment
            return cells[0] != b"#"
        return NUMBER.fullmatch(cells[self.at[2]]) is not None


class Letor(Trec):
    """Rows of LETOR, or scores, one a line, which become triples of TREC."""

    def plain(self, text: bytes) -> tuple[bytes, bool]:
        """Return lines without comments, and whether some of them may be no rows."""
        return super().plain(COMMENT.sub(b"", text))

    def rows(self, text: bytes) -> bytes:
        """Return lines as triples."""
        return as_qrels(text, self.kind)

    def problem_in(self, row: bytes) -> str:
        """Return the error in a line that is no such row."""
        return no_row(row, self.kind) if self.rows(row) == row else ""


def _are_adjacent(mask: Mask) -> bool:
    """Return whether two bytes in a row are marked, or the first one.

    Comparing neighbors by NumPy is faster than a search for two bytes.
    """
    mask = np.concatenate([[True], mask])
    return bool((mask[1:] & mask[:-1]).any())


def _with_single_spaces(text: bytes) -> bytes:
    """Return text with one space between the columns, and none around a line."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


RUN = Trec("run", ("query", "Q0", "document", "rank", "score", "tag"), " ", (0, 2, 4), "a run has")
QRELS = Trec("qrels", ("query", "iteration", "document", "relevance"), " ", (0, 2, 3), "qrels have")
PLAIN_QRELS = Trec("qrels", ("query", "document", "relevance"), " ", (0, 1, 2))._replace(
    subject="the first line has"
)
PAIRS = Trec("exclude", ("query", "document"), " ", (0, 1), "ids alone are")
LAYOUTS: dict[str, tuple[Trec, ...]] = {
    "run": (RUN,),
    "qrels": (QRELS, PLAIN_QRELS),
    "exclude": (PAIRS,),
}
# The layouts of the other side, by the number of columns.
OTHER_SIDE = {len(QRELS.names): (RUN,), len(RUN.names): (QRELS, PLAIN_QRELS)}
TRIPLES = Letor(*PLAIN_QRELS)._replace(counted="document")
LETOR = {
    "run": TRIPLES._replace(kind="run", form="scores, one a line"),
    "qrels": TRIPLES._replace(form="LETOR"),
}


# Cells


def cells_of_trec(line: bytes) -> list[bytes]:
    """Return the cells of a line of TREC."""
    cells = line.replace(b"\t", b" ").removesuffix(b"\r").split(b" ")
    return [cell for cell in cells if cell]


def cells_of(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row of CSV or TSV, without the spaces around them."""
    (cells,) = csv.reader([row], delimiter=delimiter, skipinitialspace=True)
    return [cell.strip(" \t") for cell in cells]


def cells_in(
    rows: Iterable[bytes], cells_of_row: Callable[[str], list[str]], at: Sequence[int]
) -> Iterator[list[str]]:
    """Yield the cells of some rows in some columns, as far as they can be read."""
    for row in rows:
        with suppress(csv.Error, IndexError):  # parsing raises the error
            cells = cells_of_row(row.decode("utf-8", "replace"))
            yield [cells[column] for column in at]


def call_of_pandas(
    delimiter: str, ids: Iterable[str], is_utf_8: bool = True, number: str = ""
) -> str:
    """Return the call that reads CSV of Excel with decimal commas, or in another encoding.

    Where numbers have such commas, Excel separates cells by semicolons. Elsewhere a comma may mark
    thousands.
    """
    has_semicolons = delimiter == ";"
    if is_utf_8 and not has_semicolons:
        return ""
    options = [f'sep="{delimiter}"'.replace("\t", "\\t")]
    if has_semicolons:
        options.append('decimal=","')
    if has_semicolons and "." in number:
        options.append('thousands="."')
    if not is_utf_8:
        options.append('encoding="cp1252"')
    types = ", ".join(f"{shown(column)}: str" for column in dict.fromkeys(ids))
    call = f"pandas.read_csv(path, {', '.join(options)}, dtype={{{types}}})"
    return mark("pandas", said=call, before=", or give ")


# The first line


def layout_of(line: bytes, rows: bytes, path: str, request: ReadRequest) -> Layout:
    """Return the layout of a file with this first line, and these rows after it."""
    kind = request.names.kind
    standard = LAYOUTS[kind]
    if any(character in line for character in NO_TEXT):
        return standard[0]  # the line itself is refused later, not its columns
    if request.format in (None, "letor") and is_row_of_letor(line, kind):
        return LETOR[kind]
    cells = cells_of_trec(line)
    trec = next((layout for layout in standard if layout.fits(cells)), standard[0])
    if request.format == "trec" or _tells_trec(cells, trec, request):
        return trec
    header = line.decode("utf-8", "replace")
    if LINE_OF_EXCEL.fullmatch(header.strip()):
        raise ValueError(f"the line {shown_cell(line)} is for Excel alone; delete it")
    delimiter = delimiter_of(header)
    names = _names_in(header, delimiter)
    # A header such as "Query Text,Doc ID,..." may have as many words as a line of TREC.
    has_names = len(names) > 1 or not trec.fits(cells)
    is_said = has_names and _is_said_to_have_names(path, request.format)
    if is_said or _have_commas(cells) or are_names_of_fields(names):
        return _named_layout(names, rows, delimiter, request)
    return trec


def _tells_trec(cells: Sequence[bytes], trec: Trec, request: ReadRequest) -> bool:
    """Return whether a first line is a row of TREC: it has a number where the value belongs."""
    # The other formats have names in the first line, and pairs of ids have no number.
    if request.format is not None or trec.kind == "exclude":
        return False
    return trec.is_row(cells) and not _have_commas(cells)


def _have_commas(cells: Sequence[bytes]) -> bool:
    """Return whether there is a comma before every space of a line, as in "q1, d1, 0.5"."""
    return len(cells) > 1 and all(cell.endswith(b",") for cell in cells[:-1])


def _is_said_to_have_names(path: str, given: str | None) -> bool:
    """Return whether the format, or the name of the file, says that it is CSV or TSV."""
    # A format that is given counts as a suffix of the name.
    return NAMED_TABLE.search(f"{os.path.basename(path)}.{given}".lower()) is not None


def _names_in(header: str, delimiter: str) -> list[str]:
    """Return the names in a header; none if it cannot be read."""
    try:
        return cells_of(header, delimiter)
    except csv.Error:
        return []


def _named_layout(
    names: Sequence[str], rows: bytes, delimiter: str, request: ReadRequest
) -> Layout:
    request.limits.check("columns", len(names))  # first, so that no message lists thousands
    _refuse_no_header(names, request)

    def examples() -> dict[str, str | None]:
        lines = rows.split(b"\n", FIRST_LINES)[:FIRST_LINES]
        read = partial(cells_of, delimiter=delimiter)
        first = next(cells_in(lines, read, range(len(names))), [])
        return {**dict.fromkeys(names), **dict(zip(names, first, strict=False))}

    try:
        chosen = columns_of_table(names, request.names, "the header has", examples)
    except UnknownFieldError as error:
        is_utf_8 = REPLACED not in error.fields
        ids = [error.chosen.get(role, "...") for role in ("query", "document")]
        call = call_of_pandas(delimiter, ids, is_utf_8)
        if not is_utf_8:
            error.add(f"the file {NOT_UTF_8}{call}")
            call = ""
        error.add_decimals(f"write a point{call}")
        raise
    at = [names.index(name) for name in chosen.values()]
    form = "TSV" if delimiter == "\t" else "CSV"
    others = fields_without_role(names, chosen)
    return Layout(request.names.kind, names, delimiter, at, form=form, fields=chosen, others=others)


def _refuse_no_header(names: Sequence[str], request: ReadRequest) -> None:
    """Raise an error for a first line that is a row: it has a number and no name of a column."""
    if are_names_of_fields(names) or not set(names).isdisjoint(request.names.given_names):
        return
    if any(map(NUMERAL.fullmatch, names)):
        first = brief(map(shown_cell, names), ", ")
        problem = f"has no header: the first line is {first}"
        hint = f"add a line that names the columns, {examples_of_names(request.names)}"
        raise ValueError(f"{problem}; {hint}")


# The first rows


def notice_of(lines: Sequence[bytes], layout: Layout, request: ReadRequest) -> tuple[str, bool]:
    """Return what a warning says about the first lines of a file; empty if there is nothing.

    Return as well whether ranks tell an order, against which the scores were held.

    Raises:
        ValueError: ids have spaces, or qrels end in a time or in a rank.
    """
    doubt, rows = layout.notice(lines)
    rank = column_of_ranks(layout.names, layout.fields, request.names)
    if not rank:
        return doubt, False
    position = layout.names.index(rank["rank"])
    at = [layout.at[0], [*layout.at, position][2], position]  # ranks are scores if there are none
    cells = list(cells_in(rows, layout.cells, at))
    queries = [query for query, _, _ in cells]
    scores = [number_of_text(score) for _, score, _ in cells]
    ranks = [number_of_text(rank) for _, _, rank in cells]
    problem, has_ranks = beside_ranks(queries, scores, ranks, request.names)
    return problem or doubt, has_ranks


def _doubt_about_thousands(rows: Sequence[bytes], layout: Layout) -> str:
    """Return what a warning says about numbers such as 1.340 beside 980, of which none is 1.3.

    A program that writes three decimals writes 980.000, and one that leaves out zeros writes 1.34.
    """

    def values_of(rows: Iterable[bytes]) -> Iterator[str]:
        return chain.from_iterable(cells_in(rows, layout.cells, layout.at[2:]))

    # Splitting a row takes long, and the first number with a point tells nearly always.
    with_point = (cell for cell in values_of(row for row in rows if b"." in row) if "." in cell)
    first = next(with_point, "")
    if not all(map(THOUSANDS.fullmatch, chain([first], with_point))):
        return ""
    hundreds = next(filter(HUNDREDS.fullmatch, values_of(rows)), None)
    if hundreds is None:
        return ""
    problem = f"every {VALUE[layout.kind]} with a point has three decimals, and others have none"
    hint = f"if the point marks thousands, write {first.replace('.', '')}"
    return f"{problem} ({shown(first)}, {shown(hundreds)}); {hint}"


def _refuse_spaces_in_ids(rows: Sequence[Sequence[bytes]]) -> None:
    """Raise an error for rows of a run whose ids have spaces, so that they have more columns."""
    for row in rows:
        if len(row) <= len(RUN.names):
            continue
        # With a space in an id, the score is still the last but one.
        if not NUMBER.fullmatch(row[3]) and NUMBER.fullmatch(row[-2]):
            line = shown_cell(b" ".join(row))
            problem = f"the line {line} has no rank in its fourth column"
            raise ValueError(f"{problem}; replace the spaces in ids")


def _refuse_no_qrels(rows: Sequence[Sequence[bytes]]) -> None:
    """Raise an error for lines whose last number is a time, or counts from 1 in every query."""
    iterations = {row[1] for row in rows}
    if iterations <= {b"0", b"Q0"}:  # as qrels have them
        return
    line = shown_cell(b" ".join(rows[0]))
    if all(TIME.fullmatch(row[-1]) for row in rows):
        problem = f"the line {line} ends in a time where qrels have the relevance"
        columns = [*RATING_COLUMNS[: len(rows[0]) - 1], "timestamp"]
        raise ValueError(f"{problem}; {RATINGS}{','.join(columns)}")
    counts = Counter[bytes]()
    for row in rows:
        counts[row[0]] += 1
        if row[-1] != b"%d" % counts[row[0]]:
            return
    if max(counts.values()) <= 3:  # grades may be 1, 2, 3 by chance
        return
    problem = f"the line {line} ends in a rank where qrels have the relevance"
    raise ValueError(f"{problem}: each query counts from 1; is it a run?")
