"""Read files of rankings: TREC lines, CSV, TSV, JSON, Parquet and Arrow, compressed or not.

May import: measure, inputs.
"""
