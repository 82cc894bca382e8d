"""Animals with Attributes as text files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io

from phcle.errors import FileError
from phcle_paper.datasets import load_awa, load_awa_word_vectors

FILES = {
    "classes.txt": "     1\tkiller+whale\n     2\tox\n",
    "predicates.txt": "     1\tblack\n     2\tbig\n     3\thorns\n",
    "predicate-matrix-continuous.txt": "  83.40  -1.00  0.00\n  10.0 60.0 90.5\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_minus_one_is_unknown(folder):
    attributes = load_awa(folder)
    assert attributes.labels == ("killer whale", "ox")
    assert attributes.columns == ("black", "big", "horns")
    np.testing.assert_equal(
        attributes.values, [[83.4, np.nan, 0.0], [10.0, 60.0, 90.5]]
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("classes.txt", "1 ox\n3 cow\n", "line 2: must be the number 2 and a name"),
        ("classes.txt", "", "is empty"),
        ("predicates.txt", "1 black\n2 big\n", "line 1: must be 2 finite numbers"),
        ("predicate-matrix-continuous.txt", "1 2 3\n", "must have 2 lines"),
        ("predicate-matrix-continuous.txt", "1 2 x\n1 2 3\n", "line 1: must be 3"),
        ("predicate-matrix-continuous.txt", "1 2 nan\n1 2 3\n", "3 finite numbers"),
    ],
)
def test_malformed_files_are_refused_with_their_line(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(FileError, match=message):
        load_awa(folder)


def test_a_missing_file_names_the_release(folder):
    (folder / "predicates.txt").unlink()
    with pytest.raises(FileError, match=r"predicates.txt: no such.*Lampert"):
        load_awa(folder)


def test_word_vectors_come_from_a_mat_file(tmp_path):
    names = np.array([["killer+whale"], ["ox"]], dtype=object)
    path = tmp_path / "att_splits_with_wv.mat"
    content = {"allclasses_names": names, "wv": np.arange(6.0).reshape(3, 2)}
    scipy.io.savemat(path, content)
    for source in (path, tmp_path):
        context = load_awa_word_vectors(source)
        assert context.labels == ("killer whale", "ox")
        assert context.values.tolist() == [[0, 2, 4], [1, 3, 5]]
        assert not context.readable
    scipy.io.savemat(path, {**content, "wv": np.ones((3, 3))})
    with pytest.raises(FileError, match="'wv' must be dimensions × 2"):
        load_awa_word_vectors(path)


def test_awa_loads_as_released(shared_data):
    attributes = load_awa(shared_data / "awa")
    assert attributes.values.shape == (50, 85)
    assert attributes.n_observed == 50 * 85 - 4
    vectors = load_awa_word_vectors(shared_data / "awa")
    assert vectors.labels == attributes.labels
    assert vectors.values.shape == (50, 1000)
