"""The command line: what `ndcg` and `python -m ndcg` run.

This room knows the words and the exit status; `commands.py` knows the answers, and is imported, with
all that it needs, when there is something to answer: help comes at once.
"""

import argparse
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from typing import Any, NoReturn

from ..measure.conventions import CONVENTIONS

FORMATS = ("text", "markdown", "tsv", "jsonl", "json", "latex", "junit")
PASSES, BAD_INPUT, INTERRUPTED = 0, 2, 130  # and 1 for a regression

DESCRIPTION = """\
Score search runs, compare them, and keep worse ones out: nDCG, DCG, IDCG and CG.

QRELS are the relevances of documents and a RUN is their scores, both by the ids of queries and
documents: TREC, CSV, TSV, JSON, JSONL, Parquet or Arrow, plain, gzip or Zstandard, known by what
they hold. One of the files may be -, standard input.
"""
EXAMPLES = """\
examples:
  ndcg score qrels.txt bm25.txt dense.txt -m nDCG@10,nDCG@100    means with intervals, side by side
  ndcg compare qrels.txt bm25.txt dense.txt -m nDCG@10           is dense better, and where
  ndcg gate qrels.txt main.txt branch.txt -m nDCG@10             exit status 1 if it got worse
  ndcg audit qrels.txt bm25.txt -k 10                            ties, unjudged documents, missing queries
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921             whose number that is

Each command has its own --help. Exit status: 0 fine, 1 a regression, 2 bad input, 130 interrupted.
"""
OF_COMMANDS = {
    "score": (
        "means of runs with intervals, or the values of all queries",
        "Print the mean of each measure for one run or several, with its confidence interval.",
        """\
examples:
  ndcg score qrels.txt bm25.txt -m nDCG@10,nDCG@100,DCG@5
  ndcg score qrels.txt bm25.txt dense.txt -k 10 -o markdown      a table for a pull request
  ndcg score qrels.txt bm25.txt --convention trec_eval -q        trec_eval's numbers, query by query
  ndcg score qrels.txt bm25.txt -k 10 -o json > baseline.json    to compare with later: see ndcg gate
  ndcg score ratings.parquet scores.csv -k 10 --query user_id --document item_id --label stars
  ndcg score qrels.txt bm25.txt -k 10 --by languages.csv         each language on its own too
  zcat run.gz | ndcg score qrels.txt -
""",
    ),
    "compare": (
        "differences of runs from a baseline, with tests",
        "Print how each run differs from the baseline on the same queries: the difference of the means, its\n"
        "interval, p of a paired randomisation test, corrected by Holm, and the queries that differ most.",
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
        "correction). A run that is empty, shares no query with the qrels or lacks queries that the baseline\n"
        "ranks is bad input, status 2, never a pass.",
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
        "the level of chance, and queries that are missing, extra, or have nothing relevant. A document that\n"
        "a query has twice is refused with both lines.",
        """\
examples:
  ndcg audit qrels.txt bm25.txt -k 10
  ndcg audit qrels.txt bm25.txt -k 10,100 -o json
""",
    ),
    "explain": (
        "whose number it is",
        "Print the nDCG of a run by the convention of every library, and which of them has the number you got.",
        """\
examples:
  ndcg explain qrels.txt bm25.txt -k 10
  ndcg explain qrels.txt bm25.txt -k 10 --got 0.5921
  ndcg explain qrels.txt bm25.txt -k 10 --between sklearn,trec_eval
""",
    ),
}


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong."""

    def __init__(self, **how: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **how)

    def error(self, message: str) -> NoReturn:
        """Exit with the status of bad input."""
        _say(f"{self.prog}: {message}; see {self.prog} --help")
        self.exit(BAD_INPUT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 fine, 1 a regression, 2 bad input, 130 interrupted.

    A reader that goes away, as `head` does, and closed or full outputs leave the status of a gate as it is. An error
    that nobody expects has the status of bad input: 1 means a regression and nothing else.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - as long as the process
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python would exit with status 1
        sys.excepthook(type(error), error, error.__traceback__)
        _say(f"ndcg: {type(error).__name__}: {error}; this is a bug, please report it with the lines above")
        return BAD_INPUT
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                _flush(stream)


def _flush(stream: Any) -> None:
    """Write what a stream still holds; where it cannot be written, drop it.

    Raises:
        OSError: it cannot be written, and somebody waits for it.
    """
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def _say(sentence: str) -> None:
    """Print a sentence on standard error, in one line in which nothing moves the cursor."""
    from ..measure.messages import visible

    with suppress(OSError):
        print(visible(" ".join(sentence.split())), file=sys.stderr)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end if Ctrl-C was pressed, in place of any other error.

    A library that is interrupted while it is imported makes another error of it, such as NumPy an ImportError with
    advice on how to install it.
    """
    pressed = False

    def interrupt(*_: Any) -> NoReturn:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    # Ctrl-C is someone else's if a program has a handler of its own, or a shell runs the command in the background
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with suppress(ValueError):  # in another thread than the main one, which Ctrl-C does not reach
            signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if pressed:
            raise KeyboardInterrupt


def _run(arguments: Sequence[str] | None) -> int:
    """Run a command; return its exit status.

    Raises:
        SystemExit: help was asked for, or the arguments are none of the command.
    """
    asked = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # of a terminal that lacks a dash
    if arguments is None:  # a process of its own
        sys.meta_path.insert(0, _WithoutPandas())
    try:
        with _interruptible():
            from .commands import answer

            found = answer(asked)
            text = found.text(asked.output)
        with suppress(BrokenPipeError):
            print(text)
        _flush(sys.stdout)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        problem = str(error) or "not enough memory"
        if isinstance(error, OSError) and error.strerror is not None:
            problem = f"{'the output' if error.filename is None else error.filename}: {error.strerror}"
        _say(f"ndcg {asked.command}: {problem}")
        return BAD_INPUT
    return found.status


class _WithoutPandas(MetaPathFinder):
    """Keeps pyarrow from importing pandas, as it does wherever that is installed; nothing here needs it."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Refuse pandas, and leave all else to others."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = _Parser(prog="ndcg", description=DESCRIPTION, epilog=EXAMPLES)
    top.add_argument("--version", action=_Version, nargs=0, help="print the version")
    top.add_argument(
        "--print-completion", action=_Completion, metavar="SHELL", help="print the completion of bash, zsh or tcsh"
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (summary, description, examples) in OF_COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=description, epilog=examples)
        _add_arguments(command, name)
    return top


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
            parser.error('--print-completion needs shtab: pip install shtab, or "ndcg[cli]"')
        if shell not in shtab.SUPPORTED_SHELLS:
            parser.error(f"--print-completion knows {', '.join(shtab.SUPPORTED_SHELLS)}; got {shell!r}")
        print(shtab.complete(parser, shell))
        parser.exit()


def _add_arguments(command: argparse.ArgumentParser, name: str) -> None:
    """Add the arguments of a command, the same words as the options in Python."""
    several = name in ("score", "compare")
    _add_file(command, "qrels", "the relevances")
    if name in ("compare", "gate"):
        saved = ", or what ndcg score -o json has saved of it" * (name == "gate")
        _add_file(command, "baseline", f"the run to compare with{saved}")
    if several:
        _add_file(command, "runs", "the scores of one system or several", nargs="+")
    else:
        _add_file(command, "run", "the scores of a system")
    if name == "explain":
        command.add_argument("--got", metavar="NUMBER", help="the number to find, with the digits that you have")
        help_ = "two conventions whose difference to explain"
        command.add_argument("--between", type=_list, metavar="ONE,OTHER", help=help_)
    if name == "gate":
        add = command.add_argument_group("what a regression is").add_argument
        add("--max-drop", type=float, default=0.01, metavar="D", help="the fall that is tolerated (0.01)")
        add("--alpha", type=float, default=0.05, metavar="A", help="the level of significance (0.05)")
    if name == "compare":
        add = command.add_argument_group("what the tests ask").add_argument
        help_ = "two-sided (do they differ?), greater (is the run better?) or less"
        add("--alternative", default="two-sided", metavar="SIDE", help=help_)
        help_ = "with greater: not worse by as much as this?"
        add("--margin", type=float, default=0.0, metavar="D", help=help_)
        help_ = "which p-values are corrected together: of a measure, or all"
        add("--corrected-over", default="measure", metavar="SCOPE", help=help_)
    _add_scoring(command, name)
    _add_reading(command, name)
    _add_answer(command, name)


def _add_scoring(command: argparse.ArgumentParser, name: str) -> None:
    whose = "what is not given is as the convention has it"
    group = command.add_argument_group("what is scored", None if name == "explain" else whose)
    add = group.add_argument
    if name == "explain":
        add("-k", type=_cutoffs, metavar="K", help="the cutoff, how many ranks count (all)")
    else:
        help_ = "nDCG (default), DCG, IDCG, CG, each with a cutoff or not: nDCG@10,DCG@5"
        add("-m", "--measures", type=_list, metavar="NAMES", help=help_)
        help_ = "cutoffs for measures without one: 10 or 5,10,all"
        add("-k", type=_cutoffs, metavar="K", help=help_)
        help_ = f"whose number: sklearn (default) or another of {', '.join(sorted(CONVENTIONS))}"
        add("--convention", choices=tuple(CONVENTIONS), metavar="NAME", help=help_)
    add("--gain", type=_numbers_or_word, help="linear, exponential, binary, or the gains of labels: 0,1,3,7")
    add("--discount", type=_numbers_or_word, help="log, reciprocal, jarvelin, or the discounts of ranks: 1,0.6,0.5")
    add("--log-base", type=float, metavar="B", help="base of the discount's logarithm (2)")
    add("--ideal", help="documents of the ideal ranking: judged, truncated, retrieved or full")
    add("--ties", help="order of equal scores: average, first, last, best, worst or docid")
    help_ = "nDCG of a query with nothing relevant: a number, nan to leave it out, or rightly_empty"
    add("--zero-division", type=_number_or_word, metavar="X", help=help_)
    add("--negative-relevance", metavar="HOW", help="raise, clip or keep")
    add("-J", "--judged-only", action="store_true", default=None, help="leave out documents that were not judged")
    add("--ignore-index", type=float, metavar="X", help="the relevance that marks padding")
    help_ = "judged queries that a run lacks: empty (nothing was retrieved), skip (left out) or raise"
    refused = "; compare and gate refuse them where another run has them, unless this is given"
    add("--missing", help=help_ + refused * (name in ("compare", "gate")))
    _add_file(group, "--exclude", "documents that take no rank: a file of queries and documents", metavar="FILE")


def _add_reading(command: argparse.ArgumentParser, name: str) -> None:
    group = command.add_argument_group("columns of CSV, TSV, JSON, Parquet and Arrow")
    add = group.add_argument
    for column, of in (("query", "all files"), ("document", "all files"), ("score", "runs"), ("label", "the qrels")):
        add(f"--{column}", metavar="NAME", help=f"its column in {of}, if that has a name of its own")
    if name in ("score", "compare"):
        help_ = "slices of the queries too: a file of queries and their slices, or a column of the qrels"
        _add_file(group, "--by", help_, metavar="FILE|COLUMN")


def _add_answer(command: argparse.ArgumentParser, name: str) -> None:
    group = command.add_argument_group("the answer")
    add = group.add_argument
    if name == "score":
        add("-q", "--by-query", action="store_true", help="the value of every query, then of all")
    formats = tuple(each for each in FORMATS if each != "junit" or name == "gate")
    add("-o", "--output", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(formats))
    if name != "explain":
        add("-p", "--places", type=int, default=4, metavar="N", help="decimal places of tables (4)")
        add("--signature", action="store_true", help="print every choice the numbers depend on, and score nothing")
    if name not in ("audit", "explain"):
        add("--confidence", type=float, default=0.95, metavar="C", help="of intervals (0.95)")
    if name in ("compare", "gate"):
        add("--resamples", type=int, default=10_000, metavar="N", help="of the randomisation test, at least (10,000)")
        add("--seed", type=int, default=0, metavar="N", help="of its random numbers (0)")
    if name in ("score", "compare", "explain"):
        _add_file(group, "--plot", "a figure besides: png, svg or pdf", metavar="FILE")


def _add_file(group: Any, name: str, help_: str, **how: Any) -> None:
    """Add an argument that is a file, which shells complete."""
    how.setdefault("metavar", name.removesuffix("s" * (name == "runs")).upper())
    group.add_argument(name, help=help_, **how).complete = {"bash": "_shtab_compgen_files", "zsh": "_files"}


def _list(text: str) -> list[str]:
    return text.split(",")


def _cutoffs(text: str) -> list[int | None]:
    try:
        return [None if each == "all" else int(each) for each in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers of ranks, such as 10 or 5,10,all; got {text!r}") from None


def _numbers_or_word(text: str) -> list[float] | str:
    try:
        return list(map(float, text.split(",")))
    except ValueError:
        return text


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
