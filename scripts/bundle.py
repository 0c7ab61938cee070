"""Write ndcg.py and ndcg_bundle.py, which `evaluate.load` opens: ndcg/metric.py and its imports.

`evaluate.load` requests each file next to ndcg.py from a Hub, in every process; so there is only
one. `--check` writes nothing, and fails if the files are not current.
"""

import ast
import builtins
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

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

External = tuple[
    str, str
]  # a module, and the name that is imported from it; "" for the module itself


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
    texts = written()
    if sys.argv[1:] == ["--check"]:
        for name, text in texts.items():
            if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != text:
                fail(f"{name} is not what {PACKAGE}/ gives: run make bundle")
    else:
        for name, text in texts.items():
            (ROOT / name).write_text(text, encoding="utf-8")


def written() -> dict[str, str]:
    """Return the text of both files, by their names."""
    metric = read(METRIC)
    modules = with_distinct_names(in_order(metric.imports))
    bundle = [HEADINGS["ndcg_bundle.py"] + "\n".join(imports(modules))]
    bundle += [f"# {module.place}: {module.about}\n\n{module.lines}" for module in modules]
    names = sorted(name for of_module in metric.imports.values() for name in of_module)
    needed = f"from .ndcg_bundle import (\n{''.join(f'    {name},{chr(10)}' for name in names)})"
    start = "\n".join([HEADINGS["ndcg.py"] + GUARD, *imports([metric]), "", needed])
    return {
        "ndcg.py": "\n\n".join([start, metric.lines, END]),
        "ndcg_bundle.py": "\n\n\n".join([*bundle, END]),
    }


def in_order(names: Iterable[str]) -> list[Module]:
    """Return modules with all their imports, each after those that it imports."""
    found: dict[str, Module | None] = {}

    def add(name: str) -> None:
        if name in found:
            if found[name] is None:
                fail(f"{name} imports itself, through others")
            return
        found[name] = None
        module = read(ROOT / Path(*name.split(".")).with_suffix(".py"))
        for needed in module.imports:
            add(needed)
        del found[name]  # so that it comes after what it needs
        found[name] = module

    for name in names:
        add(name)
    return [module for module in found.values() if module is not None]


def read(path: Path) -> Module:
    """Return a module by its file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    about = (ast.get_docstring(tree) or "").partition("\n")[0]
    lines = text.split("\n")
    inner: defaultdict[str, list[str]] = defaultdict(list)
    external: dict[str, External] = {}
    for_types: set[str] = set()
    defines: list[str] = []
    for at, statement in enumerate(tree.body):
        for_checkers = (
            isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"
        )
        nested = (
            statement.body
            if isinstance(statement, ast.If) and for_checkers and not statement.orelse
            else [statement]
        )
        if all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in nested):
            for each in nested:
                for name, origin in bindings(each, path):
                    if origin[0].startswith(f"{PACKAGE}."):
                        inner[origin[0]].append(name)
                    else:
                        external[name] = origin
                        for_types |= {name} if for_checkers else set()
        elif at or not ast.get_docstring(tree):
            defines += defined(statement, path)
            continue
        for line in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
            lines[line] = ""
    refuse_what_the_bundle_changes(tree, path)
    return Module(
        path,
        "\n".join(lines).strip("\n"),
        about,
        frozenset(defines),
        dict(inner),
        external,
        frozenset(for_types),
    )


def bindings(statement: ast.stmt, path: Path) -> Iterator[tuple[str, External]]:
    """Yield each name that an import defines, and its meaning."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name.partition(".")[0] == PACKAGE:
                fail(
                    f"{path}:{statement.lineno}: import the package's own modules relatively, "
                    "from ..folder.module"
                )
            yield (
                alias.asname or alias.name,
                (alias.name, ""),
            )  # each of several modules of one package counts
    elif isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        if module in (PACKAGE, "__future__") or any(alias.name == "*" for alias in statement.names):
            fail(f"{path}:{statement.lineno}: import names of modules, one by one")
        if statement.level:
            folder = path.relative_to(ROOT).parents[statement.level - 1]
            module = ".".join([*folder.parts, module])
        for alias in statement.names:
            if statement.level and (not statement.module or alias.asname not in (None, alias.name)):
                fail(
                    f"{path}:{statement.lineno}: import names from modules of the package, and as "
                    "they are"
                )
            yield alias.asname or alias.name, (module, alias.name)


def defined(statement: ast.stmt, path: Path) -> list[str]:
    """Return the names that a top-level statement defines; only plain definitions may be there."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
        fail(
            f"{path}:{statement.lineno}: at the top of a module only imports, functions, classes, "
            "assignments and calls"
        )
    loops = [each for each in ast.walk(statement) if isinstance(each, ast.comprehension)]
    inner = {
        name for loop in loops for name in ast.walk(loop.target)
    }  # which only the comprehension sees
    names = [
        each for each in ast.walk(statement) if isinstance(each, ast.Name) and each not in inner
    ]
    return [each.id for each in names if isinstance(each.ctx, ast.Store)]


def refuse_what_the_bundle_changes(tree: ast.Module, path: Path) -> None:
    """Reject code that would change in one file: inner imports, `global`, names of the file."""
    if path.parent != METRIC.parent and (about := path.with_name("__init__.py")).exists():
        body = ast.parse(about.read_text(encoding="utf-8")).body
        if len(body) != 1 or not isinstance(body[0], ast.Expr):
            fail(f"{about}: holds code, which the bundle leaves out; it may hold a docstring only")
    for each in ast.walk(tree):
        if isinstance(each, ast.Global):
            fail(
                f"{path}:{each.lineno}: no global statement: modules of the bundle share their "
                "globals"
            )
        if isinstance(each, ast.Name) and each.id in ("__file__", "__doc__", "globals"):
            fail(f"{path}:{each.lineno}: {each.id} is another in the bundle")
        names = [each.module or ""] if isinstance(each, ast.ImportFrom) else []
        names += [alias.name for alias in each.names] if isinstance(each, ast.Import) else []
        if isinstance(each, (ast.Import, ast.ImportFrom)) and any(
            n.partition(".")[0] == PACKAGE for n in names
        ):
            fail(
                f"{path}:{each.lineno}: import the package's own modules relatively, from .module "
                "or ..folder.module"
            )
        if isinstance(each, ast.ImportFrom) and each.level and each.col_offset:
            fail(f"{path}:{each.lineno}: import modules of the package at the top")


def with_distinct_names(modules: list[Module]) -> list[Module]:
    """Return modules whose shared private names begin with the name of their module."""
    count = Counter(name for module in modules for name in module.defines if name.startswith("_"))
    modules = [
        renamed(
            module, {name for name in module.defines if name.startswith("_") and count[name] > 1}
        )
        for module in modules
    ]
    check_distinct(modules)
    return modules


def renamed(module: Module, names: set[str]) -> Module:
    """Return a module in which some names that it defines begin with the name of the module."""
    prefix = "_" + "_".join(module.path.relative_to(METRIC.parent).with_suffix("").parts)
    pattern = re.compile(rf"(?<![\w.])({'|'.join(sorted(names))})(?!\w)")
    lines = [line.encode() for line in module.lines.split("\n")]
    spans: list[tuple[int, int, int]] = []  # the line, and the bytes in it that may hold a name
    tree = ast.parse(module.lines)
    for each in ast.walk(tree):
        if isinstance(each, ast.arg) and each.arg in names:
            fail(
                f"{module.place}: the argument {each.arg} has the name of a function: give it "
                "another"
            )
        if isinstance(each, ast.JoinedStr):  # before Python 3.12, places within one are unknown
            last = each.end_lineno or each.lineno
            for at in range(each.lineno, last + 1):
                start = each.col_offset if at == each.lineno else 0
                spans.append(
                    (at, start, each.end_col_offset or 0 if at == last else len(lines[at - 1]))
                )
        elif isinstance(each, ast.Name) and each.id in names:
            spans.append((each.lineno, each.col_offset, each.end_col_offset or 0))
    for each in tree.body:
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name in names:
            spans.append(
                (each.lineno, 0, len(lines[each.lineno - 1].partition(b"(")[0].rstrip(b":")))
            )
    done: dict[int, int] = {}  # the first byte of each line that is in a span already
    for at, start, stop in sorted(set(spans), key=lambda span: (span[0], -span[2], span[1])):
        stop = min(stop, done.get(at, stop))
        if start < stop and names:
            line = lines[at - 1]
            text = pattern.sub(rf"{prefix}\1", line[start:stop].decode())
            lines[at - 1], done[at] = line[:start] + text.encode() + line[stop:], start
    defines = frozenset(f"{prefix}{name}" if name in names else name for name in module.defines)
    return module._replace(lines=b"\n".join(lines).decode(), defines=defines)


def check_distinct(modules: Iterable[Module]) -> None:
    """Reject a name with two meanings, in two modules or in a module and in Python."""
    meaning: dict[str, tuple[str, str]] = {}
    for module in modules:
        origins = {name: " ".join(origin) for name, origin in module.external.items()}
        for name, origin in [*origins.items(), *((name, module.place) for name in module.defines)]:
            before, where = meaning.setdefault(name, (origin, module.place))
            if before != origin:
                fail(
                    f"{name} means one thing in {where} and another in {module.place}: give one "
                    "of them another name"
                )
        for name in (module.defines | module.external.keys()) & set(dir(builtins)):
            fail(
                f"{module.place}: {name} is Python's own, which other modules may use: give it "
                "another name"
            )


def imports(modules: Iterable[Module]) -> list[str]:
    """Return imports from other libraries, each once; last those for type checkers only."""
    modules = list(modules)
    needed = {name for module in modules for name in module.external.keys() - module.for_types}
    wanted = {(*origin, name) for module in modules for name, origin in module.external.items()}
    always = import_lines(each for each in wanted if each[2] in needed)
    for_types = import_lines(each for each in wanted if each[2] not in needed)
    return [
        *always,
        *(["", "if TYPE_CHECKING:", *(f"    {line}" for line in for_types)] if for_types else []),
    ]


def import_lines(wanted: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the statements that import modules, or names from modules, under their names here."""
    lines, of_modules = [], defaultdict(list)
    for module, attribute, name in sorted(wanted):
        if attribute:
            of_modules[module].append(attribute if attribute == name else f"{attribute} as {name}")
        else:
            lines.append(f"import {module}" + (f" as {name}" if name != module else ""))
    return [
        *lines,
        *(f"from {module} import {', '.join(names)}" for module, names in of_modules.items()),
    ]


def fail(problem: str) -> NoReturn:
    """End with an error."""
    sys.exit(problem)


if __name__ == "__main__":
    main()
