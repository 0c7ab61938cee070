"""What all tests share: caches of their own, no network, and the metric loaded as a user loads it."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parent.parent

# evaluate and datasets read these once, when they are imported.
CACHE = Path(tempfile.mkdtemp(prefix="ndcg-tests-"))
for name in [name for name in os.environ if name.startswith(("HF_", "HUGGINGFACE_", "GRADIO_"))]:
    del os.environ[name]
os.environ |= {
    "HF_HOME": str(CACHE),
    "HF_DATASETS_CACHE": str(CACHE / "datasets"),
    "HF_EVALUATE_CACHE": str(CACHE / "evaluate"),
    "HF_HUB_CACHE": str(CACHE / "hub"),
    "HF_METRICS_CACHE": str(CACHE / "metrics"),
    "HF_MODULES_CACHE": str(CACHE / "modules"),
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    "GRADIO_ANALYTICS_ENABLED": "False",
}

# evaluate does without transformers, which take twice as long to import as all else.
sys.modules["transformers"] = None  # type: ignore[assignment]
import evaluate  # noqa: E402

del sys.modules["transformers"]
settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("project")

LEAN_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiled quickly, for programs that end soon
MetricFactory = Callable[..., evaluate.EvaluationModule]

WITHOUT_TRANSFORMERS = CACHE / "without-transformers"
WITHOUT_TRANSFORMERS.mkdir()
(WITHOUT_TRANSFORMERS / "transformers.py").write_text("raise ImportError('as where it is not installed')\n")


def lean_environment(**more: str) -> dict[str, str]:
    """For a process that imports evaluate, likewise without transformers."""
    return {**os.environ, "PYTHONPATH": str(WITHOUT_TRANSFORMERS), **more}


def pytest_sessionfinish() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@cache
def spark_session() -> Any:
    """Spark on two cores, whose workers find neither evaluate nor datasets nor pandas, as on a cluster."""
    from pyspark.sql import SparkSession

    bare = CACHE / "bare"
    bare.mkdir()
    for name in ("evaluate", "datasets", "pandas"):
        (bare / f"{name}.py").write_text("raise ImportError('executors have NumPy and pyarrow')\n")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    for name in ("ui.enabled", "ui.showConsoleProgress", "sql.adaptive.enabled", "sql.codegen.wholeStage"):
        builder = builder.config(f"spark.{name}", "false")  # what takes long on small data
    for name, value in {
        "executorEnv.PYTHONPATH": bare,
        "sql.shuffle.partitions": 3,
        "sql.execution.arrow.maxRecordsPerBatch": 100,
        "driver.extraJavaOptions": LEAN_JAVA,
    }.items():
        builder = builder.config(f"spark.{name}", value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of JAX, where it is loaded, since this forks
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def ndcg() -> evaluate.EvaluationModule:
    """The metric, for tests that compute at once and leave nothing in it."""
    return evaluate.load(str(ROOT / "ndcg.py"))


@pytest.fixture
def fresh_metric(tmp_path: Path) -> MetricFactory:
    """Loads the metric anew, by default with a cache directory of the test's own."""

    def load(**kwargs: Any) -> evaluate.EvaluationModule:
        return evaluate.load(str(ROOT / "ndcg.py"), **{"cache_dir": str(tmp_path / "cache"), **kwargs})

    return load
