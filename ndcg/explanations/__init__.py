"""Find out whose nDCG a number is and what a function computes, and describe the known slips of both.

May import: measure, inputs, files, scores, show.
"""
