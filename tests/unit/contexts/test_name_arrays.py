"""Names in one array behave like a tuple of texts."""

from unittest import mock

import numpy as np
import pytest

import phcle
from phcle import PHCLE, RelationalContext
from phcle.contexts import name_arrays
from phcle.contexts.labels import positions_of, same_names, some_names, union_of
from phcle.contexts.name_arrays import NameArray
from phcle.errors import ContextError

COUNTS = np.random.default_rng(0).integers(0, 4, size=(12, 9)) + np.eye(12, 9)
LABELS = [f"label {i}" for i in range(12)]
COLUMNS = [f"column {i}" for i in range(9)]


def packed(names):
    return np.array([name.encode() for name in names])


def test_an_array_behaves_like_a_tuple():
    names = NameArray.of(packed(LABELS), "labels")
    assert names == tuple(LABELS)
    assert tuple(names) == tuple(LABELS)
    assert names[3] == "label 3"
    assert names[2:4] == ("label 2", "label 3")
    assert "label 7" in names
    assert "label 70" not in names
    assert names.index_of["label 11"] == 11
    assert names.index_of.get("other") is None
    assert some_names(names, np.array([4, 1])) == ("label 4", "label 1")


def test_names_with_the_same_hash_are_told_apart():
    def few_hashes(names):
        return np.arange(len(names), dtype=np.uint64) // np.uint64(len(names))

    with mock.patch.object(name_arrays, "hash_bytes", few_hashes):
        names = NameArray.of(packed(LABELS), "labels")
        assert positions_of(LABELS[::-1], names.index_of).tolist() == [*range(12)][::-1]
        assert positions_of(["label"], names.index_of).tolist() == [-1]


def test_texts_of_any_length_and_other_letters():
    values = np.array(["Zoe\u0308", "café "], dtype=np.dtypes.StringDType())
    assert NameArray.of(values, "labels") == ("Zoë", "café")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([b"cat", b"dog", b"cat "], "'cat' occur more often"),
        ([b"cat", b" "], "a name is empty"),
        ([b"cat", b"\xff"], "must be UTF-8"),
    ],
)
def test_wrong_names_are_refused(names, message):
    with pytest.raises(ContextError, match=message):
        NameArray.of(np.array(names), "labels")


def test_a_union_keeps_the_order_of_first_appearance():
    first, second = NameArray(packed(LABELS[:5])), NameArray(packed(LABELS[3:]))
    assert union_of([first, second]) == tuple(LABELS)
    assert union_of([first, tuple(LABELS[3:])]) == tuple(LABELS)
    assert same_names(first, tuple(LABELS[:5]))


def test_a_fit_to_arrays_is_that_to_texts(tmp_path):
    texts = RelationalContext.from_matrix(COUNTS, LABELS, COLUMNS)
    arrays = RelationalContext.from_matrix(COUNTS, packed(LABELS), packed(COLUMNS))
    a, b = (PHCLE(dim=3, backend="numpy").fit(x).embedding_ for x in (texts, arrays))
    assert isinstance(b.labels, NameArray)
    np.testing.assert_array_equal(a.vectors, b.vectors)
    assert a.nearest("label 3") == b.nearest("label 3")
    assert a.explain("label 1", "label 2") == b.explain("label 1", "label 2")
    b.save(tmp_path / "labels.phcle")
    assert phcle.load(tmp_path / "labels.phcle").labels == tuple(LABELS)


def test_contexts_of_arrays_with_different_labels_are_aligned():
    one = RelationalContext.from_matrix(COUNTS, packed(LABELS), packed(COLUMNS))
    other = RelationalContext.from_matrix(
        COUNTS[4:], packed(LABELS[4:]), packed(COLUMNS), name="other"
    )
    found = PHCLE(dim=3, backend="numpy").fit([other, one]).embedding_
    assert sorted(found.labels) == sorted(LABELS)


def test_blocks_of_rows_make_the_same_context():
    whole = RelationalContext.from_matrix(COUNTS, LABELS, COLUMNS)
    parts = (COUNTS[i : i + 5] for i in range(0, 12, 5))
    found = RelationalContext.from_parts(parts, LABELS, COLUMNS)
    assert (found.counts != whole.counts).nnz == 0
    with pytest.raises(ContextError, match="part 2 has 3 columns"):
        RelationalContext.from_parts([COUNTS[:6], COUNTS[6:, :3]], LABELS, COLUMNS)
