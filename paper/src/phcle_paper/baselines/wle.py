"""WLE, word-vector label embedding: a label's vector comes from a model of language.

Akata et al., "Evaluation of output embeddings for fine-grained image classification",
CVPR 2015; there word2vec and GloVe vectors of the class names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from phcle.contexts import DescriptiveContext
from phcle.embedding import LabelEmbedding
from phcle_paper.baselines.ale import attribute_embedding

__all__ = ["word_vector_embedding"]


def word_vector_embedding(
    context: DescriptiveContext,
    *,
    labels: Iterable[Any] | None = None,
    center: bool = False,
    normalize: bool = False,
    dim: int | None = None,
    names: Mapping[str, str] | None = None,
) -> LabelEmbedding:
    """WLE: word vectors of the labels.

    The context is one of `DescriptiveContext.from_vectors` (word2vec, GloVe) or of
    `DescriptiveContext.from_texts` with an `encoder` (sentence vectors). The options
    are those of `attribute_embedding`; `normalize` is worth a thought, because the
    length of a word vector tells how common the word is as much as what it means.

    >>> from phcle import DescriptiveContext
    >>> words = DescriptiveContext.from_vectors({"cat": [3, 4], "dog": [0, 2]})
    >>> word_vector_embedding(words, normalize=True)["cat"]
    array([0.6, 0.8])
    """
    embedding = attribute_embedding(
        context,
        labels=labels,
        center=center,
        normalize=normalize,
        dim=dim,
        names=names,
    )
    return replace(embedding, options={**embedding.options, "method": "WLE"})
