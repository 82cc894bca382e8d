"""The index in PyTorch finds what an exact search finds, and shares FAISS's files."""

from pathlib import Path

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.uses.neighbour_search import Neighbours

pytest.importorskip("torch")
from phcle.uses.torch_index import TorchIndex


def test_nearest_labels_and_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((60, 8))
    vectors = centres[rng.integers(60, size=3000)] + 0.3 * rng.standard_normal(
        (3000, 8)
    )
    embedding = LabelEmbedding(tuple(map(str, range(3000))), vectors)
    near = Neighbours(embedding, exact=False, device="cpu")
    asked = [str(i) for i in range(0, 3000, 100)]
    exact = embedding.nearest_many(asked, k=5)
    found = near.nearest_many(asked, k=5)
    right = [len(set(a) & set(b)) for a, b in zip(found, exact, strict=True)]
    assert np.mean(right) > 4.9
    near.save(tmp_path / "labels.index")
    again = TorchIndex.load(tmp_path / "labels.index", embedding.unit_vectors, "cpu")
    assert again.rows.tolist() == near.index.rows.tolist()
