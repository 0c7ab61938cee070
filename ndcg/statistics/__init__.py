"""How sure a score is, and which of two systems is better; reports, comparisons, and how they are saved.

May import: measure, files, inputs, scores, show.
"""
