"""Size of the package, and how many modules a command runs through.

    python tools/measure_code.py                       # this tree
    python tools/measure_code.py --source other/src/phcle

Lines are counted without docstrings, comments and blank lines. A module counts as
entered if one of its functions runs; code that only runs at import does not count.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}

TREE = "child,parent\ncat,felid\nlion,felid\ndog,canid\nwolf,canid\nfelid,x\ncanid,x\n"
LOOKS = "label,tame,kilograms\ncat,1,4\ndog,1,20\nlion,0,190\n"

TRACE = """
import json, os, sys
found = {}
root = sys.argv[1]
def enter(frame, event, argument):
    code = frame.f_code
    is_named = not code.co_name.startswith("<")
    is_function = code.co_flags & 1  # bodies of classes and modules are not
    if not (is_named and is_function and code.co_filename.startswith(root)):
        return
    above = frame
    while above := above.f_back:
        caller = above.f_code
        if caller.co_name == "<module>" and caller.co_filename != "<string>":
            return  # it runs because a module is imported
    found.setdefault(code.co_filename[len(root):], set()).add(code.co_qualname)
import threading
threading.setprofile(enter)
sys.setprofile(enter)
from phcle.cli import main
sys.argv = ["phcle", *sys.argv[3:]]
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
with open(os.environ["FOUND"], "w") as file:
    json.dump({name: sorted(run) for name, run in found.items()}, file)
"""


def code_lines(path: Path) -> int:
    """Lines of a module that hold code."""
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
    return len(lines)


def modules_entered(source: Path, arguments: list[str]) -> dict[str, list[str]]:
    """Functions that a command runs, by module."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        settings = {**os.environ, "PYTHONPATH": str(source.parent), "FOUND": str(found)}
        subprocess.run(
            [sys.executable, "-c", TRACE, f"{source}{os.sep}", "--", *arguments],
            env=settings,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return dict(json.loads(found.read_text()))


def main(arguments: list[str] | None = None) -> None:
    """Print the lines of every package, and the modules of two commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    here = Path(__file__).resolve().parents[1] / "src" / "phcle"
    parser.add_argument("--source", type=Path, default=here)
    parser.add_argument("--list", action="store_true", help="name the modules")
    given = parser.parse_args(arguments)
    source = given.source.resolve()
    sizes: dict[str, int] = {}
    for path in sorted(source.rglob("*.py")):
        part = path.relative_to(source).parts[0]
        sizes[part] = sizes.get(part, 0) + code_lines(path)
    for part, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{size:6} {part}")
    print(f"{sum(sizes.values()):6} lines of code")
    with tempfile.TemporaryDirectory() as folder:
        tree, looks = Path(folder) / "tree.csv", Path(folder) / "looks.csv"
        tree.write_text(TREE)
        looks.write_text(LOOKS)
        out = Path(folder) / "labels.phcle"
        files = ["--hierarchy", str(tree), "--attributes", str(looks)]
        for command in (
            ["fit", *files, "--dim", "3", "--out", str(out)],
            ["nearest", str(out), "cat"],
        ):
            found = modules_entered(source, command)
            n_functions = sum(map(len, found.values()))
            print(f"phcle {command[0]}: {n_functions} functions, {len(found)} modules")
            if given.list:
                for name, functions in sorted(found.items()):
                    print(f"    {name}: {len(functions)}")


if __name__ == "__main__":
    main()
