"""The command line.

May import: measure, inputs, scores, statistics, loops.
"""
