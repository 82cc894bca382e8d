"""Check an installation of the core alone: it starts, quickly, and without extras.

    python tools/check_core.py

Run by `make core` in an environment that has phcle and nothing optional. Prints the
times beside that of a bare interpreter, because machines differ; the limits are wide.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from pathlib import Path

EXTRAS = ("torch", "networkx", "gensim")
TABLES = ("pandas", "pyarrow", "openpyxl")
"""Libraries of the core that are imported with the first table, not before."""

START = f"""
import sys, phcle
sys.exit(", ".join(set({TABLES}) & set(sys.modules)) or 0)
"""

HELP_LIMIT = 3.0  # seconds: the aim is one, a busy machine may need more
IMPORT_LIMIT = 1.5  # the aim is 0.3


def best_time(*command: str) -> float:
    """Shortest of three runs, in seconds; a run that fails ends the check."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - started)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return min(times)


def main() -> None:
    """Time the start-up and refuse what is slow or leans on an extra."""
    present = [name for name in EXTRAS if importlib.util.find_spec(name)]
    if present:
        sys.exit(f"this environment is not the core alone: it has {present}")
    bare = best_time(sys.executable, "-c", "pass")
    imported = best_time(sys.executable, "-W", "error", "-c", START)
    helped = best_time(str(Path(sys.executable).with_name("phcle")), "--help")
    print(
        f"bare interpreter {bare:.2f} s, import phcle {imported:.2f} s, "
        f"phcle --help {helped:.2f} s"
    )
    if helped > HELP_LIMIT or imported > IMPORT_LIMIT:
        sys.exit("the start-up is too slow; see what it imports: python -X importtime")


if __name__ == "__main__":
    main()
