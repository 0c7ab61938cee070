"""Write ndcg.py and ndcg_bundle.py, which `evaluate.load` opens: ndcg/metric.py and its imports.

`evaluate.load` requests all files next to ndcg.py from a Hub, in every process; so there is only
one. `--check` writes nothing, and fails if the files are not current.
"""

import ast
import builtins
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeGuard

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "ndcg"
METRIC = ROOT / PACKAGE / "metric.py"
HEADINGS = {
    "ndcg.py": f'''\
"""nDCG for Hugging Face `evaluate`: the metric that `evaluate.load` opens.

`make bundle` writes this file from {PACKAGE}/metric.py, and the modules that it needs into
ndcg_bundle.py: read and edit the package instead.
"""

if not __package__:
    raise ImportError(
        "this is the file that evaluate.load opens: "
        "load it with evaluate, or import the package ndcg"
    )

''',
    "ndcg_bundle.py": f'''\
"""The modules of {PACKAGE}/ in one file for `evaluate.load`; `make bundle` writes it: edit them."""
''',
}

END = "# the end, by which a copy is known to be whole\n"
# What ndcg.py does before it imports the bundle.
GUARD = '''\
import marshal
from importlib.util import cache_from_source
from pathlib import Path

from filelock import FileLock


def require_whole_copies() -> None:
    """Remove copies of this file and the bundle that a full disk cut off.

    Evaluate never copies them again. The same holds for their compiled code, which Python cuts off
    without an error (python/cpython#126606).

    Raises:
        ImportError: a copy was cut off.
    """
    end = b"# the end, by which a copy is known to be whole"
    files = Path(__file__), Path(__file__).with_name("ndcg_bundle.py")
    folder, remedy = files[0].parent, "it is deleted now: make space"

    def cut_off() -> list[Path]:
        def is_whole(file: Path) -> bool:
            return file.exists() and file.read_bytes().rstrip().endswith(end)

        return [file for file in files if not is_whole(file)]

    if cut := cut_off():
        try:
            # evaluate copies under this lock, perhaps in another process right now
            with FileLock(f"{folder.parent}.lock"):
                for file in (cut := cut_off()):
                    file.unlink(missing_ok=True)
        except OSError:
            remedy = f"delete the folder {folder}"
        if cut:
            problem = "was cut off when evaluate copied it, as on a full disk"
            raise ImportError(f"{cut[0]} {problem}; {remedy}, and load the metric again")
    for file in files:
        compiled = Path(cache_from_source(str(file)))
        try:
            marshal.loads(compiled.read_bytes()[16:])  # noqa: S302
        except OSError:  # there is none
            pass
        except (EOFError, ValueError, TypeError):
            compiled.unlink(missing_ok=True)


if __package__.startswith("evaluate_modules."):
    require_whole_copies()
'''

# A module, and the name that is imported from it; "" for the module itself.
External = tuple[str, str]
IMPORTS = (ast.Import, ast.ImportFrom)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
PLAIN_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
Span = tuple[int, int, int]  # a line from 1, and its first and last byte


class Module(NamedTuple):
    """A module of the package.

    Attributes:
        path: the path of its file.
        lines: its text without the imports and the docstring at its top.
        about: the first line of its docstring.
        defines: the names that it defines.
        imports: the names that it imports from modules of the package, by module.
        external: its imports from other libraries, by their names in the module.
        for_types: the names of these that only type checkers need.
    """

    path: Path
    lines: str
    about: str
    defines: frozenset[str]
    imports: dict[str, list[str]]
    external: dict[str, External]
    for_types: frozenset[str]

    @property
    def place(self) -> str:
        """The path from the root."""
        return self.path.relative_to(ROOT).as_posix()


def main() -> None:
    """Write both files, or check them."""
    is_check = sys.argv[1:] == ["--check"]
    for name, text in written().items():
        file = ROOT / name
        if not is_check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            fail(f"{name} is not what {PACKAGE}/ gives: run make bundle")


def written() -> dict[str, str]:
    """Return the text of both files, by their names."""
    metric = read(METRIC)
    modules = with_distinct_names(in_order(metric.imports))
    bundle = [HEADINGS["ndcg_bundle.py"] + "\n".join(imports(modules))]
    for module in modules:
        bundle.append(f"# {module.place}: {module.about}\n\n{module.lines}")
    names = sorted(chain.from_iterable(metric.imports.values()))
    needed = ["from .ndcg_bundle import (", *(f"    {name}," for name in names), ")"]
    start = "\n".join([HEADINGS["ndcg.py"] + GUARD, *imports([metric]), "", *needed])
    return {
        "ndcg.py": "\n\n".join([start, metric.lines, END]),
        "ndcg_bundle.py": "\n\n\n".join([*bundle, END]),
    }


def in_order(names: Iterable[str]) -> list[Module]:
    """Return modules with all that they import, which comes before them."""
    modules: dict[str, Module] = {}
    begun: set[str] = set()

    def add(name: str) -> None:
        if name in modules:
            return
        if name in begun:
            fail(f"{name} imports itself, through others")
        begun.add(name)
        module = read(ROOT / Path(*name.split(".")).with_suffix(".py"))
        for needed in module.imports:
            add(needed)
        modules[name] = module

    for name in names:
        add(name)
    return list(modules.values())


def read(path: Path) -> Module:
    """Return a module by its file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    refuse_code_beside(path)
    Refusals(path).visit(tree)
    docstring = ast.get_docstring(tree)
    body = tree.body
    lines = text.split("\n")
    if docstring is not None:
        remove(lines, body[0])
        body = body[1:]
    inner: defaultdict[str, list[str]] = defaultdict(list)
    external: dict[str, External] = {}
    for_types: set[str] = set()
    defines: list[str] = []
    for statement in body:
        imported = [statement]
        if is_for_checkers(statement):
            imported = statement.body
        if not all(isinstance(node, IMPORTS) for node in imported):
            defines += defined(statement, path)
            continue
        remove(lines, statement)
        for name, origin in chain.from_iterable(bindings(node, path) for node in imported):
            if origin[0].startswith(f"{PACKAGE}."):
                inner[origin[0]].append(name)
                continue
            external[name] = origin
            if imported != [statement]:
                for_types.add(name)
    return Module(
        path,
        "\n".join(lines).strip("\n"),
        (docstring or "").partition("\n")[0],
        frozenset(defines),
        dict(inner),
        external,
        frozenset(for_types),
    )


def remove(lines: list[str], statement: ast.stmt) -> None:
    """Empty the lines of a statement."""
    for line in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
        lines[line] = ""


def is_for_checkers(statement: ast.stmt) -> TypeGuard[ast.If]:
    """Return whether a statement is `if TYPE_CHECKING:`."""
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    return ast.unparse(statement.test) == "TYPE_CHECKING"


def bindings(statement: ast.stmt, path: Path) -> Iterator[tuple[str, External]]:
    """Yield the names that an import defines, and their meaning."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            # The whole path is the name, since several modules of one package may be imported.
            yield alias.asname or alias.name, (alias.name, "")
    if isinstance(statement, ast.ImportFrom):
        yield from names_of_modules(statement, path)


def names_of_modules(statement: ast.ImportFrom, path: Path) -> Iterator[tuple[str, External]]:
    """Yield the names that `from module import name` defines, and their meaning."""
    place = f"{path}:{statement.lineno}"
    module = statement.module or ""
    # A star stands alone.
    if module == "__future__" or statement.names[0].name == "*":
        fail(f"{place}: import names of modules, one by one")
    if not statement.level:
        for alias in statement.names:
            yield alias.asname or alias.name, (module, alias.name)
        return
    folder = path.relative_to(ROOT).parents[statement.level - 1]
    for alias in statement.names:
        if not module or alias.asname not in (None, alias.name):
            fail(f"{place}: import names from modules of the package, and as they are")
        yield alias.name, (".".join([*folder.parts, module]), alias.name)


def defined(statement: ast.stmt, path: Path) -> list[str]:
    """Return the names that a top-level statement defines; only plain definitions may be there."""
    if isinstance(statement, DEFINITIONS):
        return [statement.name]
    if not isinstance(statement, PLAIN_STATEMENTS):
        allowed = "only imports, functions, classes, assignments and calls"
        fail(f"{path}:{statement.lineno}: at the top of a module {allowed}")
    names = Names()
    names.visit(statement)
    return names.stored


class Names(ast.NodeVisitor):
    """Collects the names that a statement assigns; variables of comprehensions do not count."""

    def __init__(self) -> None:
        self.stored: list[str] = []

    def visit_Name(self, node: ast.Name) -> None:
        """Keep a name that is assigned."""
        if isinstance(node.ctx, ast.Store):
            self.stored.append(node.id)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Skip the variable of a comprehension."""
        self.visit(node.iter)
        for condition in node.ifs:
            self.visit(condition)


def refuse_code_beside(path: Path) -> None:
    """Reject code in the __init__.py of a module's folder."""
    about = path.with_name("__init__.py")
    if path.parent == METRIC.parent or not about.exists():
        return
    body = ast.parse(about.read_text(encoding="utf-8")).body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        fail(f"{about}: holds code, which the bundle leaves out; it may hold a docstring only")


class Refusals(ast.NodeVisitor):
    """Rejects code that would change in one file: inner imports, `global`, names of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def visit_Global(self, node: ast.Global) -> None:
        """Reject what would be a variable of all modules."""
        problem = "no global statement: modules of the bundle share their globals"
        fail(f"{self.path}:{node.lineno}: {problem}")

    def visit_Name(self, node: ast.Name) -> None:
        """Reject names of the file."""
        if node.id in ("__file__", "__doc__", "globals"):
            fail(f"{self.path}:{node.lineno}: {node.id} is another in the bundle")

    def visit_Import(self, node: ast.Import) -> None:
        """Reject an import of the package by its name."""
        for alias in node.names:
            self.refuse_package(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Reject an import of the package by its name, or of its modules within a function."""
        self.refuse_package(node.module or "", node)
        if node.level and node.col_offset:
            fail(f"{self.path}:{node.lineno}: import modules of the package at the top")

    def refuse_package(self, module: str, node: ast.stmt) -> None:
        """Reject a module of the package that is imported by its whole path."""
        if module.partition(".")[0] == PACKAGE:
            relative = "relatively, from .module or ..folder.module"
            fail(f"{self.path}:{node.lineno}: import the package's own modules {relative}")


def with_distinct_names(modules: list[Module]) -> list[Module]:
    """Return modules whose shared private names begin with the name of their module."""
    count = Counter(chain.from_iterable(module.defines for module in modules))
    shared = {name for name in count if name.startswith("_") and count[name] > 1}
    modules = [renamed(module, shared & module.defines) for module in modules]
    check_distinct(modules)
    return modules


def renamed(module: Module, names: set[str]) -> Module:
    """Return a module in which some names that it defines begin with the name of the module."""
    if not names:
        return module
    prefix = "_" + "_".join(module.path.relative_to(METRIC.parent).with_suffix("").parts)
    pattern = re.compile(rf"(?<![\w.])({'|'.join(sorted(names))})(?!\w)")
    lines = [line.encode() for line in module.lines.split("\n")]
    first: dict[int, int] = {}  # the first byte of a line that was renamed already
    # From the end of a line to its start, so that the places before stay as they are.
    for number, start, stop in sorted(
        spans_of(names, module), key=lambda span: (-span[2], span[1])
    ):
        line = lines[number - 1]
        end = min(stop, first.get(number, stop))
        if start < end:
            text = pattern.sub(rf"{prefix}\1", line[start:end].decode())
            lines[number - 1] = line[:start] + text.encode() + line[end:]
            first[number] = start
    defines = {f"{prefix}{name}" for name in names} | (module.defines - names)
    return module._replace(lines=b"\n".join(lines).decode(), defines=frozenset(defines))


def spans_of(names: set[str], module: Module) -> set[Span]:
    """Return the places in a module that may hold one of some names."""
    lines = [line.encode() for line in module.lines.split("\n")]
    tree = ast.parse(module.lines)
    uses = Uses(names, lines, module.place)
    uses.visit(tree)
    for statement in tree.body:
        if isinstance(statement, DEFINITIONS) and statement.name in names:
            head = lines[statement.lineno - 1].partition(b"(")[0].rstrip(b":")
            uses.spans.add((statement.lineno, 0, len(head)))
    return uses.spans


class Uses(ast.NodeVisitor):
    """Collects where the code of a module uses some names, or may use them."""

    def __init__(self, names: set[str], lines: list[bytes], place: str) -> None:
        self.names, self.lines, self.place = names, lines, place
        self.spans: set[Span] = set()

    def visit_arg(self, node: ast.arg) -> None:
        """Reject an argument of such a name, which would hide the function."""
        if node.arg in self.names:
            problem = f"the argument {node.arg} has the name of a function"
            fail(f"{self.place}: {problem}: give it another")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Keep the place of a name."""
        if node.id in self.names:
            self.spans.add((node.lineno, node.col_offset, node.end_col_offset or 0))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Keep all lines of an f-string: before Python 3.12, places within one are unknown."""
        numbers = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        starts = [0] * len(numbers)
        stops = [len(self.lines[number - 1]) for number in numbers]
        starts[0] = node.col_offset
        stops[-1] = node.end_col_offset or 0
        self.spans.update(zip(numbers, starts, stops, strict=True))
        self.generic_visit(node)


def check_distinct(modules: Iterable[Module]) -> None:
    """Reject a name with two meanings, in two modules or in a module and in Python."""
    meaning: dict[str, tuple[str, str]] = {}
    for module in modules:
        origins = dict.fromkeys(module.defines, module.place)
        for name, external in module.external.items():
            origins[name] = " ".join(external)
        for name, origin in origins.items():
            before, where = meaning.setdefault(name, (origin, module.place))
            if before != origin:
                problem = f"means one thing in {where} and another in {module.place}"
                fail(f"{name} {problem}: give one of them another name")
        for name in origins.keys() & set(dir(builtins)):
            problem = "is Python's own, which other modules may use"
            fail(f"{module.place}: {name} {problem}: give it another name")


def imports(modules: Iterable[Module]) -> list[str]:
    """Return imports from other libraries once; last the ones for type checkers only."""
    origins: dict[str, External] = {}
    needed: set[str] = set()
    for module in modules:
        origins |= module.external
        needed |= module.external.keys() - module.for_types
    for_types = origins.keys() - needed
    lines = import_lines({name: origins[name] for name in needed})
    if for_types:
        lines += ["", "if TYPE_CHECKING:"]
        for line in import_lines({name: origins[name] for name in for_types}):
            lines.append(f"    {line}")
    return lines


def import_lines(origins: Mapping[str, External]) -> list[str]:
    """Return the statements that import modules, or names from modules, under their names here."""
    whole = []
    names_by_module = defaultdict(list)
    for name, (module, attribute) in sorted(origins.items(), key=lambda item: (item[1], item[0])):
        original = attribute or module
        written = original if original == name else f"{original} as {name}"
        if attribute:
            names_by_module[module].append(written)
        else:
            whole.append(f"import {written}")
    named = [
        f"from {module} import {', '.join(names)}" for module, names in names_by_module.items()
    ]
    return [*whole, *named]


def fail(problem: str) -> NoReturn:
    """End with an error."""
    sys.exit(problem)


if __name__ == "__main__":
    main()
