"""Requests a second, waiting times and memory of the explorer.

    python benchmarks/explorer_load.py --sizes 1000 50000 1000000 --json load.json
    python benchmarks/explorer_load.py labels.phcle --requests 100000

The first asks for pages of every kind in turn, from 1, 8 and 32 clients, of embeddings
that `many_labels.py` makes. It needs `phcle[explore]` and less than 8 minutes on two
idle cores; `--seconds` bounds each load, `--sketch` does not wait for the final map.
The rate of a matrix product stands beside the figures: on busy cores it is lower, and
they are longer. The second asks for nearest labels only.

Without a file an embedding of 82,115 labels is made once in the folder --work. The
server is the command line's own, in a process of its own. The
load comes from this process, over connections that stay open, each asking for the
nearest labels of a random label as soon as it has its answer. Both share the machine's
cores, so what the load itself costs is printed beside what the server costs.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
from many_labels import made_file
from measuring import yardstick

from phcle import load

N_LABELS = 82_115
"""Labels of the embedding that is made if no file is given."""

K = 10
"""Neighbours that are asked for."""

N_CHECKED = 200
"""Labels whose neighbours are compared with an exact search."""


KINDS = (
    *("nearest", "nearest 200", "search", "misspelt", "label", "explain", "compare"),
    *("colour", "describe", "table", "counts", "rows", "node", "gaps"),
    "gaps of a label",
)


class Asker(asyncio.Protocol):
    """One connection: asks, waits for the whole answer, asks again."""

    def __init__(
        self, requests: Iterator[tuple[str, bytes]], waits: list[tuple[str, float]]
    ) -> None:
        self.requests = requests
        self.waits = waits
        self.done = asyncio.get_running_loop().create_future()
        self.left = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """Send the next request, or stop."""
        self.kind, request = next(self.requests, ("", b""))
        if not request:
            self.transport.close()
            self.done.set_result(None)
            return
        self.began = time.perf_counter()
        self.transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of an answer, or ask again."""
        self.left += data
        head, between, body = self.left.partition(b"\r\n\r\n")
        if not between:
            return
        length = int(re.search(rb"content-length: (\d+)", head).group(1))  # type: ignore[union-attr]
        if len(body) < length:
            return
        self.waits.append((self.kind, time.perf_counter() - self.began))
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"the server failed: {head[:200]!r} {body[:500]!r}")
        self.left = b""
        self.ask()


def requests_of(
    labels: list[str], n: int, seed: int, kinds: Sequence[str] = KINDS
) -> Iterator[tuple[str, str]]:
    """N requests of some kinds in turn, about random labels of `many_labels.py`."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(n)
    for i in range(n):
        a, b = (quote(labels[row]) for row in rng.integers(len(labels), size=2))
        kind = kinds[i % len(kinds)]
        tag, other = (f"tag {x}" for x in rng.integers(60, size=2))
        number = f"{rng.random():.4f}"
        letters = f"bleu la{'ampmp'[rng.integers(4) :]} {rng.integers(999)}"
        mass = quote(f'["table","mass","range",{number},null]')
        diet = quote('["table","diet","in",["meat"]]')
        age = quote('["table","age"]')
        gap = quote(f'["table","{("home", "diet", "mass", "age")[i % 4]}"]')
        wanted = [quote(json.dumps(["looks", x])) for x in (tag, other)]
        yield (
            kind,
            {
                "nearest": f"/api/nearest?label={a}&k={K}",
                "nearest 200": f"/api/nearest?label={a}&k=200",
                "search": f"/api/search?q=blue%20lamp%20{rng.integers(99)}",
                "misspelt": f"/api/search?q={quote(letters)}",
                "label": f"/label?label={a}",
                "explain": f"/api/explain?a={a}&b={b}",
                "compare": f"/compare?label={a}&label={b}",
                "colour": f"/api/colour?context=looks&column={quote(tag)}",
                "describe": f"/match?has={wanted[0]}&not={wanted[1]}",
                "table": f"/table?filter={mass}&sort={age}",
                "counts": f"/api/facets?filter={mass}&filter={diet}",
                "rows": f"/api/rows?filter={mass}",
                "node": f"/node?node=n{rng.integers(1, 300)}",
                "gaps": f"/complete?column={gap}&page={1 + numbers[i] % 99}",
                "gaps of a label": f"/complete?label={a}",
            }[kind],
        )


async def ask_all(
    asked: Iterator[tuple[str, str]],
    netloc: str,
    connections: int,
    seconds: float = math.inf,
) -> list[tuple[str, float]]:
    """Kind of every request, and the time that it took; none begins after the limit."""
    host, port = netloc.split(":")
    end = time.perf_counter() + seconds
    requests = (
        (kind, f"GET {path} HTTP/1.1\r\nHost: {netloc}\r\n\r\n".encode())
        for kind, path in itertools.takewhile(
            lambda _: time.perf_counter() < end, asked
        )
    )
    waits: list[tuple[str, float]] = []
    loop = asyncio.get_running_loop()
    askers = [
        (await loop.create_connection(lambda: Asker(requests, waits), host, int(port)))[
            1
        ]
        for _ in range(connections)
    ]
    await asyncio.gather(*(asker.done for asker in askers))
    return waits


@contextmanager
def served(file: Path) -> Iterator[tuple[str, int, float]]:
    """The address, process id and start time of a server of its own."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "phcle", "explore", str(file)]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()  # type: ignore[union-attr]
        found = re.search(r"http://\S+", line)
        if found is None:
            raise SystemExit("the server did not start")
        yield found.group(), process.pid, began
    finally:
        process.terminate()
        process.communicate()


def cpu_seconds(pid: int) -> float:
    """Time that a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int, what: str = "VmRSS") -> float:
    """Memory of a process that is in use."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+)", text).group(1)) / 1024  # type: ignore[union-attr]


def peak_mib(pid: int) -> float:
    """Largest memory of a process so far."""
    return resident_mib(pid, "VmHWM")


def wait_until_ready(address: str) -> None:
    """Until neighbours and map are prepared; at the first start that takes minutes."""
    from urllib.request import urlopen

    while True:
        with urlopen(f"{address}api/status") as answer:
            if json.load(answer)["labels"]["ready"]:
                return
        time.sleep(1)


def check_recall(file: Path, address: str) -> float:
    """Share of the exact neighbours that the server names."""
    from urllib.request import urlopen

    embedding = load(file)
    rows = np.random.default_rng(1).integers(len(embedding), size=N_CHECKED)
    found = 0
    for label in (embedding.labels[i] for i in rows.tolist()):
        with urlopen(f"{address}api/nearest?label={quote(label)}&k={K}") as answer:
            named = {x["label"] for x in json.load(answer)["neighbours"]}
        found += len(named & {x for x, _ in embedding.nearest(label, K)})
    return found / (N_CHECKED * K)


def measure_load(file: Path, n: int, connections: int) -> dict[str, Any]:
    """Ask n times and say how it went."""
    labels = list(load(file).labels)
    with served(file) as (address, pid, _):
        wait_until_ready(address)
        recall = check_recall(file, address)
        netloc = urlsplit(address).netloc
        warm = requests_of(labels, 2_000, 0, ["nearest"])
        asyncio.run(ask_all(warm, netloc, connections))
        memory = [resident_mib(pid)]
        waits: list[float] = []
        own, other = time.process_time(), cpu_seconds(pid)
        began = time.perf_counter()
        for _ in range(10):
            asked = requests_of(labels, n // 10, 0, ["nearest"])
            found = asyncio.run(ask_all(asked, netloc, connections))
            waits += [seconds for _, seconds in found]
            memory.append(resident_mib(pid))
        seconds = time.perf_counter() - began
        own, other = time.process_time() - own, cpu_seconds(pid) - other
    return {
        "labels": len(labels),
        "requests": len(waits),
        "connections": connections,
        "recall": recall,
        "requests_per_second": len(waits) / seconds,
        "p50_ms": 1e3 * float(np.percentile(waits, 50)),
        "p99_ms": 1e3 * float(np.percentile(waits, 99)),
        "most_ms": 1e3 * max(waits),
        "server_cpu_us_per_request": 1e6 * other / len(waits),
        "load_cpu_us_per_request": 1e6 * own / len(waits),
        "cores_had": (own + other) / seconds,
        "memory_mib": [round(x, 1) for x in memory],
        "load_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def seconds_until_answered(address: str) -> float:
    """Seconds until the server answers, asked again while it prepares the answer."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    began = time.perf_counter()
    while True:
        try:
            with urlopen(address) as answer:
                answer.read()
                return time.perf_counter() - began
        except HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.1)


def measure_size(
    file: Path, n_requests: int, seconds: float, *, is_final: bool
) -> dict[str, Any]:
    """The way of a first visitor, and then pages of all kinds from many clients."""
    from phcle.explorer.precomputed import precomputed_file

    labels = list(load(file).labels)
    precomputed_file(file).unlink(missing_ok=True)
    found: dict[str, Any] = {"labels": len(labels), "gflops": yardstick()}
    with served(file) as (address, pid, began):
        listening = time.perf_counter()
        found |= {
            "listening_s": listening - began,
            "first_map_s": seconds_until_answered(f"{address}api/map"),
            "peak_mib_first_map": peak_mib(pid),
            "first_colouring_s": seconds_until_answered(
                f"{address}api/colour?context=table&column=diet%3Dmeat"
            ),
            "peak_mib_first_colouring": peak_mib(pid),
            "first_table_s": seconds_until_answered(f"{address}table"),
        }
        # Above 100,000 labels, also those that the map leaves out.
        tags = f"api/match?has={quote(json.dumps(['looks', 'tag 1']))}"
        found["all_attributes_s"] = seconds_until_answered(address + tags)
        found["peak_mib_all_attributes"] = peak_mib(pid)
        if is_final:
            wait_until_ready(address)
            found["final_map_s"] = time.perf_counter() - listening
            found["peak_mib_final_map"] = peak_mib(pid)
        netloc = urlsplit(address).netloc
        warm = requests_of(labels, 3 * len(KINDS), 1)
        asyncio.run(ask_all(warm, netloc, 1))
        for clients in (1, 8, 32):
            asked = requests_of(labels, n_requests, clients)
            gflops, before = yardstick(), cpu_seconds(pid)
            waits = asyncio.run(ask_all(asked, netloc, clients, seconds))
            found[f"{clients} clients"] = {
                **_summary(waits),
                "server_cpu_ms": 1e3 * (cpu_seconds(pid) - before) / len(waits),
                "gflops": gflops,
            }
        found["peak_mib"], found["now_mib"] = peak_mib(pid), resident_mib(pid)
        found["load_average"] = os.getloadavg()[0]
    with served(file) as (address, pid, _):
        found["second_start"] = {
            "first_map_s": seconds_until_answered(f"{address}api/map"),
            "all_attributes_s": seconds_until_answered(address + tags),
            "peak_mib": peak_mib(pid),
        }
    return found


def _summary(waits: list[tuple[str, float]]) -> dict[str, Any]:
    """P50 and p99 of all requests, and of each kind."""

    def quantiles(seconds: list[float]) -> list[float]:
        if not seconds:
            return []
        return [round(1e3 * float(np.percentile(seconds, x)), 1) for x in (50, 99)]

    by_kind = {
        kind: quantiles([x for own, x in waits if own == kind]) for kind in KINDS
    }
    p50, p99 = quantiles([x for _, x in waits])
    return {
        "requests": len(waits),
        "p50_ms": p50,
        "p99_ms": p99,
        "p50_p99_ms_by_kind": by_kind,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument(
        "--requests", type=int, help="Default: 100,000, or 900 of each load (--sizes)."
    )
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="Measure made embeddings of these sizes."
    )
    parser.add_argument(
        "--sketch",
        action="store_true",
        help="With --sizes: do not wait for the final map.",
    )
    parser.add_argument(
        "--seconds", type=float, default=20, help="Longest time of a load (--sizes)."
    )
    parser.add_argument("--json", type=Path, help="Write the figures to this file.")
    parser.add_argument(
        "--work", type=Path, default=Path("benchmarks/results/explorer-load")
    )
    given = parser.parse_args(arguments)
    found: Any
    if given.sizes:
        found = []
        for n in given.sizes:
            made, requests = made_file(given.work, n), given.requests or 900
            found.append(
                measure_size(made, requests, given.seconds, is_final=not given.sketch)
            )
            print(json.dumps(found[-1], indent=2), flush=True)
    else:
        file = given.file or made_file(given.work, N_LABELS)
        requests = given.requests or 100_000
        found = measure_load(file, requests, given.connections)
        print(json.dumps(found, indent=2))
    if given.json is not None:
        machine = {"cores": os.cpu_count(), "system": platform.platform()}
        text = json.dumps({"machine": machine, "measured": found}, indent=2)
        given.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
