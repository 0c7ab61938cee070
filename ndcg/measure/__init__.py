"""The measure: gains, discounts, ties and ideals from plain arrays, and the options to select them.

May import no other folder.
"""
