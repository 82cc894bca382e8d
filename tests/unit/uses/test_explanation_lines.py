"""Lines of an explanation: numbers that add up as they are shown."""

from __future__ import annotations

import numpy as np
import pytest

from phcle.answers import ExplainedColumn, ExplainedContext, ExplainedGroup
from phcle.uses.explanation_lines import explanation_lines


def group_of(rng, n_named, n_others):
    columns = tuple(
        ExplainedColumn(f"c{i}", f"column {i}", float(x))
        for i, x in enumerate(rng.normal(scale=0.02, size=n_named))
    )
    others = float(rng.normal(scale=0.02)) if n_others else 0.0
    part = sum(x.part for x in columns) + others
    size = n_named + n_others
    return ExplainedGroup("both", "both have", part, size, columns, n_others, others)


def value(text):
    return round(1000 * float(text))


@pytest.mark.parametrize("seed", range(20))
def test_shown_numbers_add_up_on_every_level(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for name in ("tree", "tags", "words"):
        groups = tuple(group_of(rng, n, m) for n, m in ((3, 2), (0, 7), (2, 0)))
        part = sum(group.part for group in groups)
        parts.append(ExplainedContext(name, "relational", part, groups, ()))
    similarity = sum(part.part for part in parts)
    lines = explanation_lines(similarity, parts, 0.0)
    assert sum(value(x.part) for x in lines if x.part) == round(1000 * similarity)
    starts = [i for i, line in enumerate(lines) if line.context]
    assert len(starts) == 3
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        own = lines[start:end]
        assert sum(value(x.group_part) for x in own) == value(own[0].part)
        for line in own:
            shown = [x.split(" ")[-1] for x in line.columns]
            if "columns" not in shown:
                assert sum(map(value, shown)) == value(line.group_part)


def test_others_and_parts_that_show_as_zero_are_one_sum():
    parts = {"lid": 0.1004, "spout": -0.0004, "handle": 0.05}
    columns = tuple(ExplainedColumn(x, x, value) for x, value in parts.items())
    group = ExplainedGroup("both", "both have", 0.18, 5, columns, 2, 0.03)
    part = ExplainedContext("tags", "descriptive", 0.18, (group,), ())
    (line,) = explanation_lines(0.18, [part], 0.0)
    assert line.columns == ("lid +0.100", "handle +0.050", "… and 3 others +0.030")


def test_a_group_that_shows_as_zero_has_no_line():
    groups = tuple(
        ExplainedGroup(name, name, value, 1, (), 1, value)
        for name, value in (("both", 0.2), ("one", 0.0001))
    )
    part = ExplainedContext("tags", "descriptive", 0.2001, groups, ())
    assert [x.words for x in explanation_lines(0.2001, [part], 0.0)] == ["both"]
    empty = ExplainedContext("tags", "descriptive", 0.0, (), ())
    assert [x.words for x in explanation_lines(0.0, [empty], 0.0)] == ["knows neither"]


def test_every_shown_number_is_within_a_unit_of_the_exact_one():
    rng = np.random.default_rng(0)
    group = group_of(rng, 9, 4)
    part = ExplainedContext("tags", "descriptive", group.part, (group,), ())
    (line,) = explanation_lines(group.part, [part], 0.0)
    exact = [*(x.part for x in group.columns), group.others]
    for text, x in zip(line.columns, exact, strict=True):
        assert abs(float(text.split(" ")[-1]) - x) < 0.001


def test_a_context_without_readable_columns_and_a_visible_rest_have_their_lines():
    part = ExplainedContext("vectors", "descriptive", 0.5, (), ())
    lines = explanation_lines(0.51, [part], 0.01)
    assert [(x.part, x.context) for x in lines] == [
        ("+0.500", "vectors"),
        ("+0.010", "rounding"),
    ]
    assert len(explanation_lines(0.5001, [part], 0.0001)) == 1
