"""Answers as CSV tables, for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from phcle.answers import Answer, Description, Explanation, as_json
from phcle.explorer import answers
from phcle.files.csv_text import csv_lines

Row = Mapping[str, Any]
Pairs = Sequence[tuple[str, Any]]
"""A row as title and value of each cell; a title may occur twice."""


def as_csv(rows: Iterable[Row | Pairs | Answer]) -> str:
    r"""Write rows as CSV.

    Parameters
    ----------
    rows : iterable of mapping, of pairs, or of Answer
        The rows; the keys or fields of the first are the header.

    Returns
    -------
    str
        The text of the file; empty without rows.

    Examples
    --------
    >>> as_csv([{"label": "a,b", "value": 1.5}])
    'label,value\n"a,b",1.5\n'
    """
    listed = [
        list(row.items()) if isinstance(row, Mapping) else row
        for row in as_json(list(rows))
    ]
    if not listed:
        return ""
    lines = [[title for title, _ in listed[0]]]
    lines += [[value for _, value in row] for row in listed]
    return "".join(csv_lines(lines))


def described_rows(answer: Description) -> list[Row]:
    """Make one row per attribute of a label.

    Parameters
    ----------
    answer : Description
        The description.

    Returns
    -------
    list of mapping
        Observed attributes, then predicted ones.
    """
    return [
        {"known": kind, **attribute.to_dict()}
        for kind, attributes in (
            ("observed", answer.observed),
            ("predicted", answer.predicted),
        )
        for attribute in attributes
    ]


def explained_rows(answer: Explanation) -> list[Row]:
    """Make one row per named column, and one for the others of each group.

    Parameters
    ----------
    answer : Explanation
        The explanation.

    Returns
    -------
    list of mapping
        The columns of each context; their parts add up to the similarity.
    """
    rows: list[Row] = []
    for part in answer.parts:
        own = {"context": part.context, "kind": part.kind}
        if not part.groups:
            rows.append(
                own | {"group": "", "column": "", "name": "", "part": part.part}
            )
        for group in part.groups:
            own["group"] = group.group
            rows += [own | column.to_dict() for column in group.columns]
            if group.n_others:
                name = f"{group.n_others} others"
                rows.append(own | {"column": "", "name": name, "part": group.others})
    return rows


def similarity_rows(answer: answers.Comparison) -> list[Pairs]:
    """Make the matrix of similarities.

    Parameters
    ----------
    answer : Comparison
        The compared labels.

    Returns
    -------
    list of pairs
        One row per label, with one column per label.
    """
    ids = [each.label for each in answer.labels]
    return [
        [*each.to_dict().items(), *zip(ids, row, strict=True)]
        for each, row in zip(answer.labels, answer.similarities, strict=True)
    ]


def compared_rows(answer: answers.Comparison) -> list[Row]:
    """Make one row per attribute and compared label.

    Parameters
    ----------
    answer : Comparison
        The compared labels.

    Returns
    -------
    list of mapping
        Observed values, or confidences of predictions.
    """
    return [
        {"context": row.context, "name": row.name, "label": each.label} | cell.to_dict()
        for row in answer.attributes
        for each, cell in zip(answer.labels, row.cells, strict=True)
    ]


def fitting_rows(answer: answers.FittingLabels) -> list[Pairs]:
    """Make one row per label that was found by its attributes.

    Parameters
    ----------
    answer : FittingLabels
        The labels.

    Returns
    -------
    list of pairs
        Score of each label, and its probability of having each attribute.
    """
    titles = [f"{x.context}: {x.name}" for x in answer.wanted]
    return [
        [
            ("label", each.label),
            ("name", each.name),
            ("score", each.score),
            *zip(titles, (x.chance for x in each.chances), strict=True),
        ]
        for each in answer.labels
    ]


def side_by_side_rows(answer: answers.SideBySide) -> list[Row]:
    """Make one row per neighbour in each of two embeddings.

    Parameters
    ----------
    answer : SideBySide
        The neighbours.

    Returns
    -------
    list of mapping
        Neighbours in the first embedding, then in the second.
    """
    return [
        {"embedding": side, **near.to_dict()}
        for side, neighbours in (("one", answer.one), ("other", answer.other))
        for near in neighbours
    ]
