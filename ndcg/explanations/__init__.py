"""Whose nDCG a number is, what a function computes, and the slips by which both go wrong.

May import: measure, inputs, files, scores, show.
"""
