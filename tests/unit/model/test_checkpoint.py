"""Checkpoints: the same trajectory after a stop, and no other fit's."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import ConvergenceWarning, FileError, OptionError
from phcle.files import only_writer

OPTIONS = {"dim": 4, "backend": "numpy", "completion": "none", "tol": 0.0}


def contexts(extra="wild"):
    tree = [(f"leaf{i}", f"twig{i % 4}") for i in range(16)]
    tree += [(f"twig{i}", "root") for i in range(4)]
    tags = {f"leaf{i}": ["tame" if i % 2 else extra] for i in range(9)}
    return [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_tags(tags, name="tags"),
        RelationalContext.from_edges(
            [("leaf1", "leaf3"), ("leaf2", "leaf4")], name="kin", role="family"
        ),
    ]


class Stop(KeyboardInterrupt):
    pass


def stop_after(n):
    def on_step(state):
        if state.iteration == n:
            raise Stop

    return on_step


@pytest.mark.filterwarnings("ignore:not converged")
def test_on_every_back_end_a_resumed_fit_has_the_same_bits(tmp_path, backend_options):
    options = {**OPTIONS, **backend_options, "max_iter": 6}
    whole = PHCLE(**options).fit(contexts())
    file = tmp_path / "fit.ckpt"
    with pytest.raises(Stop):
        PHCLE(**options).fit(contexts(), checkpoint=file, on_step=stop_after(3))
    resumed = PHCLE(**options).fit(contexts(), checkpoint=file, resume=True)
    assert np.array_equal(resumed.embedding_.vectors, whole.embedding_.vectors)
    assert resumed.embedding_.history == whole.embedding_.history
    on_numpy = PHCLE(**OPTIONS, max_iter=6)  # goes on from any back end's checkpoint
    with pytest.raises(Stop):
        PHCLE(**options).fit(
            contexts(), checkpoint=tmp_path / "2.ckpt", on_step=stop_after(3)
        )
    on_numpy.fit(contexts(), checkpoint=tmp_path / "2.ckpt", resume=True)
    found = on_numpy.embedding_.vectors
    assert np.allclose(found, whole.embedding_.vectors, atol=1e-3)


@pytest.mark.filterwarnings("ignore:not converged")
def test_a_stop_during_the_last_checkpoint_loses_no_sweep(tmp_path, monkeypatch):
    file, fsync, stops = tmp_path / "fit.ckpt", os.fsync, [KeyboardInterrupt]

    def stopped_once(handle):
        if stops:
            raise stops.pop()
        fsync(handle)

    monkeypatch.setattr(os, "fsync", stopped_once)
    model = PHCLE(**OPTIONS, max_iter=3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(contexts(), checkpoint=file)
    assert not stops
    assert len(model.history_) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["fit.ckpt"]


@pytest.mark.filterwarnings("ignore:not converged")
def test_checkpoints_are_written_at_the_interval_and_leave_nothing_beside(tmp_path):
    file, seen = tmp_path / "fit.ckpt", []

    def look(state):
        seen.append(file.exists())

    model = PHCLE(**OPTIONS, max_iter=3)
    model.fit(contexts(), checkpoint=file, checkpoint_every=0.0, on_step=look)
    assert seen == [True, True, True]
    assert [path.name for path in tmp_path.iterdir()] == ["fit.ckpt"]


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize(
    ("changed", "data", "message"),
    [
        ({"dim": 5}, contexts, r"dim=4, this fit 5"),
        ({"ridge": 2.0}, contexts, r"ridge=10.0, this fit 2.0"),
        ({"random_state": 7}, contexts, r"random_state=0, this fit 7"),
        ({"dtype": "float64"}, contexts, r"dtype='float32', this fit 'float64'"),
        ({}, lambda: contexts("feral"), r"other data in 'tags'"),
        ({}, lambda: contexts()[::2], r"only the checkpoint has 'tags'"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused_with_the_difference(
    tmp_path, changed, data, message
):
    file = tmp_path / "fit.ckpt"
    PHCLE(**OPTIONS, max_iter=2).fit(contexts(), checkpoint=file)
    with pytest.raises(FileError, match=message):
        PHCLE(**{**OPTIONS, **changed}).fit(data(), checkpoint=file, resume=True)


@pytest.mark.filterwarnings("ignore:not converged")
def test_a_checkpoint_that_is_there_is_not_overwritten(tmp_path):
    file = tmp_path / "fit.ckpt"
    PHCLE(**OPTIONS, max_iter=1).fit(contexts(), checkpoint=file)
    with pytest.raises(FileError, match="there is a checkpoint already"):
        PHCLE(**OPTIONS).fit(contexts(), checkpoint=file)


def test_bad_checkpoints_are_named(tmp_path):
    file = tmp_path / "fit.ckpt"
    with pytest.raises(FileError, match="no such checkpoint"):
        PHCLE(**OPTIONS).fit(contexts(), checkpoint=file, resume=True)
    file.write_bytes(b"nonsense")
    with pytest.raises(FileError, match=r"fit\.ckpt: is damaged"):
        PHCLE(**OPTIONS).fit(contexts(), checkpoint=file, resume=True)
    with pytest.raises(OptionError, match="resume needs a checkpoint"):
        PHCLE(**OPTIONS).fit(contexts(), resume=True)
    PHCLE(dim=4, completion="none").fit(contexts()).embedding_.save(file)
    with pytest.raises(FileError, match="is not a checkpoint"):
        PHCLE(**OPTIONS).fit(contexts(), checkpoint=file, resume=True)


@pytest.mark.posix("Windows has no such locks")
@pytest.mark.parametrize("resume", [False, True])
def test_two_fits_never_share_a_checkpoint(tmp_path, resume):
    file = tmp_path / "fit.ckpt"
    options = {**OPTIONS, "max_iter": 3, "tol": 1.0}
    if resume:
        with pytest.raises(Stop):
            PHCLE(**options).fit(contexts(), checkpoint=file, on_step=stop_after(1))
    refused = []

    def start_another(_state):
        with pytest.raises(FileError, match="another fit that is running") as raised:
            PHCLE(**options).fit(contexts(), checkpoint=file, resume=resume)
        refused.append(raised)

    first = PHCLE(**{**options, "tol": 0.0} if not resume else options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first.fit(contexts(), checkpoint=file, resume=resume, on_step=start_another)
    assert refused
    assert [x.name for x in tmp_path.iterdir()] == ["fit.ckpt"]


@pytest.mark.posix("Windows has no such locks")
def test_the_lock_of_a_killed_fit_refuses_nothing(tmp_path):
    file = tmp_path / "fit.ckpt"
    code = (
        "import os, pathlib, phcle.files as w\n"
        f"with w.only_writer(pathlib.Path({str(file)!r})): os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code])
    assert [x.suffix for x in tmp_path.iterdir()] == [".phcle-part"]
    with only_writer(file):
        pass
    assert not [*tmp_path.iterdir()]
