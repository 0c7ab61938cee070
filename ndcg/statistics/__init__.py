"""How sure a score is, which of two systems is better, and which convention gives a score.

May import: measure, inputs, scores.
"""
