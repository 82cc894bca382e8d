"""Completed and suspicious cells of a table, and how good completion is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from phcle.answers.answer import Answer

__all__ = [
    "ColumnSkill",
    "CompletedCell",
    "Completion",
    "CompletionSkill",
    "SuspiciousCell",
]


@dataclass(frozen=True)
class CompletedCell(Answer):
    """An unknown cell of a table, as predicted.

    Attributes
    ----------
    label : str
        The label.
    context, column : str
        Name of the context, and the column of the user's table or the tag.
    kind : {"number", "truth", "category", "tag"}
        What the column holds.
    value : float, bool or str
        The predicted value.
    confidence : float or None
        Probability of this value; None for a number, and without a calibration.
    low, high : float or None
        Interval that holds a number in 80 of 100 cases.
    family : float, bool, str or None
        Mean or most common value of the nearest group of a hierarchy.
    why : str
        What speaks most for the value.
    probabilities : mapping from str to float, or None
        Probability of each value of a category, if asked for.
    """

    label: str
    context: str
    column: str
    kind: str
    value: float | bool | str
    confidence: float | None
    low: float | None
    high: float | None
    family: float | bool | str | None
    why: str
    probabilities: Mapping[str, float] | None


@dataclass(frozen=True)
class SuspiciousCell(Answer):
    """A known cell that the model, asked without it, finds unlikely.

    Attributes
    ----------
    label : str
        The label.
    context, column : str
        Name of the context, and the column of the user's table or the tag.
    kind : {"number", "truth", "category", "tag"}
        What the column holds.
    value : float, bool or str
        The known value.
    expected : float, bool or str
        The value that is predicted without it.
    low, high : float or None
        Interval of a predicted number.
    chance : float
        Probability of the known value; of a number, of one as far from the prediction.
    family : float, bool, str or None
        Mean or most common value of the nearest group of a hierarchy.
    """

    label: str
    context: str
    column: str
    kind: str
    value: float | bool | str
    expected: float | bool | str
    low: float | None
    high: float | None
    chance: float
    family: float | bool | str | None


@dataclass(frozen=True)
class Completion(Answer):
    """Unknown cells of tables, as predicted.

    Attributes
    ----------
    cells : tuple of CompletedCell
        The cells, label by label.
    """

    cells: tuple[CompletedCell, ...]

    def __len__(self) -> int:
        return len(self.cells)

    def to_frame(self) -> Any:
        """Convert the cells to a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per cell.
        """
        import pandas as pd

        names = [field.name for field in fields(CompletedCell)]
        return pd.DataFrame([vars(cell) for cell in self.cells], columns=names)


@dataclass(frozen=True)
class ColumnSkill(Answer):
    """How well hidden cells of a column are predicted, beside simple rules.

    Attributes
    ----------
    context, column : str
        The table and its column.
    kind : {"number", "truth", "category", "tag"}
        What the column holds.
    cells : int
        Number of hidden cells.
    measure : str
        What the scores are: "R²", or "share right".
    score : float
        Score of the embedding.
    usual : float
        Score of the mean or most common value.
    family : float or None
        Score of the family; None without a hierarchy.
    nearest : float or None
        Score of the nearest labels by known cells; None if the table is too large.
    best_rule : str
        The best of these rules.
    error : float
        Standard error of the lead over it, clustered by label.
    verdict : {"better", "as good", "worse"}
        How the embedding compares with it.
    whole_rows : float or None
        Weight in all scores of cells whose whole row was hidden: the share of the
        column's gaps in labels without any value in the table; 0.5 if the table has no
        gaps. None in older files, where each hidden cell counted the same.
    """

    context: str
    column: str
    kind: str
    cells: int
    measure: str
    score: float
    usual: float
    family: float | None
    nearest: float | None
    best_rule: str
    error: float
    verdict: str
    whole_rows: float | None = None

    @property
    def words(self) -> str:
        """How the embedding compares with the best rule, in words."""
        than = "as" if self.verdict == "as good" else "than"
        return f"{self.verdict} {than} the {self.best_rule}"


@dataclass(frozen=True)
class CompletionSkill(Answer):
    """How well the tables of an embedding are completed.

    Attributes
    ----------
    file : str or None
        The embedding's file, if it was asked from the shell.
    cells : int
        Number of hidden cells.
    columns : tuple of ColumnSkill
        The scores of every column with enough hidden cells.
    """

    file: str | None
    cells: int
    columns: tuple[ColumnSkill, ...]

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        if not self.columns:
            return "Too few cells could be hidden to say how good a completion is."
        n = {
            x: sum(c.verdict == x for c in self.columns)
            for x in ("better", "as good", "worse")
        }
        columns = (
            "1 column" if len(self.columns) == 1 else f"{len(self.columns)} columns"
        )
        is_weighted = all(x.whole_rows is not None for x in self.columns)
        weighted = ", weighted like the gaps" if is_weighted else ""
        return (
            f"Completion of {columns} on hidden cells{weighted}: better than the best "
            f"simple rule in {n['better']}, as good in {n['as good']}, worse in "
            f"{n['worse']}."
        )

    def __str__(self) -> str:
        lines = [self.summary]
        for x in self.columns:
            rules = {"usual": x.usual, "family": x.family, "nearest": x.nearest}
            shown = ", ".join(f"{k} {v:.2f}" for k, v in rules.items() if v is not None)
            lines.append(
                f"{x.context}, {x.column}: {x.measure} {x.score:.2f} ({shown}), "
                f"{x.verdict}"
            )
        return "\n".join(lines)
