"""Compiled code: each module needs an extra, and is imported only where it is used.

Modules here may import other modules of `backends`.
"""
