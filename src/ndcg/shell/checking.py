"""`ndcg check`: find what the user's own function computes."""

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any, cast

from ..measure.messages import in_short
from ..statistics.check import check
from ..statistics.questions import NDCGFunction
from .output import Listing


def check_function(args: argparse.Namespace) -> Listing:
    """Return what a function computes."""
    (k, *others) = args.k or [10]
    if others:
        raise ValueError("-k must be one cutoff, since each ranking is asked about once")
    function = _imported(args.function)
    result = check(function, k=k, form=args.form, convention=args.convention, cases=args.cases, seed=args.seed)
    tables = result.tables() or [[["convention", "rankings that agree"]]]
    rows = [{"convention": name, "agreeing": count} for name, count in result.agreeing.items()]
    answer = result.to_dict()
    return Listing(tables, result.remarks(), result.signature, rows, answer, status=result.status)


def _imported(place: str) -> NDCGFunction:
    """Return the function of a file or a module.

    Raises:
        ValueError: the place is not FILE.py:NAME or package.module:NAME, cannot be imported, or has no such function.
    """
    module_name, colon, name = place.rpartition(":")
    if not colon or not module_name or not name:
        raise ValueError(f"{place}: must be FILE.py:NAME or package.module:NAME")
    try:
        if module_name.endswith(".py"):
            module = _module_of_file(Path(module_name))
        else:
            sys.path.insert(0, "")  # a module in the current folder, as python -m finds it
            module = importlib.import_module(module_name)
    except OSError:
        raise
    except Exception as error:  # whatever the file raises
        raise ValueError(f"{module_name} cannot be imported: {type(error).__name__}: {in_short(error)}") from error
    function = getattr(module, name, None)
    if not callable(function):
        functions = ", ".join(key for key, value in vars(module).items() if callable(value) and key[:1] != "_")
        raise ValueError(f"{module_name} has no function {name}; it has {functions or 'none'}")
    return cast(NDCGFunction, function)


def _module_of_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that it finds its neighbors
    spec.loader.exec_module(module)
    return module
