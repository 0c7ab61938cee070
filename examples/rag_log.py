"""Evaluate a retriever's log of chunks, judged in words: print the worst questions, gate in CI.

python examples/rag_log.py log.jsonl judged.csv --at-least 0.6
"""

import argparse

import evaluate

GAIN = {"relevant": 3, "partially": 1, "not relevant": 0}


def main() -> None:
    """Print nDCG@5, its interval and the three worst questions; exit with 1 if it is too low."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "log",
        help='JSON Lines: {"question_id": ..., "chunks": [{"doc_id": ..., "score": ...}, ...]}',
    )
    parser.add_argument("judged", help="CSV with the columns question_id, doc_id and label")
    parser.add_argument("--metric", default="ndcg.py", help="the metric's script or Space")
    parser.add_argument("--at-least", type=float, default=0.0, help="the lowest mean that passes")
    args = parser.parse_args()
    ndcg = evaluate.load(args.metric)
    rankings = {
        "predictions": args.log,
        "references": args.judged,
        "gain": GAIN,
        "duplicates": "best",
    }
    report = ndcg.report(**rankings, k=5)
    print(report)
    lowest = sorted(report.queries.to_pylist(), key=lambda row: row["nDCG@5"])[:3]
    for row in lowest:
        documents = ndcg.documents(**rankings, k=5, queries=[row["query"]]).to_pylist()
        missed = []
        for document in documents:
            is_shown = document["rank"] is not None and document["rank"] <= 5
            if document["gain"] and not is_shown:
                missed.append(document["document"])
        print(
            f"{row['query']}: {row['nDCG@5']:.3f}, not in the first 5: "
            f"{', '.join(missed) or 'none'}"
        )
    if report.scores["nDCG@5"].value < args.at_least:
        raise SystemExit(f"nDCG@5 is below {args.at_least}")


if __name__ == "__main__":
    main()
