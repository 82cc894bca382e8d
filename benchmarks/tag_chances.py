"""Are the chances of tags right for labels that have none? Tables with rare tags.

A fifth of the described labels lose all their tags. Chances that a fit gives them are
compared with the truth: how many tags are expected for one that is there, and the log
loss of a label's tags, beside that of the shares of labels that have each tag.

    python benchmarks/tag_chances.py DATA

DATA holds `shop` and `imnet-attributes`. The parts of WordNet's nouns need WordNet.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from trees import noun_contexts

from phcle import PHCLE, DescriptiveContext, RelationalContext
from phcle.datasets import load_imagenet1k
from phcle.embedding.read import read_predictions
from phcle.errors import PhcleWarning

Tags = Mapping[str, Sequence[str]]
N_NOUNS = 9_000


def tables(data: Path) -> Iterator[tuple[str, list, Tags]]:
    """Name, other contexts and tags of each table."""
    shop = data / "shop"
    tree, rows = (
        pd.read_csv(shop / x).apply(lambda column: column.str.strip().str.lower())
        for x in ("taxonomy_utf8.csv", "tags.csv")
    )
    tree = tree[tree["child"] != tree["parent"]].drop_duplicates("child")
    tags = rows.drop_duplicates().groupby("label")["tag"].apply(list).to_dict()
    yield "shop", [RelationalContext.from_hierarchy(tree, name="tree")], tags

    files = (data / "imnet-attributes").glob("ImNet_*.json")
    tags = {k: v for x in sorted(files) for k, v in json.loads(x.read_text()).items()}
    yield "ImageNet attributes", [load_imagenet1k().hierarchy()], tags

    *others, parts = noun_contexts(N_NOUNS)
    matrix = sp.csr_array(parts.matrix.values)
    at = np.split(matrix.indices, matrix.indptr[1:-1])
    tags = {
        label: [parts.columns[i] for i in own]
        for label, own in zip(parts.labels, at, strict=True)
    }
    yield "parts of nouns", others, tags


def judge(others: list, tags: Tags, seed: int) -> tuple[float, float, float]:
    """Expected tags for one that is there; log losses of PHCLE and of the shares."""
    rng = np.random.default_rng(seed)
    labels = sorted(tags)
    hidden = set(rng.choice(labels, len(labels) // 5, replace=False).tolist())
    left = {label: own for label, own in tags.items() if label not in hidden}
    given = DescriptiveContext.from_tags(left, name="tags")
    embedding = PHCLE(choose=False).fit([*others, given]).embedding_
    table = next(x for x in embedding.predicting if x.name == "tags")
    asked = sorted(hidden.intersection(embedding.labels))
    vectors = embedding.select(asked).vectors
    said = read_predictions(embedding, table, vectors, asked).chance
    truth = np.array(
        [[x in set(tags[label]) for x in table.columns] for label in asked]
    )

    def loss(chance: np.ndarray) -> float:
        chance = np.clip(chance, 1e-6, 1 - 1e-6)
        logs = np.where(truth, np.log(chance), np.log(1 - chance))
        return float(-logs.sum() / len(asked))

    return said.sum() / truth.sum(), loss(said), loss(table.calibration.presence)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PhcleWarning)
    print("| table | labels | tags | expected / there | log loss | of the shares |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, others, tags in tables(options.data):
        draws = [judge(others, tags, seed) for seed in range(options.draws)]
        ratio, own, shares = np.mean(draws, axis=0)
        n_tags = len({x for own_tags in tags.values() for x in own_tags})
        print(
            f"| {name} | {len(tags):,} | {n_tags:,} | {ratio:.2f} | {own:.2f} "
            f"| {shares:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
