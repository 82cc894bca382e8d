"""Files about new labels go to the contexts of an embedding."""

from __future__ import annotations

import pytest

import phcle
from phcle.errors import ContextError
from phcle.uses.new_label_files import read_new_contexts

TREE = "child,parent\ncat,felid\nlion,felid\ndog,canid\nwolf,canid\n"
LOOKS = "label,weight\ncat,4\nlion,190\ndog,20\n"


@pytest.fixture
def zoo(tmp_path):
    (tmp_path / "tree.csv").write_text(TREE)
    (tmp_path / "looks.csv").write_text(LOOKS)
    return tmp_path


@pytest.fixture
def embedding(zoo):
    contexts = phcle.read_contexts(
        hierarchy=zoo / "tree.csv", attributes=zoo / "looks.csv"
    )
    return phcle.PHCLE(dim=2, calibrate=False).fit(contexts).embedding_


def test_contexts_of_new_labels_go_straight_into_fold_in(zoo, embedding):
    (zoo / "new.csv").write_text("child,parent\npuma,felid\n")
    (zoo / "sizes.csv").write_text("label,weight\npuma,60\n")
    (zoo / "names.csv").write_text("label,name\npuma,mountain lion\n")
    found = read_new_contexts(
        embedding,
        {"hierarchy": zoo / "new.csv", "attributes": [zoo / "sizes.csv"]},
        names=zoo / "names.csv",
    )
    assert [context.name for context in found] == ["tree", "looks"]
    assert found.names == {"puma": "mountain lion"}
    assert [x.path.name for x in found.sources] == ["new.csv", "sizes.csv", "names.csv"]
    new = phcle.fold_in(embedding, found, names=found.names)
    assert new.labels == ("puma",)


def test_a_file_of_a_kind_that_the_fit_never_had_is_refused(zoo, embedding):
    (zoo / "tags.csv").write_text("label,tag\npuma,wild\n")
    with pytest.raises(ContextError, match="nothing in the fit was learned from"):
        read_new_contexts(embedding, {"tags": zoo / "tags.csv"})
