"""Reports and comparisons: how sure a score is, which of two systems is better, and how results are saved.

May import: measure, files, inputs, scores, show.
"""
