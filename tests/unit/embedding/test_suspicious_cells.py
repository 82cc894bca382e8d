from __future__ import annotations

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, RelationalContext, load, suspicious_cells
from phcle.errors import OptionError

N_GROUPS, N_IN_GROUP, N_ERRORS = 30, 8, 25


def planted(seed=0):
    """Fields that follow the groups and two hidden dimensions, with wrong entries."""
    rng = np.random.default_rng(seed)
    n = N_GROUPS * N_IN_GROUP
    labels = tuple(f"{i // N_IN_GROUP}.{i % N_IN_GROUP}" for i in range(n))
    edges = [(label, f"group {label.split('.')[0]}") for label in labels]
    edges += [(f"group {g}", "all") for g in range(N_GROUPS)]
    place = rng.normal(size=(N_GROUPS, 2)).repeat(N_IN_GROUP, axis=0)
    place = place + 0.7 * rng.normal(size=place.shape)
    cells: dict[str, list] = {}
    for j in range(6):
        number = place @ rng.normal(size=2) + 0.1 * rng.normal(size=n)
        cells[f"number {j}"] = number.tolist()
        is_yes = place @ rng.normal(size=2) > 0
        cells[f"truth {j}"] = np.where(is_yes, "yes", "no").tolist()
        value = (place @ rng.normal(size=(2, 3))).argmax(axis=1)
        cells[f"kind {j}"] = np.array(list("abc"))[value].tolist()
    titles = list(cells)
    wrong = set()
    while len(wrong) < N_ERRORS:
        row, title = int(rng.integers(n)), titles[rng.integers(len(titles))]
        if (labels[row], title) in wrong:
            continue
        right = cells[title][row]
        if title.startswith("number"):
            cells[title][row] = right + rng.choice([-4.0, 4.0])
        elif title.startswith("truth"):
            cells[title][row] = "no" if right == "yes" else "yes"
        else:
            cells[title][row] = rng.choice([x for x in "abc" if x != right])
        wrong.add((labels[row], title))
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        DescriptiveContext.from_cells(labels, cells, "table"),
    ]
    return labels, cells, wrong, contexts


def by_family(labels, cells):
    """Cells whose value no sibling has; of numbers, those furthest from siblings."""
    found = []
    for title, own in cells.items():
        for i, label in enumerate(labels):
            start = i - i % N_IN_GROUP
            others = [own[j] for j in range(start, start + N_IN_GROUP) if j != i]
            if title.startswith("number"):
                far = abs(own[i] - np.mean(others)) / (np.std(others) + 1e-9)
                found.append((-far, (label, title)))
            elif own[i] not in others:
                found.append((-10.0, (label, title)))
    return [cell for _, cell in sorted(found)]


def test_suspicious_cells_find_more_planted_errors_than_a_rule_by_family():
    labels, cells, wrong, contexts = planted()
    found = suspicious_cells(PHCLE().fit(contexts).embedding_)
    first = [(cell.label, cell.column) for cell in found[:N_ERRORS]]
    rule = by_family(labels, cells)[:N_ERRORS]
    precision = len(wrong & set(first)) / N_ERRORS
    assert precision >= 0.4
    assert precision > 3 * len(wrong & set(rule)) / N_ERRORS
    row = {label: i for i, label in enumerate(labels)}
    for cell in found:
        right = cells[cell.column][row[cell.label]]
        value = {True: "yes", False: "no"}.get(cell.value, cell.value)
        assert value == (pytest.approx(right) if cell.kind == "number" else right)
        assert cell.chance < 0.5
        if cell.kind == "number":
            assert cell.low <= cell.expected <= cell.high
        else:
            assert cell.value != cell.expected


def test_only_the_columns_asked_for_are_listed_and_unknown_ones_refused():
    *_, contexts = planted()
    embedding = PHCLE(dim=5, choose=False).fit(contexts).embedding_
    found = suspicious_cells(embedding, columns=["number 1"])
    assert {cell.column for cell in found} == {"number 1"}
    every = suspicious_cells(embedding, columns=["number 1"], k=200)
    assert len(every) == 200
    assert [x.label for x in every[: len(found)]] == [x.label for x in found]
    (one,) = suspicious_cells(embedding, labels=["3.3"], columns=["number 1"], k=9)
    assert one.label == "3.3"
    with pytest.raises(OptionError, match="number 0"):
        suspicious_cells(embedding, columns=["number O"])
    with pytest.raises(OptionError, match="table"):
        suspicious_cells(embedding, contexts=["tabel"])


def test_known_values_are_listed_as_they_are_in_a_table_of_mixed_units(tmp_path):
    _, cells, _, contexts = planted()
    numbers = {x: [100 * v for v in own] for x, own in cells.items() if "number" in x}
    mixed = {**cells, **numbers}
    contexts[1] = DescriptiveContext.from_cells(contexts[1].labels, mixed, "table")
    assert contexts[1].standardize
    PHCLE(dim=5, choose=False).fit(contexts).embedding_.save(tmp_path / "a.phcle")
    found = suspicious_cells(load(tmp_path / "a.phcle"), columns=list(numbers))
    assert len(found) > 5
    for cell in found:
        wanted = mixed[cell.column][contexts[1].labels.index(cell.label)]
        assert cell.value == pytest.approx(wanted)


def test_a_word_among_numbers_comes_first_with_what_is_expected_there():
    rng = np.random.default_rng(0)
    first = rng.normal(size=60)
    labels = [f"label{i}" for i in range(60)]
    cells = {"x": [f"{x:.3f}" for x in first], "y": (2 * first).tolist()}
    cells["x"][7] = "1xx19"
    table = DescriptiveContext.from_cells(labels, cells, "table")
    found = suspicious_cells(PHCLE().fit([table]).embedding_)[0]
    assert (found.label, found.column, found.value) == ("label7", "x", "1xx19")
    assert found.why == "is no number"
    assert found.chance is None
    assert found.expected == pytest.approx(first[7], abs=0.5)


def test_a_misspelling_of_what_is_expected_comes_before_other_rare_values():
    cities = ["oneonta", "hamilton", "fort payne", "wedowee"]
    at = np.arange(120) % 4
    cells = {
        "city": [cities[i] for i in at],
        "zip": [f"z{i}" for i in at],
        "county": [f"county {i}" for i in at],
    }
    cells["city"][40], cells["city"][81] = "onexnta", "hoboken"
    cells["zip"][40] = None  # less is known of the misspelled one
    labels = [f"clinic{i}" for i in range(120)]
    table = DescriptiveContext.from_cells(labels, cells, "table")
    found = suspicious_cells(PHCLE().fit([table]).embedding_)[:2]
    assert [x.value for x in found] == ["onexnta", "hoboken"]
    assert [x.expected for x in found] == ["oneonta", "hamilton"]


def test_the_only_value_of_a_column_is_never_suspicious_and_always_drawn():
    labels, cells, _, (tree, _) = planted()
    cells = {"number 0": cells["number 0"], "only": ["a", *[None] * 9, *["a"] * 230]}
    table = DescriptiveContext.from_cells(labels, cells, "table")
    embedding = PHCLE(completion="fast").fit([tree, table]).embedding_
    listed = suspicious_cells(embedding, columns=["only"], k=5)
    assert [x.chance > 0.9 for x in listed] == [True] * 5
    drawn = embedding.complete(columns=["only"], draws=2).cells
    assert {x.value for x in drawn} == {"a"}
