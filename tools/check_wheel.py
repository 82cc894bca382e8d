"""Try an installation of phcle as a stranger would use it.

    python tools/check_wheel.py                    # the wheels in dist/, by `make dist`
    python tools/check_wheel.py --here             # this environment, by `make core`

The wheel of phcle is installed with its core dependencies into a new environment of
every supported Python that is found here. It must start quickly, without warnings and
without extras, run `phcle demo`, and print what the quick start page says. Then the
wheel of phcle-paper is added and started. The sdist of phcle must hold every file that
git tracks for the tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
OLDEST = 11  # Python 3.11
NEEDED_BY_TESTS = (
    *("src/", "paper/", "tests/", "tools/", "docs/", "benchmarks/", "examples/"),
    *(".ci/", ".github/"),
)
EXTRAS = ("torch", "networkx", "gensim")
HELP_LIMIT, IMPORT_LIMIT = 3.0, 1.5  # CPU seconds; the aims are 1 and 0.3


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Standard output of a command; one that fails ends the check."""
    outside = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    given = {"capture_output": True, "text": True, "env": outside, "cwd": folder}
    done = subprocess.run([str(x) for x in command], **given)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def check_start() -> None:
    """CPU time of a start; refuse what is slow or leans on an extra."""
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    if present:
        sys.exit(f"this environment is not the core alone: it has {present}")

    def best(*command: str | Path) -> float:
        times = []
        for _ in range(3):
            before = sum(os.times()[2:4])  # of children
            run(*command)
            times.append(sum(os.times()[2:4]) - before)
        return min(times)

    python = Path(sys.executable)
    imported = best(python, "-W", "error", "-c", "import phcle")
    helped = best(python.with_name("phcle"), "--help")
    print(
        f"bare interpreter {best(python, '-c', 'pass'):.2f} s, import phcle "
        f"{imported:.2f} s, phcle --help {helped:.2f} s"
    )
    if helped > HELP_LIMIT or imported > IMPORT_LIMIT:
        sys.exit("the start-up is too slow; see what it imports: python -X importtime")


def pythons() -> list[Path]:
    """Interpreters of supported versions, oldest first, one of each version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[int, Path] = {}
    for folder in [*pyenv.glob("*/bin"), *map(Path, os.get_exec_path())]:
        for minor in range(OLDEST, OLDEST + 10):
            path = folder / f"python3.{minor}"
            if minor not in found and "shims" not in folder.parts and path.exists():
                found[minor] = path
    return [found[minor] for minor in sorted(found)]


def check_sdist(sdist: Path) -> None:
    """Refuse an sdist that lacks a tracked file which the tests need."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if not (ROOT / ".git").exists():
        return
    tracked = run("git", "ls-files", "--deduplicate").splitlines()
    wanted = {x for x in tracked if x.startswith(NEEDED_BY_TESTS) or "/" not in x}
    lacking = sorted(wanted - names - {".gitignore"})
    if lacking:
        sys.exit(f"{sdist.name} lacks {', '.join(lacking[:10])}")


def check_wheel(python: Path, wheel: Path, paper: Path) -> None:
    """Install the wheels into a new environment of this Python, and use them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "venv")
        own = folder / "venv" / "bin" / "python"
        began = time.perf_counter()
        pip = (own, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c")
        run(*pip, ROOT / "constraints.txt", wheel)
        version = run(own, "--version").strip()
        print(f"{version}: installed in {time.perf_counter() - began:.0f} s")
        page = ROOT / "docs" / "quickstart.md"
        for words in (
            (ROOT / "tools" / "check_wheel.py", "--here"),
            ("-m", "phcle", "demo", "--out", "demo"),
            (ROOT / "tools" / "run_examples.py", page),
        ):
            said = run(own, *words, folder=folder)
            print(f"  {said.strip().splitlines()[-1]}", flush=True)
        run(*pip, ROOT / "constraints.txt", paper)
        print(run(own.with_name("phcle-paper"), "--help").split("\n")[1])


def main() -> None:
    """Check this environment, or what lies in dist/."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--here", action="store_true", help="only this environment")
    given = parser.parse_args()
    if given.here:
        check_start()
        return
    patterns = ("phcle-*.whl", "phcle-*.tar.gz", "phcle_paper-*.whl")
    found = [list(DIST.glob(pattern)) for pattern in patterns]
    if any(len(files) != 1 for files in found):
        sys.exit(f"{DIST}: must hold one each of {patterns}; run `make dist`.")
    (wheel,), (sdist,), (paper,) = found
    for file in (wheel, sdist, paper):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")
    check_sdist(sdist)
    interpreters = pythons()
    if not interpreters:
        sys.exit("no Python of 3.11 or later was found")
    for python in interpreters:
        check_wheel(python, wheel, paper)


if __name__ == "__main__":
    main()
