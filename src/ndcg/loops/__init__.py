"""What trainers, evaluators, scorers, training loops and leaderboards call.

May import: measure, inputs, scores, statistics.
"""
