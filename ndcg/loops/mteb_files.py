"""Read MTEB's output across tasks: its predictions as one set of rankings, its results as one value per task."""

import math
import os
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from ..files.content import parse_json
from ..files.tables import rankings_in
from ..measure.messages import shown
from ..measure.options import Options, __version__, choice, is_real
from ..statistics.comparing import comparison_of
from ..statistics.comparison import Comparison
from ..statistics.measured import PerQuery, Resampling, columns_of_values
from ..statistics.pairs import Testing, system_names
from ..statistics.report import Report, report_of

META = "model_meta.json"
PREDICTIONS = "_predictions.json"
RESULT = {"task_name", "scores", "mteb_version", "mteb_dataset_name"}  # any of them marks a file as a result

Entry = tuple[str, str, str]  # task, subset, split
Described = TypeVar("Described", Report, Comparison)


@dataclass(frozen=True)
class MTEBResults:
    """The nDCG of models on MTEB's tasks in its result files: a mean for each subset and split of a task.

    Attributes:
        measure: the measure, such as ``"nDCG@10"``.
        scores: the scores by model, then by task, subset and split.
        languages: the language of each task, subset and split, such as ``"eng"``; several as ``"deu+eng"``.
        versions: the versions of MTEB that wrote the files.
        skipped_tasks: tasks without this measure, which are skipped.
    """

    measure: str
    scores: dict[str, dict[Entry, float]]
    languages: dict[Entry, str]
    versions: tuple[str, ...]
    skipped_tasks: tuple[str, ...]

    def report(
        self,
        model: str | None = None,
        *,
        unit: Literal["task", "subset"] = "task",
        by: Any = None,
        confidence: float = 0.95,
    ) -> Report:
        """Return a report on one model, with tasks in place of queries.

        Args:
            model: its name; None if there is only one.
            unit: the part that counts once: a "task", as the mean of its subsets and splits, or a "subset".
            by: "language", "task", or `{name: value}` of the tasks or subsets.
            confidence: the confidence level of the intervals, between 0 and 1.

        Raises:
            ValueError: an unknown model, fewer than two tasks, a task without a value in `by`.
        """
        if model is None and len(self.scores) > 1:
            raise ValueError(f"model must be one of {', '.join(map(shown, self.scores))}; got None")
        name = next(iter(self.scores)) if model is None else choice("model", model, tuple(self.scores))
        units = self._units(set(self.scores[name]), unit)
        return self._described(
            report_of(
                self._columns(name, units),
                self._by(by, units),
                options=self._options,
                resampling=Resampling.parse(confidence),
                signature=self._signature(unit),
            ),
            unit,
        )

    def compare(
        self,
        *,
        baseline: str | None = None,
        unit: Literal["task", "subset"] = "task",
        by: Any = None,
        missing: Literal["raise", "skip"] = "raise",
        confidence: float = 0.95,
        seed: int = 0,
        alternative: Literal["two-sided", "greater", "less"] = "two-sided",
        margin: float = 0.0,
        corrected_over: Literal["measure", "all"] = "measure",
    ) -> Comparison:
        """Return a comparison of the models, with tasks in place of queries.

        Args:
            baseline: the model to compare all others with; None for every pair.
            unit: the part that counts once, as in `report`.
            by: "language", "task", or a mapping, as in `report`.
            missing: if models have results of different tasks, subsets or splits, "raise" an error, or "skip" those
                that are missing from any model.
            confidence: the confidence level of the intervals, as in `compare`.
            seed: the random seed, as in `compare`.
            alternative: the direction of the tests, as in `compare`.
            margin: the non-inferiority margin, as in `compare`.
            corrected_over: the p-values that are corrected together, as in `compare`.

        Raises:
            ValueError: fewer than two models or tasks, an unknown baseline, a result that is missing from a model.
        """
        names = system_names(self.scores, baseline)
        shared = set.intersection(*(set(each) for each in self.scores.values()))
        if choice("missing", missing, ("raise", "skip")) == "raise":
            for name in names:
                if lacking := sorted(set(self.languages) - set(self.scores[name])):
                    what = "task {}, subset {}, split {}".format(*lacking[0])
                    problem = f"has no {self.measure} of {what}, which another model has ({len(lacking)} such results)"
                    raise ValueError(
                        f'model {shown(name)} {problem}; missing="skip" skips results that any model is missing'
                    )
        if not shared:
            raise ValueError("the models have no task, subset and split in common; give results of the same tasks")
        units = self._units(shared, unit)
        return self._described(
            comparison_of(
                {name: self._columns(name, units) for name in names},
                self._by(by, units),
                options=self._options,
                baseline=baseline,
                resampling=Resampling.parse(confidence, seed),
                testing=Testing.parse(alternative, margin, corrected_over),
                signature=self._signature(unit),
            ),
            unit,
            len(self.languages) - len(shared),
        )

    @property
    def _options(self) -> Options:
        return Options.parse(measures=self.measure)

    def _signature(self, unit: str) -> str:
        return f"{self.measure}|values:MTEB {'+'.join(self.versions)}|unit:{unit}|v:{__version__}"

    def _units(self, entries: set[Entry], unit: str) -> dict[str, list[Entry]]:
        """Return the results that each task, or subset of one, is the mean of, by its name."""
        choice("unit", unit, ("task", "subset"))
        subsets = {(task, subset) for task, subset, _ in self.languages}
        several = {task for task, count in Counter(task for task, _ in subsets).items() if count > 1}
        units = defaultdict(list)
        for entry in sorted(entries):
            task, subset, _ = entry
            units[f"{task}/{subset}" if unit == "subset" and task in several else task].append(entry)
        return dict(units)

    def _columns(self, model: str, units: Mapping[str, list[Entry]]) -> PerQuery:
        scores = self.scores[model]
        values = np.array([math.fsum(scores[entry] for entry in entries) / len(entries) for entries in units.values()])
        return columns_of_values(list(units), {self.measure: values})

    def _by(self, by: Any, units: Mapping[str, list[Entry]]) -> Any:
        """Return the value of each task or subset, in place of the word for it."""
        if not isinstance(by, str):
            return by
        if choice("by", by, ("language", "task")) == "task":
            return {name: entries[0][0] for name, entries in units.items()}
        languages = {name: {self.languages[entry] for entry in entries} for name, entries in units.items()}
        return {name: own.pop() if len(own) == 1 else "multilingual" for name, own in languages.items()}

    def _described(self, result: Described, unit: str, left: int = 0) -> Described:
        """Return a report or a comparison with notes on the meaning of its queries."""
        unit_name = {"task": "tasks", "subset": "subsets of tasks"}[unit]
        own: list[str] = [
            f"Queries are MTEB's {unit_name}, each with its mean: intervals and p-values are about other tasks like "
            "these, not about other queries of the same tasks."
        ]
        if unit == "subset":
            own.append("Subsets of one task are alike, so that intervals may be too narrow and p-values too small.")
        if self.skipped_tasks:
            own.append(f"{len(self.skipped_tasks):,} of MTEB's tasks have no {self.measure} and are skipped.")
        if left:
            own.append(f"{left:,} results, each for a subset and a split, are missing for some models and are skipped.")
        return replace(result, notes=(*own, *result.notes))


class _Result(NamedTuple):
    """The values of one measure in a result file."""

    task: str
    version: str | None
    scores: dict[Entry, float]
    languages: dict[Entry, str]


def read_mteb(path: str | os.PathLike[str], k: int = 10) -> MTEBResults:
    """Read MTEB's result files of one or more models, for reports and comparisons across tasks.

    Args:
        path: a folder that contains them at any depth, such as MTEB's cache, `~/.cache/mteb`: one folder per model.
            The name of a model is in `model_meta.json`, or else the folder's; models with the same name have their
            paths added. Links to folders are followed, and each folder is read once. Predictions and other JSON files
            are ignored.
        k: a cutoff that MTEB has: 1, 3, 5, 10, 20, 100 or 1000.

    Raises:
        ValueError: no file of results, one in another format, a subset twice for a model, no nDCG@k. Names the file.
    """
    measure = Options.parse(k=k).names[0]
    root = Path(os.path.expanduser(path))
    by_folder: dict[Path, dict[Entry, float]] = {}
    languages: dict[Entry, str] = {}
    versions: set[str] = set()
    tasks: set[str] = set()
    for file in _json_files(root):
        if (result := _read_result(file, k)) is None:
            continue
        folder = file.parent
        scores = by_folder.setdefault(folder, {})
        if scores.keys() & result.scores.keys():
            model = _model_names(root, [folder])[folder]
            raise ValueError(f"{file}: task {shown(result.task)} of {model} is in another file already")
        scores |= result.scores
        languages |= result.languages
        tasks.add(result.task)
        if result.version is not None:
            versions.add(result.version)
    if not by_folder:
        raise ValueError(f"{root}: contains no MTEB results, {{task}}.json; give a folder that does")
    if not languages:
        raise ValueError(
            f"{root}: no result has ndcg_at_{k}; MTEB reports it for retrieval and reranking, at some cutoffs"
        )
    skipped_tasks = tasks - {task for task, _, _ in languages}
    names = _model_names(root, list(by_folder))
    of_models = {names[folder]: scores for folder, scores in by_folder.items() if scores}
    return MTEBResults(measure, of_models, languages, tuple(sorted(versions)), tuple(sorted(skipped_tasks)))


def _json_files(root: Path) -> list[Path]:
    """Return the JSON files that may be results, in a folder and in all below it, each folder once."""
    files: list[Path] = []
    seen: set[Path] = set()
    waiting = deque([root] if root.is_dir() else [])
    while waiting:
        folder = waiting.popleft()
        if (real := folder.resolve()) in seen:
            continue
        seen.add(real)
        for each in sorted(folder.iterdir()):
            if each.is_dir():
                # links come last, so that a folder that is there itself goes by its own path
                (waiting.append if each.is_symlink() else waiting.appendleft)(each)
            elif each.suffix == ".json" and each.name != META and not each.name.endswith(PREDICTIONS):
                files.append(each)
    return sorted(files)


def _read_result(file: Path, k: int) -> _Result | None:
    """Return the scores of a file of results, or None for a file of something else."""
    result = _json(file)
    if not isinstance(result, dict) or not RESULT & result.keys():
        return None
    try:
        task, version = result["task_name"], result.get("mteb_version")
        entries = [
            (each["hf_subset"], split, each["languages"], each.get(f"ndcg_at_{k}"))
            for split, of_split in result["scores"].items()
            for each in of_split
        ]
    except (AttributeError, KeyError, TypeError):
        problem = 'contains no result of MTEB 1.11 or newer, {"task_name": …, "scores": {split: [{…}]}}'
        raise ValueError(f"{file}: {problem}; load it with MTEB and save it again") from None
    if not isinstance(task, str):
        raise ValueError(f"{file}: task_name must be a string; got {shown(task)}")
    if not isinstance(version, str | None):
        raise ValueError(f"{file}: mteb_version must be a string or null; got {shown(version)}")
    scores: dict[Entry, float] = {}
    languages: dict[Entry, str] = {}
    for subset, split, spoken, value in entries:
        place = f"{file}: subset {shown(subset)}, split {shown(split)}"
        if not isinstance(subset, str):
            raise ValueError(f"{place}: hf_subset must be a string")
        if not isinstance(spoken, list) or not all(isinstance(each, str) for each in spoken):
            raise ValueError(f'{place}: languages must be a list of strings, such as ["eng-Latn"]; got {shown(spoken)}')
        if value is None:
            continue
        entry = task, subset, split
        if entry in scores:
            raise ValueError(f"{place}: has two entries with ndcg_at_{k}; keep one")
        if not is_real(value) or not 0 <= float(value) <= 1:
            raise ValueError(f"{place}: ndcg_at_{k} must be from 0 to 1; got {shown(value)}")
        scores[entry], languages[entry] = float(value), _language(spoken)
    return _Result(task, version, scores, languages)


def join_tasks(tasks: Mapping[str, Any]) -> dict[str, dict[Any, Any]]:
    """Return the rankings, or the judgments, of several tasks as one mapping, with the task in the name of each query.

    Args:
        tasks: for the name of each task, the path of MTEB's `{task}_predictions.json`, or a mapping
            `{query: {document: value}}`, also by subset and split as in MTEB.

    Returns:
        `{query: {document: value}}`. A query is called `task/subset/split/id`, without subset and split if they are not
        given.

    Raises:
        ValueError: a file that is not JSON, a value that is neither a mapping nor a path, or two queries with the same
            name.

    >>> join_tasks({"NFCorpus": {"default": {"test": {"q1": {"d1": 2}}}}, "SciFact": {"q1": {"d7": 1}}})
    {'NFCorpus/default/test/q1': {'d1': 2}, 'SciFact/q1': {'d7': 1}}
    """
    if not isinstance(tasks, Mapping):
        raise ValueError(f"tasks must be a mapping of their names to rankings or files; got {type(tasks).__name__}")
    joined: dict[str, dict[Any, Any]] = {}
    for name, documents in _named_queries(tasks):
        if name in joined:
            raise ValueError(f"tasks: two queries are called {shown(name)}; give tasks, subsets or queries other names")
        joined[name] = documents
    return joined


def _named_queries(tasks: Mapping[str, Any]) -> Iterator[tuple[str, dict[Any, Any]]]:
    for task, given in tasks.items():
        mapping = _json(Path(os.path.expanduser(given))) if isinstance(given, (str, os.PathLike)) else given
        if not isinstance(mapping, Mapping):
            raise ValueError(f"tasks: {shown(task)} must be a mapping or the path of a file; got {shown(mapping)}")
        try:
            rankings = list(rankings_in({name: each for name, each in mapping.items() if name != "mteb_model_meta"}))
        except RecursionError:
            raise ValueError(f"tasks: {shown(task)}: nests mappings too deep") from None
        for names, queries in rankings:
            for name in (task, *names):
                if not isinstance(name, str):
                    raise ValueError(f"tasks: {shown(name)} is not a name; give tasks, subsets and splits as strings")
            for query, documents in queries.items():
                if not isinstance(query, (str, Integral)) or isinstance(query, bool):
                    problem = f"{shown(query)} is not the id of a query; give a string or an integer"
                    raise ValueError(f"tasks: {shown(task)}: {problem}")
                yield "/".join([task, *names, str(query)]), documents


def _json(file: Path) -> Any:
    try:
        return parse_json(file.read_bytes())
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{file}: cannot be read as JSON: {error}") from None


def _model_names(root: Path, folders: Sequence[Path]) -> dict[Path, str]:
    """Return the name of the model of each folder, with the path of the folder if several have the same name."""
    paths = {folder: folder.relative_to(root).as_posix() for folder in folders}
    names = {}
    for folder, path in paths.items():
        meta = folder / META
        meta_data = _json(meta) if meta.is_file() else {}
        own = meta_data.get("name") if isinstance(meta_data, dict) else meta_data
        if not isinstance(own, str | None):
            raise ValueError(f'{meta}: must hold the name of the model, {{"name": "org/model"}}; got {shown(own)}')
        names[folder] = own or (root.resolve().name if path == "." else path)
    # a name with a path may be the name of another model
    while twice := {name for name, count in Counter(names.values()).items() if count > 1}:
        names = {folder: f"{name} ({paths[folder]})" if name in twice else name for folder, name in names.items()}
    return names


def _language(languages: list[str]) -> str:
    """Return the languages of a result without their scripts.

    >>> _language(["eng-Latn", "deu-Latn"])
    'deu+eng'
    """
    return "+".join(sorted({each.partition("-")[0] for each in languages}))
