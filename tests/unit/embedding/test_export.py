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


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_pandas_and_polars_read_the_table(pets, tmp_path, ending):
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    path = tmp_path / f"pets.{ending}"
    export(pets, path)
    frame = getattr(pd, f"read_{ending}")(path)
    other = getattr(polars, f"read_{ending}")(path)
    assert tuple(frame["label"]) == tuple(other["label"]) == pets.labels
    assert frame["name"][3] == other["name"][3] == "tabby\tcat"
    for columns in (frame.iloc[:, 2:].to_numpy(), other[:, 2:].to_numpy()):
        np.testing.assert_array_equal(columns.astype("f4"), pets.vectors)


def test_an_unknown_ending_is_refused_with_what_there_is(pets, tmp_path):
    said = export(pets, tmp_path / "a.xls", code=2).stderr
    assert "must be one of .txt, .vec, .csv, .parquet. Got '.xls'" in said
