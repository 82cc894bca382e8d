"""Make Linux look like macOS or Windows to phcle, and to phcle only.

What these systems lack is hidden from the package, and calls fail as Windows lets them
fail. `PHCLE_TEST_SYSTEM=windows pytest` runs the whole suite so;
`tests/test_desktops.py` runs the default path so in every run.
"""

from __future__ import annotations

import builtins
import errno
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

MACOS = {
    "os": ("sched_", "memfd_", "eventfd", "getrandom", "posix_fadvise", "O_TMPFILE")
}
WINDOWS = {
    "os": (
        *("sched_", "memfd_", "eventfd", "posix_", "pread", "pwrite", "sendfile"),
        *("fork", "wait", "kill", "getuid", "geteuid", "getgid", "getegid", "setsid"),
        *("fchmod", "fchown", "chown", "mkfifo", "getloadavg", "sysconf", "uname"),
        *("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "WIF"),
    ),
    "signal": ("SIGHUP", "SIGALRM", "SIGUSR", "SIGKILL", "SIGPIPE", "alarm", "pause"),
}
"""Beginnings of the names that a module lacks there."""

WINDOWS_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios"}


def is_phcle(depth=2):
    """Whether the caller's caller is a module of the package."""
    name = sys._getframe(depth).f_globals.get("__name__", "")
    return name == "phcle" or name.startswith("phcle.")


def hide(module, beginnings):
    """Let a module's attributes be missing for phcle, wherever they are looked up."""

    class Partial(ModuleType):
        def __getattribute__(self, name):
            if name.startswith(beginnings) and is_phcle():
                raise AttributeError(f"module {module.__name__!r} has no {name!r} here")
            return ModuleType.__getattribute__(self, name)

    module.__class__ = Partial


def hide_modules(names):
    plain_import = builtins.__import__

    def partial_import(name, *rest, **options):
        if name in names and is_phcle():
            raise ImportError(f"No module named {name!r} here")
        return plain_import(name, *rest, **options)

    builtins.__import__ = partial_import


def act_like_windows():
    """Refuse to flush what is open for reading, and to open folders."""
    plain_fsync, plain_open = os.fsync, os.open

    def fsync(handle):
        import fcntl

        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        plain_fsync(handle)

    def open_(path, *rest, **options):
        if is_phcle() and Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return plain_open(path, *rest, **options)

    os.fsync, os.open = fsync, open_


def pretend(system):
    """Let phcle see "macos" or "windows" from now on."""
    if system == "windows":
        act_like_windows()
        hide_modules(WINDOWS_MODULES)
    for name, beginnings in (WINDOWS if system == "windows" else MACOS).items():
        hide(importlib.import_module(name), beginnings)


def pretend_in_children():
    """Let Python processes that are started from here pretend as well."""
    folder = str(Path(__file__).parent / "other_systems_in_children")
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, *paths]))


PRETENDED = os.environ.get("PHCLE_TEST_SYSTEM")
if PRETENDED:
    pretend(PRETENDED)
    pretend_in_children()
