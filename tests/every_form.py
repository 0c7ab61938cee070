"""Names of `sources` for the tests that import them from here."""

# ruff: noqa: F401
from sources import FILES as EITHER_SIDE
from sources import ODD_IDS, PACKED, SPELLINGS, as_arrow, as_parquet
from sources import QRELS_FILES as QRELS
from sources import RUN_FILES as RUNS
