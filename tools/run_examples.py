"""Run the examples of pages as a reader would paste them, and compare what they print.

    python tools/run_examples.py [--all] docs/quickstart.md README.md

Every `python` and `sh` block of a page runs, in order, in one temporary folder; the
Python blocks of a page share their names. A `text` block right after one that ran is
what it prints: numbers may be off by 2 % or 0.02, and `...` stands for anything. A
block that cannot run everywhere has a line above it that readers see as well:
*Not run by the tests: why.*
`--all` runs those as well.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUN = ("python", "sh")
SHOWN = ("text", "csv", "toml", "json", "makefile")
SECONDS = 240  # that one shell block may take

FENCE = re.compile(
    r"(?:^\*Not run by the tests: (?P<reason>[^*]+)\*\n+)?"
    r"^(?P<mark>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=mark)$",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


class ExampleError(AssertionError):
    """An example failed, or printed something else than its page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    body: str
    reason: str | None = None  # why it is not run
    printed: str | None = None  # what the page says it prints

    @property
    def place(self) -> str:
        """Page and line, as an editor takes it."""
        return f"{self.page.name}:{self.line}"

    @property
    def runs(self) -> bool:
        """Whether the block is run."""
        return self.language in RUN and self.reason is None


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, directives of the site left out."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end_of_last = 0
    for match in FENCE.finditer(text):
        language = match["language"].strip()
        follows = not text[end_of_last : match.start()].strip()
        end_of_last = match.end()
        if language.startswith("{"):
            continue
        line = text.count("\n", 0, match.start("mark")) + 1
        if language == "text" and follows and found and found[-1].language in RUN:
            found[-1] = replace(found[-1], printed=match["body"])
            continue
        if language not in (*RUN, *SHOWN):
            raise ExampleError(
                f"{page.name}:{line}: a block must say its language, one of "
                f"{', '.join((*RUN, *SHOWN))}. Got {language!r} instead."
            )
        found.append(Block(page, line, language, match["body"], match["reason"]))
    return found


def run_page(
    page: Path, folder: Path, *, everything: bool = False
) -> Iterator[tuple[Block, float]]:
    """Run the blocks of a page in the folder; each with its seconds once it is done."""
    environment = _environment(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for block in blocks_of(page):
            if not (block.runs or (everything and block.language in RUN)):
                continue
            began = time.perf_counter()
            if block.language == "python":
                printed = _run_python(block, names)
            else:
                printed = _run_shell(block, environment)
            if block.printed is not None:
                compare(block, printed)
            yield block, time.perf_counter() - began


def compare(block: Block, printed: str) -> None:
    """Refuse what differs from the page by more than rounding."""
    expected, got = block.printed or "", printed
    pattern = ""
    wanted: list[str] = []
    for piece in re.split(r"(\.\.\.|\s+)", expected.strip()):
        if piece == "...":
            pattern += r"[\s\S]*?"
        elif not piece or piece.isspace():
            pattern += r"\s*" if not piece else r"\s+"
        else:
            parts = NUMBER.split(piece)
            wanted += NUMBER.findall(piece)
            pattern += f"({NUMBER.pattern})".join(map(re.escape, parts))
    match = re.fullmatch(pattern, got.strip())
    close = match is not None and all(
        _close(a, b) for a, b in zip(wanted, match.groups(), strict=True)
    )
    if not close:
        raise ExampleError(
            f"{block.place} prints something else than the page says.\n"
            f"--- the page\n{expected}\n--- printed\n{got}"
        )


def _close(a: str, b: str) -> bool:
    """Whether two numbers differ by rounding alone."""
    x, y = (float(n.replace(",", "").replace("−", "-")) for n in (a, b))
    return abs(x - y) <= max(0.02, 0.02 * abs(x)) + 1e-9


def _run_python(block: Block, names: dict[str, Any]) -> str:
    """What the block prints, run in this process with the page's names."""
    # Tracebacks show the page's own line.
    source = "\n" * block.line + block.body
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(block.page), "exec"), names)
    except Exception as error:
        raise ExampleError(
            f"{block.place} failed: {type(error).__name__}: {error}\n{block.body}"
        ) from error
    return printed.getvalue()


def _run_shell(block: Block, environment: dict[str, str]) -> str:
    """What the block prints, run by bash, which stops at the first failure."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.body],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise ExampleError(
            f"{block.place} failed with {done.returncode}:\n{block.body}"
            f"{done.stdout}{done.stderr}"
        )
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    """Variables for shells: `python` and `phcle` are those of this interpreter."""
    commands = folder / ".commands"
    commands.mkdir()
    for name, module in (("python", ""), ("phcle", " -m phcle")):
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        command.chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}


def main() -> None:
    """Run the pages that are named, each in a folder of its own."""
    everything = "--all" in sys.argv
    for name in (x for x in sys.argv[1:] if x != "--all"):
        page = Path(name).resolve()
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            for block, seconds in run_page(page, Path(folder), everything=everything):
                print(f"{block.place:32} {block.language:8} {seconds:6.1f} s")
        print(f"{page.name}: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except ExampleError as error:
        sys.exit(str(error))
