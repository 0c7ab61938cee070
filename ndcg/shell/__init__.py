"""The command line.

May import: measure, inputs, files, scores, show, statistics, explanations.
"""
