"""Stage 2, learning: from contexts to factors."""
