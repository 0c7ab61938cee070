"""From rankings as people hold them, mappings, files or flat columns, to the nDCG of each query."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from contenders import ROOT, measure_queries
from numpy.typing import NDArray

Call = Callable[[], Sequence[float] | NDArray[np.float64]]


def forms(scores: int, rounds: int) -> dict[str, dict[str, float | str]]:
    """Seconds that each way takes, by form; or why it was not measured.

    Args:
        scores: documents in all, of the flat columns and the files; mappings and lists hold a
            tenth of them.
        rounds: the number of rounds of all contenders; the median counts.
    """
    with tempfile.TemporaryDirectory() as folder:
        return {
            "mappings, 100 documents per query": _measured(_mappings(scores // 10, 100), rounds),
            "mappings, 1,000 documents per query": _measured(
                _mappings(scores // 10, 1_000), rounds
            ),
            f"TREC files, a run of {scores:,} lines": _measured(
                _files(Path(folder), scores), rounds
            ),
            f"the same run, read only, {scores:,} lines": _measured(_reading(Path(folder)), rounds),
            f"flat, {scores:,} rows, unsorted string ids": _measured(
                _flat(scores, "user-{:08d}", False), rounds
            ),
            f"flat, {scores:,} rows, grouped string ids": _measured(
                _flat(scores, "user-{:08d}", True), rounds
            ),
            f"flat, {scores:,} rows, grouped integers": _measured(
                _flat(scores, None, True), rounds
            ),
            "two frames, pandas with Python strings": _measured(
                _frames(scores // 10, "pandas"), rounds
            ),
            "two frames, Polars": _measured(_frames(scores // 10, "Polars"), rounds),
            "two frames, pandas with integers": _measured(
                _frames(scores // 10, "integers"), rounds
            ),
            "sparse, 670,000 columns, 100 and 5 stored": _measured(
                _sparse(min(20_000, scores // 100)), rounds
            ),
            "nested lists, 100 documents per query": _measured(
                _nested(scores // 10, 100, list), rounds
            ),
            "nested lists with None, 100 documents per query": _measured(
                _nested(scores // 10, 100, _with_none), rounds
            ),
            "lists of arrays, 10 documents per query": _measured(
                _nested(scores // 10, 10, np.array), rounds
            ),
            "lists of arrays, 100 documents per query": _measured(
                _nested(scores // 10, 100, np.array), rounds
            ),
        }


def _measured(ways: dict[str, Callable[[], Call]], rounds: int) -> dict[str, float | str]:
    """Let the ways take turns, after all have agreed on every query.

    Raises:
        ValueError: all queries have one nDCG, so that agreeing shows nothing; a way that answers
            otherwise in its turn.
    """
    calls: dict[str, Call] = {}
    results: dict[str, float | str] = {}
    right: NDArray[np.float64] | None = None
    for name, prepare in ways.items():
        try:
            calls[name] = prepare()
            # a way that is run once is checked by its only run
            problem, right = _compared(calls[name](), right) if rounds > 1 else ("", right)
        except ImportError as error:
            calls.pop(name, None)
            results[name] = f"not installed: {error}"
            continue
        if problem:
            results[name] = problem
            del calls[name]
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            answer = call()
            seconds[name].append(time.perf_counter() - start)
            problem, right = _compared(answer, right)
            if problem:
                raise ValueError(f"{name} {problem}")
    return results | {name: statistics.median(taken) for name, taken in seconds.items()}


def _compared(
    answer: Sequence[float] | NDArray[np.float64], right: NDArray[np.float64] | None
) -> tuple[str, NDArray[np.float64]]:
    """How the nDCG of queries, in any order, differs from the right one, the first answer."""
    values = np.sort(answer)
    if right is None:
        if values[0] == values[-1]:
            raise ValueError(
                f"all {len(values)} queries have nDCG {values[0]:g}; mix the scores, or nothing is "
                "compared"
            )
        return "", values
    if len(values) != len(right):
        return f"differs: {len(values)} queries for {len(right)}", right
    at = int(np.abs(values - right).argmax())
    if abs(values[at] - right[at]) > 1e-6:
        return f"differs: {float(values[at])!r} for {float(right[at])!r}", right
    return "", right


def _metric() -> Any:
    import evaluate

    return evaluate.load(str(ROOT / "ndcg.py"))


def _ids(
    queries: int, documents: int, missed: int = 10
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw a run, and qrels with a tenth of its documents and some that it missed."""
    random = np.random.default_rng(0)
    qrels, run = {}, {}
    for query in range(queries):
        chosen = random.choice(8_000_000, documents + missed, replace=False).tolist()
        # different scores, also for trec_eval, which holds 32 bits of each
        score = (-np.sort(-random.choice(1 << 24, documents, replace=False)) / 2**24).tolist()
        grade = random.integers(0, 4, documents // 10 + missed).tolist()
        run[f"q{query}"] = {
            f"D{document}": s for document, s in zip(chosen[:documents], score, strict=True)
        }
        judged = (
            random.choice(chosen[:documents], documents // 10, replace=False).tolist()
            + chosen[documents:]
        )
        qrels[f"q{query}"] = {f"D{document}": g for document, g in zip(judged, grade, strict=True)}
    return qrels, run


def _mappings(scores: int, documents: int) -> dict[str, Callable[[], Call]]:
    qrels, run = _ids(max(2, scores // documents), documents)

    def ours() -> Call:
        metric = _metric()
        sides = {"predictions": run, "references": qrels}
        return lambda: metric.compute(**sides, k=10, use_aggregator=False)["nDCG@10"]

    def pytrec_eval() -> Call:
        import pytrec_eval

        def call() -> list[float]:
            results = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
            return [values["ndcg_cut_10"] for values in results.values()]

        return call

    def ranx() -> Call:
        import ranx

        return lambda: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10", return_mean=False)

    return {"ours": ours, "pytrec_eval": pytrec_eval, "ranx": ranx}


def _files(folder: Path, lines: int) -> dict[str, Callable[[], Call]]:
    run_file, qrels_file = str(folder / "run.trec"), str(folder / "qrels.trec")
    documents = 1_000
    queries = max(2, lines // documents)
    with open(run_file, "w") as run_lines, open(qrels_file, "w") as qrels_lines:
        for part in range(0, queries, 1_000):
            qrels, run = _ids(min(1_000, queries - part), documents)
            for query, scored in run.items():
                run_lines.writelines(
                    f"{part}-{query} Q0 {d} 0 {s!r} tag\n" for d, s in scored.items()
                )
            for query, judged in qrels.items():
                qrels_lines.writelines(f"{part}-{query} 0 {d} {r}\n" for d, r in judged.items())

    def ours() -> Call:
        metric = _metric()
        sides = {"predictions": run_file, "references": qrels_file}
        return lambda: metric.compute(**sides, k=10, use_aggregator=False)["nDCG@10"]

    def pytrec_eval() -> Call:
        import pytrec_eval

        def call() -> list[float]:
            with open(qrels_file) as judged, open(run_file) as scored:
                evaluator = pytrec_eval.RelevanceEvaluator(
                    pytrec_eval.parse_qrel(judged), {"ndcg_cut.10"}
                )
                results = evaluator.evaluate(pytrec_eval.parse_run(scored))
            return [values["ndcg_cut_10"] for values in results.values()]

        return call

    def ranx() -> Call:
        import ranx

        def call() -> NDArray[np.float64]:
            qrels = ranx.Qrels.from_file(qrels_file, kind="trec")
            run = ranx.Run.from_file(run_file, kind="trec")
            return ranx.evaluate(qrels, run, "ndcg@10", return_mean=False)

        return call

    return {"ours": ours, "pytrec_eval": pytrec_eval, "ranx": ranx}


def _reading(folder: Path) -> dict[str, Callable[[], Call]]:
    """Return ways to read a run's queries, documents and scores; each returns the scores."""
    run_file = str(folder / "run.trec")

    def ours() -> Call:
        files = import_module(f"{type(_metric()).__module__.rpartition('.')[0]}.ndcg_bundle")
        return lambda: files.read_columns(run_file, "run").value

    def polars() -> Call:
        import polars

        def call() -> NDArray[np.float64]:
            lines = polars.read_csv(run_file, separator=" ", has_header=False, columns=[0, 2, 4])
            return lines.to_series(2).to_numpy()

        return call

    def duckdb() -> Call:
        import duckdb

        lines = duckdb.read_csv(run_file, sep=" ", header=False).project(
            "column0, column2, column4"
        )

        def call() -> NDArray[np.float64]:
            return lines.to_arrow_table()["column4"].to_numpy()

        return call

    return {"ours": ours, "Polars": polars, "DuckDB": duckdb}


def _flat(rows: int, ids: str | None, are_grouped: bool) -> dict[str, Callable[[], Call]]:
    random = np.random.default_rng(0)
    queries, documents = max(2, rows // 100), 100
    score, relevance = (
        random.random((queries, documents)),
        random.integers(0, 5, (queries, documents)).astype(float),
    )
    order = np.arange(score.size) if are_grouped else random.permutation(score.size)
    names = (
        np.array([ids.format(query) for query in range(queries)], object)
        if ids
        else np.arange(queries)
    )

    def columns() -> dict[str, Any]:
        import pyarrow as pa

        flat = {"predictions": score.ravel()[order], "references": relevance.ravel()[order]}
        return {
            name: pa.array(values)
            for name, values in (flat | {"query_ids": names[order // documents]}).items()
        }

    def ours() -> Call:
        metric, flat = _metric(), columns()
        return lambda: metric.compute(**flat, k=10, use_aggregator=False)["nDCG@10"]

    def table() -> Call:
        import pyarrow as pa

        metric, flat = _metric(), pa.table(columns())
        named = {name: name for name in flat.column_names}
        return lambda: metric.compute(**named, data=flat, k=10, use_aggregator=False)["nDCG@10"]

    return {
        "ours": ours,
        "ours, data=": table,
        "the kernel, grouped already": _kernel(score, relevance),
    }


def _frames(rows: int, kind: str) -> dict[str, Callable[[], Call]]:
    """Return ways to score two frames, a run of so many rows and qrels of a fifth."""
    import pandas as pd

    documents = 1_000
    qrels, run = _ids(max(2, rows // documents), documents, documents // 10)
    sides = []
    for side, value in ((run, "score"), (qrels, "relevance")):
        cells = [
            (query, document, number)
            for query, of in side.items()
            for document, number in of.items()
        ]
        query, document, numbers = zip(*cells, strict=True)
        # each cell a string of its own, as a library that reads a table makes them
        texts = [
            pd.Series([f"{text} "[:-1] for text in column], dtype=object)
            for column in (query, document)
        ]
        sides.append(pd.DataFrame({"query_id": texts[0], "doc_id": texts[1], value: numbers}))

    def ours() -> Call:
        metric, frames = _metric(), sides
        if kind == "Polars":
            import polars

            frames = [polars.from_pandas(frame) for frame in sides]
        elif kind == "integers":
            as_integers = {
                name: lambda frame, name=name: frame[name].str[1:].astype(int)
                for name in ("query_id", "doc_id")
            }
            frames = [frame.assign(**as_integers) for frame in sides]
        tables = dict(zip(("predictions", "references"), frames, strict=True))
        return lambda: metric.compute(**tables, k=10, use_aggregator=False)["nDCG@10"]

    def ir_measures() -> Call:
        import ir_measures

        run_frame, qrels_frame = sides
        return lambda: [
            metric.value
            for metric in ir_measures.iter_calc([ir_measures.nDCG @ 10], qrels_frame, run_frame)
        ]

    return {"ours": ours, "ir_measures": ir_measures}


def _sparse(queries: int) -> dict[str, Callable[[], Call]]:
    """Scores of 100 columns of a query and 5 labels, 3 of them among these; and as flat columns."""
    random = np.random.default_rng(0)
    blocks, width = 100, 6_700  # of columns, a score in every block
    score = random.random((queries, blocks))
    columns = random.integers(0, width, (queries, blocks)) + np.arange(blocks) * width
    at = random.permuted(np.tile(np.arange(blocks), (queries, 1)), axis=1)[:, :5]
    labeled = np.take_along_axis(columns, at, axis=1)
    labeled[:, 3:] += np.where(labeled[:, 3:] % width, -1, 1)
    shape = (queries, blocks * width)

    def matrices() -> tuple[Any, Any]:
        from scipy.sparse import csr_array

        rows = np.arange(queries)
        scores = score.ravel(), (np.repeat(rows, blocks), columns.ravel())
        labels = np.ones(labeled.size), (np.repeat(rows, 5), labeled.ravel())
        return csr_array(scores, shape), csr_array(labels, shape)

    def ours() -> Call:
        metric, (predictions, references) = _metric(), matrices()
        sides = {"predictions": predictions, "references": references}
        return lambda: metric.compute(**sides, k=10, use_aggregator=False)["nDCG@10"]

    def flat() -> Call:
        metric = _metric()
        judged = np.concatenate([np.zeros((queries, blocks)), np.ones((queries, 2))], axis=1)
        np.put_along_axis(judged, at[:, :3], 1, axis=1)
        rows = {
            "predictions": np.concatenate([score, np.full((queries, 2), -np.inf)], axis=1).ravel(),
            "references": judged.ravel(),
            "query_ids": np.repeat(np.arange(queries), blocks + 2),
            "document_ids": np.concatenate([columns, labeled[:, 3:]], axis=1).ravel(),
        }
        return lambda: metric.compute(**rows, k=10, use_aggregator=False)["nDCG@10"]

    return {"ours": ours, "ours, flat columns": flat}


def _nested(
    scores: int, documents: int, form: Callable[[Any], Any]
) -> dict[str, Callable[[], Call]]:
    random = np.random.default_rng(0)
    shape = max(2, scores // documents), documents
    score, relevance = random.random(shape), random.integers(0, 5, shape)
    rows = {
        "predictions": [form(row if form is np.array else row.tolist()) for row in score],
        "references": [form(row if form is np.array else row.tolist()) for row in relevance],
    }

    def ours() -> Call:
        metric = _metric()
        return lambda: metric.compute(**rows, k=10, use_aggregator=False)["nDCG@10"]

    if form is _with_none:
        score, relevance = score[:, 1:], relevance[:, 1:]
    return {"ours": ours, "the kernel, grouped already": _kernel(score, relevance)}


def _with_none(row: list[Any]) -> list[Any]:
    """Return a row in which the first document is neither retrieved nor judged."""
    return [None, *row[1:]]


def _kernel(score: NDArray[np.float64], relevance: NDArray[Any]) -> Callable[[], Call]:
    def kernel() -> Call:
        score_all = measure_queries()

        def call() -> NDArray[np.float64]:
            return score_all(relevance, score, cutoffs=(10,))["nDCG"].ravel()

        return call

    return kernel


if __name__ == "__main__":
    import sys

    print(forms(int(sys.argv[1]), int(sys.argv[2])))
