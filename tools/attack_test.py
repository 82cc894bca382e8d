"""Attack phcle from outside, again and again, and count what broke.

    python tools/attack_test.py                        # every attack, 20 rounds each
    python tools/attack_test.py --rounds 5 --only hangup,options --seed 7

Each attack is what a user, another program or a hostile file may do at a bad moment. It
starts phcle as a user does, in a process of its own, and looks at the exit code, at
what was printed and at every file. A traceback, a death by a signal, a file that is
neither the old nor the new one, or a wrong number counts as damage. `kill_test.py` and
`fuzz_readers.py` beside this file cover kills and damaged files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

PHCLE = (sys.executable, "-m", "phcle")
FIT = "fit --hierarchy tree.csv --attributes looks.csv --dim 8 --backend numpy --quiet"
SLOW = f"{FIT} --tol 0 --max-iter 100000 --checkpoint fit.ckpt --checkpoint-every 0"
LIMIT = 600  # seconds that any command may take, on a busy machine
ESCAPE = "\x1b]0;owned\x07"

Attack = Callable[[Path, random.Random], Iterator[str]]
"""One round of an attack, in a folder of its own; what it yields is damage."""


def run(
    folder: Path, command: str, *, memory: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of phcle in a folder, with at most so many bytes of memory."""

    def limit() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        f"{shlex.join(PHCLE)} {command}",
        shell=True,
        cwd=folder,
        capture_output=True,
        timeout=LIMIT,
        preexec_fn=limit,
    )


def rude(done: subprocess.CompletedProcess[bytes], *codes: int) -> Iterator[str]:
    """What is wrong with the end of a command that may end with these codes."""
    said = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode not in codes:
        yield f"{done.args[-90:]}: exit code {done.returncode}: {said[-300:]}"
    if "Traceback" in said:
        yield f"{done.args[-90:]}: a traceback: {said[-300:]}"
    if "\x1b]" in said:
        yield f"{done.args[-90:]}: a terminal escape"


def labels_in(path: Path) -> int:
    """Number of labels of an embedding; fails if the file is not whole."""
    import phcle

    return len(phcle.load(path))


def start_fit(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """Start a fit, and wait for its first checkpoint."""
    process = subprocess.Popen(
        [*PHCLE, *command.split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    end = time.monotonic() + LIMIT
    while not (folder / "fit.ckpt").exists() and process.poll() is None:
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    return process


def hangup(folder: Path, rng: random.Random) -> Iterator[str]:
    """The terminal closes, the user presses Ctrl-C, or the system shuts down."""
    sent, code = rng.choice(
        [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
    )
    process = start_fit(folder, f"{SLOW} --out out.phcle")
    time.sleep(rng.uniform(0, 1))
    process.send_signal(sent)
    _, said = process.communicate(timeout=LIMIT)
    if process.returncode != code or b"Traceback" in said:
        yield f"{sent.name}: exit code {process.returncode}: {said[-300:]!r}"
    elif labels_in(folder / "out.phcle") != 40:
        yield f"{sent.name}: labels were lost"


def shared_checkpoint(folder: Path, rng: random.Random) -> Iterator[str]:
    """Fits that start at the same time with the same checkpoint."""
    command = f"{FIT} --tol 0 --max-iter 300 --checkpoint fit.ckpt"
    fits = [
        subprocess.Popen(
            [*PHCLE, *command.split(), "--out", f"{i}.phcle"],
            cwd=folder,
            stderr=subprocess.PIPE,
        )
        for i in range(rng.randint(2, 3))
    ]
    ended = []
    for i, fit in enumerate(fits):
        _, said = fit.communicate(timeout=LIMIT)
        refused = fit.returncode == 2 and b"fit.ckpt" in said
        ended.append(fit.returncode)
        if fit.returncode == 0 and labels_in(folder / f"{i}.phcle") != 40:
            yield "labels were lost"
        elif fit.returncode and not refused:
            yield f"exit code {fit.returncode}: {said[-300:]!r}"
    if 0 not in ended:
        yield f"no fit ended: {ended}"


def truncation(folder: Path, rng: random.Random) -> Iterator[str]:
    """Another program cuts an embedding short while it is loaded."""
    path = folder / "large.phcle"
    code = (
        "import phcle, sys\n"
        "for _ in range(20):\n"
        "    try: phcle.load(sys.argv[1])\n"
        "    except phcle.errors.FileError: pass\n"
    )
    whole = _large_embedding(path)
    process = subprocess.Popen(
        [sys.executable, "-c", code, path], stderr=subprocess.PIPE
    )
    while process.poll() is None:
        os.truncate(path, rng.randrange(len(whole)))
        time.sleep(rng.uniform(0, 0.01))
        path.write_bytes(whole)
        time.sleep(rng.uniform(0, 0.01))
    if process.returncode:
        said = process.stderr.read() if process.stderr else b""
        yield f"exit code {process.returncode}: {said[-300:]!r}"


def _large_embedding(path: Path) -> bytes:
    """Write an embedding of some megabytes, and return its bytes."""
    from phcle import LabelEmbedding

    vectors = np.ones((20_000, 30), dtype=np.float32)
    LabelEmbedding(tuple(map(str, range(20_000))), vectors).save(path)
    return path.read_bytes()


def closed_streams(folder: Path, rng: random.Random) -> Iterator[str]:
    """Standard streams that are closed, full or that nobody reads."""
    stream = rng.choice([">&-", "2>&-", "<&- >&- 2>&-", "| head -c 1", ">/dev/full"])
    command = rng.choice(
        ["info a.phcle", "nearest a.phcle leaf1", "describe a.phcle leaf1 --json"]
    )
    yield from rude(run(folder, f"{command} {stream}"), 0, 1, 2)
    out = run(folder, f"{FIT} --out out.phcle {stream.replace('>/dev/full', '')}")
    yield from rude(out, 0)
    if labels_in(folder / "out.phcle") != 40:
        yield "labels were lost"


def little_memory(folder: Path, rng: random.Random) -> Iterator[str]:
    """A limit on memory that a fit meets anywhere on its way."""
    (folder / "out.phcle").write_bytes(b"old")
    megabytes = rng.randint(200, 700)
    done = run(folder, f"{FIT} --out out.phcle", memory=megabytes << 20)
    # Libraries may abort by themselves while they start, before phcle has a say.
    said = done.stderr.decode(errors="replace")
    if "phcle: " in said or done.returncode == 0:
        yield from rude(done, 0, 2)
    written = (folder / "out.phcle").read_bytes()
    if written != b"old" and labels_in(folder / "out.phcle") != 40:
        yield f"{megabytes} MB: a damaged file"


def killed_report(folder: Path, rng: random.Random) -> Iterator[str]:
    """A report killed at any moment: old and new figures are never mixed."""
    yield from rude(run(folder, "report a.phcle --out page"), 0)
    old = _all_files(folder / "page")
    yield from rude(run(folder, f"{FIT} --seed 5 --out b.phcle"), 0)
    yield from rude(run(folder, "report b.phcle --out other"), 0)
    new = _all_files(folder / "other")
    process = subprocess.Popen(
        [*PHCLE, *["report", "b.phcle", "--out", "page"]], cwd=folder
    )
    time.sleep(rng.uniform(0, 8))
    process.kill()
    process.wait()
    left = _all_files(folder / "page")
    drawn = {name: left[name] for name in left if name.startswith("figures")}
    for part in ({"report.html": left.get("report.html", b"")}, drawn):
        if not (part.items() <= old.items() or part.items() <= new.items()):
            yield f"{', '.join(part)}: neither all old nor all new"


def _all_files(folder: Path) -> dict[str, bytes]:
    """Visible files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def escapes(folder: Path, rng: random.Random) -> Iterator[str]:
    """Terminal escapes in labels, columns, file names and addresses of an ontology."""
    bad = rng.choice([ESCAPE, "\x9b2J", "\x1b[31m", "\u202e"])
    (folder / "evil.csv").write_text(f"child,parent\nx{bad},root{bad}\ny,root{bad}\n")
    yield from rude(run(folder, "check evil.csv"), 0, 1, 2)
    yield from rude(run(folder, "fit --hierarchy evil.csv --dim 1 --out e.phcle"), 0, 2)
    (folder / "evil.ttl").write_text(
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n"
        f"<http://a/{bad}b c> s:broader <http://a/d{bad}> .\n"
    )
    yield from rude(run(folder, "fit --skos evil.ttl --out e.phcle"), 0, 2)


def options(folder: Path, rng: random.Random) -> Iterator[str]:
    """Numbers that no fit can use."""
    name = rng.choice(["ridge", "dim", "negatives", "tol", "max-iter", "seed"])
    value = rng.choice(
        ["1e400", "1" + "0" * 400, "5e-324", "-0.0", "nan", "inf", "1e30", "0x10", "-1"]
    )
    done = run(folder, f"{FIT} --{name}={value} --max-iter 2 --out o.phcle")
    yield from rude(done, 0, 2)
    if len(done.stderr) > 2000:
        yield f"--{name}={value[:20]}: {len(done.stderr)} bytes of error message"


def extreme_vectors(folder: Path, rng: random.Random) -> Iterator[str]:
    """Vectors of any length that float32 can hold have the cosines of their shapes."""
    from phcle import LabelEmbedding

    shapes = np.random.default_rng(rng.randrange(1 << 30)).normal(size=(30, 5))
    lengths = 10.0 ** np.array([rng.uniform(-37, 37) for _ in shapes])
    vectors = (shapes * lengths[:, None]).astype(np.float32)
    embedding = LabelEmbedding(tuple(f"x{i}" for i in range(30)), vectors)
    exact = vectors.astype(float)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    i = rng.randrange(30)
    for other, cosine in embedding.nearest(f"x{i}", k=29):
        wanted = exact[i] @ exact[int(other[1:])]
        if abs(cosine - wanted) > 1e-5:
            yield f"cosine {cosine} in the place of {wanted}"


def costly_files(folder: Path, rng: random.Random) -> Iterator[str]:
    """Small files that would take minutes or gigabytes if read naively."""
    n = rng.randint(20_000, 60_000)
    entities = "".join(
        f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha"}">' for i in range(12)
    )
    owl = (
        f'<?xml version="1.0"?><!DOCTYPE r [{entities}]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&a11;</rdf:RDF>'
    )
    files = {
        "wide.csv": f"label,{','.join(f'c{i}' for i in range(n))}\ncat{',1' * n}\n",
        "deep.toml": "a." * n + "b=1",
        "laughs.owl": owl,
        "deep.json": "[" * n + "]" * n,
    }
    name, text = rng.choice(list(files.items()))
    (folder / name).write_text(text)
    flag = {".toml": "--config", ".owl": "--owl"}.get(Path(name).suffix)
    command = f"fit {flag or '--attributes'} {name} --hierarchy tree.csv --out c.phcle"
    began = _seconds_of_children()
    done = run(folder, f"{command} --dim 2 --max-iter 1", memory=4 << 30)
    yield from rude(done, 0, 2)
    took = _seconds_of_children() - began
    if took > 30:
        yield f"{name} took {took:.0f} s"


def _seconds_of_children() -> float:
    """CPU time of the commands that have ended, the same on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def blas_threads(folder: Path, rng: random.Random) -> Iterator[str]:
    """Fits in several threads of one process, then the number of BLAS threads."""
    code = f"""if True:
        import threading, scipy.linalg
        from threadpoolctl import threadpool_info
        from phcle import PHCLE, RelationalContext

        def threads():
            return sorted((x["filepath"], x["num_threads"]) for x in threadpool_info())

        def fit(sweeps):
            PHCLE(dim=2, max_iter=sweeps).fit([tree])

        edges = [(f"l{{i}}", f"p{{i % 5}}") for i in range(40)]
        tree = RelationalContext.from_hierarchy(edges)
        fit(1)
        before = threads()
        sweeps = {[rng.randint(1, 9) for _ in range(rng.randint(2, 6))]}
        work = [threading.Thread(target=fit, args=(x,)) for x in sweeps]
        [x.start() for x in work]
        [x.join() for x in work]
        assert threads() == before, (before, threads())
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], stderr=-1)
    if done.returncode:
        yield done.stderr.decode()[-300:]


ATTACKS: dict[str, Attack] = {
    "hangup": hangup,
    "shared-checkpoint": shared_checkpoint,
    "truncation": truncation,
    "closed-streams": closed_streams,
    "little-memory": little_memory,
    "killed-report": killed_report,
    "escapes": escapes,
    "options": options,
    "extreme-vectors": extreme_vectors,
    "costly-files": costly_files,
    "blas-threads": blas_threads,
}


def prepare(folder: Path) -> None:
    """A small hierarchy, a patchy table, and an embedding of both."""
    rng = np.random.default_rng(0)
    edges = [f"leaf{i},twig{i % 8}" for i in range(40)]
    edges += [f"twig{i},root" for i in range(8)]
    (folder / "tree.csv").write_text("\n".join(["child,parent", *edges]) + "\n")
    rows = [
        f"leaf{i}," + ",".join(map(str, rng.normal(size=4).round(2)))
        for i in range(0, 40, 2)
    ]
    (folder / "looks.csv").write_text("\n".join(["label,a,b,c,d", *rows]) + "\n")


def attack_once(name: str, rng: random.Random) -> Iterator[str]:
    """One round of an attack in a new folder; a command that hangs is damage too."""
    with tempfile.TemporaryDirectory(prefix="phcle-attack-") as place:
        folder = Path(place)
        prepare(folder)
        if name in ("closed-streams", "killed-report"):
            run(folder, f"{FIT} --out a.phcle")
        try:
            yield from ATTACKS[name](folder, rng)
        except subprocess.TimeoutExpired as hang:
            yield f"it hangs: {hang}"


def main(arguments: list[str] | None = None) -> None:
    """Attack, and print the figures as JSON; damage ends it with code 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="of each attack")
    parser.add_argument("--only", default=",".join(ATTACKS), help="attacks")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    figures: dict[str, dict[str, object]] = {}
    damage = 0
    for name in given.only.split(","):
        rng, began, found = random.Random(f"{name} {given.seed}"), time.monotonic(), []
        for i in range(given.rounds):
            for fault in attack_once(name, rng):
                found.append(fault)
                print(f"{name}, round {i}: {fault}", file=sys.stderr)
        damage += len(found)
        took = round(time.monotonic() - began)
        figures[name] = {"rounds": given.rounds, "damage": len(found), "seconds": took}
        print(f"{name}: {figures[name]}", file=sys.stderr)
    print(json.dumps({"seed": given.seed, **figures}, indent=2))
    sys.exit(damage > 0)


if __name__ == "__main__":
    main()
