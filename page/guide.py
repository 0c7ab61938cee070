"""The first ranking that the page shows, and its lessons: a guess, and a ranking to try it on.

All rankings are of one search, for documents that can be judged by their titles.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

QUERY = "how do bees make honey"
RELEVANCE = {  # of documents, by their titles; of one that nobody judged, empty
    "From nectar to honey": "3",
    "How honey is made": "3",
    "Inside a beehive": "2",
    "Honey bees at work": "2",
    "Bees and flowers": "1",
    "Kinds of honey": "1",
    "Honey cake recipe": "0",
    "The Bee Gees": "0",
    "Bees in town": "",
}


def ranked(titles: str, scores: str = "") -> tuple[tuple[str, str, str], ...]:
    """Return rows of titles between semicolons; without scores, the scores fall by 1.

    A score "-" is of a document that was not retrieved.
    """
    documents = titles.split("; ")
    given = scores.split() or list(map(str, range(len(documents), 0, -1)))
    rows = zip(documents, given, strict=True)
    return tuple((title, RELEVANCE[title], score.replace("-", "")) for title, score in rows)


FIRST_RANKING = ranked(
    "Honey cake recipe; From nectar to honey; How honey is made; Inside a beehive; "
    "Honey bees at work; Bees and flowers"
)
TIED = ranked(
    "From nectar to honey; Honey cake recipe; Bees and flowers; Inside a beehive; The Bee Gees",
    "9 5 5 5 1",
)
# what is said before the first step, and once the order is the best
OPENING = (
    "A search engine ranked six documents, a cake recipe first. Dots say how well each answers: "
    "the recipe, not at all. **Drag the cake to the last place.**"
)
SOLVED = (
    "**1 is the most:** no order of these documents is better. A line that is not level makes no "
    "difference here. A random order would have had {random}: a score is good only if it is well "
    "above that."
)
TRY = "Drag a card, or press its relevance, to see what a change does to the score."
OF_RUN = f"This is how one run ranked the documents of one query. {TRY}"
READERS = f"This is your own ranking. {TRY}"


class Lesson(NamedTuple):
    """A step of the guide: a guess, and a ranking to try it on."""

    title: str
    text: str
    guess: str
    choices: Sequence[str]  # the right one first
    answer: str
    rows: Sequence[Sequence[str]]
    hides_score: bool = False  # until the guess, since the score answers it
    hides_ties: bool = False  # the same of what ties could change


LESSONS = {
    "gain": Lesson(
        "Gain",
        "A document brings a **gain**: here the number of its dots. Its bar is what it adds to the "
        "sum; the cake adds nothing. nDCG divides the sum by that of the ideal order.",
        "What would happen if every dot counted twice?",
        ("nDCG stays the same", "nDCG doubles"),
        "It stays 0.961: the sum of this order doubles, and so does that of the ideal order. Only "
        "how the gains compare with each other matters.",
        ranked(
            "From nectar to honey; Inside a beehive; How honey is made; Honey cake recipe; "
            "Bees and flowers; Honey bees at work"
        ),
    ),
    "discount": Lesson(
        "Discount",
        "People look at the top first, so a gain counts less further down: all of it at rank 1, "
        "0.63 of it at rank 2, half at rank 3. This **discount** is the band behind the bar; "
        "the bar is gain times discount.",
        "Which swap wins more?",
        ("Ranks 1 and 3", "Ranks 2 and 3"),
        "A swap of ranks 1 and 3 takes 0.648 to 1.000; one of ranks 2 and 3, only to 0.679. The "
        "first ranks are worth most: the band narrows fast at first, then hardly at all.",
        ranked("Honey cake recipe; Inside a beehive; From nectar to honey; The Bee Gees"),
    ),
    "ideal": Lesson(
        "Ideal",
        "The **ideal** order has the most relevant documents first. nDCG is your sum divided by "
        "the sum of the ideal order, so 1 is the most for any query. This is the worst order of "
        "these four.",
        "What does the worst order score?",
        ("More than half", "Less than half"),
        "It scores 0.614: every order has all the gains, and a low rank still counts. So compare a "
        "score with that of a random order, here 0.807, not with 0.",
        ranked("Honey cake recipe; Bees and flowers; Inside a beehive; From nectar to honey"),
        hides_score=True,
    ),
    "ties": Lesson(
        "Ties",
        "The engine gave three documents the same score, 5. They are **tied**: nothing says which "
        "of them comes first. Some libraries take them as they happen to come.",
        "Can that luck change the score?",
        ("Yes, from 0.92 to 1", "No, it stays 0.96"),
        "By luck it is anything from 0.916 to 1.000, the band on the scale. Here tied documents "
        "share their ranks and the mean discount: 0.958, however they are listed.",
        TIED,
        hides_ties=True,
    ),
    "missing": Lesson(
        "What is missing",
        "Two relevant documents were **not retrieved**: they add nothing here, but the ideal order "
        "has them. The hatched one was **not judged**: it counts as 0, takes a rank, and is not in "
        "the ideal order.",
        "What helps more?",
        ("To retrieve “How honey is made”", "To remove “Bees in town”"),
        "With “How honey is made” at rank 1, 0.504 becomes 0.847; without “Bees in town”, only "
        "0.515. Try it: drag “How honey is made” up.",
        ranked(
            "Inside a beehive; Bees and flowers; Bees in town; Kinds of honey; How honey is made; "
            "Honey bees at work",
            "4 3 2 1 - -",
        ),
    ),
    "exponential": Lesson(
        "Exponential gain",
        "Many papers and libraries count 2 to the power of the dots, minus 1: one dot gains 1, two "
        "gain 3, three gain 7. One document of three dots outweighs several others.",
        "With this gain, does this order score more or less?",
        ("Less", "More"),
        "It scores 0.777 instead of 0.888, since half of all gains are in the last place. Try it: "
        "choose exponential in the settings.",
        ranked("Inside a beehive; Honey bees at work; Bees and flowers; How honey is made"),
    ),
    "libraries": Lesson(
        "28 libraries",
        "Gain, discount, ties and ideal: each library chooses. This page asks 28 libraries, from "
        "trec_eval to XGBoost, for the nDCG of one ranking.",
        "How many different scores do they give this one?",
        ("Nine", "Two"),
        "They go from 0.425 to 0.993, so a score needs its settings beside it. If a paper does not "
        "name them, scroll down and enter its score under the figure.",
        TIED,
    ),
}


# by their names in the address, with the start, which asks nothing
STEPS = {"": Lesson("the start", OPENING, "", (), "", FIRST_RANKING), **LESSONS}


def query_of_documents(titles: Iterable[str]) -> str:
    """Return the query of the example, if all documents are its."""
    return QUERY if RELEVANCE.keys() >= {*titles} else ""
