"""Numbers of a knowledge graph from its triples: absolute errors of hidden numbers.

    python benchmarks/graph_numbers.py DATA/fb15k-numbers

The folder holds `triples.tsv.gz` (head, relation, tail), and `numbers_train.csv.gz` and
`numbers_dev.csv.gz` (entity, attribute, value).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from phcle import PHCLE, DescriptiveContext, RelationalContext


def main() -> None:
    """Fit triples and known numbers, and compare with the dev split."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    train, dev = (
        pd.read_csv(folder / f"numbers_{x}.csv.gz", header=0, names=["e", "a", "v"])
        for x in ("train", "dev")
    )
    rows = pd.read_csv(folder / "triples.tsv.gz", sep="\t", header=None)
    for column in (0, 2):  # the numbers name entities without the first three letters
        rows[column] = rows[column].str.removeprefix("/m/")
    known = train.groupby(["e", "a"]).v.mean().unstack()
    contexts = [
        RelationalContext.from_triples(rows.itertuples(index=False, name=None)),
        DescriptiveContext.from_frame(known, name="numbers"),
    ]
    embedding = PHCLE(verbose=True).fit(contexts).embedding_
    asked = [x for x in dev.e.unique() if x in embedding]
    cells = embedding.complete(asked, why=False).cells
    said = {(x.label, x.column): x.value for x in cells}
    for attribute, own in dev.groupby("a"):
        middle = known[attribute].median()
        found = np.array([said.get((x, attribute), middle) for x in own.e])
        error, usual = (np.abs(x - own.v).mean() for x in (found, middle))
        print(f"{attribute:45} {len(own):4} {error:10.4g}, median {usual:10.4g}")


if __name__ == "__main__":
    main()
