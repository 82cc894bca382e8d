"""Benchmarks and tools use names that phcle has; what counts as a line of code."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import measure_code
import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")])


def names_of_phcle(path):
    """(module, name) of all that a script imports from phcle."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("phcle"):
            yield from ((node.module, x.name) for x in node.names)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda x: f"{x.parent.name}/{x.name}")
def test_scripts_import_what_exists(path):
    for module, name in names_of_phcle(path):
        try:
            found = importlib.import_module(module)
        except ImportError as error:
            if (error.name or "").startswith("phcle."):
                raise
            pytest.skip(f"{error.name} is not installed")
        if not hasattr(found, name):
            assert importlib.util.find_spec(f"{module}.{name}"), (module, name)


def test_every_measure_of_the_tree_has_a_limit_and_one_above_it_is_named(capsys):
    limits = measure_code.tomllib.loads(measure_code.LIMITS.read_text())
    sizes = measure_code.sizes_of_tree()
    assert {*sizes, *measure_code.USES} == set(limits)
    assert all(set(own) == set(limits[name]) for name, own in sizes.items())
    assert measure_code.is_within("src", {"files": 5}, {"files": 5})
    assert not measure_code.is_within("src", {"files": 6}, {"files": 5})
    assert capsys.readouterr().out.splitlines()[1].endswith("OVER")
