"""Compare models across the tasks of MTEB, from its result files.

Run it as `python examples/mteb_tasks.py ~/.cache/mteb/results`.

A leaderboard has a mean for each task. Here a task is what a query is elsewhere: the interval and
the p-value say whether a model would also be better on other tasks like these. Without a folder,
two made-up models are compared.
"""

import json
import sys
import tempfile
from itertools import chain
from pathlib import Path
from statistics import fmean

import evaluate
import numpy as np

MEASURE, KEY = "nDCG@10", "ndcg_at_10"
LANGUAGES = {
    "NFCorpus": "eng",
    "SciFact": "eng",
    "ArguAna": "eng",
    "GermanQuAD": "deu",
    "GerDaLIR": "deu",
}


def read_results(folder: Path) -> dict[str, dict[str, tuple[str, float]]]:
    """Return the language of each task, and by model the mean of its subsets and splits."""
    models: dict[str, dict[str, tuple[str, float]]] = {}
    for meta in sorted(folder.rglob("model_meta.json")):
        tasks = models.setdefault(json.loads(meta.read_text())["name"], {})
        for path in sorted(meta.parent.glob("*.json")):
            result = json.loads(path.read_text())
            entries = [
                entry
                for split in result.get("scores", {}).values()
                for entry in split
                if KEY in entry
            ]
            if entries:
                codes = chain.from_iterable(entry["languages"] for entry in entries)
                languages = {code.partition("-")[0] for code in codes}
                language = languages.pop() if len(languages) == 1 else "multilingual"
                tasks[result["task_name"]] = language, fmean(entry[KEY] for entry in entries)
    return models


def as_report(tasks: dict[str, tuple[str, float]]) -> dict[str, object]:
    """Return means of tasks as a saved report, with tasks as queries, languages as slices."""
    languages, scores = zip(*tasks.values(), strict=True)
    return {
        # Of a report of 2.x only the queries are read, and all else is computed from them.
        "signature": f"{MEASURE}|values:MTEB|v:2.1.0",
        "scores": {MEASURE: {}},
        "counts": {},
        "queries": {"query": list(tasks), "slice": languages, MEASURE: scores},
        "resampling": {"confidence": 0.95, "seed": 0},
        "notes": [],
    }


def write_example(folder: Path) -> None:
    """Write results of two models as MTEB does."""
    rng = np.random.default_rng(0)
    for model, better in (("small", 0.0), ("large", 0.03)):
        (folder / model).mkdir()
        (folder / model / "model_meta.json").write_text(json.dumps({"name": f"org/{model}"}))
        for at, (task, language) in enumerate(LANGUAGES.items()):
            entry = {
                KEY: 0.3 + at / 10 + better + rng.normal(0, 0.01),
                "languages": [f"{language}-Latn"],
            }
            result = {"task_name": task, "scores": {"test": [entry]}}
            (folder / model / f"{task}.json").write_text(json.dumps(result))


if __name__ == "__main__":
    ndcg = evaluate.load(str(Path(__file__).resolve().parent.parent / "ndcg.py"))
    with tempfile.TemporaryDirectory() as made_up:
        if not sys.argv[1:]:
            write_example(Path(made_up))
        models = read_results(Path(*sys.argv[1:] or [made_up]))
    shared = set.intersection(*(set(tasks) for tasks in models.values()))
    reports = {
        name: as_report({task: tasks[task] for task in sorted(shared)})
        for name, tasks in models.items()
    }
    print(ndcg.compare_reports(reports))
