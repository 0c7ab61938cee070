"""Find out whose nDCG a number is and what a function computes, and describe known slips.

May import: measure, inputs, files, scores, show.
"""
