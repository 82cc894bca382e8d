"""Files made to do harm: sizes that lie, bombs, and names that lead elsewhere."""

from __future__ import annotations

import gzip
import io
import json
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from reader_cases import READERS, mat, npy, sealed, sealed_parts

from phcle import LabelEmbedding, RelationalContext, load
from phcle.embedding.export import FORMATS, export
from phcle.errors import FileError
from phcle.files import format_of, read_sealed
from phcle.files.decompression import check_gzip, most_unpacked
from phcle.files.json_toml import parse_json

MEGABYTE = 1 << 20
BOMB = 128 * MEGABYTE
ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def safetensors(header, body=bytes(8), length=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + body


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0",
        safetensors({"a": ENTRY}, length=2**63),
        safetensors({"a": ENTRY}, length=10**6),
        safetensors(b"[1, 2]  "),
        safetensors(b"{" * 100_000),
        safetensors(b'{"a": ' + b"[" * 100_000),
        safetensors(b"\xff\xfe{}"),
        safetensors(b'{"a": 1, "a": 2}'),
        safetensors({"__metadata__": {"phcle": 1}}),
        safetensors({"a": [1]}),
        safetensors({"a": ENTRY | {"dtype": "F33"}}),
        safetensors({"a": ENTRY | {"dtype": ["F32"]}}),
        safetensors({"a": ENTRY | {"shape": [-2]}}),
        safetensors({"a": ENTRY | {"shape": [2.0]}}),
        safetensors({"a": ENTRY | {"shape": [True, 2]}}),
        safetensors({"a": ENTRY | {"shape": [2**40, 2**40]}}),
        safetensors({"a": ENTRY | {"shape": [2**62, 2**62]}}),
        safetensors({"a": ENTRY | {"data_offsets": [8, 0]}}),
        safetensors({"a": ENTRY | {"data_offsets": [4, 12]}}),
        safetensors({"a": ENTRY, "b": ENTRY}),
        safetensors({"a": ENTRY}, bytes(7)),
        safetensors({"a": ENTRY}, bytes(9)),
    ],
)
def test_a_header_of_safetensors_that_lies_is_refused(tmp_path, data):
    path = tmp_path / "x.phcle"
    path.write_bytes(data)
    with pytest.raises(FileError, match="is damaged, cut short, or not a") as caught:
        format_of(path)
    assert str(caught.value).startswith(str(path))
    with pytest.raises(FileError):
        load(path)


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY | {"dtype": "BF16", "shape": [4]},
        ENTRY | {"dtype": "F8_E4M3", "shape": [8]},
        ENTRY | {"shape": [1] * 70 + [2]},
    ],
)
def test_tensors_that_numpy_has_no_type_for_are_refused(tmp_path, entry):
    path = tmp_path / "x.phcle"
    own = json.dumps({"format": "a format", "version": 1})
    path.write_bytes(safetensors({"__metadata__": {"phcle": own}, "a": entry}))
    with pytest.raises(FileError, match="is damaged, cut short, or not a phcle file"):
        read_sealed(path, "a format", 1, "is of another format.")


EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}


@pytest.mark.parametrize(
    "header",
    [
        {str(i): EMPTY for i in range(20_000)},
        {"__metadata__": {f"{i}\\": "" for i in range(200_000)}},
        {"__metadata__": {"phcle": json.dumps(dict.fromkeys(range(200_000), 0))}},
    ],
    ids=["tensors", "metadata", "own metadata"],
)
def test_a_header_of_very_many_entries_is_not_even_parsed(tmp_path, header):
    path = tmp_path / "x.phcle"
    path.write_bytes(safetensors(header, b""))
    with pytest.raises(FileError, match="too many entries"):
        format_of(path)


def test_a_repeated_last_key_is_found_in_no_time():
    keys = ",".join(f'"k{i}":0' for i in range(30_000))
    began = time.process_time()
    with pytest.raises(FileError, match="'k29999' stands in it twice"):
        parse_json(f'{{{keys},"k29999":0}}', "file")
    assert time.process_time() - began < 2


def changed_content(tmp_path, change, name="embedding"):
    """A file of ours with changed content and a checksum that fits."""
    whole, own, body = sealed_parts(READERS[name].seeds()[0])
    content = json.loads(own["content"])
    change(content)
    path = tmp_path / READERS[name].file
    path.write_bytes(sealed(whole, {**own, "content": json.dumps(content)}, body))
    return path


def test_a_hierarchy_with_a_cycle_is_refused_as_following_it_would_never_end(tmp_path):
    whole, own, body = sealed_parts(READERS["embedding"].seeds()[0])
    begin, end = whole["contexts/0/edges"]["data_offsets"]
    edges = np.frombuffer(body[begin:end], np.int64).reshape(-1, 2).copy()
    edges[-1] = edges[-1][::-1]  # beast below canid, which is below beast
    edges[-2] = edges[-1][::-1]
    path = tmp_path / "a.phcle"
    path.write_bytes(sealed(whole, own, body[:begin] + edges.tobytes() + body[end:]))
    with pytest.raises(FileError, match="has a cycle"):
        load(path)


def test_content_with_half_a_character_is_refused(tmp_path):
    whole, own, body = sealed_parts(READERS["embedding"].seeds()[0])
    own["content"] = "\ud800"
    whole["__metadata__"] = {"phcle": json.dumps(own)}
    path = tmp_path / "a.phcle"
    path.write_bytes(safetensors(whole, body))
    with pytest.raises(FileError, match="checksum does not fit"):
        load(path)


def test_keys_of_a_later_release_are_left_alone(tmp_path):
    def change(content):
        content["later"] = {"x": 1}
        for context in content["contexts"]:
            context["later"] = 1
            for inner in ("hierarchy", "calibration"):
                if context.get(inner):
                    context[inner]["later"] = 1

    path = changed_content(tmp_path, change)
    assert load(path).labels == ("cat", "lion", "dog", "wolf")


def test_a_checkpoint_with_factors_of_other_sizes_is_refused(tmp_path):
    whole, own, body = sealed_parts(READERS["checkpoint"].seeds()[0])
    rows, columns = whole["W0"]["shape"]
    whole["W0"] = {**whole["W0"], "shape": [columns, rows]}
    path = tmp_path / "a.ckpt"
    path.write_bytes(sealed(whole, own, body))
    with pytest.raises(FileError, match="factors of the shapes"):
        READERS["checkpoint"].read(path)


def zeros_gzip(n):
    return gzip.compress(bytes(n), compresslevel=1)


def mat_bomb():
    """A MAT file whose element unpacks to far more than the file."""
    whole = mat(False)
    inner = whole[128:]
    (size,) = struct.unpack("<I", inner[4:8])
    names, rest = inner[: 8 + size], inner[8 + size :]
    head = rest[: 8 + 56]  # flags, sizes and name of `att`
    raw = struct.pack("<II", 14, len(head) - 8 + 8 + BOMB) + head[8:]
    raw += struct.pack("<II", 9, BOMB) + bytes(BOMB)
    packed = zlib.compress(raw, 1)
    return whole[:128] + names + struct.pack("<II", 15, len(packed)) + packed


def npz_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        head = npy(np.zeros((2, 1)))[:128].replace(b"(2, 1)", b"(2, %d)" % (BOMB // 16))
        archive.writestr("features.npy", head[:128] + bytes(BOMB))
        archive.writestr("labels.npy", npy(np.array(["a", "b"])))
    return file.getvalue()


def lying_npy(n=10**12):
    data = npy(np.zeros((2, 1)))
    lie = b"(2, %d)" % n
    head = data[:128].replace(b"(2, 1)", lie)
    spare = len(lie) - len(b"(2, 1)")
    return head.replace(b" " * spare, b"", 1)[:128] + data[128:]


def lying_npz():
    return READERS["npz member"].made(lying_npy())


BOMBS = {
    "npz": (npz_bomb, "more than 200 times as many"),
    "npz member": (lying_npy, "does not fit its"),
    "features.npy": (lying_npy, "does not fit its"),
    "mat": (mat_bomb, "packed bytes unpack to"),
    "vectors, binary": (lambda: b"1000000000000 1000000\ncat 1234", "do not fit its"),
    "embedding": (lambda: safetensors({"a": ENTRY}, length=2**40), "is damaged, cut"),
    "json": (lambda: b'{"a": ' + b"[" * 10**6, "is not JSON"),
}

MEASURE = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from reader_cases import READERS
from phcle.errors import PhcleError
from phcle.embedding import storage
import phcle.contexts.readers.word_vectors
import phcle_paper.datasets.imnet_attributes, phcle_paper.datasets.mat_files
import phcle_paper.datasets.releases
folder = Path(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
used = int(Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (96 << 20),) * 2)
for path in sorted(folder.iterdir()):
    reader = READERS[path.name.partition("@")[0]]
    try:
        reader.read(path)
        print("read", path.name)
    except PhcleError as error:
        print("refused", path.name, error)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("grown", (after - before) // 1024)
"""


def test_bombs_are_refused_within_a_hundred_megabytes(tmp_path):
    pytest.importorskip("phcle_paper", reason="phcle_paper is not installed")
    folder = tmp_path / "bombs"
    folder.mkdir()
    for name, (make, _) in BOMBS.items():
        reader = READERS[name]
        content = make()
        made = content if name == "npz" else reader.made(content)
        assert len(made) < 8 * MEGABYTE
        (folder / f"{name}@{reader.file}").write_bytes(made)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(Path(__file__).parents[1]), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = done.stdout.splitlines()
    for name, (_, message) in BOMBS.items():
        own = [line for line in lines if f" {name}@" in line]
        assert own, done.stdout
        assert own[0].startswith("refused"), own[0]
        assert message in own[0]
    assert int(lines[-1].split()[1]) < 96


def test_a_packed_table_may_unpack_to_two_hundred_times_its_size(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(zeros_gzip(BOMB))
    with pytest.raises(FileError, match="more than 200 times"):
        check_gzip(path)
    with pytest.raises(FileError, match="more than 200 times"):
        RelationalContext.from_annotation_table(path)
    path.write_bytes(zeros_gzip(most_unpacked(0)) + zeros_gzip(10))
    with pytest.raises(FileError, match="more than 200 times"):
        check_gzip(path)
    path.write_bytes(zeros_gzip(1000)[:-4])
    with pytest.raises(FileError, match="cut short"):
        check_gzip(path)
    path.write_bytes(b"\x1f\x8b\x09\0nonsense and more of it")
    with pytest.raises(FileError, match="damaged gzip"):
        check_gzip(path)


@pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")
def test_a_packed_table_of_usual_size_is_counted(tmp_path):
    pytest.importorskip("duckdb", reason="the extra 'engine' is not installed")
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"item,label\n1,cat\n1,dog\n"))
    assert RelationalContext.from_annotation_table(path).labels == ("cat", "dog")


def test_a_parquet_file_of_too_many_rows_is_refused_by_its_own_figures(
    tmp_path, monkeypatch
):
    pytest.importorskip("duckdb", reason="the extra 'engine' is not installed")
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet as pq

    monkeypatch.setattr("phcle.files.decompression.ALWAYS_FINE", MEGABYTE)
    monkeypatch.setattr("phcle.files.decompression.MOST_TIMES", 20)
    path = tmp_path / "bomb.parquet"
    codes = pa.array(np.zeros(4 * MEGABYTE, np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["cat"]))
    pq.write_table(pa.table({"item": column, "label": column}), path)
    assert path.stat().st_size < MEGABYTE // 8
    with pytest.raises(FileError, match="more than 20 times"):
        RelationalContext.from_annotation_table(path)


EVIL = ("../../outside", "/tmp/outside", "a\0b", "C:\\x", "..", "<script>", "a\nb")


@pytest.mark.parametrize("format", list(FORMATS))
def test_labels_never_become_the_names_of_files(tmp_path, format):
    names = {label: f"../{label}" for label in EVIL if "\0" not in label}
    embedding = LabelEmbedding(tuple(names), np.eye(len(names)), names=names)
    folder = tmp_path / "in" / "here"
    folder.mkdir(parents=True)
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    ending = FORMATS[format].endings[0]
    export(embedding, folder / f"out{ending}", format)
    written = {str(x.relative_to(tmp_path)) for x in tmp_path.rglob("*") if x.is_file()}
    assert written == {f"in/here/out{ending}"}


def test_a_file_that_is_cut_short_while_it_is_read_ends_no_process(tmp_path):
    path = tmp_path / "labels.phcle"
    vectors = np.ones((20_000, 20), dtype=np.float32)
    LabelEmbedding(tuple(map(str, range(20_000))), vectors).save(path)
    code = (
        "import os, sys, phcle\n"
        "from phcle.files import archive\n"
        "own_header = archive._own_header\n"
        "def cut_short(path, metadata):\n"
        "    os.truncate(path, 0)\n"
        "    return own_header(path, metadata)\n"
        "archive._own_header = cut_short\n"
        "print(len(phcle.load(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, path]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "20000\n")


def test_large_files_that_are_mapped_give_the_same_numbers(tmp_path, monkeypatch):
    path = tmp_path / "labels.phcle"
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    LabelEmbedding(("a", "b", "c"), vectors).save(path)
    whole = load(path)
    assert whole.vectors.flags.writeable
    monkeypatch.setattr("phcle.files.archive.MOST_READ_WHOLE", 10)
    np.testing.assert_array_equal(load(path).vectors, whole.vectors)
