"""Files of every format version stay readable, and a newer one says what to do."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from reader_cases import sealed, sealed_parts

import phcle
from phcle import PHCLE, load
from phcle.errors import FileError
from phcle.explorer import precomputed
from phcle.explorer.second_layout import SecondLayout
from phcle.files import read_sealed
from phcle.images import load_map
from phcle.solver import shard_files
from phcle.uses.neighbour_search import Neighbours

SOURCE = Path(phcle.__file__).parent
FORMATS = Path(__file__).parent / "fixtures" / "formats"
REFUSED = {"phcle.label-index-1"}
"""Versions that are made anew: an index can always be, from its embedding."""


def module_at(path):
    spec = importlib.util.spec_from_file_location("make_formats", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = module_at(FORMATS / "make_formats.py")


def writers():
    """Modules that write files of ours."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "write_sealed(" in path.read_text() and path.stem != "archive":
            name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
            yield importlib.import_module(name)


def missing(format, version):
    """Versions of a format, up to this one, of which no file was kept."""
    names = [f"{format}-{i}" for i in range(1, version + 1)]
    return [
        x
        for x in names
        for end in (".bin", ".json")
        if not (FORMATS / (x + end)).is_file()
    ]


def kept(name):
    """A file that was kept, and what it must hold."""
    about = json.loads((FORMATS / f"{name}.json").read_text(encoding="utf-8"))
    return FORMATS / f"{name}.bin", about


def versions(format):
    return sorted(path.stem for path in FORMATS.glob(f"{format}-[0-9]*.bin"))


@pytest.mark.parametrize("module", list(writers()), ids=lambda x: x.__name__)
def test_a_file_of_every_version_is_kept(module):
    assert missing(module.FORMAT, module.VERSION) == []
    assert module.FORMAT in made.MAKERS


def test_a_raised_version_without_a_file_is_noticed():
    for module in writers():
        assert missing(module.FORMAT, module.VERSION + 1)


@pytest.mark.parametrize("name", versions("phcle.label-embedding"))
def test_every_embedding_still_holds_what_it_held(name):
    path, about = kept(name)
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


@pytest.mark.parametrize("name", versions("phcle.image-map"))
def test_every_map_still_answers_as_it_did(name):
    path, about = kept(name)
    found = load_map(path)
    assert list(found.classes) == about["classes"]
    assert found.penalties == about["penalties"]
    assert found.n_images == about["n_images"]
    np.testing.assert_allclose(found.vectors(made.FEATURES), about["vectors"], 1e-6)


@pytest.mark.parametrize("name", versions("phcle.checkpoint"))
def test_every_checkpoint_still_resumes_to_the_same_vectors(tmp_path, name):
    path, about = kept(name)
    copy = shutil.copy(path, tmp_path / "fit.ckpt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contexts = made.contexts_of_checkpoints()
        model = PHCLE(**made.OPTIONS).fit(contexts, checkpoint=copy, resume=True)
    assert model.weights_ == about["weights"]
    assert len(model.history_) - 1 == about["sweeps"]
    np.testing.assert_allclose(model.embedding_.vectors, about["vectors"], atol=1e-4)


@pytest.mark.parametrize("name", versions("phcle.shard"))
def test_every_part_of_a_sharded_fit_still_holds_what_it_held(name):
    path, about = kept(name)
    found, tensors = read_sealed(path, shard_files.FORMAT, shard_files.VERSION, "")
    assert found["part"] == about["part"]
    for key in ("W", "C0"):
        assert tensors[key].tolist() == about[key]


def test_an_option_that_came_after_a_checkpoint_had_its_default(tmp_path):
    path, _ = kept("phcle.checkpoint-1")
    whole, own, body = sealed_parts(path.read_bytes())
    content = json.loads(own["content"])
    del content["prints"]["options"]["complete_only"]
    copy = tmp_path / "fit.ckpt"
    copy.write_bytes(sealed(whole, {**own, "content": json.dumps(content)}, body))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contexts = made.contexts_of_checkpoints()
        PHCLE(**made.OPTIONS).fit(contexts, checkpoint=copy, resume=True)
    with pytest.raises(FileError, match="complete_only=False, this fit True"):
        PHCLE(**made.OPTIONS, complete_only=True).fit(
            made.contexts()[:1], checkpoint=copy, resume=True
        )


@pytest.mark.parametrize("name", versions("phcle.label-index"))
def test_every_index_answers_as_it_did_or_is_made_anew(name):
    pytest.importorskip("faiss", reason="the extra 'index' is not installed")
    path, about = kept(name)
    embedding = load(FORMATS / "phcle.label-embedding-1.bin")
    if name in REFUSED:
        with pytest.raises(FileError, match=r"version 1, .* make the file anew"):
            Neighbours.load(embedding, path)
        return
    found = Neighbours.load(embedding, path)
    assert [label for label, _ in found.nearest("cat", 2)] == about["nearest"]


@pytest.mark.parametrize("name", versions("phcle.explorer"))
def test_every_prepared_map_is_taken_up(name):
    path, about = kept(name)
    embedding = load(FORMATS / "phcle.label-embedding-1.bin")
    found = precomputed.load_precomputed(path, embedding)
    assert found.places.tolist() == about["places"]
    assert found.clusters.tolist() == about["clusters"]


@pytest.mark.parametrize("name", versions("phcle.explorer-compared"))
def test_every_layout_of_a_second_map_is_taken_up(name):
    path, about = kept(name)
    embedding = load(FORMATS / "phcle.label-embedding-1.bin")
    found = SecondLayout(path, embedding, *made.FIRST_MAP).load()
    assert found is not None
    assert found.tolist() == about["places"]


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
@pytest.mark.parametrize("format", ["phcle.label-embedding", "phcle.image-map"])
def test_a_file_of_another_version_is_refused_with_what_to_do(
    tmp_path, format, version, message
):
    whole, own, body = sealed_parts((FORMATS / f"{format}-1.bin").read_bytes())
    path = tmp_path / "x.bin"
    path.write_bytes(sealed(whole, {**own, "version": version}, body))
    read = load if format == "phcle.label-embedding" else load_map
    with pytest.raises(FileError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
