"""Tests use public names, so that packages can be rebuilt without touching them.

Public are the packages of `PUBLIC` and what their `__getattr__` offers; of the doors,
the package itself. Nothing below them is imported, patched or named in a patch.
"""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path

TESTS = Path(__file__).parent

PUBLIC = {
    *("phcle", "phcle.tables", "phcle.contexts", "phcle.embedding", "phcle.images"),
    *("phcle.answers", "phcle.errors", "phcle.cli", "phcle.atlas"),
    *("phcle.datasets", "phcle.files", "phcle.options"),
}

INSIDE = [
    *("maths/", "votes/", "fixtures/"),
    *("problems.py", "oracle.py", "conftest.py"),
    "command_line.py",  # calls phcle.cli.app for all others
    "test_docstrings.py",  # looks at every module
]
"""Tests of the mathematics and of kernels, and makers of data, may look inside."""

PATCHES = {"setattr", "setitem", "delattr", "patch", "import_module", "importorskip"}
"""Functions that take the name of what they change or load."""


def is_inner(name):
    """Whether this is a module below the public ones, or a name in one."""
    parts = name.split(".")
    modules = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return any(x not in PUBLIC and is_module(x) for x in modules)


def is_module(name):
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def used_names(source):
    """Names of phcle that a file imports or gives to a patch."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = getattr(node.args[0], "value", None)
            if called in PATCHES and isinstance(given, str):
                yield given


def inner_names(source):
    ours = (x for x in used_names(source) if re.match(r"phcle\.", x))
    return sorted(x for x in ours if is_inner(x))


FILES = [
    file
    for file in sorted(TESTS.rglob("*.py"))
    if not file.relative_to(TESTS).as_posix().startswith(tuple(INSIDE))
]


def test_files_use_public_names_alone():
    found = {x.name: inner_names(x.read_text(encoding="utf-8")) for x in FILES}
    assert {name: own for name, own in found.items() if own} == {}
