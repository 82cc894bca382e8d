"""The search space: ranges of options, the kind of hierarchy, weights of contexts.

Only options that matter for the given contexts are searched. If there are several
relational or several descriptive contexts, their weights are searched within that sort:
those of relational contexts sum to one, the largest of the descriptive ones is one. The
balance between the sorts is the option `descriptive_weight`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phcle.contexts.base.context import Context
from phcle.contexts.relational.hierarchy import KINDS
from phcle.errors import OptionError, did_you_mean
from phcle.options import OPTIONS, check_options
from phcle.solver.settings import Setting
from phcle.solver.trials import FIRST_SHRINKAGE

if TYPE_CHECKING:
    import optuna

__all__ = ["KIND", "ROLE", "Choice", "Range", "Space", "space_for"]

KIND = "hierarchy_kind"
ROLE = "role"
WEIGHT = "weight"
"""The range of all shares; the share of one context is called weight:NAME."""


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, drawn uniformly on a logarithmic scale.

    Parameters
    ----------
    low : float
        Smallest value.
    high : float
        Largest value.
    whole : bool
        Whether values are whole numbers.
    """

    low: float
    high: float
    whole: bool = False

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """Draw a number for a trial.

        Parameters
        ----------
        trial : optuna.Trial
            The trial.
        name : str
            Name of the parameter.

        Returns
        -------
        int or float
            The number.
        """
        if self.whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=True)
        return trial.suggest_float(name, self.low, self.high, log=True)

    def holds(self, value: Any) -> bool:
        """Whether a value lies in the range.

        Parameters
        ----------
        value : Any
            The value.

        Returns
        -------
        bool
            True if it does.
        """
        return isinstance(value, (int, float)) and self.low <= value <= self.high


@dataclass(frozen=True)
class Choice:
    """One of several words.

    Parameters
    ----------
    values : tuple of str
        The words.
    """

    values: tuple[str, ...]

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """Draw a word for a trial.

        Parameters
        ----------
        trial : optuna.Trial
            The trial.
        name : str
            Name of the parameter.

        Returns
        -------
        str
            The word.
        """
        return trial.suggest_categorical(name, list(self.values))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of the words.

        Parameters
        ----------
        value : Any
            The value.

        Returns
        -------
        bool
            True if it is.
        """
        return value in self.values


RANGES: dict[str, Range | Choice] = {
    "dim": Range(16, 256, whole=True),
    "negatives": Range(1.0, 100.0),
    "descriptive_weight": Range(0.03, 300.0),
    "sparsity": Range(0.001, 10.0),
    "ridge": Range(0.3, 300.0),
    "context_ridge": Range(0.3, 300.0),
    "shrinkage": Range(0.05, 1.0),
    KIND: Choice(tuple(KINDS)),
    # "family" alone is refused where hidden values leave a family without data.
    ROLE: Choice(("counts", "both")),
    WEIGHT: Range(0.03, 1.0),
}
"""Ranges by default; the default of every option lies inside."""

FIRST = {**vars(Setting()), "shrinkage": FIRST_SHRINKAGE, KIND: "ancestors"}
FIRST[ROLE] = "counts"
"""Where a fit starts to choose. Trials choose nothing, so these are their defaults."""

NEEDS: dict[str, set[str]] = {
    "negatives": {"relational"},
    "context_ridge": {"relational"},
    "sparsity": {"descriptive"},
    "shrinkage": {"descriptive"},
    ROLE: {"relational", "descriptive"},
    "descriptive_weight": {"relational", "descriptive"},
}
"""Kinds of contexts without which an option has no effect, so it is not searched."""


@dataclass(frozen=True)
class Space:
    """Searched parameters and fixed options.

    Parameters
    ----------
    searched : mapping of str to Range or Choice
        Ranges by parameter.
    fixed : mapping of str to Any
        Options that are not searched.
    sorts : mapping of str to sequence of str
        Names of the contexts, by kind.
    """

    searched: Mapping[str, Range | Choice]
    fixed: Mapping[str, Any]
    sorts: Mapping[str, Sequence[str]]

    def suggest(self, trial: optuna.Trial) -> dict[str, Any]:
        """Draw the parameters of a trial.

        Parameters
        ----------
        trial : optuna.Trial
            The trial.

        Returns
        -------
        dict
            Values by parameter.
        """
        return {name: x.suggest(trial, name) for name, x in self.searched.items()}

    def options(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Turn the parameters of a trial into options of `PHCLE`.

        Parameters
        ----------
        parameters : mapping of str to Any
            Values by parameter.

        Returns
        -------
        dict
            Options, and `hierarchy_kind` and `role` if they are searched or fixed. A
            trial chooses nothing by itself.
        """
        prefix = f"{WEIGHT}:"
        found = {"choose": False, **self.fixed}
        found |= {k: v for k, v in parameters.items() if not k.startswith(prefix)}
        if any(name.startswith(prefix) for name in parameters):
            found["weights"] = {}
            for kind, sort in self.sorts.items():
                parts = {name: parameters.get(prefix + name, 1.0) for name in sort}
                # As with equal weights: every table has its own shrinkage.
                total = (sum if kind == "relational" else max)(parts.values())
                found["weights"] |= {x: part / total for x, part in parts.items()}
        return found

    @property
    def defaults(self) -> dict[str, Any]:
        """Parameters of a fit with default options, before it chooses."""
        own = {option.name: option.default for option in OPTIONS} | FIRST
        return {name: own.get(name, 1.0) for name in self.searched}

    def holds(self, parameters: Mapping[str, Any]) -> bool:
        """Whether all parameters lie in their ranges.

        Parameters
        ----------
        parameters : mapping of str to Any
            Values by parameter.

        Returns
        -------
        bool
            True if they do.
        """
        return all(x.holds(parameters[name]) for name, x in self.searched.items())

    def as_text(self) -> dict[str, str]:
        """The space as text, to compare two studies.

        Returns
        -------
        dict of str to str
            Ranges and values by parameter.
        """
        searched = {name: repr(x) for name, x in self.searched.items()}
        return searched | {name: repr(x) for name, x in self.fixed.items()}


def space_for(
    contexts: Sequence[Context], wanted: Mapping[str, Any] | None = None
) -> Space:
    """Make the search space for some contexts.

    Parameters
    ----------
    contexts : sequence of contexts
        The contexts that are fitted.
    wanted : mapping of str to Any, optional
        Changes by option: a pair of numbers (low, high) or a list of words is a range,
        a single value fixes the option. Texts are read as on the command line
        ("0.1:100", "path|walks", "50").

    Returns
    -------
    Space
        The ranges.
    """
    sorts: dict[str, list[str]] = {}
    for context in contexts:
        sorts.setdefault(context.kind, []).append(context.name)
    ranges = {k: v for k, v in RANGES.items() if NEEDS.get(k, set()) <= sorts.keys()}
    if all(context.hierarchy is None for context in contexts):
        del ranges[KIND]
    if not any(context.role_is_open for context in contexts):
        ranges.pop(ROLE, None)
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
    if isinstance(weight, Range) and "weights" not in fixed:
        for sort in sorts.values():
            if len(sort) > 1:
                ranges |= {f"{WEIGHT}:{name}": weight for name in sort}
    if not ranges:
        raise OptionError("nothing is left to search; leave a range open.")
    return Space(ranges, fixed, sorts)


def _read(name: str, value: Any) -> Any:
    """Read a range, a choice of words, or a fixed value."""
    kinds = {option.name: option.kind for option in OPTIONS} | {
        KIND: str,
        ROLE: str,
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
    words = {KIND: tuple(KINDS), ROLE: ("counts", "family", "both", "auto")}.get(name)
    if words is not None:
        if value not in words:
            raise OptionError(
                f"search: {name} must be among {', '.join(words)}. "
                f"Got {value!r} instead.{did_you_mean(str(value), words)}"
            )
    elif name != WEIGHT:
        check_options({name: value})
