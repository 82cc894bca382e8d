"""Count co-occurrence of labels in a table larger than memory, with time and memory.

    python benchmarks/annotation_counts.py --items 10000000 --folder /tmp/annotations

Items have ten labels each, drawn by Zipf's law. `RelationalContext` counts the Parquet
file in DuckDB, in a process of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Stopwatch, peak_mb, run_apart

from phcle import RelationalContext

PER_ITEM = 10
AT_ONCE = 1_000_000
"""Items made or read at once."""


def make_table(path: Path, n_items: int, n_labels: int, exponent: float) -> None:
    """Write (item, label) rows to a Parquet file, in parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    chance = np.arange(1, n_labels + 1) ** -exponent
    edges = np.cumsum(chance / chance.sum())
    names = pa.array([f"label {i}" for i in range(n_labels)])
    schema = pa.schema([("item", pa.int64()), ("label", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_items, AT_ONCE):
            n = min(AT_ONCE, n_items - start)
            item = np.repeat(np.arange(start, start + n), PER_ITEM)
            at = np.searchsorted(edges, rng.random(n * PER_ITEM), side="right")
            label = names.take(pa.array(np.minimum(at, n_labels - 1)))
            writer.write_table(pa.table([item, label], schema=schema))


def count(path: Path, memory: str) -> dict[str, Any]:
    """Count in this process."""
    watch = Stopwatch()
    context = RelationalContext.from_annotation_table(path, memory=memory)
    counts = context.counts
    return {
        **watch.read(),
        "labels": len(context.labels),
        "pairs": counts.nnz // 2,
        "counts": float(counts.sum()) / 2,
        "peak_mb": peak_mb(),
    }


def main(arguments: list[str] | None = None) -> None:
    """Make the table, and count it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=50_000)
    parser.add_argument("--exponent", type=float, default=1.1)
    parser.add_argument("--memory", default="6GB", help="what DuckDB may use")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args(arguments)
    path = options.folder / f"annotations-{options.items}.parquet"
    options.folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        make_table(path, options.items, options.labels, options.exponent)
    found = run_apart(count, path, options.memory)
    print(
        f"{options.items * PER_ITEM:,} rows, {path.stat().st_size / 1e6:,.0f} MB: "
        f"{found['seconds']:.1f} s, {found['cpu_seconds']:.1f} CPU s, peak "
        f"{found['peak_mb']:,.0f} MB; {found['labels']:,} labels, "
        f"{found['pairs']:,} pairs, {found['counts']:,.0f} counts"
    )


if __name__ == "__main__":
    main()
