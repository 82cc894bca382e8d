"""Relational contexts: which labels occur together or stand near each other."""
