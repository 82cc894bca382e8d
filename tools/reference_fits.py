"""Results of a set of fits, written to a file or compared with one.

    python tools/reference_fits.py --write before.npz
    ... change the code ...
    python tools/reference_fits.py --compare before.npz

Every kind of context in every role, every back end that is installed, both solvers,
every way to weigh contexts, sampled sweeps, warm starts, fold-in, explanations,
choosing and confidences. Run it before and after a change that must not alter results.
Only public names are used, so the same file runs on old and new code.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import phcle
from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.datasets import load_imagenet1k

N_LABELS = 160
N_LATER = 10
TOLERANCE = {
    "vectors": 0.05,
    "objective": 1e-3,
    "parts": 0.02,
    "sums": 1e-4,
    "confidence": 0.02,
}
"""Largest differences allowed. Vectors: what back ends are held to, relative to a
vector's length. The others: absolute, on values of order one (objective: relative).
Sums: what explanations leave of the cosine, which is checked for itself."""


def contexts_of(labels: list[str], role: str) -> list[Any]:
    """Contexts of every kind about the labels, and more about others."""
    data = load_imagenet1k()
    rng = np.random.default_rng(0)
    tree, parts, glosses = data.contexts()
    sizes = {x: len(data.glosses[x]) for x in labels}
    table = {
        "length": [float(x) if x % 3 else None for x in sizes.values()],
        "words": [float(data.glosses[x].count(" ")) for x in labels],
        "initial": [x[0] if x[0] in "abc" else "z" for x in labels],
    }
    vectors = {
        x: [n, n % 5, i % 7, i * i % 11] for i, (x, n) in enumerate(sizes.items())
    }
    edges = [(a, b, 1 + len(b) % 3) for a, b in zip(labels, labels[5:], strict=False)]
    items = [(f"item{i % 60}", x) for i, x in enumerate(labels)]
    known = rng.random((len(labels), 40)) < 0.3
    facets = sp.csr_array(known * rng.integers(0, 2, known.shape).astype(float))
    titles = tuple(f"facet {i}" for i in range(40))
    return [
        tree.changed(role=role),
        RelationalContext.from_edges(edges, name="graph", role=role),
        RelationalContext.from_annotations(items, name="items"),
        parts,
        glosses,
        DescriptiveContext.from_cells(labels, table, "table"),
        DescriptiveContext.from_vectors(
            {x: np.array(own, float) for x, own in list(vectors.items())[::2]},
            name="vectors",
        ),
        DescriptiveContext(
            "facets", tuple(labels), titles, facets, sp.csr_array(known.astype(float))
        ),
    ]


def fits() -> dict[str, dict[str, Any]]:
    """Options of every fit, by name."""
    back_ends = filter(importlib.util.find_spec, ("numpy", "numba", "torch"))
    chosen: dict[str, dict[str, Any]] = {
        name: {"backend": name, "device": "cpu"} for name in back_ends
    }
    chosen |= {
        f"{name}, families": {**options, "role": "family", "shrinkage": 0.3}
        for name, options in chosen.items()
    }
    here = {"backend": "numpy"}
    return chosen | {
        "double": {**here, "dtype": "float64"},
        "auto weights": {**here, "weights": "auto"},
        "nie weights": {**here, "weights": "nie", "max_iter": 10},
        "paper solver": {**here, "solver": "paper", "max_iter": 20},
        "sampled": {**here, "mode": "sampled", "max_iter": 15},
        "random start": {**here, "init": "random", "max_iter": 30},
        "ones start": {**here, "init": "ones", "max_iter": 10},
        "complete only": {**here, "complete_only": True},
        "no sparsity": {**here, "sparsity": 0.0},
        "shrunk": {**here, "shrinkage": 0.3},
        "both roles": {**here, "role": "both"},
        "warm start": {**here, "warm": True},
        "warm families": {**here, "role": "family", "warm": True},
        "completed": {**here, "completion": "fast"},
        "chosen": {**here, "choose": True, "role": "auto"},
    }


def results(options: dict[str, Any]) -> dict[str, Any]:
    """What one fit gives, free of the rotation that a fit leaves open."""
    data = load_imagenet1k()
    with_parts, others = sorted(data.parts), sorted(set(data.glosses) - set(data.parts))
    labels = with_parts[: N_LABELS // 2] + others[: N_LABELS // 2]
    later = others[-N_LATER:]
    own = {"choose": False, "completion": "none", "dim": 12, **options}
    role, is_warm = own.pop("role", "counts"), own.pop("warm", False)
    model = PHCLE(**own)
    before = None
    if is_warm:
        early = labels[4:]
        earlier = PHCLE(**own).fit(contexts_of(early, role), labels=early)
        before = earlier.embedding_
    model.fit(contexts_of(labels, role), labels=labels, warm_start=before)
    embedding = model.embedding_
    new = [
        RelationalContext.from_hierarchy(data.edges, name="hierarchy", labels=later),
        DescriptiveContext.from_texts(
            {x: data.glosses[x] for x in later}, name="gloss words"
        ),
        DescriptiveContext.from_tags({later[0]: ["handle"]}, name="parts"),
    ]
    folded = model.transform(new)
    W, V = (np.asarray(x.vectors, np.float64) for x in (embedding, folded))
    found = {
        "objective": [
            value
            for key, value in model.history_[-1].items()
            if key in ("objective", "gap")
        ],
        "weights": [model.weights_[name] for name in sorted(model.weights_)],
        "vectors": W @ W.T,
        "folded": V @ W.T,
    }
    if options.get("init") != "ones":
        pairs = list(zip(embedding.labels[:6], embedding.labels[6:12], strict=True))
        explained = [embedding.explain(a, b) for a, b in pairs]
        found["parts"] = [[part.part for part in x.parts] for x in explained]
        found["sums"] = [x.rest for x in explained]
        found["confidence"] = [
            [a.confidence or 0.0 for a in embedding.describe(x).predicted][:1] or [0.0]
            for x in embedding.labels[:30]
        ]
    return {key: np.asarray(value, np.float64) for key, value in found.items()}


def difference(kind: str, before: Any, after: Any) -> float:
    """How far two results are apart, in the units of `TOLERANCE`."""
    if kind in ("vectors", "folded"):
        scale = np.sqrt(np.abs(before).max(axis=1, keepdims=True))
        return float((np.abs(before - after) / (scale * scale.max())).max())
    if kind == "sums":
        return float(np.abs(after).max())
    if kind == "objective":
        return float(np.abs(after / before - 1).max())
    return float(np.abs(before - after).max())


def main(arguments: list[str] | None = None) -> None:
    """Write the results, or compare them; exits with 1 if any differs too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(f"phcle from {Path(phcle.__file__).parent.name}")
    found = {
        f"{name}/{kind}": value
        for name, options in fits().items()
        for kind, value in results(options).items()
    }
    if given.write:
        np.savez_compressed(given.write, **found)
    if given.compare:
        before = np.load(given.compare)
        is_off = False
        for key in before.files:
            kind = key.split("/")[1]
            apart = difference(kind, before[key], found[key])
            kind = {"folded": "vectors", "weights": "parts"}.get(kind, kind)
            is_off |= not apart <= TOLERANCE[kind]
            print(f"{key:28} {apart:.1e}{'' if apart <= TOLERANCE[kind] else '  OFF'}")
        sys.exit(int(is_off))


if __name__ == "__main__":
    main()
