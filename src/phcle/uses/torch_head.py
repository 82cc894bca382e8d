"""Label vectors inside a PyTorch network: a lookup layer, and a head for any labels.

    head = LabelHead(embedding, in_features=512, labels=seen)
    loss = cross_entropy(head(features), head.targets(names))  # trains as usual
    head.predict(features, labels=unseen)  # classes without training examples

This module needs PyTorch (`pip install 'phcle[torch]'`). No other module imports it.
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
    """Return a lookup layer with the vectors of the labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their vectors.
    trainable : bool, default False
        Whether training may change the vectors.

    Returns
    -------
    torch.nn.Embedding
        A layer whose rows are the labels, in their order.
    """
    return nn.Embedding.from_pretrained(_tensor(embedding), freeze=not trainable)


class LabelHead(nn.Module):  # type: ignore[misc]
    """Score labels by the cosine of features and label vectors.

    A linear layer maps features into the space of the labels. The label vectors stay
    fixed, so that labels without any training example can be scored.

    Parameters
    ----------
    embedding : LabelEmbedding
        The labels and their vectors.
    in_features : int
        Number of features of an example.
    labels : sequence of str, optional
        The labels to choose from; all of the embedding if left out.
    temperature : float, default 0.1
        Cosines are divided by this before the softmax. It is trained with the rest.
    center : bool, default True
        Subtract the mean vector of all labels, which helps to tell labels apart.

    Attributes
    ----------
    labels : tuple of str
        The labels that `forward` scores, in the order of its columns.

    Examples
    --------
    >>> pets = LabelEmbedding(("cat", "dog", "fox"), [[1, 0], [0, 1], [1, 1]])
    >>> head = LabelHead(pets, in_features=4, labels=["cat", "dog"])
    >>> head(torch.zeros(5, 4)).shape
    torch.Size([5, 2])
    >>> head.targets(["dog", "cat"])
    tensor([1, 0])
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
        """Score the labels of the head.

        Parameters
        ----------
        features : torch.Tensor of shape (examples, in_features)
            The features of some examples.

        Returns
        -------
        torch.Tensor of shape (examples, labels)
            Scores, to be passed to a softmax or a cross entropy.
        """
        return self._scores(features, self.vectors)

    def scores(self, features: torch.Tensor, labels: Sequence[str]) -> torch.Tensor:
        """Score any labels of the embedding.

        Parameters
        ----------
        features : torch.Tensor of shape (examples, in_features)
            The features of some examples.
        labels : sequence of str
            The labels to score, trained on or not.

        Returns
        -------
        torch.Tensor of shape (examples, labels)
            Scores, as `forward` returns them.
        """
        return self._scores(features, self._directions(labels).to(features.device))

    def predict(
        self, features: torch.Tensor, labels: Sequence[str] | None = None
    ) -> list[str]:
        """Return the label of highest score for each example.

        Parameters
        ----------
        features : torch.Tensor of shape (examples, in_features)
            The features of some examples.
        labels : sequence of str, optional
            The labels to choose from; those of the head if left out.

        Returns
        -------
        list of str
            One label for each example.
        """
        among = self.labels if labels is None else labels
        with torch.no_grad():
            best = self.scores(features, among).argmax(dim=1)
        return [among[i] for i in best.tolist()]

    def targets(self, labels: Iterable[str]) -> torch.Tensor:
        """Return the positions of labels, as a loss function needs them.

        Parameters
        ----------
        labels : iterable of str
            Labels of the head.

        Returns
        -------
        torch.Tensor of int64
            For each label its position among the labels of the head.

        Raises
        ------
        UnknownLabelError
            For a label that the head does not have.
        """
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
        """Cosines of mapped features and vectors, divided by the temperature."""
        directions = functional.normalize(self.projection(features), dim=1)
        return self.sharpness.exp() * directions @ vectors.T

    def _directions(self, labels: Sequence[str]) -> torch.Tensor:
        """Vectors of labels less the shift, at length one."""
        chosen = self.embedding.select([self.embedding.resolve(x) for x in labels])
        return functional.normalize(_tensor(chosen) - self.shift.cpu(), dim=1)


def _tensor(embedding: LabelEmbedding) -> torch.Tensor:
    """The vectors as a tensor of single precision."""
    return torch.from_numpy(np.array(embedding.vectors, dtype=np.float32))
