"""Scripts and styles that the report and the explorer share, such as the map."""
