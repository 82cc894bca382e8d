"""The command line: a few lines per command around the library.

Libraries that are slow to import are imported by the commands that need them.
"""

from phcle.cli.app import main

__all__ = ["main"]
