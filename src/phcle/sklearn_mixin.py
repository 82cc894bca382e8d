"""Options of an estimator as scikit-learn and notebooks expect them."""

from __future__ import annotations

import inspect
from html import escape
from typing import TYPE_CHECKING, Any, Self, TypeVar

from phcle.embedding.label_embedding import LabelEmbedding
from phcle.errors import did_you_mean
from phcle.options import DEFAULTS, OPTIONS, check_options, parameters_text

Estimator = TypeVar("Estimator", bound=type)


def documents_options(estimator: Estimator) -> Estimator:
    """Fill the signature and docstring of an estimator from the table of options.

    Parameters
    ----------
    estimator : type
        A class whose docstring has the places `{main}` and `{others}`.

    Returns
    -------
    type
        The same class.
    """
    options = [
        inspect.Parameter(x.name, inspect.Parameter.KEYWORD_ONLY, default=x.default)
        for x in OPTIONS
    ]
    estimator.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    if estimator.__doc__:  # python -OO removes it
        # Python 3.13 removes the indentation of docstrings, earlier ones keep it.
        text = inspect.cleandoc(estimator.__doc__)
        text = text.replace("{main}", parameters_text("main").strip())
        others = parameters_text("model", "solver", "computing").strip()
        estimator.__doc__ = text.replace("{others}", others)
    return estimator


class EstimatorOptions:
    """Options as attributes, one for each of `phcle.options.OPTIONS`.

    Parameters
    ----------
    **options : object
        Options by name; the others get their defaults. Values are checked by `fit`.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Options are set from the table, so type checkers cannot list them."""

    embedding_: LabelEmbedding  # once it is fitted

    def __init__(self, **options: Any) -> None:
        for name in options:
            if name not in DEFAULTS:
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected keyword argument "
                    f"{name!r}.{did_you_mean(name, DEFAULTS)}"
                )
        for name, value in {**DEFAULTS, **options}.items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options by name, with NumPy's numbers as Python's.

        Parameters
        ----------
        deep : bool
            Part of scikit-learn's signature; has no effect.

        Returns
        -------
        dict of str to object
            All options.
        """
        return {
            option.name: option.plain(getattr(self, option.name)) for option in OPTIONS
        }

    def set_params(self, **options: Any) -> Self:
        """Change options by name.

        Parameters
        ----------
        **options : object
            New values, which are checked.

        Returns
        -------
        PHCLE
            The estimator itself.
        """
        check_options(options)
        for name, value in options.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = ", ".join(
            f"{option.name}={getattr(self, option.name)!r}"
            for option in OPTIONS
            if getattr(self, option.name) != option.default
        )
        return f"PHCLE({changed})"

    def _repr_html_(self) -> str:
        lines = []
        for name, value in self.get_params().items():
            tag = "td" if value == DEFAULTS[name] else "th"  # changed ones are bold
            cells = (escape(x) for x in (name, repr(value)))
            lines.append("".join(f"<{tag}>{cell}</{tag}>" for cell in cells))
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        embedding = ""
        if self.__sklearn_is_fitted__():
            embedding = self.embedding_._repr_html_()
        return (
            f"<div><details><summary><b>{escape(repr(self))}</b></summary>"
            f"<table>{table}</table></details>{embedding}</div>"
        )

    def __sklearn_is_fitted__(self) -> bool:
        """What scikit-learn's `check_is_fitted` asks."""
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn's tools ask of an estimator; it is imported by then."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False),
            requires_fit=True,
        )
