"""Neighbours by an exact search and by an index."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.errors import BackendError, FileError
from phcle.uses import neighbour_search
from phcle.uses.faiss_index import FaissIndex
from phcle.uses.neighbour_search import Neighbours, index_file


@pytest.fixture(scope="module")
def embedding():
    """Labels around 40 centres, some of them the same as others."""
    rng = np.random.default_rng(0)
    vectors = np.repeat(rng.normal(size=(40, 8)), 25, axis=0)
    vectors[::2] += 0.2 * rng.normal(size=(500, 8))
    return LabelEmbedding(tuple(f"x{i}" for i in range(1000)), vectors)


@pytest.fixture(scope="module")
def indexed(embedding):
    pytest.importorskip("faiss", reason="the extra 'index' is not installed")
    return Neighbours(embedding, exact=False)


def test_few_labels_are_searched_exactly(embedding):
    found = Neighbours(embedding)
    assert found.is_exact
    assert found.nearest("x3", k=4) == embedding.nearest("x3", k=4)


def test_many_labels_get_an_index_unless_it_is_refused(embedding, monkeypatch):
    pytest.importorskip("faiss", reason="the extra 'index' is not installed")
    monkeypatch.setattr(neighbour_search, "EXACT_UP_TO", 999)
    assert not Neighbours(embedding).is_exact
    assert Neighbours(embedding, exact=True).is_exact


def test_the_index_finds_nearly_all_and_ranks_them_as_the_exact_search(
    indexed, embedding
):
    exact = embedding.nearest_many(embedding.labels, k=10)
    found = indexed.nearest_many(embedding.labels, k=10)
    n_found = 0
    for label, best, own in zip(embedding.labels, exact, found, strict=True):
        assert label not in [x for x, _ in own]
        assert [s for _, s in own] == sorted((s for _, s in own), reverse=True)
        assert all(s == dict(best).get(x, s) for x, s in own)
        n_found += sum(s >= best[-1][1] - 1e-9 for _, s in own)
    assert n_found / 10_000 > 0.9


def test_faiss_alone_writes_reads_and_searches_the_index(indexed, embedding, tmp_path):
    import faiss

    path = str(tmp_path / "labels.faiss")
    indexed.save(tmp_path / "labels.index")
    loaded = Neighbours.load(embedding, tmp_path / "labels.index")
    faiss.write_index(loaded.index.index, path)
    index = faiss.read_index(path)
    assert index.ntotal == len(embedding)
    query = embedding.unit_vectors[3:4].astype("f4")
    cosines, rows = index.search(query, 5)
    assert cosines[0, 0] == pytest.approx(1.0, abs=1e-5)
    ours = dict(indexed.nearest("x3", k=30))
    for row, cosine in zip(rows[0], cosines[0], strict=True):
        if row != 3:
            assert ours[f"x{row}"] == pytest.approx(cosine, abs=1e-5)


def test_among_some_labels_the_search_is_exact(indexed, embedding):
    some = embedding.labels[::7]
    found = indexed.nearest("x5", k=20, among=some)
    assert found == embedding.nearest("x5", k=20, among=some)
    assert indexed.nearest_many([]) == []


def test_index_comes_back_from_its_file(indexed, embedding, tmp_path):
    path = index_file(tmp_path / "labels.phcle")
    indexed.save(path)
    again = Neighbours.load(embedding, path)
    queries = embedding.labels[::50]
    assert again.nearest_many(queries) == indexed.nearest_many(queries)
    assert not Neighbours.beside(embedding, tmp_path / "labels.phcle").is_exact
    assert Neighbours.beside(embedding, tmp_path / "other.phcle").is_exact


def test_index_of_another_embedding_is_refused(indexed, embedding, tmp_path):
    indexed.save(tmp_path / "x.index")
    other = LabelEmbedding(embedding.labels, embedding.vectors[::-1])
    with pytest.raises(FileError, match="index of another embedding"):
        Neighbours.load(other, tmp_path / "x.index")


def test_damaged_or_foreign_index_is_refused(indexed, embedding, tmp_path):
    path = tmp_path / "x.index"
    indexed.save(path)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError, match="checksum"):
        FaissIndex.load(path, embedding.unit_vectors)
    embedding.save(path)
    with pytest.raises(FileError, match="is not an index"):
        FaissIndex.load(path, embedding.unit_vectors)
    path.write_bytes(b"nothing")
    with pytest.raises(FileError, match="damaged"):
        FaissIndex.load(path, embedding.unit_vectors)


def test_an_exact_search_has_no_index_to_save(embedding, tmp_path):
    with pytest.raises(FileError, match="exact=False"):
        Neighbours(embedding).save(tmp_path / "x.index")


def test_without_the_extra_the_remedy_is_named(embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(BackendError, match=r"pip install 'phcle\[index\]'"):
        Neighbours(embedding, exact=False)
