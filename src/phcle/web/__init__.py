"""Scripts and styles that the report and the explorer share, such as the map.

There is no Python code here, so nothing is imported.
"""
