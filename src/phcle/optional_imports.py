"""Libraries that only an extra installs, with the command that installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from phcle.errors import BackendError


def install_command(extra: str) -> str:
    """Return the command that installs an extra of phcle.

    Parameters
    ----------
    extra : str
        Name of the extra, as in `pyproject.toml`.

    Returns
    -------
    str
        A command for the shell.

    Examples
    --------
    >>> install_command("explore")
    "pip install 'phcle[explore]'"
    """
    return f"pip install 'phcle[{extra}]'"


def is_installed(*modules: str) -> bool:
    """Say whether all these libraries are installed, without importing them.

    Parameters
    ----------
    *modules : str
        Names of top-level modules.

    Returns
    -------
    bool
        True if Python finds every one of them.

    Examples
    --------
    >>> is_installed("numpy"), is_installed("numpy", "no_such_library")
    (True, False)
    """
    return all(find_spec(module) is not None for module in modules)


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a module of an optional library.

    Parameters
    ----------
    module : str
        Name of the module.
    extra : str
        The extra of phcle that installs the library.
    purpose : str
        What needs it, as the beginning of the error message.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    BackendError
        If the library is not installed. The message has the command that installs it.

    Examples
    --------
    >>> import_optional("no_lib", extra="explore", purpose="the explorer")
    Traceback (most recent call last):
    phcle.errors.BackendError: the explorer needs no_lib: pip install 'phcle[explore]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise BackendError(
            f"{purpose} needs {library}: {install_command(extra)}"
        ) from error
