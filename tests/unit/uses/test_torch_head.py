from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, LabelEmbedding
from phcle.datasets import load_shapes
from phcle.errors import OptionError, UnknownLabelError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from phcle.uses.torch_head import LabelHead, embedding_layer  # noqa: E402


@pytest.fixture
def pets():
    vectors = np.array([[1.0, 0, 0], [0, 2.0, 0], [0, 0, 3.0]])
    return LabelEmbedding(("cat", "dog", "fox"), vectors, names={"fox": "red fox"})


def test_a_layer_looks_up_the_vectors(pets):
    layer = embedding_layer(pets)
    np.testing.assert_array_equal(layer(torch.tensor([2, 0])), pets.vectors[[2, 0]])
    assert not layer.weight.requires_grad
    assert embedding_layer(pets, trainable=True).weight.requires_grad


def test_scores_are_cosines_at_the_temperature(pets):
    head = LabelHead(pets, 3, temperature=0.5, center=False)
    with torch.no_grad():
        head.projection.weight.copy_(torch.eye(3))
        head.projection.bias.zero_()
    x = torch.tensor([[3.0, 4.0, 0.0]])
    np.testing.assert_allclose(head(x).detach(), [[1.2, 1.6, 0.0]], atol=1e-6)
    np.testing.assert_allclose(
        head.scores(x, ["red fox", "dog"]).detach(), [[0.0, 1.6]], atol=1e-6
    )


def test_a_label_that_the_head_lacks_is_named(pets):
    head = LabelHead(pets, 4, labels=["cat", "dog"])
    assert head.targets(["dog", "cat"]).tolist() == [1, 0]
    with pytest.raises(UnknownLabelError, match="no label 'fox'"):
        head.targets(["fox"])
    with pytest.raises(OptionError, match="temperature must be above 0"):
        LabelHead(pets, 4, temperature=0)


def test_a_head_survives_the_usual_way_of_saving(pets, tmp_path):
    head = LabelHead(pets, 4)
    torch.save(head.state_dict(), tmp_path / "head.pt")
    again = LabelHead(pets, 4)
    again.load_state_dict(torch.load(tmp_path / "head.pt", weights_only=True))
    x = torch.ones(1, 4)
    np.testing.assert_array_equal(again(x).detach(), head(x).detach())


def test_a_trained_head_recognises_shapes_of_classes_never_seen():
    data = load_shapes(n_images=20)
    embedding = (
        PHCLE(dim=16, backend="numpy", calibrate=False).fit(data.contexts()).embedding_
    )
    is_seen = np.isin(data.labels, data.seen)
    mean, spread = data.features[is_seen].mean(0), data.features[is_seen].std(0) + 1e-6
    X = torch.tensor((data.features - mean) / spread, dtype=torch.float32)
    torch.manual_seed(0)
    head = LabelHead(embedding, X.shape[1], labels=data.seen)
    optimiser = torch.optim.AdamW(head.parameters(), lr=3e-3, weight_decay=0.1)
    targets = head.targets(data.labels[is_seen].tolist())
    for _ in range(60):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(head(X[is_seen]), targets)
        loss.backward()
        optimiser.step()
    answers = head.predict(X[~is_seen], data.unseen)
    accuracy = float(np.mean(np.array(answers) == data.labels[~is_seen]))
    assert accuracy > 3 / len(data.unseen)
