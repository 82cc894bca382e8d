"""The libraries that the explorer needs, and how to install them."""

from __future__ import annotations

from importlib.util import find_spec

from phcle.errors import PhcleError

__all__ = ["REMEDY", "check_extra"]

REMEDY = "pip install 'phcle[explore]'"

NEEDED = ("fastapi", "jinja2", "rapidfuzz", "uvicorn")


def check_extra() -> None:
    """Raise an error if a library of the extra is missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise PhcleError(f"the explorer needs {', '.join(missing)}: {REMEDY}")
