"""Files are whole or not there, and what killed processes leave is swept away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from phcle.errors import FileError
from phcle.files import check_can_write, sweep_leftovers, write_tensors, write_whole

posix = pytest.mark.posix("needs locks of POSIX")

WRITER = """
import sys, time
from pathlib import Path
from phcle.files import write_whole
with write_whole(Path(sys.argv[1])) as temporary:
    temporary.write_text("half of")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def writer(tmp_path):
    """A process in the middle of writing a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "file.txt")],
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"writing\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@posix
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, writer):
    (tmp_path / "file.txt").write_text("old")
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(names(tmp_path)) == 2
    with write_whole(tmp_path / "another.txt") as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == ["another.txt", "file.txt"]
    assert (tmp_path / "file.txt").read_text() == "old"


@posix
def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path, writer):
    before = names(tmp_path)
    assert len(before) == 1
    sweep_leftovers(tmp_path)
    assert names(tmp_path) == before


@posix
def test_a_stopped_process_is_not_a_dead_one(tmp_path, writer):
    writer.send_signal(signal.SIGSTOP)
    before = names(tmp_path)
    sweep_leftovers(tmp_path)
    assert names(tmp_path) == before


@posix
def test_files_of_other_programs_are_left_alone(tmp_path):
    others = [".file.txt.abcd1234", ".tmpAbCdEf", "visible.phcle-part", ".file.txt.swp"]
    for name in others:
        (tmp_path / name).write_text("theirs")
    (tmp_path / ".folder.phcle-part").mkdir()
    os.mkfifo(tmp_path / ".pipe.phcle-part")
    (tmp_path / ".link.phcle-part").symlink_to(tmp_path / others[0])
    before = names(tmp_path)
    sweep_leftovers(tmp_path)
    assert names(tmp_path) == before
    (tmp_path / ".file.txt.xyz.phcle-part").write_text("ours, and nobody writes it")
    sweep_leftovers(tmp_path)
    assert names(tmp_path) == before


def test_names_as_long_as_a_system_allows_can_be_written(tmp_path):
    for name in ("n" * 255, "é" * 127):
        with write_whole(tmp_path / name) as temporary:
            temporary.write_text("content")
        assert (tmp_path / name).read_text() == "content"
    assert len(names(tmp_path)) == 2


def test_a_check_leaves_nothing_and_touches_nothing(tmp_path):
    file = tmp_path / "file.txt"
    check_can_write(file)
    assert names(tmp_path) == []
    file.write_text("old")
    check_can_write(file)
    assert file.read_text() == "old"
    with pytest.raises(FileError, match="does not exist; make it first"):
        check_can_write(tmp_path / "no" / "file.txt")


def test_an_error_of_a_library_without_a_reason_is_passed_on(tmp_path):
    with (
        pytest.raises(FileError, match=r"cannot be written \(a library's words\)"),
        write_whole(tmp_path / "file.txt"),
    ):
        raise OSError("a library's words")
    assert names(tmp_path) == []


@pytest.mark.parametrize("metadata", [{}, {"phcle": '{"a": "b\\n\\u00e9 é"}'}])
def test_tensors_are_written_byte_for_byte_as_safetensors_does(tmp_path, metadata):
    rng = np.random.default_rng(0)
    kinds = "bool uint8 int8 int16 uint16 float16 int32 uint32 float32 float64 int64"
    tensors = {
        f"{kind}/é": rng.integers(0, 2, (3, 5)).astype(kind)
        for kind in (*kinds.split(), "uint64")
    }
    tensors |= {"empty": np.zeros((0, 4)), "scalar": np.array(3.0)}
    file = tmp_path / "tensors.safetensors"
    write_tensors(file, tensors, metadata)
    assert file.read_bytes() == save(tensors, metadata or None)
    turned = {"turned": rng.random((3, 4)).T, "swapped": np.arange(3, dtype=">i4")}
    write_tensors(file, turned, metadata)
    found = load_file(file)
    assert all(np.array_equal(found[name], turned[name]) for name in turned)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file
from phcle.errors import FileError
from phcle.files import write_tensors
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
tensors, path = {"a": np.zeros(10_000)}, Path(sys.argv[1])
try:
    save_file(tensors, path)
except SafetensorError as error:
    assert not isinstance(error, OSError)
path.unlink(missing_ok=True)
try:
    write_tensors(path, tensors, {})
except FileError as error:
    print(error)
"""


@posix
def test_a_full_disk_is_reported_which_the_writer_of_safetensors_does_not(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "a.phcle")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("a.phcle: cannot be written (File too large).\n")
    assert names(tmp_path) == []
