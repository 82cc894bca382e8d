"""Answers have one shape, from which JSON and the API's schemas follow."""

from __future__ import annotations

import dataclasses
import json

import pytest

from phcle import answers
from phcle.explorer import answers as answers_of_pages


def answer_classes():
    every = {**vars(answers), **vars(answers_of_pages)}
    return [
        value
        for name, value in every.items()
        if dataclasses.is_dataclass(value) and not name.startswith("_")
    ]


def shown_fields(cls):
    return [x.name for x in dataclasses.fields(cls) if not x.metadata.get("exclude")]


@pytest.mark.parametrize("cls", answer_classes(), ids=lambda cls: cls.__name__)
def test_every_answer_is_a_frozen_dataclass(cls):
    assert issubclass(cls, answers.Answer)
    assert cls.__dataclass_params__.frozen


IN_IDS = (answers.Description, answers.ContextPart, answers.Explanation)
"""Answers in Python; JSON has their counterparts with readable names."""


@pytest.mark.parametrize(
    "cls",
    [each for each in answer_classes() if each not in IN_IDS],
    ids=lambda cls: cls.__name__,
)
def test_the_schema_of_an_answer_has_the_fields_that_its_json_has(cls):
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    schema = pydantic.TypeAdapter(cls).json_schema(mode="serialization")
    assert list(schema["properties"]) == shown_fields(cls)


def test_json_leaves_out_what_is_for_python_alone():
    attribute = answers.Attribute("parts", "lid", 1.0, 2.0, observed=True)
    assert attribute.observed
    assert "observed" not in attribute.to_dict()
    assert list(attribute.to_dict()) == shown_fields(answers.Attribute)


def test_a_new_field_is_in_the_json_at_once():
    @dataclasses.dataclass(frozen=True)
    class Rated(answers.Neighbour):
        stars: int

    near = answers.Nearest("n1", "pot", (Rated("n2", "pan", 0.5, 97.0, stars=3),))
    assert near.to_dict()["neighbours"][0]["stars"] == 3


def test_python_answers_convert_pairs_to_named_values():
    columns = (("animal", 0.4),)
    group = answers.ReasonGroup("both", "both have", 0.5, 3, columns, 2, 0.1)
    part = answers.ContextPart("tree", "relational", 0.5, (group,), ("cat",))
    explained = answers.Explanation("a", "b", 0.5, 97.0, (part,), 0.0)
    described = answers.Description("a", (("b", 1.0),), (), (), {"tree": True})
    assert explained.to_dict()["parts"][0]["groups"][0]["columns"] == [
        {"name": "animal", "part": 0.4}
    ]
    assert described.to_dict()["related"] == [{"label": "b", "share": 1.0}]
    json.dumps([explained.to_dict(), described.to_dict()])


def test_the_file_comes_first_in_the_answer_about_it():
    for cls in (answers.FitSummary, answers.EmbeddingInfo, answers.CheckpointInfo):
        assert shown_fields(cls)[0] == "file"
