"""Commands of the shell with files or options that are refused: a sentence on standard error."""

from typing import Any

from refusals import Row, refused, shell

QRELS = {f"q{query}": {"d0": query % 2, "d1": 1, "d2": 0} for query in range(4)}
MAIN = {query: {"d0": 0.5, "d1": 0.25, "d2": 0.125} for query in QRELS}
WORSE = {query: {"d0": 0.5, "d1": 0.25, "d2": 0.75} for query in QRELS}


def trec(run: dict[str, dict[str, float]]) -> str:
    """A run of TREC."""
    lines = []
    for query, documents in run.items():
        lines += [f"{query} Q0 {document} 1 {score} tag\n" for document, score in documents.items()]
    return "".join(lines)


FILES = {
    "qrels_txt": "".join(
        f"{query} 0 {document} {relevance}\n"
        for query, documents in QRELS.items()
        for document, relevance in documents.items()
    ),
    "main_txt": trec(MAIN),
    "worse_txt": trec(WORSE),
    "part_txt": trec({"q0": MAIN["q0"]}),
    "other_txt": trec({"x0": MAIN["q0"]}),
}
SCORE = "score qrels.txt main.txt"
COMPARE = "compare qrels.txt main.txt worse.txt"
GATE = "gate qrels.txt main.txt"


def said(command: str, argument: str, *places: str, **files: Any) -> Row:
    """The row of a command that ends in a sentence."""
    return refused(shell, argument, *places, command=command, **{**FILES, **files})


SIDES: dict[str, Row] = {
    "a missing file": said("score qrels.txt none.txt", "none.txt"),
    "no query in common": said(f"{GATE} other.txt", "other.txt"),
    "no number": said(
        "score qrels.txt line.txt",
        "line.txt",
        "line 2",
        line_txt="q0 Q0 d0 1 2 t\nq0 Q0 d1 1 2.x t\n",
    ),
    "a decimal comma": said(
        "score qrels.txt a.csv", "a.csv", "line 2", a_csv="qid;docid;score\nq0;1.11;0,5\n"
    ),
    "responses without queries": said(
        "score qrels.txt a.json",
        "a.json",
        a_json='{"responses": [{"hits": [{"_id": "d0", "_score": 2}]}]}',
    ),
    "a table whose rows have no query": said(
        "score a.csv main.txt --query -", "a.csv", a_csv="qid,docid,rating\nq0,d0,1\n"
    ),
    "a run without a query of the first": said("compare qrels.txt main.txt part.txt", "part"),
    "a run twice": said(f"{SCORE} main.txt", "main.txt"),
    "standard input twice": said("score - -", "standard input"),
    "standard input for slices too": said("score qrels.txt - --by -", "standard input"),
    "standard input to exclude too": said(
        "score qrels.txt - --exclude /dev/stdin", "standard input"
    ),
    "standard input for values too": said("explain qrels.txt - --got -", "standard input"),
    "no run": said("score qrels.txt", "RUN"),
    "no run for another measure": said("score qrels.txt -m nDCG", "RUN"),
    "no run for values of queries": said("score qrels.txt -m IDCG -q", "RUN"),
    "no run to compare": said("compare qrels.txt main.txt", "give one RUN"),
    "swapped": said("score main.txt qrels.txt", "main.txt", "line 1"),
    "swapped tables": said(
        "score a.csv b.csv",
        "b.csv",
        a_csv="user,item,score\nq0,d0,0.5\n",
        b_csv="user,item,timestamp\nq0,d0,1600000000\n",
    ),
    "one table with one column of values": said(
        "score a.csv a.csv", "a.csv", a_csv="user,item,score\nq0,d0,0.5\n"
    ),
    "tables with lists of their own names": said(
        "score a.json b.json",
        "qrels",
        "a.json",
        a_json='[{"user": "q0", "clicked": ["d0"]}]',
        b_json='[{"user": "q0", "recs": ["d0", "d1"]}]',
    ),
    "three files with names of their own": said(
        "score j.csv r.csv --exclude x.csv",
        "qrels",
        "j.csv",
        j_csv="reader,book,stars\nq,a,1\n",
        r_csv="reader,book,likely\nq,a,.5\n",
        x_csv="reader,book\nq,b\n",
    ),
    "a format that is not known": said(f"{SCORE} --format yaml", "--format"),
    "another format than said": said(f"{SCORE} --format json", "qrels.txt", "line 1, column 1"),
    "labels without gains": said(
        "score a.txt main.txt", "a.txt", "line 1", a_txt="q0 0 d0 no\nq0 0 d1 Relevnt\n"
    ),
    "a label without a gain": said(
        "score a.txt main.txt --gain relevant=3,no=0",
        "a.txt",
        "line 2",
        a_txt="q0 0 d0 no\nq0 0 d1 Relevnt\n",
    ),
    "a saved result as a run": said(
        "score qrels.txt a.json", "a.json", a_json='{"signature": "x", "scores": {}}'
    ),
    "a negative relevance": said(
        "score a.txt main.txt",
        "a.txt",
        "line 2",
        "query 'q0', document 'd1'",
        a_txt="q0 0 d0 1\nq0 0 d1 -1\n",
    ),
}

COLUMNS: dict[str, Row] = {
    "an unknown query": said(
        "score qrels.txt a.csv", "a.csv", a_csv="topic_no,docno,score\nq0,d0,1\n"
    ),
    "an unknown document": said(
        "score qrels.txt a.csv", "a.csv", a_csv="qid,passage,score\nq0,d0,1\n"
    ),
    "an unknown score": said("score qrels.txt a.csv", "a.csv", a_csv="qid,docno,logit\nq0,d0,1\n"),
    "an unknown relevance": said(
        "score a.csv main.txt", "qrels", "a.csv", a_csv="qid,docno,stars\nq0,d0,1\n"
    ),
    "a relevance that is not there": said(
        "score a.csv main.txt --relevance grade",
        "qrels",
        "a.csv",
        a_csv="qid,docno,stars\nq0,d0,1\n",
    ),
    "a log on both sides": said(
        "score a.csv a.csv", "qrels", "a.csv", a_csv="member,film,stars,points\nq,d,1,0.5\n"
    ),
    "a query that is not there": said(
        "score qrels.txt a.csv --query member", "--query", a_csv="user,item,score\nq0,d1,2\n"
    ),
    "two logs": said(
        "score b.csv a.csv",
        "qrels",
        "b.csv",
        a_csv="member,film,points\nq,d,1\n",
        b_csv="member,film,stars\nq,d,1\n",
    ),
}

OPTIONS: dict[str, Row] = {
    "an option of another command": said(f"{SCORE} --max-drop 3", "unrecognized arguments"),
    "an option of LightGBM": said(f"{SCORE} --label-gain=0,1,3", "unrecognized arguments"),
    "a gain": said(f"{SCORE} --gain exp", "--gain"),
    "worst": said(f"{SCORE} --worst few", "argument --worst"),
    "k": said(f"{SCORE} -k ten", "argument -k"),
    "a discount that is too short": said(f"{SCORE} -k 3 --discount 1,.5", "--discount"),
    "a measure of trec_eval": said(f"{SCORE} -m ndcg_cut.10", "--measures"),
    "ignore_index": said(f"{SCORE} --ignore-index nan", "--ignore-index"),
    "places": said(f"{SCORE} -p 17", "--places"),
    "confidence": said(f"{SCORE} --confidence nan", "--confidence"),
    "JUnit": said(f"{SCORE} -o junit", "argument -o/--output").quoting("invalid choice: "),
    "a plot of another kind": said(f"{SCORE} --plot x.gif", "--plot x.gif"),
    "a margin": said(f"{COMPARE} --alternative greater --margin nan", "--margin"),
    "fewer than no worst queries": said(f"{COMPARE} --worst -1", "--worst"),
    "a drop": said(f"{GATE} worse.txt --max-drop inf", "--max-drop"),
    "a seed": said(f"{GATE} worse.txt --seed -1", "--seed"),
    "another measure to explain": said("explain qrels.txt main.txt -m DCG", "-m"),
    "two cutoffs to explain": said("explain qrels.txt main.txt -k 5,10", "-k"),
    "reports that are none": said(
        "compare --reports main.txt part.txt", "main.txt", "line 1, column 1"
    ),
    "unpaired runs": said(f"{COMPARE} --unpaired", "--unpaired"),
    "a file too many": said(
        "gate qrels.txt main.txt worse.txt other.txt", "unrecognized arguments"
    ),
    "a file too few": said("gate qrels.txt -k 10", "the following arguments"),
    "two files too few": said("audit -k 10", "the following arguments"),
}

OTHER_FILES: dict[str, Row] = {
    "slices of two lengths": said(
        f"{SCORE} --by by.txt", "by.txt", "line 2", by_txt="q0 en\nq1 de fr\n"
    ),
    "slices of a long line": said(f"{SCORE} --by by.txt", "by.txt", "line 1", by_txt="q" * 200_000),
    "slices with a query twice": said(
        f"{SCORE} --by by.json", "by.json", by_json='{"q0": "en", "q0": "fr"}'
    ),
    "slices that are nested": said(
        f"{SCORE} --by by.json", "by.json", by_json='{"q0": ' + "[" * 10**5
    ),
    "no slices": said(f"{SCORE} --by by.csv", "by.csv", by_csv=""),
    "slices without names": said(f"{SCORE} --by by.csv:y", "by.csv", by_csv="q0,en,1\n"),
    "slices of one column": said(f"{SCORE} --by by.csv:y", "by.csv", by_csv="q0\n"),
    "slices of two lengths with names": said(
        f"{SCORE} --by by.csv:y", "by.csv", "line 2", by_csv="qid,x,y\nq0,a\n"
    ),
    "two slices of a query": said(
        f"{SCORE} --by by.csv:y", "by.csv", "row 1 (from 0)", by_csv="qid,y\nq0,en\nq0,de"
    ),
    "slices without queries": said(
        f"{SCORE} --by by.json:y", "by.json", by_json='[{"topics": "q0", "y": "en"}]'
    ),
    "slices of a mapping by a name": said(
        f"{SCORE} --by by.json:y", "by.json", by_json='{"q0": "en"}'
    ),
    "slices in UTF-16": said(f"{SCORE} --by by.csv:y", "by.csv", by_csv="q0,en\n".encode("utf-16")),
    "slices in a ZIP archive": said(f"{SCORE} --by by.csv:y", "by.csv", by_csv=b"PK\3\4"),
    "slices of a column that is not there": said(
        "score a.csv main.txt --by genre", "a.csv", a_csv="qid,docid,relevance,lang\nq0,d0,1,en\n"
    ),
    "slices of a mapping as qrels": said(
        "score a.json main.txt --by genre", "a.json", a_json='{"q0": {"d0": 1}}'
    ),
    "a baseline that is cut": said(
        "gate qrels.txt a.json main.txt", "a.json", "line 1, column 18", a_json='{"signature": "x"'
    ),
    "a baseline of no run": said(
        "gate qrels.txt a.json main.txt", "a.json", a_json='{"signature": "x", "scores": {}}'
    ),
    "values that are missing": said("explain qrels.txt main.txt --got none.txt", "--got"),
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {
        "sides": SIDES,
        "columns": COLUMNS,
        "options": OPTIONS,
        "other files": OTHER_FILES,
    }.items()
    for name, row in rows.items()
}
