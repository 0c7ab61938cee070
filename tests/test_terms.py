"""The terms that are settled: the words of README, docs, the command line's help, and the package's messages."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from markdown_pages import DOCS, README, name, prose, text

from ndcg.shell.flags import COMMAND_HELP, parser

LIBRARIES = "pandas|Polars|Spark|PyTorch|scikit-learn|LightGBM|MTEB"
# A pattern that stays out, and the term to write instead.
SETTLED = {
    r"nothing (ir)?relevant": "no relevant documents; all documents are relevant",
    r"refus(e|ed|es|ing)": "rejected; raises an error",
    r"whose": "with, or the name of the thing: library, convention, definition",
    r"lack(s|ed|ing)?": "missing from, without",
    r"besides?|likewise|anew": "also, in addition to, next to, again",
    r"files of strangers": "untrusted files",
    r"(the|this|that|which|its|your|one's) numbers?(?! (of|that))": "score, value",
    r"(?<!by )(?<!to )chance": "random-order baseline; the expected score of a random order",
    r"exchanges": "permutations",
    r"has twice": "duplicate document; appears twice",
    r"[Bb]y (Wilson|Student)": "Wilson-type t interval; Student's t interval",
    r"frames?(?! per second)": "DataFrame",
    rf"(table|tensor|loop|scorer|trainer|DataFrame)s? of ({LIBRARIES})": "a pandas DataFrame: the library first",
    r"(of|have|has) one (length|shape|type|kind|name|value)": "the same",
    r"(?<![Tt]here )(is|are|was|were) no (?!(longer|more|less|better|worse)\b)": "is not a",
    r"\w*[^aeiou\W]isation|\w*(al|gn|nim|tim|dom)is(e|ed|es|ing)": "American spelling: -ize",
    r"(colour|favour|behaviour|honour)\w*|licence": "American spelling: color, favor, behavior, honor, license",
}
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS, ROOT / "conformance" / "README.md"]


def words(markdown: str) -> str:
    """A page in its own words, in one line: without code, targets of links, quotations and names in italics."""
    own = re.sub(r"\]\([^)]*\)", "]", prose(markdown.split("---\n", 2)[-1] if markdown.startswith("---") else markdown))
    own = re.sub(r'"[^"\n]*"|\*[^*\n]+\*', "", own.replace("**", ""))
    return re.sub(r"\s+", " ", own)


def unsettled(written: str) -> Iterator[str]:
    """Each unsettled term in its sentence, and the settled one."""
    for pattern, settled in SETTLED.items():
        for match in re.finditer(rf"\b(?:{pattern})\b", written):
            yield f"…{written[max(0, match.start() - 40) : match.end() + 20]}… ({settled})"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_keeps_to_the_settled_terms(page: object) -> None:
    assert [*unsettled(words(text(page)))] == []


@pytest.mark.parametrize("command", ["", *COMMAND_HELP])
def test_help_keeps_to_the_settled_terms(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([*command.split(), "--help"])
    assert [*unsettled(re.sub(r"\s+", " ", capsys.readouterr().out))] == []


# Words of the package that are right there: counts of numbers, the verb, and names of arguments.
OWN_SENSES = re.compile(r"numbers?\b|exchanges the|frame\b|chance\b")


@pytest.mark.parametrize("path", sorted((ROOT / "ndcg").rglob("*.py")), ids=name)
def test_messages_docstrings_and_comments_keep_to_the_settled_terms(path: Path) -> None:
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text(path)).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            own = re.sub(r"(?m)^\s*(>>>|\.\.\.).*$|`[^`]*`|\{[^{}]*\}", "", token.string)
            found += [each for each in unsettled(re.sub(r"\s+", " ", own)) if not OWN_SENSES.search(each)]
    assert found == []


@pytest.mark.parametrize(
    "sentence",
    [
        "A query with nothing relevant counts as 0.",
        "Such a batch is refused.",
        "Libraries whose number it is.",
        "A query that the run lacks.",
        "The score of chance.",
        "A frame of pandas.",
        "All have one length.",
        "It is no test.",
        "A randomisation test of 10 exchanges.",
    ],
)
def test_a_term_that_is_not_settled_is_noticed(sentence: str) -> None:
    assert [*unsettled(words(sentence))]
