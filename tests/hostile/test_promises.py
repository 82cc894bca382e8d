"""The page of promises names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "promises-input.md"


def named_tests():
    """Files and names of the tests that the page names."""
    default = file = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        head = re.match(r"Tests of this table are in `([^`]+)`", line)
        if head:
            default = head[1]
        for path, name in re.findall(r"`([^`\s]*)::(test_\w+)`", line):
            file = {"…": default, "": file}.get(path, path)
            yield file, name


def test_every_promise_is_held_by_a_test_that_is_there():
    found = list(named_tests())
    assert len(found) > 40
    for file, name in found:
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), name
