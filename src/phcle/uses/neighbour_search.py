"""Nearest labels for many queries, by exact search or by an index.

Up to 100,000 labels an exact search takes milliseconds. For more labels an index
compares each query with a few percent of them. Both rank by the same cosines.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import numpy.typing as npt

from phcle.embedding.cosine_search import best_of
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import FileError
from phcle.optional_imports import is_installed
from phcle.uses.cell_index import CellIndex
from phcle.uses.faiss_index import FaissIndex

__all__ = ["EXACT_UP_TO", "Neighbours", "index_file"]

EXACT_UP_TO = 100_000
"""Up to this many labels the default is an exact search, which takes milliseconds."""

Near = list[tuple[str, float]]


class Neighbours:
    """Search for the nearest labels of an embedding, made for many queries.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    exact : bool, optional
        True compares every label. False uses an index, which needs the extra
        `phcle[index]`. If left out, an index is used above 100,000 labels, if the
        extra is installed.
    device : str, optional
        "cuda" keeps vectors and index on a GPU, for millions of labels; "cpu" uses the
        same code there. Both need PyTorch in place of the extra.

    Attributes
    ----------
    embedding : LabelEmbedding
        The embedding that is searched.
    index : CellIndex or None
        The index; None for an exact search.

    Examples
    --------
    >>> import numpy as np
    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> Neighbours(pets).nearest_many(["cat", [0.0, 1.0]], k=1)
    [[('dog', 0.6)], [('dog', 0.8)]]
    """

    def __init__(
        self,
        embedding: LabelEmbedding,
        *,
        exact: bool | None = None,
        device: str | None = None,
    ) -> None:
        if exact is None:
            can_index = device is not None or is_installed("faiss")
            exact = len(embedding) <= EXACT_UP_TO or not can_index
        self.embedding = embedding
        self.index: CellIndex | None = None
        if not exact and device is None:
            self.index = FaissIndex.of(embedding.unit_vectors)
        elif not exact:
            torch_index = import_module("phcle.uses.torch_index")
            self.index = torch_index.TorchIndex.of(embedding.unit_vectors, device)

    @classmethod
    def load(cls, embedding: LabelEmbedding, path: str | Path) -> Neighbours:
        """Search with an index from a file.

        Parameters
        ----------
        embedding : LabelEmbedding
            The embedding that the index was made for.
        path : str or Path
            A file that `save` wrote.

        Returns
        -------
        Neighbours
            The search.

        Raises
        ------
        FileError
            If the file is damaged, or the index of another embedding.
        """
        index = FaissIndex.load(Path(path), embedding.unit_vectors)
        found = cls(embedding, exact=True)
        found.index = index
        return found

    @classmethod
    def beside(cls, embedding: LabelEmbedding, file: Path) -> Neighbours:
        """Search with the index beside the embedding's file; without one, exactly.

        Making an index takes longer than a few exact searches, so this never makes one.

        Parameters
        ----------
        embedding : LabelEmbedding
            The embedding to search.
        file : Path
            The file that the embedding was loaded from.

        Returns
        -------
        Neighbours
            The search.
        """
        if index_file(file).exists() and is_installed("faiss"):
            return cls.load(embedding, index_file(file))
        return cls(embedding, exact=True)

    def save(self, path: str | Path) -> None:
        """Write the index to a file.

        Parameters
        ----------
        path : str or Path
            The file to write; `index_file` says where commands look for it.

        Raises
        ------
        FileError
            If the search is exact, so that there is no index.
        """
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
        """Return the labels most similar to a label or vector.

        Parameters
        ----------
        label_or_vector : str or array of shape (dim,)
            A label, by id or readable name, or a vector.
        k : int, default 10
            How many labels to return.
        among : iterable of str, optional
            The labels to choose from, compared exactly; all if left out.

        Returns
        -------
        list of (str, float)
            Labels and cosine similarities, best first, without the label itself.
        """
        return self.nearest_many([label_or_vector], k, among=among)[0]

    def nearest_many(
        self,
        queries: Iterable[str | npt.ArrayLike],
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[Near]:
        """Return the labels most similar to each of many labels or vectors.

        Parameters
        ----------
        queries : iterable of str or array of shape (dim,)
            Labels, by id or readable name, and vectors.
        k : int, default 10
            How many labels to return for each.
        among : iterable of str, optional
            The labels to choose from, compared exactly; all if left out.

        Returns
        -------
        list of list of (str, float)
            For each query, labels and cosine similarities, best first.
        """
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
                # The visited cells hold too few vectors: search exactly.
                own_answer = embedding.nearest(vector if label is None else label, k)
            answers.append(own_answer)
        return answers


def index_file(embedding_file: Path) -> Path:
    """Return the path at which commands look for the index of an embedding.

    Parameters
    ----------
    embedding_file : Path
        The file of the embedding.

    Returns
    -------
    Path
        A file beside it.

    Examples
    --------
    >>> index_file(Path("labels.phcle")).name
    'labels.phcle.index'
    """
    return embedding_file.with_name(embedding_file.name + ".index")
