"""Search for files that a reader does not take and does not refuse properly either.

    pip install atheris
    python tools/fuzz_readers.py --seconds 180                   every family of readers
    python tools/fuzz_readers.py --seconds 60 --reader mat       one of them
    python tools/fuzz_readers.py --forged 20000                  files of phcle's own

With `--forged`, content and tensors of an embedding with predictions, a map of pictures
and a checkpoint are changed at random under a checksum that fits. Otherwise a
coverage-guided search: small whole files are changed, and changes that reach new
code are kept and changed further. Only errors of phcle may leave a reader, and they
must name the file. Anything else is a fault: another exception or warning, a crash,
more than ten seconds, or two gigabytes. Inputs of faults are kept in `--out`, each
beside its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import random
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
MOST_SECONDS, MOST_MEGABYTES = 10, 2048
FORGED = ("predictions", "map", "checkpoint")
ODD = [None, True, -1, 0, 1, 7, 2**31, 10**20, 1e308, float("nan"), "", "x", "cells"]
ODD += [[], {}, [[]], [0, 1], {"a": 1}]
"""What is put into content; numbers among them into tensors too."""


def main() -> None:
    """Run one family after another, or one file again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each family")
    parser.add_argument("--reader", help="family of readers; by default every one")
    parser.add_argument("--out", type=Path, default=Path("faults"))
    parser.add_argument("--forged", type=int, metavar="N", help="forged files of each")
    parser.add_argument("--seed", type=int, default=1, help="of forged files")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]
    given.out.mkdir(exist_ok=True, parents=True)
    if given.child is not None:
        fuzz(given.child, given.seconds, given.out)
    elif given.forged:
        for name in [given.reader] if given.reader else FORGED:
            found = forge_many(name, given.forged, given.seed, given.out)
            print(json.dumps(found), flush=True)
    else:
        from reader_cases import FAMILIES

        for family in [given.reader] if given.reader else FAMILIES:
            print(json.dumps(run_family(family, given.seconds, given.out)), flush=True)


def run_family(family: str, seconds: int, out: Path) -> dict[str, object]:
    """Search in a process of its own, as a reader may bring it down."""
    before = {path.name for path in out.iterdir()}
    command = [sys.executable, __file__, "--child", family, "--out", str(out)]
    command += ["--seconds", str(seconds)]
    with tempfile.TemporaryFile("w+", errors="replace") as written:
        try:
            both = {"stdout": written, "stderr": written, "timeout": seconds + 300}
            code = subprocess.run(command, check=False, **both).returncode
        except subprocess.TimeoutExpired:
            code = None
        written.seek(0)
        printed = written.read()
    now = out / f"{family}-now"
    if code is None and now.exists():  # it hangs so that not even its alarm ends it
        now.rename(out / f"{family}-stopped-hang")
    now.unlink(missing_ok=True)
    after = {path.name for path in out.iterdir() if path.suffix != ".txt"}
    progress = re.findall(r"#\d+.*cov: \d+ ft: \d+ corp: \d+", printed)
    found: dict[str, object] = {
        "family": family,
        "seconds": seconds,
        "last": progress[-1:],
        "faults": sorted(after - before),
    }
    if code != 0:
        found["exit"] = code
        found["printed"] = printed[-2000:]
    return found


def fuzz(family: str, seconds: int, out: Path) -> None:
    """Search, within this process, until the time is over; does not return."""
    import atheris

    with atheris.instrument_imports(include=["phcle"]):
        import reader_cases

    readers = [x for x in reader_cases.READERS.values() if x.family == family]
    seen: set[str] = set()

    def one_input(data: bytes) -> None:
        tried(family, data, out, seen)

    with tempfile.TemporaryDirectory() as corpus:
        for i, reader in enumerate(readers):
            for j, seed in enumerate(reader.seeds()):
                (Path(corpus) / f"{i}-{j}").write_bytes(bytes([i]) + seed)
                one_input(bytes([i]) + seed)  # libraries are imported at first use
        arguments = [
            sys.argv[0],
            f"-max_total_time={seconds}",
            f"-timeout={MOST_SECONDS}",
            f"-rss_limit_mb={MOST_MEGABYTES}",
            f"-artifact_prefix={out}/{family}-stopped-",
            "-print_final_stats=1",
            "-max_len=65536",
            "-verbosity=1",
            corpus,
        ]
        atheris.Setup(arguments, one_input)
        atheris.Fuzz()


def forge_many(name: str, n: int, seed: int, out: Path) -> dict[str, object]:
    """Read forged files one by one; a crash or a hang leaves its file in `out`."""
    import resource
    import signal

    from reader_cases import READERS

    reader, seen = READERS[name], set[str]()
    place = [x.name for x in READERS.values() if x.family == reader.family].index(name)
    whole, counts = reader.seeds()[0], Counter[str]()
    most = MOST_MEGABYTES << 20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    for i in range(n):
        data = bytes([place]) + forged(whole, random.Random(f"{name} {seed} {i}"))
        signal.alarm(MOST_SECONDS)  # ends this process
        counts.update(["files", tried(reader.family, data, out, seen)])
        signal.alarm(0)
    (out / f"{reader.family}-now").unlink()
    return {"reader": name, **{x: counts[x] for x in ("files", "refused", "faults")}}


def forged(whole: bytes, rng: random.Random) -> bytes:
    """A file with one to three changes, and a checksum that fits."""
    from reader_cases import bytes_of, forge

    def change(content: Any, tensors: dict[str, Any]) -> None:
        for _ in range(rng.randint(1, 3)):
            rng.choice([change_content, change_tensor])(rng, content, tensors)

    def write(path: Path) -> None:
        path.write_bytes(whole)
        forge(path, change)

    return bytes_of(write)


def change_content(rng: random.Random, content: Any, _: object) -> None:
    """Put something else at a random place of a tree of lists and objects."""
    places, left = [], [content]
    while left:
        tree = left.pop()
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        places += [(tree, key) for key in keys]
        left += [tree[key] for key in keys if isinstance(tree[key], dict | list)]
    tree, key = rng.choice(places)
    others = [other[place] for other, place in places]
    if rng.random() < 0.2:
        del tree[key]
    elif isinstance(tree[key], int | float) and rng.random() < 0.5:
        tree[key] += rng.choice([-1, 1, 0.5])
    else:
        tree[key] = copy.deepcopy(rng.choice(rng.choice([ODD, others])))


def change_tensor(rng: random.Random, _: object, tensors: dict[str, Any]) -> None:
    """Change numbers, type, shape or name of a random tensor."""
    if not tensors:
        return
    name, other = rng.choice(sorted(tensors)), rng.choice(sorted(tensors))
    tensor, kind = tensors[name].copy(), rng.randrange(6)
    odd = rng.choice([0, 1, -1, 2**31, 1e308, float("nan"), float("inf"), 300, 65504])
    with np.errstate(all="ignore"):
        if kind == 0 and tensor.size:
            tensor.flat[rng.randrange(tensor.size)] = np.array(odd).astype(tensor.dtype)
        elif kind == 1:
            tensor[...] = np.array(odd).astype(tensor.dtype)
        elif kind == 2:
            tensor = tensor.astype(rng.choice(["f2", "f4", "f8", "i8", "u1", "?"]))
        elif kind == 3:
            cut = rng.choice([slice(1, None), slice(0), slice(None, None, -1)])
            tensor = np.atleast_1d(tensor)[cut]
        elif kind == 4:
            tensor = rng.choice([tensor.T, tensor.ravel(), tensor[None]])
    tensors[name] = tensors[other] if kind == 5 else tensor
    if rng.random() < 0.05:
        del tensors[name]


def read_or_refuse(reader: Any, data: bytes, folder: Path) -> Any:
    """Read bytes as a file; None if an error that names the file refuses them."""
    from phcle.errors import PhcleError, PhcleWarning

    path = folder / reader.file
    path.write_bytes(reader.made(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhcleWarning)
        # Raised by libraries about themselves, whatever the file is.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            found = reader.read(path)
        except PhcleError as error:
            if path.name in str(error):
                return None
            raise AssertionError(
                f"the error does not name the file: {error}"
            ) from error
        # Numbers that are absurd but finite may overflow when they are used.
        warnings.simplefilter("ignore", RuntimeWarning)
        with contextlib.suppress(PhcleError):
            reader.use(found)
    return found


def tried(family: str, data: bytes, out: Path, seen: set[str]) -> str:
    """Read an input: "read", "refused" or "faults", which are kept if they are new.

    The first byte chooses among the readers of the family.
    """
    from reader_cases import READERS, digest

    readers = [reader for reader in READERS.values() if reader.family == family]
    if not data:
        return "read"
    (out / f"{family}-now").write_bytes(data)  # should it never come back
    reader = readers[data[0] % len(readers)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = read_or_refuse(reader, data[1:], Path(folder))
            return "refused" if found is None else "read"
        except Exception as error:
            why = "".join(traceback.format_exception(error))
            frames = traceback.extract_tb(error.__traceback__)
            own = [x for x in frames if "/phcle/" in x.filename] or frames
            key = f"{type(error).__name__} {own[-1].filename}:{own[-1].lineno}"
    if key not in seen:
        kept = out / f"{family}-{digest(data)}"
        kept.with_suffix(".bin").write_bytes(data)
        kept.with_suffix(".txt").write_text(f"{reader.name}: {why}")
    seen.add(key)
    return "faults"


if __name__ == "__main__":
    main()
