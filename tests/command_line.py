"""The command line, called in-process."""

from __future__ import annotations

import re
import sys
from functools import cache
from types import SimpleNamespace

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from phcle.cli import main
from phcle.cli.app import app
from phcle.cli.options import options_in

__all__ = ["app", "call", "live_formulas", "options_of_fit"]


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


@cache
def _fit():
    group = get_command(app)
    parent = group.make_context("phcle", ["fit"], resilient_parsing=True)
    return parent, group.get_command(parent, "fit")


def options_of_fit(path):
    """What `phcle --config FILE fit` would run with."""
    parent, command = _fit()
    given = options_in(path, command)
    with command.make_context("fit", [], parent=parent, default_map=given) as own:
        return dict(own.params)


def live_formulas(cells):
    """The cells that a spreadsheet would run: numbers with a sign are none."""
    for cell in cells:
        if re.match(r"[=+\-@\t\r]", cell):
            try:
                float(cell)
            except ValueError:
                yield cell
