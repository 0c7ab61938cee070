"""Read files of rankings: TREC, CSV, TSV, JSON, Parquet and Arrow, compressed or not.

May import: measure, inputs.
"""
