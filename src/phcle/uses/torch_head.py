"""Label vectors inside a PyTorch network: a lookup layer, and a head for any labels.

    head = LabelHead(embedding, in_features=512, labels=seen)
    loss = cross_entropy(head(features), head.targets(names))  # trains as usual
    head.predict(features, labels=unseen)  # among classes never trained on

PyTorch is needed (`pip install 'phcle[torch]'`); no other module imports this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import OptionError, UnknownLabelError, did_you_mean

__all__ = ["LabelHead", "embedding_layer"]


def embedding_layer(
    embedding: LabelEmbedding, *, trainable: bool = False
) -> nn.Embedding:
    """`nn.Embedding` whose rows are the labels, in their order."""
    return nn.Embedding.from_pretrained(_tensor(embedding), freeze=not trainable)


class LabelHead(nn.Module):  # type: ignore[misc]
    """From features to a score for each label: the cosine with the label's vector.

    A linear layer brings features into the space of the labels; the vectors themselves
    stay as they are, so that labels without a single training example can be scored.

    Parameters
    ----------
    embedding : LabelEmbedding
    in_features : int
    labels : the labels to choose from; by default all
    temperature : float
        Cosines are divided by it before the softmax; it is learned with the rest.
    center : bool
        Subtract the mean vector of all labels first: what all share tells none apart.
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        in_features: int,
        labels: Sequence[str] | None = None,
        *,
        temperature: float = 0.1,
        center: bool = True,
    ) -> None:
        super().__init__()
        if not temperature > 0:
            raise OptionError(f"temperature must be above 0. Got {temperature!r}.")
        self.embedding = embedding
        self.labels = tuple(
            embedding.resolve(x)
            for x in (embedding.labels if labels is None else labels)
        )
        vectors = _tensor(embedding)
        self.projection = nn.Linear(in_features, embedding.dim)
        self.sharpness = nn.Parameter(torch.tensor(1 / temperature).log())
        self.register_buffer(
            "shift", vectors.mean(dim=0) if center else torch.zeros(embedding.dim)
        )
        self.register_buffer("vectors", self._directions(self.labels))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Scores (examples, labels), to be given to a softmax or a cross entropy."""
        return self._scores(features, self.vectors)

    def scores(self, features: torch.Tensor, labels: Sequence[str]) -> torch.Tensor:
        """Scores (examples, labels) of any labels of the embedding."""
        return self._scores(features, self._directions(labels).to(features.device))

    def predict(
        self, features: torch.Tensor, labels: Sequence[str] | None = None
    ) -> list[str]:
        """The label of highest score for each example."""
        among = self.labels if labels is None else labels
        with torch.no_grad():
            best = self.scores(features, among).argmax(dim=1)
        return [among[i] for i in best.tolist()]

    def targets(self, labels: Iterable[str]) -> torch.Tensor:
        """Positions of labels among those of the head, for a loss."""
        position = {label: i for i, label in enumerate(self.labels)}
        found = []
        for label in labels:
            if label not in position:
                raise UnknownLabelError(
                    f"the head has no label {label!r}; give it to labels=."
                    f"{did_you_mean(label, self.labels)}"
                )
            found.append(position[label])
        return torch.tensor(found, device=self.vectors.device)

    def _scores(self, features: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        directions = functional.normalize(self.projection(features), dim=1)
        return self.sharpness.exp() * directions @ vectors.T

    def _directions(self, labels: Sequence[str]) -> torch.Tensor:
        """Vectors of labels at length one, around the shift."""
        chosen = self.embedding.select([self.embedding.resolve(x) for x in labels])
        return functional.normalize(_tensor(chosen) - self.shift.cpu(), dim=1)


def _tensor(embedding: LabelEmbedding) -> torch.Tensor:
    return torch.from_numpy(np.array(embedding.vectors, dtype=np.float32))
