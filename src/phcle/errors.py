"""Every exception and warning of phcle.

A message says what must hold, what was given instead, and what to do. The command line
catches `PhcleError` in one place and prints it as one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = [
    "BackendError",
    "ContextError",
    "ContextWarning",
    "ConvergenceWarning",
    "FileError",
    "FileFaults",
    "GuessWarning",
    "NumericalError",
    "OptionError",
    "PhcleError",
    "PhcleWarning",
    "UnknownLabelError",
    "check_choice",
    "did_you_mean",
    "some",
]


class PhcleError(Exception):
    """Base of all errors that the user can correct."""


class ContextError(PhcleError, ValueError):
    """A context, or a set of contexts, that cannot be used as given."""


class OptionError(PhcleError, ValueError):
    """An option with a value it cannot have."""


class UnknownLabelError(PhcleError, LookupError):
    """A text that names no label, or several.

    Parameters
    ----------
    message : str
        What went wrong.
    text : str, default ""
        The text.
    near : tuple of str, default ()
        Labels that may be meant.
    """

    def __init__(
        self, message: str, text: str = "", near: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.text, self.near = text, near


class FileError(PhcleError, OSError):
    """A file that is missing, damaged, or of the wrong kind."""


class FileFaults(FileError):
    """All faults that were found in one or several files.

    Parameters
    ----------
    faults : sequence of str
        What is wrong, each with its file and line.
    n_more : int, default 0
        How many further faults there are.

    Attributes
    ----------
    faults : tuple of str
        The faults.
    n_more : int
        How many further faults there are.

    Examples
    --------
    >>> print(FileFaults(["a.csv, line 2: child is empty.", "b.csv: no such file."]))
    a.csv, line 2: child is empty.
    b.csv: no such file.
    """

    def __init__(self, faults: Sequence[str], n_more: int = 0) -> None:
        self.faults = tuple(faults)
        self.n_more = n_more
        more = [f"and {n_more} more faults."] if n_more else []
        super().__init__("\n".join([*faults, *more]))


class BackendError(PhcleError, RuntimeError):
    """A back end or device that is not available."""


class NumericalError(PhcleError, ArithmeticError):
    """Numbers too large for the chosen precision."""


class PhcleWarning(UserWarning):
    """Base of all warnings of phcle."""


class ContextWarning(PhcleWarning):
    """Part of the input was left out; the message says what and how much."""


class GuessWarning(PhcleWarning):
    """Something was guessed; the message says what, and how to say it yourself."""


class ConvergenceWarning(PhcleWarning):
    """The solver stopped before it converged."""


def some(items: Iterable[object], most: int = 5) -> str:
    """Quote the first few of many names for a message.

    Parameters
    ----------
    items : iterable of object
        The names.
    most : int
        How many to quote.

    Returns
    -------
    str
        The quoted names, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = [repr(str(item)) for item in items]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest spellings.

    Parameters
    ----------
    word : str
        What the user wrote.
    known : iterable of str
        What the user may have meant.

    Returns
    -------
    str
        A question to append to a message; empty if no spelling is near.

    Examples
    --------
    >>> did_you_mean("coffepot", ["coffeepot", "violin"])
    " Did you mean 'coffeepot'?"
    """
    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
    near = difflib.get_close_matches(word.lower(), by_lower, n=3, cutoff=0.6)
    if not near:
        return ""
    return f" Did you mean {' or '.join(repr(by_lower[name]) for name in near)}?"


def check_choice(
    what: str, value: str, choices: Iterable[str], where: str | None = None
) -> None:
    """Refuse a name that is not one of the choices, and suggest the nearest.

    Parameters
    ----------
    what : str
        What the name is for, as the message calls it.
    value : str
        The name to check.
    choices : iterable of str
        All names that are allowed.
    where : str, optional
        The file that the name stands in, for the message.
    """
    listed = list(choices)
    if value not in listed:
        place = f"{where}: " if where else ""
        raise OptionError(
            f"{place}{what} must be one of {', '.join(listed)}. Got {value!r} instead."
            f"{did_you_mean(str(value), listed)}"
        )
