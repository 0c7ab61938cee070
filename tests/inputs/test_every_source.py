"""Every source gives what the mapping of its rankings gives, to the bit, at the entry points."""

import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import spark_session
from hypothesis import given, settings
from hypothesis import strategies as st
from sources import (
    ANY_IDS,
    COLUMNS,
    FLAT_FORMS,
    FLAT_IN_32_BITS,
    FULL_FLAT_FORMS,
    IN_32_BITS,
    IN_FILES,
    INTEGER_IDS,
    OPTIONS,
    QUERY_OPTIONS,
    RAGGED,
    RAGGED_FORMS,
    ROWS_FORMS,
    SOURCES,
    SQUARE,
    SQUARE_FORMS,
    TABLES,
    TEXT_IDS,
    Inputs,
    Rankings,
    Rows,
    Side,
    Source,
    by_query,
    filled,
    in_hex,
    in_list,
)

import ndcg
from ndcg.shell.command_line import main

# The entry points: each gives the values of queries, or the documents and the ids that it names


def by_compute(inputs: Inputs) -> Any:
    return in_hex(ndcg.compute(**{**OPTIONS, **inputs}))


def by_batch(inputs: Inputs) -> Any:
    """A batch after another one."""
    metric = ndcg.NDCG(keep_in_memory=True)
    metric.add_batch(predictions=[[1.0]], references=[[1]])
    metric.add_batch(**inputs)
    return {name: column[1:] for name, column in in_hex(metric.compute(**OPTIONS)).items()}


def by_report(inputs: Inputs) -> Any:
    return ndcg.report(**inputs, **QUERY_OPTIONS).queries.to_pylist()


def by_documents(inputs: Inputs) -> Any:
    rows = ndcg.documents(**inputs, gain="exponential").to_pylist()
    return sorted(rows, key=lambda row: (str(row["query"]), str(row["document"])))


def by_preview(inputs: Inputs) -> Any:
    found = ndcg.preview(**inputs)
    documents = {row["document"]: (row["rank"], row["relevance"]) for row in found.documents}
    return found.queries, found.retrieved, found.judged, found.query, documents


def by_comparison(inputs: Inputs) -> Any:
    run = inputs.pop("predictions")
    found = ndcg.compare(systems={"a": run, "b": run}, **inputs, **QUERY_OPTIONS)
    return found.queries.to_pylist()


ENTRY_POINTS: dict[str, Callable[[Inputs], Any]] = {
    "compute": by_compute,
    "add_batch": by_batch,
    "report": by_report,
    "documents": by_documents,
    "preview": by_preview,
}


def assert_same(case: str, cases: Iterable[str], make: Callable[[], Inputs], expected: Any) -> None:
    """Inputs, made anew each time, give what others give: by `compute`, and by one more in turn.

    All entry points have the same readers, so that each gets a part of the cases.
    """
    names = list(ENTRY_POINTS)
    for name in ("compute", names[list(cases).index(case) % len(names)]):
        assert ENTRY_POINTS[name](make()) == ENTRY_POINTS[name](dict(expected)), name


# Numbers by position


def by_positions(rankings: Rankings) -> Inputs:
    """The mappings of rankings whose ids are the positions of queries and documents."""
    sides = []
    for rows in rankings:
        documents = []
        for row in rows:
            documents.append({at: value for at, value in enumerate(row) if value is not None})
        sides.append(dict(enumerate(documents)))
    return {"predictions": sides[0], "references": sides[1]}


def in_32_bits(rankings: Rankings) -> Rankings:
    """The rankings with scores that 32-bit floats hold."""
    scores: Rows = []
    for row in rankings.scores:
        scores.append([value if value is None else float(np.float32(value)) for value in row])
    return rankings._replace(scores=scores)


FULL = Rankings(filled(RAGGED.scores), filled(RAGGED.relevances))  # without missing values
NUMBERS = {
    **{name: (form, RAGGED) for name, form in RAGGED_FORMS.items()},
    **{name: (form, SQUARE) for name, form in SQUARE_FORMS.items()},
    **{f"{name}, ragged": (SQUARE_FORMS[name], in_32_bits(FULL)) for name in ROWS_FORMS},
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_by_position_score_as_the_mapping_of_their_positions(name: str) -> None:
    form, rankings = NUMBERS[name]
    held = in_32_bits(rankings) if name in IN_32_BITS else rankings
    scores, relevances = rankings

    def both() -> Inputs:
        return {"predictions": form(scores), "references": form(relevances)}

    assert_same(name, NUMBERS, both, by_positions(held))
    assert by_comparison(both()) == by_comparison(by_positions(held))
    if name == "masked NumPy, padded":  # whose rows are longer than lists
        return
    of_lists = by_compute(by_positions(rankings))
    assert by_compute({"predictions": scores, "references": form(relevances)}) == of_lists
    one_side = {"predictions": form(scores), "references": relevances, "score_dtype": "float32"}
    assert by_compute(one_side) == by_compute(by_positions(in_32_bits(rankings)))


@pytest.mark.parametrize("make", [list, np.array], ids=["lists", "arrays"])
def test_a_query_is_added_as_a_row(make: Callable[[Any], Any]) -> None:
    metric = ndcg.NDCG(keep_in_memory=True)
    for scores, relevances in zip(*SQUARE, strict=True):
        metric.add(prediction=make(scores), reference=make(relevances))
    assert in_hex(metric.compute(**OPTIONS)) == by_compute(by_positions(SQUARE))


# Flat columns, and tables of both sides: a row for each document


def flat_columns(rankings: Rankings, form: Callable[[Any], Any]) -> Inputs:
    table = rankings.table()
    columns = {name: table[column].to_pylist() for name, column in COLUMNS.items()}
    return {
        **columns,
        "predictions": form(columns["predictions"]),
        "references": form(columns["references"]),
    }


FLAT = {
    **{name: (form, RAGGED) for name, form in FLAT_FORMS.items()},
    **{name: (form, in_32_bits(FULL)) for name, form in FULL_FLAT_FORMS.items()},
}


@pytest.mark.parametrize("name", FLAT)
def test_flat_columns_score_as_the_mapping(name: str) -> None:
    form, rankings = FLAT[name]
    if "16" in name:
        rankings = SQUARE
    held = in_32_bits(rankings) if name in FLAT_IN_32_BITS else rankings
    assert_same(name, FLAT, lambda: flat_columns(rankings, form), by_names(held))
    without_documents = flat_columns(rankings, form)
    del without_documents["document_ids"]
    assert by_compute(without_documents) == by_compute(by_names(held))


def by_names(rankings: Rankings) -> Inputs:
    """The mappings of rankings."""
    return {"predictions": rankings.side("run"), "references": rankings.side("qrels")}


IDS = {
    **{f"integers: {name}": form for name, form in {**ANY_IDS, **INTEGER_IDS}.items()},
    **{f"text: {name}": form for name, form in {**ANY_IDS, **TEXT_IDS}.items()},
}
INTEGERS, TEXTS = [7, 3, 9, -2, 0, 5], ["query b", "a", "é", " ", "b", "A"]


@pytest.mark.parametrize("name", IDS)
def test_ids_of_rows_may_be_in_a_column_of_any_library(name: str) -> None:
    names: list[Any] = INTEGERS if name.startswith("integers") else TEXTS
    inputs = flat_columns(RAGGED, list)
    queries = {f"q{query}": names[query] for query in range(6)}
    documents = {f"d{document}": names[document] for document in range(5)}
    ids = [queries[query] for query in inputs["query_ids"]]
    document_ids = [documents[document] for document in inputs["document_ids"]]
    sides = {}
    for side, by_name in by_names(RAGGED).items():
        renamed = {}
        for query, row in by_name.items():
            renamed[queries[query]] = {
                documents[document]: value for document, value in row.items()
            }
        sides[side] = renamed
    inputs |= {"query_ids": IDS[name](ids), "document_ids": document_ids}
    if "DuckDB" not in name:  # two queries of a database come in no common order
        inputs["document_ids"] = IDS[name](document_ids)
    assert by_documents(inputs) == by_documents(sides)
    assert by_compute({**inputs, "ties": "docid"}) == by_compute({**sides, "ties": "docid"})


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_both_sides_scores_as_the_mapping(name: str, tmp_path: Path) -> None:
    def make() -> Inputs:
        return {"data": TABLES[name](RAGGED.table(), tmp_path), **COLUMNS}

    assert_same(name, TABLES, make, by_names(RAGGED))
    assert by_compute({**make(), **TIED_IN_32_BITS}) == by_compute(
        {**by_names(RAGGED), **TIED_IN_32_BITS}
    )


# Documents with ids

MAPPING = {
    True: by_query(lambda documents, _: documents),
    False: in_list(lambda documents, _: documents),
}
TIED_IN_32_BITS = {"score_dtype": "float32", "ties": "docid"}


def inputs_of(rankings: Rankings, run: Source, qrels: Source, folder: Path) -> Inputs:
    """The arguments for both sides in a form each, with the names of their fields."""
    inputs: Inputs = {
        "predictions": run.write(rankings.side("run"), "run", folder),
        "references": qrels.write(rankings.side("qrels"), "qrels", folder),
    }
    if qrels.has_queries and not run.has_queries:
        inputs["query_ids"] = list(rankings.side("run"))
    fields = fields_of_both(run, qrels)
    if fields:
        inputs["fields"] = fields
    return inputs


def fields_of_both(run: Source, qrels: Source) -> dict[str, Any]:
    """The names in the run and in the qrels; a pair if both sides need one."""
    first, second = run.fields("run"), qrels.fields("qrels")
    both = {**first, **second}
    for role in first.keys() & second.keys():
        if first[role] != second[role]:
            both[role] = (first[role], second[role])
    return both


def held_by(rankings: Rankings, run: Source, qrels: Source) -> Inputs:
    """The mappings of what both sources hold; queries without ids are counted."""
    sides: dict[str, Side] = {
        "predictions": run.held(rankings.side("run"), "run"),
        "references": qrels.held(rankings.side("qrels"), "qrels"),
    }
    if run.has_queries or qrels.has_queries:
        return dict(sides)
    are_files = run in IN_FILES.values() and qrels in IN_FILES.values()
    for argument, side in sides.items():
        numbers = map(str, range(len(side))) if are_files else range(len(side))
        sides[argument] = dict(zip(numbers, side.values(), strict=True))
    return dict(sides)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_scores_as_the_mapping(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    mapping = MAPPING[source.has_queries]
    run = source if "run" in source.kinds else mapping
    expected = held_by(RAGGED, run, source)
    assert_same(name, SOURCES, lambda: inputs_of(RAGGED, run, source, tmp_path), expected)
    for sides in ((run, mapping), (mapping, source)):
        expected = held_by(RAGGED, *sides)
        assert by_compute(inputs_of(RAGGED, *sides, tmp_path)) == by_compute(dict(expected))
        tied = inputs_of(RAGGED, *sides, tmp_path) | TIED_IN_32_BITS
        assert by_compute(tied) == by_compute(expected | TIED_IN_32_BITS)
    if "run" in source.kinds and not source.has_queries:
        named = inputs_of(RAGGED, source, MAPPING[True], tmp_path)  # with query_ids
        assert by_report(named) == by_report(held_by(RAGGED, source, MAPPING[True]))


# Random rankings in random pairs of sources


scores = st.none() | st.integers(-2, 5).map(lambda value: value / 2)
relevances = st.none() | st.integers(0, 3)
documents = st.tuples(scores, relevances).filter(lambda values: values != (None, None))
queries = st.lists(documents, min_size=1, max_size=5).filter(
    lambda row: any(relevance is not None for _, relevance in row)
)


@st.composite
def random_rankings(draw: st.DrawFn) -> Rankings:
    """Rankings in which each query is judged, and some document is retrieved."""
    rows = [[(1.0, 1), *draw(queries)], *draw(st.lists(queries, max_size=4))]
    sides = []
    for side in range(2):
        sides.append([[values[side] for values in row] for row in rows])
    return Rankings(*sides)


# A list of mappings with the same keys is asked about.
OF_ANY_RANKINGS = [name for name in SOURCES if name != "mappings in a list"]


@settings(max_examples=150)
@given(random_rankings(), st.sampled_from(OF_ANY_RANKINGS), st.sampled_from(OF_ANY_RANKINGS))
def test_random_rankings_score_alike_in_any_two_sources(
    tmp_path_factory: pytest.TempPathFactory, rankings: Rankings, run_name: str, qrels_name: str
) -> None:
    run, qrels = SOURCES[run_name], SOURCES[qrels_name]
    if "run" not in run.kinds:
        run = MAPPING[run.has_queries]
    # One name, or None, of the query is that of both sides.
    if run.has_queries != qrels.has_queries:
        run = in_list(lambda documents, _: list(documents.items()))
    folder = tmp_path_factory.mktemp("sides")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing in common, queries missing
        expected = by_compute(held_by(rankings, run, qrels))
        assert by_compute(inputs_of(rankings, run, qrels, folder)) == expected


# Entry points of some sources

SLOW_ENTRY = (
    "a table: Polars, lazy",
    "records: dicts",
    "hits by query",
    "objects: names of its own",
)


@pytest.mark.parametrize("name", SLOW_ENTRY)
def test_a_source_is_explained_as_the_mapping(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    found = ndcg.explain(**inputs_of(SQUARE, source, source, tmp_path), got=0.5)
    assert found.scores == ndcg.explain(**by_names(SQUARE), got=0.5).scores


NAMED_FILES = [name for name, source in IN_FILES.items() if source.has_queries]


@pytest.mark.parametrize("name", NAMED_FILES)
def test_a_file_is_read_as_the_mapping(name: str, tmp_path: Path) -> None:
    source = IN_FILES[name]
    readers = {"run": ndcg.read_run, "qrels": ndcg.read_qrels}
    for kind, read in readers.items():
        side = RAGGED.side(kind)
        found = read(source.write(side, kind, tmp_path), fields=source.fields(kind))
        held = source.held(side, kind)
        assert {query: found.get(query, {}) for query in held} == held


@pytest.mark.parametrize("name", ["TREC: file.txt and file.txt", "JSON: names of its own"])
def test_the_shell_scores_files_as_the_mapping(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = IN_FILES[name]
    paths = [source.write(RAGGED.side(kind), kind, tmp_path) for kind in ("qrels", "run")]
    flags = []
    for role, name_or_pair in fields_of_both(source, source).items():
        is_pair = isinstance(name_or_pair, tuple)
        flags += [f"--{role}", ",".join(name_or_pair) if is_pair else name_or_pair]
    assert main(["score", *map(str, paths), "-m", "nDCG", "-k", "3", *flags, "-o", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = ndcg.compute(**by_names(RAGGED), k=3)
    assert shown["scores"]["nDCG@3"]["value"] == expected["nDCG@3"]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.parametrize("how", [{}, {"ties": "docid"}, TIED_IN_32_BITS], ids=str)
def test_tables_of_spark_score_as_the_mapping(how: dict[str, Any]) -> None:
    expected = by_compute({**by_names(RAGGED), **how})
    table = RAGGED.table()
    frame = spark_session().createDataFrame(table)
    renamed = frame.withColumnsRenamed({"user": "query_id", "item": "document_id"})
    run = renamed.drop("label").dropna()
    qrels = renamed.drop("score").dropna()
    for inputs in ({"data": frame, **COLUMNS}, {"predictions": run, "references": qrels}):
        found = ndcg.compute(**{**OPTIONS, **inputs, **how}).toArrow()
        rows = found.sort_by("query").drop_columns("query").to_pydict()
        assert in_hex(rows) == expected
