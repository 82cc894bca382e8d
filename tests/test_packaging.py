"""What `make dist` refuses."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import check_wheel
import lowest_versions
import pytest

import phcle

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_a_source_archive_that_lacks_a_file_of_the_tests_is_refused(tmp_path):
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True
    )
    tracked = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    assert "paper/pyproject.toml" in tracked
    whole, lacking = tmp_path / "whole.tar.gz", tmp_path / "lacking.tar.gz"
    for path, names in (
        (whole, tracked),
        (lacking, [x for x in tracked if x != "tests/conftest.py"]),
    ):
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:
            for name in names:
                archive.addfile(tarfile.TarInfo(f"phcle-0/{name}"))
    check_wheel.check_sdist(whole)
    with pytest.raises(SystemExit, match=r"lacks tests/conftest\.py"):
        check_wheel.check_sdist(lacking)


def test_the_running_python_is_among_those_that_are_tried(monkeypatch, tmp_path):
    name = f"python3.{sys.version_info.minor}"
    (tmp_path / name).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    assert check_wheel.pythons() == [tmp_path / name]


def test_both_distributions_have_the_same_version():
    research = pytest.importorskip("phcle_paper", reason="phcle_paper is not installed")
    core, paper = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "paper")
    )
    assert core["version"] == paper["version"] == phcle.__version__
    assert research.__version__ == phcle.__version__
    assert paper["dependencies"] == [f"phcle[frames,figures]=={phcle.__version__}"]


def test_every_requirement_has_one_lowest_version():
    found = lowest_versions.lowest_versions((ROOT / "pyproject.toml").read_text())
    assert {"numpy", "scipy", "scikit-learn", "typer", "pandas"} <= set(found)
    with pytest.raises(SystemExit, match="must have a lower bound"):
        lowest_versions.lowest_versions(
            '[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]'
        )
