"""How an estimator behaves among others: its options, in scikit-learn and notebooks."""

from __future__ import annotations

from typing import Any, Self

from phcle.embedding.html import embedding_html, options_html
from phcle.embedding.label_embedding import LabelEmbedding
from phcle.options import OPTIONS, check_options

__all__ = ["Options"]


class Options:
    """Options as attributes, one for each of `phcle.options.OPTIONS`."""

    embedding_: LabelEmbedding  # once it is fitted

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
        """Change options by name."""
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
        defaults = {option.name: option.default for option in OPTIONS}
        shown = options_html(repr(self), self.get_params(), defaults)
        if self.__sklearn_is_fitted__():
            shown += embedding_html(self.embedding_)
        return f"<div>{shown}</div>"

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
