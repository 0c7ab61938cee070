"""The rankings of the kit: 510 named cases in families, the same on every machine."""

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

COUNT = 510
Scores = Sequence[float | None]

FAMILIES = {
    "order": "All documents judged and retrieved, no ties: the measure itself, at all ranks.",
    "cutoff": "The same with a cutoff within, at and beyond the end of the ranking.",
    "ties": "Documents of equal score, all of which count.",
    "cutoff in a tie": "Documents of equal score of which the cutoff counts some.",
    "ids": (
        "Ties among documents with ids that sort differently as text than as numbers, by "
        "position or in UTF-16; documents with the id of their query, which count as any other."
    ),
    "close scores": (
        "Scores that differ in the last digits of 64-bit floats, are negative, tiny, huge, or "
        "zeros of both signs. In 32 bits some of them are tied."
    ),
    "sigmoids": (
        "Scores that are sigmoids close to 1, as rerankers give. In 32 bits many of them are tied."
    ),
    "unretrieved": (
        "Judged documents that are missing from the run: they take no rank, but belong to the "
        "ideal."
    ),
    "unjudged": "Retrieved documents that nobody judged: they take a rank, with gain 0.",
    "empty": "Queries with nothing relevant, nothing judged or nothing retrieved.",
    "missing": (
        "Judged queries that are missing from the run, and queries of the run that are not judged."
    ),
    "negative": "Relevances below 0.",
    "gains": "Graded relevance under each gain, fractions among it.",
    "large grades": "Relevances up to 100, with huge exponential gains.",
    "discounts": "Longer rankings under each discount and several bases.",
    "ideal": "Answers shorter than the cutoff or than what is relevant, under each ideal.",
    "one document": "Queries of a single document.",
    "lengths": (
        "Several queries of different lengths, which arrays must pad: the mean is over "
        "queries, not documents."
    ),
    "mixed": "Everything at once, at random.",
}


class Case(NamedTuple):
    """A run and its queries' judgments, by ids, and how many ranks count; None for all of them."""

    family: str
    name: str
    run: dict[str, dict[str, float]]
    qrels: dict[str, dict[str, float]]
    k: int | None


class Draw:
    """A linear congruential generator (Knuth's MMIX): draws depend on no library's version."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, end: int) -> int:
        """Draw a number from 0 to ``end`` - 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end

    def several(self, length: int, end: int) -> list[int]:
        """Draw several of them."""
        return [self.below(end) for _ in range(length)]

    def shuffled(self, values: Sequence[Any]) -> list[Any]:
        """Return the values in a random order."""
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in values]


def all_cases() -> list[Case]:
    """Return all cases, of each family after the other, filled with mixed ones to the count."""
    made = [case for family in CASES_OF.values() for case in family()]
    made += itertools.islice(_mixed(), COUNT - len(made))
    assert len(made) == len({case.name for case in made}) == COUNT  # noqa: S101
    return made


def _one(family: str, name: str, scores: Scores, relevance: Scores, k: int | None = None) -> Case:
    """Return a case of one query, q1, and documents d1, d2, …; None: unretrieved or unjudged."""
    run, qrels = _query(scores, relevance)
    at = "" if k is None else f", k={k}"
    return Case(family, f"{family}: {name}{at}", {"q1": run}, {"q1": qrels}, k)


def _query(scores: Scores, relevance: Scores) -> tuple[dict[str, float], dict[str, float]]:
    """Name documents by their position; leave out those that are None."""
    run = {f"d{at}": score for at, score in enumerate(scores, 1) if score is not None}
    return run, {f"d{at}": grade for at, grade in enumerate(relevance, 1) if grade is not None}


def _falling(length: int) -> list[int]:
    return list(range(length, 0, -1))


def _one_relevant(rank: int, length: int) -> list[int]:
    return [int(at == rank) for at in range(1, length + 1)]


def _text(values: Sequence[Any]) -> str:
    return " ".join("-" if value is None else str(value) for value in values)


def _order() -> Iterator[Case]:
    for grades in itertools.permutations((3, 2, 1, 0)):
        yield _one("order", f"relevance {_text(grades)} by rank", _falling(4), grades)
    for length in (5, 6, 8, 10, 12):
        drawn = Draw(length).several(length, 4)
        yield _one(
            "order",
            f"relevance {_text(drawn)} listed, the last one scored best",
            range(1, length + 1),
            drawn,
        )
    yield _one(
        "order", "the textbook's relevance 3 2 3 0 1 2 by rank", _falling(6), [3, 2, 3, 0, 1, 2]
    )
    yield _one(
        "order",
        "of 120 documents one relevant, at rank 110",
        _falling(120),
        _one_relevant(110, 120),
    )


def _cutoff() -> Iterator[Case]:
    for k in (1, 2, 3, 4, 5, 6, 7, 100):
        yield _one(
            "cutoff",
            "the textbook's relevance 3 2 3 0 1 2 by rank",
            _falling(6),
            [3, 2, 3, 0, 1, 2],
            k,
        )
        yield _one("cutoff", "relevance 0 0 1 0 2 1 by rank", _falling(6), [0, 0, 1, 0, 2, 1], k)
    for k in (1, 5, 9, 10, 11, 12):
        yield _one("cutoff", "12 documents, the last one relevant", _falling(12), [0] * 11 + [1], k)
    for k in (100, 110):
        yield _one(
            "cutoff",
            "of 120 documents one relevant, at rank 110",
            _falling(120),
            _one_relevant(110, 120),
            k,
        )


def _ties() -> Iterator[Case]:
    for length in (2, 3, 4, 5):
        for relevant in range(length):
            one = [int(at == relevant) for at in range(length)]
            yield _one(
                "ties", f"{length} tied, relevance {_text(one)} as listed", [1] * length, one
            )
    for grades in (
        (3, 2, 1, 0),
        (0, 1, 2, 3),
        (1, 3, 0, 2),
        (2, 2, 0, 0),
        (0, 3, 0, 1, 2),
        (0, 0, 1, 0, 3, 2, 0),
    ):
        yield _one(
            "ties", f"all tied, relevance {_text(grades)} as listed", [0.5] * len(grades), grades
        )
    for number in range(24):
        draw = Draw(1000 + number)
        length = 3 + draw.below(10)
        scores, drawn = [each / 4 for each in draw.several(length, 4)], draw.several(length, 4)
        yield _one("ties", f"scores {_text(scores)}, relevance {_text(drawn)}", scores, drawn)
    yield _one("ties", "20 tied, relevance 1 to 20 as listed", [1] * 20, range(1, 21))
    yield _one("ties", "20 documents in 4 ties, relevance 0 to 3", *_four_ties())


def _four_ties() -> tuple[list[int], list[int]]:
    """Return 20 scores and relevances: too many for a sort by insertion, which is stable."""
    draw = Draw(10000)
    return draw.shuffled([1, 2, 3, 4] * 5), draw.shuffled([0, 1, 2, 3] * 5)


def _cutoff_in_a_tie() -> Iterator[Case]:
    for above, tied in itertools.product((0, 1, 2), (2, 3, 4)):
        scores = [*range(9, 9 - above, -1), *[1] * tied, 0]
        for k in range(above + 1, above + tied):
            for relevant in sorted({above, above + tied - 1}):
                grades = [int(at == relevant) for at in range(len(scores))]
                name = f"{tied} tied below {above}, relevance {_text(grades)}"
                yield _one("cutoff in a tie", name, scores, grades, k)
    for number in range(8):
        draw = Draw(2000 + number)
        length = 4 + draw.below(9)
        scores, grades = [each / 2 for each in draw.several(length, 3)], draw.several(length, 4)
        name = f"scores {_text(scores)}, relevance {_text(grades)}"
        yield _one("cutoff in a tie", name, scores, grades, 1 + draw.below(length - 1))
    yield _one("cutoff in a tie", "20 documents in 4 ties, relevance 0 to 3", *_four_ties(), 7)


def _ids() -> Iterator[Case]:
    named = [
        ("9 and 10", ["9", "10"]),
        ("10 and 9", ["10", "9"]),
        ("a and B", ["a", "B"]),
        ("z and é", ["z", "é"]),
        ("d, d1 and d10", ["d", "d1", "d10"]),
        ("d2, d10 and d1", ["d2", "d10", "d1"]),
        ("2, 10, 9 and 1", ["2", "10", "9", "1"]),
        ("x_1, x-1 and x.1", ["x_1", "x-1", "x.1"]),
        (
            "\N{LATIN SMALL LIGATURE FI} and \N{GRINNING FACE}",
            ["\N{LATIN SMALL LIGATURE FI}", "\N{GRINNING FACE}"],
        ),
    ]
    for name, ids in named:
        for k in (1, None):
            at = "" if k is None else f", k={k}"
            qrels: dict[str, dict[str, float]] = {"q1": {id_: int(id_ == ids[0]) for id_ in ids}}
            run = {"q1": dict.fromkeys(ids, 1.0)}
            yield Case("ids", f"ids: {name} tied, the first one relevant{at}", run, qrels, k)
    for own, said in ((1, "relevant"), (None, "not judged")):
        run = {"q1": {"q1": 3, "d1": 2, "d2": 1}}
        judged: dict[str, float] = {"d1": 0, "d2": 2}
        if own is not None:
            judged = {"q1": own, **judged}
        name = f"ids: a document has the id of its query, {said}"
        yield Case("ids", name, run, {"q1": judged}, 2)


def _close_scores() -> Iterator[Case]:
    pairs = [
        ("1 + 2^-52 and 1", 1 + 2**-52, 1),
        ("1 + 1e-9 and 1", 1 + 1e-9, 1),
        ("1 + 1e-6 and 1", 1 + 1e-6, 1),
        ("16777217 and 16777216", 16777217, 16777216),
        ("0.1 + 0.2 and 0.3", 0.1 + 0.2, 0.3),
        ("-1 and -1 - 1e-12", -1, -1 - 1e-12),
        ("1e-300 and 0", 1e-300, 0),
        ("5e-324 and 0", 5e-324, 0),
        ("1e38 and 1e37", 1e38, 1e37),
        ("0 and -1e-50", 0, -1e-50),
    ]
    for name, above, below in pairs:
        yield _one(
            "close scores",
            f"{name}, the relevant one is above and listed first",
            [above, below],
            [1, 0],
        )
        yield _one(
            "close scores",
            f"{name}, the relevant one is above and listed last",
            [below, above],
            [0, 1],
        )
    for first in (0, 1):
        name = f"0 and -0 are equal, the {('first', 'second')[first]} is relevant"
        yield _one("close scores", name, [0.0, -0.0], [int(first == 0), int(first == 1)])
    yield _one("close scores", "all negative", [-3, -1, -2], [1, 0, 2])
    yield _one("close scores", "both signs", [-0.5, 0, 0.5, -1], [3, 0, 1, 2])
    yield _one("close scores", "both signs", [-0.5, 0, 0.5, -1], [3, 0, 1, 2], 2)


def _sigmoid(quarters: int) -> float:
    """Return the sigmoid of a logit in quarters, the same to the last digit on every machine."""
    return float(1 / (1 + (Decimal(-quarters) / 4).exp()))


def _sigmoids() -> Iterator[Case]:
    two = [_sigmoid(72), _sigmoid(70)]
    yield _one("sigmoids", "logits 18.0 17.5, relevance 0 1", two, [0, 1])
    for number in range(15):
        draw = Draw(11000 + number)
        length = 4 + draw.below(9)
        logits = draw.shuffled(range(56, 80))[:length]
        grades = draw.several(length, 4)
        text = _text([quarters / 4 for quarters in logits])
        k = (None, 3, 5, 10)[number % 4]
        yield _one(
            "sigmoids",
            f"logits {text}, relevance {_text(grades)}",
            list(map(_sigmoid, logits)),
            grades,
            k,
        )


def _unretrieved() -> Iterator[Case]:
    for retrieved, lacking in itertools.product(
        ((1, 0), (0, 1), (0, 0, 2), (3, 1, 0, 1)), ((1,), (3, 2), (0, 1, 2))
    ):
        for k in (None, 2):
            ranked = [*_falling(len(retrieved)), *[None] * len(lacking)]
            name = f"relevance {_text(retrieved)} by rank, of those lacking {_text(lacking)}"
            yield _one("unretrieved", name, ranked, retrieved + lacking, k)
    for number in range(8):
        draw = Draw(3000 + number)
        length = 4 + draw.below(9)
        scores: list[float | None] = [
            each / 4 if draw.below(3) else None for each in draw.several(length, 12)
        ]
        scores[draw.below(length)] = 1.5
        grades = draw.several(length, 4)
        yield _one(
            "unretrieved", f"scores {_text(scores)}, relevance {_text(grades)}", scores, grades
        )


def _unjudged() -> Iterator[Case]:
    for grades in (
        (None, 1),
        (1, None),
        (None, None, 2, 1),
        (0, None, 3),
        (2, None, None, 3, 0),
        (None, 1, None, 1),
    ):
        for k in (None, 1, 3):
            yield _one(
                "unjudged", f"relevance {_text(grades)} by rank", _falling(len(grades)), grades, k
            )
    for grades in ((None, 1), (1, None), (0, None, 1), (None, 2, None, 1)):
        yield _one(
            "unjudged", f"all tied, relevance {_text(grades)} as listed", [1] * len(grades), grades
        )
    for number in range(8):
        draw = Draw(4000 + number)
        length = 3 + draw.below(10)
        judged: list[int | None] = [
            each if draw.below(3) else None for each in draw.several(length, 4)
        ]
        judged[draw.below(length)] = 1
        scores = [each / 4 for each in draw.several(length, 24)]
        yield _one(
            "unjudged",
            f"scores {_text(scores)}, relevance {_text(judged)}",
            scores,
            judged,
            1 + draw.below(10),
        )


def _empty() -> Iterator[Case]:
    perfect, poor = _query([2, 1], [1, 0]), _query([2, 1], [0, 1])
    odd = {
        "nothing relevant": _query([3, 2, 1], [0, 0, 0]),
        "nothing relevant, all tied": _query([1, 1, 1], [0, 0, 0]),
        "nothing relevant, one not retrieved": _query([2, 1, None], [0, 0, 0]),
        "nothing relevant, one not judged": _query([3, 2, 1], [0, None, 0]),
        "only unretrieved documents relevant": _query([2, 1, None], [0, 0, 2]),
        "nothing retrieved, something relevant": _query([None, None], [1, 0]),
        "nothing retrieved, nothing relevant": _query([None, None], [0, 0]),
        "nothing judged": _query([2, 1], [None, None]),
        "nothing judged, nothing retrieved": ({}, {}),
    }
    for name, (run, qrels) in odd.items():
        for k in (None, 1):
            at = "" if k is None else f", k={k}"
            yield Case("empty", f"empty: {name}{at}", {"q1": run}, {"q1": qrels}, k)
        two = {"q1": perfect[0], "q2": run}, {"q1": perfect[1], "q2": qrels}
        yield Case("empty", f"empty: {name}, beside a perfect query", *two, None)
        three = (
            {"q1": run, "q2": poor[0], "q3": perfect[0]},
            {"q1": qrels, "q2": poor[1], "q3": perfect[1]},
        )
        yield Case("empty", f"empty: {name}, beside two queries", *three, 10)


def _missing() -> Iterator[Case]:
    for number, (k, lacks) in enumerate(
        itertools.product((None, 1, 3, 5), ("the first", "the last", "all but one", "none"))
    ):
        draw = Draw(5000 + number)
        for extra in (False, True):
            run, qrels = {}, {}
            queries = [f"q{at}" for at in range(1, 5)]
            for query in queries:
                length = 2 + draw.below(4)
                grades = [*draw.several(length - 1, 3), 1]
                run[query], qrels[query] = _query(
                    [each / 4 for each in draw.several(length, 9)], grades
                )
            lacking = {
                "the first": queries[:1],
                "the last": queries[3:],
                "all but one": queries[1:],
                "none": [],
            }[lacks]
            run = {query: documents for query, documents in run.items() if query not in lacking}
            if extra:
                run["q0"] = {"d1": 1, "d2": 0.5}
            if lacking or extra:
                unjudged = ", and a query that is not judged" if extra else ""
                whole = "" if k is None else f", k={k}"
                who = {"none": "no query is missing"}.get(
                    lacks, f"the run lacks {lacks} of four queries"
                )
                yield Case("missing", f"missing: {who}{unjudged}{whole}", run, qrels, k)


def _negative() -> Iterator[Case]:
    for grades in itertools.permutations((2, 1, -1)):
        for k in (None, 2):
            yield _one("negative", f"relevance {_text(grades)} by rank", _falling(3), grades, k)
    for grades in ((-1,), (-2, -1), (0, -1), (1, -1), (-1, 1), (-1, 0, 3), (1, -3), (1, 0, -3)):
        yield _one("negative", f"relevance {_text(grades)} by rank", _falling(len(grades)), grades)
    yield _one("negative", "the negative one is not retrieved", [2, 1, None], [0, 1, -1])
    yield _one("negative", "one is not judged", [3, 2, 1], [-1, None, 1])
    yield _one("negative", "relevance -1 2 tied", [1, 1], [-1, 2])
    yield _one("negative", "relevance 2 -1 0 tied", [1, 1, 1], [2, -1, 0], 2)
    for number in range(8):
        draw = Draw(6000 + number)
        length = 4 + draw.below(7)
        drawn = [3, -1, *[each - 2 for each in draw.several(length - 2, 6)]]
        scores = [each / 4 for each in draw.several(length, 16)]
        yield _one(
            "negative", f"scores {_text(scores)}, relevance {_text(drawn)}", scores, drawn, 5
        )


def _gains() -> Iterator[Case]:
    for grades in (
        (1, 2),
        (1, 3),
        (2, 3, 4),
        (4, 3, 2, 1),
        (1, 1, 4),
        (0, 4, 0, 1),
        (1, 0, 2, 0, 3),
    ):
        for k in (None, 2):
            yield _one(
                "gains", f"relevance {_text(grades)} by rank", _falling(len(grades)), grades, k
            )
    for fractions in (
        (0.5, 1),
        (0.25, 0.5, 1),
        (1.5, 2.5),
        (0.1, 0.2, 0.3),
        (2, 0.75, 0),
        (0.001, 1),
    ):
        yield _one(
            "gains", f"relevance {_text(fractions)} by rank", _falling(len(fractions)), fractions
        )
    yield _one("gains", "relevance 0.5 1.5 tied", [1, 1], [0.5, 1.5])


def _large_grades() -> Iterator[Case]:
    for grades in (
        (5, 10),
        (10, 5, 0),
        (1, 20),
        (0, 29, 30),
        (30, 30, 1),
        (8, 31),
        (31, 60),
        (60, 59, 1),
        (1, 100),
    ):
        for k in (None, 1):
            yield _one(
                "large grades",
                f"relevance {_text(grades)} by rank",
                _falling(len(grades)),
                grades,
                k,
            )


def _discounts() -> Iterator[Case]:
    for length, rank in (
        (12, 1),
        (12, 2),
        (12, 3),
        (12, 4),
        (12, 8),
        (12, 9),
        (12, 12),
        (20, 13),
        (20, 20),
    ):
        name = f"of {length} documents one relevant, at rank {rank}"
        yield _one("discounts", name, _falling(length), _one_relevant(rank, length))
    for number in range(16):
        draw = Draw(7000 + number)
        length = 6 + draw.below(7)
        grades = draw.several(length, 4)
        yield _one(
            "discounts",
            f"relevance {_text(grades)} by rank",
            _falling(length),
            grades,
            (None, 3, 10)[number % 3],
        )


def _ideal() -> Iterator[Case]:
    for retrieved, lacking in itertools.product(
        ((1,), (0, 1), (2, 0, 1)), ((1,), (1, 1, 1), (0, 3))
    ):
        for k in (1, 3, 10):
            scores = [*_falling(len(retrieved)), *[None] * len(lacking)]
            name = f"relevance {_text(retrieved)} retrieved, {_text(lacking)} not"
            yield _one("ideal", name, scores, retrieved + lacking, k)
    yield _one("ideal", "one relevant of three, all retrieved", [3, 2, 1], [1, 0, 0], 3)
    yield _one("ideal", "one relevant of three, all retrieved", [3, 2, 1], [1, 0, 0])
    yield _one("ideal", "the retrieved are not judged", [2, 1, None, None], [None, None, 1, 1], 2)
    yield _one(
        "ideal",
        "more unjudged than judged retrieved",
        [4, 3, 2, 1, None],
        [None, None, None, 1, 2],
        4,
    )


def _one_document() -> Iterator[Case]:
    for relevance, k in itertools.product((0, 1, 3, None), (None, 1, 5)):
        said = "not judged, another is" if relevance is None else f"relevance {relevance}"
        lacking = relevance is None
        yield _one("one document", said, [1, None][: 1 + lacking], [relevance, 1][: 1 + lacking], k)
    for score in (0, -1):
        yield _one("one document", f"score {score}, relevance 1", [score], [1])
    yield _one("one document", "not retrieved, relevance 1", [None], [1])


def _lengths() -> Iterator[Case]:
    for number in range(20):
        draw = Draw(8000 + number)
        run, qrels = {}, {}
        for query in range(1, 3 + draw.below(3)):
            length = 2 + draw.below(11)
            scores = [each / 4 for each in draw.several(length, 30)]
            run[f"q{query}"], qrels[f"q{query}"] = _query(scores, draw.several(length, 3))
        k = (None, 1, 3, 5, 10)[number % 5]
        at = "" if k is None else f", k={k}"
        sizes = _text([len(each) for each in run.values()])
        yield Case("lengths", f"lengths: queries of {sizes} documents{at}", run, qrels, k)


def _mixed() -> Iterator[Case]:
    for number in itertools.count(1):
        draw = Draw(9000 + number)
        run, qrels = {}, {}
        for query in range(1, 2 + draw.below(3)):
            length = 2 + draw.below(11)
            scores: list[float | None] = [
                each / 4 if draw.below(5) else None for each in draw.several(length, 12)
            ]
            judged: list[int | None] = [
                each if draw.below(5) else None for each in draw.several(length, 4)
            ]
            scores[0], judged[0] = 1.25, draw.below(2)
            ids = draw.shuffled(range(1, length + 1))
            named = [
                {
                    f"d{id_}": value
                    for id_, value in zip(ids, side, strict=True)
                    if value is not None
                }
                for side in (scores, judged)
            ]
            run[f"q{query}"], qrels[f"q{query}"] = named
        yield Case(
            "mixed", f"mixed: number {number}", run, qrels, (None, 1, 2, 3, 5, 10)[number % 6]
        )


CASES_OF = {
    "order": _order,
    "cutoff": _cutoff,
    "ties": _ties,
    "cutoff in a tie": _cutoff_in_a_tie,
    "ids": _ids,
    "close scores": _close_scores,
    "sigmoids": _sigmoids,
    "unretrieved": _unretrieved,
    "unjudged": _unjudged,
    "empty": _empty,
    "missing": _missing,
    "negative": _negative,
    "gains": _gains,
    "large grades": _large_grades,
    "discounts": _discounts,
    "ideal": _ideal,
    "one document": _one_document,
    "lengths": _lengths,
}
