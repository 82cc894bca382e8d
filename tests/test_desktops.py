"""The default path runs on macOS and Windows: what Linux alone has is not used.

A subprocess hides from phcle what these systems lack (`other_systems.py`). Then it
imports, fits, resumes, saves, searches, completes, reports and explores.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from other_systems import pretend


def use_everything(folder):
    """Import, fit, save, search and explore; from Python and by the command line."""
    import phcle
    from phcle.cli import main

    pairs = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
    pairs += [("felid", "animal"), ("canid", "animal")]
    model = phcle.PHCLE(dim=2).fit(phcle.RelationalContext.from_hierarchy(pairs))
    model.embedding_.save(folder / "labels.phcle")
    assert phcle.load(folder / "labels.phcle").nearest("cat", k=1)

    tree = "\n".join(f"{a},{b}" for a, b in [("child", "parent"), *pairs])
    (folder / "tree.csv").write_text(tree, encoding="utf-8")
    out = str(folder / "again.phcle")
    run(
        main, "fit", "--hierarchy", str(folder / "tree.csv"), "--dim", "2", "--out", out
    )
    run(main, "nearest", out, "cat")
    complete_a_table(main, folder)
    explore(Path(out))


def complete_a_table(main, folder):
    """Fit a table with gaps, stop, resume, fill the gaps and write a report."""
    rows = [f"{x},{i % 2},{i}" for i, x in enumerate(("cat", "lion", "dog"))]
    table = folder / "looks.csv"
    table.write_text("\n".join(["label,wild,size", *rows, "wolf,,"]), encoding="utf-8")
    files = ("--hierarchy", str(folder / "tree.csv"), "--attributes", str(table))
    fit = ("fit", *files, "--dim", "2", "--checkpoint", str(folder / "fit.ckpt"))
    out = str(folder / "table.phcle")
    run(main, *fit, "--set", "max_iter=2", "--out", out)
    run(main, *fit, "--resume", "--out", out)
    run(main, "complete", out, "--out", str(folder / "filled.csv"))
    assert "wolf,wild," in (folder / "filled.csv").read_text(encoding="utf-8")
    run(main, "report", out, "--out", str(folder / "page"))


def run(main, *words):
    sys.argv = ["phcle", *words]
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code, words


def explore(path):
    """Ask the explorer for its first page, and its server for an address."""
    from starlette.testclient import TestClient

    from phcle.atlas import Opened, Rules, Workspace, address_of, bind, make_app
    from phcle.embedding import load

    with bind("127.0.0.1", 0) as listening:
        assert address_of(listening, "127.0.0.1").startswith("http://")
    workspace = Workspace(Opened(load(path), path.stem, path))
    workspace.opened.map.wait()
    app = make_app(workspace, Rules(frozenset({"testserver"}), most_bytes=1 << 20))
    with TestClient(app) as client:
        for page in ("/", "/api/map", "/api/label?label=cat"):
            assert client.get(page).status_code == 200, page


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_the_default_path_runs_on_other_systems(system, tmp_path):
    for module in ("fastapi", "httpx", "openTSNE", "rapidfuzz", "uvicorn"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", __file__, system, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    # A file opened without an encoding is read in the system's own on Windows.
    warnings.filterwarnings("error", category=EncodingWarning, module=r"phcle\.")
    pretend(sys.argv[1])
    use_everything(Path(sys.argv[2]))
