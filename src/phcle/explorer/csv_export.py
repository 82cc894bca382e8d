"""Answers as tables for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "as_csv",
    "compared_rows",
    "described_rows",
    "explained_rows",
    "fitting_rows",
    "side_by_side_rows",
    "similarity_rows",
]

Row = Mapping[str, Any]


def as_csv(rows: Iterable[Row]) -> str:
    r"""Rows with the keys of the first as header.

    >>> as_csv([{"label": "a,b", "value": 1.5}])
    'label,value\r\n"a,b",1.5\r\n'
    """
    listed = list(rows)
    text = io.StringIO()
    if listed:
        writer = csv.DictWriter(text, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    return text.getvalue()


def described_rows(answer: Row) -> list[Row]:
    """Attributes observed and predicted."""
    return [
        {"known": kind, **attribute}
        for kind in ("observed", "predicted")
        for attribute in answer[kind]
    ]


def explained_rows(answer: Row) -> list[Row]:
    """What every column adds to a similarity."""
    return [
        {"context": part["context"], "kind": part["kind"], **column}
        for part in answer["parts"]
        for column in part["columns"]
    ]


def similarity_rows(answer: Row) -> list[Row]:
    """A square of similarities."""
    ids = [each["label"] for each in answer["labels"]]
    return [
        {**each, **dict(zip(ids, row, strict=True))}
        for each, row in zip(answer["labels"], answer["similarities"], strict=True)
    ]


def compared_rows(answer: Row) -> list[Row]:
    """Attributes of compared labels; what is not observed has a chance."""
    return [
        {
            "context": row["context"],
            "name": row["name"],
            "label": each["label"],
            **cell,
        }
        for row in answer["attributes"]
        for each, cell in zip(answer["labels"], row["cells"], strict=True)
    ]


def fitting_rows(answer: Row) -> list[Row]:
    """Labels that fit a description, with the chance of each attribute."""
    titles = [f"{x['context']}: {x['name']}" for x in answer["wanted"]]
    return [
        {
            "label": each["label"],
            "name": each["name"],
            "score": each["score"],
            **{
                title: chance["chance"]
                for title, chance in zip(titles, each["chances"], strict=True)
            },
        }
        for each in answer["labels"]
    ]


def side_by_side_rows(answer: Row) -> list[Row]:
    """Neighbours in both embeddings."""
    return [
        {"embedding": side, **near}
        for side in ("one", "other")
        for near in answer[side]
    ]
