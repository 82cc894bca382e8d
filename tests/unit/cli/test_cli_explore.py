"""The command that starts the explorer: refusals before, the server itself once."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

for module in ("fastapi", "uvicorn"):
    pytest.importorskip(module, reason=f"{module} is not installed")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--host", "0.0.0.0"], "can be reached by others"),
        (["--host", "0.0.0.0", "--public"], "needs a --token"),
        (["--host", "0.0.0.0", "--public", "--token", "x"], "16 characters or more"),
        (["--model", "gone.map"], "gone.map: no such file"),
        (["--compare", "gone.phcle"], "gone.phcle: no such file"),
        (["--host", "256.1.1.1", "--public", "--token", "x" * 16], "cannot listen"),
    ],
)
def test_what_cannot_be_served_is_refused_before_the_start(phcle, fitted, flags, told):
    result = phcle("explore", fitted, "--no-browser", "--port", 0, *flags, code=2)
    assert told in " ".join(result.stderr.split())


def test_without_the_extra_the_remedy_is_told(phcle, fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = phcle("explore", fitted, code=2)
    assert "pip install 'phcle[explore]'" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="ends by a signal")
def test_the_server_answers_on_loopback_until_it_is_told_to_stop(fitted):
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "phcle", "explore", str(fitted)),
            *("--no-browser", "--port", "0"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background inherit that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
        with urlopen(f"{address}api/label?label=cat") as answer:
            assert json.load(answer)["label"] == "cat"
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 130), err
    assert "Traceback" not in out + err
    assert not list(Path(fitted).parent.glob(".*"))
