"""Every example of every page runs and prints what the page shows."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
from pathlib import Path

import pytest
from run_examples import (
    Block,
    ExampleError,
    blocks_of,
    compare,
    run_page,
)

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src", ROOT / "paper" / "src")
PAGES = [
    ROOT / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "paper" / "README.md",
]
MOST_NOT_RUN = 3  # blocks per page
# Pages with commands that take minutes, or with data that does not ship with phcle.
MAY_NOT_RUN = ("benchmarks/README.md", "docs/performance.md")
# Examples that need a library which not every Python here has.
NEEDS = {"docs/ecosystem.md": "torch", "docs/howto/gpu.md": "torch"}


def skip_without_library(name):
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")


def with_examples():
    return [page for page in PAGES if "\n```" in page.read_text()]


@pytest.mark.parametrize(
    "page", with_examples(), ids=lambda page: str(page.relative_to(ROOT))
)
def test_examples_of_the_page_run(page, tmp_path, monkeypatch):
    skip_without_library(str(page.relative_to(ROOT)))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, SOURCES)))
    ran = list(run_page(page, tmp_path))
    left_out = [b for b in blocks_of(page) if b.reason is not None]
    assert all(len(block.reason) > 10 for block in left_out)
    if str(page.relative_to(ROOT)) not in MAY_NOT_RUN:
        assert len(left_out) <= max(MOST_NOT_RUN, len(ran))


def test_output_that_differs_from_the_page_is_refused():
    block = Block(Path("a.md"), 1, "python", "", None, "cat 0.50 of 1,000\n... end\n")
    compare(block, "cat   0.51 of 1,010\nanything\nat all end")
    for other in ("cat 0.60 of 1,000\n x end", "dog 0.50 of 1,000\n x end", ""):
        with pytest.raises(ExampleError, match="output differs"):
            compare(block, other)


def test_a_block_that_fails_is_refused_with_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```sh\nfalse\ntrue\n```\n")
    with pytest.raises(ExampleError, match=r"page\.md:3 failed with 1"):
        list(run_page(page, tmp_path))
    page.write_text("```python\nnothing_here\n```\n")
    (tmp_path / "other").mkdir()
    with pytest.raises(ExampleError, match=r"page\.md:1 failed: NameError"):
        list(run_page(page, tmp_path / "other"))


def test_a_block_that_does_not_run_says_why_in_a_comment(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: needs a GPU -->\n\n```sh\nexit 1\n```\n")
    assert [block.reason for block in blocks_of(page)] == ["needs a GPU"]
    assert list(run_page(page, tmp_path)) == []


def modules_with_doctests():
    return [
        ".".join(path.relative_to(source).with_suffix("").parts)
        for source in SOURCES
        for path in sorted(source.rglob("*.py"))
        if any(
            ">>> " in line and "doctest: +SKIP" not in line
            for line in path.read_text(encoding="utf-8").splitlines()
        )
    ]


@pytest.mark.parametrize("name", modules_with_doctests())
def test_examples_in_docstrings_run(name):
    skip_without_library(name)
    outcome = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert outcome.attempted > 0
    assert outcome.failed == 0
