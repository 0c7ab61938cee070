"""The value of every query, and the mean: in memory, in batches, in several processes or on Spark.

May import: measure, inputs, files, show.
"""
