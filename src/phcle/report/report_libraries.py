"""The libraries that reports need, which the extra `phcle[report]` installs."""

from __future__ import annotations

from types import ModuleType

from phcle.optional_imports import import_optional, is_installed

__all__ = ["can_write_reports", "needed"]

LIBRARIES = ("jinja2", "markdown_it", "matplotlib")


def can_write_reports() -> bool:
    """Say whether the libraries of reports are installed.

    Returns
    -------
    bool
        True if all are.
    """
    return is_installed(*LIBRARIES)


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
