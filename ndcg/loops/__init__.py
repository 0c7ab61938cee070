"""Interfaces for trainers, evaluators, scorers, training loops and leaderboards.

May import: measure, inputs, scores, statistics.
"""
