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
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from phcle import (
    PHCLE,
    DescriptiveContext,
    LabelEmbedding,
    RelationalContext,
    completion_skill,
    load,
    suspicious_cells,
)
from phcle.errors import ContextWarning, NumericalError, OptionError
from phcle.files import checksum, read_npy, read_sealed, write_sealed
from phcle.images import (
    ImageMap,
    load_feature_folder,
    load_map,
    read_feature_rows,
    read_photo,
)
from phcle.tables import from_owl, from_skos, read_contexts

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
RESUMABLE = {"dim": WIDTH, "backend": "numpy", "max_iter": 2, "tol": 0.0}
RESUMABLE |= {"choose": False, "completion": "none"}
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

    @property
    def needs(self) -> str:
        """The optional library that it reads with."""
        return NEEDS.get(self.family, "")


NEEDS = {"mat": "phcle_paper", "parquet": "pyarrow", "ontologies": "rdflib"}
NEEDS |= {"pictures": "PIL"}


def context_of(kind: str) -> Callable[[Path], Any]:
    return lambda path: read_contexts(**{kind: path})[0]


@cache
def tags_beside() -> Path:
    """A whole table, as a list of labels or names alone is no context."""
    path = Path(tempfile.mkdtemp()) / "tags.csv"
    path.write_bytes(ROWS["tags"])
    return path


def read_labels(path: Path) -> Any:
    return read_contexts(tags=tags_beside(), labels=path).labels


def read_names(path: Path) -> Any:
    return read_contexts(tags=tags_beside(), names=path).names


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


@cache
def predicted_embedding() -> LabelEmbedding:
    """Twelve labels with predicted numbers, categories, dates and tags, and links."""
    labels = tuple(f"label {i}" for i in range(12))
    rows = range(9)
    cells = {
        "size": ["", *(str(i % 3 + i / 10) for i in rows)],
        "fur": [*("ab"[i % 3 > 0] for i in rows), ""],
        "born": [*(f"19{50 + i}-01-02" for i in rows), ""],
    }
    tags = {labels[i]: ["t0"] if i % 3 == 0 else ["t1", "t2"] for i in rows}
    edges = [(label, f"group {i % 3}") for i, label in enumerate(labels)]
    links = [
        (label, "near", labels[(5 * i + 1) % 12]) for i, label in enumerate(labels)
    ]
    contexts = [
        RelationalContext.from_hierarchy(edges, name="tree"),
        RelationalContext.from_triples(links, name="links"),
        DescriptiveContext.from_tags(tags, name="tags"),
        DescriptiveContext.from_cells(labels[:10], cells, "x"),
    ]
    model = PHCLE(dim=WIDTH, backend="numpy", max_iter=50, tol=0.1)
    return model.fit(contexts, names={"label 0": "First"}).embedding_


def bytes_of(save: Callable[[Path], Any]) -> bytes:
    """What a function writes to a file."""
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


def forge(path: Path, change: Callable[[Any, dict[str, Any]], Any]) -> None:
    """Change content and tensors of a sealed file, with a checksum that fits."""
    _, own, _ = sealed_parts(path.read_bytes())
    kind = own["format"], own["version"]
    content, tensors = read_sealed(path, *kind, "is of another format")
    change(content, tensors)
    write_sealed(path, *kind, content, tensors)


def asked(embedding: LabelEmbedding) -> None:
    """Ask an embedding whatever the command line can ask."""
    repr(embedding)
    with warnings.catch_warnings():  # it may have no predictions
        warnings.simplefilter("ignore", ContextWarning)
        embedding.complete()
    if not len(embedding):
        return
    first, last = embedding.labels[0], embedding.labels[-1]
    embedding.nearest(first, k=2)
    embedding.describe(first)
    embedding.explain(first, last)


def completed(embedding: LabelEmbedding) -> None:
    """Ask whatever its predictions answer."""
    asked(embedding)
    embedding.complete(why=True, probabilities=True)
    embedding.complete(draws=2)
    suspicious_cells(embedding)
    completion_skill(embedding)


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PHCLE(**RESUMABLE).fit(tree_problem(), checkpoint=path)


def read_checkpoint(path: Path) -> Any:
    """What a fit takes from a checkpoint; it ends as soon as it has that."""
    found = []

    def stop(state: Any) -> None:
        found.append(state)
        raise InterruptedError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PHCLE(**{**RESUMABLE, "max_iter": 3})
        try:
            model.fit(tree_problem(), checkpoint=path, resume=True, on_step=stop)
        except (InterruptedError, NumericalError):
            return found
    return found


def image_map(path: Path) -> None:
    found = ImageMap.fit([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], small_embedding())
    found.save(path)


def looked_at(found: Any) -> None:
    found.understand(np.ones((1, len(found.weights))), small_embedding())


def read_parquet(path: Path) -> Any:
    return RelationalContext.from_annotations(path, name=path.name)


def parquet(**columns: list[Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return bytes_of(lambda path: pq.write_table(pa.table(columns), path))


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


def read_vocabulary(path: Path) -> Any:
    found = (from_owl if path.suffix == ".owl" else from_skos)(path)
    return found.hierarchy()


def picture() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(file, "PNG")
    return file.getvalue()


def read_config(path: Path) -> Any:
    """Options as `phcle --config FILE fit` takes them, up to the work itself."""
    from command_line import options_of_fit

    try:
        return options_of_fit(path)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        # An error of usage, which typer shows and ends with exit code 2.
        raise OptionError(f"{path}: {error.format_message()}") from error


CONFIG = b"""out = "labels.phcle"
hierarchy = "tree.csv"
attributes = ["looks.csv", "uses=more.csv"]
dim = 50
weights = { tree = 1, looks = 0.5 }
"""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def kept(*whole: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(whole)


def _tables() -> list[Reader]:
    tabs = ROWS["hierarchy"].replace(b",", b"\t")
    names = b"label,name\ncat,coffeepot\nfish,\n"
    return [
        *(
            Reader(kind, "tables", "table.csv", context_of(kind), kept(rows))
            for kind, rows in ROWS.items()
        ),
        Reader("tsv", "tables", "table.tsv", context_of("hierarchy"), kept(tabs)),
        Reader("names", "tables", "names.csv", read_names, kept(names)),
    ]


def _arrays() -> list[Reader]:
    rows, column = np.arange(6.0).reshape(2, 3), npy(np.array(["cat", "ñ"]))
    features, numbered = npy(rows), {"labels": np.array([0, 1]), "wnids": ["n1", "n2"]}
    whole = npz(features=rows, **numbered)
    member = (load_feature_folder, kept(features), npz_of_member)
    return [
        Reader("features.npy", "numpy", "x.npy", read_feature_rows, kept(features)),
        Reader(
            "labels.npy", "numpy", "x.npy", lambda x: list(read_npy(x)), kept(column)
        ),
        Reader("npz", "numpy", "features.npz", load_feature_folder, kept(whole)),
        Reader("npz member", "numpy", "features.npz", *member),
    ]


def _sealed() -> list[Reader]:
    small, whole = small_embedding().save, lambda x: predicted_embedding().save(x)
    kinds: list[tuple[str, str, str, Any, Any, Any]] = [
        ("embedding", "embedding", "a.phcle", load, small, asked),
        ("predictions", "predictions", "p.phcle", load, whole, completed),
        ("map", "maps", "a.map", load_map, image_map, looked_at),
        ("checkpoint", "maps", "a.ckpt", read_checkpoint, checkpointed, repr),
    ]
    return [
        Reader(name + ending, family, file, read, partial(seeds_of, save), made, use)
        for name, family, file, read, save, use in kinds
        for ending, made in (("", bytes), (", resealed", resealed))
    ]


def seeds_of(save: Callable[[Path], Any]) -> list[bytes]:
    return [bytes_of(save)]


def _others() -> list[Reader]:
    words = b"3 2\ncat 1 2\ndog 3e-1 4\nfox -1 0\n"
    lists = b'{"seen": ["is red", "has fur"], "unseen": []}'
    vectors, tags = context_of("vectors"), context_of("tags")
    attributes = context_of("attributes")
    items = {"item": ["1", "1", "2"], "label": ["cat", "dog", "cat"]}
    table = {"label": ["cat", "dog"], "kg": [4.5, None], "wild": [False, None]}
    found: list[tuple[Any, ...]] = [
        ("vectors", "vectors", "v.txt", vectors, kept(words, words[4:])),
        ("vectors, binary", "vectors", "v.bin", vectors, kept(vectors_binary())),
        ("labels", "lists", "ids.txt", read_labels, kept(b"cat\r\nfish\n")),
        ("json", "lists", "split.json", tags, kept(lists)),
        ("toml", "config", "run.toml", read_config, kept(CONFIG)),
        ("mat", "mat", "x.mat", read_mat, lambda: [mat(False), mat(True)]),
        ("mat, packed", "mat", "x.mat", read_mat, lambda: [mat(False)], mat_packed),
        ("parquet", "parquet", "a.parquet", read_parquet, lambda: [parquet(**items)]),
        (
            *("parquet, attributes", "parquet", "t.parquet", attributes),
            lambda: [parquet(**table)],
        ),
        ("skos", "ontologies", "v.ttl", read_vocabulary, kept(TURTLE)),
        ("owl", "ontologies", "v.owl", read_vocabulary, kept(OWL)),
        ("json-ld", "ontologies", "v.jsonld", read_vocabulary, kept(JSON_LD)),
        ("picture", "pictures", "p.png", read_photo, lambda: [picture()]),
    ]
    return [Reader(*each) for each in found]


READERS = {
    reader.name: reader for reader in [*_tables(), *_arrays(), *_sealed(), *_others()]
}
FAMILIES = tuple(dict.fromkeys(reader.family for reader in READERS.values()))
