"""Libraries that only reports need, with a remedy where they are not there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from phcle.errors import PhcleError

__all__ = ["REMEDY", "has_extra", "needed"]

REMEDY = "pip install 'phcle[report]'"

NEEDED = ("jinja2", "markdown_it", "matplotlib")


def has_extra() -> bool:
    """Whether a report can be written here."""
    return all(find_spec(name) is not None for name in NEEDED)


def needed(module: str) -> ModuleType:
    """Import a module of the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise PhcleError(f"a report needs: {REMEDY}") from error
