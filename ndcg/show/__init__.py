"""Show results: tables as text, Markdown, HTML and LaTeX; plots; and JUnit. Nothing here knows of nDCG.

May import: measure.
"""
