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
from reader_cases import READERS, WIDTH, forge, mat, npy, sealed_parts

from phcle import PHCLE, LabelEmbedding, RelationalContext, load
from phcle.cli import main
from phcle.errors import FileError
from phcle.files import format_of, parse_json, read_sealed

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


def forged(tmp_path, name, change):
    """The file of a reader, changed under a checksum that fits."""
    path = tmp_path / READERS[name].file
    path.write_bytes(READERS[name].seeds()[0])
    forge(path, change)
    return path


def test_a_hierarchy_with_a_cycle_is_refused_as_following_it_would_never_end(tmp_path):
    def close(_, tensors):
        edges = tensors["contexts/0/edges"].copy()
        edges[-1] = edges[-1][::-1]  # beast below canid, which is below beast
        edges[-2] = edges[-1][::-1]
        tensors["contexts/0/edges"] = edges

    with pytest.raises(FileError, match="has a cycle"):
        load(forged(tmp_path, "embedding", close))


@pytest.mark.parametrize(
    ("tensor", "value"),
    [("ends", 7), ("ends", -1), ("weight", np.nan), ("weight", -1.0)],
)
def test_links_between_labels_that_are_not_there_are_refused(tmp_path, tensor, value):
    triples = [("a", "in", "b"), ("b", "near", "c")]
    model = PHCLE(dim=2, completion="none")
    model.fit(RelationalContext.from_triples(triples)).embedding_.save(
        tmp_path / "graph.phcle"
    )

    def change(_, tensors):
        changed = tensors[f"contexts/0/links/{tensor}"].copy()
        changed[..., -1] = value
        tensors[f"contexts/0/links/{tensor}"] = changed

    forge(tmp_path / "graph.phcle", change)
    with pytest.raises(FileError, match="links are not links between the labels"):
        load(tmp_path / "graph.phcle")


def test_keys_of_a_later_release_are_left_alone(tmp_path):
    def change(content, _):
        content["later"] = {"x": 1}
        for context in content["contexts"]:
            context["later"] = 1
            if context.get("hierarchy"):
                context["hierarchy"]["later"] = 1

    path = forged(tmp_path, "embedding", change)
    assert load(path).labels == ("cat", "lion", "dog", "wolf")


def test_a_checkpoint_with_factors_of_other_sizes_is_refused(tmp_path):
    def turn(_, tensors):
        tensors["W0"] = tensors["W0"][1:]

    with pytest.raises(FileError, match="factors of the shapes"):
        READERS["checkpoint"].read(forged(tmp_path, "checkpoint", turn))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("chosen",), 7),
        (("chosen", "setting"), []),
        (("chosen", "setting", "dim"), WIDTH + 1),
        (("chosen", "setting", "roles"), 3),
        (("chosen", "setting", "shrinkage"), {"tree": "much"}),
        (("chosen", "trials"), [None]),
        (("chosen", "weighing"), 1),
        (("history",), [{"objective": 1.0}]),
    ],
)
def test_a_checkpoint_with_settings_that_cannot_be_is_refused(tmp_path, place, value):
    def change(content, _):
        for key in place[:-1]:
            content = content[key]
        content[place[-1]] = value

    path = forged(tmp_path, "checkpoint", change)
    with pytest.raises(FileError, match=r"a\.ckpt: is not a whole checkpoint"):
        READERS["checkpoint"].read(path)


def test_content_with_half_a_character_is_refused(tmp_path):
    whole, own, body = sealed_parts(READERS["embedding"].seeds()[0])
    own["content"] = "\ud800"
    whole["__metadata__"] = {"phcle": json.dumps(own)}
    path = tmp_path / "a.phcle"
    path.write_bytes(safetensors(whole, body))
    with pytest.raises(FileError, match="checksum does not fit"):
        load(path)


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


BOMBS = {
    "npz": (npz_bomb, "more than 200 times as many"),
    "npz member": (lying_npy, "is damaged, or not a NumPy file"),
    "features.npy": (lying_npy, "is damaged, or not a NumPy file"),
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
folder = Path(sys.argv[2])
for name in ("embedding", "vectors, binary", "json"):  # what reading imports
    whole = folder.parent / READERS[name].file
    whole.write_bytes(READERS[name].seeds()[0])
    READERS[name].read(whole)
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


def packed(*parts):
    return b"".join(gzip.compress(bytes(n), compresslevel=1) for n in parts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(BOMB), "more than 200 times"),
        (packed(64 * MEGABYTE, 10), "more than 200 times"),
        (packed(1000)[:-4], "cut short"),
        (b"\x1f\x8b\x09\0nonsense and more of it", "damaged gzip"),
    ],
    ids=["one", "two streams", "cut", "nonsense"],
)
def test_a_packed_table_that_is_damaged_or_far_too_large_is_refused(
    tmp_path, content, message
):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        RelationalContext.from_annotations(path)


def test_a_parquet_file_of_too_many_rows_is_refused_by_its_own_figures(tmp_path):
    pytest.importorskip("duckdb", reason="the extra 'engine' is not installed")
    pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    import pyarrow.parquet as pq

    path = tmp_path / "bomb.parquet"
    n_rows = 70 * MEGABYTE
    table = pa.table({"item": pa.nulls(n_rows), "label": pa.nulls(n_rows)})
    pq.write_table(table, path, row_group_size=n_rows)
    assert path.stat().st_size < MEGABYTE // 4
    with pytest.raises(FileError, match="more than 200 times"):
        RelationalContext.from_annotations(path)


EVIL = ("../../outside", "/tmp/outside", "a\0b", "C:\\x", "..", "<script>", "a\nb")


@pytest.mark.parametrize("ending", ["csv", "vec", "parquet"])
def test_labels_never_become_the_names_of_files(tmp_path, ending, monkeypatch):
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    names = {label: f"../{label}" for label in EVIL if "\0" not in label}
    folder = tmp_path / "in" / "here"
    folder.mkdir(parents=True)
    LabelEmbedding(tuple(names), np.eye(len(names)), names=names).save(folder / "a")
    command = ["phcle", "export", folder / "a", "--out", folder / f"out.{ending}"]
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    with pytest.raises(SystemExit, match="0"):
        main()
    written = {str(x.relative_to(tmp_path)) for x in tmp_path.rglob("*") if x.is_file()}
    assert written == {"in/here/a", f"in/here/out.{ending}"}


def test_a_file_that_is_cut_short_while_it_is_read_ends_no_process(tmp_path):
    path = tmp_path / "labels.phcle"
    vectors = np.ones((20_000, 20), dtype=np.float32)
    LabelEmbedding(tuple(map(str, range(20_000))), vectors).save(path)
    code = (
        "import json, os, sys, phcle\n"
        "phcle.load(sys.argv[1])\n"
        "loads = json.loads\n"
        "def cut_short(*given, **options):\n"
        "    os.truncate(sys.argv[1], 0)\n"
        "    return loads(*given, **options)\n"
        "json.loads = cut_short\n"
        "print(len(phcle.load(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, path]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "20000\n")
    assert path.stat().st_size == 0


def test_large_files_that_are_mapped_give_the_same_numbers(tmp_path):
    vectors = np.arange(17_000_000, dtype=np.float32).reshape(2, -1)
    LabelEmbedding(("a", "b"), vectors).save(tmp_path / "labels.phcle")
    assert (tmp_path / "labels.phcle").stat().st_size > 64_000_000
    np.testing.assert_array_equal(load(tmp_path / "labels.phcle").vectors, vectors)
