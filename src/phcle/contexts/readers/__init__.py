"""Readers: files and foreign objects into contexts."""
