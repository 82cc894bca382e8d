"""The entry point: errors, signals and broken pipes become messages and exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NoReturn

import typer

from phcle.backends.torchrun import is_shared_run, leaving_at_once
from phcle.cli.app import app
from phcle.cli.output import say
from phcle.errors import OptionError, PhcleError, PhcleWarning
from phcle.options import DEFAULTS

BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130
STOPPED_BY = 128
"""Added to the number of a signal, as shells do, for the exit code of what it ended."""

GONE = {
    "map": "`phcle understand --learn` learns a map of pictures",
    "tune": "search with Optuna or scikit-learn, as docs/howto/which-options.md shows",
    "bench": "run the scripts in benchmarks/ of the repository",
    "reproduce": "run `phcle-paper`; pip install ./paper from a clone brings it",
    "index": "`phcle nearest` searches exactly; FAISS: see docs/howto/exporting.md",
}
"""What takes the place of a command that is gone."""

ONLY_SHOWN = {"--help", "--help-all", "--version"}
"""Options that need none of the libraries, which take long to load."""

OUT_OF_MEMORY = (
    "not enough memory; lower --dim, give fewer labels or columns, or close other "
    "programs"
)

NO_MEMORY_TEXTS = ("failed to map segment", "can't start new thread")
"""What other errors than MemoryError say when a library or a thread gets no memory."""

START_MB, FIT_MB, THREAD_MB = 350, 560, 80
"""Addresses that the libraries of a command take, those of one that fits, and those of
each further thread of the two copies of OpenBLAS that NumPy and SciPy bring. Measured;
most stay unused."""

FITTING = {"fit", "demo"}
"""Commands that load scikit-learn, and with it pandas and PyArrow, from the start."""

UsageError: Any = typer.BadParameter.__base__
"""Typer does not export it, and from version to version it is another library's."""

ended_by: list[int] = []
"""Numbers of the signals that this process received."""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    Parameters
    ----------
    words : sequence of str, optional
        What stands after `phcle`; by default what the shell gave.
    """
    _open_closed_streams()
    if hasattr(sys.stdout, "reconfigure"):
        # A name that the terminal cannot encode must not stop the command.
        sys.stdout.reconfigure(errors="replace")
    with leaving_at_once() if is_shared_run() else nullcontext():
        sys.exit(_exit_code(sys.argv[1:] if words is None else list(words)))


def _exit_code(words: Sequence[str]) -> int:
    """Run a command; an error becomes one line and an exit code."""
    try:
        with _warnings_in_lines():
            if words and words[0] in GONE:
                raise OptionError(
                    f"the command {words[0]!r} is gone; {GONE[words[0]]}."
                )
            if words and not ONLY_SHOWN.intersection(words):
                _load_libraries(FIT_MB if FITTING.intersection(words) else START_MB)
            _save_when_terminated()
            code: int = app(words, prog_name="phcle", standalone_mode=False) or 0
            sys.stdout.flush()  # raises BrokenPipeError here rather than at exit
    except PhcleError as error:
        # Faults of several cells or files have a line each.
        text = str(error)
        for line in text.splitlines() if hasattr(error, "faults") else [text]:
            say(line)
        return BAD_INPUT
    except UsageError as error:
        if type(error).__name__ != "NoArgsIsHelpError":  # it has shown the help page
            say(_usage_line(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return BROKEN_PIPE
    except (MemoryError, ImportError, RuntimeError) as error:
        is_memory = isinstance(error, MemoryError)
        if not is_memory and not any(text in str(error) for text in NO_MEMORY_TEXTS):
            raise
        say(f"{OUT_OF_MEMORY}{f' ({error})' if str(error) else ''}.")
        return BAD_INPUT
    except OSError as error:  # such as a full disk
        say(error.strerror or str(error))
        _give_up_stdout()
        return BAD_INPUT
    is_stopped = code == INTERRUPTED and ended_by
    return STOPPED_BY + ended_by.pop() if is_stopped else code


def _usage_line(error: Any) -> str:
    """Say what is wrong with the words of a command, and where to look."""
    text = " ".join(error.format_message().split())
    text = text[:1].lower() + text[1:].removesuffix(".")
    flag = str(getattr(error, "option_name", ""))
    name = flag.lstrip("-").replace("-", "_")
    if name in DEFAULTS and text.startswith("no such"):
        text = f"no such option: {flag}; give it as --set {name}=VALUE"
    elif flag == "--config":
        text = "--config stands before the command: phcle --config run.toml fit"
    end = "" if text.endswith("?") else "."
    where = "" if error.ctx is None else f" See: {error.ctx.command_path} --help"
    return f"{text}{end}{where}"


@contextmanager
def _warnings_in_lines() -> Iterator[None]:
    """Print each warning as one line, once."""
    shown = set()

    def show_once(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", PhcleWarning)
        warnings.showwarning = show_once
        yield


def _load_libraries(start_mb: int) -> None:
    """Load NumPy and SciPy, or refuse a limit of memory in which they cannot start.

    OpenBLAS asks for its memory until it gets it, and Python handles no signal
    meanwhile. So SIGTERM has its plain meaning until both are loaded.
    """
    with suppress(ImportError):  # Windows has no such limit
        resource: Any = importlib.import_module("resource")
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if 0 <= limit < start_mb << 20:
            raise PhcleError(
                f"not enough memory: the limit of this shell is {limit >> 20} MB "
                f"(ulimit -v), and a start takes {start_mb} MB; raise the limit."
            )
        if 0 <= limit < (start_mb + THREAD_MB * (os.cpu_count() or 1)) << 20:
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import scipy.linalg  # noqa: F401


def _save_when_terminated() -> None:
    """Let SIGTERM, and a terminal that closes, act like Ctrl-C, which saves a fit.

    `nohup` ignores SIGHUP, which stays so. Windows has no SIGHUP.
    """
    signal.signal(signal.SIGTERM, _stop)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) == signal.SIG_DFL:
        signal.signal(hangup, _stop)


def _stop(number: int, _frame: object) -> NoReturn:
    """Handle a signal that ends the process."""
    ended_by.append(number)
    raise KeyboardInterrupt


def _open_closed_streams() -> None:
    """Replace standard streams that the caller has closed (`>&-`) by the null device.

    Otherwise Python has None in their place, and the next file that is opened gets the
    number of the stream: messages of libraries would end up in it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the lowest free number is that of the stream
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, null)


def _give_up_stdout() -> None:
    """Drop buffered output that cannot be written, so that the exit does not fail."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
