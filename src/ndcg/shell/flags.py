"""The arguments of the commands, and their help.

Help comes at once: nothing here imports NumPy or pyarrow.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from ..measure.arguments import OPTIONS
from ..measure.conventions import CONVENTIONS

DESCRIPTION = """\
Score search runs, compare them, and keep worse ones out: nDCG, DCG, IDCG and CG.

QRELS contains relevance judgments and RUN contains document scores, both by query id and document
id. Formats: TREC, CSV, TSV, JSON, JSONL, Parquet and Arrow, plain or compressed with gzip or
Zstandard; the format is detected from the content. Use - for one of the files to read it from
standard input.
"""
EXAMPLES = """\
examples:
  ndcg score qrels.txt bm25.txt dense.txt -m nDCG@10,nDCG@100    means with intervals, side by side
  ndcg compare qrels.txt bm25.txt dense.txt -m nDCG@10           is dense better, and where
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10             exit status 1 if it got worse
  ndcg audit qrels.txt bm25.txt -k 10                            ties, unjudged documents, missing queries
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921             which convention gives this score
  ndcg check my_metrics.py:ndcg_at -k 10                         what a function of yours computes

Each command has its own --help. Exit status: 0 fine, 1 a regression or a slip, 2 bad input,
130 interrupted.
"""
COMMAND_HELP = {
    "score": (
        "means of runs with intervals, or the values of all queries",
        "Print the mean of each measure for one run or several, with its confidence interval.",
        """\
examples:
  ndcg score qrels.txt bm25.txt -m nDCG@10,nDCG@100,DCG@5
  ndcg score qrels.txt bm25.txt dense.txt -k 10 -o markdown      a table for a pull request
  ndcg score qrels.txt bm25.txt --convention trec_eval -q        trec_eval's scores, query by query
  ndcg score qrels.txt bm25.txt -k 10 -o json > baseline.json    to compare with later: see ndcg gate
  ndcg score ratings.parquet scores.csv -k 10 --query user_id --document item_id --label stars
  ndcg score qrels.txt bm25.txt -k 10 --by languages.csv         each language separately, too
  zcat run.gz | ndcg score qrels.txt -
""",
    ),
    "compare": (
        "differences of runs from a baseline, with tests",
        "Print how each run differs from the baseline on the same queries: the difference of the means, its\n"
        "interval, p of a paired randomisation test with Holm's correction, and the queries that differ most.",
        """\
examples:
  ndcg compare qrels.txt bm25.txt dense.txt hybrid.txt -k 10
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --alternative greater --margin 0.01   not worse by 0.01?
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --by languages.csv -o latex
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --plot differences.svg
""",
    ),
    "gate": (
        "exit status 1 if a run is worse than a baseline",
        "Exit with status 1 only if the mean of a measure falls by more than --max-drop and a one-sided paired\n"
        "randomisation test finds the fall significant at --alpha (with several measures after Holm's\n"
        "correction). A run that is empty, shares no query with the qrels or is missing queries that the\n"
        "baseline ranks is bad input, status 2, never a pass.",
        """\
examples:
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10,nDCG@100 --max-drop 0.02 --alpha 0.01
  ndcg score qrels.txt main.txt -m nDCG@10 -o json > baseline.json
  ndcg gate qrels.txt baseline.json branch.txt -m nDCG@10        no need to keep the old run
  ndcg gate qrels.txt main.txt branch.txt -o junit > gate.xml    for CI systems
""",
    ),
    "audit": (
        "what a score rests on: ties, unjudged documents, missing queries",
        "Print what a score rests on: the range over the orders of ties, unjudged documents within the cutoff,\n"
        "the score of a random order, and queries that are missing, extra, or have no relevant documents. A\n"
        "file that lists a document twice for a query is rejected, with both lines.",
        """\
examples:
  ndcg audit qrels.txt bm25.txt -k 10
  ndcg audit qrels.txt bm25.txt -k 10,100 -o json
""",
    ),
    "explain": (
        "which convention gives a score",
        "Print the nDCG of a run by the convention of every library, and which of them give the score you got. If\n"
        "none does, every combination of options and cutoffs is tried, and known slips.",
        """\
examples:
  ndcg explain qrels.txt bm25.txt -k 10
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921
  ndcg explain qrels.txt bm25.txt --got 0.5512@5,0.5921@10       scores at two cutoffs
  ndcg explain qrels.txt bm25.txt -k 10 --got values.txt         the value of each query, as trec_eval -q prints
  ndcg explain qrels.txt bm25.txt -k 10 --between sklearn,trec_eval
""",
    ),
    "check": (
        "what a function of yours that computes nDCG computes",
        "Ask a Python function for the nDCG of small random rankings, and print which library's nDCG it computes, or\n"
        "which known slip it makes, with the smallest ranking on which it differs and both sums by hand. FUNCTION\n"
        "is FILE.py:NAME or package.module:NAME; it gets one query and returns its nDCG. --form says how:\n"
        "  mappings   {document: score}, {document: relevance}, k\n"
        "  lists      scores, relevance of the same documents, k (arrays: the same as NumPy arrays)\n"
        "  ranked     ids of documents, best first, {document: relevance}, k\n"
        "By default, the form is found out by trying. Exit status: 0 if the function computes the nDCG of a library\n"
        "(with --convention, of that one), 1 if not, 2 if it returns no score.",
        """\
examples:
  ndcg check my_metrics.py:ndcg_at
  ndcg check my_package.metrics:ndcg -k 5 --form ranked
  ndcg check my_metrics.py:ndcg_at --convention trec_eval        exit status 1 if it is another's
""",
    ),
}


class Argument(NamedTuple):
    """An argument of some commands, as their help describes it.

    Attributes:
        name: its name in Python; a flag has dashes for underscores.
        commands: the commands that have it.
        sentence: what it is or does.
        default: its value if it is left out, False if it is a switch. The convention sets those of scoring options.
        words: the words it may be.
        besides: what else it may be, after these.
    """

    name: str
    commands: Sequence[str]
    sentence: str
    default: Any = None
    words: Sequence[str] = ()
    besides: str = ""


def _of_python(name: str, commands: Sequence[str], besides: str = "", words: Sequence[str] | None = None) -> Argument:
    """Return an option of `compute` as an argument, in the words of the table of options."""
    option = OPTIONS[name]
    sentence = re.sub('[`"]', "", option.meaning.partition(": `")[0])
    default = False if option.is_flag else None
    return Argument(name, commands, sentence, default, tuple(words or option.words), besides)


CHECK = ("check",)
ALL = tuple(name for name in COMMAND_HELP if name not in CHECK)  # those that read qrels and a run
MEANS = ("score", "compare", "gate", "audit")
SCORE, COMPARE, GATE, EXPLAIN = ("score",), ("compare",), ("gate",), ("explain",)
RUNS, TESTS, PLOTS = ("score", "compare"), ("compare", "gate"), ("score", "compare", "explain")
FORMATS = ("text", "markdown", "tsv", "jsonl", "json", "latex", "junit")
SIDES = ("two-sided", "greater", "less")
SCORING = "scoring options"
# All arguments, by the heading under which help lists them; the first have argparse's.
ARGUMENTS = {
    "": [
        Argument("qrels", ALL, "relevance judgments"),
        Argument("baseline", COMPARE, "the run to compare with"),
        Argument("baseline", GATE, "the run to compare with, or its result as ndcg score -o json saved it"),
        Argument("runs", RUNS, "document scores of one system or several"),
        Argument("run", ("gate", "audit", "explain"), "document scores of a system"),
        Argument(
            "got",
            EXPLAIN,
            "the score to look for, with all of its digits, which say how close a match must be; or "
            "several as 0.31@5,0.283@10; or a file with the value of each query",
        ),
        Argument("between", EXPLAIN, "two conventions whose difference to explain"),
        Argument("function", CHECK, "FILE.py:NAME or package.module:NAME"),
        Argument("k", CHECK, "the cutoff, or all (default: 10)"),
        Argument("form", CHECK, "how the function takes a ranking", words=("mappings", "lists", "arrays", "ranked")),
        Argument("convention", CHECK, "the convention that it should compute; by default any"),
        Argument("cases", CHECK, "the number of rankings", 200),
        Argument("seed", CHECK, "random seed of the rankings", 0),
    ],
    "regression criteria": [
        Argument("max_drop", GATE, "the fall that is tolerated", 0.01),
        Argument("alpha", GATE, "significance level of the test", 0.05),
    ],
    "test options": [
        Argument("alternative", COMPARE, "test whether a run differs, is better or is worse", "two-sided", SIDES),
        Argument("margin", COMPARE, "test whether a run is worse (greater) or better (less) by less than this", 0.0),
        Argument("corrected_over", COMPARE, "p-values that Holm corrects together", "measure", ("measure", "all")),
    ],
    SCORING: [
        Argument("k", EXPLAIN, "the cutoff: how many ranks count", "all"),
        _of_python("measures", MEANS, ", each also with a cutoff (nDCG@10,DCG@5); default: nDCG"),
        Argument("k", MEANS, "cutoffs for measures without one, such as 10 or 5,10,all", "all"),
        _of_python("convention", MEANS, "; default: sklearn", tuple(CONVENTIONS)),
        _of_python("gain", ALL, ", or a list by label (0,1,3,7)"),
        _of_python("discount", ALL, ", or a list by rank (1,0.6,0.5)"),
        *(_of_python(name, ALL) for name in ("log_base", "ideal", "score_dtype", "ties", "zero_division")),
        *(_of_python(name, ALL) for name in ("negative_relevance", "judged_only", "ignore_index")),
        _of_python("missing", ("score", "audit", "explain")),
        _of_python("missing", COMPARE, "; by default, stop if another run ranks one, but for conventions that skip"),
        _of_python("missing", GATE, "; by default, stop if the baseline ranks one"),
        Argument("exclude", ALL, "documents that take no rank: a file of queries and documents"),
    ],
    "columns of CSV, TSV, JSON, Parquet and Arrow": [
        Argument("query", ALL, "the column of query ids in all files, if it is not called query_id or the like"),
        Argument("document", ALL, "the column of document ids in all files, if it is not called doc_id or the like"),
        Argument("score", ALL, "the column of scores in runs, if it is not called score or the like"),
        Argument("label", ALL, "the column of relevances in the qrels, if it is not called relevance or the like"),
        Argument("by", RUNS, "also score slices of the queries, by a file of queries and slices or a qrels column"),
    ],
    "output": [
        Argument("by_query", SCORE, "print the value of every query, then the mean", False),
        Argument("output", (*ALL, *CHECK), "the format (junit in ndcg gate only)", "text", FORMATS),
        Argument("places", MEANS, "decimal places of tables", 4),
        Argument("signature", MEANS, "print every choice the numbers depend on, and score nothing", False),
        Argument("confidence", ("score", "compare", "gate"), "confidence level of the intervals", 0.95),
        Argument("resamples", TESTS, "least number of permutations; values below 1,048,576 have no effect", 10_000),
        Argument("seed", TESTS, "random seed of the test", 0),
        Argument("plot", PLOTS, "also save a figure: png, svg or pdf"),
    ],
}


def _list(text: str) -> list[str]:
    return text.split(",")


def _cutoffs(text: str) -> list[int | None]:
    try:
        return [None if each == "all" else int(each) for each in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers of ranks, such as 10 or 5,10,all; got {text!r}") from None


def _numbers(text: str) -> list[float] | str:
    try:
        return list(map(float, text.split(",")))
    except ValueError:
        return text  # a word


def _number(text: str) -> float | str:
    numbers = _numbers(text)
    return numbers[0] if isinstance(numbers, list) and len(numbers) == 1 else text


# How the shell spells and reads arguments, and what help shows in their place.
POSITIONAL = ("qrels", "baseline", "runs", "run", "function")
FILES = (*POSITIONAL, "exclude", "by", "plot")  # which shells complete
SHORT = {"k": "-k", "measures": "-m", "judged_only": "-J", "by_query": "-q", "output": "-o", "places": "-p"}
READ: dict[str, tuple[Callable[[str], Any], str]] = {
    **dict.fromkeys(("max_drop", "alpha", "margin", "confidence", "log_base", "ignore_index"), (float, "X")),
    **dict.fromkeys(("places", "resamples", "seed", "cases"), (int, "N")),
    **dict.fromkeys(("query", "document", "score", "label", "convention", "form"), (str, "NAME")),
    **dict.fromkeys(("exclude", "plot"), (str, "FILE")),
    "by": (str, "FILE[:COLUMN]|COLUMN"),
    "runs": (str, "RUN"),
    "got": (str, "NUMBER"),
    "between": (_list, "ONE,OTHER"),
    "measures": (_list, "NAMES"),
    "k": (_cutoffs, "K"),
    "gain": (_numbers, "GAIN"),
    "discount": (_numbers, "DISCOUNT"),
    "zero_division": (_number, "X"),
    "output": (str, "FORMAT"),
}
CHOICES = {"convention": tuple(CONVENTIONS), "output": FORMATS}  # words that argparse checks


class ArgumentsError(Exception):
    """The arguments are not those of a command; says so in a sentence."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises ArgumentsError."""

    def __init__(self, **how: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **how)

    def error(self, message: str) -> NoReturn:
        raise ArgumentsError(f"{self.prog}: {message}; see {self.prog} --help")


class _CommandParser(_Parser):
    """The parser of a command, which rejects options that the command does not have by its own name."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments, and an empty list of others."""
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return found, others


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = _Parser(prog="ndcg", description=DESCRIPTION, epilog=EXAMPLES)
    top.add_argument("--version", action=_Version, nargs=0, help="print the version")
    top.add_argument(
        "--print-completion", action=_Completion, metavar="SHELL", help="print the completion of bash, zsh or tcsh"
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_CommandParser)
    for name, (summary, description, examples) in COMMAND_HELP.items():
        command = commands.add_parser(name, help=summary, description=description, epilog=examples)
        for heading, arguments in ARGUMENTS.items():
            if own := [each for each in arguments if name in each.commands]:
                about = (
                    "options that you leave out follow the convention"
                    if heading == SCORING and name != "explain"
                    else None
                )
                group = command.add_argument_group(heading, about) if heading else command
                for argument in own:
                    _add(group, argument, is_scoring=heading == SCORING)
    return top


def _add(group: Any, argument: Argument, is_scoring: bool) -> None:
    """Add an argument to a parser, or to a group of one."""
    name, _, sentence, default, words, besides = argument
    how: dict[str, Any] = {"help": (f"{sentence}: {', '.join(words)}" if words else sentence) + besides}
    if default is False:
        how["action"] = "store_true"
    else:
        read, shown = READ.get(name, (str, name.upper()))
        how |= {"type": read, "metavar": shown, "choices": CHOICES.get(name)}
        how["help"] += "" if default is None else f" (default: {default})"
    if name in POSITIONAL:
        added = group.add_argument(name, nargs="+" if name == "runs" else None, **how)
    else:
        flags = [*([SHORT[name]] if name in SHORT else []), *([f"--{name.replace('_', '-')}"] if name != "k" else [])]
        added = group.add_argument(*flags, default=None if is_scoring else default, **how)
    if name in FILES:
        added.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}


class _Version(argparse.Action):
    """Print the version, which is imported when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from ..measure.options import __version__

        print(f"ndcg {__version__}")
        parser.exit()


class _Completion(argparse.Action):
    """Print the completion for a shell, which shtab writes."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, *__: Any) -> NoReturn:
        try:
            import shtab
        except ImportError:
            from ..measure.messages import missing_library

            parser.error(str(missing_library("--print-completion", "shtab", "shtab")))
        if shell not in shtab.SUPPORTED_SHELLS:
            parser.error(f"--print-completion knows {', '.join(shtab.SUPPORTED_SHELLS)}; got {shell!r}")
        print(shtab.complete(parser, shell))
        parser.exit()
