"""LabelEmbedding: one vector per label, and the questions one asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from phcle.contexts.base import FittedContext, PredictingContext
from phcle.contexts.labels import as_labels, index_of, listed, normal
from phcle.embedding.describe import Description, describe
from phcle.embedding.explain import Explanation, explain
from phcle.embedding.search import nearest_rows, unit_rows
from phcle.errors import ContextError, UnknownLabelError, did_you_mean, some

__all__ = ["LabelEmbedding"]

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class LabelEmbedding:
    """Labels, their vectors, and what the vectors were learned from.

    >>> pets = LabelEmbedding(("cat", "dog"), np.array([[1.0, 0.0], [0.6, 0.8]]))
    >>> pets.nearest("cat", k=1)
    [('dog', 0.6)]
    """

    labels: tuple[str, ...]
    vectors: Floats  # (labels, d)
    names: Mapping[str, str] = field(default_factory=dict)  # label or node -> readable
    contexts: tuple[FittedContext, ...] = ()
    penalties: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, float], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    """How the fit ran, and the files it was made of where the command line knew them.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", as_labels(self.labels, "the embedding"))
        vectors = np.asarray(self.vectors)
        if vectors.ndim != 2 or len(vectors) != len(self.labels):
            raise ContextError(
                f"an embedding must have one vector per label. Got shape "
                f"{vectors.shape} for {len(self.labels)} labels."
            )
        if not np.issubdtype(vectors.dtype, np.floating):
            vectors = vectors.astype(np.float64)
        wrong = ~np.isfinite(vectors).all(axis=1)
        if wrong.any():
            raise ContextError(
                "an embedding must be finite. Got NaN or infinity for "
                f"{some(np.array(self.labels)[wrong])}."
            )
        object.__setattr__(self, "vectors", vectors)
        if not "".join(self.names).isascii():  # quick to tell, as most are
            names = {normal(label): name for label, name in self.names.items()}
            object.__setattr__(self, "names", names)

    def __repr__(self) -> str:
        contexts = ", ".join(context.name for context in self.contexts)
        return f"LabelEmbedding({len(self.labels)} labels × {self.dim}" + (
            f", from {contexts})" if contexts else ")"
        )

    def _repr_html_(self) -> str:
        from phcle.embedding.html import embedding_html

        return embedding_html(self)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the fields, not what was computed from them since."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and normal(label) in self._index

    def __getitem__(self, label: str) -> Floats:
        return np.asarray(self.vectors[self._index[self.resolve(label)]])

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def _index(self) -> dict[str, int]:
        return index_of(self.labels)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """Labels by lower-case readable name."""
        found: dict[str, list[str]] = {}
        for label in self.labels:
            found.setdefault(self.name_of(label).lower(), []).append(label)
        return found

    @cached_property
    def unit_vectors(self) -> Floats:
        """Vectors at length one; a zero vector stays zero."""
        return unit_rows(self.vectors)

    @property
    def predicting(self) -> tuple[PredictingContext, ...]:
        """Contexts that predict values of readable columns."""
        found = tuple(c for c in self.contexts if c.predicts_columns)
        return cast(tuple[PredictingContext, ...], found)

    def name_of(self, label: str) -> str:
        """Readable name of a label or of a node of its hierarchy."""
        return self.names.get(label, label)

    def labels_called(self, text: str) -> tuple[str, ...]:
        """The label with this id, or else all that have this readable name."""
        text = normal(str(text))
        if text in self._index:
            return (text,)
        return tuple(self._by_name.get(text.lower(), ()))

    def resolve(self, label: str) -> str:
        """The label meant by an id or by a readable name, in any case."""
        found = self.labels_called(label)
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownLabelError(
                f"{label!r} is the name of {len(found)} labels: {some(found)}; "
                "use the id."
            )
        known = [self.name_of(x) for x in self.labels]
        raise UnknownLabelError(
            f"no label {label!r} in this embedding."
            f"{did_you_mean(str(label), [*known, *self.labels])}"
        )

    def vector_of(self, label_or_vector: str | npt.ArrayLike) -> Floats:
        """The vector of a label, or the checked vector itself."""
        if isinstance(label_or_vector, str):
            return self[label_or_vector]
        vector = np.asarray(label_or_vector, dtype=np.float64)
        if vector.shape != (self.dim,) or not np.isfinite(vector).all():
            raise ContextError(
                f"a vector must hold {self.dim} finite numbers. "
                f"Got shape {vector.shape}."
            )
        return vector

    def nearest(
        self,
        label_or_vector: str | npt.ArrayLike,
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Labels most similar by cosine, best first; never the label itself.

        `among` names the labels that may be answers; by default all may.
        """
        return self.nearest_many([label_or_vector], k, among=among)[0]

    def nearest_many(
        self,
        queries: Iterable[str | npt.ArrayLike],
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
    ) -> list[list[tuple[str, float]]]:
        """The nearest labels of each of many labels or vectors, as `nearest` has it."""
        vectors, own = self.queries_of(queries, k)
        labels, units = self.labels, self.unit_vectors
        if among is not None:
            labels = tuple(dict.fromkeys(map(self.resolve, _no_text(among))))
            units = units[[self._index[label] for label in labels]]
        position = self._index if among is None else index_of(labels)
        rows = [None if label is None else position.get(label) for label in own]
        return [
            [(labels[i], float(s)) for i, s in zip(*found, strict=True)]
            for found in nearest_rows(units, vectors, k, own=rows)
        ]

    def queries_of(
        self, queries: Iterable[str | npt.ArrayLike], k: int
    ) -> tuple[Floats, list[str | None]]:
        """Checked queries at length one, and which of them are which label."""
        if k < 1:
            raise ContextError(f"k must be 1 or more. Got {k!r} instead.")
        given = list(_no_text(queries))
        own = [self.resolve(x) if isinstance(x, str) else None for x in given]
        vectors = np.empty((len(given), self.dim))
        for i, (label, query) in enumerate(zip(own, given, strict=True)):
            vectors[i] = self.vector_of(query if label is None else label)
        return unit_rows(vectors), own

    def describe(self, label_or_vector: str | npt.ArrayLike, k: int = 6) -> Description:
        """Related labels with shares, and the strongest attributes.

        Attributes known for the label and attributes predicted by the model are
        listed apart.
        """
        return describe(self, label_or_vector, k)

    def explain(self, a: str, b: str, k: int = 5) -> Explanation:
        """What two labels share, context by context; the parts add up to the cosine."""
        return explain(self, self.resolve(a), self.resolve(b), k)

    def contexts_of(self, label: str) -> dict[str, bool]:
        """Which contexts know the label."""
        label = self.resolve(label)
        return {context.name: context.knows(label) for context in self.contexts}

    def select(self, labels: Iterable[str]) -> LabelEmbedding:
        """The vectors of some labels alone, in this order, without the contexts."""
        kept = [self.resolve(label) for label in listed(labels)]
        rows = [self._index[label] for label in kept]
        return LabelEmbedding(tuple(kept), self.vectors[rows], names=self.names)

    def with_spectrum(self, power: float) -> LabelEmbedding:
        """The vectors with every principal direction at its strength to a power.

        V = P·S·Qᵀ becomes P·S^power·Qᵀ: 1 leaves the vectors alone, below 1 weak
        directions count more (0 whitens), above 1 strong ones do. A factorisation
        splits its strength between labels and contexts, so that 2 brings vectors of
        PHCLE to the geometry of what they predict. Contexts do not fit the new space
        and are left out.
        """
        if not np.isfinite(power) or power < 0:
            raise ContextError(f"power must be 0 or more. Got {power!r} instead.")
        left, strength, right = np.linalg.svd(
            np.asarray(self.vectors, np.float64), full_matrices=False
        )
        top = strength.max(initial=0.0)
        kept = strength > 1e-10 * top  # the rest is rounding, which 0 would blow up
        share = strength[kept] / top
        vectors = (left[:, kept] * (top * share**power)) @ right[kept]
        return replace(
            self, vectors=vectors.astype(self.vectors.dtype), contexts=(), penalties={}
        )

    def with_rows(
        self,
        labels: Sequence[str],
        vectors: Floats,
        contexts: Iterable[FittedContext],
        names: Mapping[str, str],
    ) -> LabelEmbedding:
        """Other labels in the space of this embedding."""
        return replace(
            self,
            labels=tuple(labels),
            vectors=vectors,
            contexts=tuple(contexts),
            names={**self.names, **names},
        )

    def joined(self, later: LabelEmbedding) -> LabelEmbedding:
        """The embedding and labels that were folded into it, as one."""
        both = set(self.labels) & set(later.labels)
        if both:
            raise ContextError(
                f"labels {some(sorted(both))} are in the embedding already; "
                "leave them out of the new ones."
            )
        return self.with_rows(
            (*self.labels, *later.labels),
            np.vstack([self.vectors, later.vectors.astype(self.vectors.dtype)]),
            (
                old.joined(new)
                for old, new in zip(self.contexts, later.contexts, strict=True)
            ),
            later.names,
        )

    def to_frame(self, library: str = "pandas") -> Any:
        """A row per label, as a frame of "pandas", "polars" or "pyarrow".

        Labels are the index of pandas, and the first column of the others, where
        `DescriptiveContext.from_frame` finds them again.
        """
        from phcle.embedding.to_frame import embedding_frame

        return embedding_frame(self, library)

    def save(self, path: str | Path) -> None:
        """Write one pickle-free file; an existing one is replaced only when whole."""
        from phcle.embedding.storage import save

        save(self, Path(path))


def _no_text(items: Iterable[Any]) -> Iterable[Any]:
    """Refuse one text where a list is needed: its letters are no labels."""
    if isinstance(items, str):
        raise ContextError(
            f"a list of labels or vectors is needed. Got {items!r} instead."
        )
    return items
