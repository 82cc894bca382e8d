"""Run the examples of documentation pages and compare their output.

    python tools/run_examples.py [--write] docs/quickstart.md README.md

The `python` and `sh` blocks of a page run in order, in one temporary folder. The Python
blocks of a page share their variables. A `text` block directly after a block is its
expected output: numbers may differ by 2 % or 0.02, and `...` matches anything.

Comments that readers do not see mark a block that cannot run everywhere, and an output
whose numbers may change:

    <!-- not run: needs a GPU -->
    <!-- numbers vary -->

`--write` puts the real output into the page wherever it
differs, so look at the difference before you commit it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"  # data that pages use; linked into the folder of each page
RUN = ("python", "sh")
SHOWN = ("text", "csv", "toml", "json", "makefile")
SECONDS = 240  # time limit of one shell block

FENCE = re.compile(
    r"(?:^<!-- (?:not run: (?P<reason>[^>]+?)|(?P<vary>numbers vary)) -->\n+)?"
    r"^(?P<mark>```+)(?P<language>[^\n`]*)\n(?P<body>.*?)^(?P=mark)$",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


class ExampleError(AssertionError):
    """An example failed, or its output differs from the page."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    body: str
    reason: str | None = None  # why the block does not run
    printed: str | None = None  # the expected output
    vary: bool = False  # whether any numbers will do in the output

    @property
    def place(self) -> str:
        """Page and line, in the form that editors open."""
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, without Sphinx directives."""
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
            vary = match["vary"] is not None
            found[-1] = replace(found[-1], printed=match["body"], vary=vary)
            continue
        if language not in (*RUN, *SHOWN):
            raise ExampleError(
                f"{page.name}:{line}: a block must say its language, one of "
                f"{', '.join((*RUN, *SHOWN))}. Got {language!r} instead."
            )
        found.append(Block(page, line, language, match["body"], match["reason"]))
    return found


def compare(block: Block, printed: str) -> None:
    """Raise if the output differs from the page by more than rounding."""
    if not _agree(block.printed or "", printed, block.vary):
        raise ExampleError(
            f"{block.place}: the output differs from the page.\n"
            f"--- page\n{block.printed}\n--- output\n{printed}"
        )


def run_page(
    page: Path,
    folder: Path,
    *,
    check: Callable[[Block, str], None] = compare,
) -> Iterator[tuple[Block, float]]:
    """Run the blocks of a page in the folder and yield each with its seconds."""
    environment = _environment(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    (folder / EXAMPLES.name).symlink_to(EXAMPLES)
    with contextlib.chdir(folder):
        for block in blocks_of(page):
            if block.language not in RUN or block.reason is not None:
                continue
            began = time.perf_counter()
            if block.language == "python":
                printed = _run_python(block, names)
            else:
                printed = _run_shell(block, environment)
            if block.printed is not None:
                check(block, printed)
            yield block, time.perf_counter() - began


def write_outputs(page: Path, printed: list[tuple[Block, str]]) -> None:
    """Replace the outputs of the page that differ from what was printed."""
    text = page.read_text(encoding="utf-8")
    for block, output in reversed(printed):
        if _agree(block.printed or "", output):
            continue
        lines = "".join(f"{line.rstrip()}\n" for line in output.rstrip().splitlines())
        start = text.index(f"{block.body}```") + len(block.body)
        before, after = text[:start], text[start:]
        text = before + after.replace(f"\n{block.printed}```", f"\n{lines}```", 1)
        print(f"{block.place}: written")
    page.write_text(text, encoding="utf-8")


def _agree(expected: str, got: str, vary: bool = False) -> bool:
    """Whether an output is the expected one up to rounding, `...` being anything."""
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
    return match is not None and all(
        vary or _close(a, b) for a, b in zip(wanted, match.groups(), strict=True)
    )


def _close(a: str, b: str) -> bool:
    """Whether two numbers are equal up to rounding."""
    x, y = (float(n.replace(",", "").replace("−", "-")) for n in (a, b))
    return abs(x - y) <= max(0.02, 0.02 * abs(x)) + 1e-9


def _run_python(block: Block, names: dict[str, Any]) -> str:
    """Run the block in this process with the page's variables; return its output."""
    # Leading blank lines make tracebacks show the line number of the page.
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
    """Run the block with bash until its first failing command; return its output."""
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
    """Environment in which `python` and `phcle` run with this interpreter."""
    commands = folder / ".commands"
    commands.mkdir()
    for name, module in (("python", ""), ("phcle", " -m phcle")):
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        command.chmod(0o755)
    path = f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}


def run_and_report(page: Path, write: bool) -> None:
    """Run a page in a folder of its own; print the seconds of its blocks."""
    printed: list[tuple[Block, str]] = []

    def keep(block: Block, output: str) -> None:
        printed.append((block, output))

    check = keep if write else compare
    with tempfile.TemporaryDirectory() as name:
        for block, seconds in run_page(page, Path(name), check=check):
            print(f"{block.place:32} {block.language:8} {seconds:6.1f} s")
    if write:
        write_outputs(page, printed)


def main() -> None:
    """Run the named pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="correct the pages")
    given = parser.parse_args()
    for page in given.pages:
        run_and_report(page.resolve(), given.write)


if __name__ == "__main__":
    try:
        main()
    except ExampleError as error:
        sys.exit(str(error))
