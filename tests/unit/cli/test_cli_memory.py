"""With little memory a command ends in one line, and always at SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits of POSIX")

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux limits the addresses of a process"
)

FIT = ("fit", "--hierarchy", "tree.csv", "--dim", "3", "--out", "out.phcle")
QUICKLY_S = 60
"""A fit of the zoo takes two seconds; machines may be busy."""


def phcle_within(megabytes, folder, *command, threads="2"):
    limit = megabytes << 20
    settings = {x: y for x, y in os.environ.items() if x != "OPENBLAS_NUM_THREADS"}
    return subprocess.run(
        [sys.executable, "-m", "phcle", *command],
        cwd=folder,
        env=settings | {"OMP_NUM_THREADS": threads},
        capture_output=True,
        text=True,
        timeout=QUICKLY_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@pytest.mark.parametrize("megabytes", [60, 300, 400, 500, 550, 560, 600, 700])
def test_a_fit_works_within_a_limit_of_memory_or_says_so(zoo, megabytes):
    run = phcle_within(megabytes, zoo, *FIT, "--quiet")
    if run.returncode == 0:
        assert run.stderr == ""
        assert (zoo / "out.phcle").exists()
        return
    assert run.returncode == 2
    assert run.stderr.startswith("phcle: not enough memory")
    assert run.stderr.count("\n") == 1
    assert not (zoo / "out.phcle").exists()


def test_a_limit_too_low_to_start_names_what_is_needed(zoo):
    run = phcle_within(200, zoo, "check", ".", threads="1")
    assert run.returncode == 2
    assert run.stderr == (
        "phcle: not enough memory: the limit of this shell is 200 MB (ulimit -v), and "
        "a start takes 350 MB; raise the limit.\n"
    )


@pytest.mark.parametrize("megabytes", [570, 640])
def test_memory_that_ends_in_a_fit_is_one_line_and_no_file(tmp_path, megabytes):
    edges = [*(f"x{i},g{i % 500}" for i in range(8000)), "g0,r", "g1,r"]
    (tmp_path / "tree.csv").write_text("\n".join(["child,parent", *edges]))
    wide = [*FIT, "--dim", "3000", "--quiet"]  # its vectors take 183 MB
    run = phcle_within(megabytes, tmp_path, *wide, threads="1")
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith("phcle: not enough memory; lower --dim")
    assert run.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["tree.csv"]


def test_sigterm_ends_a_process_that_hangs_while_libraries_load(zoo):
    library = zoo / "libraries" / "scipy"
    library.mkdir(parents=True)
    (library / "__init__.py").touch()
    # A loop that looks at no signal, as that of OpenBLAS does.
    (library / "linalg.py").write_text(
        "import itertools\nprint('loading', flush=True)\n-1 in itertools.count()\n"
    )
    path = os.pathsep.join([str(library.parent), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, "-m", "phcle", *FIT],
        cwd=zoo,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    )
    try:
        assert process.stdout.readline() == "loading\n"
        process.terminate()
        assert process.wait(timeout=QUICKLY_S) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
