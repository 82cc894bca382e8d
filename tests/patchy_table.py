"""Files of a taxonomy and of a patchy table of mixed columns, with one wrong cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np

N, GROUPS = 120, 6
WRONG = ("x7", "size")
"""The cell that says large; its whole group is small."""


def write_patchy_table(folder: Path, seed: int = 0) -> None:
    """Write tree.csv and looks.csv; a fifth of the cells is empty."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) // (N // GROUPS)
    own = rng.normal(size=N)
    mass = np.exp(1.5 * rng.normal(size=GROUPS)[group] + own)
    length = 2 * own + 0.3 * rng.normal(size=N)
    columns = {
        "mass": mass.round(3).tolist(),
        "length": length.round(3).tolist(),
        "noise": rng.normal(size=N).round(3).tolist(),
        "size": [("small", "medium", "large")[x] for x in group % 3],
        "wild": [("yes", "no")[x] for x in group % 2],
    }
    lines = [",".join(["label", *columns])]
    for i in range(N):
        is_empty = rng.random(len(columns)) < 0.2
        cells = {
            name: "" if empty else str(values[i])
            for (name, values), empty in zip(columns.items(), is_empty, strict=True)
        }
        if f"x{i}" == WRONG[0]:
            cells[WRONG[1]] = "large"
        lines.append(",".join([f"x{i}", *cells.values()]))
    edges = [f"x{i},g{x}" for i, x in enumerate(group)]
    edges += [f"g{x},root" for x in range(GROUPS)]
    (folder / "looks.csv").write_text("\n".join(lines) + "\n")
    (folder / "tree.csv").write_text("\n".join(["child,parent", *edges]) + "\n")
