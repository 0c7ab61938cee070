"""`Dataset.map` finds results again in another process: `datasets` hashes metric and package."""

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
from conftest import ROOT, lean_environment

SCRIPT = """
import json, sys
import datasets, evaluate, ndcg
from datasets.fingerprint import Hasher

metric = evaluate.load(sys.argv[1])
rows = datasets.Dataset.from_parquet(sys.argv[2], cache_dir=sys.argv[3])

def by_metric(row):
    print("scored")
    return metric.compute(predictions=[row["scores"]], references=[row["grades"]])

def by_package(row):
    print("scored")
    return ndcg.compute(predictions=[row["scores"]], references=[row["grades"]])

def by_method(row, compute=metric.compute):
    print("scored")
    return compute(predictions=[row["scores"]], references=[row["grades"]])

class Shifted(type(metric)):
    def _compute(self, **inputs):
        return {name: value + 1 for name, value in super()._compute(**inputs).items()}

hashed = [metric, metric.compute, metric.add, metric.add_batch, metric.report]
hashed += [type(metric), metric.SLIPS, Shifted(), ndcg, ndcg.compute, ndcg.NDCG()]
hashed += [metric.trainer_metrics(k=3), metric.meter(k=3), metric.scorer(k=3)]
hashes = [Hasher.hash(each) for each in hashed]
for function in (by_metric, by_package, by_method):
    assert [round(value, 4) for value in rows.map(function)["nDCG"]] == [1.0, 0.6309]
ndcg.report, ndcg.explain
metric.add_batch(predictions=[[0.5]], references=[[1]])
metric.compute()
assert [Hasher.hash(each) for each in hashed] == hashes
print(json.dumps(hashes))
"""


@pytest.mark.slow  # two interpreters import everything
def test_results_of_a_map_are_found_again_in_another_process(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    datasets.Dataset.from_dict({"scores": [[0.5, 0.1]] * 2, "grades": [[1, 0], [0, 1]]}).to_parquet(
        rows
    )
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        str(ROOT / "ndcg.py"),
        str(rows),
        str(tmp_path / "cache"),
    ]
    printed = []
    for seed in ("1", "2"):
        path = os.pathsep.join([str(ROOT), lean_environment()["PYTHONPATH"]])
        environment = lean_environment(PYTHONPATH=path, PYTHONHASHSEED=seed)
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.splitlines())
    assert printed[0] == ["scored"] * 6 + printed[1]
    assert len(set(json.loads(printed[1][0]))) == 14
