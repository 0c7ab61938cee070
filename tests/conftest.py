"""What all tests share: caches, no network, and the metric loaded as a user loads it."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.python_api import ApproxScalar
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parent.parent

# evaluate and datasets read these once, when they are imported.
CACHE = Path(tempfile.mkdtemp(prefix="ndcg-tests-"))
for name in [name for name in os.environ if name.startswith(("HF_", "HUGGINGFACE_", "GRADIO_"))]:
    del os.environ[name]
os.environ |= {
    f"HF_{name.upper()}_CACHE": str(CACHE / name)
    for name in ("datasets", "evaluate", "hub", "metrics")
}
os.environ |= {
    "HF_HOME": str(CACHE),
    "HF_MODULES_CACHE": str(CACHE / "modules"),
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "DO_NOT_TRACK": "true",
}

# first, since it imports evaluate without transformers
import forks  # noqa: E402, I001
import evaluate  # noqa: E402
from ndcg import NDCG  # noqa: E402

# else every value below 1e-12 would be approximately 0, whatever a test asks for
ApproxScalar.DEFAULT_ABSOLUTE_TOLERANCE = 0.0

settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("project")

METRIC = evaluate.load(str(ROOT / "ndcg.py"))
BUNDLE = sys.modules[
    type(METRIC.CONVENTIONS["sklearn"]).__module__
]  # the modules that come with it, in one
FOLDERS = {path.parent.name for path in ROOT.glob("ndcg/*/__init__.py")}

LEAN_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiled quickly, for programs that end soon
)
# for rankings in which no retrieved document is judged on purpose
NOTHING_IN_COMMON = pytest.mark.filterwarnings(
    "ignore:.*no document was both retrieved and judged:UserWarning"
)
# for flat rows of which each is a query on purpose
ALL_EXCLUDED = pytest.mark.filterwarnings("ignore:.*judged document .* excluded:UserWarning")
ONE_DOCUMENT_A_QUERY = pytest.mark.filterwarnings("ignore:.*rows have as many queries:UserWarning")
MetricFactory = Callable[..., evaluate.EvaluationModule]
Documents = Mapping[str, Mapping[str, float | None]]  # a value of each document, by query

WITHOUT_TRANSFORMERS = CACHE / "without-transformers"
WITHOUT_TRANSFORMERS.mkdir()
(WITHOUT_TRANSFORMERS / "transformers.py").write_text(
    "raise ImportError('as where it is not installed')\n"
)


def lean_environment(**more: str) -> dict[str, str]:
    """For a process that imports evaluate, also without transformers."""
    return {**os.environ, "PYTHONPATH": str(WITHOUT_TRANSFORMERS), **more}


def ranx_sides(run: Documents, qrels: Documents) -> tuple[Any, Any]:
    """The qrels and the run of ranx, which compiles its code again for each length of ids."""
    import ranx

    padded = [
        {
            query: {each.ljust(8): value for each, value in documents.items()}
            for query, documents in side.items()
        }
        for side in (qrels, run)
    ]
    return ranx.Qrels(padded[0]), ranx.Run(padded[1])


@cache
def problem_with_java(home: str | None, path: str | None) -> str:
    """Why Spark finds no Java by JAVA_HOME, or else PATH; empty if it does."""
    java = Path(home) / "bin" / "java" if home else shutil.which("java", path=path)
    if java is None:
        return "no Java on PATH: apt-get install openjdk-17-jre-headless"
    try:
        subprocess.run([java, "-version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no Java by {f'JAVA_HOME={home}' if home else 'PATH'}: {error}"
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep the garbage collector away from the libraries and tests that collecting loads.

    They stay to the end, and are a million objects to walk through in each full collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests of Spark if there is no Java."""
    if item.get_closest_marker("spark"):
        problem = problem_with_java(os.environ.get("JAVA_HOME"), os.environ.get("PATH"))
        if problem:
            pytest.skip(problem)


# `make check` puts libraries whose requirements clash into a folder: last on the path, so that they
# hide no other.
LIBRARIES = Path(sys.prefix) / "libraries" / "site-packages"
sys.path.append(str(LIBRARIES))

# Python 3.13 has PyTorch only with gigabytes of CUDA: tests that need one of these are skipped
# there.
TORCH = ("accelerate", "ignite", "sentence_transformers", "torch", "torchmetrics", "transformers")
MISSING = {name for name in TORCH if find_spec(name) is None}
if not LIBRARIES.exists():
    MISSING |= {
        "allrank",
        "beir",
        "colorlog",
        "cornac",
        "evidently",
        "haystack",
        "lenskit",
        "llama_index",
        "mlflow",
    }
    MISSING |= {"mteb", "recommenders", "rectools"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip a test that imports PyTorch, a library on top of it or one of the folder, if missing."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        if error.name in MISSING:
            pytest.skip(f"{error.name} is not installed")
        raise


def pytest_sessionfinish() -> None:
    """Remove the caches."""
    shutil.rmtree(CACHE, ignore_errors=True)


class Processes:
    """Scripts in processes of their own, which find `cache` defined: a folder for them all."""

    def __init__(self, cache: Path, server: Any = forks.SERVER) -> None:
        self.cache, self.server, self.preamble = cache, server, ""
        self.running: list[forks.Fork] = []

    def start(self, script: str, **names: Any) -> forks.Fork:
        """Run the preamble and a script."""
        code = self.preamble + textwrap.dedent(script)
        names = {"path": str(ROOT / "ndcg.py"), "cache": str(self.cache), **names}
        self.running.append(forks.Fork(code, names, self.server))
        return self.running[-1]

    def run(self, script: str, **names: Any) -> str:
        """Run a script to its end and return what it prints."""
        return self.start(script, **names).output()

    def start_example(self, name: str, folder: Path, **environment: str) -> forks.Fork:
        """Run an example as a script on a wide terminal without colors; any warning is an error."""
        return self.start(
            """
            import os, runpy, tempfile, warnings
            os.environ |= {"COLUMNS": "120", "NO_COLOR": "1", **environment}
            os.environ |= {"OMP_NUM_THREADS": "1", "TMPDIR": folder}
            os.chdir(folder)
            tempfile.tempdir = None
            warnings.simplefilter("error")
            runpy.run_path(example, run_name="__main__")
            """,
            example=str(ROOT / "examples" / f"{name}.py"),
            folder=str(folder),
            environment=environment,
        )


@pytest.fixture(scope="session")
def _fork_server() -> None:
    forks.start_server(forks.SERVER, [WITHOUT_TRANSFORMERS])


@pytest.fixture
def processes(tmp_path: Path, _fork_server: None) -> Iterator[Processes]:
    """Start processes that share a cache, and end them with the test."""
    started = Processes(tmp_path / "cache")
    yield started
    for fork in started.running:
        fork.kill()


@pytest.fixture(scope="session")
def _training_server() -> None:
    forks.start_server(forks.TRAINING_SERVER, [], forks.TRAINING)


@pytest.fixture
def training_processes(tmp_path: Path, _training_server: None) -> Iterator[Processes]:
    """Start processes that have PyTorch, for tests of the group "torch": one server imports it."""
    started = Processes(tmp_path / "cache", forks.TRAINING_SERVER)
    yield started
    for fork in started.running:
        fork.kill()


@cache
def spark_session() -> Any:
    """Spark on two cores; as on a cluster, workers find no evaluate, datasets or pandas."""
    from pyspark.sql import SparkSession

    bare = CACHE / "bare"
    bare.mkdir()
    for name in ("evaluate", "datasets", "pandas"):
        (bare / f"{name}.py").write_text("raise ImportError('executors have NumPy and pyarrow')\n")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    slow = (
        "ui.enabled",
        "ui.showConsoleProgress",
        "sql.adaptive.enabled",
        "sql.codegen.wholeStage",
    )  # on small data
    for name, value in {
        **dict.fromkeys(slow, "false"),
        "executorEnv.PYTHONPATH": bare,
        "sql.shuffle.partitions": 3,
        "sql.execution.arrow.maxRecordsPerBatch": 100,
        "driver.extraJavaOptions": LEAN_JAVA,
    }.items():
        builder = builder.config(f"spark.{name}", value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns about forks if it is loaded
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def ndcg(request: pytest.FixtureRequest) -> evaluate.EvaluationModule:
    """The metric, for tests that compute at once and leave nothing in it.

    Tests of the package's modules get the class of the package, all others the metric that evaluate
    loads.
    """
    return NDCG() if request.path.parent.name in FOLDERS else METRIC


@pytest.fixture
def fresh_metric(request: pytest.FixtureRequest, tmp_path: Path) -> MetricFactory:
    """Makes a new metric, as `ndcg` is, by default with a cache directory of the test's own."""
    of_package = request.path.parent.name in FOLDERS

    def load(**kwargs: Any) -> evaluate.EvaluationModule:
        how = {"cache_dir": str(tmp_path / "cache"), **kwargs}
        # evaluate.load would read the file again
        return NDCG(**how) if of_package else type(METRIC)(hash=METRIC._hash, **how)

    return load
