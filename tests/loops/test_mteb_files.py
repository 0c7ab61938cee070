"""MTEB's own predictions and results, as reports and comparisons across tasks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import evaluate
import numpy as np
import pytest
from scipy.stats import ttest_rel

from ndcg.loops import mteb_files

LANGUAGES = {"eng": ["eng-Latn"], "deu": ["deu-Latn"], "fra": ["fra-Latn"], "eng-deu": ["eng-Latn", "deu-Latn"]}
MODELS = ("small", "base", "large")
TASKS = {
    **{f"English{number}": ("default", "eng") for number in range(6)},
    **{f"German{number}": ("default", "deu") for number in range(5)},
}


def result(task: str, scores: dict[str, list[dict[str, Any]]], **others: Any) -> dict[str, Any]:
    """A result as `mteb.results.TaskResult.to_disk` of MTEB 2.26 writes it."""
    dates = {"evaluation_time": 1.5, "kg_co2_emissions": None, "date": 1.7e9, "evaluation_phases": None}
    return {"dataset_revision": "1", "task_name": task, "mteb_version": "2.26.24", "scores": scores} | dates | others


def entry(ndcg: float | None, language: str = "eng", subset: str = "default", k: int = 10) -> dict[str, Any]:
    scores = {"accuracy": 0.5} if ndcg is None else {f"ndcg_at_{k}": ndcg}
    return {**scores, "main_score": 0.5, "hf_subset": subset, "languages": LANGUAGES[language]}


def write(folder: Path, *results: dict[str, Any], name: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in results:
        (folder / f"{each['task_name']}.json").write_text(json.dumps(each))
    if name is not None:
        (folder / "model_meta.json").write_text(json.dumps({"name": name, "revision": "1", "max_tokens": np.inf}))


def values_of(model: int) -> dict[str, float]:
    """Made-up results, the higher the model's number the better on average."""
    rng = np.random.default_rng(model)
    return {
        task: round(float(np.clip(0.5 + 0.01 * at + 0.03 * model + rng.normal(0, 0.03), 0, 1)), 5)
        for at, task in enumerate(TASKS)
    }


Folder = Callable[..., Path]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of three models, in folders as MTEB's cache has them, with a classification task."""
    for model, name in enumerate(MODELS):
        files = [
            result(task, {"test": [entry(value, TASKS[task][1], TASKS[task][0])]})
            for task, value in values_of(model).items()
        ]
        write(tmp_path / f"org__{name}" / "abc", *files, result("Toxic", {"test": [entry(None)]}), name=f"org/{name}")
    return tmp_path


# --- Results: a value per task ---


def test_a_comparison_of_results_is_paired_by_task(ndcg: evaluate.Metric, results: Path) -> None:
    comparison = ndcg.read_mteb(results).compare(baseline="org/small")
    columns = {
        f"org/{name}": np.array(list(values_of(at).values())) for at, name in enumerate(("small", "base", "large"))
    }
    assert {name: each["nDCG@10"].value for name, each in comparison.scores.items()} == pytest.approx(
        {name: values.mean() for name, values in columns.items()}, rel=1e-12
    )
    for pair in comparison.pairs:
        test = ttest_rel(columns[pair.system], columns[pair.other])
        assert pair.other == "org/small"
        assert pair.difference == pytest.approx((columns[pair.system] - columns[pair.other]).mean(), rel=1e-12)
        assert (pair.low, pair.high) == pytest.approx(tuple(test.confidence_interval()), rel=1e-9)
        assert pair.p_t == pytest.approx(test.pvalue, rel=1e-9)
        assert pair.wins + pair.ties + pair.losses == len(TASKS)
        assert pair.exact
    assert comparison.signature == f"nDCG@10|values:MTEB 2.26.24|unit:task|v:{mteb_files.__version__}"
    assert comparison.notes[0] == (
        "Queries are MTEB's tasks, each with its mean: intervals and p-values are about other tasks like these, "
        "not about other queries of the same tasks."
    )
    assert comparison.notes[1] == "1 of MTEB's tasks have no nDCG@10 and are skipped."
    most = comparison.differences("org/large", "org/small", n=3)
    expected = sorted(TASKS, key=lambda task: -abs(values_of(2)[task] - values_of(0)[task]))
    assert most["query"].to_pylist() == expected[:3]


def test_a_report_of_results_has_the_mean_over_tasks_and_slices(ndcg: evaluate.Metric, results: Path) -> None:
    report = ndcg.read_mteb(results).report("org/base", by="language", confidence=0.9)
    values = values_of(1)
    score = report.scores["nDCG@10"]
    assert score.value == pytest.approx(np.mean(list(values.values())), rel=1e-12)
    assert score.low < score.value < score.high
    assert report.counts == {"queries": len(TASKS), "left_out": 0}
    for language in ("eng", "deu"):
        own = [value for task, value in values.items() if TASKS[task][1] == language]
        assert report.slices[language].queries == len(own)
        assert report.slices[language].scores["nDCG@10"].value == pytest.approx(np.mean(own), rel=1e-12)
    assert dict(zip(*(report.queries[name].to_pylist() for name in ("query", "nDCG@10")), strict=True)) == values
    assert type(report).from_dict(json.loads(json.dumps(report.to_dict()))) == report
    for text in (str(report), report.to_markdown(), report._repr_html_()):
        assert "other tasks like these" in text
        assert "cuts nothing off" not in text
        assert "nothing retrieved" not in text


def test_slices_of_a_comparison_are_languages(ndcg: evaluate.Metric, results: Path) -> None:
    slices = ndcg.read_mteb(results).compare(by="language").slices
    assert {name: each.queries for name, each in slices.items()} == {"deu": 5, "eng": 6}
    by_hand = ndcg.read_mteb(results).compare(by={task: language for task, (_, language) in TASKS.items()}).slices
    assert slices == by_hand


def test_a_task_counts_once_and_its_subsets_where_they_are_asked_for(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    def many(first: float) -> dict[str, Any]:
        dev = [entry(first, "fra", "fr"), entry(0.2, "eng-deu", "en-de")]
        return result("Many", {"dev": dev, "test": [entry(0.6, "fra", "fr"), entry(0.4, "eng-deu", "en-de")]})

    for model, first in (("a", 0.4), ("b", 0.5)):
        write(
            tmp_path / model, many(first), result("One", {"test": [entry(0.8)]}), result("Two", {"test": [entry(0.7)]})
        )
    found = ndcg.read_mteb(tmp_path)
    per_task = found.report("a", by="language")
    assert per_task.queries["query"].to_pylist() == ["Many", "One", "Two"]
    assert per_task.queries["nDCG@10"].to_pylist() == pytest.approx([(0.4 + 0.2 + 0.6 + 0.4) / 4, 0.8, 0.7])
    assert list(per_task.slices) == ["eng", "multilingual"]
    per_subset = found.report("a", unit="subset", by="language")
    names = ["Many/en-de", "Many/fr", "One", "Two"]
    assert per_subset.queries["query"].to_pylist() == names
    assert per_subset.queries["nDCG@10"].to_pylist() == pytest.approx([(0.2 + 0.4) / 2, (0.4 + 0.6) / 2, 0.8, 0.7])
    assert list(per_subset.slices) == ["deu+eng", "eng", "fra"]
    assert any("Subsets of one task are alike" in note for note in per_subset.notes)
    assert list(found.compare(unit="subset", by="task").slices) == ["Many"]
    assert "unit:subset" in per_subset.signature


def test_models_are_compared_on_the_same_results(ndcg: evaluate.Metric, results: Path) -> None:
    (results / "org__base" / "abc" / "German3.json").unlink()
    found = ndcg.read_mteb(results)
    message = "model 'org/base' has no nDCG@10 of task German3, subset default, split test, which another model has "
    with pytest.raises(ValueError, match=rf'^{message}\(1 such results\); missing="skip" skips'):
        found.compare()
    comparison = found.compare(missing="skip")
    expected = {task: value for task, value in values_of(2).items() if task != "German3"}
    assert comparison.scores["org/large"]["nDCG@10"].value == pytest.approx(np.mean(list(expected.values())), rel=1e-12)
    assert "1 results, each for a subset and a split, are missing for some models and are skipped." in comparison.notes
    assert found.report("org/base").counts["queries"] == len(TASKS) - 1


def test_the_cutoff_is_one_that_the_results_have(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    write(tmp_path / "m", *(result(task, {"test": [entry(0.25, k=3)]}) for task in TASKS))
    report = ndcg.read_mteb(tmp_path, k=3).report()
    assert report.scores["nDCG@3"].value == 0.25
    with pytest.raises(ValueError, match=r"no result has ndcg_at_10; MTEB reports it for retrieval and reranking"):
        ndcg.read_mteb(tmp_path)


@pytest.mark.parametrize(
    ("folders", "names"),
    [
        ({"a": None, "deep/b": None}, {"a", "deep/b"}),
        ({"a": "org/x", "b": "org/y"}, {"org/x", "org/y"}),
        ({"x/1": "org/x", "x/2": "org/x"}, {"org/x (x/1)", "org/x (x/2)"}),
        ({".": None}, {"here"}),
        ({"a": "m (z)", "y": "m", "z": "m"}, {"m (z) (a)", "m (y)", "m (z) (z)"}),  # each a model of its own
        ({"a": "b", "b": None}, {"b (a)", "b (b)"}),
    ],
)
def test_a_model_has_its_name_or_that_of_its_folder(
    ndcg: evaluate.Metric, tmp_path: Path, folders: dict[str, str | None], names: set[str]
) -> None:
    for folder, name in folders.items():
        write(tmp_path / "here" / folder, result("T", {"test": [entry(0.5)]}), name=name)
        (tmp_path / "here" / folder / "T_predictions.json").write_text("{}")
    scores = ndcg.read_mteb(tmp_path / "here").scores
    assert set(scores) == names
    assert all(len(of_model) == 1 for of_model in scores.values())


def test_a_model_without_a_name_has_that_of_its_folder(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    write(tmp_path / "a", result("T", {"test": [entry(0.5)]}))
    (tmp_path / "a" / "model_meta.json").write_text('{"name": null}')  # as MTEB writes it
    assert set(ndcg.read_mteb(tmp_path).scores) == {"a"}


@pytest.mark.parametrize("content", ['{"name": 5}', '["m"]', '{"name": "m", "name": "n"}'])
def test_a_name_that_is_not_text_is_rejected_with_its_file(ndcg: evaluate.Metric, tmp_path: Path, content: str) -> None:
    write(tmp_path, result("T", {"test": [entry(0.5)]}))
    (tmp_path / "model_meta.json").write_text(content)
    with pytest.raises(ValueError, match=r"^.*model_meta.json: (must hold the name of the model|.* appears twice)"):
        ndcg.read_mteb(tmp_path)


def test_links_to_folders_are_followed_and_each_folder_is_read_once(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    write(tmp_path / "cache" / "own", result("T", {"test": [entry(0.5)]}))
    write(tmp_path / "elsewhere", result("T", {"test": [entry(0.7)]}))
    for link, folder in {"another": "own", "circle": ".", "linked": "../elsewhere", "twice": "../elsewhere"}.items():
        (tmp_path / "cache" / link).symlink_to(folder)
    scores = ndcg.read_mteb(tmp_path / "cache").scores
    assert {model: list(values.values()) for model, values in scores.items()} == {"linked": [0.7], "own": [0.5]}


def test_a_path_may_begin_with_the_home_folder(
    ndcg: evaluate.Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "mteb", result("T", {"test": [entry(0.5)]}), name="m")
    assert set(ndcg.read_mteb("~/mteb").scores) == {"m"}
    (tmp_path / "predictions.json").write_text('{"q": {"d": 1.0}}')
    assert ndcg.join_tasks({"T": "~/predictions.json"}) == {"T/q": {"d": 1.0}}


@pytest.mark.parametrize("content", ['{"org__m": ["results/org__m/1/T.json"]}', "{}", '["T"]', "1"])
def test_other_json_files_are_ignored(ndcg: evaluate.Metric, tmp_path: Path, content: str) -> None:
    (tmp_path / "paths.json").write_text(content)
    with pytest.raises(ValueError, match="contains no MTEB results"):
        ndcg.read_mteb(tmp_path)
    write(tmp_path / "m", result("T", {"test": [entry(0.5)]}))
    assert set(ndcg.read_mteb(tmp_path).scores) == {"m"}


OLD = "contains no result of MTEB 1.11 or newer"
PLACE = "subset 'default', split 'test'"
BEYOND = f"{PLACE}: ndcg_at_10 must be from 0 to 1; got "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "cannot be read as JSON: "),
        ("[" * 100_000, "cannot be read as JSON: nests objects too deep"),
        ('{"task_name": "T", "task_name": "S"}', "cannot be read as JSON: 'task_name' appears twice in one object"),
        ('{"task_name": "T"}', OLD),
        ('{"mteb_version": "2.26.24", "task": "T"}', OLD),
        (json.dumps(result("T", {"test": [0.5]})), OLD),
        (json.dumps({"mteb_dataset_name": "T", "test": {"ndcg_at_10": 0.5}}), OLD),
        (json.dumps(result("T", {"test": [entry(1.5)]})), BEYOND),
        (json.dumps(result("T", {"test": [entry(np.nan)]})), BEYOND),
        (json.dumps(result("T", {"test": [entry(0.9), entry(0.1)]})), f"{PLACE}: has two entries with ndcg_at_10"),
        (json.dumps(result("T", {"test": [entry(0.5) | {"languages": "eng-Latn"}]})), f"{PLACE}: languages must be a "),
        (json.dumps(result("T", {"test": [entry(0.5) | {"languages": [None]}]})), f"{PLACE}: languages must be a list"),
        (json.dumps(result("T", {"test": [entry(0.5) | {"hf_subset": None}]})), "subset None, split 'test': hf_subset"),
        (json.dumps(result("T", {"test": [entry(0.5)]}) | {"task_name": None}), "task_name must be a string; got None"),
        (json.dumps(result("T", {"test": []}, mteb_version=2)), "mteb_version must be a string or null; got 2"),
    ],
)
def test_a_file_that_is_not_a_result_is_named(
    ndcg: evaluate.Metric, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "T.json"
    file.write_text(content)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        ndcg.read_mteb(tmp_path)
    assert str(caught.value).startswith(f"{file}: {message}")


def test_results_that_cannot_be_reported_are_rejected(ndcg: evaluate.Metric, results: Path, tmp_path: Path) -> None:
    found = ndcg.read_mteb(results)
    with pytest.raises(ValueError, match=r"^model must be one of 'org/base', 'org/large', 'org/small'; got None"):
        found.report()
    with pytest.raises(ValueError, match=r'^model must be one of "org/base", .*; did you mean "org/large"'):
        found.report("org/larg")
    with pytest.raises(ValueError, match=r'^by must be one of "language", "task"'):
        found.report("org/base", by="tongue")
    with pytest.raises(ValueError, match=r'^unit must be one of "task", "subset"'):
        found.compare(unit="query")
    with pytest.raises(ValueError, match=r"^baseline must be one of "):
        found.compare(baseline="other")
    with pytest.raises(ValueError, match=r"contains no MTEB results"):
        ndcg.read_mteb(tmp_path / "nowhere")
    copy = results / "org__base" / "abc" / "copy.json"
    copy.write_text((copy.parent / "German3.json").read_text())
    with pytest.raises(ValueError, match=r"copy.json: task 'German3' of org/base is in another file already"):
        ndcg.read_mteb(results)


# --- Predictions: a value per query ---


@pytest.mark.parametrize(
    "tasks",
    [
        {"T": {"q": {1: {"a": 1}, "1": {"a": 0}}}, "S": {"q": {"1": {"a": 1}}}},
        {"T/de": {"test": {"q": {"a": 1}}}, "T": {"de/test": {"q": {"a": 2}}}},
    ],
    ids=["ids of two types", "a slash in a name"],
)
def test_tasks_with_queries_of_the_same_name_are_rejected(ndcg: evaluate.Metric, tasks: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"tasks: two queries are called 'T/.*'; give tasks, subsets or queries other"):
        ndcg.join_tasks(tasks)


def test_utf16_is_named_in_results_and_predictions(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    file = tmp_path / "T.json"
    file.write_bytes(json.dumps(result("T", {"test": [entry(0.5)]})).encode("utf-16"))
    problem = "cannot be read as JSON: is text in UTF-16; save the file in UTF-8"
    for read in (lambda: ndcg.read_mteb(tmp_path), lambda: ndcg.join_tasks({"T": file})):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            read()
        assert str(caught.value).endswith(f"{file}: {problem}")


def test_tasks_are_joined_under_their_names(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    file = tmp_path / "B_predictions.json"
    file.write_text(json.dumps({"mteb_model_meta": {"model_name": "m"}, "de": {"test": {"q/1": {"d1": 0.5}}}}))
    assert ndcg.join_tasks({"A": {"q": {"d": 1.0}}, "B": file}) == {"A/q": {"d": 1.0}, "B/de/test/q/1": {"d1": 0.5}}
    with pytest.raises(ValueError, match=r"^tasks must be a mapping of their names to rankings or files; got list"):
        ndcg.join_tasks([file])
    with pytest.raises(ValueError, match=r"^tasks: 'A' must be a mapping or the path of a file; got 3"):
        ndcg.join_tasks({"A": 3})
    for content in ("{", "[" * 100_000, '{"q1": {"a": 0.9, "a": 0.1}}'):
        file.write_text(content)
        with pytest.raises(ValueError, match=r"B_predictions.json: cannot be read as JSON: "):
            ndcg.join_tasks({"B": str(file)})
    with pytest.raises(ValueError, match=r"^.*nowhere.json: cannot be read: No such file or directory"):
        ndcg.join_tasks({"B": tmp_path / "nowhere.json"})


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({1: {"q": {"d": 1}}}, "1 is not a name; give tasks, subsets and splits as strings"),
        ({None: {"q": {"d": 1}}}, "None is not a name"),
        ({"T": {1: {"test": {"q": {"d": 1}}}}}, "1 is not a name"),
        ({"T": {"q": {"d": 1}, None: {"d": 1}}}, "'T': None is not the id of a query; give a string or an integer"),
        ({"T": {np.nan: {"d": 1}}}, "'T': nan is not the id of a query"),
    ],
    ids=str,
)
def test_values_that_are_not_names_or_ids_are_rejected(
    ndcg: evaluate.Metric, tasks: dict[Any, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=rf"^tasks: {message}"):
        ndcg.join_tasks(tasks)


def test_mappings_within_mappings_without_end_are_rejected(ndcg: evaluate.Metric) -> None:
    endless: dict[str, Any] = {}
    endless["q"] = endless
    with pytest.raises(ValueError, match=r"^tasks: 'T': nests mappings too deep$"):
        ndcg.join_tasks({"T": endless})


class Evaluated(NamedTuple):
    """The files of an evaluation by MTEB."""

    folder: Path
    models: list[str]
    qrels: dict[str, Any]
    results: dict[str, Any]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """Two tiny models, run by MTEB on two of the tasks that it tests itself with, one of them in two languages."""
    mteb = pytest.importorskip("mteb")
    pytest.importorskip("sentence_transformers")
    from mteb.cache import ResultCache
    from mteb.mocks.mock_tasks import MockMultilingualRetrievalTask, MockRetrievalTask
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("mteb")
    letters = {letter: at for at, letter in enumerate("?abcdefghijklmnopqrstuvwxyz")}
    tokenizer = Tokenizer(models.WordLevel(letters, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    rng = np.random.default_rng(0)
    results, qrels = {}, {}
    for name in ("one", "two"):
        weights = rng.normal(size=(len(letters), 8)).astype(np.float32)
        model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)], device="cpu")
        model.model_card_data.model_name = f"tiny/{name}"
        tasks = [MockRetrievalTask(), MockMultilingualRetrievalTask()]
        cache = ResultCache(folder / "cache")
        found = mteb.evaluate(model, tasks, cache=cache, prediction_folder=folder / name, co2_tracker=False)
        results[f"tiny/{name}"] = found.task_results
        for task in tasks:
            task.load_data()
            qrels[task.metadata.name] = {
                subset: {split: each["relevant_docs"] for split, each in splits.items()}
                for subset, splits in task.dataset.items()
            }
    return Evaluated(folder, ["one", "two"], qrels, results)


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_results_that_mteb_wrote_are_read_as_mteb_reads_them(ndcg: evaluate.Metric, evaluated: Evaluated) -> None:
    found = ndcg.read_mteb(evaluated.folder)
    comparison = found.compare()
    for model, tasks in evaluated.results.items():
        for task in tasks:
            for split, entries in task.scores.items():
                for each in entries:
                    assert found.scores[model][task.task_name, each["hf_subset"], split] == each["ndcg_at_10"]
                    assert found.languages[task.task_name, each["hf_subset"], split] == each["languages"][0][:3]
        expected = np.mean([task.get_score(getter=lambda scores: scores["ndcg_at_10"]) for task in tasks])
        assert comparison.scores[model]["nDCG@10"].value == pytest.approx(expected, abs=1e-9)
        assert found.report(model).scores["nDCG@10"] == comparison.scores[model]["nDCG@10"]


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_predictions_that_mteb_wrote_have_its_numbers_query_by_query(
    ndcg: evaluate.Metric, evaluated: Evaluated
) -> None:
    systems = {
        name: ndcg.join_tasks({task: evaluated.folder / name / f"{task}_predictions.json" for task in evaluated.qrels})
        for name in evaluated.models
    }
    references = ndcg.join_tasks(evaluated.qrels)
    by = {query: query.rpartition("/")[0] for query in references}
    comparison = ndcg.compare(systems=systems, references=references, k=10, convention="mteb", by=by)
    checked = 0
    for name in evaluated.models:
        for task in evaluated.results[f"tiny/{name}"]:
            for split, entries in task.scores.items():
                for each in entries:
                    ours = comparison.slices[f"{task.task_name}/{each['hf_subset']}/{split}"].scores[name]["nDCG@10"]
                    assert ours.value == pytest.approx(each["ndcg_at_10"], abs=5.1e-6)  # it rounds to five digits
                    checked += 1
    assert checked == 2 * (2 + 4)
