"""Whether this process is one of several that `torchrun` started; quick to import."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def is_shared_run() -> bool:
    """Whether `torchrun` started this process among others.

    Returns
    -------
    bool
        False for a single process.
    """
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Exit a process of a distributed run without closing its connections.

    Threads of the transport may still wait for a process that has ended. Closing them
    then aborts with SIGABRT and the exit code is lost.

    Yields
    ------
    None
        The body runs as usual.
    """
    try:
        yield
    except SystemExit as leaving:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(leaving.code if isinstance(leaving.code, int) else 0)
