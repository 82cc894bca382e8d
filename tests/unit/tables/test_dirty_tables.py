"""Dirty and odd tables: read as a person would, or refused, or it is said."""

from __future__ import annotations

import warnings

import dirty_tables
import numpy as np
import odd_tables
import pytest

import phcle
from phcle.errors import PhcleError

VARIANTS = dirty_tables.variants()


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    table, tree = dirty_tables.write_clean(tmp_path_factory.mktemp("clean"))
    contexts = phcle.read_contexts(hierarchy=tree, attributes={"foods": table})
    (remark,) = contexts.summaries[1].remarks
    assert "'opened': '" in remark
    return tree, contexts


def read(variant, folder, tree):
    path = folder / variant.file
    path.write_bytes(variant.content)
    files = {} if variant.reading else {"hierarchy": {"clean_tree": tree}}
    if variant.kind == "attributes":
        files["attributes"] = {"foods": f"{path}{variant.argument}"}
    else:
        files["hierarchy"] = {"clean_tree": f"{path}{variant.argument}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return phcle.read_contexts(**files, **variant.reading)


def test_there_are_as_many_variants_as_promised():
    assert len(VARIANTS) == dirty_tables.N_VARIANTS == 200
    assert len({variant.content for variant in VARIANTS}) > 190


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda x: x.name.split(":")[0])
def test_a_dirty_table_is_read_as_the_clean_one_or_refused(variant, clean, tmp_path):
    tree, expected = clean
    if variant.faults:
        with pytest.raises(PhcleError) as caught:
            read(variant, tmp_path, tree)
        for fault in variant.faults:
            assert fault in str(caught.value)
        return
    found = read(variant, tmp_path, tree)
    if not variant.reading:
        assert counts_by_name(found[0]) == counts_by_name(expected[0])
    if variant.kind == "attributes":
        check_attributes(variant, found, expected[1])


def counts_by_name(context):
    cells = context.counts.tocoo()
    rows = [context.labels[i] for i in cells.row]
    columns = [context.columns[i] for i in cells.col]
    return dict(zip(zip(rows, columns, strict=True), cells.data.tolist(), strict=True))


def check_attributes(variant, found, expected):
    context = found[-1]
    assert set(context.columns) == set(expected.columns), variant.name
    singular = {x[:-1]: x for x in ("Sofas", "Kayaks")} if variant.plural else {}
    at = {singular.get(label, label): i for i, label in enumerate(context.labels)}
    assert set(at) == set(expected.labels)
    columns = [context.columns.index(column) for column in expected.columns]
    values = context.values[[at[label] for label in expected.labels]][:, columns]
    wanted = expected.values.copy()
    for label, title, value in variant.changed:
        wanted[expected.index[label], expected.columns.index(title)] = value
    summary = found.summaries[-1]
    for text in variant.said:
        assert text in summary.line
    for cell in variant.odd:
        assert sum(cell in text for text in summary.odd_cells) == 1
    np.testing.assert_allclose(values, wanted, rtol=1e-12, err_msg=variant.name)
    if variant.plural:
        suggested = {x.spelling: x.candidates for x in found.match.suggestions}
        assert all(suggested[one] == (many,) for one, many in singular.items())


LEFT_OPEN = ("fractions", "codes of countries and Namibia")
"""Tables that a person reads, and phcle only remarks on."""


@pytest.mark.parametrize("odd", odd_tables.ALL, ids=lambda x: x.name)
def test_nothing_is_wrong_in_silence(odd, tmp_path):
    path = tmp_path / odd.file
    path.write_bytes(odd.text.encode() if isinstance(odd.text, str) else odd.text)
    found = odd_tables.outcome(odd, path, odd_tables.read_by_phcle)
    if not odd.cells:
        assert found == "refused"
    elif odd_tables.ASKS in odd.cells.values() or odd.name in LEFT_OPEN:
        assert found == "remarked"
    else:
        assert found == "right"
