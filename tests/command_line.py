"""The command line, called in-process."""

from __future__ import annotations

import re

from typer.testing import CliRunner

from phcle.cli.app import app

__all__ = ["app", "call", "live_formulas"]


def call(*arguments, code=0):
    """Call `phcle` with these words; the exit code must be as expected."""
    result = CliRunner().invoke(app, [str(x) for x in arguments])
    assert result.exit_code == code, result.output
    return result


def live_formulas(cells):
    """The cells that a spreadsheet would run: numbers with a sign are none."""
    for cell in cells:
        if re.match(r"[=+\-@\t\r]", cell):
            try:
                float(cell)
            except ValueError:
                yield cell
