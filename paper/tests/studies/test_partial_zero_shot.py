"""Zero-shot accuracy when labels lack a context."""

from __future__ import annotations

import pytest

from phcle.errors import OptionError
from phcle_paper.studies import partial_zero_shot
from phcle_paper.studies.partial_zero_shot import PartialLabels
from phcle_paper.studies.registry import Request, run_study
from phcle_paper.tables.image_benchmarks import load_benchmark

CONFIG = """
missing = [0.0, 0.4]
random = {random}
split_seed = 3
n_validation = 1
reference = "PHCLE"
spectrum = [1.0]
[classifiers.eszsl]
feature_ridge = [100.0]
class_ridge = [1.0]
[classifiers.conse]
C = [0.01]
top = [3]
[datasets.awa]
described = "attributes"
n_unseen = 5
images_per_class = {images}
[methods."CNC, mean"]
method = "CNC"
options = {{ gaps = "mean", hierarchy = "PMI+SVD" }}
variants.awa = [{{ weight = 0.5 }}, {{ weight = 2.0 }}]
[methods."CNC, ridge"]
method = "CNC"
options = {{ gaps = "ridge", hierarchy = "HLE" }}
variants.awa = [{{}}]
[methods.SoftImpute]
method = "SoftImpute"
options = {{ hierarchy = "PMI+SVD" }}
variants.awa = [{{ threshold = 0.2 }}]
[methods.PHCLE]
method = "PHCLE"
variants.awa = [{{ dim = 10, max_iter = 3 }}]
"""


@pytest.fixture(scope="module")
def awa(small_data):
    return load_benchmark("awa", small_data)


@pytest.fixture
def config(tmp_path):
    def write(random=2, images=0):
        file = tmp_path / "mine.toml"
        file.write_text(CONFIG.format(random=random, images=images))
        return file

    return write


def lacking(partial):
    """Labels without a description, and labels without a place in the hierarchy."""
    placed, described = set(partial.placed), set(partial.described.labels)
    return set(partial.labels) - described, set(partial.labels) - placed


def test_every_label_keeps_one_of_its_contexts(awa):
    for share in (0.0, 0.15, 0.3, 0.45, 0.5):
        partial = PartialLabels.hide(awa, "attributes", share, [0, 1])
        plain, lost = lacking(partial)
        assert len(plain) == len(lost) == int(share * 26)
        assert not plain & lost


@pytest.mark.parametrize("share", [-0.1, 0.6, float("nan")])
def test_a_share_above_a_half_would_leave_labels_with_nothing(awa, share):
    with pytest.raises(OptionError, match=r"missing must be from 0 to 0\.5"):
        PartialLabels.hide(awa, "attributes", share, [0])


def test_hidden_places_are_no_columns_of_the_hierarchy_either(awa):
    partial = PartialLabels.hide(awa, "attributes", 0.4, [0])
    _, lost = lacking(partial)
    assert lost
    assert not lost & set(partial.hierarchy.columns)
    for part in partial.hierarchy_parts.values():
        assert not lost & set(part.labels)


def test_the_study_compares_all_methods_and_goes_on_where_it_stopped(
    small_data, config, tmp_path, monkeypatch
):
    request = Request(small_data, tmp_path / "out")
    table = run_study("partial-zero-shot", request, config=config())
    assert len(table["rows"]) == 2 * 4
    for row in table["rows"]:
        assert 0 <= row["eszsl"] <= 100
        is_reference = row["method"] == "PHCLE"
        assert (row["conse_difference"] is None) == is_reference
        assert (row["conse_standard_error"] is None) == is_reference

    computed = []
    plain = partial_zero_shot._scores
    monkeypatch.setattr(
        partial_zero_shot,
        "_scores",
        lambda *call: computed.append(call[-1].split) or plain(*call),
    )
    assert (
        run_study("partial-zero-shot", request, config=config())["rows"]
        == (table["rows"])
    )
    assert computed == []
    run_study("partial-zero-shot", request, config=config(random=3))
    assert computed == [2]


def test_real_data_runs(shared_data, config, tmp_path):
    request = Request(shared_data, tmp_path / "out", quick=True)
    table = run_study("partial-zero-shot", request, config=config(images=20))
    assert {row["missing"] for row in table["rows"]} == {0.4}
    assert all(row["eszsl"] > 10 for row in table["rows"])
