"""Every option of PHCLE: its name, default, allowed values, meaning and group.

This table is the only place where an option is described. The estimator checks values
against it and takes its documentation from it, the command line makes its flags from
it, and a checkpoint reads here which options may change when a fit is resumed.
"""

from __future__ import annotations

import math
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from phcle.errors import OptionError, did_you_mean

Check = Callable[[Any], bool]

PLAIN = (bool, int, float, str, type(None))
"""Types that JSON can store; other numbers, such as NumPy's, are converted to these."""

SMALLEST, LARGEST = 1e-100, 1e100
"""Bounds of an option that is a number above 0, as of values in tables. Products of
options within them stay finite in double precision."""

LARGEST_WHOLE = 2**63 - 1
"""Bound of whole numbers, which NumPy and PyTorch store in 64 bits."""

LARGEST_DIM = 1_000_000
"""Bound of `dim`; with more, even the sizes of arrays overflow."""

LONGEST_SHOWN = 60
"""Characters of a wrong value in a message, which is one line."""


@dataclass(frozen=True)
class Option:
    """One option of PHCLE.

    Attributes
    ----------
    name : str
        Keyword of the estimator; the flag has hyphens in place of underscores.
    default : object
        Value if none is given.
    kind : type
        Type on the command line.
    must_be : str
        Allowed values, in words.
    check : callable
        Whether a value is allowed.
    help : str
        Meaning, in one sentence.
    when : str
        When to change it.
    group : str
        "main" for the options to try first, "model" for other terms of the objective,
        "solver" for how it is minimised, "computing" for where and how precisely.
    may_change_on_resume : bool
        Whether a resumed fit may have another value than the checkpoint. True for what
        does not change which minimum the fit looks for.
    choices : tuple of str
        All allowed values, where they are a few words.
    can_be_auto : bool
        Whether "auto" is allowed, too.
    """

    name: str
    default: Any
    kind: type
    must_be: str
    check: Check
    help: str
    when: str
    group: str
    may_change_on_resume: bool = False
    choices: tuple[str, ...] = ()
    can_be_auto: bool = False

    def plain(self, value: Any) -> Any:
        """Convert numbers of other libraries to Python's, which JSON can store.

        Parameters
        ----------
        value : object
            Any value, allowed or not.

        Returns
        -------
        object
            The same value as a Python number; unchanged if it is plain or not allowed.

        Examples
        --------
        >>> import numpy as np
        >>> OPTIONS[0].plain(np.int64(3))
        3
        """
        if type(value) in PLAIN or not self.check(value):
            return value
        if not isinstance(value, Mapping):
            return _plain_number(value, self.kind)
        if type(value) is dict and all(type(x) in PLAIN for x in value.values()):
            return value  # the same object: scikit-learn's `clone` compares by identity
        return {str(name): _plain_number(x, float) for name, x in value.items()}

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


def _plain_number(value: Any, kind: type) -> Any:
    if type(value) in PLAIN or not (_is_number(value) or _is_truth(value)):
        return value
    return operator.index(value) if kind is int else kind(value)


def _is_truth(value: Any) -> bool:
    """Whether this is True or False, of Python or NumPy, which has the same name."""
    return type(value).__name__ == "bool"  # importing NumPy here would take long


def _is_number(value: Any) -> bool:
    """Whether this is one finite number, of Python or another library."""
    if _is_truth(value) or isinstance(value, str):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _whole(least: int, most: int = LARGEST_WHOLE) -> tuple[type, str, Check]:
    def check(value: Any) -> bool:
        try:
            return not _is_truth(value) and least <= operator.index(value) <= most
        except TypeError:
            return False

    return int, f"a whole number, {least} or more", check


def _number(*, above_zero: bool = False) -> tuple[type, str, Check]:
    if not above_zero:
        return float, "a number, 0 or more", is_amount
    return float, "a number above 0", lambda v: is_amount(v) and float(v) >= SMALLEST


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
    return _is_number(value) and 0 <= float(value) <= LARGEST


def _truth() -> tuple[type, str, Check]:
    return bool, "True or False", _is_truth


def _optional(kind: tuple[type, str, Check]) -> tuple[type, str, Check]:
    return kind[0], f"{kind[1]}, or None", lambda v: v is None or kind[2](v)


def _or_auto(kind: tuple[type, str, Check]) -> dict[str, Any]:
    """A number, or "auto" for what the fit chooses."""
    return {
        "kind": kind[0],
        "must_be": f"{kind[1]}, or 'auto'",
        "check": lambda v: v == "auto" if isinstance(v, str) else kind[2](v),
        "can_be_auto": True,
    }


def _one_of(*choices: str) -> dict[str, Any]:
    return {
        "kind": str,
        "must_be": f"one of {', '.join(map(repr, choices))}",
        "check": lambda value: isinstance(value, str) and value in choices,
        "choices": choices,
    }


def _is_weights(value: Any) -> bool:
    is_word = isinstance(value, str) and value in ("equal", "auto", "nie")
    return is_word or isinstance(value, Mapping)


OPTIONS: tuple[Option, ...] = (
    Option(
        "dim",
        "auto",
        help="Length of a label's vector; auto: up to 200 beside tables, else 100.",
        when="Lower it to save time and space, which grow with it.",
        group="main",
        **_or_auto(_whole(1, LARGEST_DIM)),
    ),
    Option(
        "negatives",
        "auto",
        help="k: expected chance pairs per count; auto: 10.",
        when="Raise it to give weight only to strong associations in relational "
        "contexts.",
        group="main",
        **_or_auto(_number(above_zero=True)),
    ),
    Option(
        "descriptive_weight",
        "auto",
        help="λ1: weight of descriptive against relational contexts; auto: 3.",
        when="Raise it if neighbours should share attributes rather than relatives.",
        group="main",
        **_or_auto(_number()),
    ),
    Option(
        "ridge",
        10.0,
        *_number(above_zero=True),
        "λ3: keeps label and description vectors short.",
        "Raise it against overfitting with few or noisy values, lower it for large, "
        "clean data.",
        "main",
    ),
    Option(
        "weights",
        "equal",
        str,
        "'equal', 'auto', 'nie', or a mapping from every context to its weight",
        _is_weights,
        "α, β: 'equal', 'auto' (by what each context adds to the prediction of hidden "
        "cells) or 'nie' (as in the paper).",
        "Use 'auto' with many contexts of unknown quality, at the cost of one short "
        "fit for each, or a mapping such as {'tree': 1, 'tags': 0.5} to set them "
        "yourself.",
        "main",
    ),
    Option(
        "random_state",
        0,
        *_whole(0),
        "Seed; the same seed gives the same bits.",
        "Try several seeds to see how much a result depends on chance.",
        "main",
    ),
    Option(
        "match",
        "safe",
        help="safe: labels that differ only in case, spaces or Unicode form are one.",
        when="Use 'exact' if US and us, or Polish and polish, are two labels in "
        "different contexts.",
        group="model",
        **_one_of("safe", "exact"),
    ),
    Option(
        "choose",
        True,
        *_truth(),
        "Choose what is 'auto' by how well hidden cells of tables are predicted.",
        "Turn it off to save time, or to keep the defaults of the paper's model.",
        "model",
    ),
    Option(
        "shrinkage",
        "auto",
        help="How strongly tables are shrunk, in units of what noise would reach; "
        "auto: chosen for each table, or as the ridge does.",
        when="Raise it against overfitting; about 1 leaves nothing of pure noise.",
        group="model",
        **_or_auto(_number(above_zero=True)),
    ),
    Option(
        "sparsity",
        0.1,
        *_number(),
        "λ2: pushes entries of U to zero; 0 is PHCLE_NoSp.",
        "Raise it for description vectors with few non-zero entries.",
        "model",
    ),
    Option(
        "context_ridge",
        10.0,
        *_number(above_zero=True),
        "λ4: keeps the vectors of relational columns short.",
        "Change it together with `ridge`.",
        "model",
    ),
    Option(
        "stiffness",
        "auto",
        help="γ: how strongly the nodes of a family hold together, relative to λ3; "
        "auto: 1.",
        when="Raise it if families should differ less, lower it if they should differ "
        "more. It matters only for a hierarchy or graph in the role of a family.",
        group="model",
        **_or_auto(_number(above_zero=True)),
    ),
    Option(
        "complete_only",
        False,
        *_truth(),
        "Keep only labels that every context knows (PHCLE_FC).",
        "Use it to compare with methods that need complete contexts.",
        "model",
    ),
    Option(
        "completion",
        "full",
        help="Predict the gaps of tables: by a team of readers, by forests alone, or "
        "not at all.",
        when="Use 'fast' or 'none' to save time if you need less of the gaps, or "
        "nothing.",
        group="model",
        may_change_on_resume=True,
        **_one_of("full", "fast", "none"),
    ),
    Option(
        "solver",
        "mm",
        help="Majorise-minimise, or the paper's gradient descent.",
        when="Use 'paper' only to reproduce the paper; it is much slower.",
        group="solver",
        **_one_of("mm", "paper"),
    ),
    Option(
        "mode",
        "auto",
        help="All pairs in every sweep, or a sample of columns; auto goes by size.",
        when="Use 'exact' for the exact minimum of a large context, if you can wait.",
        group="solver",
        **_one_of("auto", "exact", "sampled"),
    ),
    Option(
        "step_size",
        None,
        *_optional(_number(above_zero=True)),
        "Step of solver='paper' (1e-5 in the paper); left out, the best for each.",
        "Set it only to reproduce the paper.",
        "solver",
    ),
    Option(
        "init",
        "spectral",
        help="Where the factors start.",
        when="Use 'random' to see how much a result depends on the start.",
        group="solver",
        **_one_of("spectral", "random", "ones"),
    ),
    Option(
        "max_iter",
        200,
        *_whole(1),
        "Sweeps at most.",
        "Raise it if a warning says that the fit has not converged.",
        "solver",
        may_change_on_resume=True,
    ),
    Option(
        "tol",
        1e-3,
        *_number(),
        "Stop when a sweep lowers objective − floor by less than this share.",
        "Lower it for a more exact minimum, at the cost of more sweeps.",
        "solver",
        may_change_on_resume=True,
    ),
    Option(
        "backend",
        "auto",
        help="NumPy, NumPy with compiled loops, or PyTorch; auto: by size and device.",
        when="Set it if you want the same back end on every machine.",
        group="computing",
        may_change_on_resume=True,
        **_one_of("auto", "numpy", "numba", "torch"),
    ),
    Option(
        "device",
        "auto",
        help="Where torch computes.",
        when="Use 'cpu' to leave the GPU to other programs.",
        group="computing",
        may_change_on_resume=True,
        **_one_of("auto", "cpu", "cuda"),
    ),
    Option(
        "dtype",
        "float32",
        help="Precision of the fit.",
        when="Use 'float64' with a very small `tol`.",
        group="computing",
        **_one_of("float32", "float64"),
    ),
    Option(
        "precision",
        "full",
        help="Large products in dtype, or in half precision with float32 sums (torch).",
        when="Use 'mixed' for speed with very many labels on a GPU like an H100.",
        group="computing",
        may_change_on_resume=True,
        **_one_of("full", "mixed"),
    ),
    Option(
        "verbose",
        False,
        *_truth(),
        "Show a progress bar.",
        "Turn it on for fits of more than a few seconds.",
        "computing",
        may_change_on_resume=True,
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
    known = {option.name: option for option in OPTIONS}
    for name, value in values.items():
        if name not in known:
            raise OptionError(f"no option {name!r}.{did_you_mean(name, known)}")
        option = known[name]
        if not option.check(value):
            if isinstance(value, str):
                hint = did_you_mean(value, option.choices)
            else:
                hint = _bounds_passed(option, value)
            raise OptionError(
                f"The {name!r} option must be {option.must_be}. "
                f"Got {shortened(value)} instead.{hint}"
            )
    return {name: known[name].plain(value) for name, value in values.items()}


def _bounds_passed(option: Option, value: Any) -> str:
    """Which bound a number passes that is allowed otherwise; nothing for others."""
    if _is_truth(value) or option.kind not in (int, float):
        return ""
    try:
        if option.kind is int:
            most = LARGEST_DIM if option.name == "dim" else LARGEST_WHOLE
            return f" The largest is {most:,}." if operator.index(value) > most else ""
        if value > LARGEST and value != math.inf:
            return f" The largest is {LARGEST:g}."
        return f" The smallest is {SMALLEST:g}." if 0 < value < SMALLEST else ""
    except (TypeError, ValueError):
        return ""


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
