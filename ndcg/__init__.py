"""`import ndcg` in the clone's folder: this hands over to the package in src/ndcg.

Python looks here first: a folder comes before a file of the same name, such as ndcg.py.
"""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
del sys.modules[__name__]
import_module(__name__)
