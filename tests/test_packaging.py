"""What `make dist` refuses, and that automation, Makefile and metadata agree."""

from __future__ import annotations

import re
import subprocess
import tarfile
import tomllib
from pathlib import Path

import check_wheel
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


def test_both_distributions_have_the_same_version():
    research = pytest.importorskip("phcle_paper", reason="phcle_paper is not installed")
    core, paper = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
        for folder in (".", "paper")
    )
    assert core["version"] == paper["version"] == phcle.__version__
    assert research.__version__ == phcle.__version__
    assert f"phcle=={phcle.__version__}" in paper["dependencies"]


def test_every_requirement_has_one_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    own = [x for name, of in extras.items() if name != "dev" for x in of]
    lowest: dict[str, str] = {}
    for line in (*project["dependencies"], *own):
        if line.startswith("phcle["):
            continue
        name, bound = re.fullmatch(
            r"([\w.-]+)(?:\[.*\])?>=([\d.]+)(?:;.*)?", line
        ).groups()
        assert lowest.setdefault(name, bound) == bound, (
            f"{name} has two lowest versions"
        )


def test_workflows_run_targets_that_the_makefile_has_on_all_supported_pythons():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([\w-]+):", makefile, re.M))
    named = re.findall(r"\b(?:tests|tools|benchmarks)/[\w/.]+", makefile)
    assert [x for x in named if not (ROOT / x).exists()] == []
    texts = {x.stem: x.read_text() for x in ROOT.glob(".github/workflows/*.yml")}
    texts["ci"] = (ROOT / ".ci" / "run").read_text()
    assert set(texts) == {"ci", "nightly", "release", "tests"}
    named = set(re.findall(r"\bmake ([a-z]+)", "\n".join(texts.values())))
    (nightly,) = re.findall(r"target: \[(.*)\]", texts["nightly"])
    assert {"core", "dist", "docs", "lowest", "test"} <= named
    assert named | set(nightly.split(", ")) <= targets
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    (tried,) = re.findall(r"python: \[(.*)\]", texts["tests"])
    assert tried.replace('"', "").split(", ") == said
    assert project["requires-python"] == f">={said[0]}"


def test_pre_commit_has_the_ruff_of_the_constraints_and_the_citation_the_version():
    (ruff,) = re.findall(r"^ruff==(.*)$", (ROOT / "constraints.txt").read_text(), re.M)
    assert f"rev: v{ruff}\n" in (ROOT / ".pre-commit-config.yaml").read_text()
    assert f"\nversion: {phcle.__version__}\n" in (ROOT / "CITATION.cff").read_text()
