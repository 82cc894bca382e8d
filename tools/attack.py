"""Attack phcle from outside, again and again, and count what broke.

    python tools/attack.py                           # every attack, 20 rounds each
    python tools/attack.py --rounds 5 --only kill,hangup --seed 7

Each attack is what a user, another program or the system may do at a bad moment. It
starts phcle as a user does, in a process of its own, and looks at the exit code, at
what was printed and at every file. A traceback, a file that is neither the old nor the
new one, or one that is left behind counts as damage. `fuzz_readers.py` beside this file
covers damaged files, and the tests cover what needs no chance.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

import phcle
from phcle.errors import FileError

PHCLE = (sys.executable, "-m", "phcle")
LIMIT = 600  # seconds that any command may take, on a busy machine
OLD = b"what was there before\n" * 400
CHECKPOINT = "fit.ckpt"
N_LEAVES = 60

FIT = (
    "fit --hierarchy ../tree.csv --attributes ../looks.csv --quiet --set backend=numpy"
)
SAVING = f"{FIT} --dim 8 --set tol=0 --checkpoint {CHECKPOINT} --checkpoint-every 0"
LEARNED = "../labels.phcle"
WRITING = {
    "fit": f"{SAVING} --set max_iter=12 --out out.phcle",
    "add": f"add {LEARNED} --hierarchy ../new.csv --out more.phcle",
    "export": f"export {LEARNED} --out labels.vec",
    "map": f"understand {LEARNED} --features ../features.npz --learn pictures.map",
    "clusters": f"clusters {LEARNED} --count 4 --out clusters.csv",
    "report": f"report {LEARNED} --out page",
}
"""Commands that write, which are killed."""

Attack = Callable[[Path, random.Random, Counter[str]], Iterator[str]]
"""One round of an attack in an empty folder; what it yields is damage."""


def start(folder: Path, command: str) -> subprocess.Popen[str]:
    """Start a command of phcle in a folder."""
    return subprocess.Popen(
        [*PHCLE, *command.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),
    )


def end(process: subprocess.Popen[str], *codes: int) -> Iterator[str]:
    """What is wrong with the end of a command that may end with these codes."""
    _, said = process.communicate(timeout=LIMIT)
    if process.returncode not in codes:
        yield f"{process.args}: exit code {process.returncode}: {said[-300:]}"
    if "Traceback" in said or "\x1b]" in said or len(said) > 2000:
        yield f"{process.args}: said {said[-300:]!r}"


def is_whole(path: Path) -> bool:
    """Whether a file is an embedding of all leaves."""
    try:
        return len(phcle.load(path)) == N_LEAVES
    except FileError:
        return False


@cache
def inputs() -> Path:
    """A folder with files that the commands read, and an embedding of them."""
    folder = Path(tempfile.mkdtemp(prefix="phcle-attack-"))
    rng = np.random.default_rng(0)
    leaves = [f"leaf{i}" for i in range(N_LEAVES)]
    edges = [(x, f"twig{i % 8}") for i, x in enumerate(leaves)]
    edges += [(f"twig{i}", "root") for i in range(8)]
    looks = [(x, *rng.normal(size=4).round(2)) for x in leaves[::2]]
    rows = {
        "tree.csv": [("child", "parent"), *edges],
        "new.csv": [("child", "parent"), *((f"new{i}", f"twig{i}") for i in range(8))],
        "looks.csv": [("label", *"abcd"), *looks],
    }
    for name, own in rows.items():
        text = "".join(",".join(map(str, row)) + "\n" for row in own)
        (folder / name).write_text(text)
    labels = np.array(leaves * 5)
    features = rng.normal(size=(len(labels), 30))
    np.savez(folder / "features.npz", features=features, labels=labels)
    (folder / "here").mkdir()
    for fault in end(start(folder / "here", f"{FIT} --out {LEARNED}"), 0):
        sys.exit(fault)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; of a checkpoint what does not depend on the clock."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    if CHECKPOINT in found:
        found[CHECKPOINT] = without_times(folder / CHECKPOINT)
    return found


def without_times(checkpoint: Path) -> bytes:
    """A checkpoint's numbers; refuses one that is not whole."""
    from phcle.files import read_sealed
    from phcle.model.checkpoint import FORMAT, VERSION

    about, tensors = read_sealed(checkpoint, FORMAT, VERSION, "is no checkpoint")
    for record in about["history"]:
        del record["seconds"]
    numbers = b"".join(tensors[name].tobytes() for name in sorted(tensors))
    return json.dumps(about).encode() + numbers


def temporary(folder: Path) -> set[Path]:
    """Hidden files that lie there now."""
    return {path for path in folder.rglob(".*") if path.is_file()}


@cache
def undisturbed(name: str) -> tuple[dict[str, bytes], float, int]:
    """What a command writes if nobody kills it, its seconds, and how many files."""
    folder = inputs() / f"undisturbed-{name}"
    folder.mkdir()
    began, seen = time.monotonic(), set[Path]()
    process = start(folder, WRITING[name])
    while process.poll() is None:
        seen |= temporary(folder)
        time.sleep(0.0005)
    if faults := list(end(process, 0)):
        sys.exit(f"{name}: {faults[0]}")
    return contents(folder), time.monotonic() - began, max(len(seen), 1)


def kill(folder: Path, rng: random.Random, counts: Counter[str]) -> Iterator[str]:
    """A command that writes is killed, and started again until it ends.

    Half of the kills come at any moment, half while a temporary file lies there. Every
    file is then the old one or the new one, and in the end the new one to the byte.
    """
    name = rng.choice([*WRITING, "fit"])
    wanted, seconds, n_files = undisturbed(name)
    for path in wanted if rng.random() < 0.8 else ():
        if path != CHECKPOINT:  # a fit refuses to overwrite another's
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(OLD)
    for _ in range(rng.randint(1, 3)):
        process = again(folder, name, counts)
        if rng.random() < 0.5:
            wait_for_files(process, folder, rng.randrange(n_files))
            time.sleep(rng.uniform(0, 0.004))
        else:
            time.sleep(rng.uniform(0, seconds))
        counts["killed"] += process.poll() is None
        process.kill()
        process.communicate()
        counts["killed while writing"] += bool(temporary(folder))
        for path, found in contents(folder).items():
            is_ours = Path(path).name.startswith(".") and path.endswith(".phcle-part")
            if not (is_ours or path == CHECKPOINT or found in (OLD, wanted.get(path))):
                yield f"{name}: {path} is damaged or left behind"
    yield from end(again(folder, name, counts), 0)
    if (found := contents(folder)) != wanted:
        names = sorted({*found, *wanted})
        wrong = [x for x in names if found.get(x) != wanted.get(x)]
        yield f"{name}: after the next start {', '.join(wrong)} is not as it should be"


def again(folder: Path, name: str, counts: Counter[str]) -> subprocess.Popen[str]:
    """Start a command; from its checkpoint, if there is one."""
    resumed = (folder / CHECKPOINT).exists()
    counts["resumed"] += resumed
    return start(folder, WRITING[name] + " --resume" * resumed)


def wait_for_files(process: subprocess.Popen[str], folder: Path, n: int) -> None:
    """Until more than `n` new temporary files were seen, or the process ended."""
    before, seen = temporary(folder), set[Path]()
    while process.poll() is None and len(seen) <= n:
        seen |= temporary(folder) - before
        time.sleep(0.0001)


def hangup(folder: Path, rng: random.Random, counts: Counter[str]) -> Iterator[str]:
    """The terminal closes, the user presses Ctrl-C, or the system shuts down."""
    codes = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}
    sent, code = rng.choice(list(codes.items()))
    process = start(folder, f"{SAVING} --set max_iter=100000 --out out.phcle")
    while not (folder / CHECKPOINT).exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(rng.uniform(0, 1))
    process.send_signal(sent)
    counts[sent.name] += 1
    yield from end(process, code)
    if not is_whole(folder / "out.phcle"):
        yield f"{sent.name}: labels were lost"


ATTACKS: dict[str, Attack] = {x.__name__: x for x in (kill, hangup)}


def attack_once(name: str, rng: random.Random, counts: Counter[str]) -> Iterator[str]:
    """One round in a new folder; a command that hangs is damage too."""
    folder = inputs() / "here"
    shutil.rmtree(folder)
    folder.mkdir()
    try:
        yield from ATTACKS[name](folder, rng, counts)
    except subprocess.TimeoutExpired as hang:
        yield f"it hangs: {hang}"


def main(arguments: list[str] | None = None) -> None:
    """Attack, and print the figures as JSON; damage ends it with code 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="of each attack")
    parser.add_argument("--only", default=",".join(ATTACKS), help="attacks")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    figures: dict[str, dict[str, int]] = {}
    for name in given.only.split(","):
        counts: Counter[str] = Counter(rounds=given.rounds, damage=0)
        rng, began = random.Random(f"{name} {given.seed}"), time.monotonic()
        for i in range(given.rounds):
            for fault in attack_once(name, rng, counts):
                counts["damage"] += 1
                print(f"{name}, round {i}: {fault}", file=sys.stderr)
        figures[name] = {**counts, "seconds": round(time.monotonic() - began)}
    shutil.rmtree(inputs())
    inputs.cache_clear()
    undisturbed.cache_clear()
    print(json.dumps({"seed": given.seed, **figures}, indent=2))
    sys.exit(any(own["damage"] for own in figures.values()))


if __name__ == "__main__":
    main()
