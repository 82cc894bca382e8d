"""pandas, where it is there."""

from __future__ import annotations

from types import ModuleType

from phcle.errors import PhcleError

__all__ = ["pandas_for"]


def pandas_for(what: str) -> ModuleType:
    """The pandas module, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise PhcleError(f"{what} needs: pip install 'phcle[frames]'") from error
    return pandas
