"""Size of the tree.

    python tools/measure_code.py --check                   # against tools/limits.toml
    python tools/measure_code.py --source other/src/phcle  # lines of each package

Lines of code are counted without docstrings, comments and blank lines, and their mean
length without indentation.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ROOT / "tools" / "limits.toml"
FOLDERS = ("src", "tests", "paper", "benchmarks", "tools")
PAGES = (".js", ".html", ".j2", ".css")
BLOCK_COMMENT = re.compile(r"^\s*(/\*.*?\*/|<!--.*?-->|\{#.*?#\})", re.DOTALL | re.M)
LAYOUT = ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")
SILENT = {getattr(tokenize, name) for name in LAYOUT}


def code_lines(path: Path) -> list[str]:
    """Lines of a module that hold code, without indentation."""
    text = path.read_text(encoding="utf-8")
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in SILENT
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        for child in ast.iter_child_nodes(node):
            is_text = isinstance(child, ast.Expr) and isinstance(
                child.value, ast.Constant
            )
            if is_text and isinstance(child.value.value, str):
                lines -= set(range(child.lineno, (child.end_lineno or 0) + 1))
    every = text.splitlines()
    return [every[line - 1].strip() for line in sorted(lines)]


def page_lines(path: Path) -> int:
    """Lines of a script, style or template that are neither blank nor comments."""
    text = BLOCK_COMMENT.sub("", path.read_text(encoding="utf-8"))
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith("//") for line in lines)


def sizes_of_tree() -> dict[str, dict[str, float]]:
    """Measures of every file that git knows, or would take."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = {ROOT / name for name in os.fsdecode(listed.stdout).split("\0")}
    files = [path for path in names if path.is_file()]
    found: dict[str, dict[str, float]] = {}
    for folder in FOLDERS:
        own = [x for x in files if x.suffix == ".py" and ROOT / folder in x.parents]
        lines = [line for path in own for line in code_lines(path)]
        found[folder] = {
            "lines": len(lines),
            "files": len(own),
            "mean length": round(sum(map(len, lines)) / len(lines), 1),
        }
    pages = [x for x in files if x.suffix in PAGES and "vendor" not in x.parts]
    documents = [x for x in files if x.suffix == ".md"]
    words = sum(len(x.read_text(encoding="utf-8").split()) for x in documents)
    found["pages"] = {"lines": sum(map(page_lines, pages))}
    found["documents"] = {"words": words}
    return found


def print_packages(source: Path) -> None:
    """Print the lines of code of each package."""
    sizes: dict[str, int] = {}
    for path in source.rglob("*.py"):
        part = path.relative_to(source).parts[0]
        sizes[part] = sizes.get(part, 0) + len(code_lines(path))
    for part, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:6} {part}")
    print(f"{sum(sizes.values()):6} lines of code")


def is_within(name: str, measures: dict[str, float], limits: dict[str, float]) -> bool:
    """Print measures beside their limits; whether none is over."""
    for measure, value in measures.items():
        limit = limits[measure]
        sign = "OVER" if value > limit else ""
        print(f"{f'{name}: {measure}':28} {value:>8} {limit:>8} {sign}", flush=True)
    return all(measures[x] <= limits[x] for x in measures)


def check() -> bool:
    """Compare every measure with its limit; whether none is over."""
    limits = tomllib.loads(LIMITS.read_text())
    fits = [is_within(x, own, limits[x]) for x, own in sizes_of_tree().items()]
    return all(fits)


def main() -> int:
    """Print the lines of every package, or compare all measures with their limits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src" / "phcle")
    parser.add_argument("--check", action="store_true", help="compare with the limits")
    given = parser.parse_args()
    if given.check:
        return 0 if check() else 1
    print_packages(given.source.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
