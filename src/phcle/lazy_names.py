"""Packages whose public names load when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    homes : mapping from str to str
        The module of every public name; a module is at home in itself.

    Returns
    -------
    callable
        Loads a name from its module.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        return module if homes[name] == f"{package}.{name}" else getattr(module, name)

    return load
