"""The files of a comparison: they are kept for a day, and every file has a role.

A set of files never changes: adding or removing a file makes a new set, under another name that
nobody can guess. So a link shows the same for as long as its files are kept.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .address import Address
from .batch import Batch, is_batch, read_batch
from .columns import NO_COLUMNS, VALUES, columns_of, fields_of
from .html import sentence
from .metric import Options, tables
from .paste import ids_as_run, tag_of
from .reading import Mappings, printable, read_groups, read_upload
from .settings import SIDES, Offer, Words, in_words

SAMPLES = Path(__file__).with_name("samples")
ROLES = ("judgments", "batch", "run", "groups")  # in the order in which files are read
HOLDS = {  # what is read from a table in a role
    "judgments": ("judgments",),
    "batch": ("judgments", "run"),
    "run": ("run",),
}
KEPT = 24 * 60 * 60  # seconds
TOKEN = re.compile(r"[\w-]{16}")
MOST_FILES = 24
TOGETHER = {"bytes": 100_000_000, "rows": 2_500_000}  # at most in all files
SAYS_JUDGMENTS = re.compile(r"(?i)qrel|judg|gold|truth|label|rating|relevance|reference")
ENDING = re.compile(r"(?i)(?<=.)(\.(trec|run|txt|csv|tsv|parquet|jsonl?))?(\.(gz|zst))?$")
LONG_BEGINNING = 16  # characters of names
SPACE, WORD = re.compile(r"[-_. ]"), re.compile(r"[^\W\d_]")
# with an order the metric does not warn of scores that seem to be distances
AS_RUN = {"duplicates": "best", "score_order": "descending"}
OFFERS = {  # against an error that names an option
    "score_order": Offer("score_order", "ascending", "Rank the lowest first"),
    "duplicates": Offer("duplicates", "best", "Count each document once"),
    "negative_relevance": Offer("negative_relevance", "clip", "Count a negative relevance as 0"),
}


class File(NamedTuple):
    """A file of a comparison, with its role and what is wrong with it."""

    name: str
    path: str
    role: str
    run: str = ""  # the name of the run that it holds
    problem: str = ""
    offer: Offer | None = None
    columns: dict[str, Any] | None = None  # if it is not clear what they hold


@dataclass
class Contents:
    """What the files of a comparison hold."""

    files: list[File] = field(default_factory=list)
    judgments: Mappings = field(default_factory=dict)
    runs: dict[str, Mappings] = field(default_factory=dict)
    by: dict[str, Any] | None = None  # the groups of the judged queries
    names: dict[str, str] = field(default_factory=lambda: dict(SIDES))  # of both sides in errors
    rows: int = 0

    def read(self, file: File, address: Address) -> None:
        """Read one more file.

        Raises:
            ValueError: it cannot be read, or the files hold too many rows together.
        """
        if file.role == "groups":
            groups = read_groups(file.path)
            self._check_queries(file, groups)
            self.by = {query: groups.get(query) for query in self.judgments}
            return
        batch = _read_sides(file, address)
        # a file of judgments goes before those of a batch
        if not self.judgments:
            self.judgments, self.names["references"] = batch.judgments, file.name
        if file.run:
            self._check_queries(file, batch.run)
            self.runs[file.run] = batch.run
        self.rows += sum(map(len, (*batch.run.values(), *batch.judgments.values())))
        if self.rows > TOGETHER["rows"]:
            raise ValueError(f"the files hold more than {TOGETHER['rows']:,} rows together")

    def _check_queries(self, file: File, queries: Mapping[str, Any]) -> None:
        """Raise an error if the judgments, which are read first, have none of the queries."""
        if self.judgments and queries.keys().isdisjoint(self.judgments):
            here, there = next(iter(queries), "none"), next(iter(self.judgments))
            ids = f"ids are such as {here!r} here, and {there!r} in the judgments"
            raise ValueError(f"{file.name}: no query of it is in the judgments: {ids}")


def _read_sides(file: File, address: Address) -> Batch:
    """Return what a file holds."""
    if possible_roles(file.path) == ["batch"]:
        return read_batch(file.path)
    columns, options = address.chosen.get("columns", NO_COLUMNS), address.settings.drawn
    sides = {
        role: read_upload(file.path, role, options, fields_of(columns, file.name, role))
        for role in HOLDS[file.role]
    }
    return Batch(**sides)


# --- Keeping ----------------------------------------------------------------------------------


def keep(
    files: Iterable[tuple[str, BinaryIO]], text: str, before: str = "", without: str = ""
) -> str:
    """Keep uploaded files and a pasted text beside an earlier set; return the new set.

    Raises:
        ValueError: there are too many files, or they are too large.
    """
    folder = _folder()
    _forget(folder)
    token = secrets.token_urlsafe(12)
    new = folder / token
    new.mkdir(parents=True)
    try:
        for path in {*paths_of(before)} - {_folder() / before / without}:
            # without a copy, since a file that is kept never changes
            os.link(path, new / path.name)
        if text.strip():
            run = ids_as_run(text)
            pasted = new / _free_name(new, f"{tag_of(run) or 'pasted'}.txt")
            pasted.write_bytes(run.encode("utf-8", "replace"))
        for name, content in files:
            with (new / _free_name(new, name)).open("wb") as target:
                shutil.copyfileobj(content, target)
        _check(new)
    except ValueError:
        shutil.rmtree(new)
        raise
    return token


def _folder() -> Path:
    from gradio.utils import get_upload_folder  # which takes seconds to import

    return Path(get_upload_folder()) / "sets"


def _forget(folder: Path) -> None:
    for old in folder.glob("*"):
        if time.time() - old.stat().st_mtime > KEPT:
            shutil.rmtree(old, ignore_errors=True)


def _free_name(folder: Path, name: str) -> str:
    """Return the name of a file as its user wrote it, unless another file has it."""
    # a file system takes 255 bytes; of a longer name, the ending says what the file is
    name = printable(Path(name).name).encode()[-200:].decode(errors="ignore")
    stem, dot, suffix = name.partition(".")
    # without a name, the path is that of the folder
    return _numbered(stem, dot + suffix, lambda name: (folder / name).exists())


def _numbered(stem: str, ending: str, is_taken: Callable[[str], bool]) -> str:
    """Return a name, with the first number from 2 that makes it free if it is taken."""
    name, number = stem + ending, 2
    while is_taken(name):
        name, number = f"{stem} ({number}){ending}", number + 1
    return name


def _check(folder: Path) -> None:
    sizes = [path.stat().st_size for path in folder.iterdir()]
    if len(sizes) > MOST_FILES:
        raise ValueError(f"{len(sizes)} files; at most {MOST_FILES} are compared")
    if sum(sizes) > TOGETHER["bytes"]:
        raise ValueError(f"the files hold more than {TOGETHER['bytes']:,} bytes together")


def paths_of(token: str) -> list[Path]:
    """Return the files of a set, in the order of their names; none if it is not kept any more."""
    if not TOKEN.fullmatch(token):
        return []
    return sorted(filter(Path.is_file, (_folder() / token).glob("*")))


# --- Roles ------------------------------------------------------------------------------------


def contents_of(address: Address) -> Contents:
    """Return what the files of an address hold, or the samples; a file at fault says why."""
    contents = Contents()
    for file in sorted(files_of(address), key=lambda file: ROLES.index(file.role)):
        try:
            contents.read(file, address)
            contents.files.append(file)
        except ValueError as problem:
            # the others are compared all the same
            contents.files.append(_at_fault(file, problem))
    return contents


def are_samples(address: Address) -> bool:
    """Return whether an address has no files that are kept."""
    return not paths_of(address.chosen.get("files", ""))


def files_of(address: Address) -> list[File]:
    """Return the files of an address, or the samples, with their roles."""
    paths = paths_of(address.chosen.get("files", "")) or sorted(SAMPLES.iterdir())
    roles = roles_of(paths, address.chosen)
    with_run = [path.name for path in paths if roles[path.name] in ("run", "batch")]
    names = run_names(with_run)
    beginning = common_beginning(names)
    runs = {file: name.removeprefix(beginning) for file, name in zip(with_run, names, strict=True)}
    return [File(path.name, str(path), roles[path.name], runs.get(path.name, "")) for path in paths]


def _at_fault(file: File, problem: ValueError) -> File:
    says, columns = problem_of(problem, SIDES), None
    if isinstance(problem, tables.UnknownFieldError) and file.role in VALUES:
        says = f"{file.name}: {in_words('; '.join(problem.problems))}"
        columns = columns_of(file.path, file.role, problem)
    return file._replace(problem=sentence(says), offer=offer_of(problem), columns=columns)


def problem_of(error: Any, names: Words) -> str:
    """Return an error in words; where a press helps, without what else a program could do."""
    if offer_of(error):
        problem, _, _ = error.problem.partition("; ")
        error = tables.InputError(problem, *error.places, position=error.position)
    return in_words(error, names)


def offer_of(problem: Any) -> Offer | None:
    """Return what helps against an error that names an option."""
    names = getattr(problem, "options", [])
    return next((OFFERS[name] for name in names if name in OFFERS), None)


def roles_of(paths: Iterable[Path], chosen: Words) -> dict[str, str]:
    """Return the roles of files, as they are chosen or as they can be read."""
    can_be = {path.name: possible_roles(str(path)) for path in paths}
    roles = dict.fromkeys(can_be, "run")
    judgments = chosen.get("judgments", "")
    # nothing is chosen, or a file that was removed
    if judgments not in can_be:
        judgments = _judgments_among(can_be)
    for name, possible in can_be.items():
        if possible == ["batch"]:
            roles[name] = "batch"
        # any two columns can be groups, which say nothing without judgments
        if possible == ["groups"] and judgments:
            roles[name] = "groups"
    if judgments:
        roles[judgments] = "batch" if "batch" in can_be[judgments] else "judgments"
    if chosen.get("groups") in can_be:
        roles[chosen["groups"]] = "groups"
    return roles


def _judgments_among(can_be: Mapping[str, list[str]]) -> str:
    """Return the file that most likely holds the judgments, perhaps beside a run; else nothing."""
    # a file that can hold nothing else goes before one that only says so in its name
    signs = {}
    for name, possible in can_be.items():
        is_readable = not {"judgments", "batch"}.isdisjoint(possible)
        says_so = SAYS_JUDGMENTS.search(name) is not None
        signs[name] = (possible == ["judgments"], says_so, is_readable)
    best = sorted(signs, key=signs.__getitem__)[-1]
    # a file alone that may be a run waits for its judgments
    is_alone = len(can_be) == 1 and can_be[best][-1:] == ["run"]
    if is_alone or not any(signs[best]):
        return ""
    return best


@lru_cache(maxsize=1000)  # the files of a set never change
def possible_roles(path: str) -> list[str]:
    """Return what a file can be read as; a batch is a run with its judgments."""
    if is_batch(path):
        return ["batch"]
    options = {"judgments": {}, "run": AS_RUN}
    possible = [role for role in options if _can_be_read(role, path, options[role])]
    if len(possible) == 2 and _has_both_sides(path):
        possible.append("batch")
    # any two columns can be groups, so other roles go first
    if not possible and _are_groups(path):
        possible.append("groups")
    return possible


def _are_groups(path: str) -> bool:
    try:
        read_groups(path)
    except ValueError:
        return False
    return True


def _has_both_sides(path: str) -> bool:
    """Return whether a table has a relevance beside the score, or one column may be either."""
    try:
        run = read_upload(path, "run", AS_RUN)
        return read_upload(path, "judgments", {}) != run
    except tables.InputError as problem:
        # labels, which no run has as scores
        return "gain" in problem.options


def _can_be_read(role: str, path: str, options: Options) -> bool:
    """Return whether a file can be read in a role, perhaps after the reader has chosen something.

    A negative relevance, for example, needs another setting, but the file holds judgments.
    """
    try:
        read_upload(path, role, options)
    except tables.UnknownFieldError as problem:
        return VALUES[role] in problem.chosen
    except tables.InputError as problem:
        return not {*OFFERS, "gain"}.isdisjoint(problem.options)
    return True


def run_names(files: Sequence[str]) -> list[str]:
    """Return names for the runs of files, no two alike.

    >>> run_names(["bm25.run", "bm25.csv", "dense.jsonl.gz", "v1.2"])
    ['bm25', 'bm25 (2)', 'dense', 'v1.2']
    """
    names: list[str] = []
    for file in files:
        names.append(_numbered(ENDING.sub("", Path(file).name), "", names.__contains__))
    return names


def common_beginning(names: Sequence[str]) -> str:
    """Return what long names begin with, up to a place after which all have a word.

    >>> common_beginning(["trec-dl-2019-bm25-v1", "trec-dl-2019-bm25-v2"])
    'trec-dl-2019-bm25-'
    >>> common_beginning(["a-bm25", "a-dense"])
    ''
    """
    if len(names) < 2:
        return ""
    common = os.path.commonprefix(names)  # noqa: RUF071  # of texts, not of paths
    ends = [mark.end() for mark in SPACE.finditer(common, LONG_BEGINNING - 1)]
    fitting = [end for end in ends if all(WORD.search(name, end) for name in names)]
    return common[: max(fitting, default=0)]
