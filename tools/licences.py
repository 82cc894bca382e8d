"""List what phcle depends on, with versions and licences, as the packages state them.

    python tools/licences.py > docs/licences.md

Run it in the environment of `make test`; a test compares the list with
constraints.txt.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TITLE = """# Licences of dependencies

These are the packages that `pip install 'phcle[all]'` installs, with the versions that
`make` uses. phcle itself is under the MIT licence. The included ImageNet labels are
derived from WordNet 3.0, whose licence is in the same folder. HTML pages hold no
scripts of others.

| package | version | licence | needed by |
| --- | --- | --- | --- |
"""


def normal(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(package: Distribution) -> str:
    """What the metadata says: the expression, the classifiers, or the first line."""
    about = package.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    stated = [
        x.split(" :: ")[-1]
        for x in about.get_all("Classifier", [])
        if x.startswith("License ::") and x != "License :: OSI Approved"
    ]
    text = (about.get("License") or "").strip().splitlines()
    return ", ".join(stated) or (text[0][:60] if text else "not stated")


def dependencies(root: str, extra: str) -> dict[str, tuple[Distribution, str]]:
    """Every installed package below one, with the package that first asked for it."""
    found: dict[str, tuple[Distribution, str]] = {}
    queue = [(root, {extra}, "")]
    seen: set[tuple[str, str]] = set()
    while queue:
        name, extras, parent = queue.pop(0)
        package = distribution(name)
        if name != root:
            found.setdefault(normal(name), (package, parent))
        for line in package.requires or []:
            wanted = Requirement(line)
            holds = wanted.marker is None or any(
                wanted.marker.evaluate({"extra": x}) for x in ("", *extras)
            )
            key = (normal(wanted.name), ",".join(sorted(wanted.extras)))
            if holds and key not in seen:
                seen.add(key)
                queue.append((wanted.name, set(wanted.extras), name))
    found.pop(normal(root), None)
    return found


def main() -> None:
    """Print the page."""
    rows = [
        f"| {package.metadata['Name']} | {package.version.split('+')[0]} "
        f"| {licence_of(package)} | {parent} |"
        for _, (package, parent) in sorted(dependencies("phcle", "all").items())
    ]
    sys.stdout.write(TITLE + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
