"""Turn errors, warnings, signals and broken pipes into messages and exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from phcle.cli.command_style import UsageError, hide_type, usage_message
from phcle.errors import PhcleError, PhcleWarning, did_you_mean

BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130
STOPPED_BY = 128
"""Added to the number of a signal, as shells do, for the exit code of what it ended."""

GONE = {
    "tune": "search with Optuna or scikit-learn, as docs/howto/which-options.md shows",
    "bench": "run the scripts in benchmarks/ of the repository",
    "reproduce": "run `phcle-paper`; pip install ./paper from a clone brings it",
    "index": "`phcle nearest` searches exactly; FAISS: see docs/howto/exporting.md",
}
"""What takes the place of a command that is gone."""

OUT_OF_MEMORY = (
    "not enough memory; lower --dim, give fewer labels or columns, or close other "
    "programs"
)

NO_MEMORY_TEXTS = ("failed to map segment", "can't start new thread")
"""What other errors than MemoryError say when a library or a thread gets no memory."""

START_MB, THREAD_MB = 350, 80
"""Addresses that the libraries of a small fit take, and those of each further thread of
the two copies of OpenBLAS that NumPy and SciPy bring. Measured; most stay unused."""

MOST_THREADS = 64
"""Of OpenBLAS, as NumPy and SciPy build it."""


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM or SIGHUP; handled like Ctrl-C.

    Parameters
    ----------
    number : int
        Number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _raise_terminated(number: int, _frame: object) -> NoReturn:
    """Handle a signal that ends the process."""
    raise Terminated(number)


def save_when_terminated() -> None:
    """Let SIGTERM, and a terminal that closes, save what there is before the end.

    `nohup` ignores SIGHUP, which stays so. Windows has no SIGHUP.
    """
    signal.signal(signal.SIGTERM, _raise_terminated)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) == signal.SIG_DFL:
        signal.signal(hangup, _raise_terminated)


def load_libraries() -> None:
    """Load NumPy and SciPy, or refuse a limit of memory in which they cannot start.

    OpenBLAS asks for its memory until it gets it, and Python handles no signal
    meanwhile. So SIGTERM has its plain meaning until both are loaded.
    """
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # Windows has no such limit
        pass
    else:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        n_threads = _blas_threads()
        needed = START_MB + THREAD_MB * (n_threads - 1)
        if limit != resource.RLIM_INFINITY and limit < needed << 20:
            fewer = ", or set OPENBLAS_NUM_THREADS=1" if n_threads > 1 else ""
            raise PhcleError(
                f"not enough memory: the limit of this shell is {limit >> 20} MB "
                f"(ulimit -v), and a start takes {needed} MB (threads of OpenBLAS: "
                f"{n_threads}); raise the limit{fewer}."
            )
    handles_end = signal.getsignal(signal.SIGTERM) is _raise_terminated
    if handles_end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    import scipy.linalg  # noqa: F401

    if handles_end:
        signal.signal(signal.SIGTERM, _raise_terminated)


def _blas_threads() -> int:
    """Threads that each copy of OpenBLAS will start."""
    most = min(os.cpu_count() or 1, MOST_THREADS)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        wanted = os.environ.get(name, "")
        if wanted.isdecimal() and int(wanted) > 0:
            return min(int(wanted), most)
    return most


def open_closed_streams() -> None:
    """Replace standard streams that the caller has closed (`>&-`) by the null device.

    Otherwise Python has None in their place, and the next file that is opened gets the
    number of the stream: messages of libraries would end up in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        mode = "r" if number == 0 else "w"
        null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115
        if null.fileno() != number and not _is_open(number):
            os.dup2(null.fileno(), number)
        setattr(sys, name, null)


def _is_open(number: int) -> bool:
    """Whether a file has this number."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


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
        """Find a command by its name, or suggest the nearest or what took its place.

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
        name = args[0]
        if name in GONE and name not in self.commands:
            raise PhcleError(f"the command {name!r} is gone; {GONE[name]}.")
        if name not in self.commands and not name.startswith("-"):
            hint = did_you_mean(name, self.commands)
            raise UsageError(f"no command {name!r}.{hint}", ctx)
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
            raise typer.Exit(STOPPED_BY + stop.number) from stop
        except KeyboardInterrupt as stop:
            raise typer.Exit(INTERRUPTED) from stop
        except BrokenPipeError as error:
            _give_up_stdout()
            raise typer.Exit(BROKEN_PIPE) from error
        except MemoryError as error:
            say(f"{OUT_OF_MEMORY}{f' ({error})' if str(error) else ''}.")
            raise typer.Exit(BAD_INPUT) from error
        except (ImportError, RuntimeError) as error:
            if not any(text in str(error) for text in NO_MEMORY_TEXTS):
                raise
            say(f"{OUT_OF_MEMORY} ({error}).")
            raise typer.Exit(BAD_INPUT) from error
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
