"""Whether this process is one of several that `torchrun` started; quick to import."""

from __future__ import annotations

import os


def is_shared_run() -> bool:
    """Whether `torchrun` started this process among others.

    Returns
    -------
    bool
        False for a single process.
    """
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ
