"""Every option of PHCLE: its name, default, allowed values, meaning and group.

This table is the only place where an option is described. The estimator checks values
against it and takes its documentation from it, the command line makes its flags from
it, and a checkpoint reads here which options may change when a fit is resumed.
"""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from phcle.errors import OptionError, did_you_mean

SMALLEST, LARGEST = 1e-100, 1e100
"""Bounds of an option that is a number above 0, as of values in tables. Products of
options within them stay finite in double precision."""

LARGEST_WHOLE = 2**63 - 1
"""Bound of whole numbers, which NumPy and PyTorch store in 64 bits."""

LARGEST_DIM = 1_000_000
"""Bound of `dim`; with more, even the sizes of arrays overflow."""

LONGEST_SHOWN = 60
"""Characters of a wrong value in a message, which is one line."""

MAY_CHANGE_ON_RESUME = frozenset(
    ("completion", "max_iter", "tol", "backend", "device", "precision", "verbose")
)
"""Options that may differ from the checkpoint's when a fit is resumed: they do not
change which minimum the fit looks for."""


@dataclass(frozen=True)
class Option:
    """One option of PHCLE.

    Attributes
    ----------
    name : str
        Keyword of the estimator; the flag has hyphens in place of underscores.
    default : object
        Value if none is given. A number may also be "auto", or None, if this is.
    group : str
        "main" for the options to try first, "model" for other terms of the objective,
        "solver" for how it is minimised, "computing" for where and how precisely.
    kind : type
        Type on the command line.
    allowed : tuple
        Least value, and the largest if it is not `LARGEST`; or all words.
    help : str
        Meaning, in one sentence.
    when : str
        When to change it.
    """

    name: str
    default: Any
    group: str
    kind: type
    allowed: tuple[Any, ...] = ()
    help: str = ""
    when: str = ""

    def described(self, help: str, when: str) -> Option:
        """Add what it means.

        Parameters
        ----------
        help : str
            Meaning, in one sentence.
        when : str
            When to change it.

        Returns
        -------
        Option
            The whole option.
        """
        return replace(self, help=help, when=when)

    def read(self, value: Any) -> Any:
        """Return an allowed value with NumPy's numbers as Python's.

        Parameters
        ----------
        value : object
            Any value; ValueError, TypeError or OverflowError if it is not allowed.

        Returns
        -------
        object
            A value that JSON can store.
        """
        if self.kind is str and isinstance(value, Mapping) and self.takes_mapping:
            return {str(name): _plain(x) for name, x in value.items()}
        if value is None or isinstance(value, str):
            if value not in (*self.choices, *self.special):
                raise ValueError
            return value
        is_truth = type(value).__name__ == "bool"  # of Python or NumPy
        if self.kind is str or is_truth != (self.kind is bool):
            raise ValueError
        if self.kind is bool:
            return bool(value)
        number = operator.index(value) if self.kind is int else _plain(value)
        if not self.bounds[0] <= number <= self.bounds[1]:
            raise ValueError
        return number

    @property
    def choices(self) -> tuple[str, ...]:
        """All allowed words."""
        return self.allowed if self.kind is str else ()

    @property
    def special(self) -> tuple[Any, ...]:
        """What a number may be beside numbers."""
        is_number = self.kind in (int, float)
        return (self.default,) if is_number and self.default in ("auto", None) else ()

    @property
    def takes_mapping(self) -> bool:
        """Whether it may be a mapping from contexts; each value is checked there."""
        return self.name == "weights"

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest number."""
        most = LARGEST_WHOLE if self.kind is int else LARGEST
        return self.allowed[0], (*self.allowed, most)[1]

    @property
    def must_be(self) -> str:
        """Allowed values, in words."""
        if self.kind is bool:
            return "True or False"
        if self.takes_mapping:
            words = ", ".join(map(repr, self.choices))
            return f"{words}, or a mapping from every context to its weight"
        if self.kind is str:
            return f"one of {', '.join(map(repr, self.choices))}"
        least, most = self.bounds
        found = f"a number from {least:g} to {most:g}"
        if self.kind is int:
            found = f"a whole number from {least} to {most:,}"
        return found + "".join(f", or {value!r}" for value in self.special)

    @property
    def may_change_on_resume(self) -> bool:
        """Whether a resumed fit may have another value than the checkpoint."""
        return self.name in MAY_CHANGE_ON_RESUME

    @property
    def type_text(self) -> str:
        """Type and default as NumPy docstrings write them."""
        kind = self.kind.__name__ + (' or "auto"' if "auto" in self.special else "")
        if self.takes_mapping:
            kind = "str or mapping of str to float"
        elif self.choices:
            kind = "{" + ", ".join(map(repr, self.choices)) + "}"
        return f"{kind}, default {self.default!r}"


def is_amount(value: Any) -> bool:
    """Whether this is a number from 0 to `LARGEST`.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    bool
        False also for what is no number.

    Examples
    --------
    >>> is_amount(0.5), is_amount("0.5"), is_amount(10**400)
    (True, False, False)
    """
    if type(value).__name__ == "bool" or isinstance(value, str):
        return False
    try:
        return 0 <= float(value) <= LARGEST
    except (TypeError, ValueError, OverflowError):
        return False


def _plain(value: Any) -> Any:
    """An amount as a number of Python; other values as they are."""
    is_plain = type(value) in (int, float) or not is_amount(value)
    return value if is_plain else float(value)


OPTIONS: tuple[Option, ...] = (
    # Those to try first.
    Option("dim", "auto", "main", int, (1, LARGEST_DIM)).described(
        "Length of a label's vector; auto: up to 200 beside tables, else 100.",
        "Lower it to save time and space, which grow with it.",
    ),
    Option("negatives", 10.0, "main", float, (SMALLEST,)).described(
        "k: expected chance pairs per count.",
        "Raise it to give weight only to strong associations in relational contexts.",
    ),
    Option("descriptive_weight", 3.0, "main", float, (0.0,)).described(
        "λ1: weight of descriptive against relational contexts.",
        "Raise it if neighbours should share attributes rather than relatives.",
    ),
    Option("ridge", 10.0, "main", float, (SMALLEST,)).described(
        "λ3: keeps label and description vectors short.",
        "Raise it against overfitting with few or noisy values, lower it for large, "
        "clean data.",
    ),
    Option("weights", "equal", "main", str, ("equal", "auto", "nie")).described(
        "α, β: 'equal', 'auto' (by what each context adds to the prediction of hidden "
        "cells) or 'nie' (as in the paper).",
        "Use 'auto' with many contexts of unknown quality, at the cost of one short "
        "fit for each, or a mapping such as {'tree': 1, 'tags': 0.5} to set them "
        "yourself.",
    ),
    Option("random_state", 0, "main", int, (0,)).described(
        "Seed; the same seed gives the same bits.",
        "Try several seeds to see how much a result depends on chance.",
    ),
    # Other terms of the objective, and what is done with it.
    Option("match", "safe", "model", str, ("safe", "exact")).described(
        "safe: labels that differ only in case, spaces or Unicode form are one.",
        "Use 'exact' if US and us, or Polish and polish, are two labels in different "
        "contexts.",
    ),
    Option("choose", True, "model", bool).described(
        "Choose what is 'auto' by how well hidden cells of tables are predicted.",
        "Turn it off to save time, or to keep the defaults of the paper's model.",
    ),
    Option("shrinkage", "auto", "model", float, (SMALLEST,)).described(
        "How strongly tables are shrunk, in units of what noise would reach; auto: "
        "chosen for each table, or as the ridge does.",
        "Raise it against overfitting; about 1 leaves nothing of pure noise.",
    ),
    Option("sparsity", 0.1, "model", float, (0.0,)).described(
        "λ2: pushes entries of U to zero; 0 is PHCLE_NoSp.",
        "Raise it for description vectors with few non-zero entries.",
    ),
    Option("context_ridge", 10.0, "model", float, (SMALLEST,)).described(
        "λ4: keeps the vectors of relational columns short.",
        "Change it together with `ridge`.",
    ),
    Option("stiffness", 1.0, "model", float, (SMALLEST,)).described(
        "γ: how strongly the nodes of a family hold together, relative to λ3.",
        "Raise it if families should differ less, lower it if they should differ "
        "more. It matters only for a hierarchy or graph in the role of a family.",
    ),
    Option("complete_only", False, "model", bool).described(
        "Keep only labels that every context knows (PHCLE_FC).",
        "Use it to compare with methods that need complete contexts.",
    ),
    Option("completion", "full", "model", str, ("full", "fast", "none")).described(
        "Predict the gaps of tables: by a team of readers, by forests alone, or not "
        "at all.",
        "Use 'fast' or 'none' to save time if you need less of the gaps, or nothing.",
    ),
    # How it is minimised.
    Option("solver", "mm", "solver", str, ("mm", "paper")).described(
        "Majorise-minimise, or the paper's gradient descent.",
        "Use 'paper' only to reproduce the paper; it is much slower.",
    ),
    Option("mode", "auto", "solver", str, ("auto", "exact", "sampled")).described(
        "All pairs in every sweep, or a sample of columns; auto goes by size.",
        "Use 'exact' for the exact minimum of a large context, if you can wait.",
    ),
    Option("step_size", None, "solver", float, (SMALLEST,)).described(
        "Step of solver='paper' (1e-5 in the paper); left out, the best for each.",
        "Set it only to reproduce the paper.",
    ),
    Option("init", "spectral", "solver", str, ("spectral", "random", "ones")).described(
        "Where the factors start.",
        "Use 'random' to see how much a result depends on the start.",
    ),
    Option("max_iter", 200, "solver", int, (1,)).described(
        "Sweeps at most.",
        "Raise it if a warning says that the fit has not converged.",
    ),
    Option("tol", 0.001, "solver", float, (0.0,)).described(
        "Stop when a sweep lowers objective − floor by less than this share.",
        "Lower it for a more exact minimum, at the cost of more sweeps.",
    ),
    # Where, and how precisely.
    Option(
        "backend", "auto", "computing", str, ("auto", "numpy", "numba", "torch")
    ).described(
        "NumPy, NumPy with compiled loops, or PyTorch; auto: by size and device.",
        "Set it if you want the same back end on every machine.",
    ),
    Option("device", "auto", "computing", str, ("auto", "cpu", "cuda")).described(
        "Where torch computes.",
        "Use 'cpu' to leave the GPU to other programs.",
    ),
    Option("dtype", "float32", "computing", str, ("float32", "float64")).described(
        "Precision of the fit.",
        "Use 'float64' with a very small `tol`.",
    ),
    Option("precision", "full", "computing", str, ("full", "mixed")).described(
        "Large products in dtype, or in half precision with float32 sums (torch).",
        "Use 'mixed' for speed with very many labels on a GPU like an H100.",
    ),
    Option("verbose", False, "computing", bool).described(
        "Show a progress bar.",
        "Turn it on for fits of more than a few seconds.",
    ),
)
"""All options; those to try first come first."""

DEFAULTS: Mapping[str, Any] = {option.name: option.default for option in OPTIONS}
"""Default of every option, by name."""


def check_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse an unknown option, or a value that the table does not allow.

    Parameters
    ----------
    values : mapping of str to object
        Options by name; not necessarily all.

    Returns
    -------
    dict of str to object
        The same options, with NumPy's numbers as Python's.

    Examples
    --------
    >>> import numpy as np
    >>> check_options({"dim": np.int64(3)})
    {'dim': 3}
    """
    known, found = {option.name: option for option in OPTIONS}, {}
    for name, value in values.items():
        if name not in known:
            raise OptionError(f"no option {name!r}.{did_you_mean(name, known)}")
        option = known[name]
        try:
            found[name] = option.read(value)
        except (TypeError, ValueError, OverflowError):
            is_word = isinstance(value, str)
            hint = did_you_mean(value, option.choices) if is_word else ""
            raise OptionError(
                f"The {name!r} option must be {option.must_be}. "
                f"Got {shortened(value)} instead.{hint}"
            ) from None
    return found


TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def option_value(name: str, text: str) -> Any:
    """Turn the text that a shell gave for an option into a value to check.

    Parameters
    ----------
    name : str
        The option; an unknown one is refused by `check_options`.
    text : str
        The text; weights are written as `tree=1,looks=0.5`.

    Returns
    -------
    object
        The value; the text itself if it can be none.

    Examples
    --------
    >>> option_value("weights", "tree=1,looks=0.5"), option_value("dim", "auto")
    ({'tree': 1.0, 'looks': 0.5}, 'auto')
    """
    kind = {option.name: option.kind for option in OPTIONS}.get(name, str)
    if name == "weights" and "=" in text:
        pairs = [piece.rpartition("=") for piece in text.split(",")]
        try:
            return {context.strip(): float(number) for context, _, number in pairs}
        except ValueError:
            raise OptionError(
                f"weights must look like tree=1,looks=0.5. Got {text!r} instead."
            ) from None
    try:
        return TRUTH.get(text.lower(), text) if kind is bool else kind(text)
    except ValueError:
        return text


def shortened(value: Any) -> str:
    """Write a value as Python does, cut if it is long.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str
        At most one line.

    Examples
    --------
    >>> shortened(10**5000)
    'a number of 16,610 bits'
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes no more than 4,300 digits
        return f"a number of {value.bit_length():,} bits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def parameters_text(*groups: str) -> str:
    """Entries of the options of some groups, as a NumPy docstring lists them.

    Parameters
    ----------
    *groups : str
        Groups of options; see `Option`.

    Returns
    -------
    str
        Name, type and default, meaning, and when to change it, of each option.

    Examples
    --------
    >>> print(parameters_text("main").splitlines()[0])
    dim : int or "auto", default 'auto'
    """
    entries = []
    for option in OPTIONS:
        if option.group in groups:
            text = textwrap.fill(f"{option.help} {option.when}", 78)
            entries.append(
                f"{option.name} : {option.type_text}\n{textwrap.indent(text, '    ')}"
            )
    return "\n".join(entries)
