"""The command line: a command is its signature, its help with an example, and a call.

Commands that belong together share a file. `app.py` lists them, `options.py` has the
options that several of them take, `output.py` prints and writes their answers, and
`run.py` turns errors and signals into messages and exit codes.

Commands import slow libraries when they run, so that `--help` is quick. This package
may import any other; none imports it.
"""

from phcle.cli.run import main

__all__ = ["main"]
