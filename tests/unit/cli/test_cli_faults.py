"""A full disk and a folder without permission: one line, the old file, no leftovers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

resource = pytest.importorskip("resource", reason="limits of POSIX")

NOBODY = 65534
OLD = b"what was there before\n"


def commands(fitted, out):
    """Every command that writes one file, and its name."""
    zoo = fitted.parent
    return {
        "fit": ("fit", "--hierarchy", zoo / "tree.csv", "--quiet", "--out", out / "o"),
        "add": ("add", fitted, "--tags", zoo / "new.csv", "--out", out / "o"),
        "export": ("export", fitted, "--out", out / "o.csv"),
        "vectors": ("export", fitted, "--out", out / "o.vec"),
        "parquet": ("export", fitted, "--out", out / "o.parquet"),
        "map": (
            *("understand", fitted, "--features", zoo / "f.npz"),
            *("--learn", out / "o"),
        ),
        "clusters": ("clusters", fitted, "--count", 2, "--out", out / "o.csv"),
        "complete": ("complete", fitted, "--out", out / "o.csv"),
        "wide": (
            *("complete", fitted, "--wide", zoo / "gaps.csv"),
            *("--out", out / "o.csv"),
        ),
    }


COMMANDS = list(commands(Path("x"), Path("y")))


@pytest.fixture
def inputs(fitted, zoo):
    (zoo / "new.csv").write_text("label,tag\npony,ride\n")
    (zoo / "gaps.csv").write_text("animal,stripes\n" + "wolf,\nunicorn,\n" * 10)
    rng = np.random.default_rng(0)
    names = np.array(["cat", "dog", "lion", "wolf"] * 5)
    np.savez(zoo / "f.npz", features=rng.normal(size=(20, 6)), labels=names)
    return fitted


@pytest.fixture
def small_disk():
    """A file system with room for the old files and little more."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root on Linux")
    folder = Path(tempfile.mkdtemp())
    options = ["-t", "tmpfs", "-o", "size=8k", "none"]
    mounted = subprocess.run(["mount", *options, folder], capture_output=True)
    if mounted.returncode:
        folder.rmdir()
        pytest.skip(f"no file system can be mounted: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)  # PyArrow may linger
    folder.rmdir()


@contextmanager
def no_file_longer_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _error(result):
    """The line of the error, after those about the files that were read."""
    lines = result.stderr.splitlines(keepends=True)
    about_files = re.compile(r"phcle: (\w+\.csv: |labels that no other)")
    errors = [line for line in lines if not about_files.match(line)]
    assert len(errors) == 1, lines
    return errors[0]


def refused(phcle, command, folder):
    """What a command says that cannot write, after a look at the folder."""
    target = Path(str(command[-1]))
    target.write_bytes(OLD)
    before = sorted(path.name for path in folder.iterdir())
    said = _error(phcle(*command, code=2))
    assert said.startswith(f"phcle: {target}: cannot be written (")
    assert target.read_bytes() == OLD
    assert sorted(path.name for path in folder.iterdir()) == before
    return said


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_line_and_keeps_the_old_file(
    phcle, inputs, small_disk, name
):
    command = commands(inputs, small_disk)[name]
    (small_disk / "filler").write_bytes(b"x" * 4096)
    assert "No space left on device" in refused(phcle, command, small_disk)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_cut_off_by_a_limit_is_one_line_and_keeps_the_old_file(
    phcle, inputs, tmp_path, name
):
    folder = tmp_path / "out"
    folder.mkdir()
    with no_file_longer_than(100):
        assert "File too large" in refused(
            phcle, commands(inputs, folder)[name], folder
        )


@contextmanager
def powerless():
    """Root may write anywhere, so be somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed_folder(inputs):
    """A folder that can be read by everybody and written to by nobody."""
    folder = Path(tempfile.mkdtemp())
    for file in inputs.parent.iterdir():
        shutil.copy(file, folder)
        (folder / file.name).chmod(0o644)
    for out in ("o", "o.csv", "o.vec", "o.parquet"):
        (folder / out).write_bytes(OLD)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_without_permission_is_one_line_and_keeps_the_old_file(
    phcle, inputs, closed_folder, name
):
    command = commands(closed_folder / inputs.name, closed_folder)[name]
    before = sorted(path.name for path in closed_folder.iterdir())
    with powerless():
        said = phcle(*command, code=2).stderr
    assert said == f"phcle: {command[-1]}: cannot be written (Permission denied).\n"
    assert Path(str(command[-1])).read_bytes() == OLD
    assert sorted(path.name for path in closed_folder.iterdir()) == before


def test_a_report_on_a_full_disk_is_one_line(phcle, inputs, small_disk):
    result = phcle("report", inputs, "--out", small_disk / "page", code=2)
    *_, last = result.stderr.splitlines()
    assert "cannot be written (No space left on device)" in last
    assert not [path for path in small_disk.rglob("*") if path.is_file()]


def test_a_full_disk_costs_checkpoints_but_not_the_fit(phcle, inputs, small_disk, zoo):
    (small_disk / "filler").write_bytes(b"x" * 4096)
    result = phcle(
        *("fit", "--hierarchy", "tree.csv", "--out", "o.phcle", "--quiet"),
        *(
            "--dim",
            100,
            "--checkpoint",
            small_disk / "fit.ckpt",
            "--checkpoint-every",
            0,
        ),
    )
    assert "warning: no checkpoint of sweep 1: " in result.stderr
    assert "No space left on device" in result.stderr
    assert (zoo / "o.phcle").is_file()
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_checkpoint_that_cannot_be_written_is_said_before_the_first_sweep(phcle, zoo):
    result = phcle(
        *("fit", "--hierarchy", "tree.csv", "--out", "o.phcle"),
        *("--checkpoint", "no/fit.ckpt"),
        code=2,
    )
    assert _error(result) == (
        "phcle: no/fit.ckpt: the folder no does not exist; make it first.\n"
    )


def test_numbers_that_outgrow_their_precision_are_one_line_and_keep_the_old_file(
    phcle, zoo
):
    (zoo / "o.phcle").write_bytes(OLD)
    result = phcle(
        *("fit", "--hierarchy", "tree.csv", "--attributes", "looks.csv"),
        *("--set", "descriptive_weight=3e37", "--out", "o.phcle"),
        code=2,
    )
    said = _error(result)
    assert said.startswith("phcle: the numbers of context 'looks' are no longer finite")
    assert (zoo / "o.phcle").read_bytes() == OLD
