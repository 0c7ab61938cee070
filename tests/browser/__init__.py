"""The page as people and programs use it: a real server, a real browser, real clients.

Each number is from the metric.
"""
