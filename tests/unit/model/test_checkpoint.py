"""Checkpoints: the same trajectory after a stop, and no other fit's."""

from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.errors import FileError, OptionError

OPTIONS = {"dim": 4, "backend": "numpy", "calibrate": False, "tol": 0.0}


def contexts(extra="wild"):
    tree = [(f"leaf{i}", f"twig{i % 4}") for i in range(16)]
    tree += [(f"twig{i}", "root") for i in range(4)]
    tags = {f"leaf{i}": ["tame" if i % 2 else extra] for i in range(9)}
    return [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_tags(tags, name="tags"),
    ]


class Stop(KeyboardInterrupt):
    pass


def stop_after(n):
    def on_step(state):
        if state.iteration == n:
            raise Stop

    return on_step


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_a_resumed_fit_makes_the_sweeps_it_would_have_made(tmp_path, mode, monkeypatch):
    monkeypatch.setattr("phcle.model.estimator.SAMPLE", 3)
    options = {**OPTIONS, "mode": mode, "max_iter": 6}
    whole = PHCLE(**options).fit(contexts())
    file = tmp_path / "fit.ckpt"
    with pytest.raises(Stop):
        PHCLE(**options).fit(contexts(), checkpoint=file, on_step=stop_after(2))
    resumed = PHCLE(**options).fit(contexts(), checkpoint=file, resume=True)
    assert np.array_equal(resumed.embedding_.vectors, whole.embedding_.vectors)
    gaps = [[r["gap"] for r in model.history_] for model in (whole, resumed)]
    assert gaps[0] == gaps[1]


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
        ({}, lambda: contexts("feral"), r"other data in 'tags'"),
        ({}, lambda: contexts()[:1], r"only the checkpoint has 'tags'"),
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
    PHCLE(dim=4, calibrate=False).fit(contexts()).embedding_.save(file)
    with pytest.raises(FileError, match="is not a checkpoint"):
        PHCLE(**OPTIONS).fit(contexts(), checkpoint=file, resume=True)
