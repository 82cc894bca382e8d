"""Scripts and styles of the pages: the map of labels, and what pages share."""
