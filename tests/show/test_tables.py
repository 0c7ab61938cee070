"""Text, Markdown, HTML, LaTeX and terminal show the same figures of a result, for any names."""

import doctest
import itertools
import re
from dataclasses import dataclass, replace
from typing import Any

import evaluate
import pytest
from refusals import refusal
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown

from ndcg.show import tables as room


def test_the_tables_hold_the_figures(shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    figures = ["95% interval", "95% intervals: Wilson-type t for means, Student", report.signature]
    for score in report.scores.values():
        values = (score.value, score.low, score.high, score.standard_error, score.worst, score.best)
        figures += [f"{value:.4f}" for value in values]
    for text in (str(report), report.to_markdown(), report._repr_html_()):
        assert [figure for figure in figures if figure not in text] == []
    assert not any(pair.exact for pair in comparison.pairs)
    figures = [comparison.signature, "randomization test (1,048,576 permutations); "]
    for pair in comparison.pairs:
        figures += [f"{pair.difference:+.4f}", f"{pair.wins}–{pair.ties}–{pair.losses}"]
        figures += [f"{pair.min_detectable:.4f}", f"{pair.queries_needed:,}"]
    for text in (str(comparison), comparison.to_markdown(), comparison._repr_html_()):
        assert [figure for figure in figures if figure not in text] == []


def test_latex_has_a_caption_the_signature_and_names_as_they_are(shown: tuple[Any, Any]) -> None:
    lines = shown[1].to_latex().splitlines()
    caption = (
        r"\caption{nDCG@3, nDCG@10, DCG@3, DCG@10 of 60 queries. Bold: the highest. Superscripts: "
        r"the systems that "
        "one is better than, by letter (paired randomization test, $p < 0.05$, corrected by Holm "
        "for the pairs of a measure).}"
    )
    assert caption in lines
    assert f"% {shown[1].signature}" in lines
    assert any(line.startswith("$^{") and r" & <b>|\_\& & " in line for line in lines)


@pytest.mark.parametrize("id_", ["a\x1b[31mb", "a\x9b2J", "a\u202eb", "a\nb"])
def test_no_id_moves_the_cursor(ndcg: evaluate.Metric, id_: str) -> None:
    run = {id_: {id_: 1.0, "d": 2.0}, "q": {id_: 1.0, "d": 0.5}}
    other = {
        query: {document: -score for document, score in documents.items()}
        for query, documents in run.items()
    }
    qrels = {query: {id_: 1, "d": 0} for query in run}
    by = {query: query for query in run}
    comparison = ndcg.compare(systems={"a": run, "b": other}, references=qrels, by=by)
    lost, gained = comparison.tables()[-2:]
    assert any(
        id_.encode("unicode_escape").decode() in cell for cell in itertools.chain(*lost, *gained)
    )
    report = ndcg.report(predictions=run, references=qrels, by=by)
    for each in (comparison, report, ndcg.explain(predictions=run, references=qrels, got=0.5)):
        texts = [str(each), each.to_markdown(), each._repr_html_(), *each.remarks()]
        texts += itertools.chain(*itertools.chain(*each.tables()))
        assert all(text.replace("\n", "").isprintable() for text in texts)
        assert id_ not in "".join(texts)


def test_numbers_of_any_size_are_short(ndcg: evaluate.Metric) -> None:
    def of_size(size: float) -> list[Any]:
        relevance = [[size * each for each in row] for row in RELEVANCE]
        how = {
            "references": relevance,
            "measures": ["DCG", "nDCG"],
            "by": ["de", "en"] * (len(relevance) // 2),
        }
        return [
            ndcg.report(predictions=SYSTEMS["bm25"], **how),
            ndcg.compare(systems=SYSTEMS, **how),
        ]

    for small, large in zip(of_size(1.0), of_size(2.0**660), strict=True):
        for one, other in zip(small.tables(), large.tables(), strict=True):
            assert [list(map(len, row)) for row in one[:1]] == [
                list(map(len, row)) for row in other[:1]
            ]
            assert max(len(cell) for row in other for cell in row) < 50
        assert max(map(len, large.remarks())) < 500
    report, comparison = of_size(2.0**660)
    assert f"{report.scores['DCG'].value:.4e}" in str(report)
    assert f"{comparison.pairs[0].difference:+.4e}" in str(comparison)
    assert f"{comparison.scores['bm25']['DCG'].value:.4e}" in comparison.to_latex()


@pytest.mark.parametrize(
    ("unjudged", "text"), [(1_234_567.0, "1,234,567"), (20.0, "20"), (1 / 3, "0.3333")]
)
def test_documents_in_the_millions_are_counted_in_full(
    ndcg: evaluate.Metric, unjudged: float, text: str
) -> None:
    found = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE)
    scores = {"nDCG": found.scores["nDCG"]._replace(unjudged=unjudged, ranked=23_456_789)}
    assert replace(found, scores=scores).tables()[0][1][-1] == f"{text} of 23,456,789"


def test_scores_in_latex_have_as_many_places_as_are_asked_for(ndcg: evaluate.Metric) -> None:
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    for places in (0, 16):
        for scores in found.scores.values():
            assert f"{scores['nDCG'].value:.{places}f}" in found.to_latex(places)
    assert found.to_latex() == found.to_latex(4)
    with refusal("places"):
        found.to_latex(17)


def test_the_examples_of_the_module_are_true() -> None:
    assert doctest.testmod(room).attempted > 0
    assert doctest.testmod(room).failed == 0


@dataclass
class Rivers(room.Readable):
    """A result that has nothing to do with rankings."""

    signature: str = "rivers|v:1"
    said: Any = ("100% wet & <long>.",)

    def _tables(self) -> list[room.Table]:
        return [[["river", "km", "<mouth>"], ["Rhine|", "1,230", "North_Sea"], ["a\x1b", "9", "–"]]]

    def _remarks(self) -> list[str]:
        return list(self.said)


TEXT = """\
river      km    <mouth>
Rhine|  1,230  North_Sea
a\\x1b       9          –

100% wet & <long>.
Signature: rivers|v:1"""
MARKDOWN = """\
| river | km | \\<mouth\\> |
|---|---:|---:|
| Rhine\\| | 1,230 | North\\_Sea |
| a\\\\x1b | 9 | – |

100% wet \\& \\<long\\>.

Signature: `rivers|v:1`"""
HTML = (
    "<table><tr><th>river</th><th>km</th><th>&lt;mouth&gt;</th></tr>"
    "<tr><td>Rhine|</td><td>1,230</td><td>North_Sea</td></tr><tr><td>a\\x1b</td><td>9</td><td>–</td></tr></table>"
    "<p>100% wet &amp; &lt;long&gt;.</p><p>Signature: <code>rivers|v:1</code></p>"
)
LATEX = r"""% 100% wet & <long>.
% rivers|v:1
\begin{tabular}{lrr}
\hline
river & km & <mouth> \\
\hline
Rhine| & 1,230 & North\_Sea \\
a\textbackslash{}x1b & 9 & – \\
\hline
\end{tabular}"""


def test_any_result_is_shown_as_text_markdown_html_and_latex() -> None:
    assert str(Rivers()) == TEXT
    assert Rivers().to_markdown() == MARKDOWN
    assert Rivers()._repr_html_() == HTML
    assert room.latex_of(Rivers()) == LATEX


def of_terminal(result: room.Readable) -> list[str]:
    return re.sub(r"\x1b\[[\d;]*m", "", room.rich_of(result)).splitlines()


def test_any_result_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = [line.split() for line in of_terminal(Rivers()) if line.strip() and "─" not in line]
    assert found == [line.split() for line in TEXT.splitlines() if line]


def test_a_narrow_terminal_cuts_no_number_and_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    result = Rivers(
        said=["The Rhine is longer than it was.", "rivers = ['Rhine', 'Danube', 'Elbe']"]
    )
    lines = [
        "The Rhine is longer than",
        "it was.",
        "rivers = ['Rhine', 'Danube', 'Elbe']",
        "Signature: rivers|v:1",
    ]
    assert of_terminal(result) == [*TEXT.splitlines()[:4], *lines]
