"""Show results: tables as text, Markdown, HTML and LaTeX; plots; and JUnit. Nothing knows of nDCG.

May import: measure.
"""
