"""Whether the words of labels' names help to complete tables.

Every data set is fitted with and without the context of
`DescriptiveContext.from_label_names`. `context_help` hides known cells of its tables
and predicts them. Related labels are judged without the taxonomy: how many of the five
nearest labels have the same parent in it?

Run it with `python benchmarks/label_words.py DATA jobs shop imagenet debian`. The shop
and Debian need the second package, `pip install ./paper`, and their data sets in the
folder DATA; `apt-cache dumpavail > DATA/Packages` writes the one of Debian.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from phcle import PHCLE, DescriptiveContext, RelationalContext, context_help
from phcle.contexts import Context
from phcle.errors import PhcleWarning

JOBS = Path(__file__).parents[1] / "tests" / "fixtures" / "jobs"
Loaded = tuple[list[Context], Mapping[str, str]]


def jobs(data: Path) -> Loaded:
    """Job titles with the cells of their table, each fact hidden for some titles."""
    sys.path.insert(0, str(JOBS))
    from make_jobs import FIELDS, make_jobs, skills_of

    table = pd.DataFrame.from_dict(make_jobs(), orient="index")
    tree = [*table["sector"].items(), *FIELDS.items()]
    facts = table[["level", "remote", "salary", "hours"]].sample(
        frac=0.8, random_state=0
    )
    told = table.sample(frac=0.6, random_state=1).index
    contexts = [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_frame(facts, name="facts"),
        DescriptiveContext.from_tags({x: skills_of(x) for x in told}, name="skills"),
    ]
    return contexts, {x: x for x in table.index}


def shop(data: Path) -> Loaded:
    """Categories of a shop: tree, attributes and tags."""
    facts = pd.read_csv(data / "shop" / "attributes_clean.csv", index_col=0)
    tree = pd.read_csv(data / "shop" / "taxonomy_utf8.csv").drop_duplicates()
    tree = tree[tree["child"] != tree["parent"]]
    tags = pd.read_csv(data / "shop" / "tags.csv").drop_duplicates()
    contexts = [
        RelationalContext.from_hierarchy(tree, name="tree"),
        DescriptiveContext.from_frame(facts, name="facts"),
        DescriptiveContext.from_tags(tags, name="tags"),
    ]
    return contexts, {x: x for x in contexts[0].labels}


def imagenet(data: Path) -> Loaded:
    """The labels of ImageNet-1K: hierarchy, parts, glosses and properties."""
    from phcle.datasets import load_imagenet1k

    found = load_imagenet1k()
    contexts = [*found.contexts(), found.properties()]
    return contexts, {x: found.names[x] for x in found.labels}


def debian(data: Path) -> Loaded:
    """Debian packages: sections, dependencies and tags."""
    from phcle_paper.datasets.debian import load_debian

    found = load_debian(data / "Packages", most=1000)
    contexts = [found.sections(), found.dependencies(), found.tags()]
    return contexts, {x: x for x in found.labels}


def pantheria(data: Path) -> Loaded:
    """Mammals: taxonomy and traits."""
    tree = pd.read_csv(data / "pantheria" / "taxonomy.csv")
    traits = pd.read_csv(data / "pantheria" / "traits.csv", index_col=0)
    traits = traits.sample(1000, random_state=0)
    contexts = [
        RelationalContext.from_hierarchy(tree, name="tree", labels=list(traits.index)),
        DescriptiveContext.from_frame(traits, name="traits"),
    ]
    return contexts, {x: x for x in traits.index}


DATA_SETS = {f.__name__: f for f in (jobs, shop, imagenet, debian, pantheria)}


def shown_help(contexts: list[Context], names: Mapping[str, str], seed: int) -> str:
    """What the words add to the prediction of hidden cells of the tables."""
    words = DescriptiveContext.from_label_names(names)
    model = PHCLE(random_state=seed, calibrate=False)
    model.fit([*contexts, words], labels=list(names))
    found = context_help(model.embedding_)
    return next(x.words for x in found.contexts if x.context == words.name)


def shown_related(contexts: list[Context], names: Mapping[str, str]) -> str:
    """Share of the five nearest labels with the same parent, without the taxonomy."""
    tree = next(c for c in contexts if getattr(c, "hierarchy", None) is not None)
    others = [c for c in contexts if c is not tree]
    described = {x for c in others for x in c.observed_labels}
    labels = [x for x in names if x in described]
    words = DescriptiveContext.from_label_names({x: names[x] for x in labels})
    shares = []
    for given in (others, [*others, words]):
        embedding = PHCLE(calibrate=False).fit(given, labels=labels).embedding_
        parents = {
            x: set(tree.hierarchy.hierarchy.parents_of(x)) for x in embedding.labels
        }
        same = [
            bool(parents[x] & parents[near])
            for x in embedding.labels
            for near, _ in embedding.nearest(x, k=5)
        ]
        shares.append(np.mean(same))
    return f"same parent: {shares[0]:.3f} without label words, {shares[1]:.3f} with"


def main() -> None:
    """Print what the words change, for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="+", choices=DATA_SETS)
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore", PhcleWarning)
    for name in given.names:
        contexts, names = DATA_SETS[name](given.data)
        print(f"{name}: {shown_related(contexts, names)}", flush=True)
        for draw in range(given.draws):
            print(
                f"{name}, draw {draw}: {shown_help(contexts, names, draw)}", flush=True
            )


if __name__ == "__main__":
    main()
