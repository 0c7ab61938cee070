"""The measure itself: gains, discounts, ties and ideals from plain arrays, and the options that select them.

May import no other folder.
"""
