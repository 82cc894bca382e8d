"""PredictingContext: what a fitted context offers that predicts values for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from phcle.contexts.base.fitted_context import FittedContext

if TYPE_CHECKING:
    from phcle.contexts.descriptive.confidence import Calibration, Read
    from phcle.contexts.descriptive.fields import Field
    from phcle.contexts.descriptive.hidden_cells import HiddenCells

__all__ = ["PredictingContext"]

Floats = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class PredictingContext(Protocol):
    """A fitted context that predicts values: its `predicts_columns` is true.

    Attributes
    ----------
    name : str
        Name of the context.
    columns : tuple of str
        Names of the columns.
    weight : float
        α or β, the weight of the context in the objective.
    factor : array of shape (columns, dim)
        Learned vectors.
    offset : array of shape (columns,)
        Mean of each column on the scale of the fit.
    scale : array of shape (columns,)
        Scale of each column on the scale of the fit.
    is_log : array of bool of shape (columns,)
        Columns whose offset and scale are those of the logarithms.
    data : Context or None
        The user's rows of the present labels.
    calibration : Calibration or None
        Turns predictions into probabilities; None if the fit had too few labels.
    """

    name: str
    columns: tuple[str, ...]
    weight: float
    factor: Floats
    offset: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    is_log: Flags
    data: Any
    calibration: Calibration | None

    @property
    def observed(self) -> Flags:
        """Whether the context knows each label of the problem: (labels,)."""

    @property
    def observed_labels(self) -> tuple[str, ...]:
        """Labels of the embedding that the context knows."""

    @property
    def largest(self) -> npt.NDArray[np.float64]:
        """Largest known value of every column, in the user's units."""

    def predict(self, vectors: Floats) -> npt.NDArray[np.float64]:
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

    def on_fit_scale(self, values: Floats) -> npt.NDArray[np.float64]:
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

    def observed_row(self, label: str) -> npt.NDArray[np.float64]:
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
    def value_kind(self) -> Literal["numbers", "tags", "text"]:
        """How a person enters a value: as "numbers", "tags" or "text"."""

    def hide_cells(
        self,
        share: float,
        most: int,
        rng: np.random.Generator,
        *,
        rows: Ints | None = None,
        start: float = 0.0,
        like_gaps: bool = False,
    ) -> tuple[FittedContext, HiddenCells | None]:
        """Hide some known cells, as in `FittedContext`.

        Parameters
        ----------
        share : float
            Share of the known cells to hide.
        most : int
            Most cells to look at, known or not.
        rng : numpy.random.Generator
            Draws the cells.
        rows : array of int, optional
            Positions of labels that are hidden altogether.
        start : float, default 0.0
            Where the share begins.
        like_gaps : bool, default False
            Whether columns whose gaps are in the same rows are hidden together.

        Returns
        -------
        context : FittedContext
            The context without the hidden cells.
        hidden : HiddenCells or None
            The hidden cells.
        """

    def has(self, columns: Ints, values: npt.NDArray[np.float64]) -> Flags:
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
    def fields(self) -> tuple[Field, ...]:
        """Its fields, as the user knows them; none if nobody would complete them."""

    @property
    def is_number(self) -> Flags:
        """Which columns hold numbers: (columns,)."""

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

    def of_field(self, field: Field) -> PredictingContext:
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

    def read(
        self,
        vectors: Floats,
        is_described: Flags,
        supports: npt.NDArray[np.float64],
        family: npt.NDArray[np.float64] | None = None,
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
