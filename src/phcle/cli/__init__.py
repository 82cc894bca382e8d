"""The command line: a few lines per command around the library.

A file holds one command and has its name (`fit.py`, `export.py`), or a few that belong
together (`query_commands.py`). The answers of commands are dataclasses of
`phcle.answers`, which `output.py` prints as JSON or as tables.
`errors_and_signals.py` turns errors into one line and an exit code.

Commands import slow libraries when they run, so that `--help` is quick. This package
may import any other; none imports it.
"""

from phcle.cli.app import main

__all__ = ["main"]
