"""Score random rankings by each library and by its convention, into benchmarks/AGREEMENT.md.

How the libraries are called is in tests/conformance/libraries.py, so that the tests call them
alike.
"""

import warnings
from importlib.metadata import version
from pathlib import Path

from conftest import METRIC
from libraries import CASES, LIBRARIES, SATURATED, numbers


def agreement(count: int, saturated: int) -> str:
    """Return a table: each library, its version, how much was scored, and the greatest differences.

    Args:
        count: the number of rankings of each library.
        saturated: the number of rankings with saturated sigmoids as scores.
    """
    rows, cases, queries = [], 0, 0
    for name, library in LIBRARIES.items():
        scored = list(numbers(METRIC, name, count))
        differences = [max(abs(theirs - ours) for _, theirs, ours in scored)]
        rankings = list(numbers(METRIC, name, saturated, of_sigmoids=True))
        differences.append(max(abs(theirs - ours) for _, theirs, ours in rankings))
        as_given = [
            ranking.ours(METRIC, convention=name, score_dtype="given") for ranking, _, _ in rankings
        ]
        differences.append(
            max(abs(ranking[1] - ours) for ranking, ours in zip(rankings, as_given, strict=True))
        )
        asked = sum(rankings.queries for rankings, _, _ in scored)
        worst = " | ".join(f"{difference:.0e}" for difference in differences)
        rows.append(
            f'| `"{name}"` | {library.package} {version(library.package)} | {count} | {asked:,} | '
            f"{worst} |"
        )
        cases, queries = cases + count, queries + asked
    return "\n".join(
        [
            "| `convention=` | library, version | cases | queries | greatest difference | on "
            "sigmoids | there, with "
            '`score_dtype="given"` |',
            "|---|---|---:|---:|---:|---:|---:|",
            *rows,
            f"| all | | {cases:,} | {queries:,} | | | |",
        ]
    )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries
        table = agreement(CASES, SATURATED)
    text = f"""# Agreement

`make agreement` runs each library, as its users would, on random rankings, and asks for the same
by the convention of its name. A case is a mean nDCG over up to eight queries: with ties if the
library has a fixed order for them, with nothing relevant, with nothing retrieved, missing from the
run, with relevant documents that were not retrieved, of fewer documents than the cutoff. The tests
check the same cases. Then the same on {SATURATED} rankings with sigmoids close to 1 as scores: by
the convention, and by it with scores compared as they are given. The two differ if the library
compares 32-bit floats.

{table}

A difference of 10⁻¹⁶ is the last digit of a 64-bit number. TorchMetrics, Ignite, Rax and allRank
compute in 32 bits; BEIR, MTEB and gdeval round to five digits. TensorFlow Ranking and Elasticsearch
cannot be installed next to the others: the values that their own tests expect are in
tests/conformance/test_expected_values.py.
"""
    Path(__file__).with_name("AGREEMENT.md").write_text(text, encoding="utf-8")
    print(text)
