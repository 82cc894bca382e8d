"""PredictingContext: what a fitted context offers that predicts values for people."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from phcle.arrays import AnyFloats, Flags, Floats, Ints
from phcle.contexts.base.fitted_context import FittedContext

if TYPE_CHECKING:
    from phcle.contexts.descriptive.confidence import Calibration, Read
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
    is_log : array of bool of shape (columns,)
        Columns whose offset and scale are those of the logarithms.
    calibration : Calibration or None
        Turns predictions into probabilities; None if the fit had too few labels.
    """

    offset: Floats
    scale: Floats
    is_log: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    calibration: Calibration | None = None

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
    def read(
        self,
        vectors: AnyFloats,
        is_described: Flags,
        supports: Floats,
        family: Floats | None = None,
    ) -> Read:
        """Read predictions with the calibration, which must be there.

        Parameters
        ----------
        vectors : array of shape (rows, dim)
            Label vectors.
        is_described : array of bool of shape (rows,)
            Labels of which the context knows a cell.
        supports : array of shape (rows,)
            Support of each label.
        family : array of shape (rows, columns), optional
            Means of the families on the scale of the fit; NaN where none is known.

        Returns
        -------
        Read
            Chances; numbers and intervals in the user's units.
        """
