"""Files of the present format versions stay readable; others say what to do."""

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
from phcle.embedding import storage
from phcle.errors import FileError, PhcleWarning
from phcle.explorer import precomputed, second_layout
from phcle.images import load_map
from phcle.solver import checkpoint
from phcle.uses.pictures import image_map

SOURCE = Path(phcle.__file__).parent
FORMATS = Path(__file__).parent / "fixtures" / "formats"


READERS = {storage: load, checkpoint: checkpoint.look_into, image_map: load_map}
"""How files that users name are read."""


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
    """Files of this version of a format that were not kept."""
    names = [f"{format}-{version}{end}" for end in (".bin", ".json")]
    return [name for name in names if not (FORMATS / name).is_file()]


def kept(name):
    """A file that was kept, and what it must hold."""
    about = json.loads((FORMATS / f"{name}.json").read_text(encoding="utf-8"))
    return FORMATS / f"{name}.bin", about


def present(module):
    """The name of the kept file of the present version."""
    return f"{module.FORMAT}-{module.VERSION}"


@pytest.mark.parametrize("module", list(writers()), ids=lambda x: x.__name__)
def test_a_file_of_the_present_version_is_kept(module):
    assert missing(module.FORMAT, module.VERSION) == []
    assert module.FORMAT in made.MAKERS


def test_a_raised_version_without_a_file_is_noticed():
    for module in writers():
        assert missing(module.FORMAT, module.VERSION + 1)


def test_an_embedding_still_holds_what_it_held():
    path, about = kept(present(storage))
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
    path, about = kept(present(storage))
    whole, own, body = sealed_parts(path.read_bytes())
    content = json.loads(own["content"])
    content["contexts"][0]["hierarchy"]["kind"] = kind
    copy = tmp_path / "x.phcle"
    copy.write_bytes(sealed(whole, {**own, "content": json.dumps(content)}, body))
    with pytest.warns(PhcleWarning, match=f"'tree' .* kind='{kind}', which is gone"):
        found = load(copy)
    assert found.vectors.tolist() == about["vectors"]
    assert found.contexts[0].data.counts.nnz > 0


def test_a_map_still_answers_as_it_did():
    path, about = kept(present(image_map))
    found = load_map(path)
    assert list(found.classes) == about["classes"]
    assert found.penalties == about["penalties"]
    assert found.n_images == about["n_images"]
    np.testing.assert_allclose(found.vectors(made.FEATURES), about["vectors"], 1e-6)


def test_a_checkpoint_still_resumes_to_the_same_vectors(tmp_path):
    path, about = kept(present(checkpoint))
    copy = shutil.copy(path, tmp_path / "fit.ckpt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contexts = made.contexts()
        model = PHCLE(**made.OPTIONS).fit(contexts, checkpoint=copy, resume=True)
    assert model.weights_ == about["weights"]
    assert len(model.history_) - 1 == about["sweeps"]
    np.testing.assert_allclose(model.embedding_.vectors, about["vectors"], atol=1e-4)


def test_an_option_that_came_after_a_checkpoint_had_its_default(tmp_path):
    path, _ = kept(present(checkpoint))
    whole, own, body = sealed_parts(path.read_bytes())
    content = json.loads(own["content"])
    del content["prints"]["options"]["complete_only"]
    copy = tmp_path / "fit.ckpt"
    copy.write_bytes(sealed(whole, {**own, "content": json.dumps(content)}, body))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contexts = made.contexts()
        PHCLE(**made.OPTIONS).fit(contexts, checkpoint=copy, resume=True)
    with pytest.raises(FileError, match="complete_only=False, this fit True"):
        PHCLE(**made.OPTIONS, complete_only=True).fit(
            made.contexts()[:1], checkpoint=copy, resume=True
        )


def test_a_prepared_map_is_taken_up():
    path, about = kept(present(precomputed))
    found = precomputed.load_precomputed(path, made.kept_embedding())
    assert found.places.tolist() == about["places"]
    assert found.clusters.tolist() == about["clusters"]


def test_a_layout_of_a_second_map_is_taken_up():
    path, about = kept(present(second_layout))
    found = second_layout.SecondLayout(
        path, made.kept_embedding(), *made.FIRST_MAP
    ).load()
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
@pytest.mark.parametrize("module", READERS, ids=lambda x: x.__name__)
def test_a_file_of_another_version_is_refused_with_what_to_do(
    tmp_path, module, version, message
):
    kept_file = FORMATS / f"{present(module)}.bin"
    whole, own, body = sealed_parts(kept_file.read_bytes())
    path = tmp_path / "x.bin"
    path.write_bytes(sealed(whole, {**own, "version": version}, body))
    read = READERS[module]
    with pytest.raises(FileError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "read", "message"),
    [
        ("phcle.label-embedding-2", load, "has format version 2, .* fit again"),
        ("phcle.checkpoint-1", checkpoint.look_into, "version 1, .* fit again"),
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
    kept_file = FORMATS / f"{present(storage)}.bin"
    whole, own, body = sealed_parts(kept_file.read_bytes())
    path = tmp_path / "x.index"
    path.write_bytes(sealed(whole, {**own, "format": "phcle.label-index"}, body))
    with pytest.raises(FileError, match=r"x.index: is an index, .* give the embedding"):
        load(path)


def test_a_fit_does_not_resume_from_an_older_checkpoint(tmp_path):
    copy = shutil.copy(FORMATS / "phcle.checkpoint-1.bin", tmp_path / "fit.ckpt")
    with pytest.raises(FileError, match="fit again"):
        PHCLE(**made.OPTIONS).fit(made.contexts()[:1], checkpoint=copy, resume=True)


def test_a_folder_of_shards_is_refused_by_name(tmp_path):
    (tmp_path / "fit.json").write_text("{}")
    with pytest.raises(FileError, match=r"is of a fit in shards, .* fit again"):
        load(tmp_path)
