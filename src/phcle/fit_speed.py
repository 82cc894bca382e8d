"""Measure how long a fit takes on this machine, for `phcle bench` and the benchmarks.

The labels are leaves of a random tree, or WordNet's nouns. One fit gives both the final
gap (objective − floor) and the time at which the gap came within 5 % of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from phcle.answers import FitSpeed
from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.base.context import Context
from phcle.datasets.wordnet import WordNetNouns
from phcle.errors import OptionError
from phcle.estimator import PHCLE
from phcle.solver.problem import State

__all__ = ["measure_fit", "noun_contexts", "tree_contexts", "yardstick"]

NEAR = 1.05
"""A fit is "near" its end once the gap is at most this times the last gap."""


def measure_fit(contexts: Sequence[Context], **options: Any) -> FitSpeed:
    """Fit `PHCLE` and measure it.

    Parameters
    ----------
    contexts : sequence of contexts
        What to fit.
    **options : Any
        Options of `PHCLE`.

    Returns
    -------
    FitSpeed
        Time, memory and progress.
    """
    speed = yardstick()
    timeline: list[tuple[float, float]] = []
    began = time.perf_counter()

    def note(state: State) -> None:
        timeline.append((time.perf_counter() - began, state.history[-1]["gap"]))

    model = PHCLE(**options).fit(contexts, on_step=note)
    seconds = time.perf_counter() - began
    gap = model.history_[-1]["gap"]
    near = next(
        (i for i, (_, there) in enumerate(timeline, 1) if there <= NEAR * gap),
        len(timeline),
    )
    return FitSpeed(
        labels=len(model.embedding_.labels),
        columns=sum(len(context.columns) for context in contexts),
        nonzeros=sum(context.n_stored for context in contexts),
        dim=model.embedding_.dim,
        seconds=seconds,
        seconds_near=timeline[near - 1][0],
        sweeps=len(timeline),
        sweeps_near=near,
        gap=gap,
        peak_mb=_peak_megabytes(),
        gflops=speed,
        timeline=timeline,
    )


def _peak_megabytes() -> float | None:
    """The most memory this process has held, where the system counts it."""
    if sys.platform == "win32":
        return None
    try:
        import resource
    except ImportError:  # a Python that was built without it
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def tree_contexts(n_labels: int, *, seed: int = 0) -> list[Context]:
    """Make contexts from a random tree with two to seven children per node.

    Parameters
    ----------
    n_labels : int
        Number of leaves, which are the labels.
    seed : int
        Seed of the tree.

    Returns
    -------
    list of contexts
        The hierarchy.
    """
    if n_labels < 2:
        raise OptionError(f"a tree needs 2 labels or more. Got {n_labels}.")
    rng = np.random.default_rng(seed)
    level = [f"l{i}" for i in range(n_labels)]
    labels, edges, depth = tuple(level), list[tuple[str, str]](), 0
    while len(level) > 1:
        depth += 1
        ends = list(accumulate(rng.integers(2, 8, size=len(level))))
        parent = np.searchsorted(ends, np.arange(len(level)), side="right")
        edges += [
            (child, f"n{depth}.{above}")
            for child, above in zip(level, parent, strict=True)
        ]
        level = [f"n{depth}.{i}" for i in range(parent[-1] + 1)]
    return [RelationalContext.from_hierarchy(edges, labels=labels)]


def noun_contexts(
    nouns: WordNetNouns, n_labels: int, *, seed: int = 0
) -> list[Context]:
    """Make contexts from random WordNet nouns: hypernyms, gloss words and parts.

    Parameters
    ----------
    nouns : WordNetNouns
        From `load_wordnet_nouns`.
    n_labels : int
        How many nouns to draw; more than there are means all.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of contexts
        Two or three contexts; a draw without any parts has no context of parts.
    """
    wnids = list(nouns.lemmas)
    if n_labels < len(wnids):
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.choice(len(wnids), n_labels, replace=False))
        wnids = [wnids[i] for i in drawn]
    glosses = {x: nouns.definition_of(x) for x in wnids}
    parts = {x: nouns.parts[x] for x in wnids if x in nouns.parts}
    contexts: list[Context] = [
        RelationalContext.from_hierarchy(nouns.edges(wnids), labels=wnids),
        DescriptiveContext.from_texts(glosses, name="glosses"),
    ]
    if parts:
        contexts.append(DescriptiveContext.from_tags(parts, name="parts"))
    return contexts


def yardstick(size: int = 2000, repeats: int = 3) -> float:
    """Measure the speed of a float32 matrix product, to compare machines by.

    Parameters
    ----------
    size : int
        Rows and columns of the matrix.
    repeats : int
        How often to multiply; the fastest run counts.

    Returns
    -------
    float
        GFLOP/s.
    """
    a = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        _ = a @ a
        seconds.append(time.perf_counter() - began)
    return 2 * size**3 / min(seconds) / 1e9
