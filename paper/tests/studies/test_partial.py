from __future__ import annotations

import numpy as np
import pytest

from phcle.embedding import LabelEmbedding
from phcle.errors import FileError, OptionError
from phcle_paper.studies.partial_contexts import _drift
from phcle_paper.studies.registry import Request, run_study


def test_drift_is_nearness_within_less_nearness_between():
    vectors = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    apart = LabelEmbedding(("a", "b", "c", "d"), vectors)
    assert _drift({"0/0": apart}, 0, {"a", "b"}) == pytest.approx(1.0)
    assert _drift({"0/0": apart}, 0, {"a", "c"}) == pytest.approx(-0.5)


def test_a_study_says_what_data_it_needs(tmp_path):
    with pytest.raises(FileError, match=r"tiny-imagenet: no such folder.*'partial'"):
        run_study("partial", Request(tmp_path, tmp_path / "out"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fit_sedes = 1", "'fit_sedes' is unknown. Did you mean 'fit_seeds'"),
        ("random = 1", "needs the key 'classifiers' too"),
        ("random =", "is not TOML"),
    ],
)
def test_settings_of_a_study_are_checked(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises((OptionError, FileError), match=message):
        run_study("partial", Request(tmp_path, tmp_path / "out"), config=file)
