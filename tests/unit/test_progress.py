"""Progress bars: what they say, and when they say nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from phcle import progress


@pytest.fixture
def shown(monkeypatch, capfd):
    """What a terminal shows of a bar, without control codes."""
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")

    def read():
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capfd.readouterr().err)

    return read


def _wait_for_the_bar():
    """Bars start in a thread: let it run."""
    for thread in progress.threading.enumerate():
        if isinstance(thread, progress.threading.Timer):
            thread.join()


def test_counted_work_says_what_is_counted(shown):
    with progress.counted_progress("calibration", enabled=True, unit="trials") as show:
        _wait_for_the_bar()
        show(2, 5)
    assert "calibration: 2 of 5 trials" in shown()


def test_stages_have_their_own_names_and_totals_grow(shown):
    with progress.staged_progress(enabled=True) as show:
        _wait_for_the_bar()
        show("placing labels", 0, 0)
        show("drawing [figures]", 7, 5)
    assert "drawing [figures]: 7 of 7" in shown()


def test_nothing_is_shown_if_turned_off_or_done_at_once(shown, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 60.0)
    for enabled in (True, False):
        with progress.counted_progress("work", enabled=enabled) as show:
            show(1, 2)
    assert shown() == ""


def test_an_interrupted_bar_ends_and_passes_the_interruption_on(shown):
    def work():
        with progress.counted_progress("work", enabled=True) as show:
            _wait_for_the_bar()
            show(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert shown().endswith(("\r", "\n", ""))
    assert not any(
        isinstance(thread, progress.threading.Timer)
        for thread in progress.threading.enumerate()
    )


@pytest.mark.posix("needs a pseudo-terminal")
@pytest.mark.parametrize("extra", [(), ("--quiet",)])
def test_fit_and_report_show_their_stages_on_a_terminal(tmp_path, extra):
    pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")
    rows = "".join(f"x{i},{i % 7},{i % 5}\n" for i in range(60))
    (tmp_path / "looks.csv").write_text(f"label,size,age\n{rows}")
    edges = "".join(f"x{i},group {i % 4}\n" for i in range(60))
    (tmp_path / "tree.csv").write_text(f"child,parent\n{edges}")
    files = "--attributes looks.csv --hierarchy tree.csv"
    fit = f"fit {files} --dim 4 --no-choose --out x.phcle"
    said = _on_a_terminal([*fit.split(), *extra], tmp_path)
    said += _on_a_terminal(["report", "x.phcle", "--out", "page", *extra], tmp_path)
    stages = (r"calibration: \d of ", "placing labels on the map", "drawing figures")
    for stage in stages:
        assert bool(re.search(stage, said)) == (not extra), stage
    assert "Traceback" not in said


def _on_a_terminal(arguments, folder):
    """What a command prints on standard error if that is a terminal."""
    import pty

    terminal, end = pty.openpty()
    code = (
        "import phcle.progress; phcle.progress.DELAY = 0.0; "
        "import phcle.cli; phcle.cli.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stderr=end,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
    )
    os.close(end)
    said = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other end is closed
            break
        if not data:
            break
        said += data
    os.close(terminal)
    assert process.wait(timeout=240) == 0, said
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", said).decode()
