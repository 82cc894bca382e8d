"""A second embedding moves the points of the map, and a column says how far."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from phcle import LabelEmbedding
from phcle.errors import ContextError

pytest.importorskip("fastapi", reason="fastapi is not installed")

from phcle.atlas import Opened, Second, Workspace

N_EACH, N_GROUPS = 12, 6
ONLY_IN_OLD, ONLY_IN_NEW = "only in old", "only in new"
MOVED = "group 0, label 3"


def embeddings():
    """Groups of labels; in the second embedding turned, without some, and one moved."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_GROUPS, 8)) * 3
    labels = [f"group {g}, label {i}" for g in range(N_GROUPS) for i in range(N_EACH)]
    vectors = np.repeat(centres, N_EACH, axis=0)
    vectors = vectors + 0.4 * rng.standard_normal(vectors.shape)
    old = LabelEmbedding((*labels, ONLY_IN_OLD), np.vstack([vectors, vectors[:1]]))
    vectors = vectors + 0.05 * rng.standard_normal(vectors.shape)
    vectors[labels.index(MOVED)] = vectors[-1] + 0.05
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    vectors = np.vstack([vectors, vectors[-1:] + 0.1]) @ turn
    return old, LabelEmbedding((*labels, ONLY_IN_NEW), vectors)


@pytest.fixture(scope="module")
def pair():
    old, new = embeddings()
    opened = Opened(old, "old")
    made = Workspace(opened, Second(opened, Opened(new, "new")))
    made.second.work.wait()
    return made


def unpacked(text):
    return np.frombuffer(base64.b64decode(text.removeprefix("f4:")), "<f4")


@pytest.fixture(scope="module")
def answer(pair, client_of):
    with client_of(pair) as client:
        found = client.get("/api/second").json()
    return {**found, **{key: unpacked(found[key]) for key in ("x", "y", "moved")}}


def test_moved_is_the_share_of_nearest_labels_that_changed(pair, answer):
    old, new = pair.opened.embedding, pair.second.other.embedding
    both = [x for x in old.labels if x in new]
    for label in both:
        one, other = (
            {x for x, _ in each.nearest(label, 10, among=both)} for each in (old, new)
        )
        expected = 1 - len(one & other) / 10
        assert answer["moved"][old.row_of[label]] == pytest.approx(expected)
    assert np.isnan(answer["moved"][old.row_of[ONLY_IN_OLD]])
    assert answer["mean"] == pytest.approx(np.nanmean(answer["moved"]))


def test_a_map_that_is_not_ready_says_so(client_of):
    old, new = embeddings()
    opened = Opened(old, "old")
    workspace = Workspace(opened, Second(opened, Opened(new, "new")))
    workspace.start = lambda: None
    with client_of(workspace) as client:
        found = client.get("/api/second")
        assert found.status_code == 503
        assert found.headers["retry-after"] == "1"


def test_embeddings_of_other_labels_are_refused(rng):
    old, _ = embeddings()
    other = LabelEmbedding(("a", "b"), rng.standard_normal((2, 3)))
    with pytest.raises(ContextError, match="0 labels in common"):
        Second(Opened(old, "old"), Opened(other, "other"))
