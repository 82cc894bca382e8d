"""Every reader of files, with small whole files to start from.

Tests and `tools/fuzz_readers.py` share this table. A reader is a function of a path; a
family is read by the same code. `made` turns bytes into the file that is read, where
damage would otherwise never get past a checksum or a compression.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from phcle import PHCLE, DescriptiveContext, LabelEmbedding, RelationalContext, load
from phcle.contexts.readers import label_files as readers
from phcle.contexts.readers.context_files import ContextFile
from phcle.contexts.readers.delimited import read_text
from phcle.contexts.readers.file_to_context import read_and_summarise
from phcle.datasets import load_feature_folder
from phcle.files import checksum, parse_json
from phcle.images import read_array, read_feature_rows
from phcle.solver.checkpoint import Checkpoint

ROWS = {
    "hierarchy": b"child,parent\ncat,felid\nlion,felid\ndog,canid\ncanid,beast\n",
    "edges": b'source,target,weight\ncat,dog,2\n"a, b",cat,0.5\n',
    "annotations": b"item,label\n1,cat\n1,dog\n2,cat\n2,fox\n",
    "attributes": b"label,weight,colour\ncat,4,grey\ndog,,brown\nfox,6.5e0,\n",
    "tags": b"label,tag\ncat,fur\ncat,tame\nfish,\n",
    "texts": b'label,text\ncat,"soft, and\nsmall fur"\ndog,loyal fur\n',
}
TREE = [("cat", "felid"), ("lion", "felid"), ("dog", "canid"), ("wolf", "canid")]
TREE += [("felid", "beast"), ("canid", "beast")]
WIDTH = 3
DTYPES = {
    **{"BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "F16": "f2"},
    **{"U32": "u4", "I32": "i4", "F32": "f4", "U64": "u8", "I64": "i8", "F64": "f8"},
}
"""What safetensors calls NumPy's types."""


@dataclass(frozen=True)
class Reader:
    """A reader, a file that it takes, and what the file is called."""

    name: str
    family: str
    file: str
    read: Callable[[Path], Any]
    seeds: Callable[[], list[bytes]]
    made: Callable[[bytes], bytes] = lambda data: data
    use: Callable[[Any], Any] = lambda found: found
    """What is done with it afterwards, which must not fail either."""
    needs: str = ""
    """The optional library that it reads with."""


def context_of(sort: str) -> Callable[[Path], Any]:
    return lambda path: read_and_summarise(ContextFile(sort, path), min_count=1)[0]


@cache
def small_embedding() -> LabelEmbedding:
    contexts = [
        RelationalContext.from_hierarchy(TREE, name="tree"),
        DescriptiveContext.from_tags(
            {"cat": ["tame"], "dog": ["tame"], "wolf": ["wild"]}, name="tags"
        ),
        DescriptiveContext.from_cells(
            ("cat", "dog", "lion"), {"size": ["1", "", "4"], "fur": ["a", "b", ""]}, "x"
        ),
    ]
    model = PHCLE(dim=WIDTH, backend="numpy", max_iter=200, tol=0.1)
    return model.fit(contexts, names={"cat": "Cat"}).embedding_


def bytes_of(save: Callable[[Path], Any]) -> bytes:
    """What a function writes to a file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        save(path)
        return path.read_bytes()


def sealed_parts(data: bytes) -> tuple[dict[str, Any], Any, bytes]:
    """Own header, content and the rest of a sealed file."""
    (length,) = struct.unpack("<Q", data[:8])
    whole = json.loads(data[8 : 8 + length])
    own = json.loads(whole["__metadata__"]["phcle"])
    return whole, own, data[8 + length :]


def sealed(whole: dict[str, Any], own: dict[str, Any], body: bytes) -> bytes:
    """A sealed file with a checksum that fits, whatever is in it."""
    tensors = {}
    for name, entry in whole.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        tensors[name] = np.frombuffer(body[begin:end], dtype).reshape(entry["shape"])
    own = {**own, "checksum": checksum(str(own["content"]), tensors)}
    whole = {**whole, "__metadata__": {"phcle": json.dumps(own)}}
    header = json.dumps(whole).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + body


def resealed(data: bytes) -> bytes:
    """The same damage with a checksum that fits; as it is where that cannot be."""
    try:
        return sealed(*sealed_parts(data))
    except Exception:
        return data


def asked(embedding: LabelEmbedding) -> None:
    """Ask an embedding whatever the command line can ask."""
    from phcle.uses.named_answers import summarise

    json.dumps(summarise(embedding).to_dict())
    if not len(embedding):
        return
    first, last = embedding.labels[0], embedding.labels[-1]
    embedding.nearest(first, k=2)
    embedding.describe(first)
    embedding.explain(first, last)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def npz_of_member(data: bytes) -> bytes:
    """An archive whose features are the given `.npy` bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("features.npy", data)
        archive.writestr("labels.npy", npy(np.array(["a", "b"])))
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def mat(compressed: bool) -> bytes:
    import scipy.io

    file = io.BytesIO()
    cells = np.array([["ox"], ["killer+whale"]], dtype=object)
    content = {"allclasses_names": cells, "att": np.arange(6.0).reshape(3, 2)}
    scipy.io.savemat(file, content, do_compression=compressed)
    return file.getvalue()


def mat_packed(data: bytes) -> bytes:
    """The elements of a MAT file, each packed as MATLAB does."""
    found, place = data[:128], 128
    while place + 8 <= len(data):
        _, size = struct.unpack("<II", data[place : place + 8])
        packed = zlib.compress(data[place : place + 8 + size])
        found += struct.pack("<II", 15, len(packed)) + packed
        place += 8 + size
    return found


def read_json(path: Path) -> Any:
    return parse_json(read_text(path), str(path))


def read_mat(path: Path) -> Any:
    from phcle_paper.datasets.mat_files import MatFile
    from phcle_paper.datasets.releases import XLSA17

    file = MatFile(path, ("allclasses_names", "att"), XLSA17)
    names = file.names("allclasses_names", "one name per class")
    return names, file.numbers("att", (None, len(names)), "attributes")


def vectors_binary() -> bytes:
    rows = [(b"cat", [1, 2]), (b"dog", [3, 4])]
    body = b"".join(w + b" " + np.float32(v).tobytes() + b"\n" for w, v in rows)
    return b"2 2\n" + body


def tree_problem() -> Any:
    return [RelationalContext.from_hierarchy(TREE, name="tree")]


def checkpointed(path: Path) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PHCLE(dim=WIDTH, backend="numpy", max_iter=2, tol=0.0, calibrate=False)
        model.fit(tree_problem(), checkpoint=path)


@cache
def checkpoint_prints() -> tuple[Any, Any]:
    """What a resumed fit compares with, and the shapes it needs."""
    kept: list[Any] = []

    def keep(self: Checkpoint) -> None:
        kept.append((self.prints, self.shapes))
        raise KeyboardInterrupt

    class Held(Checkpoint):
        read = keep

    from phcle import estimator

    before = estimator.Checkpoint
    estimator.Checkpoint = Held
    try:
        model = PHCLE(dim=WIDTH, backend="numpy", max_iter=2, tol=0.0, calibrate=False)
        model.fit(tree_problem(), checkpoint="unused", resume=True)
    except KeyboardInterrupt:
        pass
    finally:
        estimator.Checkpoint = before
    return kept[0]


def read_checkpoint(path: Path) -> Any:
    prints, shapes = checkpoint_prints()
    return Checkpoint(path, 0.0, prints, {}, shapes).read()


def image_map(path: Path) -> None:
    from phcle.images import ImageMap

    found = ImageMap.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], small_embedding())
    found.save(path)


def read_map(path: Path) -> Any:
    from phcle.images import load_map

    return load_map(path)


def looked_at(found: Any) -> None:
    found.vectors(np.ones((1, len(found.weights))))


def read_parquet(path: Path) -> Any:
    return RelationalContext.from_annotation_table(path, name=path.name)


def parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"item": ["1", "1", "2"], "label": ["cat", "dog", "cat"]})
    return bytes_of(lambda path: pq.write_table(table, path))


def parquet_table() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {"label": ["cat", "dog"], "kg": [4.5, None], "wild": [False, None]}
    )
    return bytes_of(lambda path: pq.write_table(table, path))


TURTLE = b"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://x.org/> .
:cat skos:broader :felid ; skos:prefLabel "cat"@en, "Katze"@de .
:lion skos:broader [ skos:broader :felid ] ; skos:definition "Large."@en .
"""
OWL = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:owl="http://www.w3.org/2002/07/owl#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Class rdf:about="http://x.org/cat"><rdfs:label>cat</rdfs:label>
<rdfs:subClassOf rdf:resource="http://x.org/felid"/></owl:Class></rdf:RDF>
"""
JSON_LD = b"""{"@context": {"b": "http://www.w3.org/2004/02/skos/core#broader"},
"@id": "http://x.org/cat", "b": {"@id": "http://x.org/felid"}}
"""
DEBIAN = b"""Package: nano
Section: editors
Depends: libc6 (>= 2.34), libncursesw6 | libncurses6
Tag: implemented-in::c, interface::text-mode,
 works-with::text
Description: small, friendly text editor

Package: rsync
Section: net
Tag: implemented-in::c
"""


def read_vocabulary(path: Path) -> Any:
    from phcle.contexts.readers.ontologies import from_owl, from_skos

    found = (from_owl if path.suffix == ".owl" else from_skos)(path)
    return found.hierarchy()


def read_debian(path: Path) -> Any:
    from phcle_paper.datasets.debian import parse_package
    from phcle_paper.datasets.debian_index import read_stanzas

    return [parse_package(stanza) for stanza in read_stanzas(path)]


def picture() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(file, "PNG")
    return file.getvalue()


def read_picture(path: Path) -> Any:
    from phcle.images import read_photo

    return read_photo(path)


@cache
def fit_command() -> tuple[Any, Any]:
    from typer.main import get_command

    from phcle.cli.app import app

    group: Any = get_command(app)
    parent = group.make_context("phcle", ["fit"], resilient_parsing=True)
    return parent, group.get_command(parent, "fit")


def read_config(path: Path) -> Any:
    """Options as `phcle fit --config` takes them, up to the work itself."""
    from phcle.errors import OptionError

    parent, command = fit_command()
    try:
        with command.make_context("fit", ["--config", str(path)], parent=parent) as own:
            return dict(own.params)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        # An error of usage, which typer shows and ends with exit code 2.
        raise OptionError(f"{path}: {error.format_message()}") from error


CONFIG = b"""out = "labels.phcle"
[fit]
hierarchy = "tree.csv"
attributes = ["looks.csv", "uses=more.csv"]
dim = 50
weights = { tree = 1, looks = 0.5 }
"""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _tables() -> list[Reader]:
    found = [
        Reader(sort, "tables", "table.csv", context_of(sort), lambda rows=rows: [rows])
        for sort, rows in ROWS.items()
    ]
    tabs = ROWS["hierarchy"].replace(b",", b"\t")
    return [
        *found,
        Reader("tsv", "tables", "table.tsv", context_of("hierarchy"), lambda: [tabs]),
        Reader(
            "names",
            "tables",
            "names.csv",
            readers.read_names,
            lambda: [b"label,name\nn1,coffeepot\nn2,\n"],
        ),
    ]


def _arrays() -> list[Reader]:
    features = np.arange(6.0).reshape(2, 3)
    whole = {"features": features, "labels": np.array([0, 1]), "wnids": ["n1", "n2"]}
    return [
        Reader(
            "features.npy", "numpy", "x.npy", read_feature_rows, lambda: [npy(features)]
        ),
        Reader(
            "labels.npy",
            "numpy",
            "x.npy",
            lambda path: read_array(path, 1).tolist(),
            lambda: [npy(np.array(["cat", "ñ"]))],
        ),
        Reader(
            "npz", "numpy", "features.npz", load_feature_folder, lambda: [npz(**whole)]
        ),
        Reader(
            "npz member",
            "numpy",
            "features.npz",
            load_feature_folder,
            lambda: [npy(features)],
            npz_of_member,
        ),
    ]


def _sealed() -> list[Reader]:
    save = small_embedding().save
    kinds: list[tuple[str, str, str, Any, Any, Any]] = [
        ("embedding", "embedding", "a.phcle", load, save, asked),
        ("map", "maps", "a.map", read_map, image_map, looked_at),
        ("checkpoint", "maps", "a.ckpt", read_checkpoint, checkpointed, lambda x: x),
    ]
    return [
        Reader(
            name + ending,
            family,
            file,
            read,
            lambda save=save: [bytes_of(save)],
            made,
            use,
        )
        for name, family, file, read, save, use in kinds
        for ending, made in (("", lambda data: data), (", resealed", resealed))
    ]


def _others() -> list[Reader]:
    words = b"3 2\ncat 1 2\ndog 3e-1 4\nfox -1 0\n"
    return [
        Reader(
            "vectors",
            "vectors",
            "v.txt",
            context_of("vectors"),
            lambda: [words, words[4:]],
        ),
        Reader(
            "vectors, binary",
            "vectors",
            "v.bin",
            context_of("vectors"),
            lambda: [vectors_binary()],
        ),
        Reader(
            "labels", "lists", "ids.txt", readers.read_labels, lambda: [b"cat\r\ndog\n"]
        ),
        Reader(
            "json",
            "lists",
            "split.json",
            read_json,
            lambda: [b'{"seen": ["is red", "has fur"], "unseen": []}'],
        ),
        Reader("toml", "config", "run.toml", read_config, lambda: [CONFIG]),
        Reader(
            "mat",
            "mat",
            "x.mat",
            read_mat,
            lambda: [mat(False), mat(True)],
            needs="phcle_paper",
        ),
        Reader(
            "mat, packed",
            "mat",
            "x.mat",
            read_mat,
            lambda: [mat(False)],
            mat_packed,
            needs="phcle_paper",
        ),
        Reader(
            "parquet",
            "parquet",
            "a.parquet",
            read_parquet,
            lambda: [parquet()],
            needs="pyarrow",
        ),
        Reader(
            "parquet, attributes",
            "parquet",
            "t.parquet",
            readers.read_attributes,
            lambda: [parquet_table()],
            needs="pyarrow",
        ),
        *_vocabularies(),
        Reader(
            "debian",
            "lists",
            "Packages",
            read_debian,
            lambda: [DEBIAN],
            needs="phcle_paper",
        ),
        Reader(
            "picture",
            "pictures",
            "p.png",
            read_picture,
            lambda: [picture()],
            needs="PIL",
        ),
    ]


def _vocabularies() -> list[Reader]:
    files = [
        ("skos", "ttl", TURTLE),
        ("owl", "owl", OWL),
        ("json-ld", "jsonld", JSON_LD),
    ]
    return [
        Reader(
            name,
            "ontologies",
            f"v.{ending}",
            read_vocabulary,
            lambda content=content: [content],
            needs="rdflib",
        )
        for name, ending, content in files
    ]


READERS = {
    reader.name: reader for reader in [*_tables(), *_arrays(), *_sealed(), *_others()]
}
FAMILIES = tuple(dict.fromkeys(reader.family for reader in READERS.values()))
