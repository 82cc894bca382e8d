"""Try the wheels in clean environments, as a stranger would install them.

    python tools/check_wheel.py [--dist dist] [--python PATH ...]

For every Python that phcle supports and that is found here: a new environment, the
wheel of phcle and its core dependencies, `import phcle` with warnings as errors, the
time it takes, `phcle --help`, and the quick start page word for word. `phcle reproduce`
must name the second distribution, phcle-paper; then that wheel is installed too, and
the command must work. The sdist of phcle is checked to hold all that the repository
tracks for the tests.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST = (3, 11)
NEEDED_BY_TESTS = ("src/", "paper/", "tests/", "tools/", "docs/", "benchmarks/", ".ci/")


def run(*command: str | Path, **options: object) -> str:
    """Standard output of a command; one that fails ends the check."""
    done = subprocess.run(
        [str(x) for x in command],
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def pythons() -> list[Path]:
    """Interpreters of supported versions, oldest first, one of each version."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(home.glob("versions/3.*/bin/python"))
    found += [Path(p) for n in range(11, 20) if (p := shutil.which(f"python3.{n}"))]
    by_version: dict[tuple[int, ...], Path] = {}
    for path in found:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False
        )
        match = re.match(r"Python (\d+)\.(\d+)", said.stdout)
        if match and (version := tuple(map(int, match.groups()))) >= OLDEST:
            by_version.setdefault(version, path)
    return [by_version[version] for version in sorted(by_version)]


def check_sdist(sdist: Path) -> None:
    """Refuse an sdist that lacks a tracked file which the tests need."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if not (ROOT / ".git").exists():
        return
    tracked = run("git", "-C", ROOT, "ls-files", "--deduplicate").splitlines()
    wanted = {x for x in tracked if x.startswith(NEEDED_BY_TESTS) or "/" not in x}
    lacking = sorted(wanted - names - {".gitignore"})
    if lacking:
        sys.exit(f"{sdist.name} lacks {', '.join(lacking[:10])}")


def check_wheel(python: Path, wheel: Path, paper: Path) -> None:
    """Install the wheels into a new environment of this Python, and use them."""
    version = run(python, "--version").strip()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        venv = Path(folder) / "venv"
        run(python, "-m", "venv", venv)
        own = venv / "bin" / "python"
        began = time.perf_counter()
        pip = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, "-c", ROOT / "constraints.txt", wheel, env=environment)
        seconds = time.perf_counter() - began
        print(f"{version}: installed in {seconds:.0f} s")
        for words in (("check_core.py",), ("run_examples.py", "docs/quickstart.md")):
            script, *rest = words
            arguments = [ROOT / x for x in rest]
            said = run(own, ROOT / "tools" / script, *arguments, env=environment)
            print(f"  {said.strip().splitlines()[-1]}")
        check_paper(own, (*pip, "-c", ROOT / "constraints.txt", paper))


def check_paper(python: Path, install: Sequence[str | Path]) -> None:
    """The tables say how to install them, and are there once they are installed."""
    phcle = (python, "-m", "phcle", "reproduce")
    lacking = subprocess.run([*phcle, "table1"], capture_output=True, check=False)
    if lacking.returncode != 2 or b"pip install phcle-paper" not in lacking.stderr:
        sys.exit(f"without phcle-paper, phcle reproduce said {lacking.stderr!r}")
    run(*install)
    run(*phcle, "--help")
    run(python.with_name("phcle-paper"), "--help")
    print("  phcle reproduce: refused without phcle-paper, works with it")


def main() -> None:
    """Check what lies in the folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", type=Path, action="append")
    given = parser.parse_args()
    patterns = ("phcle-*.whl", "phcle-*.tar.gz", "phcle_paper-*.whl")
    found = [list(given.dist.glob(pattern)) for pattern in patterns]
    if any(len(files) != 1 for files in found):
        sys.exit(f"{given.dist}: must hold one each of {patterns}; run `make dist`.")
    (wheel,), (sdist,), (paper,) = found
    for file in (wheel, sdist, paper):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
    check_sdist(sdist)
    interpreters = given.python or pythons()
    if not interpreters:
        sys.exit("no Python of 3.11 or later was found; name one with --python.")
    for python in interpreters:
        check_wheel(python, wheel, paper)


if __name__ == "__main__":
    main()
