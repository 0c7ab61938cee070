"""What training libraries call: metrics for trainers and for loops, evaluators and scorers.

May import: measure, inputs, files, scores, statistics.
"""
