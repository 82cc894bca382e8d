"""Stage 2, learning: contexts in, a label embedding out."""
