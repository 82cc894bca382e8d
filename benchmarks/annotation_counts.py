"""Count co-occurrence in DuckDB and in Spark's local mode, with time and memory.

    python benchmarks/annotation_counts.py --items 10000000 --folder /tmp/annotations

Items have ten labels each, drawn by Zipf's law. Both engines count the same Parquet
file through `RelationalContext.from_annotation_table`, each in a process of its own.
CPU time and memory are those of that process and of all that it starts (Spark's Java
machine). Spark needs Java and `phcle[spark]`; without them its row says so.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

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


def count(engine: str, path: Path, memory: int, scratch: Path) -> dict[str, Any]:
    """Count in this process; what the parent compares."""
    from phcle import RelationalContext

    began = time.perf_counter()
    if engine == "duckdb":
        context = RelationalContext.from_annotation_table(path, memory=f"{memory}GB")
    else:
        import ibis
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.memory", f"{memory}g")
            .config("spark.driver.maxResultSize", "0")
            .config("spark.local.dir", str(scratch))
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .getOrCreate()
        )
        table = ibis.pyspark.connect(session).read_parquet(str(path))
        context = RelationalContext.from_annotation_table(table)
    seconds = time.perf_counter() - began
    counts = context.counts
    counts.sort_indices()
    digest = hashlib.sha256("\0".join(context.labels).encode())
    for part in (counts.indptr, counts.indices, counts.data):
        digest.update(part.astype(np.float64).tobytes())
    return {
        "seconds": seconds,
        "labels": len(context.labels),
        "pairs": counts.nnz // 2,
        "sum": float(counts.sum()) / 2,
        "digest": digest.hexdigest()[:16],
    }


def watched(command: list[str]) -> dict[str, Any]:
    """Run a command; its answer with the CPU time and peak memory of its processes."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, cpu = 0, {}
    while child.poll() is None:
        resident = 0
        for pid in tree_of(child.pid):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:  # it has ended
                continue
            cpu[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            resident += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        peak = max(peak, resident)
        time.sleep(0.2)
    said = child.communicate()[0]
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    found = json.loads(said.splitlines()[-1])
    return {**found, "cpu": sum(cpu.values()), "peak_gb": peak / 1e9}


def tree_of(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for parent in found:
        try:
            tasks = list(Path(f"/proc/{parent}/task").iterdir())
            for task in tasks:
                found += map(int, (task / "children").read_text().split())
        except OSError:  # it has ended
            continue
    return found


def main() -> None:
    """Make the table, count it in each engine, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=50_000)
    parser.add_argument("--exponent", type=float, default=1.1)
    parser.add_argument("--memory", type=int, default=6, help="gigabytes per engine")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--engines", nargs="*", default=["duckdb", "spark"])
    parser.add_argument("--count", help=argparse.SUPPRESS)
    options = parser.parse_args()
    path = options.folder / f"annotations-{options.items}.parquet"
    if options.count:
        scratch = options.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        print(json.dumps(count(options.count, path, options.memory, scratch)))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        make_table(path, options.items, options.labels, options.exponent)
    print(
        f"{options.items * PER_ITEM:,} rows, {path.stat().st_size / 1e6:,.0f} MB; "
        f"{options.memory} GB for each engine",
        flush=True,
    )
    digests = set()
    for engine in options.engines:
        has_spark = importlib.util.find_spec("pyspark") and shutil.which("java")
        if engine == "spark" and not has_spark:
            print("spark: needs Java and phcle[spark]")
            continue
        found = watched([sys.executable, *sys.argv, "--count", engine])
        digests.add(found["digest"])
        print(
            f"{engine}: {found['seconds']:.0f} s, {found['cpu']:.0f} CPU s, peak "
            f"{found['peak_gb']:.1f} GB; {found['labels']:,} labels, "
            f"{found['pairs']:,} pairs, {found['sum']:,.0f} counts, {found['digest']}",
            flush=True,
        )
    if len(digests) > 1:
        raise SystemExit("the engines disagree")


if __name__ == "__main__":
    main()
