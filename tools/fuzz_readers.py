"""Search for files that a reader does not take and does not refuse properly either.

    pip install atheris
    python tools/fuzz_readers.py --seconds 180                   every family of readers
    python tools/fuzz_readers.py --seconds 60 --reader mat       one of them
    python tools/fuzz_readers.py --replay faults/mat-3fe1.bin    one file again

A coverage-guided search: small whole files are changed, and changes that reach new
code are kept and changed further. Only errors of phcle may leave a reader, and they
must name the file. Anything else is a fault: another exception or warning, a crash,
more than ten seconds, or two gigabytes. Inputs of faults are kept in `--out`, each
beside its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
MOST_SECONDS, MOST_MEGABYTES = 10, 2048


def main() -> None:
    """Run one family after another, or one file again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each family")
    parser.add_argument("--reader", help="family of readers; by default every one")
    parser.add_argument("--out", type=Path, default=Path("faults"))
    parser.add_argument("--replay", type=Path, help="an input that was kept")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "src")]
    if given.replay is not None:
        family = given.replay.name.partition("-")[0]
        sys.exit(0 if tried(family, given.replay.read_bytes(), None) is None else 1)
    if given.child is not None:
        fuzz(given.child, given.seconds, given.out)
    given.out.mkdir(exist_ok=True, parents=True)
    from reader_cases import FAMILIES

    for family in [given.reader] if given.reader else FAMILIES:
        print(json.dumps(run_family(family, given.seconds, given.out)), flush=True)


def run_family(family: str, seconds: int, out: Path) -> dict[str, object]:
    """Search in a process of its own, as a reader may bring it down."""
    before = {path.name for path in out.iterdir()}
    command = [sys.executable, __file__, "--child", family, "--out", str(out)]
    with tempfile.TemporaryFile("w+", errors="replace") as written:
        code = _run([*command, "--seconds", str(seconds)], written, seconds + 300)
        written.seek(0)
        told = written.read()
    now = out / f"{family}-now"
    if code is None and now.exists():  # it hangs so that not even its alarm ends it
        now.rename(out / f"{family}-stopped-hang")
    now.unlink(missing_ok=True)
    tried_files = re.search(r"number_of_executed_units: (\d+)", told)
    paths = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", told)
    after = {path.name for path in out.iterdir() if path.suffix != ".txt"}
    faults = sorted(after - before)
    found: dict[str, object] = {
        "family": family,
        "seconds": seconds,
        "files": int(tried_files[1]) if tried_files else None,
        "edges": int(paths[-1][0]) if paths else None,
        "paths": int(paths[-1][1]) if paths else None,
        "kept": int(paths[-1][2]) if paths else None,
        "faults": faults,
    }
    if code != 0:
        found["exit"] = code
        found["told"] = told[-2000:]
    return found


def _run(command: list[str], written: IO[str], seconds: float) -> int | None:
    """The exit code of a command; None if it had to be ended."""
    process = subprocess.Popen(command, stderr=written, stdout=written)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def fuzz(family: str, seconds: int, out: Path) -> None:
    """Search, within this process, until the time is over; does not return."""
    import atheris

    with atheris.instrument_imports(include=["phcle"]):
        import reader_cases

    readers = [x for x in reader_cases.READERS.values() if x.family == family]
    seen: set[str] = set()

    def one_input(data: bytes) -> None:
        (out / f"{family}-now").write_bytes(data)  # should it never come back
        fault = tried(family, data, seen)
        if fault is not None:
            name = f"{family}-{reader_cases.digest(data)}"
            (out / f"{name}.bin").write_bytes(data)
            (out / f"{name}.txt").write_text(fault)

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


def tried(family: str, data: bytes, seen: set[str] | None) -> str | None:
    """What is wrong with how an input was read; None if nothing, or nothing new.

    The first byte chooses among the readers of the family.
    """
    from reader_cases import READERS

    from phcle.errors import PhcleError, PhcleWarning

    readers = [reader for reader in READERS.values() if reader.family == family]
    if not data:
        return None
    reader = readers[data[0] % len(readers)]
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / reader.file
        path.write_bytes(reader.made(data[1:]))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", PhcleWarning)
                # Raised by libraries about themselves, whatever the file is.
                warnings.simplefilter("ignore", DeprecationWarning)
                found = reader.read(path)
                # Numbers that are absurd but finite may overflow when they are used.
                warnings.simplefilter("ignore", RuntimeWarning)
                with contextlib.suppress(PhcleError):
                    reader.use(found)
            return None
        except PhcleError as error:
            if path.name in str(error):
                return None
            why, where = f"the error does not name the file: {error}", ""
        except Exception as error:
            why = "".join(traceback.format_exception(error))
            frames = traceback.extract_tb(error.__traceback__)
            own = [x for x in frames if "/phcle/" in x.filename] or frames
            where = f"{type(error).__name__} {own[-1].filename}:{own[-1].lineno}"
    key = where or re.sub(r"[0-9'\"]+", "", why)[:60]
    if seen is not None:
        if key in seen:
            return None
        seen.add(key)
    else:
        print(f"{reader.name}: {why}")
    return f"{reader.name}: {why}"


def _memory() -> str | None:
    """A folder that is no disk, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    main()
