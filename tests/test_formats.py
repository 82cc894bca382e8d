"""Files of the present format versions stay readable; others say what to do."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from reader_cases import forge, sealed, sealed_parts

import phcle
from phcle import PHCLE, load
from phcle.errors import FileError, PhcleWarning
from phcle.images import load_map

SOURCE = Path(phcle.__file__).parent
FORMATS = Path(__file__).parent / "fixtures" / "formats"
EMBEDDING, CHECKPOINT = "phcle.label-embedding", "phcle.checkpoint"
MAP, EXPLORER = "phcle.image-map", "phcle.explorer"


def module_at(path):
    spec = importlib.util.spec_from_file_location("make_formats", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = module_at(FORMATS / "make_formats.py")


def kept(format):
    """The kept file of the present version, and what it must hold."""
    path = made.present(format)
    return path, json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def resumed(path, **options):
    """A fit that goes on from a checkpoint."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contexts = made.contexts()
        model = PHCLE(**made.OPTIONS, **options)
        return model.fit(contexts, checkpoint=path, resume=True)


READERS = {EMBEDDING: load, CHECKPOINT: resumed, MAP: load_map}
"""How files that users name are read."""


def test_every_format_that_is_written_has_a_kept_file_of_its_version():
    written = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "write_sealed(" in text and path.stem != "container":
            (format,) = re.findall(r'^FORMAT\b.*? = "([^"]+)"', text, re.MULTILINE)
            (version,) = re.findall(r"^(?:FORMAT, )?VERSION = .*?(\d+)$", text, re.M)
            written.add(f"{format}-{version}.bin")
    assert written == {made.present(format).name for format in made.MAKERS}
    assert all(kept(format)[0].is_file() for format in made.MAKERS)


def test_an_embedding_still_holds_what_it_held():
    path, about = kept(EMBEDDING)
    found = load(path)
    assert list(found.labels) == about["labels"]
    assert found.names == about["names"]
    assert found.vectors.tolist() == about["vectors"]
    assert {x.name: [x.kind, list(x.columns)] for x in found.contexts} == (
        about["contexts"]
    )
    assert {x.name: x.weight for x in found.contexts} == about["weights"]
    assert found.penalties == about["penalties"]
    assert found.options["random_state"] == about["seed"]
    assert len(found.history) - 1 == about["sweeps"]
    near = found.nearest("cat", 2)
    assert [label for label, _ in near] == [label for label, _ in about["nearest"]]
    assert found.explain("cat", "lion").similarity == pytest.approx(
        about["explained"], abs=1e-6
    )
    found.describe("Cat 🐈")


@pytest.mark.parametrize("kind", ["shared", "walks"])
def test_an_embedding_with_a_kind_of_hierarchy_that_is_gone_still_loads(tmp_path, kind):
    path, about = kept(EMBEDDING)
    copy = Path(shutil.copy(path, tmp_path / "x.phcle"))
    forge(copy, lambda x, _: x["contexts"][0]["hierarchy"].update(kind=kind))
    with pytest.warns(PhcleWarning, match=f"'tree' .* kind='{kind}', which is gone"):
        found = load(copy)
    assert found.vectors.tolist() == about["vectors"]
    assert found.contexts[0].counts.nnz > 0


def test_a_map_still_answers_as_it_did():
    path, about = kept(MAP)
    found = load_map(path)
    assert list(found.classes) == about["classes"]
    assert found.penalties == about["penalties"]
    assert found.n_images == about["n_images"]
    np.testing.assert_allclose(found.vectors(made.FEATURES), about["vectors"], 1e-6)


def test_a_checkpoint_still_resumes_to_the_same_vectors(tmp_path):
    path, about = kept(CHECKPOINT)
    model = resumed(shutil.copy(path, tmp_path / "fit.ckpt"))
    assert model.weights_ == about["weights"]
    assert len(model.history_) - 1 == about["sweeps"]
    np.testing.assert_allclose(model.embedding_.vectors, about["vectors"], atol=1e-4)


def test_an_option_that_came_after_a_checkpoint_had_its_default(tmp_path):
    copy = Path(shutil.copy(kept(CHECKPOINT)[0], tmp_path / "fit.ckpt"))
    forge(copy, lambda x, _: x["prints"]["options"].pop("complete_only"))
    resumed(copy)
    with pytest.raises(FileError, match="complete_only=False, this fit True"):
        resumed(copy, complete_only=True)


def test_places_of_the_explorers_maps_are_taken_up():
    path, about = kept(EXPLORER)
    assert made.read_explorer(path) == about


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (99, r"has format version 99, .*newer phcle wrote it, so update: pip install"),
        (0, "has no format version"),
        (True, "has no format version"),
        ("1", "has no format version"),
        (None, "has no format version"),
    ],
)
@pytest.mark.parametrize("format", READERS)
def test_a_file_of_another_version_is_refused_with_what_to_do(
    tmp_path, format, version, message
):
    whole, own, body = sealed_parts(made.present(format).read_bytes())
    path = tmp_path / "x.bin"
    path.write_bytes(sealed(whole, {**own, "version": version}, body))
    with pytest.raises(FileError, match=message) as caught:
        READERS[format](path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "read", "message"),
    [
        ("phcle.label-embedding-2", load, "has format version 2, .* fit again"),
        ("phcle.checkpoint-1", resumed, "version 1, .* fit again"),
        ("phcle.shard-1", load, "is of a fit in shards, .* fit again"),
        ("phcle.explorer-1", load, "beside an embedding; give the embedding"),
        ("phcle.explorer-compared-1", load_map, "beside an embedding; give the"),
    ],
)
def test_older_files_and_those_of_what_is_gone_are_refused_by_name(name, read, message):
    path = FORMATS / f"{name}.bin"
    with pytest.raises(FileError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_an_index_is_refused_by_name(tmp_path):
    whole, own, body = sealed_parts(made.present(EMBEDDING).read_bytes())
    path = tmp_path / "x.index"
    path.write_bytes(sealed(whole, {**own, "format": "phcle.label-index"}, body))
    with pytest.raises(FileError, match=r"x.index: is an index, .* give the embedding"):
        load(path)


def test_a_folder_of_shards_is_refused_by_name(tmp_path):
    (tmp_path / "fit.json").write_text("{}")
    with pytest.raises(FileError, match=r"is of a fit in shards, .* fit again"):
        load(tmp_path)
