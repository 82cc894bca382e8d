"""Kill phcle at random moments, and look whether anything was lost.

    python tools/kill_test.py                          # 160 forked and 70 real kills
    python tools/kill_test.py --forked 0 --real 30 --only fit,report --seed 7

Every command that writes is started again and again and killed by SIGKILL: half of the
times at any moment of its life, half of the times while a temporary file of it lies
there. After each kill every output must be the old one or the new one, whole; the same
command, started again (`fit` with --resume where there is a checkpoint), must end with
the very bytes of a run that nobody killed, and no other file may be left.

"real" processes are `python -m phcle …`; "forked" ones run the same command line in a
fork of this process, which has imported everything, so that they are quick.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

OLD = b"what was there before\n" * 400
LIMIT = 600.0  # seconds that any command may take, on a busy machine

FIT = (
    "fit --hierarchy ../tree.csv --attributes ../looks.csv --dim 16 --tol 0 --quiet "
    "--max-iter 12 --backend numpy --checkpoint fit.ckpt --checkpoint-every 0 "
    "--out out.phcle"
)
IMPORTED = (
    "jinja2 matplotlib.backends.backend_agg matplotlib.backends.backend_svg "
    "matplotlib.figure openTSNE pyarrow.parquet pydantic safetensors.numpy "
    "scipy.cluster.hierarchy sklearn.decomposition phcle.cli.app phcle.report "
    "phcle.report.heatmap phcle.images"
)
LEARNED = "../labels.phcle"
COMMANDS = {
    "fit": FIT,
    "add": f"add {LEARNED} --hierarchy ../new.csv --out more.phcle",
    "export-vec": f"export {LEARNED} --out labels.vec",
    "export-npz": f"export {LEARNED} --out labels.npz",
    "export-parquet": f"export {LEARNED} --out labels.parquet",
    "export-safetensors": f"export {LEARNED} --out labels.safetensors",
    "map": f"map {LEARNED} --features ../features.npz --out pictures.map",
    "clusters": f"clusters {LEARNED} --count 4 --out clusters.png",
    "report": f"report {LEARNED} --out page",
}


@dataclass
class Process:
    """A command at work, forked or real."""

    pid: int
    log: Path
    status: int | None = None

    @classmethod
    def start(
        cls, arguments: list[str], folder: Path, log: Path, *, real: bool
    ) -> Process:
        """Start a command in a folder; what it says goes to the log."""
        pid = os.fork()
        if pid:
            return cls(pid, log)
        os.chdir(folder)
        with log.open("wb") as said:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
        if real:
            command = [sys.executable, "-m", "phcle", *arguments]
            os.execv(sys.executable, command)
        raise SystemExit(_run_here(arguments))

    def is_over(self) -> bool:
        """Whether it has ended, by itself or not."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def kill(self) -> bool:
        """SIGKILL; whether the process was still at work."""
        if self.is_over():
            return False
        os.kill(self.pid, signal.SIGKILL)
        _, self.status = os.waitpid(self.pid, 0)
        return os.WIFSIGNALED(self.status)

    def wait(self) -> None:
        """Wait for the end, which must be a good one."""
        end = time.monotonic() + LIMIT
        while not self.is_over():
            if time.monotonic() > end:
                self.kill()
                raise SystemExit(f"a command took more than {LIMIT} s")
            time.sleep(0.002)
        if self.status:
            said = self.log.read_text(errors="replace")[-2000:]
            raise Lost(f"ended with status {self.status}:\n{said}")


class Lost(Exception):
    """Something that a kill must never do."""


def _run_here(arguments: list[str]) -> NoReturn:
    """Be the command line, in a fork; never returns."""
    from phcle.cli.app import main

    code = 1
    try:
        sys.argv = ["phcle", *arguments]
        main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    finally:
        sys.stdout.flush()
        os._exit(code)


@dataclass
class Case:
    """A command, what it writes if nobody kills it, and how its kills went."""

    name: str
    work: Path
    files: dict[str, bytes] = field(default_factory=dict)
    life: dict[bool, float] = field(default_factory=dict)  # by whether it is real
    writings: int = 1
    counts: Counter = field(default_factory=Counter)

    def fresh_folder(self, *, old: bool) -> Path:
        """An empty folder to write to, or one with older files in it."""
        folder = self.work / "here"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if old:
            for name in self.files:
                if name != "fit.ckpt":  # fit refuses to overwrite another's
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_bytes(OLD)
        return folder

    def start(self, folder: Path, *, real: bool) -> Process:
        """Start the command; from its checkpoint, if there is one."""
        arguments = COMMANDS[self.name].split()
        if (folder / "fit.ckpt").exists():
            arguments.append("--resume")
        return Process.start(arguments, folder, self.work / "log", real=real)

    def learn(self, *, real: bool) -> None:
        """Run it whole, twice: what it writes, and how long it takes."""
        for _ in range(2):
            folder = self.fresh_folder(old=False)
            began = time.monotonic()
            process = self.start(folder, real=real)
            seen: set[str] = set()
            while not process.is_over():
                seen |= temporary_files(folder)
                time.sleep(0.0005)
            process.wait()
            self.life[real] = time.monotonic() - began
            found = contents(folder)
            self.files = self.files or found
            self.writings = max(self.writings, len(seen))
            if different(found, self.files):
                raise Lost("two runs wrote different bytes")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; a checkpoint without its times."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    if "fit.ckpt" in found:
        found["fit.ckpt"] = without_times(folder / "fit.ckpt")
    return found


def without_times(checkpoint: Path) -> bytes:
    """A checkpoint's numbers; refuses one that is not whole."""
    from phcle.files.container import read_sealed
    from phcle.solver.checkpoint import FORMAT, VERSION

    about, tensors = read_sealed(checkpoint, FORMAT, VERSION, "is no checkpoint")
    for record in about["history"]:
        del record["seconds"]
    numbers = b"".join(tensors[name].tobytes() for name in sorted(tensors))
    return json.dumps(about).encode() + numbers


def different(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """Names of files that are not the same in both."""
    names = sorted({*found, *wanted})
    return [name for name in names if found.get(name) != wanted.get(name)]


def temporary_files(folder: Path) -> set[str]:
    """Hidden files that lie there now, of phcle or of a library that it uses."""
    found = set()
    for place, _, names in os.walk(folder):
        found |= {f"{place}/{x}" for x in names if x.startswith(".")}
    return found


def kill_once(case: Case, folder: Path, rng: random.Random, *, real: bool) -> None:
    """Start the command, kill it at a random moment, and look at every file."""
    aims_at_writing = rng.random() < 0.5
    moment = rng.uniform(0, 1.02 * case.life[real])
    which, delay = rng.randrange(case.writings), rng.uniform(0, 0.004)
    process = case.start(folder, real=real)
    began = time.monotonic()
    if aims_at_writing:
        before, seen = temporary_files(folder), set()
        while not process.is_over() and len(seen) <= which:
            seen |= temporary_files(folder) - before
            time.sleep(0.0001)
        time.sleep(delay)
    else:
        while not process.is_over() and time.monotonic() - began < moment:
            time.sleep(0.001)
    if process.kill():
        case.counts["killed"] += 1
        case.counts["killed_while_writing"] += bool(temporary_files(folder))
    else:
        process.wait()
        case.counts["too_late"] += 1
    check_nothing_is_damaged(case, folder)


def check_nothing_is_damaged(case: Case, folder: Path) -> None:
    """Every file is the old one or the new one, or an open temporary file of ours."""
    for name, found in contents(folder).items():
        is_ours = Path(name).name.startswith(".") and name.endswith(".phcle-part")
        if is_ours:
            continue
        if name == "fit.ckpt":  # `contents` has read it whole; its sweep may be any
            case.counts["checkpoints"] += 1
        elif name not in case.files:
            raise Lost(f"left {name} behind")
        elif found == OLD:
            case.counts["old_files"] += 1
        elif found == case.files[name]:
            case.counts["new_files"] += 1
        else:
            raise Lost(f"damaged {name}: {len(found)} bytes")


def check_next_start(case: Case, folder: Path, *, real: bool) -> None:
    """The next start ends as if nobody had killed the ones before."""
    case.counts["resumed"] += (folder / "fit.ckpt").exists()
    case.start(folder, real=real).wait()
    found = contents(folder)
    wrong = different(found, case.files)
    if wrong:
        raise Lost(f"after the next start not as it should be: {', '.join(wrong)}")


def run_case(case: Case, kills: int, rng: random.Random, *, real: bool) -> None:
    """Kill until there are enough; a fit is sometimes killed at its resumptions too."""
    case.learn(real=real)
    wanted = case.counts["killed"] + kills
    while case.counts["killed"] < wanted:
        folder = case.fresh_folder(old=rng.random() < 0.8)
        in_a_row = rng.randint(1, 3) if case.name == "fit" else 1
        for _ in range(in_a_row):
            kill_once(case, folder, rng, real=real)
        check_next_start(case, folder, real=real)


def prepare(work: Path, n_leaves: int) -> None:
    """Files that the commands read."""
    import numpy as np

    rng = np.random.default_rng(0)
    edges = [(f"leaf{i}", f"twig{i % 40}") for i in range(n_leaves)]
    edges += [(f"twig{i}", f"branch{i % 7}") for i in range(40)]
    edges += [(f"branch{i}", "root") for i in range(7)]
    write_rows(work / "tree.csv", [("child", "parent"), *edges])
    new = [("child", "parent"), *((f"new{i}", f"twig{i}") for i in range(40))]
    write_rows(work / "new.csv", new)
    looks = [("label", *"abcdef")]
    looks += [(f"leaf{i}", *rng.normal(size=6).round(3)) for i in range(0, n_leaves, 2)]
    write_rows(work / "looks.csv", looks)
    names = np.array([f"leaf{i % 40}" for i in range(400)])
    np.savez(work / "features.npz", features=rng.normal(size=(400, 30)), labels=names)
    (work / "start").mkdir()
    case = Case("fit", work)
    case.start(work / "start", real=False).wait()
    (work / "start" / "out.phcle").replace(work / "labels.phcle")


def write_rows(path: Path, rows: list[tuple]) -> None:
    """Write a CSV file."""
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def import_everything() -> None:
    """What commands import, once, so that a fork starts at once."""
    for module in IMPORTED.split():
        importlib.import_module(module)
    phcle = importlib.import_module("phcle")
    assert phcle.PHCLE, phcle.load  # both are imported when first asked for


def main(arguments: list[str] | None = None) -> None:
    """Kill, look, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--forked", type=int, default=160, help="kills of forks")
    parser.add_argument("--real", type=int, default=70, help="kills of `phcle`")
    parser.add_argument("--leaves", type=int, default=400, help="labels, at least 40")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(COMMANDS), help="commands")
    given = parser.parse_args(arguments)
    # A fork has only the thread that forked it, so there shall be no others.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    rng, began = random.Random(given.seed), time.monotonic()
    import_everything()
    with tempfile.TemporaryDirectory(prefix="phcle-kills-") as place:
        work = Path(place)
        prepare(work, given.leaves)
        cases = [Case(name, work) for name in given.only.split(",")]
        # Stopped early, it still says what it has seen.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
        try:
            for real, wanted in ((False, given.forked), (True, given.real)):
                for kills, case in zip(shares(wanted, cases), cases, strict=True):
                    if kills:
                        attempt(case, kills, rng, real=real)
        finally:
            found = summary(cases, given, time.monotonic() - began)
            print(json.dumps(found, indent=2))


def shares(kills: int, cases: list[Case]) -> list[int]:
    """Kills for each case: most for fits, which have most to lose; few for pictures."""
    parts = [{"fit": 4, "clusters": 1, "report": 1}.get(x.name, 2) for x in cases]
    done, whole, result = 0, sum(parts), []
    for i in range(len(parts)):
        upto = kills * sum(parts[: i + 1]) // whole
        result.append(upto - done)
        done = upto
    return result


def attempt(case: Case, kills: int, rng: random.Random, *, real: bool) -> None:
    """Run one case; a loss ends all with the command's name."""
    began = time.monotonic()
    try:
        run_case(case, kills, rng, real=real)
    except Lost as lost:
        raise SystemExit(f"{case.name}: {lost}") from lost
    kind = "real" if real else "forked"
    case.counts[kind] += kills
    took = time.monotonic() - began
    print(f"{case.name}: {kills} {kind} kills in {took:.0f} s", file=sys.stderr)


def summary(
    cases: list[Case], given: argparse.Namespace, seconds: float
) -> dict[str, object]:
    """The figures of all cases together, and of each."""
    total: Counter = sum((case.counts for case in cases), Counter())
    return {
        "seed": given.seed,
        "seconds": round(seconds),
        "total": dict(sorted(total.items())),
        **{case.name: dict(sorted(case.counts.items())) for case in cases},
    }


if __name__ == "__main__":
    main()
