"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tools/lowest_versions.py > lowest.txt

`make lowest` installs these and runs a part of the tests with them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEVELOPMENT = ("benchmarks", "dev", "docs")
"""Extras for those who work on phcle: `constraints.txt` says what they get."""


def lowest_versions(pyproject: str) -> dict[str, str]:
    """Package and lowest version of every requirement of the core and its extras."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(x for name in extras if name not in DEVELOPMENT for x in extras[name]),
    ]
    found: dict[str, str] = {}
    for line in wanted:
        name, bound = re.match(r"([\w.-]+)(?:\[.*\])?(.*)", line.split(";")[0]).groups()
        if name == "phcle":  # an extra that names others
            continue
        match = re.fullmatch(r">=([\d.]+)", bound.strip())
        if match is None:
            sys.exit(f"{line!r}: must have a lower bound, and only that")
        if found.setdefault(name, match[1]) != match[1]:
            sys.exit(f"{name}: two extras have different lower bounds")
    return found


if __name__ == "__main__":
    versions = lowest_versions((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sys.stdout.write("".join(f"{name}=={versions[name]}\n" for name in versions))
