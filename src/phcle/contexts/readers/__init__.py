"""Readers of files that are no tables: vocabularies, ontologies and word vectors."""
