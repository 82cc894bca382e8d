"""What an embedding stores about its fit."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence

__all__ = ["library_versions", "without_times"]


def library_versions(backend: str = "numpy") -> dict[str, str]:
    """Return the versions of the libraries that the numbers depend on.

    Parameters
    ----------
    backend : str, default "numpy"
        Name of the back end; its library is listed too.

    Returns
    -------
    dict
        Version by package; "source" for a package that runs from a source tree.
    """
    packages = ["phcle", "numpy", "scipy", "scikit-learn"]
    if backend in ("numba", "torch"):
        packages.append(backend)
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "source"
    return found


def without_times(
    history: Sequence[Mapping[str, float]],
) -> tuple[dict[str, float], ...]:
    """Remove times from a history, so that the same fit gives the same file.

    Parameters
    ----------
    history : sequence of mapping
        A record for each sweep.

    Returns
    -------
    tuple of dict
        The records without "seconds".
    """
    return tuple(
        {key: value for key, value in record.items() if key != "seconds"}
        for record in history
    )
