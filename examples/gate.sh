#!/usr/bin/env bash
# A gate as a CI job has it: fail if the search of this branch is worse than the one that was saved,
# or below a threshold.
#
#   examples/gate.sh              # in an empty folder, with ndcg installed
#
# The runs are made up: that of the branch counts a relevant document for less. In a job of your own,
# the qrels and baseline.json are in the repository, and the branch's search writes branch.txt.
set -euo pipefail

make_run() { # the scores of a search in which relevance counts so much
  awk -v weight="$1" 'BEGIN {
    for (q = 1; q <= 60; q++) for (d = 1; d <= 20; d++)
      printf "q%d Q0 d%d 1 %.4f run\n", q, d, weight * (q * d * 7 % 11 % 3) + (q * 31 + d * d * 17) % 23 / 10
  }'
}
awk 'BEGIN { for (q = 1; q <= 60; q++) for (d = 1; d <= 20; d++) print "q" q, 0, "d" d, q * d * 7 % 11 % 3 }' > qrels.txt
make_run 0.8 > main.txt
make_run 0.5 > branch.txt

# once, when the baseline changes:
ndcg score qrels.txt main.txt -m nDCG@10 -o json > baseline.json

# in each job; exit status 1 ends it, and so does 2, bad input
ndcg gate qrels.txt baseline.json branch.txt -m nDCG@10 --max-drop 0.01 --alpha 0.05 --at-least 0.7 -o markdown \
  | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
