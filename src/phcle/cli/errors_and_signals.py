"""Turn errors, warnings, signals and broken pipes into messages and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from phcle.cli.command_style import UsageError, hide_type, usage_message
from phcle.errors import PhcleError, PhcleWarning, did_you_mean

__all__ = ["GuardedGroup", "Terminated", "leaving_at_once", "raise_terminated", "say"]

BAD_INPUT, BROKEN_PIPE, INTERRUPTED, TERMINATED = 2, 1, 130, 143


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; handled like Ctrl-C."""


def raise_terminated(_signal: int, _frame: object) -> NoReturn:
    """Handle SIGTERM.

    Parameters
    ----------
    _signal : int
        Number of the signal.
    _frame : object
        Where the program was.
    """
    raise Terminated


def say(message: str) -> None:
    """Print one line on standard error.

    Parameters
    ----------
    message : str
        What to print; line breaks become spaces.
    """
    typer.echo(f"phcle: {' '.join(message.splitlines())}", err=True)


class GuardedGroup(TyperGroup):
    """The group of all commands, which handles their errors."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the flags of the group, without types after them.

        Parameters
        ----------
        ctx : click.Context
            The context of the group.

        Returns
        -------
        list of click.Parameter
            The flags.
        """
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            hide_type(parameter)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the words before the command; turn errors into exit codes.

        Parameters
        ----------
        ctx : click.Context
            The context of the group.
        args : list of str
            All words after `phcle`.

        Returns
        -------
        list of str
            What is left.
        """
        with guard():
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command by its name, or suggest the nearest.

        Parameters
        ----------
        ctx : click.Context
            The context of the group.
        args : list of str
            The name of the command and what follows it.

        Returns
        -------
        tuple
            Name, command and other arguments.
        """
        if args[0] not in self.commands and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.commands)
            raise UsageError(f"no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn errors into exit codes.

        Parameters
        ----------
        ctx : click.Context
            The context of the group.

        Returns
        -------
        object
            What the command returns.
        """
        with guard():
            return super().invoke(ctx)


@contextmanager
def guard() -> Iterator[None]:
    """Turn an error into one line and an exit code, and each warning into one line."""
    shown = set()

    def show_once(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", PhcleWarning)
        warnings.showwarning = show_once
        try:
            yield
            sys.stdout.flush()  # raises BrokenPipeError here rather than at exit
        except PhcleError as error:
            # Faults of several cells or files have a line each.
            text = str(error)
            for line in text.splitlines() if hasattr(error, "faults") else [text]:
                say(line)
            raise typer.Exit(BAD_INPUT) from error
        except UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":  # it shows the help page
                raise
            say(usage_message(error))
            raise typer.Exit(BAD_INPUT) from error
        except Terminated as stop:
            raise typer.Exit(TERMINATED) from stop
        except KeyboardInterrupt as stop:
            raise typer.Exit(INTERRUPTED) from stop
        except BrokenPipeError as error:
            _give_up_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except OSError as error:  # such as a full disk
            say(error.strerror or str(error))
            _give_up_stdout()
            raise typer.Exit(BAD_INPUT) from error


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Exit a process of a distributed run without closing its connections.

    Threads of the transport may still wait for a process that has ended. Closing them
    then aborts with SIGABRT and the exit code is lost.

    Yields
    ------
    None
        The body runs as usual.
    """
    try:
        yield
    except SystemExit as leaving:
        _give_up_stdout()
        sys.stderr.flush()
        os._exit(leaving.code if isinstance(leaving.code, int) else 0)


def _give_up_stdout() -> None:
    """Drop buffered output that cannot be written, so that the exit does not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
