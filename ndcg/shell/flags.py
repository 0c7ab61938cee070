"""The arguments of the commands, and their help.

This module imports neither NumPy nor pyarrow, so that `--help` is fast.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from ..measure.arguments import FILE_FORMATS, OF_LIBRARIES, OPTIONS, gain_in, number_in, numbers_in
from ..measure.conventions import CONVENTIONS

DESCRIPTION = """\
Score search runs by nDCG, DCG, IDCG and CG, compare them, and reject runs that got worse.

QRELS contains relevance judgments and RUN contains document scores, both by query id and document
id. Formats: TREC, CSV, TSV, JSON, JSONL, Parquet and Arrow, plain or compressed with gzip or
Zstandard; the format is detected from the content. Use - for one of the files to read it from
standard input.
"""
EXAMPLES = """\
examples:
  ndcg preview qrels.txt bm25.txt                                what is read of both
  ndcg score qrels.txt bm25.txt dense.txt -m nDCG@10,nDCG@100    means with intervals, side by side
  ndcg compare qrels.txt bm25.txt dense.txt -m nDCG@10           is dense better, and where
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10             exit status 1 if it got worse
  ndcg audit qrels.txt bm25.txt -k 10                            ties, unjudged, missing queries
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921             which convention gives this score
  ndcg check my_metrics.py:ndcg_at -k 10                         what your function computes

Every command has a --help. Exit status: 0 success, 1 a regression or a slip, 2 bad input,
130 interrupted.
"""
COMMAND_HELP = {
    "preview": (
        "what is read of the files, without scoring it",
        "Print what is read: of a file its format, the field of queries, documents and values, "
        "and the\nnumbers of queries and documents; how many retrieved documents are judged; and "
        "the first query.\nThe options are as in ndcg score: in its commands, put preview in "
        "place of score.",
        """\
examples:
  ndcg preview qrels.txt bm25.txt
  ndcg preview qrels.txt bm25.txt -m nDCG@10 --convention trec_eval
  ndcg preview log.jsonl log.jsonl --document hits.id,gold.id --relevance gold.grade
""",
    ),
    "score": (
        "means of runs with intervals, or the values of all queries",
        "Print the mean of every measure for one run or several, with its confidence interval.",
        """\
examples:
  ndcg score qrels.txt bm25.txt -m nDCG@10,nDCG@100,DCG@5
  ndcg score qrels.txt bm25.txt dense.txt -k 10 -o markdown      a table for a pull request
  ndcg score qrels.txt bm25.txt --convention trec_eval -q        trec_eval's scores, query by query
  ndcg score qrels.txt bm25.txt -k 10 --worst 20                 what the 20 lowest queries miss
  ndcg score qrels.txt bm25.txt -k 10 -o json > baseline.json    to compare with by ndcg gate
  ndcg score ratings.parquet scores.csv -k 10 --query user_id --document item_id --relevance stars
  ndcg score qrels.txt bm25.txt -k 10 --by languages.csv         also every language separately
  zcat run.gz | ndcg score qrels.txt -
""",
    ),
    "compare": (
        "differences of runs from a baseline, with tests",
        "Print how every run differs from the baseline on the same queries: the difference of the "
        "means, its\ninterval, p of a paired randomization test with Holm's correction, and the "
        "queries that lost and that\ngained most.",
        """\
examples:
  ndcg compare qrels.txt bm25.txt dense.txt hybrid.txt -k 10
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --alternative greater --margin 0.01   not worse?
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --by languages.csv -o latex
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --worst 20     the 20 queries that lost most
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --worst all -o tsv > queries.tsv
  ndcg compare qrels.txt bm25.txt dense.txt hybrid.txt -k 10 --pairs all -o latex
  ndcg compare qrels.txt bm25.txt dense.txt -k 10 --plot differences.svg
  ndcg compare --reports before.json after.json                  saved by ndcg score -o json
  ndcg compare --reports before.json after.json --unpaired       on different queries
""",
    ),
    "gate": (
        "exit status 1 if a run is worse than a baseline, or too low",
        "Exit with status 1 only if the mean of a measure drops by more than --max-drop and a "
        "one-sided paired\nrandomization test finds the drop significant at --alpha (with several "
        "measures, after Holm's\ncorrection); with --any-drop, whenever it drops by more than "
        "--max-drop. The output says whether a\ndrop is significant, and whether enough queries "
        "differ to prove it. With --at-least, also whenever a mean\nis below a threshold, which "
        "needs no BASELINE. If the run is empty, has no query in common with the qrels,\nor is "
        "missing queries that the baseline ranks, the status is 2, never a pass.",
        """\
examples:
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10,nDCG@100 --max-drop 0.02 --alpha 0.01
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10 --any-drop  without a test
  ndcg score qrels.txt main.txt -m nDCG@10 -o json > baseline.json
  ndcg gate qrels.txt baseline.json branch.txt -m nDCG@10        no need to keep the old run
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10 --at-least 0.6
  ndcg gate qrels.txt branch.txt -m nDCG@10 --at-least 0.6       a threshold alone
  ndcg gate qrels.txt main.txt branch.txt -o junit > gate.xml    for CI systems
""",
    ),
    "audit": (
        "what affects the reliability of a score: ties, unjudged documents, missing queries",
        "Print what affects the reliability of a score: the range over the orders of ties, the "
        "unjudged documents\nwithin the cutoff, the score of a random order, and queries that are "
        "missing, extra, or have no relevant\ndocuments. If a file lists a document twice for a "
        "query, it is rejected, and the message names both\nlines.",
        """\
examples:
  ndcg audit qrels.txt bm25.txt -k 10
  ndcg audit qrels.txt bm25.txt -k 10,100 -o json
""",
    ),
    "explain": (
        "which convention gives a score",
        "Print the nDCG of a run under the convention of every library, and the conventions that "
        "give the score you\ngot. If none does, combinations of options and cutoffs are tried, and "
        "then known slips.",
        """\
examples:
  ndcg explain qrels.txt bm25.txt -k 10
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921
  ndcg explain qrels.txt bm25.txt --got 0.5512@5,0.5921@10       scores at two cutoffs
  ndcg explain qrels.txt bm25.txt -m nDCG@10 --got values.txt    values printed by trec_eval -q
  ndcg explain qrels.txt bm25.txt -k 10 --between sklearn,trec_eval
""",
    ),
    "check": (
        "what your nDCG function computes",
        "Call a Python function with small random rankings, and print which library's nDCG it "
        "computes, or which\nknown slip it has, with the smallest ranking on which it differs and "
        "both sums. FUNCTION is FILE.py:NAME\nor package.module:NAME; NAME may also be a method, "
        "such as metric.ndcg. It receives one query and returns\nits nDCG. --form sets its "
        "arguments:\n  mappings   {document: score}, {document: relevance}, k\n  lists      "
        "scores, relevance of the same documents, k (arrays: the same as NumPy arrays)\n  "
        "ranked     ids of documents, best first, {document: relevance}, k\n  sets       ids of "
        "documents, best first, the set of relevant ids, k (ids: a list of these)\n  relevance  "
        "the relevance of documents, best first, k\nThe others are batches and rarer arguments: "
        "docs/slips.md. By default, all forms that it may accept are\ntried, in any order. k may "
        "be keyword-only. If it takes no cutoff, whole rankings are compared, and then\n-k. Exit "
        "status: 0 if the function computes the nDCG of a library (with --convention, of that "
        "library), 1\nif not, 2 if it returns no score, 3 if it does for less than half of the "
        "rankings, or computes the nDCG\nonly for a relevance of 0 and 1.",
        """\
examples:
  ndcg check my_metrics.py:ndcg_at
  ndcg check my_package.metrics:Evaluator.ndcg -k 5 --form ranked
  ndcg check my_metrics.py:ndcg_at --convention trec_eval        status 1 if it is another nDCG
""",
    ),
}


class Argument(NamedTuple):
    """An argument of one or more commands, with its help."""

    name: str  # its name in Python; a flag has dashes for underscores
    commands: Sequence[str]  # the commands that have it
    sentence: str  # its description
    # its value if it is not set, False for a switch. The convention sets the defaults of scoring
    # options
    default: Any = None
    words: Sequence[str] = ()  # the words it accepts
    others: str = ""  # a phrase about the other values that it accepts


def _of_python(
    name: str, commands: Sequence[str], others: str = "", words: Sequence[str] | None = None
) -> Argument:
    """Return an option of `compute` as an argument, described as in the table of options."""
    option = OPTIONS[name]
    sentence = re.sub('[`"]', "", option.meaning.partition(": `")[0])
    default = False if option.is_flag else None
    return Argument(name, commands, sentence, default, tuple(words or option.words), others)


CHECK = ("check",)
# the commands that read qrels and a run
ALL = tuple(name for name in COMMAND_HELP if name not in CHECK)
# `preview` takes the options of `score`, so that one word makes a preview of a command.
SCORE = ("score", "preview")
MEANS = (*SCORE, "compare", "gate", "audit")
COMPARE, GATE, EXPLAIN = ("compare",), ("gate",), ("explain",)
NOT_GATE = tuple(name for name in COMMAND_HELP if name not in GATE)
RUNS, TESTS, PLOTS = (*SCORE, "compare"), ("compare", "gate"), (*SCORE, "compare", "explain")
FORMATS = ("text", "markdown", "tsv", "jsonl", "json", "latex")
FORMATS_OF_GATE = (*FORMATS, "junit")
SIDES = ("two-sided", "greater", "less")
PAIRS = ("baseline", "all")
SCORING, CRITERIA, OUTPUT = "scoring options", "regression criteria", "output"
DEFAULTS = "; default: sklearn; options that you do not set follow the convention"
IN_PREVIEW = {  # what preview says of the options that it shares with score
    SCORING: "as in ndcg score; the ones that do not say what is read change nothing here",
    OUTPUT: "as in ndcg score; only -o and --signature change the output",
}
# All arguments, by their heading in the help; the first group has the heading of argparse.
ARGUMENTS = {
    "": [
        Argument("qrels", ALL, "relevance judgments"),
        Argument("baseline", COMPARE, "the run to compare with"),
        Argument(
            "reports",
            COMPARE,
            "compare results of ndcg score -o json on the same queries; the first file, in place "
            "of QRELS, is the baseline",
            False,
        ),
        Argument(
            "unpaired",
            COMPARE,
            "with --reports: the results are for different queries, as before and after a release "
            "(Welch's t-test)",
            False,
        ),
        Argument(
            "baseline",
            GATE,
            "the run to compare with, or its result, saved by ndcg score -o json; may be left out "
            "with --at-least",
        ),
        Argument("runs", ("score", "compare"), "document scores of one system or several"),
        Argument("run", ("gate", "audit", "explain", "preview"), "document scores of a system"),
        Argument(
            "got",
            EXPLAIN,
            "the score to look for; give all of its digits: they decide how close a match must be; "
            "or several scores, as 0.31@5,0.283@10; or a file with the value of every query, such "
            "as the output of trec_eval -q or ndcg score -q",
        ),
        Argument("between", EXPLAIN, "two conventions: explain the difference between them"),
        Argument("function", CHECK, "FILE.py:NAME or package.module:NAME"),
        Argument("k", CHECK, "the cutoff, or all (default: 10)"),
        Argument(
            "form",
            CHECK,
            "its arguments",
            words=(
                "mappings",
                "lists",
                "arrays",
                "ranked",
                "sets",
                "ids",
                "relevance",
                "item",
                "ideal",
                "columns",
                "hits",
                "hit_rows",
                "id_lists",
                "rows",
                "tensors",
                "tensor_rows",
                "queries",
                "groups",
                "runs",
                "relevance_rows",
                "rank",
                "items",
                "scored_ids",
                "pairs",
                "ranked_runs",
                "set_runs",
            ),
        ),
        Argument("convention", CHECK, "the convention that it should compute (default: any)"),
        Argument("cases", CHECK, "the number of rankings", 200),
        Argument("seed", CHECK, "random seed of the rankings", 0),
    ],
    CRITERIA: [
        Argument("max_drop", GATE, "the largest drop of the mean that is tolerated", 0.01),
        Argument("alpha", GATE, "significance level of the test, from 0 to 1", 0.05),
        Argument(
            "any_drop", GATE, "fail for any drop by more than --max-drop, significant or not", False
        ),
        Argument(
            "at_least",
            GATE,
            "fail if a mean is below X, significant or not; this needs no BASELINE",
        ),
    ],
    "test options": [
        Argument(
            "alternative",
            COMPARE,
            "test whether a run differs, is better or is worse",
            "two-sided",
            SIDES,
        ),
        Argument(
            "margin",
            COMPARE,
            "non-inferiority margin: with greater, test whether a run is worse by less than X; "
            "with less, whether it is better by less than X",
            0.0,
        ),
        Argument(
            "corrected_over",
            COMPARE,
            "the p-values that Holm's correction covers: per measure and cutoff, or all of them",
            "measure",
            ("measure", "all"),
        ),
    ],
    SCORING: [
        Argument("k", EXPLAIN, "the cutoff: how many ranks count", "all"),
        Argument("measures", EXPLAIN, "the nDCG of the score, such as nDCG@10; the same as -k 10"),
        _of_python("measures", MEANS, ", also with a cutoff (nDCG@10,DCG@5); default: nDCG"),
        Argument("k", MEANS, "cutoffs for measures without one, such as 10 or 5,10,all", "all"),
        _of_python("convention", MEANS, DEFAULTS, tuple(CONVENTIONS)),
        _of_python("gain", ALL, ", of labels 0, 1, 2 (0,1,3), or of any (relevant=3,no=0)"),
        _of_python("discount", ALL, ", or a list by rank (1,0.6,0.5)"),
        _of_python("log_base", ALL),
        _of_python("ideal", ALL),
        _of_python("score_dtype", ALL),
        _of_python("score_order", tuple(name for name in ALL if name not in COMPARE)),
        _of_python("score_order", COMPARE, "; of single runs as in dense=ascending"),
        _of_python("ties", ALL),
        _of_python("zero_division", ALL),
        _of_python("negative_relevance", ALL),
        _of_python("judged_only", ALL),
        _of_python("duplicates", ALL),
        _of_python("ignore_index", ALL),
        _of_python("missing", (*SCORE, "audit", "explain")),
        _of_python(
            "missing",
            COMPARE,
            "; by default, stop if a query is missing from one run only, unless the convention "
            "skips it",
        ),
        _of_python(
            "missing",
            GATE,
            "; by default, stop if a query is missing from the run and not from the baseline, or "
            "if there is none",
        ),
        Argument(
            "exclude",
            ALL,
            "documents to remove from rankings and ideals: a file of queries and documents",
        ),
        _of_python("exclude_from", ALL, " (with run, judged ones stay in the ideals)"),
    ],
    "columns and fields of CSV, TSV, JSON, Parquet and Arrow": [
        Argument(
            "query",
            ALL,
            "the column or field of query ids, if no standard name; RUNS,QRELS for two names",
        ),
        Argument("document", ALL, "the column or field of document ids, likewise"),
        Argument(
            "score",
            ALL,
            "the column or field of scores in runs, likewise; - if there is none: the order counts",
        ),
        Argument(
            "relevance",
            ALL,
            "the column or field of relevance in the qrels, likewise; - if all are relevant",
        ),
        Argument(
            "format",
            ALL,
            "the format of the files, if their content does not tell",
            words=FILE_FORMATS,
        ),
        Argument(
            "by",
            RUNS,
            "also score slices of the queries: a file that maps queries to slices, or a qrels "
            "column",
        ),
    ],
    OUTPUT: [
        Argument(
            "worst",
            COMPARE,
            "how many of the queries that lost most, and as many that gained most, to print, or "
            "all; with -o tsv and -o jsonl, print these queries in place of the pairs (default: 5)",
        ),
        Argument(
            "worst",
            SCORE,
            "also print the N lowest queries, or all, with the relevant documents that the first "
            "ranks miss and the others before them; with -o tsv and -o jsonl, print these "
            "documents in place of the means",
        ),
        Argument(
            "pairs",
            COMPARE,
            "compare every run with the baseline, or every two runs",
            "baseline",
            PAIRS,
        ),
        Argument("by_query", SCORE, "print the value of every query, then the mean", False),
        Argument("output", NOT_GATE, "the format", "text", FORMATS),
        Argument("output", GATE, "the format", "text", FORMATS_OF_GATE),
        Argument("places", MEANS, "decimal places of tables", 4),
        Argument(
            "signature",
            MEANS,
            "print every option that affects the scores, and score nothing",
            False,
        ),
        Argument("confidence", (*RUNS, "gate"), "confidence level of the intervals", 0.95),
        Argument("seed", TESTS, "random seed of the test", 0),
        Argument("plot", PLOTS, "also save a figure: png, svg or pdf"),
    ],
}


def _list(text: str) -> list[str]:
    return text.split(",")


def _cutoffs(text: str) -> list[int | None]:
    try:
        return [None if part == "all" else int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers of ranks, such as 10 or 5,10,all; got {text!r}"
        ) from None


def _count_or_all(text: str) -> int | str:
    if text == "all":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number of queries, or all; got {text!r}"
        ) from None


def _orders(text: str) -> str | dict[str, str]:
    """Return the order of scores, or the orders of runs by their names."""
    orders = {}
    for part in text.split(","):
        run, _, order = part.rpartition("=")
        if not run:
            return text
        orders[run] = order
    return orders


# How arguments are written and read in the shell, and the placeholders in the help.
POSITIONAL = ("qrels", "baseline", "runs", "run", "function")
FILES = (*POSITIONAL, "exclude", "by", "got", "plot")  # completed by shells
NUMBERS_OF_FILES = {
    ("gate", "baseline"): "?",  # none with --at-least
    ("score", "runs"): "*",  # none for -m IDCG
    ("compare", "runs"): "*",  # none with --reports
}
SHORT = {
    "k": "-k",
    "measures": "-m",
    "judged_only": "-J",
    "by_query": "-q",
    "output": "-o",
    "places": "-p",
}
READ: dict[str, tuple[Callable[[str], Any], str]] = {
    **dict.fromkeys(
        ("max_drop", "alpha", "at_least", "margin", "confidence", "log_base", "ignore_index"),
        (float, "X"),
    ),
    **dict.fromkeys(("places", "seed", "cases"), (int, "N")),
    **dict.fromkeys(
        ("query", "document", "score", "relevance", "convention", "form"), (str, "NAME")
    ),
    **dict.fromkeys(("exclude", "plot"), (str, "FILE")),
    "by": (str, "FILE[:COLUMN]|COLUMN"),
    "worst": (_count_or_all, "N"),
    "runs": (str, "RUN"),
    "got": (str, "SCORE|FILE"),
    "between": (_list, "ONE,OTHER"),
    "measures": (_list, "NAMES"),
    "k": (_cutoffs, "K"),
    "gain": (gain_in, "GAIN"),
    "discount": (numbers_in, "DISCOUNT"),
    "zero_division": (number_in, "X"),
    "score_order": (_orders, "SCORE_ORDER"),
    "output": (str, "FORMAT"),
    "pairs": (str, "WHICH"),
}
# checked by argparse
CHOICES: dict[Any, Sequence[str]] = {
    "convention": tuple(CONVENTIONS),
    "output": FORMATS,
    ("gate", "output"): FORMATS_OF_GATE,
    "pairs": PAIRS,
}


def flag_of(name: str) -> str:
    """Return the name of an option in the shell."""
    return SHORT[name] if name == "k" else f"--{name.replace('_', '-')}"


class ArgumentsError(Exception):
    """An error about the arguments of a command, in one sentence."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises ArgumentsError."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options
        )

    def error(self, message: str) -> NoReturn:
        raise ArgumentsError(f"{self.prog}: {message}; see {self.prog} --help")


class _CommandParser(_Parser):
    """The parser of a command; its errors about unknown options name the command."""

    is_intermixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments, and an empty list of unknown ones."""
        # argparse's parser of intermixed arguments calls this method, twice.
        if self.is_intermixing:
            return super().parse_known_args(args, namespace)
        known, unknown = self._parse_in_any_order(args, namespace)
        if unknown:
            problem = f"unrecognized arguments: {' '.join(unknown)}"
            name = unknown[0].partition("=")[0].removeprefix("--").replace("-", "_")
            if name in OF_LIBRARIES:
                problem += f"; {OF_LIBRARIES[name]}"
            self.error(problem)
        return known, unknown

    def _parse_in_any_order(self, args: Any, namespace: Any) -> Any:
        """Return the known and the unknown arguments, with options before, between and after files.

        By itself argparse takes the files before an option for all, and leaves out optional ones.
        """
        if "--" in args:  # says which are files; intermixing would lose it
            return super().parse_known_args(args, namespace)
        self.is_intermixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.is_intermixing = False


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = _Parser(prog="ndcg", description=DESCRIPTION, epilog=EXAMPLES)
    top.add_argument("--version", action=_Version, nargs=0, help="print the version")
    top.add_argument(
        "--print-completion",
        action=_Completion,
        metavar="SHELL",
        help="print the completion of bash, zsh or tcsh",
    )
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, (summary, description, examples) in COMMAND_HELP.items():
        command = commands.add_parser(name, help=summary, description=description, epilog=examples)
        for heading, arguments in ARGUMENTS.items():
            group = _group(command, heading)
            for argument in arguments:
                if name in argument.commands:
                    _add(group, argument, name, may_be_unset=heading in (SCORING, CRITERIA))
    return top


def _group(command: argparse.ArgumentParser, heading: str) -> Any:
    """Return the group of a command's arguments under a heading; the command itself without one."""
    if not heading:
        return command
    about = None
    if command.prog == "ndcg preview":
        about = IN_PREVIEW.get(heading)
    return command.add_argument_group(heading, about)


def _add(group: Any, argument: Argument, command: str, may_be_unset: bool) -> None:
    """Add an argument to the parser of a command, or to a group of it.

    An option that may be unset is None then, in place of its default.
    """
    name = argument.name
    settings: dict[str, Any] = {"help": _help(argument)}
    if argument.default is False:
        settings["action"] = "store_true"
    else:
        read, metavar = READ.get(name, (str, name.upper()))
        choices = CHOICES.get((command, name), CHOICES.get(name))
        settings |= {"type": read, "metavar": metavar, "choices": choices}
    if name in POSITIONAL:
        nargs = NUMBERS_OF_FILES.get((command, name))
        action = group.add_argument(name, nargs=nargs, **settings)
    else:
        flags = [flag_of(name)]
        if name in SHORT and name != "k":  # -k has no long form
            flags = [SHORT[name], *flags]
        settings["default"] = None if may_be_unset else argument.default
        action = group.add_argument(*flags, **settings)
    if name in FILES:
        action.complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def _help(argument: Argument) -> str:
    """Return the help on an argument: what it is, its words, other values, and the default."""
    text = argument.sentence
    if argument.words:
        text += f": {', '.join(argument.words)}"
    text += argument.others
    is_switch = argument.default is False  # 0 is a default
    if argument.default is not None and not is_switch:
        text += f" (default: {argument.default})"
    return text


class _Version(argparse.Action):
    """Print the version, which is imported only when needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from ..measure.options import __version__

        print(f"ndcg {__version__}")
        parser.exit()


class _Completion(argparse.Action):
    """Print the completion script for a shell, made by shtab."""

    def __call__(self, parser: argparse.ArgumentParser, _: Any, shell: Any, *__: Any) -> NoReturn:
        try:
            import shtab
        except ImportError:
            from ..measure.messages import missing_library

            parser.error(str(missing_library("--print-completion", "shtab", "shtab")))
        if shell not in shtab.SUPPORTED_SHELLS:
            parser.error(
                f"--print-completion supports {', '.join(shtab.SUPPORTED_SHELLS)}; got {shell!r}"
            )
        print(shtab.complete(parser, shell))
        parser.exit()
