"""The search of the first ranking and of the guided steps: a query, and documents to judge by their titles."""

from collections.abc import Iterable

QUERY = "how do bees make honey"
RELEVANCE = {  # of each document, by its title; of one that nobody judged, empty
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


def ranked(titles: str, scores: str = "") -> list[list[str]]:
    """Return the rows of documents: titles between semicolons, and scores, which fall by 1; "-" is not retrieved."""
    documents = titles.split("; ")
    given = scores.split() or [f"{len(documents) - at}" for at in range(len(documents))]
    return [[d, RELEVANCE[d], each.replace("-", "")] for d, each in zip(documents, given, strict=True)]


def query_of_documents(documents: Iterable[str]) -> str:
    """Return the query that documents are ranked for, if all of them are those of the example; else none."""
    return QUERY if RELEVANCE.keys() >= {*documents} else ""


FIRST_RANKING = ranked(
    "From nectar to honey; Inside a beehive; How honey is made; Honey cake recipe; Bees and flowers; Honey bees at work"
)
