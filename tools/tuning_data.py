"""Write the files that docs/tuning.md tunes on.

    python tools/tuning_data.py imagenet1k --out FOLDER
    python tools/tuning_data.py awa --data DATA --out FOLDER
    python tools/tuning_data.py tiny-imagenet --data DATA --out FOLDER

`imagenet1k` is embedded; the others are the sets of `phcle reproduce`, with the same
folder of data.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from phcle.contexts import DescriptiveContext
from phcle.datasets import ImageNet1K, load_imagenet1k
from phcle_paper.tables.image_benchmarks import load_benchmark


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """A CSV file with a header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_labels(data: ImageNet1K, out: Path, more: Sequence[str] = ()) -> None:
    """Hierarchy, names, and the list of labels."""
    write_table(out / "tree.csv", ("child", "parent"), data.edges)
    write_table(out / "names.csv", ("label", "name"), data.names.items())
    labels = dict.fromkeys([*data.labels, *more])
    (out / "labels.txt").write_text("\n".join(labels) + "\n")


def write_described(data: ImageNet1K, out: Path) -> None:
    """Parts and glosses."""
    tags = [(label, tag) for label, own in data.parts.items() for tag in own]
    write_table(out / "parts.csv", ("label", "tag"), tags)
    write_table(out / "glosses.csv", ("label", "text"), data.glosses.items())


def write_context(context: DescriptiveContext, path: Path) -> None:
    """A dense description as a table of attributes."""
    rows = (
        [label, *("" if np.isnan(x) else repr(float(x)) for x in values)]
        for label, values in zip(context.labels, context.values, strict=True)
    )
    write_table(path, ("label", *context.columns), rows)


def main() -> None:
    """Write the files of one data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", choices=["imagenet1k", "awa", "tiny-imagenet"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.dataset == "imagenet1k":
        data = load_imagenet1k()
        write_labels(data, given.out)
        write_described(data, given.out)
        return
    benchmark = load_benchmark(given.dataset, given.data)
    write_labels(benchmark.imagenet, given.out, benchmark.classes)
    for name, context in benchmark.descriptions.items():
        write_context(context, given.out / f"{name}.csv")
    images = given.out / "images"
    images.mkdir(exist_ok=True)
    X, y = benchmark.task.images(benchmark.classes)
    names, codes = np.unique(y, return_inverse=True)
    np.savez(images / "features.npz", features=X, labels=codes, wnids=names)
    split = {"seen": benchmark.task.seen, "unseen": benchmark.task.unseen}
    (images / "split.json").write_text(json.dumps(split))


if __name__ == "__main__":
    main()
