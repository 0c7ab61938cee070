"""Tell the format of a file from its first bytes, and refuse files of other kinds by name."""

import re

from ..measure.arguments import FILE_FORMATS
from ..measure.messages import InputError, mark, shown
from .content import BYTE_ORDER_MARK, check_encoding

START = 1 << 12  # bytes that tell the format
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream"}
FORMS_OF_FORMATS = {"parquet": "parquet", "arrow": "arrow", "json": "json", "jsonl": "json"}
OTHER_FILES = {  # files of other kinds, by the bytes that they begin with, and what to do
    rb"(?!\0{3})(?s:.){3}\0{5}": "is a TFRecord file; read it by TensorFlow, and give its arrays",
    rb"PK\x03\x04(?s:.){26}[^\0]*\.npy": (
        "is an archive of NumPy arrays; give numpy.load(path)[name]"
    ),
    rb"PK\x03\x04": (
        "is a ZIP archive or an Excel workbook; "
        "give the file that is in it, or save the sheet as CSV"
    ),
    rb"\xd0\xcf\x11\xe0": "is an Excel workbook; save the sheet as CSV",
    rb"SQLite format 3\0": (
        "is a SQLite database; give the rows of a query, such as pandas.read_sql(query, connection)"
    ),
    rb"\x93NUMPY": "is a NumPy array; give numpy.load(path)",
    rb"\x80[\x02-\x05]": "is a pickle; load it, and give what it holds",
    rb"Obj\x01": "is an Avro file; save it as Parquet, or give its records",
    rb"\x89HDF": "is an HDF5 file; give the DataFrame or the arrays that it holds",
    rb"ORC(?s:.){0,4}[\0-\x08]": (
        "is an ORC file; save it as Parquet, or give pyarrow.orc.read_table(path)"
    ),
    rb"BZh[1-9]": "is compressed with bzip2; decompress it, or use gzip or Zstandard",
    rb"\xfd7zXZ\0": "is compressed with xz; decompress it, or use gzip or Zstandard",
    rb"---[ \t]*\r?\n|[\w\"'-]+:[ \t]*\r?\n[ \t-]": "is YAML; give yaml.safe_load of it",
}


def check_format(name: str | None) -> str | None:
    """Return the name of a format, which must be known.

    Raises:
        ValueError: it is unknown.
    """
    if name is None or name in FILE_FORMATS:
        return name
    known = ", ".join(map(shown, FILE_FORMATS))
    raise InputError(f"{mark('format')} must be one of {known}; got {shown(name)}")


def form_of(start: bytes, given: str | None = None) -> str:
    """Return how a file that begins with these bytes is read: as a table, "json" or "lines".

    >>> form_of(b"PAR1"), form_of(b' {"q1": {'), form_of(b"q1 Q0 d1 1 0.5 tag")
    ('parquet', 'json', 'lines')
    """
    for beginning, form in TABLES.items():
        if start.startswith(beginning):
            return form
    for beginning, problem in OTHER_FILES.items():
        if re.match(beginning, start):
            raise ValueError(problem)
    text = start.removeprefix(BYTE_ORDER_MARK)
    check_encoding(text)
    if given is None and text.lstrip().startswith((b"{", b"[")):
        return "json"
    return FORMS_OF_FORMATS.get(given or "", "lines")
