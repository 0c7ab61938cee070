"""The value of each query, and the mean, of rankings in memory, in batches, in several processes or on Spark.

May import: measure, inputs, files, show.
"""
