"""What is searched: ranges of options, the kind of hierarchy, weights of contexts.

Only what matters for the contexts at hand is searched. Weights are searched where there
are several contexts of one sort (relational or descriptive), as shares of that sort;
the balance between the sorts is the option `descriptive_weight`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phcle.contexts import DescriptiveContext, RelationalContext
from phcle.contexts.base import Context
from phcle.contexts.relational.hierarchy import KINDS
from phcle.errors import OptionError, did_you_mean
from phcle.options import OPTIONS, check_options

if TYPE_CHECKING:
    import optuna

__all__ = ["Choice", "Range", "Space", "space_for"]

KIND = "hierarchy_kind"
WEIGHT = "weight"
"""In a search, the range of all shares; a context's own is called weight:NAME."""


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, tried evenly over their logarithms."""

    low: float
    high: float
    whole: bool = False

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """A number for a trial."""
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=True)
        return trial.suggest_float(name, self.low, self.high, log=True)

    def holds(self, value: Any) -> bool:
        """Whether a value lies inside."""
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    values: tuple[str, ...]

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """A word for a trial."""
        return trial.suggest_categorical(name, list(self.values))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return value in self.values


RANGES: dict[str, Range | Choice] = {
    "dim": Range(16, 256, whole=True),
    "negatives": Range(1.0, 100.0),
    "descriptive_weight": Range(0.03, 300.0),
    "sparsity": Range(0.001, 10.0),
    "ridge": Range(0.3, 300.0),
    "context_ridge": Range(0.3, 300.0),
    KIND: Choice(tuple(KINDS)),
    WEIGHT: Range(0.03, 1.0),
}
"""What is searched unless it is told otherwise; every default lies inside."""


@dataclass(frozen=True)
class Space:
    """Searched parameters by name, and options that stay."""

    searched: Mapping[str, Range | Choice]
    fixed: Mapping[str, Any]
    sorts: Sequence[Sequence[str]]
    """Names of the contexts, by sort."""

    def suggest(self, trial: optuna.Trial) -> dict[str, Any]:
        """Parameters of a trial."""
        return {name: x.suggest(trial, name) for name, x in self.searched.items()}

    def options(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Options of a fit, and the kind of hierarchy, from parameters of a trial."""
        prefix = f"{WEIGHT}:"
        found = {**self.fixed}
        found |= {k: v for k, v in parameters.items() if not k.startswith(prefix)}
        if any(name.startswith(prefix) for name in parameters):
            found["weights"] = {}
            for sort in self.sorts:
                parts = {name: parameters.get(prefix + name, 1.0) for name in sort}
                total = sum(parts.values())
                found["weights"] |= {x: part / total for x, part in parts.items()}
        return found

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters of a fit that is told nothing but what is fixed."""
        own = {option.name: option.default for option in OPTIONS}
        own[KIND] = "ancestors"
        return {name: own.get(name, 1.0) for name in self.searched}

    def holds(self, parameters: Mapping[str, Any]) -> bool:
        """Whether all parameters lie in their ranges."""
        return all(x.holds(parameters[name]) for name, x in self.searched.items())

    def as_text(self) -> dict[str, str]:
        """All of it in plain words, to compare two studies by."""
        searched = {name: repr(x) for name, x in self.searched.items()}
        return searched | {name: repr(x) for name, x in self.fixed.items()}


def space_for(
    contexts: Sequence[Context], wanted: Mapping[str, Any] | None = None
) -> Space:
    """The space of some contexts; `wanted` changes ranges, or fixes what has one value.

    A value is a pair of numbers (low, high), a list of words, a text as the command
    line takes it ("0.1:100", "path|walks", "50"), or a single value.
    """
    relational = [c for c in contexts if isinstance(c, RelationalContext)]
    descriptive = [c for c in contexts if isinstance(c, DescriptiveContext)]
    ranges = dict(RANGES)
    if not relational:
        ranges = {k: v for k, v in ranges.items() if k not in _RELATIONAL_ONLY}
    if not descriptive:
        del ranges["sparsity"]
    if not (relational and descriptive):
        ranges.pop("descriptive_weight", None)
    if not any(context.hierarchy is not None for context in relational):
        ranges.pop(KIND, None)
    weight: Any = ranges.pop(WEIGHT)
    fixed: dict[str, Any] = {}
    for name, value in (wanted or {}).items():
        read = _read(name, value)
        if name == WEIGHT:
            weight = read
        elif isinstance(read, (Range, Choice)):
            ranges[name] = read
        else:
            ranges.pop(name, None)
            fixed[name] = read
    sorts = [[c.name for c in sort] for sort in (relational, descriptive)]
    if isinstance(weight, Range) and "weights" not in fixed:
        for sort in sorts:
            if len(sort) > 1:
                ranges |= {f"{WEIGHT}:{name}": weight for name in sort}
    if not ranges:
        raise OptionError("nothing is left to search; leave a range open.")
    return Space(ranges, fixed, sorts)


_RELATIONAL_ONLY = ("negatives", "context_ridge", KIND)


def _read(name: str, value: Any) -> Any:
    """A range, a choice of words, or the one value that an option shall have."""
    kinds = {option.name: option.kind for option in OPTIONS} | {
        KIND: str,
        WEIGHT: float,
    }
    if name not in kinds:
        raise OptionError(f"search: no option {name!r}.{did_you_mean(name, kinds)}")
    if isinstance(value, str) and ":" in value:
        value = tuple(value.split(":"))
    elif isinstance(value, str) and "|" in value:
        value = value.split("|")
    if isinstance(value, list) and all(isinstance(x, str) for x in value):
        for word in value:
            _check(name, word)
        return Choice(tuple(value))
    if isinstance(value, (tuple, list)):
        return _range(name, value, whole=kinds[name] is int)
    if isinstance(value, str) and kinds[name] in (int, float):
        value = _number(name, value, kinds[name])
    _check(name, value)
    return value


def _range(name: str, ends: Sequence[Any], *, whole: bool) -> Range:
    """A range whose ends are allowed values of the option, both above zero."""
    if len(ends) != 2:
        raise OptionError(f"search: {name} must be LOW:HIGH. Got {ends!r} instead.")
    low, high = (_number(name, end, int if whole else float) for end in ends)
    if not 0 < low <= high < float("inf"):
        raise OptionError(
            f"search: {name} must be LOW:HIGH with 0 < LOW ≤ HIGH. "
            f"Got {low:g}:{high:g} instead."
        )
    _check(name, low)
    return Range(low, high, whole)


def _number(name: str, text: Any, kind: type) -> Any:
    try:
        return kind(text)
    except (TypeError, ValueError):
        raise OptionError(
            f"search: {name} must be a number or LOW:HIGH. Got {text!r} instead."
        ) from None


def _check(name: str, value: Any) -> None:
    """Refuse a value that the option cannot have."""
    if name == KIND:
        if value not in KINDS:
            raise OptionError(
                f"search: {KIND} must be among {', '.join(KINDS)}. "
                f"Got {value!r} instead.{did_you_mean(str(value), KINDS)}"
            )
    elif name != WEIGHT:
        check_options({name: value})
