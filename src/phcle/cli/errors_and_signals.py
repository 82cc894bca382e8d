"""Where the library ends and the shell begins: errors, warnings, signals, pipes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from phcle.cli.config_file import config_option
from phcle.errors import PhcleError, PhcleWarning

__all__ = ["GuardedGroup", "Terminated", "leaving_at_once", "raise_terminated", "say"]

BAD_INPUT, BROKEN_PIPE, INTERRUPTED, TERMINATED = 2, 1, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, which is handled like Ctrl-C."""


def raise_terminated(_signal: int, _frame: object) -> NoReturn:
    """Handle SIGTERM."""
    raise Terminated


def say(message: str) -> None:
    """One line on standard error."""
    typer.echo(f"phcle: {' '.join(message.splitlines())}", err=True)


class GuardedGroup(TyperGroup):
    """All commands run inside one guard, and take options from a file."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, with `--config` where that is not a flag of its own."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            flags = {flag for x in command.params for flag in x.opts}
            if "--config" not in flags:
                command.params.append(config_option())
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and translate whatever ends it early."""
        with guard():
            return super().invoke(ctx)


@contextmanager
def guard() -> Iterator[None]:
    """Turn errors into one line and an exit code, and warnings into one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", PhcleWarning)
        warnings.showwarning = _show_warning
        try:
            yield
            sys.stdout.flush()  # here, so that a broken pipe shows up here
        except PhcleError as error:
            say(str(error))
            raise typer.Exit(BAD_INPUT) from error
        except Terminated as stop:
            raise typer.Exit(TERMINATED) from stop
        except KeyboardInterrupt as stop:
            raise typer.Exit(INTERRUPTED) from stop
        except BrokenPipeError as error:
            _give_up_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except OSError as error:  # a full disk, for one
            say(error.strerror or str(error))
            _give_up_stdout()
            raise typer.Exit(BAD_INPUT) from error


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """End a process of a shared run without taking its connections down.

    Threads of the transport may still wait for a process that is gone; taking them
    down then ends in SIGABRT in place of the exit code.
    """
    try:
        yield
    except SystemExit as leaving:
        _give_up_stdout()
        sys.stderr.flush()
        os._exit(leaving.code if isinstance(leaving.code, int) else 0)


def _give_up_stdout() -> None:
    """Drop what is buffered if it cannot be written, so that exiting does not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say(f"warning: {message}")
