"""Progress bars: what they say, and when they say nothing."""

from __future__ import annotations

import os
import re
import threading
import time

import pytest
from terminal import said_on_a_terminal

from phcle import PHCLE, DescriptiveContext

QUICK = {"dim": 2, "choose": False, "completion": "none"}
CONTEXT = DescriptiveContext.from_tags({"cat": ["tame"], "lion": ["wild"]})


def slow(state):
    time.sleep(0.5)  # longer than it takes until a bar appears


@pytest.fixture
def shown(monkeypatch, capfd):
    """What a terminal shows of a bar, without control codes."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")

    def read():
        out, err = capfd.readouterr()
        assert out == ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)

    return read


@pytest.mark.parametrize("verbose", [True, False])
def test_a_slow_fit_says_what_it_does_if_it_shall(shown, verbose):
    PHCLE(**QUICK, verbose=verbose).fit(CONTEXT, on_step=slow)
    assert bool(re.search(r"learning: sweep \d+, objective", shown())) == verbose


def test_an_interrupted_bar_ends_and_passes_the_interruption_on(shown):
    def interrupt(state):
        slow(state)
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        PHCLE(**QUICK, verbose=True).fit(CONTEXT, on_step=interrupt)
    assert "learning" in shown()
    assert threading.active_count() == before


@pytest.mark.posix("needs a pseudo-terminal")
@pytest.mark.parametrize("extra", [(), ("--quiet",)])
def test_fit_and_report_show_their_stages_on_a_terminal(tmp_path, extra):
    rows = "".join(f"x{i},{i % 7},{i % 5}\n" for i in range(900))
    (tmp_path / "looks.csv").write_text(f"label,size,age\n{rows}")
    edges = "".join(f"x{i},group {i % 4}\n" for i in range(900))
    (tmp_path / "tree.csv").write_text(f"child,parent\n{edges}")
    files = "--attributes looks.csv --hierarchy tree.csv"
    fit = f"fit {files} --dim 4 --no-choose --out x.phcle"
    said = _on_a_terminal([*fit.split(), *extra], tmp_path)
    said += _on_a_terminal(["report", "x.phcle", "--out", "page", *extra], tmp_path)
    for stage in (r"filling gaps, \w+: \d of ", "writing the page"):
        assert bool(re.search(stage, said)) == (not extra), stage
    assert "Traceback" not in said


def _on_a_terminal(arguments, folder):
    """What a command prints on standard error if that is a terminal."""
    wide = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    said = said_on_a_terminal(arguments, folder, wide)
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", said).decode()
