"""Answers about an embedding, with the readable names of labels and nodes.

The command line, the report and the explorer all ask these functions, so that they say
the same. The shapes of the answers are in `phcle.answers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from phcle import answers
from phcle.embedding.skill import completion_skill
from phcle.errors import ContextError, some
from phcle.uses.explanation_lines import explanation_lines

if TYPE_CHECKING:
    import numpy.typing as npt

    from phcle.contexts.base.fitted_context import FittedContext
    from phcle.embedding import LabelEmbedding
    from phcle.uses.neighbour_table import StoredNeighbours


def nearest_labels(
    embedding: LabelEmbedding,
    label: str,
    k: int,
    *,
    search: StoredNeighbours | None = None,
) -> answers.Nearest:
    """Find the labels most similar to a label.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    label : str
        A label's id or its readable name.
    k : int
        Number of neighbours.
    search : StoredNeighbours or None, default=None
        A table of neighbours to look them up in; None searches the embedding.

    Returns
    -------
    Nearest
        The label and its neighbours, best first.
    """
    near = (search or embedding).nearest(label, k=k)
    label = embedding.resolve(label)
    return answers.Nearest(
        label, embedding.name_of(label), _neighbours(embedding, near)
    )


def nearest_to_all(
    embedding: LabelEmbedding,
    labels: Sequence[str],
    vectors: Mapping[str, npt.ArrayLike],
    k: int,
    among: Sequence[str] | None,
) -> list[answers.Nearest | answers.NearestToVector]:
    """Find the labels most similar to each of several labels and vectors.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding to search.
    labels : sequence of str
        Ids or readable names.
    vectors : mapping of str to array
        Vectors by name.
    k : int
        Number of neighbours.
    among : sequence of str or None
        The labels to choose from; None chooses from all.

    Returns
    -------
    list of Nearest or NearestToVector
        An answer for each label, then one for each vector.
    """
    found = embedding.nearest_many([*labels, *vectors.values()], k, among=among)
    near = [_neighbours(embedding, each) for each in found]
    queries: list[answers.Nearest | answers.NearestToVector] = []
    for label, own in zip(map(embedding.resolve, labels), near, strict=False):
        queries.append(answers.Nearest(label, embedding.name_of(label), own))
    for name, own in zip(vectors, near[len(labels) :], strict=True):
        queries.append(answers.NearestToVector(name, own))
    return queries


def describe_label(
    embedding: LabelEmbedding, label: str, k: int
) -> answers.DescribedLabel:
    """Describe a label by related labels and attributes.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that holds the label.
    label : str
        A label's id or its readable name.
    k : int
        Number of related labels, and of observed and predicted attributes, at most.

    Returns
    -------
    DescribedLabel
        What `LabelEmbedding.describe` finds, with readable names.
    """
    label = embedding.resolve(label)
    found = embedding.describe(label, k=k)
    related = _related(embedding, found.related)
    units = embedding.select([label, *(x.label for x in related)]).unit_vectors
    cosines = np.clip(units[1:].astype(np.float64) @ units[0], -1.0, 1.0).tolist()
    return answers.DescribedLabel(
        label,
        embedding.name_of(label),
        tuple(
            answers.SimilarLabel(
                **vars(x), similarity=y, percentile=embedding.percentile_of(y)
            )
            for x, y in zip(related, cosines, strict=True)
        ),
        found.observed,
        found.predicted,
        found.contexts,
        found.not_predictable,
    )


def explain_pair(
    embedding: LabelEmbedding, a: str, b: str, k: int
) -> answers.ExplainedPair:
    """Explain the similarity of two labels.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that holds the labels.
    a, b : str
        Ids or readable names of the labels.
    k : int
        Number of columns that are named in each group, at most.

    Returns
    -------
    ExplainedPair
        What `LabelEmbedding.explain` finds, with readable names.
    """
    found = embedding.explain(a, b, k=k)
    return answers.ExplainedPair(
        named(embedding, found.a),
        named(embedding, found.b),
        found.similarity,
        found.percentile,
        found.parts,
        found.rest,
        explanation_lines(found.similarity, found.parts, found.rest),
    )


def understood_picture(
    embedding: LabelEmbedding,
    title: str,
    related: Iterable[tuple[str, float]],
    attributes: Iterable[answers.Attribute],
) -> answers.UnderstoodPicture:
    """Add readable names to what was found for a picture.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that names the labels.
    title : str
        Where the picture comes from.
    related : iterable of (str, float)
        Related labels and their shares of the similarity.
    attributes : iterable of Attribute
        Predicted attributes.

    Returns
    -------
    UnderstoodPicture
        The picture in labels and attributes.
    """
    return answers.UnderstoodPicture(
        title,
        _related(embedding, related),
        tuple(
            answers.UnderstoodAttribute(x.context, x.name, x.value) for x in attributes
        ),
    )


def summarise(embedding: LabelEmbedding) -> answers.EmbeddingSummary:
    """Say what an embedding holds and how it was learned.

    Parameters
    ----------
    embedding : LabelEmbedding
        Any embedding, learned or made from vectors.

    Returns
    -------
    EmbeddingSummary
        Sizes, contexts, options, versions and input files.
    """
    from phcle.embedding.storage import VERSION

    last = embedding.history[-1] if embedding.history else {}
    return answers.EmbeddingSummary(
        labels=len(embedding),
        dim=embedding.dim,
        contexts=tuple(
            answers.ContextSummary(
                name=context.name,
                kind=context.kind,
                labels=len(context.observed_labels),
                coverage=len(context.observed_labels) / max(len(embedding), 1),
                columns=len(context.columns),
                weight=context.weight,
                hierarchy=_recipe(context),
            )
            for context in embedding.contexts
        ),
        # The last record is the final solve for the labels, not a sweep.
        sweeps=max(len(embedding.history) - 1, 0),
        objective=last.get("objective"),
        seed=embedding.options.get("random_state"),
        options=dict(embedding.options),
        versions=dict(embedding.versions),
        run=dict(embedding.origin.get("run", {})),
        files=tuple(embedding.origin.get("files", ())),
        chosen=_chosen(embedding),
        completion=_completion(embedding),
        format_version=VERSION,
    )


def _chosen(embedding: LabelEmbedding) -> answers.ChosenSettings | None:
    """The settings that were left open, and columns on a log scale."""
    found = embedding.origin.get("chosen")
    if not isinstance(found, Mapping):  # an older or a forged file may hold anything
        return None
    setting, trials, words = (found.get(x) for x in ("setting", "trials", "words"))
    if not isinstance(setting, Mapping) or not isinstance(words, list):
        return None
    if not isinstance(trials, (list, tuple)):
        return None
    words = [str(word) for word in words]
    for context in embedding.contexts:
        if context.log_columns:
            shown = some(context.log_columns)
            words.append(f"{context.name}: {shown} fitted on a log scale.")
    return answers.ChosenSettings(setting, tuple(trials), tuple(words))


def _completion(embedding: LabelEmbedding) -> answers.CompletionSkill | None:
    """What the fit measured on hidden cells; an older or forged file has nothing."""
    with suppress(ContextError):
        return completion_skill(embedding)
    return None


def named(embedding: LabelEmbedding, label: str) -> answers.Named:
    """Add the readable name to a label.

    Parameters
    ----------
    embedding : LabelEmbedding
        The embedding that names the label.
    label : str
        A label's id.

    Returns
    -------
    Named
        The id and the name.
    """
    return answers.Named(label, embedding.name_of(label))


def _recipe(context: FittedContext) -> answers.HierarchyRecipe | None:
    """How a hierarchy was counted; None for any other context."""
    recipe = getattr(context.data, "hierarchy", None)
    if recipe is None:
        return None
    return answers.HierarchyRecipe(recipe.kind, recipe.decay, recipe.radius)


def _neighbours(
    embedding: LabelEmbedding, near: Iterable[tuple[str, float]]
) -> tuple[answers.Neighbour, ...]:
    """Labels with their names and similarities."""
    return tuple(
        answers.Neighbour(
            x, embedding.name_of(x), cosine, embedding.percentile_of(cosine)
        )
        for x, cosine in near
    )


def _related(
    embedding: LabelEmbedding, related: Iterable[tuple[str, float]]
) -> tuple[answers.RelatedLabel, ...]:
    """Labels with their names and shares."""
    return tuple(
        answers.RelatedLabel(x, embedding.name_of(x), share) for x, share in related
    )
