"""What a refit takes from an earlier embedding, beside its factors.

Trials on hidden cells found the settings and calibrations of the embedding. The refit
takes them over as long as few cells have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from phcle.contexts.alignment import Aligned
from phcle.contexts.labels import index_of
from phcle.contexts.protocol import Context
from phcle.embedding import load
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import ContextError, OptionError, some
from phcle.model.problem import Problem
from phcle.model.settings import Chosen, Setting, longest_useful
from phcle.model.trials import open_roles
from phcle.options import DEFAULTS, OPTIONS

Pose = Callable[[Aligned, Chosen], tuple[Problem, Chosen]]

SETTINGS_UP_TO = 0.5
"""Settings are taken while at most this share of the cells of a context changed."""

MAY_DIFFER = ("dim", "random_state", "match", "dtype", "mode", "solver", "step_size")
"""Options that may differ from those of the earlier fit without another choice of
settings."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """An earlier embedding from which a refit starts.

    Attributes
    ----------
    embedding : LabelEmbedding
        The embedding.
    anew : bool
        Whether settings are chosen and confidences are learned anew.
    """

    embedding: LabelEmbedding
    anew: bool = False

    @classmethod
    def of(
        cls,
        given: LabelEmbedding | str | Path,
        aligned: Aligned,
        init: str,
        *,
        anew: bool,
    ) -> Self:
        """Check what the user gave.

        Parameters
        ----------
        given : LabelEmbedding, str or Path
            An embedding or its file.
        aligned : Aligned
            Contexts and labels of the refit.
        init : str
            The option of this name.
        anew : bool
            Whether settings are chosen anew.

        Returns
        -------
        WarmStart
            The start.
        """
        if init != "spectral":
            raise OptionError(
                f"warm_start takes the place of init={init!r}; leave one of them out."
            )
        if not isinstance(given, (LabelEmbedding, str, Path)):
            raise OptionError(
                "warm_start must be a LabelEmbedding or the path of its file. Got "
                f"{type(given).__name__} instead."
            )
        embedding = given if isinstance(given, LabelEmbedding) else load(given)
        known = {context.given_name for context in embedding.contexts}
        if not known:
            raise ContextError(
                "warm_start has vectors but no contexts, so no fit can start from it; "
                "use an embedding that PHCLE learned, or leave warm_start out."
            )
        if known.isdisjoint(context.name for context in aligned.contexts):
            ours = [context.name for context in aligned.contexts]
            raise ContextError(
                f"warm_start has the contexts {some(sorted(known))}, and this fit has "
                f"{some(ours)}; name them alike (name=, NAME=FILE), or leave "
                "warm_start out."
            )
        if set(embedding.labels).isdisjoint(aligned.labels):
            raise ContextError(
                f"warm_start has labels such as {some(embedding.labels)}, and none of "
                f"this fit, {some(aligned.labels)}; leave warm_start out."
            )
        return cls(embedding, anew)

    def taken(
        self,
        options: Mapping[str, Any],
        given: Setting,
        is_open: frozenset[str],
        aligned: Aligned,
        pose: Pose,
    ) -> tuple[Problem, Chosen] | str:
        """Take the settings of the embedding, if they still suit the data.

        Parameters
        ----------
        options : mapping
            Options of the refit.
        given : Setting
            What the options set, and defaults elsewhere.
        is_open : frozenset of str
            Settings that the options leave open.
        aligned : Aligned
            Contexts and labels of the refit.
        pose : callable
            Makes the problem of a setting.

        Returns
        -------
        tuple of Problem and Chosen, or str
            The problem and its settings, or why they must be chosen anew.
        """
        if self.anew:
            return "that was asked for"
        stored = self.embedding.origin.get("chosen")
        if not isinstance(stored, Mapping):
            return "the earlier embedding does not say what was chosen"
        before = Chosen.from_dict(stored)
        other = self._other_options(options)
        if other:
            return f"the earlier fit had another {some(other)}"
        hierarchies, graphs = open_roles(aligned.contexts)
        roles = {
            name: role
            for name, role in before.setting.roles.items()
            if name in hierarchies or name in graphs
        }
        dim = given.dim
        if "dim" in is_open:
            dim = before.setting.dim
            if dim != Setting.dim:  # as many as the columns filled
                dim = longest_useful(aligned, roles)
        setting = replace(before.setting, roles=roles, dim=dim)
        problem, chosen = pose(aligned, replace(before, setting=setting))
        changed = self.changed(problem)
        if changed is None:
            return "the earlier fit had other contexts"
        changed += before.changed or 0.0
        if changed > SETTINGS_UP_TO:
            return f"{changed:.0%} of the cells changed"
        reason = (
            f"Taken from the earlier embedding; {changed:.1%} of the cells changed "
            "since they were chosen."
        )
        return problem, replace(chosen, reason=reason, changed=changed)

    def changed(self, problem: Problem) -> float | None:
        """Compute how much of the data differs from those of the embedding.

        Parameters
        ----------
        problem : Problem
            The problem of the refit.

        Returns
        -------
        float or None
            The largest share of changed cells of a context; None if there are other
            contexts.
        """
        before = {(c.name, c.kind): c for c in self.embedding.contexts}
        now = {(c.name, c.kind): c for c in problem.contexts}
        if before.keys() != now.keys():
            return None
        shares = [0.0]
        for key, context in now.items():
            old = before[key]
            if not (old.labels and context.labels):
                return None
            loose = not context.can_be_completed
            shares.append(changed_share(old, context, problem.labels, loose=loose))
        return max(shares)

    def _other_options(self, options: Mapping[str, Any]) -> list[str]:
        """Options that decide about settings, and differ from the earlier fit's."""
        before = {**DEFAULTS, **self.embedding.options}
        return [
            x.name
            for x in OPTIONS
            if not (x.may_change_on_resume or x.name in MAY_DIFFER)
            and before[x.name] != options[x.name]
        ]


EXACT, LOOSE = 1e-6, 0.1
"""Numbers that differ by less than this share are the same: files may round values of
tables, and the weights of words change a little with every new text."""


def changed_share(
    before: Context, now: Context, labels: Collection[str], *, loose: bool = False
) -> float:
    """Compute the share of cells that are new, gone or different.

    Parameters
    ----------
    before : Context
        The context of the earlier fit.
    now : Context
        The context today.
    labels : collection of str
        Labels of today's fit; others do not count.
    loose : bool, default False
        Ignore small differences, as of contexts whose numbers are computed.

    Returns
    -------
    float
        Between 0, all cells are the same, and 1, none is.

    Examples
    --------
    >>> from phcle import DescriptiveContext
    >>> old = DescriptiveContext.from_tags({"cat": ["fur"], "dog": ["fur", "tail"]})
    >>> new = DescriptiveContext.from_tags({"cat": ["fur"], "dog": ["fur"]})
    >>> round(changed_share(old, new, ["cat", "dog"]), 2)
    0.33
    """
    rows = index_of(dict.fromkeys((*before.labels, *now.labels)))
    (columns_before, _), (columns_now, _) = stored = [
        context.stored_cells() for context in (before, now)
    ]
    columns = index_of(dict.fromkeys((*columns_before, *columns_now)))
    old, theirs = _cells(before.labels, *stored[0], rows, columns, None)
    new, ours = _cells(now.labels, *stored[1], rows, columns, set(labels))
    _, at_old, at_new = np.intersect1d(
        old, new, assume_unique=True, return_indices=True
    )
    a, b = theirs[at_old], ours[at_new]
    most = (LOOSE if loose else EXACT) * np.maximum(np.abs(a), np.abs(b))
    n_same = int(np.count_nonzero(np.abs(a - b) <= most))
    n_all = len(old) + len(new) - len(at_old)
    return 1.0 - n_same / n_all if n_all else 0.0


def _cells(
    labels: Sequence[str],
    own_columns: Sequence[str],
    cells: sp.coo_array,
    rows: Mapping[str, int],
    columns: Mapping[str, int],
    wanted: set[str] | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """A number for each cell, the same in both contexts, and the values."""
    (i, j), values = cells.coords, np.asarray(cells.data, np.float64)
    row_of = np.array([rows[label] for label in labels], dtype=np.int64)
    column_of = np.array([columns[x] for x in own_columns], dtype=np.int64)
    if wanted is not None:
        kept = np.array([label in wanted for label in labels], dtype=bool)[i]
        i, j, values = i[kept], j[kept], values[kept]
    return row_of[i] * len(columns) + column_of[j], values
