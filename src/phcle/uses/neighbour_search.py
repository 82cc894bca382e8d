"""Neighbours: related labels of many queries, exact or by an index.

Up to 100,000 labels an exact search takes milliseconds. Above that an approximate index
looks at a few of them only; what it finds is ranked by the same cosines.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy.typing as npt

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.embedding.search import best_of
from phcle.errors import FileError
from phcle.uses.faiss_index import FaissIndex, has_faiss

__all__ = ["EXACT_UP_TO", "Neighbours", "index_file"]

EXACT_UP_TO = 100_000
"""With more labels than this, an index is made unless an exact search is asked for."""

Near = list[tuple[str, float]]


class Neighbours:
    """The nearest labels of an embedding, for who has many queries.

    Parameters
    ----------
    embedding
        Whose labels are found.
    exact
        True: compare with every label; False: use an index, which needs the extra
        `phcle[index]`. None: an index above `EXACT_UP_TO` labels if the extra is
        installed, and else an exact search.

    Examples
    --------
    >>> import numpy as np
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> Neighbours(pets).nearest_many(["cat", [0.0, 1.0]], k=1)
    [[('dog', 0.6)], [('dog', 0.8)]]
    """

    def __init__(self, embedding: LabelEmbedding, *, exact: bool | None = None) -> None:
        if exact is None:
            exact = len(embedding) <= EXACT_UP_TO or not has_faiss()
        self.embedding = embedding
        self.index = None if exact else FaissIndex.of(embedding.unit_vectors)

    @classmethod
    def load(cls, embedding: LabelEmbedding, path: str | Path) -> Neighbours:
        """With an index that `save` has written for this embedding."""
        index = FaissIndex.load(Path(path), embedding.unit_vectors)
        found = cls(embedding, exact=True)
        found.index = index
        return found

    @classmethod
    def beside(cls, embedding: LabelEmbedding, file: Path) -> Neighbours:
        """With the index that lies beside the embedding's file, or else exact.

        Making an index takes longer than a few exact searches, so none is made here.
        """
        if index_file(file).exists() and has_faiss():
            return cls.load(embedding, index_file(file))
        return cls(embedding, exact=True)

    def save(self, path: str | Path) -> None:
        """Write the index, if there is one, beside the embedding or elsewhere."""
        if self.index is None:
            raise FileError(
                f"{path}: there is no index to write, as the search is exact; "
                "ask for one with exact=False."
            )
        self.index.save(Path(path))

    @property
    def is_exact(self) -> bool:
        """Whether every label is compared."""
        return self.index is None

    def nearest(
        self,
        label_or_vector: str | npt.ArrayLike,
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> Near:
        """Labels most similar by cosine, best first; never the label itself."""
        return self.nearest_many([label_or_vector], k, among=among)[0]

    def nearest_many(
        self,
        queries: Iterable[str | npt.ArrayLike],
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[Near]:
        """The nearest labels of each query; `among` some labels always exactly."""
        embedding = self.embedding
        if self.index is None or among is not None:
            return embedding.nearest_many(queries, k, among=among)
        vectors, own = embedding.queries_of(queries, k)
        if not own:
            return []
        answers = []
        rows_found = self.index.candidates(vectors, k + 1)
        for vector, label, rows in zip(vectors, own, rows_found, strict=True):
            best = best_of(embedding.unit_vectors, vector, rows, k + 1)
            named = [
                (embedding.labels[i], float(s)) for i, s in zip(*best, strict=True)
            ]
            own_answer = [near for near in named if near[0] != label][:k]
            if len(own_answer) < min(k, len(embedding) - (label is not None)):
                # More than the visited cells hold.
                own_answer = embedding.nearest(vector if label is None else label, k)
            answers.append(own_answer)
        return answers


def index_file(embedding_file: Path) -> Path:
    """Where the index of an embedding lies: beside it.

    >>> index_file(Path("labels.phcle")).name
    'labels.phcle.index'
    """
    return embedding_file.with_name(embedding_file.name + ".index")
