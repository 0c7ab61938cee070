"""`import ndcg` in the clone's folder: this becomes the package of src/ndcg.

Python looks here first: a folder comes before a file of the same name, such as ndcg.py.
"""

from pathlib import Path

__file__ = str(Path(__file__).resolve().parent.parent / "src" / "ndcg" / "__init__.py")
__path__[:] = [str(Path(__file__).parent)]
exec(compile(Path(__file__).read_text(encoding="utf-8"), __file__, "exec"))  # noqa: S102
