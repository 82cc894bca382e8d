"""Imports go one way, as the contracts in pyproject.toml say, and are quick."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import phcle

SOURCE = Path(phcle.__file__).parent
CONTRACTS = Path(__file__).parents[1] / "pyproject.toml"

BREACHES = {
    "contexts/labels.py": "import phcle.embedding",
    "embedding/search.py": "from torch import nn",
    "embedding/groups.py": "from phcle import model",
    "atlas/layout.py": "import phcle_paper.command",
    "unheard_of.py": "",
}
"""A line to add to a module, and the rule that it breaks."""


def lint(folder):
    """Check the contracts on the package in a folder; give the verdict."""
    pytest.importorskip("importlinter", reason="import-linter is not installed")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename=sys.argv[2], no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, folder, CONTRACTS], capture_output=True, text=True
    )


def test_imports_keep_the_contracts():
    done = lint(SOURCE.parent)
    assert done.returncode == 0, done.stdout


def test_the_contracts_see_every_breach(tmp_path):
    copied = tmp_path / "phcle"
    shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for name, line in BREACHES.items():
        with (copied / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    done = lint(tmp_path)
    assert done.returncode
    for breach in (
        "phcle.contexts is not allowed to import phcle.embedding",
        "phcle.embedding.search -> torch",
        "phcle.embedding is not allowed to import phcle.model",
        "phcle.atlas.layout -> phcle_paper",
        "- phcle.unheard_of",
    ):
        assert breach in done.stdout, breach


def test_importing_the_package_loads_nothing_slow():
    code = (
        "import sys, phcle; "
        "slow = {'numpy', 'scipy', 'sklearn', 'pandas', 'torch', 'rich', 'typer'}; "
        "sys.exit(', '.join(slow & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_libraries_of_tables_load_with_the_first_table(tmp_path):
    rows = "".join(f"l{i},{i * i % 7}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(f"label,x\n{rows}")
    code = """
import sys
for library in ("pandas", "pyarrow", "openpyxl"):
    sys.modules[library] = None  # which ends the child if it is imported
import numpy as np
from phcle import PHCLE, DescriptiveContext, RelationalContext
table = DescriptiveContext("t", tuple("abcdef"), ("x", "y"), np.eye(6, 2))
tree = RelationalContext.from_hierarchy([("a", "r"), ("b", "r"), ("c", "s")])
model = PHCLE(dim=2, choose=False, completion="none", max_iter=200, tol=0.1)
model.fit([table, tree]).embedding_.save("e.phcle")
from phcle.cli import main
sys.argv = ["phcle", "nearest", "e.phcle", "a"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "b" in done.stdout


def test_public_names_load():
    for name in phcle.__all__:
        assert getattr(phcle, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        phcle.nothing  # noqa: B018
