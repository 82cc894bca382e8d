"""The libraries that reports need, which the extra `phcle[report]` installs."""

from __future__ import annotations

from types import ModuleType

from phcle.optional_imports import import_optional

__all__ = ["needed"]


def needed(module: str) -> ModuleType:
    """Import a module that reports need.

    Parameters
    ----------
    module : str
        Name of the module.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    BackendError
        If its library is not installed.
    """
    return import_optional(module, extra="report", purpose="a report")
