"""Convert every format to rankings: lists, arrays, columns, DataFrames, mappings and ids.

May import: measure.
"""
