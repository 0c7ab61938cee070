"""What people hold, made into rankings: lists, arrays, columns, frames, mappings, ids and files.

May import: measure.
"""
