"""Reports and comparisons: how sure a score is, and which of two systems is better.

May import: measure, files, inputs, scores, show.
"""
