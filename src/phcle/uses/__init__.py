"""Stage 4: what label embeddings are for."""
