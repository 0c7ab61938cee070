"""`ndcg check`: find what a function of the user computes."""

import importlib.util
import inspect
import sys
from argparse import Namespace
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, cast

from ..explanations.check import check
from ..explanations.forms import NDCGFunction
from ..measure.interrupts import interruptible
from ..measure.messages import brief, in_short
from .output import Listing, only_cutoff


def check_function(args: Namespace) -> Listing:
    """Return the result of `check` for a function."""
    k = only_cutoff(args.k or [10], "the function is called once per ranking")
    result = check(
        _imported(args.function),
        k=k,
        form=args.form,
        convention=args.convention,
        cases=args.cases,
        seed=args.seed,
    )
    rows = [{"convention": name, "agreeing": count} for name, count in result.agreeing.items()]
    return Listing(
        result.tables(),
        result.remarks(),
        result.signature,
        rows,
        result.to_dict(),
        status=result.status,
    )


def _imported(place: str) -> NDCGFunction:
    module_name, _, name = place.rpartition(":")
    if not module_name:
        raise ValueError(f"{place}: must be FILE.py:NAME or package.module:NAME")
    with interruptible():
        module = _module(module_name)
    function = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        functions = dict(inspect.getmembers(module, inspect.isfunction))
        names = brief(functions, ", ") or "none"
        raise ValueError(f"{module_name} has no function {name}; it has {names}")
    return cast(NDCGFunction, function)


def _module(name: str) -> Any:
    """Import a module, or a file, which may raise anything."""
    try:
        if name.endswith(".py"):
            return _module_of_file(Path(name))
        sys.path.insert(0, "")  # find modules in the current folder, like python -m
        return importlib.import_module(name)
    except OSError:
        raise  # the file cannot be read, which is no fault of its code
    except SystemExit as error:
        raise ValueError(
            f'{name} exits when it is imported; put its calls under if __name__ == "__main__":'
        ) from error
    except BaseException as error:
        raise ValueError(
            f"{name} cannot be imported: {type(error).__name__}: {in_short(error)}"
        ) from error


def _module_of_file(path: Path) -> Any:
    # A file called random.py must not replace the module random.
    name = f"checked_{path.stem}"
    loader = SourceFileLoader(name, str(path))
    spec = ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True  # so that the module has a __file__
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # so that it can import its neighbors
    sys.modules[name] = module  # dataclasses look it up here
    loader.exec_module(module)
    return module
