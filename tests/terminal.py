"""Commands whose output goes to a terminal, as `pty` makes one."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["read_all", "said_on_a_terminal"]

LIMIT_S = 240  # seconds; machines may be busy


def read_all(terminal):
    """What is written until the other end is closed."""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other end is closed
            return
        if not data:
            return
        yield data


def said_on_a_terminal(words, folder, environment, *, has_output=False):
    """What `phcle` prints on a terminal, by default only its errors and progress."""
    import pty

    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "phcle", *words],
        cwd=folder,
        env=environment,
        stderr=end,
        stdout=end if has_output else subprocess.DEVNULL,
    )
    os.close(end)
    said = b"".join(read_all(terminal))
    os.close(terminal)
    assert process.wait(timeout=LIMIT_S) == 0, said
    return said
