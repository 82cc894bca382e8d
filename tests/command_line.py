"""The command line, called in-process."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from phcle.cli import main
from phcle.cli.app import app
from phcle.cli.options import options_in

__all__ = ["app", "call", "live_formulas", "options_in"]


def call(*arguments, code=0):
    """Call `phcle` with these words; the exit code must be as expected."""
    with CliRunner().isolation() as streams:
        with pytest.raises(SystemExit) as end:
            main([str(x) for x in arguments])
        sys.stdout.flush()
        texts = [x.getvalue().decode().replace("\r\n", "\n") for x in streams]
    stdout, stderr, output = texts
    ended = end.value.code
    assert ended == code, output
    return SimpleNamespace(stdout=stdout, stderr=stderr, output=output, exit_code=ended)


def live_formulas(cells):
    """The cells that a spreadsheet would run: numbers with a sign are none."""
    for cell in cells:
        if re.match(r"[=+\-@\t\r]", cell):
            try:
                float(cell)
            except ValueError:
                yield cell
