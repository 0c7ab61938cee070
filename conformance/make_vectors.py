"""Write vectors.json: every case with the values of the slow reference, in any Python from 3.11 on.

python make_vectors.py                     under the presets that vectors.json holds python
make_vectors.py CONVENTIONS.py      under the conventions of a Python file that defines CONVENTIONS,
as nDCG does
"""

import json
import math
import runpy
import sys
from pathlib import Path
from typing import Any

from cases import FAMILIES, Case, all_cases
from reference import RefusedError, score

HERE = Path(__file__).resolve().parent
VERSION = "2.1.0"

ABOUT = (
    "510 small cases and the value of CG, DCG, IDCG and nDCG that each should have, under the "
    "conventions of many libraries and under plain options. README.md says how to use them."
)
TOLERANCE = 1e-9

# The top of the file, for readers who know nothing else of the project.
FORMAT = {
    "run": "The retrieved documents of each query with their scores; the highest ranks first.",
    "qrels": (
        "The judged documents of each query with their relevance. A document of one side only "
        "was not retrieved, or not judged; a query of the run only is not scored."
    ),
    "order": "Of each query of the run its documents in the order in which they are listed, for "
    "languages whose objects keep none. Only ties ask for it.",
    "k": "How many ranks count; null for all.",
    "expected": (
        "Under each of the settings named in `under` the values of every query, and the mean "
        "nDCG over the queries that have one. A query that is null is left out of all; an nDCG "
        "that is null is left out of the mean; a mean over no query is null. `refused` says "
        "why there is no value at all: an error is expected."
    ),
    "numbers": (
        "Each value is the 64-bit float nearest to the exact one. Scores are 64-bit floats, "
        "which are compared in the type that `score_dtype` names."
    ),
}
OPTIONS: dict[str, dict[str, str]] = {
    "gain": {
        "": (
            "The gain of a document of relevance r, before the discount. One that was not "
            "judged has gain 0."
        ),
        "linear": "r",
        "exponential": "2^r - 1",
        "binary": "1 if r > 0, else 0",
    },
    "discount": {
        "": "The factor of the gain at rank i = 1, 2, 3, …; b is log_base.",
        "log": "1 / log_b(i + 1)",
        "reciprocal": "1 / i",
        "jarvelin": "1 / max(1, log_b(i))",
    },
    "log_base": {"": "The base of the logarithm of the discount, a number."},
    "ideal": {
        "": (
            "Which documents the ideal ranking has, in descending order of gain; it is cut at "
            "k like the ranking."
        ),
        "judged": "all judged documents of the query, retrieved or not",
        "truncated": "the best of these, no more than were retrieved",
        "retrieved": "the judged documents that were retrieved",
        "full": (
            "k documents of the highest gain that any judged document has, whether or not "
            "there are as many; refused without a cutoff"
        ),
    },
    "score_dtype": {
        "": "The type in which scores are compared.",
        "given": "64-bit floats, as they are given",
        "float32": "each is first rounded to the nearest 32-bit float, so that close ones are tied",
    },
    "ties": {
        "": "How documents of equal score are ordered.",
        "average": "in every order: each counts with the mean gain of them all",
        "first": "as listed: the first in the run ranks first",
        "last": "the last in the run ranks first",
        "best": "by descending gain",
        "worst": "by ascending gain",
        "docid": "by descending id, compared as text by code points: 9 ranks above 10",
    },
    "nothing_relevant": {
        "": "The nDCG of a query with an IDCG that is not above 0.",
        "0": "0",
        "1": "1",
        "left out": "none, which leaves it out of the mean",
        "1 if nothing was retrieved, else 0": (
            "1 if nothing was retrieved and no judged document has a gain above 0, else 0"
        ),
    },
    "negative": {
        "": "How a relevance below 0 is treated.",
        "raise": "the case is refused",
        "clip": "it counts as 0",
        "keep": "it has the gain that the formula gives, which is below 0",
    },
    "missing": {
        "": "How a judged query that is missing from the run is treated.",
        "empty": "it counts as one for which nothing was retrieved",
        "skip": "it is left out of all, as is one with nothing judged and nothing retrieved",
    },
}

PLAIN = {
    "gain": "linear",
    "discount": "log",
    "log_base": 2,
    "ideal": "judged",
    "score_dtype": "given",
    "ties": "average",
    "nothing_relevant": 0,
    "negative": "raise",
    "missing": "empty",
}
# The families in which a change of the plain options decides, and is tried.
GAINS = ["gains", "large grades", "mixed"]
DISCOUNTS = ["discounts", "order", "mixed"]
TIES = ["ties", "cutoff in a tie", "ids", "mixed"]
IDEALS = ["ideal", "unretrieved", "mixed"]
CLOSE = ["close scores", "sigmoids"]
CHANGES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, list(FAMILIES)),
    ({"gain": "exponential"}, GAINS),
    ({"gain": "binary"}, GAINS),
    ({"discount": "reciprocal"}, DISCOUNTS),
    ({"discount": "jarvelin"}, DISCOUNTS),
    ({"log_base": 10}, DISCOUNTS),
    ({"discount": "jarvelin", "log_base": 3}, DISCOUNTS),
    ({"gain": "exponential", "discount": "reciprocal"}, DISCOUNTS),
    ({"ideal": "truncated"}, IDEALS),
    ({"ideal": "retrieved"}, IDEALS),
    ({"ideal": "full"}, IDEALS),
    ({"ties": "first"}, TIES),
    ({"ties": "last"}, TIES),
    ({"ties": "best"}, TIES),
    ({"ties": "worst"}, TIES),
    ({"ties": "docid"}, TIES),
    ({"score_dtype": "float32"}, CLOSE),
    ({"score_dtype": "float32", "ties": "first"}, CLOSE),
    ({"nothing_relevant": 1}, ["empty"]),
    ({"nothing_relevant": "left out"}, ["empty"]),
    ({"nothing_relevant": "1 if nothing was retrieved, else 0"}, ["empty"]),
    ({"missing": "skip"}, ["missing", "empty"]),
    ({"negative": "clip"}, ["negative"]),
    ({"negative": "keep"}, ["negative"]),
    ({"negative": "keep", "gain": "exponential"}, ["negative"]),
]


def presets_kept() -> dict[str, dict[str, Any]]:
    """Return the presets that vectors.json holds, by name."""
    kept = json.loads((HERE / "vectors.json").read_text(encoding="utf-8"))["settings"]
    return {name: each for name, each in kept.items() if "library" in each}


def presets_from(path: str) -> dict[str, dict[str, Any]]:
    """Return the presets of a Python file, by name."""
    made: dict[str, dict[str, Any]] = {}
    for name, preset in runpy.run_path(path)["CONVENTIONS"].items():
        chosen = preset.options
        empty = chosen.pop("zero_division")
        if empty == "perfect_if_empty":
            empty = "1 if nothing was retrieved, else 0"
        elif math.isnan(empty):
            empty = "left out"
        else:
            empty = int(empty)
        options = {
            **PLAIN,
            **chosen,
            "nothing_relevant": empty,
            "negative": chosen["negative_relevance"],
        }
        made[name] = {"library": preset.library, "options": {name: options[name] for name in PLAIN}}
    return made


def explained(said: dict[str, str]) -> dict[str, Any]:
    """Return the meaning of an option, and of each of its values if it has a list of them."""
    values = {value: meaning for value, meaning in said.items() if value}
    return {"meaning": said[""], **({"values": values} if values else {})}


def plain_name(change: dict[str, Any]) -> str:
    """Return the name of the plain options with some changes."""
    return ", ".join(["plain", *(f"{option} {value}" for option, value in change.items())])


def entry(case: Case, settings: dict[str, dict[str, Any]]) -> str:
    """Return a case as JSON: a line for the input and for each value that settings share."""
    under = [name for name, each in settings.items() if "library" in each]
    under += [plain_name(change) for change, families in CHANGES if case.family in families]
    shared: dict[str, list[str]] = {}
    for name in under:
        try:
            values = score(case.run, case.qrels, case.k, settings[name]["options"])
        except RefusedError as error:
            values = {"refused": str(error)}
        shared.setdefault(compact(values), []).append(name)
    given = compact(
        {
            "family": case.family,
            "name": case.name,
            "k": case.k,
            "run": case.run,
            "qrels": case.qrels,
            "order": {query: list(documents) for query, documents in case.run.items()},
        }
    )
    lines = [compact({"under": names})[:-1] + "," + values[1:] for values, names in shared.items()]
    return given[:-1] + ',"expected":[\n' + ",\n".join(lines) + "\n]}"


def compact(value: Any) -> str:
    """Return the JSON of a value without spaces, its keys as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def vectors(presets: dict[str, dict[str, Any]]) -> str:
    """Return the text of vectors.json: presets as settings, then plain options in words."""
    known = presets | {
        plain_name(change): {"options": {**PLAIN, **change}} for change, _ in CHANGES
    }
    head = {
        "about": ABOUT,
        "version": VERSION,
        "licence": "MIT",
        "tolerance": TOLERANCE,
        "format": FORMAT,
        "options": {option: explained(said) for option, said in OPTIONS.items()},
        "families": FAMILIES,
    }
    sections = [json.dumps(head, ensure_ascii=False, indent=1)[:-2]]
    sections.append(
        ' "settings": {\n'
        + ",\n".join(f'  "{name}": {compact(each)}' for name, each in known.items())
        + "\n }"
    )
    cases = ",\n".join(entry(case, known) for case in all_cases())
    return ",\n".join([*sections, f' "cases": [\n{cases}\n ]\n']) + "}\n"


if __name__ == "__main__":
    presets = presets_from(sys.argv[1]) if sys.argv[1:] else presets_kept()
    (HERE / "vectors.json").write_text(vectors(presets), encoding="utf-8", newline="\n")
