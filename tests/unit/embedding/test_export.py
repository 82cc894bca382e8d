"""Every export is read back by the tool that it is for."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from command_line import call

from phcle import DescriptiveContext, LabelEmbedding


def export(embedding, out, *flags, code=0):
    """Save an embedding, and write it again with `phcle export`."""
    file = out.with_name("saved.phcle")
    embedding.save(file)
    return call("export", file, "--out", out, *flags, code=code)


def words_of(embedding):
    return tuple(re.sub(r"\s", "_", label) for label in embedding.labels)


@pytest.fixture
def pets(rng):
    labels = ("cat", "guinea pig", 'Šárka, "the" dog', "n02123045")
    return LabelEmbedding(
        labels,
        rng.standard_normal((4, 5)).astype("f4"),
        names={"n02123045": "tabby\tcat"},
    )


def test_gensim_reads_word2vec_files(pets, tmp_path):
    gensim = pytest.importorskip("gensim.models", reason="gensim is not installed")
    path = tmp_path / "pets.vec"
    export(pets, path)
    found = gensim.KeyedVectors.load_word2vec_format(str(path))
    assert found.index_to_key == list(words_of(pets))
    np.testing.assert_array_equal(found.vectors, pets.vectors)
    again = DescriptiveContext.from_vectors(found)
    assert again.labels == words_of(pets)


def test_labels_that_differ_in_white_space_alone_are_refused_by_name(tmp_path):
    twins = LabelEmbedding(("sea lion", "sea_lion"), np.eye(2))
    said = export(twins, tmp_path / "twins.vec", code=2).stderr
    assert "'sea lion' and 'sea_lion' would both be" in said
    assert [x.name for x in tmp_path.iterdir()] == ["saved.phcle"]


def test_numpy_reads_the_archive_without_pickle(pets, tmp_path):
    export(pets, tmp_path / "pets.npz")
    with np.load(tmp_path / "pets.npz", allow_pickle=False) as found:
        assert tuple(found["labels"]) == pets.labels
        assert found["names"][3] == "tabby\tcat"
        np.testing.assert_array_equal(found["vectors"], pets.vectors)


def test_pandas_and_polars_read_the_table(pets, tmp_path):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    export(pets, tmp_path / "pets.csv")
    frame = pd.read_csv(tmp_path / "pets.csv")
    other = polars.read_csv(tmp_path / "pets.csv")
    assert tuple(frame["label"]) == tuple(other["label"]) == pets.labels
    for columns in (frame.iloc[:, 2:].to_numpy(), other[:, 2:].to_numpy()):
        np.testing.assert_array_equal(columns.astype("f4"), pets.vectors)


def test_pandas_and_polars_read_parquet(pets, tmp_path):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    export(pets, tmp_path / "pets.parquet")
    frame = pd.read_parquet(tmp_path / "pets.parquet")
    assert tuple(frame["label"]) == pets.labels
    assert frame["name"][3] == "tabby\tcat"
    np.testing.assert_array_equal(np.stack(frame["vector"]), pets.vectors)
    other = polars.read_parquet(tmp_path / "pets.parquet")
    np.testing.assert_array_equal(other["vector"].to_numpy(), pets.vectors)


def test_an_unknown_ending_or_format_is_refused_with_what_there_is(pets, tmp_path):
    said = export(pets, tmp_path / "a.xls", code=2).stderr
    assert "no format has the ending '.xls'" in said
    assert ".csv" in said
    said = export(pets, tmp_path / "a", "--format", "parket", code=2).stderr
    assert "Did you mean 'parquet'" in said
