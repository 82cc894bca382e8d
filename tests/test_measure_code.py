"""What counts as a line of code, and that a measure above its limit is told."""

from __future__ import annotations

import measure_code

MODULE = '''"""A docstring."""

import os  # a comment


def place():
    """Say where."""
    # why
    return os.path.join(
        "a",
    )
'''


def test_only_lines_of_code_count(tmp_path):
    (tmp_path / "x.py").write_text(MODULE)
    found = measure_code.code_lines(tmp_path / "x.py")
    lines = ["import os  # a comment", "def place():", "return os.path.join("]
    assert found == [*lines, '"a",', ")"]


def test_every_measure_of_the_tree_has_a_limit_and_one_above_it_is_named(capsys):
    limits = measure_code.tomllib.loads(measure_code.LIMITS.read_text())
    sizes = measure_code.sizes_of_tree()
    assert {*sizes, *measure_code.USES} == set(limits)
    assert all(set(own) == set(limits[name]) for name, own in sizes.items())
    assert measure_code.is_within("src", {"files": 5}, {"files": 5})
    assert not measure_code.is_within("src", {"files": 6}, {"files": 5})
    assert capsys.readouterr().out.splitlines()[1].endswith("OVER")
