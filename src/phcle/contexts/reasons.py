"""What the similarity of two labels is made of: columns or relatives, in groups.

A context splits its part of a similarity over its columns, or a family over relatives.
The groups say what the two labels have in common. Without them, an attribute that both
lack would look like one that both have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from phcle.arrays import AnyFloats, Flags, Ints

if TYPE_CHECKING:
    from phcle.contexts.terms import Penalties


Codes = npt.NDArray[np.int8]

UNKNOWN, HAS, LACKS, HIGH, LOW = 0, 1, -1, 2, -2
"""What a label is known to be in a column: it has or lacks it, or its value is above or
below the mean of the column."""

GROUPS = {
    "each_other": "each other",
    "relatives_of_both": "relatives of both",
    "relatives_of_one": "relatives of one",
    "own_data": "own data",
    "together": "{have} each other",
    "both": "both {have}",
    "both_high": "both above the mean",
    "both_low": "both below the mean",
    "one": "only one {has}",
    "different": "one above, one below the mean",
    "known_of_one": "known of one only",
    "neither": "neither {has}",
}
"""Words of the groups. What makes two labels alike comes first; what both lack is last,
because it is true of most pairs, however large its part."""

AT = {group: i for i, group in enumerate(GROUPS)}
"""Position of each group."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two labels whose similarity is explained.

    Attributes
    ----------
    labels : tuple of str
        The two labels.
    vectors : array of shape (2, dim)
        Their vectors.
    lam : Penalties
        Penalties of the fit.
    vectors_of : callable
        Looks up the vectors of labels; None if the embedding lacks one of them.
    """

    labels: tuple[str, str]
    vectors: AnyFloats
    lam: Penalties
    vectors_of: Callable[[Sequence[str]], AnyFloats | None]

    @property
    def sides(self) -> tuple[tuple[str, AnyFloats, AnyFloats], ...]:
        """From the side of each label: the label, its vector, and the other vector."""
        (a, b), (one, other) = self.labels, self.vectors
        return (a, one, other), (b, other, one)


@dataclass(frozen=True, eq=False)
class Reasons:
    """Parts of λ3 times the product of two label vectors.

    Attributes
    ----------
    names : sequence of str
        Columns, or relatives.
    parts : array of shape (names,)
        Their parts of the product.
    groups : array of int of shape (names,)
        Position of the group of each in `GROUPS`; −1 for columns where both labels are
        unknown, whose parts are 0.
    rank : array of shape (names,)
        How telling each is if both labels have it; larger ones are named first.
    unnamed : array of bool of shape (names,)
        Names that say nothing about the pair, such as what one label lacks while the
        other is unknown.
    """

    names: Sequence[str]
    parts: AnyFloats
    groups: Ints
    rank: AnyFloats
    unnamed: Flags


def compared(one: Codes, other: Codes) -> Ints:
    """Find the group of each column from what the two labels are known to be in it.

    Parameters
    ----------
    one, other : array of int of shape (columns,)
        `HAS`, `LACKS`, `HIGH`, `LOW` or `UNKNOWN` for each label.

    Returns
    -------
    array of int of shape (columns,)
        Positions in `GROUPS`; −1 if neither label is known.

    Examples
    --------
    >>> found = compared(np.array([HAS, LACKS, HAS, LOW]), np.array([HAS, LACKS, 0, 2]))
    >>> [list(GROUPS)[i] for i in found]
    ['both', 'neither', 'known_of_one', 'different']
    """
    is_number = (np.abs(one) == HIGH) | (np.abs(other) == HIGH)
    signs = np.sign(one) + np.sign(other)
    return np.select(
        [
            (one == UNKNOWN) & (other == UNKNOWN),
            (one == UNKNOWN) | (other == UNKNOWN),
            is_number & (signs > 0),
            is_number & (signs < 0),
            is_number,
            signs > 0,
            signs < 0,
        ],
        [
            -1,
            AT["known_of_one"],
            AT["both_high"],
            AT["both_low"],
            AT["different"],
            AT["both"],
            AT["neither"],
        ],
        default=AT["one"],
    )


def words_of(group: str, verbs: tuple[str, str]) -> str:
    """Say in words what a group of reasons is.

    Parameters
    ----------
    group : str
        A key of `GROUPS`.
    verbs : tuple of str
        What labels do with columns, in plural and singular, such as "have" and "has".

    Returns
    -------
    str
        The words.
    """
    return GROUPS[group].format(have=verbs[0], has=verbs[1])
