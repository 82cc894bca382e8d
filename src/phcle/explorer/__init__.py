"""The explorer: an embedding in the browser, for people and for programs."""
