"""The measure itself: gains, discounts, ties and ideals over plain arrays, and the options that choose them.

May import no other folder.
"""
