"""The command line, called in-process."""

from __future__ import annotations

from typer.testing import CliRunner

from phcle.cli.app import app

__all__ = ["app", "call"]


def call(*arguments, code=0):
    """Call `phcle` with these words; the exit code must be as expected."""
    result = CliRunner().invoke(app, [str(x) for x in arguments])
    assert result.exit_code == code, result.output
    return result
