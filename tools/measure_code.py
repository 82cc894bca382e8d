"""Size of the tree, and how much of the package a use runs through.

    python tools/measure_code.py --check         # against tools/limits.toml

Lines of code are counted without docstrings, comments and blank lines, and their mean
length without indentation. A use is traced: functions and modules that it enters, and
the deepest stack of them. What only runs at import does not count.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = ROOT / "tools" / "limits.toml"
MAMMALS = ROOT / "examples" / "mammals"
FOLDERS = ("src", "tests", "paper", "benchmarks", "tools")
PAGES = (".js", ".html", ".j2", ".css")
BLOCK_COMMENT = re.compile(r"^\s*(/\*.*?\*/|<!--.*?-->|\{#.*?#\})", re.DOTALL | re.M)
LAYOUT = ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")
SILENT = {getattr(tokenize, name) for name in LAYOUT}
NEEDED = ("numpy", "scipy", "sklearn", "typer", "fastapi", "httpx", "openTSNE")
"""Libraries without which the uses cannot run."""

READY = """
from phcle import PHCLE, read_contexts
tree, traits = folder / "taxonomy.csv", folder / "traits.csv"
given = read_contexts(hierarchy=tree, attributes=traits)
"""
COMMAND = """
from phcle.cli import main
sys.argv = ["phcle", *{words}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
EXPLORER = """
from fastapi.testclient import TestClient
from phcle import load
from phcle.atlas import Opened, Rules, Workspace, make_app
workspace = Workspace(Opened(load(out), "mammals"))
client = TestClient(make_app(workspace, Rules(frozenset({"testserver"}))))
"""
LABEL = "lion"
USES = {
    "PHCLE.fit": (READY, "PHCLE(verbose=False).fit(given.contexts)"),
    "phcle fit": ("", COMMAND.format(words='("fit", str(folder), "--out", str(out))')),
    "phcle nearest": ("", COMMAND.format(words='("nearest", str(out), label)')),
    "phcle complete": ("", COMMAND.format(words='("complete", str(out))')),
    "page of a label": (
        EXPLORER,
        'assert client.get("/api/label", params={"label": label}).status_code == 200',
    ),
}
"""What is made ready, and the use itself. The second one makes the file of the rest."""

TRACE = """
import json, sys, threading
from pathlib import Path
root, folder, out, label, result = sys.argv[1:6]
folder, out = Path(folder), Path(out)
found, deepest, known = set(), 0, {{}}
def is_ours(code):
    # Bodies of classes and modules are no functions, and comprehensions have no name.
    if code not in known:
        is_named_function = code.co_flags & 1 and not code.co_name.startswith("<")
        known[code] = is_named_function and code.co_filename.startswith(root)
    return bool(known[code])
def enter(frame, event, argument):
    global deepest
    if event != "call" or not is_ours(frame.f_code):
        return
    depth, above = 1, frame
    while above := above.f_back:
        code = above.f_code
        if code.co_name == "<module>" and code.co_filename != "<string>":
            return  # it runs because a module is imported
        depth += is_ours(code)
    deepest = max(deepest, depth)
    found.add((frame.f_code.co_filename, frame.f_code.co_qualname))
{ready}
threading.setprofile(enter)
sys.setprofile(enter)
{use}
sys.setprofile(None)
modules = len({{name for name, _ in found}})
measures = {{"functions": len(found), "modules": modules, "frames": deepest}}
Path(result).write_text(json.dumps(measures))
"""


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
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
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


def traced_uses(source: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Functions, modules and the deepest stack of each use."""
    with tempfile.TemporaryDirectory() as folder:
        out, result = Path(folder) / "mammals.phcle", Path(folder) / "found.json"
        for name, (ready, use) in USES.items():
            code = TRACE.format(ready=ready, use=use)
            given = (f"{source}{os.sep}", MAMMALS, out, LABEL, result)
            done = subprocess.run(
                [sys.executable, "-c", code, *map(str, given)],
                env={**os.environ, "PYTHONPATH": str(source.parent)},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                sys.exit(f"{name} cannot be traced:\n{done.stderr}")
            yield name, json.loads(result.read_text())


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
    missing = [x for x in NEEDED if importlib.util.find_spec(x) is None]
    if missing:
        print(f"uses are not traced: this Python lacks {', '.join(missing)}.")
        return all(fits)
    uses = traced_uses(ROOT / "src" / "phcle")
    return all([*fits, *(is_within(x, own, limits[x]) for x, own in uses)])


def main() -> int:
    """Compare all measures of the tree with their limits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="all that it does")
    parser.parse_args()
    return 0 if check() else 1


if __name__ == "__main__":
    sys.exit(main())
