"""PredictingContext: what a fitted context offers that predicts values for people."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.base.fitted_context import FittedContext

if TYPE_CHECKING:
    from phcle.contexts.descriptive.fields import Field


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictingContext(FittedContext):
    """A fitted context that predicts values, where its `predicts_columns` is true.

    Attributes
    ----------
    offset : array of shape (columns,)
        Mean of each column on the scale of the fit.
    scale : array of shape (columns,)
        Scale of each column on the scale of the fit.
    log_shift : array of shape (columns,)
        What is added to a column before its logarithm, if offset and scale are those of
        logarithms; otherwise NaN.
    """

    offset: Floats
    scale: Floats
    log_shift: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    @abstractmethod
    def presence(self) -> Floats:
        """Share of labels above the mean of each column, or with the tag or value."""

    @property
    @abstractmethod
    def largest(self) -> Floats:
        """Largest known value of every column, in the user's units."""

    @abstractmethod
    def predict(self, vectors: AnyFloats) -> Floats:
        """Predict values from label vectors.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.

        Returns
        -------
        array of shape (rows, columns)
            Predictions, in the user's units.
        """

    @abstractmethod
    def in_units(self, values: Floats) -> Floats:
        """Turn logarithms back into the user's units.

        Parameters
        ----------
        values : array of shape (..., columns)
            Values on the scale of `offset` and `scale`.

        Returns
        -------
        array of the same shape
            Values in the user's units.
        """

    @abstractmethod
    def on_fit_scale(self, values: AnyFloats) -> Floats:
        """Take the logarithms of columns that are fitted on a log scale.

        Parameters
        ----------
        values : array of shape (..., columns)
            Values in the user's units; NaN is missing.

        Returns
        -------
        array of the same shape
            Values on the scale of `offset` and `scale`.
        """

    @abstractmethod
    def observed_row(self, label: str) -> Floats:
        """Return the known values of a label.

        Parameters
        ----------
        label : str
            A label.

        Returns
        -------
        array of shape (columns,)
            Values in the user's units; NaN is missing.
        """

    @property
    @abstractmethod
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person enters a value: as "numbers", "tags" or "text"."""

    @abstractmethod
    def has(self, columns: Ints, values: Floats) -> Flags:
        """Tell whether scaled values mean that a label has the attribute.

        Parameters
        ----------
        columns : array of int
            Column of each value.
        values : array of the same shape
            Scaled values; zero is the mean.

        Returns
        -------
        array of bool
            True above the mean; of sparse values, if they are not zero.
        """

    @property
    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """Its fields, as the user knows them; none if nobody would complete them."""

    @property
    @abstractmethod
    def is_number(self) -> Flags:
        """Which columns hold numbers: (columns,)."""

    @abstractmethod
    def field_of(self, column: str) -> Field:
        """Find the field of a column.

        Parameters
        ----------
        column : str
            A column; an unknown one is refused.

        Returns
        -------
        Field
            The field.
        """

    @abstractmethod
    def of_field(self, field: Field) -> Self:
        """Return the context with one field only.

        Parameters
        ----------
        field : Field
            One of `fields`.

        Returns
        -------
        PredictingContext
            The smaller context.
        """

    @abstractmethod
    def without_cells(self, rows: Ints, columns: Ints) -> Self:
        """Return the context without some known cells, around the means of the others.

        Parameters
        ----------
        rows, columns : arrays of int
            Positions of the cells among the labels of a problem.

        Returns
        -------
        PredictingContext
            The smaller context.
        """

    @abstractmethod
    def without_rows(self, rows: Ints) -> Self:
        """Return the context as if it knew nothing of some labels.

        Parameters
        ----------
        rows : array of int
            Positions of the labels among those of a problem.

        Returns
        -------
        PredictingContext
            The smaller context.
        """
