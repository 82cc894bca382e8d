"""The command line seen from a shell: help, start-up, signals, pipes, the demo."""

from __future__ import annotations

import base64
import gzip
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminal import read_all, said_on_a_terminal

import phcle as library

PHCLE = [sys.executable, "-m", "phcle"]
ENDLESS = (
    *("fit", "--hierarchy", "tree.csv", "--dim", "3", "--out", "out.phcle"),
    # Steps too small to get anywhere: this fit ends only when it is told to.
    *("--set", "solver=paper", "--set", "step_size=1e-7", "--set", "dtype=float64"),
    *("--set", "tol=0", "--set", "max_iter=100000000"),
)


def test_version_is_that_of_the_package(phcle):
    assert phcle("--version").stdout == f"phcle {library.__version__}\n"


STOPS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
if hasattr(signal, "SIGHUP"):
    STOPS.append((signal.SIGHUP, 129))


@pytest.mark.posix("needs a pseudo-terminal")
@pytest.mark.parametrize(("sent", "code"), STOPS)
def test_stopped_fit_saves_the_last_whole_sweep(zoo, sent, code):
    import pty

    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*PHCLE, *ENDLESS],
        cwd=zoo,
        stderr=end,
        stdout=subprocess.DEVNULL,
        preexec_fn=_listen,
    )
    os.close(end)
    try:
        shown = b""
        while not re.search(rb"sweep [1-9]", shown):  # the progress bar moves
            shown += os.read(terminal, 4096)
        process.send_signal(sent)
        rest = b"".join(read_all(terminal))
        assert process.wait(timeout=180) == code
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert b"is written to out.phcle" in rest
    assert b"Traceback" not in rest
    assert len(library.load(zoo / "out.phcle")) == 7


@pytest.mark.posix("sends signals")
@pytest.mark.parametrize(("sent", "code"), STOPS)
def test_stopped_fit_is_resumed_to_the_same_bytes(phcle, zoo, sent, code):
    checkpoint = ("--checkpoint", "fit.ckpt", "--checkpoint-every", "0")
    process = subprocess.Popen(
        [*PHCLE, *ENDLESS, *checkpoint],
        cwd=zoo,
        stderr=subprocess.PIPE,
        preexec_fn=_listen,
    )
    while not (zoo / "fit.ckpt").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(sent)
    _, said = process.communicate(timeout=180)
    assert process.returncode == code
    assert b"fit.ckpt holds a whole sweep; --resume goes on from it." in said
    assert sorted(x.name for x in zoo.glob(".*")) == []
    more = f"max_iter={len(library.load(zoo / 'out.phcle').history) + 20}"
    ended = (*ENDLESS[:-1], more, "--quiet")
    for extra in ((), (*checkpoint, "--resume")):
        phcle(*ended, "--out", f"whole{len(extra)}.phcle", *extra)
    assert (zoo / "whole0.phcle").read_bytes() == (zoo / "whole5.phcle").read_bytes()


def _listen():
    """Undo that tests in the background, or below nohup, ignore these signals."""
    for sent, _ in STOPS:
        signal.signal(sent, signal.SIG_DFL)


@pytest.mark.posix("sends signals")
def test_nohup_still_ignores_the_end_of_the_terminal(zoo):
    process = subprocess.Popen(
        [*PHCLE, *ENDLESS, "--checkpoint", "fit.ckpt", "--checkpoint-every", "0"],
        cwd=zoo,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: (_listen(), signal.signal(signal.SIGHUP, signal.SIG_IGN)),
    )
    while not (zoo / "fit.ckpt").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=180) == 143


@pytest.mark.posix("closes streams by a shell")
@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_commands_work_with_closed_streams(zoo, closed):
    fit = shlex.join([*PHCLE, "fit", "--hierarchy", "tree.csv", "--dim", "2"])
    both = subprocess.run(
        f"{fit} --out out.phcle {closed} && {fit} --json --out two.phcle {closed}",
        shell=True,
        cwd=zoo,
        capture_output=True,
    )
    assert (both.returncode, both.stderr.count(b"Traceback")) == (0, 0)
    for name in ("out.phcle", "two.phcle"):
        assert len(library.load(zoo / name)) == 7
    wrong = subprocess.run(
        f"{shlex.join(PHCLE)} info no.phcle {closed}", shell=True, cwd=zoo
    )
    assert wrong.returncode == 2


@pytest.mark.parametrize("words", ["", "Unable to allocate 7 TiB"])
def test_too_little_memory_is_one_line_with_a_remedy(phcle, monkeypatch, words):
    def fail(*_arguments, **_options):
        raise MemoryError(words)

    monkeypatch.setattr(library.PHCLE, "fit", fail)
    fit = ("fit", "--hierarchy", "tree.csv", "--out", "out.phcle", "--quiet")
    said = phcle(*fit, code=2).stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith("phcle: not enough memory; lower --dim")
    assert words in said[0]


def test_fit_stopped_before_the_first_sweep_writes_nothing(phcle, zoo, monkeypatch):
    def stop(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(library.PHCLE, "fit", stop)
    result = phcle(*ENDLESS, code=130)
    assert result.stderr.splitlines()[1:] == [
        "phcle: stopped before there was anything to keep; nothing is written."
    ]
    assert not (zoo / "out.phcle").exists()


@pytest.mark.posix("pipes break otherwise there")
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_broken_pipe_gives_no_traceback(fitted, extra):
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [*PHCLE, "info", fitted, *extra],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert result.returncode == 1
    assert result.stderr == b""


def test_demo_shows_answers_on_one_screen_and_writes_a_page(phcle, zoo):
    shown = phcle("demo", "--out", "a/demo").stdout
    for words in ("1,000 labels", "coffeepot      teapot", "has fur 9", "kayak"):
        assert words in shown
    lines = shown.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    assert "–" not in shown
    assert lines[-1] == f"The map of all labels: {Path('a/demo/index.html')}"
    page = (zoo / "a/demo/index.html").read_text("utf-8")
    (held,) = re.findall(r'<script id="answers" type="text/plain">(.*?)</script>', page)
    answers = gzip.decompress(base64.b64decode(held)).decode()
    for words in ("snow leopard", "sled dog", "kayak"):
        assert words in answers
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=.https?:", page)
    assert len(library.load(zoo / "a/demo/labels.phcle")) == 1000
    tried = re.findall(r"^  phcle (.*)$", shown, flags=re.MULTILINE)
    assert len(tried) == 3
    for command in tried:
        phcle(*shlex.split(command))


@pytest.mark.posix("needs a pseudo-terminal")
def test_demo_opens_its_page_where_somebody_can_see_it(zoo):
    (zoo / "browser").write_text('#!/bin/sh\necho "$1" > opened\n')
    (zoo / "browser").chmod(0o755)
    seen = {"DISPLAY": ":0", "BROWSER": str(zoo / "browser")}
    kept = {x: y for x, y in os.environ.items() if not x.startswith("SSH_")}
    said_on_a_terminal(["demo"], zoo, kept | seen, has_output=True)
    assert (zoo / "opened").exists()


def test_demo_folder_that_is_a_file_is_refused(phcle):
    assert (
        "cannot be made as a folder"
        in phcle("demo", "--out", "tree.csv", code=2).stderr
    )
