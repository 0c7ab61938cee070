"""Interfaces for trainers, evaluators, scorers, training loops and leaderboards.

May import: measure, inputs, files, scores, statistics.
"""
