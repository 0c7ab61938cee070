"""The metric class of ndcg.py, over the modules of this package.

This finds ndcg.py in a clone; a wheel has ndcg.py itself in this place.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

path = Path(__file__).resolve().parents[2] / "ndcg.py"
if not path.is_file():
    raise ImportError(f"NDCG is defined in ndcg.py of the clone, which is not at {path}: install the package")
spec = spec_from_file_location(__name__, path)
assert spec is not None  # noqa: S101
assert spec.loader is not None  # noqa: S101
module = module_from_spec(spec)
sys.modules[__name__] = module
spec.loader.exec_module(module)
