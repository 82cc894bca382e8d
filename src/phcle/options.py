"""Every option of PHCLE: its name, default, allowed values, meaning and group.

This table is the only place where an option is described. The estimator checks values
against it and takes its documentation from it, the command line makes its flags from
it, and a checkpoint reads here which options may change when a fit is resumed.
"""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Callable, Mapping
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
        Value if none is given.
    group : str
        "main" for the options to try first, "model" for other terms of the objective,
        "solver" for how it is minimised, "computing" for where and how precisely.
    kind : type
        Type on the command line.
    must_be : str
        Allowed values, in words.
    read : callable
        Returns an allowed value with NumPy's numbers as Python's, which JSON can store;
        raises ValueError, TypeError or OverflowError for others.
    choices : tuple of str
        All allowed values, where they are a few words.
    can_be_auto : bool
        Whether "auto" is allowed, too.
    help : str
        Meaning, in one sentence.
    when : str
        When to change it.
    """

    name: str
    default: Any
    group: str
    kind: type
    must_be: str
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()
    can_be_auto: bool = False
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

    @property
    def may_change_on_resume(self) -> bool:
        """Whether a resumed fit may have another value than the checkpoint."""
        return self.name in MAY_CHANGE_ON_RESUME

    @property
    def type_text(self) -> str:
        """Type and default as NumPy docstrings write them."""
        if self.choices:
            kind = "{" + ", ".join(map(repr, self.choices)) + "}"
        elif self.name == "weights":
            kind = "str or mapping of str to float"
        else:
            kind = self.kind.__name__ + (' or "auto"' if self.can_be_auto else "")
        return f"{kind}, default {self.default!r}"


def _is_truth(value: Any) -> bool:
    """Whether this is True or False, of Python or NumPy, which has the same name."""
    return type(value).__name__ == "bool"  # importing NumPy here would take long


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
    if _is_truth(value) or isinstance(value, str):
        return False
    try:
        return 0 <= float(value) <= LARGEST
    except (TypeError, ValueError, OverflowError):
        return False


def _plain(value: Any) -> Any:
    """An amount as a number of Python."""
    return value if type(value) in (int, float) else float(value)


def _rule(
    kind: type, must_be: str, read: Callable[[Any], Any], *, auto: bool = False
) -> dict[str, Any]:
    """What an option may be, and perhaps "auto" for what the fit chooses."""
    if not auto:
        return {"kind": kind, "must_be": must_be, "read": read}

    def read_or_auto(value: Any) -> Any:
        return value if isinstance(value, str) and value == "auto" else read(value)

    found = _rule(kind, f"{must_be}, or 'auto'", read_or_auto)
    return {**found, "can_be_auto": True}


def _whole(least: int, most: int = LARGEST_WHOLE, *, auto: bool = False) -> Any:
    def read(value: Any) -> int:
        number = operator.index(value)
        if _is_truth(value) or not least <= number <= most:
            raise ValueError
        return number

    return _rule(int, f"a whole number from {least} to {most:,}", read, auto=auto)


def _number(least: float = 0.0, *, auto: bool = False, none: bool = False) -> Any:
    def read(value: Any) -> Any:
        if none and value is None:
            return None
        if not is_amount(value) or float(value) < least:
            raise ValueError
        return _plain(value)

    must_be = f"a number from {least:g} to {LARGEST:g}{', or None' * none}"
    return _rule(float, must_be, read, auto=auto)


def _truth() -> Any:
    def read(value: Any) -> bool:
        if not _is_truth(value):
            raise ValueError
        return bool(value)

    return _rule(bool, "True or False", read)


def _one_of(*choices: str) -> Any:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError
        return value

    found = _rule(str, f"one of {', '.join(map(repr, choices))}", read)
    return {**found, "choices": choices}


def _weights() -> Any:
    def read(value: Any) -> Any:
        if isinstance(value, Mapping):  # each is checked beside its context
            return {
                str(name): _plain(x) if is_amount(x) else x for name, x in value.items()
            }
        if not isinstance(value, str) or value not in ("equal", "auto", "nie"):
            raise ValueError
        return value

    words = "'equal', 'auto', 'nie', or a mapping from every context to its weight"
    return _rule(str, words, read)


OPTIONS: tuple[Option, ...] = (
    # Those to try first.
    Option("dim", "auto", "main", **_whole(1, LARGEST_DIM, auto=True)).described(
        "Length of a label's vector; auto: up to 200 beside tables, else 100.",
        "Lower it to save time and space, which grow with it.",
    ),
    Option("negatives", "auto", "main", **_number(SMALLEST, auto=True)).described(
        "k: expected chance pairs per count; auto: 10.",
        "Raise it to give weight only to strong associations in relational contexts.",
    ),
    Option("descriptive_weight", "auto", "main", **_number(auto=True)).described(
        "λ1: weight of descriptive against relational contexts; auto: 3.",
        "Raise it if neighbours should share attributes rather than relatives.",
    ),
    Option("ridge", 10.0, "main", **_number(SMALLEST)).described(
        "λ3: keeps label and description vectors short.",
        "Raise it against overfitting with few or noisy values, lower it for large, "
        "clean data.",
    ),
    Option("weights", "equal", "main", **_weights()).described(
        "α, β: 'equal', 'auto' (by what each context adds to the prediction of hidden "
        "cells) or 'nie' (as in the paper).",
        "Use 'auto' with many contexts of unknown quality, at the cost of one short "
        "fit for each, or a mapping such as {'tree': 1, 'tags': 0.5} to set them "
        "yourself.",
    ),
    Option("random_state", 0, "main", **_whole(0)).described(
        "Seed; the same seed gives the same bits.",
        "Try several seeds to see how much a result depends on chance.",
    ),
    # Other terms of the objective, and what is done with it.
    Option("match", "safe", "model", **_one_of("safe", "exact")).described(
        "safe: labels that differ only in case, spaces or Unicode form are one.",
        "Use 'exact' if US and us, or Polish and polish, are two labels in different "
        "contexts.",
    ),
    Option("choose", True, "model", **_truth()).described(
        "Choose what is 'auto' by how well hidden cells of tables are predicted.",
        "Turn it off to save time, or to keep the defaults of the paper's model.",
    ),
    Option("shrinkage", "auto", "model", **_number(SMALLEST, auto=True)).described(
        "How strongly tables are shrunk, in units of what noise would reach; auto: "
        "chosen for each table, or as the ridge does.",
        "Raise it against overfitting; about 1 leaves nothing of pure noise.",
    ),
    Option("sparsity", 0.1, "model", **_number()).described(
        "λ2: pushes entries of U to zero; 0 is PHCLE_NoSp.",
        "Raise it for description vectors with few non-zero entries.",
    ),
    Option("context_ridge", 10.0, "model", **_number(SMALLEST)).described(
        "λ4: keeps the vectors of relational columns short.",
        "Change it together with `ridge`.",
    ),
    Option("stiffness", "auto", "model", **_number(SMALLEST, auto=True)).described(
        "γ: how strongly the nodes of a family hold together, relative to λ3; auto: 1.",
        "Raise it if families should differ less, lower it if they should differ "
        "more. It matters only for a hierarchy or graph in the role of a family.",
    ),
    Option("complete_only", False, "model", **_truth()).described(
        "Keep only labels that every context knows (PHCLE_FC).",
        "Use it to compare with methods that need complete contexts.",
    ),
    Option("completion", "full", "model", **_one_of("full", "fast", "none")).described(
        "Predict the gaps of tables: by a team of readers, by forests alone, or not "
        "at all.",
        "Use 'fast' or 'none' to save time if you need less of the gaps, or nothing.",
    ),
    # How it is minimised.
    Option("solver", "mm", "solver", **_one_of("mm", "paper")).described(
        "Majorise-minimise, or the paper's gradient descent.",
        "Use 'paper' only to reproduce the paper; it is much slower.",
    ),
    Option("mode", "auto", "solver", **_one_of("auto", "exact", "sampled")).described(
        "All pairs in every sweep, or a sample of columns; auto goes by size.",
        "Use 'exact' for the exact minimum of a large context, if you can wait.",
    ),
    Option("step_size", None, "solver", **_number(SMALLEST, none=True)).described(
        "Step of solver='paper' (1e-5 in the paper); left out, the best for each.",
        "Set it only to reproduce the paper.",
    ),
    Option(
        "init", "spectral", "solver", **_one_of("spectral", "random", "ones")
    ).described(
        "Where the factors start.",
        "Use 'random' to see how much a result depends on the start.",
    ),
    Option("max_iter", 200, "solver", **_whole(1)).described(
        "Sweeps at most.",
        "Raise it if a warning says that the fit has not converged.",
    ),
    Option("tol", 0.001, "solver", **_number()).described(
        "Stop when a sweep lowers objective − floor by less than this share.",
        "Lower it for a more exact minimum, at the cost of more sweeps.",
    ),
    # Where, and how precisely.
    Option(
        "backend", "auto", "computing", **_one_of("auto", "numpy", "numba", "torch")
    ).described(
        "NumPy, NumPy with compiled loops, or PyTorch; auto: by size and device.",
        "Set it if you want the same back end on every machine.",
    ),
    Option("device", "auto", "computing", **_one_of("auto", "cpu", "cuda")).described(
        "Where torch computes.",
        "Use 'cpu' to leave the GPU to other programs.",
    ),
    Option("dtype", "float32", "computing", **_one_of("float32", "float64")).described(
        "Precision of the fit.",
        "Use 'float64' with a very small `tol`.",
    ),
    Option("precision", "full", "computing", **_one_of("full", "mixed")).described(
        "Large products in dtype, or in half precision with float32 sums (torch).",
        "Use 'mixed' for speed with very many labels on a GPU like an H100.",
    ),
    Option("verbose", False, "computing", **_truth()).described(
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
