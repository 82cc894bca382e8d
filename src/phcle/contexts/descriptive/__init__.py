"""Descriptive contexts: what a label is like."""
