"""Whatever a file is, a reader takes it rightly or says what is wrong with it."""

from __future__ import annotations

import gzip
import os
import zipfile

import numpy as np
import pytest
from reader_cases import READERS, ROWS, npy, npz

from phcle import LabelEmbedding, load, read_contexts
from phcle.errors import ContextError, PhcleError

TABLES = [*ROWS, "tsv", "names"]
ONLY_UTF8 = ["json", "toml", "vectors"]
TEXTS = [*TABLES, "labels", *ONLY_UTF8]
ALL = list(READERS)


ENGINE = "ignore:fetch_arrow_table:DeprecationWarning"


def write(tmp_path, name, content=None):
    """The file of a reader with some content, by default its own."""
    reader = READERS[name]
    path = tmp_path / reader.file
    path.write_bytes(reader.made(reader.seeds()[0]) if content is None else content)
    return reader, path


def refused(reader, path, *, match=None):
    """The message of the refusal, which names the file."""
    with pytest.raises(PhcleError, match=match) as caught:
        reader.read(path)
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.filterwarnings(ENGINE)
@pytest.mark.parametrize("name", ALL)
def test_every_reader_takes_its_whole_file(tmp_path, name):
    reader, path = write(tmp_path, name)
    reader.use(reader.read(path))


# A file without options is a file of options.
@pytest.mark.parametrize("name", [x for x in ALL if x != "toml"])
def test_an_empty_file_is_refused(tmp_path, name):
    refused(*write(tmp_path, name, b""))


@pytest.mark.parametrize("name", ALL)
def test_folders_pipes_devices_and_dangling_links_are_refused_at_once(tmp_path, name):
    reader = READERS[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    pipe, dangling, loop, device = (
        folder / f"{kind}-{reader.file}" for kind in ("pipe", "gone", "loop", "zero")
    )
    os.mkfifo(pipe)
    dangling.symlink_to(folder / "nowhere")
    loop.symlink_to(loop)
    device.symlink_to("/dev/zero")
    refused(reader, pipe, match="is a pipe or a device, not a file")
    refused(reader, device, match="is a pipe or a device, not a file")
    refused(reader, dangling, match="no such")
    refused(reader, loop, match="cannot be read|no such")
    (folder / reader.file).mkdir()
    refused(reader, folder / reader.file)


@pytest.mark.parametrize("name", ALL)
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    reader = READERS[name]
    refused(reader, tmp_path / ("x" * 300 + reader.file))
    with pytest.raises(PhcleError):
        reader.read(tmp_path / f"nul\0{reader.file}")


@pytest.mark.filterwarnings(ENGINE)
@pytest.mark.parametrize("name", ALL)
def test_a_link_to_a_file_is_as_good_as_the_file(tmp_path, name):
    reader, path = write(tmp_path, name)
    link = tmp_path / f"link-{reader.file}"
    link.symlink_to(path)
    reader.read(link)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users")
@pytest.mark.parametrize("name", [*ROWS, "vectors", "labels", "npz", "mat"])
def test_a_file_that_must_not_be_read_is_refused(tmp_path, name, monkeypatch):
    reader, path = write(tmp_path, name)
    reader.read(path)  # which may make a file of its own, once

    def denied(self, *_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", denied)
    monkeypatch.setattr("pathlib.Path.read_bytes", denied)
    refused(reader, path, match="Permission denied")


@pytest.mark.parametrize("name", ONLY_UTF8)
@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_the_remedy(tmp_path, name, codec):
    text = READERS[name].seeds()[0].decode()
    refused(*write(tmp_path, name, text.encode(codec)), match="UTF-8")


@pytest.mark.parametrize("name", [*TABLES, "labels"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_tables_in_other_encodings_are_read_as_those_in_utf_8(tmp_path, name, codec):
    reader, path = write(tmp_path, name)
    expected = repr(reader.read(path))
    path.write_bytes(READERS[name].seeds()[0].decode().encode(codec))
    assert repr(reader.read(path)) == expected


@pytest.mark.parametrize("name", ONLY_UTF8)
def test_latin_1_is_refused_with_its_line(tmp_path, name):
    good = READERS[name].seeds()[0]
    bad = good.rstrip(b"\n") + "\ncaf\xe9".encode("latin-1")
    line = len(good.splitlines()) + 1
    refused(*write(tmp_path, name, bad), match=f"line {line}: is not UTF-8")


@pytest.mark.parametrize("name", TEXTS)
def test_nul_bytes_are_refused_with_their_line(tmp_path, name):
    bad = READERS[name].seeds()[0].rstrip(b"\n") + b"\0\n"
    refused(*write(tmp_path, name, bad), match=r"line \d+: (holds a NUL|a word and)")


@pytest.mark.parametrize("name", [*TEXTS, "vectors, binary"])
def test_packed_files_are_refused_by_kind_before_they_are_unpacked(tmp_path, name):
    seed = READERS[name].seeds()[0]
    refused(*write(tmp_path, name, gzip.compress(seed)), match=r"packed \(gzip\)")
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", seed)
    refused(*write(tmp_path, name, path.read_bytes()), match=r"packed \(zip\)")


def plain(found):
    """What was read, to compare."""
    for key in ("counts", "values"):
        matrix = getattr(found, key, None)
        if matrix is not None and not callable(matrix):
            dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            return found.labels, found.columns, repr(dense.tolist())
    return found


@pytest.mark.parametrize("name", [*TABLES, "labels", "json", "toml", "vectors"])
def test_a_byte_order_mark_changes_nothing(tmp_path, name):
    reader, path = write(tmp_path, name)
    before = plain(reader.read(path))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert plain(reader.read(path)) == before


# A text keeps the line ends within its quotes.
@pytest.mark.parametrize("name", sorted({*TABLES, "labels"} - {"texts"}))
@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_line_ends_of_other_systems_change_nothing(tmp_path, name, end):
    reader, path = write(tmp_path, name)
    before = plain(reader.read(path))
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", end))
    assert plain(reader.read(path)) == before


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:1], "has a header but no rows"),
        (lambda rows: [rows[0] + "{s}" + rows[0], *rows[1:]], "two columns are called"),
        (lambda rows: [*rows, "x" + "{s}y" * 9], "line 9: has 10 cells"),
        (lambda rows: [*rows, '"open'], "quotation mark missing"),
        (lambda rows: [*rows, '"closed" and on'], "quotation mark missing"),
    ],
    ids=["only header", "repeated header", "ragged", "open quote", "text after quote"],
)
def test_a_table_of_another_form_is_refused(tmp_path, name, change, message):
    reader, path = write(tmp_path, name)
    separator = "\t" if path.suffix == ".tsv" else ","
    rows = path.read_text().splitlines()
    rows += [""] * (8 - len(rows) if "line 9" in message else 0)
    changed = "\n".join(change(rows)).replace("{s}", separator)
    path.write_text(changed)
    refused(reader, path, match=message)


@pytest.mark.parametrize("name", [x for x in TABLES if x != "tsv"])
def test_a_cell_of_ten_million_characters_is_refused_with_the_limit(tmp_path, name):
    reader, path = write(tmp_path, name)
    rows = path.read_bytes() + b'"' + b"x" * 10_000_000 + b'",y,z\n'
    path.write_bytes(rows)
    refused(reader, path, match=r"field limit \(131072\)")


def test_separators_and_line_ends_within_quotes_belong_to_the_cell(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_bytes(b'child,parent\n"a, ""b""","c\nd"\n"e\r\nf",\tg \n')
    found = READERS["hierarchy"].read(path).hierarchy
    assert found.nodes == ('a, "b"', "c\nd", "e\r\nf", "g")


def test_characters_that_only_python_takes_for_line_ends_stay_in_a_label(tmp_path):
    odd = "a\u2028b\x0cc\x85d\x1ee"
    (tmp_path / "ids.txt").write_text(f"{odd}\nx\n", encoding="utf-8")
    assert READERS["labels"].read(tmp_path / "ids.txt") == (odd, "x")


@pytest.mark.parametrize("label", ["a\nb", "a\tb", "a  b", "a,b", 'a"b', "-", "0x1"])
def test_a_label_with_blanks_inside_survives_files_of_every_kind(tmp_path, label):
    embedding = LabelEmbedding((f" {label}\t", "z"), np.eye(2))
    assert embedding.labels == (label, "z")
    embedding.save(tmp_path / "x.phcle")
    assert load(tmp_path / "x.phcle").labels == (label, "z")
    embedding.to_frame().to_csv(tmp_path / "x.csv")
    assert read_contexts(attributes=tmp_path / "x.csv")[0].labels == (label, "z")


def test_half_a_character_is_refused():
    with pytest.raises(ContextError, match="half of a character"):
        LabelEmbedding(("a\ud800",), np.eye(1))


@pytest.mark.parametrize("weight", ["1e999", "nan", "-1", "1_0", "0x1", "x"])
def test_a_weight_that_is_no_finite_number_is_refused(tmp_path, weight):
    path = tmp_path / "e.csv"
    path.write_text(f'source,target,weight\na,b,"{weight}"\n')
    with pytest.raises(PhcleError, match=r"e\.csv.*weight (must be|is unknown)"):
        READERS["edges"].read(path)


@pytest.mark.parametrize("first", ["² ³", "9" * 5000 + " 2", "-1 2", "1_0 2"])
def test_odd_sizes_at_the_top_of_word_vectors_are_no_crash(tmp_path, first):
    refused(*write(tmp_path, "vectors", f"{first}\ncat 1 2\n".encode()))
    refused(*write(tmp_path, "vectors, binary", f"{first}\ncat 1234".encode()))


def test_more_binary_vectors_than_announced_are_refused(tmp_path):
    seed = READERS["vectors, binary"].seeds()[0]
    refused(
        *write(tmp_path, "vectors, binary", b"1" + seed[1:]),
        match="do not fit its 30 bytes",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("json", b'{"a": ' + b"[" * 100_000),
        ("json", b'{"a": ' + b"9" * 5000 + b"}"),
        ("json", b'{"a": ["x"], "a": ["y"]}'),
        ("toml", b"a = " + b"[" * 100_000),
        ("toml", b"dim = " + b"9" * 5000),
    ],
    ids=["deep", "long number", "repeated key", "deep toml", "long toml number"],
)
def test_json_and_toml_that_break_their_parsers_are_refused(tmp_path, name, content):
    refused(*write(tmp_path, name, content))


@pytest.mark.parametrize("character", [0x110000, 0xD800])
def test_text_arrays_with_numbers_that_are_no_characters_are_refused(
    tmp_path, character
):
    data = bytearray(npy(np.array(["ab"])))
    data[-4:] = character.to_bytes(4, "little")
    refused(*write(tmp_path, "labels.npy", bytes(data)), match="code point")


@pytest.mark.parametrize("key", ["features", "labels"])
def test_arrays_of_python_objects_are_refused(tmp_path, key):
    arrays = {"features": np.eye(2), "labels": np.array(["a", "b"])}
    arrays[key] = np.array([{}, []], dtype=object)
    refused(
        *write(tmp_path, "npz", npz(**arrays)), match="Object arrays cannot be loaded"
    )
