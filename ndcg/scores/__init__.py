"""The value of each query and their mean, for rankings in memory, in batches, in several processes or on Spark.

May import: measure, inputs, files.
"""
