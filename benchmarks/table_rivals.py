"""A table with gaps, and other ways to fill them: each takes a table, gives a guess."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import skew
from sklearn import ensemble
from sklearn.decomposition import TruncatedSVD
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import IterativeImputer, KNNImputer

NUMBER, CATEGORY, TAG = "number", "category", "tag"
FOLDS = 5  # of labels, for means of groups as features
PULLS = (0.3, 1.0, 3.0, 10.0)  # how many labels a larger group's mean may count for
ROUNDS = 4  # of the imputer of extra trees
FEW = {"learning_rate": 0.06, "max_iter": 120, "max_leaf_nodes": 12}
FEW["min_samples_leaf"] = 8
MANY = {"learning_rate": 0.05, "max_iter": 300, "max_leaf_nodes": 31}
MANY_ROWS = 1500  # from which on boosting has the second settings
MOST_VALUES = 50  # of a category that boosting looks for errors in
DETERMINED = 0.9  # from which on a column counts as determined by another
MOST_ROWS = 700  # that TabPFN learns from


@dataclass
class Table:
    """Labels with values, made of plain lists and arrays, so that any machine reads it.

    Values are numbers, texts, or None where unknown; a tag is 1 or 0, and those of one
    facet (`facet::tag`) are known together. Groups stand from the smallest up. `links`
    holds what else is known of labels, by name: "edges", "items", "tags", "texts" or
    "places", and what a context of this kind is made from.
    """

    name: str
    labels: list[str]
    columns: list[str]
    kinds: list[str]  # NUMBER, CATEGORY or TAG for each column
    values: np.ndarray  # (labels, columns) of objects
    groups: np.ndarray  # (labels, levels) of texts or None
    links: dict[str, tuple[str, Any]] = field(default_factory=dict)
    asked: np.ndarray | None = None  # labels that may lose cells, by default all
    share: float = 0.15  # of their known cells that is hidden

    @property
    def known(self) -> np.ndarray:
        """Which cells are known: (labels, columns)."""
        return np.not_equal(self.values, None)


class Guess:
    """Predicted values of cells (labels, columns); None where a method says nothing.

    `low` and `high` are the ends of 80 % intervals of numbers, `chance` is how sure a
    method is of a category. The value of a tag is its chance.
    """

    def __init__(self, table: Table) -> None:
        nothing = np.full((4, *table.values.shape), None, dtype=object)
        self.values, self.low, self.high, self.chance = nothing


class Scale:
    """Numbers in standard deviations; in logs where skewed, shifted if there are zeros.

    Rivals learn on this scale, and all methods are judged on it. Tags only lose their
    mean.
    """

    def __init__(self, known: np.ndarray, kind: str) -> None:
        self.least, self.unit, self.mean, self.spread = 0.0, 0.0, 0.0, 1.0
        if len(np.unique(known)) > 2 and skew(known) > 1:
            if known.min() > 0:
                self.least = known.min() / 10
            elif known.min() == 0:
                self.unit = float(np.median(known[known > 0]))
        own = self.to(known)
        self.mean = own.mean()
        self.spread = max(own.std(), 1e-9) if kind == NUMBER else 1.0

    def to(self, values: np.ndarray) -> np.ndarray:
        """From the user's units."""
        if self.least:
            values = np.log(np.maximum(values, self.least))
        elif self.unit:
            values = np.log1p(np.maximum(values, 0) / self.unit)
        return (values - self.mean) / self.spread

    def back(self, values: np.ndarray) -> np.ndarray:
        """To the user's units."""
        values = values * self.spread + self.mean
        if self.least:
            return np.exp(np.minimum(values, 700))
        return np.expm1(np.minimum(values, 700)) * self.unit if self.unit else values


class Coded:
    """The known cells as numbers, with a column for each value of a category."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.scales: dict[int, Scale] = {}
        self.texts: dict[int, list[str]] = {}
        found, owner = [], []
        for j, kind in enumerate(table.kinds):
            own, known = table.values[:, j], table.known[:, j]
            if kind == CATEGORY:
                self.texts[j] = sorted(set(own[known]))
                found += [np.where(known, own == x, np.nan) for x in self.texts[j]]
            elif known.any():
                values = np.where(known, own, np.nan).astype(float)
                self.scales[j] = Scale(values[known], kind)
                found.append(self.scales[j].to(values))
            owner += [j] * (len(found) - len(owner))
        self.matrix = np.array(found, dtype=float).T  # (labels, coded columns)
        self.owner = np.array(owner)
        self.known = ~np.isnan(self.matrix)
        self.means = column_means(self.matrix)

    def fields(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Number, coded columns and known labels of each column with known cells."""
        for j in sorted(set(self.owner)):
            own = np.flatnonzero(self.owner == j)
            yield j, own, self.known[:, own[0]]

    def decoded(self, found: np.ndarray) -> Guess:
        """A guess from predictions of the coded columns; NaN where it says nothing."""
        guess = Guess(self.table)
        for j, own, _ in self.fields():
            block = found[:, own]
            if j in self.texts:
                said = np.array(self.texts[j], dtype=object)[block.argmax(axis=1)]
            else:
                most = 1 if self.table.kinds[j] == TAG else np.inf
                said = self.scales[j].back(block[:, 0]).clip(1 - most, most)
            guess.values[:, j] = np.where(np.isnan(block[:, 0]), None, said)
        return guess


def column_means(matrix: np.ndarray) -> np.ndarray:
    """Means of the known values, 0 where there are none: (columns,)."""
    known = ~np.isnan(matrix)
    return np.where(known, matrix, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def group_codes(table: Table) -> list[np.ndarray]:
    """The number of each label's group on each level, from the smallest; -1 if none."""
    return [pd.factorize(level, sort=True)[0] for level in table.groups.T]


class Family:
    """Means over the groups of a label, each pulled to that of the next larger one."""

    def __init__(self, coded: Coded) -> None:
        self.matrix, self.levels = coded.matrix, group_codes(coded.table)
        rng = np.random.default_rng(0)
        self.fold = rng.integers(0, FOLDS, len(self.matrix))
        self.pull: Any = 1.0
        errors = []
        for self.pull in PULLS:
            wrong = self.by_folds()[:, :, 0] - self.matrix
            errors.append(column_means(wrong**2))
        self.pull = np.array(PULLS)[np.argmin(errors, axis=0)]

    def means(self, matrix: np.ndarray) -> np.ndarray:
        """Pulled means, and plain ones of each level: (labels, columns, 1 + levels).

        A plain mean is NaN where the group has no known cell.
        """
        known = ~np.isnan(matrix)
        values = np.where(known, matrix, 0)
        pulled = np.tile(column_means(matrix), (len(matrix), 1))
        plain: list[np.ndarray] = []
        for codes in reversed(self.levels):
            # Labels without a group come last, in a group that is left empty.
            shape = (codes.max() + 2, matrix.shape[1])
            sums, counts = np.zeros(shape), np.zeros(shape)
            np.add.at(sums, codes, values)
            np.add.at(counts, codes, known)
            sums[-1], counts[-1] = 0, 0
            total, n = sums[codes], counts[codes]
            plain.insert(0, np.where(n > 0, total / np.maximum(n, 1), np.nan))
            pulled = (total + self.pull * pulled) / (n + self.pull)
        return np.stack([pulled, *plain], axis=2)

    def by_folds(self) -> np.ndarray:
        """The same, in which no known cell sees its own fold of labels.

        Leaving out one label at a time would tell a tree the value that was left out.
        """
        found = self.means(self.matrix)
        for k in range(FOLDS):
            own = (self.fold == k)[:, None]
            rest = self.means(np.where(own, np.nan, self.matrix))
            found = np.where((own & ~np.isnan(self.matrix))[:, :, None], rest, found)
        return np.where(np.isnan(found), found[:, :, :1], found)


def usual(table: Table, seed: int) -> Guess:
    """The mean, or most common value."""
    coded = Coded(table)
    return coded.decoded(np.tile(coded.means, (len(table.labels), 1)))


def family(table: Table, seed: int) -> Guess:
    """The mean, or most common value, of the smallest group with known cells."""
    coded = Coded(table)
    found = np.tile(coded.means, (len(table.labels), 1))
    for level in Family(coded).means(coded.matrix).T[:0:-1]:
        found = np.where(np.isnan(level.T), found, level.T)
    return coded.decoded(found + 1e-6 * coded.means)  # of a tie, the more common


def shrunk_family(table: Table, seed: int) -> Guess:
    """Means of groups, pulled to those of larger groups as folds say is best."""
    coded = Coded(table)
    return coded.decoded(Family(coded).means(coded.matrix)[:, :, 0])


def nearest(table: Table, seed: int) -> Guess:
    """Means of the ten labels that are nearest in the columns that both have."""
    coded = Coded(table)
    model = KNNImputer(n_neighbors=10, weights="distance", keep_empty_features=True)
    return coded.decoded(model.fit_transform(coded.matrix))


def iterative(table: Table, seed: int) -> Guess:
    """scikit-learn's imputer by chained linear regressions.

    It tells categories no better than by the most common value, since the columns of
    their values are unknown together, and add up to one.
    """
    coded = Coded(table)
    n = min(50, coded.matrix.shape[1])
    bounds = {"min_value": -8, "max_value": 8, "keep_empty_features": True}
    model = IterativeImputer(random_state=seed, n_nearest_features=n, **bounds)
    return coded.decoded(model.fit_transform(coded.matrix))


def link_features(table: Table) -> np.ndarray:
    """What links say of labels, as a few numbers each: (labels, features)."""
    found = [np.zeros((len(table.labels), 0))]
    for kind, given in table.links.values():
        if kind == "places":
            none = (np.nan, np.nan)
            places = np.array([given.get(x, none) for x in table.labels])
            north, east = np.nan_to_num(np.radians(places)).T
            circle = np.cos(north) * [np.cos(east), np.sin(east)]
            found.append(np.column_stack([*circle, np.sin(north)]))
            continue
        words: dict[str, list[str]] = {x: [] for x in table.labels}
        for label, word in words_of(kind, given):
            if label in words:
                words[label].append(word)
        counts = TfidfVectorizer(analyzer=list, min_df=2).fit_transform(words.values())
        found.append(TruncatedSVD(min(10, counts.shape[1] - 1)).fit_transform(counts))
    return np.hstack(found)


def words_of(kind: str, given: Any) -> Iterator[tuple[str, str]]:
    """Labels, and what they are linked to: nodes, items, tags or words."""
    if kind == "edges":
        yield from (y for a, b, *_ in given for y in ((a, b), (b, a)))
    elif kind == "items":
        yield from ((label, item) for item, label in given)
    else:
        for label, own in given.items():
            yield from ((label, x) for x in (own.split() if kind == "texts" else own))


class Features:
    """What a model of one column may see: other columns, family means by folds, links.

    Of a label without known cells it sees the last two, and so a model of its own.
    """

    def __init__(self, coded: Coded) -> None:
        self.coded, self.described = coded, coded.known.any(axis=1)
        self.family = Family(coded)
        self.means, self.links = self.family.by_folds(), link_features(coded.table)
        # One column each, with the number of a category's value, NaN where unknown.
        fields = list(coded.fields())
        codes = [coded.matrix[:, x] @ np.arange(1, len(x) + 1) for _, x, _ in fields]
        self.others, self.owner = np.array(codes).T, np.array([j for j, *_ in fields])

    def ways(self, j: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Labels with a gap and features of all labels, for both kinds of labels."""
        own = self.coded.owner == j
        beside = self.means[:, own].reshape(len(self.means), -1)
        beside = np.hstack([beside, self.links])
        gaps = ~self.coded.known[:, own][:, 0]
        more = np.hstack([beside, self.others[:, self.owner != j]])
        return [(gaps & self.described, more), (gaps & ~self.described, beside)]

    def filled(self, fit: Callable, columns: Iterable[int] | None = None) -> np.ndarray:
        """Predictions of gaps, NaN elsewhere: (labels, coded columns)."""
        found = np.full(self.coded.matrix.shape, np.nan)
        for j, own, known in self.coded.fields():
            if columns is None or j in columns:
                for asked, inputs in self.ways(j):
                    if asked.any() and inputs.shape[1]:
                        said = fit(self.coded, j, inputs, np.flatnonzero(known), asked)
                        found[np.ix_(asked, own)] = said
        return found

    def out_of_fold(self, j: int, inputs: np.ndarray, fit: Callable) -> list:
        """Known labels of a column, and predictions that have not seen the label."""
        fold = self.family.fold
        rows = np.flatnonzero(self.coded.known[:, self.coded.owner == j][:, 0])
        parts = []
        for k in range(FOLDS):
            seen, held = rows[fold[rows] != k], rows[fold[rows] == k]
            if len(seen) and len(held):
                parts.append((held, fit(self.coded, j, inputs, seen, held)))
        return [np.concatenate(x) for x in zip(*parts, strict=True)]


def extra_trees(table: Table, seed: int) -> Guess:
    """The iterative imputer of extra trees, with family means among its features."""
    coded = Coded(table)
    features = Features(coded)
    filled = np.where(coded.known, coded.matrix, features.means[:, :, 0])
    features.others, features.owner = filled, coded.owner  # seen as they are filled
    fields = sorted(coded.fields(), key=lambda x: -x[2].sum())
    for n_round in range(ROUNDS):
        for j, own, known in fields:
            ways = zip((3, 5), features.ways(j), strict=True)
            for leaf, (asked, inputs) in list(ways)[: 1 if n_round else 2]:
                if asked.any() and inputs.shape[1]:
                    trees = ensemble.ExtraTreesRegressor(
                        100, min_samples_leaf=leaf, max_features=0.4, random_state=seed
                    )
                    trees.fit(inputs[known], coded.matrix[known][:, own])
                    said = trees.predict(inputs[asked])
                    filled[np.ix_(asked, own)] = said.reshape(-1, len(own))
    return coded.decoded(filled)


def boosted(
    coded: Coded, j: int, inputs: Any, seen: Any, asked: Any, **more: Any
) -> np.ndarray:
    """Predictions of a column by boosted trees: (labels asked, its coded columns)."""
    block = coded.matrix[np.ix_(seen, coded.owner == j)]
    inputs = inputs[:, ~np.isnan(inputs[seen]).all(axis=0)]
    more = {**(FEW if len(seen) < MANY_ROWS else MANY), "random_state": 0, **more}
    if j not in coded.texts:
        model = ensemble.HistGradientBoostingRegressor(early_stopping=False, **more)
        return model.fit(inputs[seen], block[:, 0]).predict(inputs[asked])[:, None]
    values = block.argmax(axis=1)
    found = np.zeros((len(inputs[asked]), block.shape[1]))
    found[:, values[0]] = 1
    if len(set(values)) > 1:
        model = ensemble.HistGradientBoostingClassifier(early_stopping=False, **more)
        model.fit(inputs[seen], values)
        found[:, model.classes_] = model.predict_proba(inputs[asked])
    return found


def boosting(table: Table, seed: int) -> Guess:
    """Boosted trees of every column, with family means by folds."""
    coded = Coded(table)
    return coded.decoded(Features(coded).filled(boosted))


def quantiles(table: Table, seed: int) -> Guess:
    """80 % intervals of numbers: boosted quantiles, widened as folds say is needed."""
    coded = Coded(table)
    features = Features(coded)
    guess = Guess(table)

    def ends(*given: Any) -> np.ndarray:
        said = [boosted(*given, loss="quantile", quantile=x) for x in (0.1, 0.9)]
        return np.sort(np.hstack(said), axis=1)

    def widened(coded: Coded, j: int, inputs: Any, seen: Any, asked: Any) -> float:
        rows, said = features.out_of_fold(j, inputs, ends)
        truth = coded.matrix[rows, coded.owner == j]
        beyond = np.maximum(said[:, 0] - truth, truth - said[:, 1])
        more = np.quantile(beyond, min(0.8 * (1 + 1 / len(rows)), 1))
        low, high = ends(coded, j, inputs, seen, asked).T
        guess.low[asked, j] = coded.scales[j].back(low - more)
        guess.high[asked, j] = coded.scales[j].back(np.maximum(high + more, low - more))
        guess.values[asked, j] = guess.low[asked, j]
        return np.nan

    features.filled(widened, numbers(coded))
    return guess


def numbers(coded: Coded) -> list[int]:
    """Columns of numbers with enough known cells to learn from."""
    kinds = coded.table.kinds
    return [j for j, _, x in coded.fields() if kinds[j] == NUMBER and x.sum() >= 20]


def tabpfn(table: Table, seed: int) -> Guess:
    """TabPFN v2 on four columns of numbers; TABPFN_REGRESSOR may name its weights."""
    from tabpfn import TabPFNRegressor

    def fitted(coded: Coded, j: int, inputs: Any, seen: Any, asked: Any) -> np.ndarray:
        rng = np.random.default_rng(seed)
        seen = rng.permutation(seen)[:MOST_ROWS]
        inputs = inputs[:, ~np.isnan(inputs[seen]).all(axis=0)]
        model = TabPFNRegressor(
            model_path=os.environ.get("TABPFN_REGRESSOR", "auto"),
            ignore_pretraining_limits=True,
            random_state=seed,
        )
        model.fit(inputs[seen], coded.matrix[seen, coded.owner == j])
        return model.predict(inputs[asked])[:, None]

    coded = Coded(table)
    many = numbers(coded)
    some = {many[i] for i in np.linspace(0, len(many) - 1, 4, dtype=int) if many}
    return coded.decoded(Features(coded).filled(fitted, some))


def low_rank(table: Table, seed: int) -> Guess:
    """SoftImpute of the paper's package; hidden cells choose how much it shrinks."""
    from phcle_paper.baselines.soft_impute import soft_impute

    coded = Coded(table)
    draws = np.random.default_rng(seed).random(table.values.shape)
    hidden = (draws < 0.1)[:, coded.owner] & coded.known
    centred = np.where(coded.known, coded.matrix - coded.means, np.nan)
    shown = np.where(hidden, np.nan, centred)

    def loss(share: float) -> float:
        return float(((soft_impute(shown, share) - centred)[hidden] ** 2).sum())

    found = soft_impute(centred, min(np.geomspace(0.5, 0.01, 10), key=loss))
    return coded.decoded(found + coded.means)


RIVALS: Mapping[str, Callable[[Table, int], Guess]] = {
    "usual": usual,
    "family": family,
    "shrunk family": shrunk_family,
    "nearest": nearest,
    "iterative": iterative,
    "SoftImpute": low_rank,
    "boosting": boosting,
    "extra trees": extra_trees,
    "quantiles": quantiles,
    "TabPFN": tabpfn,
}
"""Every rival by name, the cheap ones first. "quantiles" gives intervals alone."""


def family_surprise(table: Table) -> np.ndarray:
    """How far cells are from the other labels of their group: (labels, columns).

    Numbers in standard deviations; a value that no other label has comes before them.
    """
    coded = Coded(table)
    found = np.full(table.values.shape, -np.inf)
    codes = next(iter(group_codes(table)), np.full(len(found), -1))
    for (j, own, known), group in product(coded.fields(), set(codes[codes >= 0])):
        rows = np.flatnonzero((codes == group) & known)
        for i in rows if len(rows) > 2 else ():
            others = coded.matrix[np.ix_(rows[rows != i], own)]
            value = coded.matrix[i, own]
            if j in coded.scales:
                far = abs(value - others.mean(axis=0)) / (others.std(axis=0) + 1e-9)
                found[i, j] = far[0]
            elif not (others == value).all(axis=1).any():
                found[i, j] = 10 + len(others)
    return found


def boosting_surprise(table: Table) -> np.ndarray:
    """Squared errors of boosting for labels that it has not seen: (labels, columns)."""
    coded = Coded(table)
    features = Features(coded)
    found = np.full(table.values.shape, -np.inf)
    for j, own, known in coded.fields():
        if known.sum() > 2 * FOLDS and len(own) <= MOST_VALUES:
            inputs = features.ways(j)[0][1]
            rows, said = features.out_of_fold(j, inputs, boosted)
            wrong = ((coded.matrix[np.ix_(rows, own)] - said) ** 2).sum(axis=1)
            found[rows, j] = wrong / wrong.mean()
    return found


def broken_dependencies(table: Table) -> np.ndarray:
    """Cells that differ from most labels with the same value elsewhere.

    A column counts as far as it determines the other: by the share of labels that have
    the most common value of their group.
    """
    found = np.zeros(table.values.shape)
    texts = pd.DataFrame(table.values).astype(str).where(table.known)
    for a, b in permutations(texts, 2):
        rows = texts[[a, b]].dropna()
        rows["count"] = rows.groupby([a, b])[a].transform("size")
        groups = rows.groupby(a)["count"]
        sizes, most = groups.transform("size"), groups.transform("max")
        large = groups.agg(["size", "max"]).query("size > 1").sum()
        share = large["max"] / max(large["size"], 1)
        if share > DETERMINED:
            doubt = share * (1 - rows["count"] / most)
            found[rows.index, b] += doubt.where(sizes > 2, 0)
    return np.where(found > 0, found, -np.inf)


SURPRISES: Mapping[str, Callable[[Table], np.ndarray]] = {
    "family": family_surprise,
    "boosting": boosting_surprise,
    "dependencies": broken_dependencies,
}
"""Rules that find wrong cells: the higher, the more likely."""


def without(table: Table, hidden: np.ndarray) -> Table:
    """The table without some cells: (labels, columns)."""
    return replace(table, values=np.where(hidden, None, table.values))
