"""How numba compiles the kernels beside this module."""

from __future__ import annotations

from typing import Any

import numba


def compiled(function: Any) -> Any:
    """Compile for vectors, and keep the code if there is somewhere to keep it."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        # NaN and infinity keep their meaning: a diverged factor must be seen.
        "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    }
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # no folder that can be written to
        return numba.njit(function, **options)
