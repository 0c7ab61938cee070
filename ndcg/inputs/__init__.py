"""Convert every input format to rankings: lists, arrays, columns, DataFrames, mappings, ids and files.

May import: measure.
"""
