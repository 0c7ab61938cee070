"""The metric class of ndcg.py, over the modules of this package.

This finds ndcg.py in a clone; a wheel has ndcg.py itself in this place.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

spec = spec_from_file_location(__name__, Path(__file__).resolve().parents[2] / "ndcg.py")
assert spec is not None  # noqa: S101
assert spec.loader is not None  # noqa: S101
module = module_from_spec(spec)
sys.modules[__name__] = module
spec.loader.exec_module(module)
