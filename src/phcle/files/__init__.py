"""Files: written whole, read with care. Used by every other package."""
