"""The libraries that the explorer needs, and how to install them."""

from __future__ import annotations

from importlib.util import find_spec

from phcle.errors import PhcleError
from phcle.optional_imports import install_command

__all__ = ["check_extra"]

NEEDED = ("fastapi", "jinja2", "rapidfuzz", "uvicorn")


def check_extra() -> None:
    """Raise an error if a library of the extra is missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise PhcleError(
            f"the explorer needs {', '.join(missing)}: {install_command('explore')}"
        )
