"""Every exception and warning of phcle.

An error says what must hold, what came instead, and what to do. The command line
catches `PhcleError` once and prints it as one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BackendError",
    "ContextError",
    "ContextWarning",
    "ConvergenceWarning",
    "FileError",
    "NumericalError",
    "OptionError",
    "PhcleError",
    "PhcleWarning",
    "UnknownLabelError",
    "did_you_mean",
    "some",
]


class PhcleError(Exception):
    """Anything the user can put right."""


class ContextError(PhcleError, ValueError):
    """A context, or a set of contexts, that cannot be used as given."""


class OptionError(PhcleError, ValueError):
    """An option with a value it cannot have."""


class UnknownLabelError(PhcleError, LookupError):
    """A label that the embedding does not hold."""


class FileError(PhcleError, OSError):
    """A file that is missing, damaged, or not what it should be."""


class BackendError(PhcleError, RuntimeError):
    """A back end or device that is not there."""


class NumericalError(PhcleError, ArithmeticError):
    """Numbers that outgrew what the precision can hold."""


class PhcleWarning(UserWarning):
    """Base of all warnings of phcle."""


class ContextWarning(PhcleWarning):
    """Input was dropped where dropping is right; says what and how many."""


class ConvergenceWarning(PhcleWarning):
    """The solver stopped before it converged."""


def some(items: Iterable[object], most: int = 5) -> str:
    """Quote the first few of many names for a message.

    >>> some(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = [repr(str(item)) for item in items]
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest spellings, or say nothing if none is near.

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
