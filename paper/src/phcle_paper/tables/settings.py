"""Settings of an experiment, read from a TOML file and checked.

The package ships one file per table and data set in `configs/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phcle import PHCLE
from phcle.errors import OptionError, check_choice
from phcle.images import SEARCHES, Search
from phcle_paper.config import SHIPPED, check_keys, read_config

__all__ = [
    "DATASETS",
    "TABLES",
    "EmbeddingPlan",
    "Experiment",
    "SplitPlan",
    "load_config",
    "load_shipped",
    "parse",
    "quick",
    "searches_of",
]

TABLES = ("table1", "table2", "table3")
DATASETS = ("awa", "awa-corrected", "tiny-imagenet", "apy")

_DESCRIBED = frozenset({"center", "normalize", "dim"})
_LEARNED = frozenset({"contexts", *PHCLE().get_params()})
METHODS: Mapping[str, frozenset[str]] = {
    "ALE": _DESCRIBED,
    "WLE": _DESCRIBED,
    "HLE": frozenset({"similarity", "dim"}),
    "PMI+SVD": frozenset({"kind", "dim", "negatives", "power"}),
    "CNC": frozenset({"parts", "weights", "normalize", "dim"}),
    "CCA": frozenset({"parts", "dim", "ridge"}),
    "TADW": frozenset({"contexts", "dim", "ridge", "feature_dim"}),
    "PHCLE": _LEARNED,
    "PHCLE_NoSp": _LEARNED,
    "PHCLE_FC": _LEARNED,
}
"""Methods that make an embedding, with their options."""


@dataclass(frozen=True)
class SplitPlan:
    """Which classes are unseen, and how options are chosen among the seen ones."""

    random: int = 0  # random class splits, beside the paper's own
    n_unseen: int = 1
    split_seed: int = 0
    seeds: tuple[int, ...] = (0,)
    n_validation: int = 3
    validation_share: float = 0.2
    images_per_class: int = 0  # in random splits; 0 takes all
    images_per_class_paper: int = 0  # in the paper's split


@dataclass(frozen=True)
class EmbeddingPlan:
    """One row of the table: a method and its variants, chosen on validation classes.

    A variant is a set of options of the method, and the power of its `spectrum` (see
    `phcle_paper.baselines.reduction.with_spectrum`).
    """

    name: str
    method: str
    variants: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Experiment:
    """All settings of one table on one data set, and the paper's numbers."""

    table: str
    dataset: str
    title: str
    features: str | None = None  # the feature file to take where there are several
    reference: str = "PHCLE"
    splits: SplitPlan = field(default_factory=SplitPlan)
    classifiers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    embeddings: tuple[EmbeddingPlan, ...] = ()
    paper: Mapping[str, Any] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    generalised: bool = False  # answers among seen and unseen classes too

    @property
    def name(self) -> str:
        """Name of the experiment and of its files."""
        ending = "-generalised" if self.generalised else ""
        return f"{self.table}-{self.dataset}{ending}"

    @property
    def searches(self) -> dict[str, Search]:
        """Classifiers with the grids of this experiment."""
        return searches_of(self.classifiers)


def searches_of(classifiers: Mapping[str, Mapping[str, Any]]) -> dict[str, Search]:
    """Classifiers with their grids."""
    return {
        name: Search(SEARCHES[name].classifier, grid)
        for name, grid in classifiers.items()
    }


def load_shipped(table: str, dataset: str) -> Experiment:
    """The settings that ship with the package.

    >>> load_shipped("table2", "awa").paper["PHCLE"]["eszsl"]
    69.11
    """
    check_choice("table", table, TABLES)
    check_choice("dataset", dataset, DATASETS)
    name = f"{table}-{dataset}.toml"
    return parse(read_config(SHIPPED / name), name)


def load_config(path: str | Path) -> Experiment:
    """Settings from a user's file."""
    return parse(read_config(path), str(path))


def quick(experiment: Experiment) -> Experiment:
    """A trial run: few images and splits, one draw of validation classes."""
    return replace(
        experiment,
        splits=replace(
            experiment.splits,
            random=min(experiment.splits.random, 2),
            n_validation=1,
            images_per_class=30,
            images_per_class_paper=30,
        ),
        caveats=(*experiment.caveats, "a quick trial on 30 images a class"),
    )


def parse(raw: dict[str, Any], where: str) -> Experiment:
    """Checked settings; `where` names their file in messages."""
    check_keys(raw, Experiment.__dataclass_fields__, where)
    for key in ("table", "dataset", "title"):
        if not isinstance(raw.get(key), str):
            raise OptionError(f"{where}: needs the text {key!r}.")
    check_choice("table", raw["table"], TABLES, where)
    check_choice("dataset", raw["dataset"], DATASETS, where)
    splits = _table(raw, "splits", where)
    check_keys(splits, SplitPlan.__dataclass_fields__, f"{where}, [splits]")
    classifiers = _table(raw, "classifiers", where)
    check_keys(classifiers, SEARCHES, f"{where}, [classifiers]")
    for name, grid in classifiers.items():
        place = f"{where}, [classifiers.{name}]"
        check_keys(grid, SEARCHES[name].classifier._get_param_names(), place)
    embeddings = tuple(
        _embedding(name, own, where)
        for name, own in _table(raw, "embeddings", where).items()
    )
    names = [plan.name for plan in embeddings]
    found = Experiment(
        **{
            **raw,
            "splits": SplitPlan(**{**splits, "seeds": tuple(splits.get("seeds", [0]))}),
            "classifiers": classifiers,
            "embeddings": embeddings,
            "paper": _table(raw, "paper", where),
            "caveats": tuple(raw.get("caveats", ())),
        }
    )
    if found.table != "table1":
        if not classifiers:
            raise OptionError(f"{where}: needs a classifier, [classifiers.eszsl].")
        check_choice("reference", found.reference, names, where)
        check_keys(found.paper, names, f"{where}, [paper]")
    return found


def _embedding(name: str, raw: Mapping[str, Any], where: str) -> EmbeddingPlan:
    """One row; shared options are added to every variant."""
    check_keys(raw, ("method", "options", "variants", "spectrum"), where)
    method = raw.get("method", name)
    check_choice(f"method of {name!r}", method, METHODS, where)
    shared = raw.get("options", {})
    variants = tuple({**shared, **own} for own in raw.get("variants", [{}]))
    for variant in variants:
        check_keys(variant, METHODS[method], f"{where}, embedding {name!r}")
    powers = raw.get("spectrum", [1.0])
    if not powers or not all(isinstance(x, (int, float)) and x >= 0 for x in powers):
        raise OptionError(
            f"{where}, embedding {name!r}: spectrum must be a list of powers, 0 or "
            f"more. Got {powers!r} instead."
        )
    at_powers = ({**own, "spectrum": float(p)} for own in variants for p in powers)
    return EmbeddingPlan(name, method, tuple(at_powers))


def _table(raw: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = raw.get(key, {})
    if not isinstance(found, dict):
        raise OptionError(f"{where}: {key!r} must be a table, [{key}].")
    return found
