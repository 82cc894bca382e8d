"""Every option of PHCLE once: name, default, what it may be, and what it does.

The estimator checks against this table, the command line makes its flags from it, and a
test compares both, and the documentation, with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from phcle.errors import OptionError, did_you_mean

__all__ = ["OPTIONS", "Option", "check_options"]

Check = Callable[[Any], bool]


@dataclass(frozen=True)
class Option:
    """One option; `kind` is the type on the command line."""

    name: str
    default: Any
    kind: type
    must_be: str
    check: Check
    help: str
    choices: tuple[str, ...] = ()


def _whole(least: int) -> tuple[type, str, Check]:
    def check(value: Any) -> bool:
        is_int = hasattr(value, "__index__") and not isinstance(value, bool)
        return is_int and int(value) >= least

    return int, f"a whole number, {least} or more", check


def _real(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) or hasattr(value, "__float__")
    ) and math.isfinite(float(value))


def _number(*, above_zero: bool = False) -> tuple[type, str, Check]:
    if above_zero:
        return float, "a number above 0", lambda v: _real(v) and float(v) > 0
    return float, "a number, 0 or more", lambda v: _real(v) and float(v) >= 0


def _truth() -> tuple[type, str, Check]:
    return bool, "True or False", lambda value: isinstance(value, bool)


def _optional(kind: tuple[type, str, Check]) -> tuple[type, str, Check]:
    return kind[0], f"{kind[1]}, or None", lambda v: v is None or kind[2](v)


def _one_of(name: str, default: str, choices: tuple[str, ...], help_: str) -> Option:
    words = ", ".join(map(repr, choices))
    return Option(
        name,
        default,
        str,
        f"one of {words}",
        lambda value: isinstance(value, str) and value in choices,
        help_,
        choices,
    )


def _is_weights(value: Any) -> bool:
    return (
        value in ("equal", "auto", "nie")
        if isinstance(value, str)
        else isinstance(value, Mapping)
    )


OPTIONS: tuple[Option, ...] = (
    Option("dim", 100, *_whole(1), "Length of a label's vector."),
    Option(
        "negatives",
        10.0,
        *_number(above_zero=True),
        "k: expected chance pairs per count.",
    ),
    Option(
        "descriptive_weight",
        3.0,
        *_number(),
        "λ1: weight of descriptive against relational contexts.",
    ),
    Option(
        "sparsity",
        0.1,
        *_number(),
        "λ2: pushes entries of U to zero; 0 is PHCLE_NoSp.",
    ),
    Option(
        "ridge",
        10.0,
        *_number(above_zero=True),
        "λ3: keeps label and description vectors short.",
    ),
    Option(
        "context_ridge",
        10.0,
        *_number(above_zero=True),
        "λ4: keeps the vectors of relational columns short.",
    ),
    Option(
        "weights",
        "equal",
        str,
        "'equal', 'auto', 'nie', or a mapping from every context to its weight",
        _is_weights,
        "α, β: 'equal', 'auto' (held-out prediction) or 'nie' (as in the paper).",
    ),
    Option(
        "complete_only",
        False,
        *_truth(),
        "Keep only labels that every context knows (PHCLE_FC).",
    ),
    _one_of(
        "solver",
        "mm",
        ("mm", "paper"),
        "Majorise-minimise, or the paper's gradient descent.",
    ),
    _one_of(
        "mode",
        "auto",
        ("auto", "exact", "sampled"),
        "All pairs in every sweep, or a sample of columns; auto goes by size.",
    ),
    Option(
        "step_size",
        None,
        *_optional(_number(above_zero=True)),
        "Step of solver='paper' (1e-5 in the paper); left out, a safe one.",
    ),
    _one_of(
        "init", "spectral", ("spectral", "random", "ones"), "Where the factors start."
    ),
    _one_of(
        "backend",
        "auto",
        ("auto", "numpy", "numba", "torch"),
        "NumPy, NumPy with compiled loops, or PyTorch; auto goes by size and device.",
    ),
    _one_of("device", "auto", ("auto", "cpu", "cuda"), "Where torch computes."),
    _one_of(
        "dtype",
        "float32",
        ("float32", "float64"),
        "Precision of the sweeps; the last solve is always double.",
    ),
    _one_of(
        "precision",
        "full",
        ("full", "mixed"),
        "Large products in dtype, or in half precision with float32 sums (torch).",
    ),
    Option(
        "calibrate",
        True,
        *_truth(),
        "Learn from hidden values how sure predicted attributes are.",
    ),
    Option("max_iter", 200, *_whole(1), "Sweeps at most."),
    Option(
        "tol",
        1e-3,
        *_number(),
        "Stop when a sweep lowers objective − floor by less than this share.",
    ),
    Option("random_state", 0, *_whole(0), "Seed; the same seed gives the same bits."),
    Option("verbose", False, *_truth(), "Show a progress bar."),
)


def check_options(values: Mapping[str, Any]) -> None:
    """Refuse an unknown option, or a value that the table does not allow."""
    known = {option.name: option for option in OPTIONS}
    for name, value in values.items():
        if name not in known:
            raise OptionError(f"no option {name!r}.{did_you_mean(name, known)}")
        option = known[name]
        if not option.check(value):
            hint = did_you_mean(value, option.choices) if isinstance(value, str) else ""
            raise OptionError(
                f"The {name!r} option must be {option.must_be}. "
                f"Got {value!r} instead.{hint}"
            )
