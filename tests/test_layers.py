"""Imports go one way: contexts → embedding → model → … → command line."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import phcle

SOURCE = Path(phcle.__file__).parent

LAYERS = [
    {"errors", "answers", "optional_imports"},
    {"files"},
    {"backends"},
    {"contexts"},
    {"datasets"},
    {"embedding"},
    {"solver", "progress", "options", "sklearn_mixin", "uses"},
    {"estimator"},
    {"report", "tuning", "fit_speed", "unseen_shapes"},
    {"explorer"},
    {"cli", "web"},
]


def layer_of(package):
    return next(i for i, names in enumerate(LAYERS) if package in names)


def imports_of(path):
    """Packages of phcle that a module imports while it runs, types aside."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "phcle."
        ):
            yield node.module.split(".")[1]


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in SOURCE.rglob("*.py")
        if p.parent != SOURCE or p.stem not in ("__init__", "__main__")
    ],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_modules_import_only_from_their_own_layer_or_below(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for other in imports_of(path):
        assert layer_of(other) <= layer_of(own), f"{own} imports {other}"


def test_only_back_ends_and_the_torch_head_import_torch():
    for path in SOURCE.rglob("*.py"):
        if path.is_relative_to(SOURCE / "backends") or path.name == "torch_head.py":
            continue
        assert "import torch" not in path.read_text(), path


def test_importing_the_package_loads_nothing_slow():
    code = (
        "import sys, phcle; "
        "slow = {'numpy', 'scipy', 'sklearn', 'pandas', 'torch', 'rich', 'typer'}; "
        "sys.exit(', '.join(slow & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_public_names_load():
    for name in phcle.__all__:
        assert getattr(phcle, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        phcle.nothing  # noqa: B018
