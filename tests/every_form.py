"""Names of `sources` for tests that import them from here."""

from sources import FILES as EITHER_SIDE  # noqa: F401
from sources import ODD_IDS as ODD_IDS
from sources import PACKED as PACKED
from sources import QRELS_FILES as QRELS  # noqa: F401
from sources import RUN_FILES as RUNS  # noqa: F401
from sources import SPELLINGS as SPELLINGS
from sources import as_arrow as as_arrow
from sources import as_json_lines as as_json_lines
from sources import as_lines as as_lines
from sources import as_parquet as as_parquet
from sources import as_trec as as_trec
from sources import mappings_and_files as mappings_and_files
from sources import records as records
from sources import written as written
