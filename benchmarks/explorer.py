"""Waiting times and memory of the explorer.

    python benchmarks/explorer.py --sizes 1000 50000

Answers of every kind are asked for in turn, by 1, 8 and 32 clients that keep their
connection open. It needs `phcle[explore]`. `--seconds` bounds each load. The rate of a
matrix product stands beside the figures: on busy cores it is lower, and they are
longer. The server is the command line's own, in a process of its own; the load shares
the cores with it.

The labels are those of a made-up tree with a table of thirty columns, half of whose
cells are known.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from measuring import parser_of, yardstick
from problems import table_contexts

from phcle import PHCLE, load
from phcle.errors import PhcleWarning

CLIENTS = (1, 8, 32)


def made_file(folder: Path, n: int) -> Path:
    """An embedding of n labels, made once."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"labels-{n}.phcle"
    if not file.exists():
        options = {"dim": 64, "choose": False, "completion": "none", "max_iter": 10}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhcleWarning)
            PHCLE(**options).fit(table_contexts(n)).embedding_.save(file)
    return file


def requests_of(labels: list[str], n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Kinds and paths of n requests about random labels."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        a, b = (quote(labels[row]) for row in rng.integers(len(labels), size=2))
        paths = {
            "label": f"/api/label?label={a}",
            "explain": f"/api/explain?a={a}&b={b}",
            "row": f"/api/row?label={a}",
            "search": f"/api/search?q={a}",
            "misspelt": f"/api/search?q={a.replace('be', 'eb')}",
            "node": f"/api/node?node=node%200.{rng.integers(len(labels) // 8)}",
        }
        yield list(paths.items())[i % len(paths)]


def ask_all(
    place: str, asked: list[tuple[str, str]], clients: int, seconds: float
) -> list[tuple[str, float]]:
    """Kind and milliseconds of every request; none begins after the limit."""
    last = time.perf_counter() + seconds

    def client(own: list[tuple[str, str]]) -> list[tuple[str, float]]:
        connection, waits = http.client.HTTPConnection(place), []
        for kind, path in own:
            began = time.perf_counter()
            if began > last:
                break
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
            waits.append((kind, 1e3 * (time.perf_counter() - began)))
        connection.close()
        return waits

    with ThreadPoolExecutor(clients) as pool:
        parts = pool.map(client, [asked[i::clients] for i in range(clients)])
        return [wait for part in parts for wait in part]


@contextmanager
def served(file: Path) -> Iterator[tuple[str, int]]:
    """The address and process id of a server."""
    command = [sys.executable, "-m", "phcle", "explore", str(file)]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        found = re.search(r"http://([\w.:]+)", process.stdout.readline())
        if found is None:
            raise SystemExit("the server did not start")
        yield found[1], process.pid
    finally:
        process.terminate()
        process.communicate()


def used(pid: int) -> dict[str, float]:
    """CPU seconds and largest memory of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/status").read_text()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
    return {"cpu_seconds": seconds, "peak_mb": peak}


def seconds_until(place: str, path: str) -> float:
    """Seconds until the server answers; it says 503 while it prepares."""
    began = time.perf_counter()
    while True:
        connection = http.client.HTTPConnection(place)
        connection.request("GET", path)
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return time.perf_counter() - began
        if status != 503:
            raise SystemExit(f"{path}: {status}")
        time.sleep(0.1)


def measure(file: Path, n_requests: int, seconds: float) -> dict[str, Any]:
    """The map of a first visitor, and then answers of all kinds to many clients."""
    labels = list(load(file).labels)
    for left in file.parent.glob(f"{file.name}.*"):
        left.unlink()
    found: dict[str, Any] = {"labels": len(labels), "gflops": yardstick()}
    with served(file) as (place, pid):
        found["map_s"] = seconds_until(place, "/api/map")
        ask_all(place, list(requests_of(labels, 42, 1)), 1, seconds)
        for clients in CLIENTS:
            asked, before = list(requests_of(labels, n_requests, clients)), used(pid)
            waits = ask_all(place, asked, clients, seconds)
            cost = used(pid)["cpu_seconds"] - before["cpu_seconds"]
            found[f"{clients} clients"] = {
                "requests": len(waits),
                "server_cpu_ms": 1e3 * cost / len(waits),
                "p50_p99_ms": quantiles([ms for _, ms in waits]),
                "by_kind": {
                    kind: quantiles([ms for own, ms in waits if own == kind])
                    for kind in dict(waits)
                },
            }
        found["peak_mb"] = used(pid)["peak_mb"]
    return found


def quantiles(waits: list[float]) -> list[float]:
    """Median and 99th percentile."""
    return [round(float(x), 1) for x in np.percentile(waits, [50, 99])]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 50_000])
    parser.add_argument("--requests", type=int, default=900, help="of each load")
    parser.add_argument("--seconds", type=float, default=20, help="of each load")
    parser.add_argument("--work", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args(arguments)
    for n in given.sizes:
        file = made_file(given.work, n)
        print(json.dumps(measure(file, given.requests, given.seconds)), flush=True)


if __name__ == "__main__":
    main()
