"""The default path runs on macOS and Windows: what Linux alone has is not used.

A subprocess hides from phcle, and from phcle only, what these systems lack, and makes
calls fail as Windows does. Then it imports, fits, saves, searches and explores.
"""

from __future__ import annotations

import builtins
import errno
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

import pytest

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
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return plain_open(path, *rest, **options)

    os.fsync, os.open = fsync, open_


def use_everything(folder):
    """Import, fit, save, search and explore; from Python and by the command line."""
    import phcle
    from phcle.cli import main

    pairs = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
    pairs += [("felid", "animal"), ("canid", "animal")]
    model = phcle.PHCLE(dim=2).fit(phcle.RelationalContext.from_hierarchy(pairs))
    model.embedding_.save(folder / "labels.phcle")
    assert phcle.load(folder / "labels.phcle").nearest("cat", k=1)

    tree = "\n".join(f"{a},{b}" for a, b in [("child", "parent"), *pairs])
    (folder / "tree.csv").write_text(tree, encoding="utf-8")
    out = str(folder / "again.phcle")
    run(
        main, "fit", "--hierarchy", str(folder / "tree.csv"), "--dim", "2", "--out", out
    )
    run(main, "nearest", out, "cat")
    explore(Path(out))


def run(main, *words):
    sys.argv = ["phcle", *words]
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, words


def explore(path):
    """Ask the explorer for its first page, and its server for an address."""
    from starlette.testclient import TestClient

    from phcle.embedding import load
    from phcle.explorer.app import make_app
    from phcle.explorer.security import Rules
    from phcle.explorer.server import address_of, bind
    from phcle.explorer.workspace import Opened, Workspace

    with bind("127.0.0.1", 0) as listening:
        assert address_of(listening, "127.0.0.1").startswith("http://")
    workspace = Workspace(Opened(load(path), path.stem, path))
    workspace.opened.background.wait()
    app = make_app(workspace, Rules(frozenset({"testserver"}), most_bytes=1 << 20))
    with TestClient(app) as client:
        for page in ("/", "/label?label=cat", "/api/nearest?label=cat"):
            assert client.get(page).status_code == 200, page


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_the_default_path_runs_on_other_systems(system, tmp_path):
    for module in ("fastapi", "httpx", "openTSNE", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", __file__, system, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    # A file opened without an encoding is read in the system's own on Windows.
    warnings.filterwarnings("error", category=EncodingWarning, module=r"phcle\.")
    if sys.argv[1] == "windows":
        act_like_windows()
        hide_modules(WINDOWS_MODULES)
    for name, beginnings in (WINDOWS if sys.argv[1] == "windows" else MACOS).items():
        hide(sys.modules[name] if name in sys.modules else __import__(name), beginnings)
    use_everything(Path(sys.argv[2]))
