"""Scripts, styles and templates that the report and the explorer share.

There is no Python code here, so nothing is imported.
"""
