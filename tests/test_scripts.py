"""Benchmarks and tools use names that phcle has; most of them run only by hand."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

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
