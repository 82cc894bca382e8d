"""Print what phcle and pandas with default options make of odd tables.

    python tools/read_odd_tables.py

The tables stand in `tests/odd_tables.py`, with the reading that a person would give.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print a table of the outcomes, and how many there are of each."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]
    from odd_tables import OUTCOMES, outcomes

    found = outcomes()
    print(f"| {len(found)} tables | phcle | pandas |\n| --- | --- | --- |")
    for odd, ours, theirs in found:
        print(f"| {odd.name} | {ours} | {theirs} |")
    for name in OUTCOMES:
        counts = [Counter(x[i] for x in found)[name] for i in (1, 2)]
        print(f"| **{name}** | {counts[0]} | {counts[1]} |")


if __name__ == "__main__":
    main()
