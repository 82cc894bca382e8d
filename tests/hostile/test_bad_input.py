"""Whatever a file is, a reader takes it rightly or says what is wrong with it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import unicodedata
import zipfile

import numpy as np
import pytest
from reader_cases import READERS, ROWS, npy, npz

from phcle import LabelEmbedding, RelationalContext
from phcle.contexts.readers import label_files as readers
from phcle.contexts.readers.table_files import open_table
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
    refused(*write(tmp_path, name, bad), match=r"line \d+: holds a NUL")


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
    refused(reader, path, match=r"more than 131,072 characters")


def test_separators_and_line_ends_within_quotes_belong_to_the_cell(tmp_path):
    path = tmp_path / "tree.csv"
    path.write_bytes(b'child,parent\n"a, ""b""","c\nd"\n"e\r\nf",\tg \n')
    assert readers.read_hierarchy_edges(path) == [
        ('a, "b"', "c\nd"),
        ("e\r\nf", "g"),
    ]


def test_characters_that_only_python_takes_for_line_ends_stay_in_a_label(tmp_path):
    odd = "a\u2028b\x0cc\x85d\x1ee"
    (tmp_path / "ids.txt").write_text(f"{odd}\nx\n", encoding="utf-8")
    assert readers.read_labels(tmp_path / "ids.txt") == (odd, "x")


@pytest.mark.parametrize("label", ["a\nb", "a\tb", "a  b", "a,b", 'a"b', "-", "0x1"])
def test_a_label_with_blanks_inside_survives_files_of_every_kind(tmp_path, label):
    embedding = LabelEmbedding((f" {label}\t", "z"), np.eye(2))
    assert embedding.labels == (label, "z")
    embedding.save(tmp_path / "x.phcle")
    from phcle import load
    from phcle.embedding.export import export

    assert load(tmp_path / "x.phcle").labels == (label, "z")
    export(embedding, tmp_path / "x.csv")
    rows = open_table(tmp_path / "x.csv").rows()
    assert next(rows)[1][0] == label


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_both_ways_to_write_an_accent_are_the_same_label(tmp_path, form):
    label = unicodedata.normalize(form, "café")
    (tmp_path / "t.csv").write_text(f"child,parent\n{label},x\n", encoding="utf-8")
    (tmp_path / "ids.txt").write_text(f"{label}\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text(f"{label} 1 2\n", encoding="utf-8")
    assert readers.read_hierarchy_edges(tmp_path / "t.csv") == [("café", "x")]
    assert readers.read_labels(tmp_path / "ids.txt") == ("café",)
    assert readers.read_vectors(tmp_path / "v.txt").labels == ("café",)
    assert RelationalContext.from_edges([(label, "x")]).labels == ("café", "x")
    embedding = LabelEmbedding((label, "x"), np.eye(2), names={label: "Café!"})
    assert label in embedding
    assert embedding.resolve(label) == "café"
    assert embedding.name_of("café") == "Café!"


def test_labels_that_merely_look_alike_stay_different():
    latin, cyrillic, wide = "a", "а", "ａ"
    labels = (latin, cyrillic, wide)
    assert LabelEmbedding(labels, np.eye(3)).labels == labels


def test_two_spellings_of_one_label_in_a_file_are_a_repeated_label(tmp_path):
    both = [unicodedata.normalize(form, "é") for form in ("NFC", "NFD")]
    path = tmp_path / "a.csv"
    path.write_text(f"label,x\n{both[0]},1\n{both[1]},2\n", encoding="utf-8")
    table = open_table(path)
    with pytest.raises(ContextError, match="no value is known"):
        readers.read_attributes(table)
    assert table.remarks[-1].endswith("'x' of 'é': 1 (line 2) or 2 (line 3)")


def test_half_a_character_is_refused():
    with pytest.raises(ContextError, match="half of a character"):
        LabelEmbedding(("a\ud800",), np.eye(1))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1e999", "2"], r"Got inf for label 'a' and column 'x'"),
        (["-inf", "2"], r"Got -inf"),
        (["0x10", "2"], r"holds numbers, such as '2', but '0x10'"),
        (["1_000", "2"], r"holds numbers, such as '2', but '1_000'"),
    ],
)
def test_numbers_in_other_notations_are_never_taken_for_something_else(
    tmp_path, cells, message
):
    path = tmp_path / "a.csv"
    path.write_text(f'label,x\na,"{cells[0]}"\nb,"{cells[1]}"\n', encoding="utf-8")
    with pytest.raises(PhcleError, match=message) as caught:
        READERS["attributes"].read(path)
    assert "a.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,000", "2,500"], [1000, 2500]),
        (["1.000.000", "2.500.000"], [1e6, 2.5e6]),
        (["3,5", "4,25"], [3.5, 4.25]),
        (["50%", "20 %"], [50, 20]),
        (["1 000", "2\u202f000,5"], [1000, 2000.5]),
        (["NA", "2,500"], [np.nan, 2500]),
        (["1.299,00", "605.57"], [1299, 605.57]),
        (["(3.5)", "\u22124"], [-3.5, -4]),
    ],
)
def test_numbers_in_other_notations_are_read(tmp_path, cells, numbers):
    path = tmp_path / "a.csv"
    path.write_text(f'label,x\na,"{cells[0]}"\nb,"{cells[1]}"\n', encoding="utf-8")
    values = READERS["attributes"].read(path).values[:, 0]
    np.testing.assert_array_equal(values, numbers)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("12", 12), ("１２", 12), ("٣", 3), (" 1E-3 ", 0.001), ("+.5", 0.5)],
)
def test_digits_of_every_script_are_numbers(tmp_path, cell, value):
    path = tmp_path / "a.csv"
    path.write_text(f"label,x\na,{cell}\nb,1\n", encoding="utf-8")
    assert readers.read_attributes(path).values[0, 0] == value


@pytest.mark.parametrize("cells", [("1.2.3", "1.10.0"), ("2020.01.31", "x"), ("0x1",)])
def test_codes_that_are_no_numbers_stay_texts(tmp_path, cells):
    path = tmp_path / "a.csv"
    rows = "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))
    path.write_text("label,x\n" + rows)
    columns = readers.read_attributes(path).columns
    assert columns == tuple(sorted(f"x={cell}" for cell in cells))


@pytest.mark.parametrize("cell", ["nan", "NA", "null", ""])
def test_words_for_unknown_are_unknown(tmp_path, cell):
    path = tmp_path / "a.csv"
    path.write_text(f"label,x\na,{cell}\nb,1\n", encoding="utf-8")
    assert np.isnan(readers.read_attributes(path).values[0, 0])


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
    refused(*write(tmp_path, "vectors, binary", b"1" + seed[1:]), match="more follow")


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


def test_a_long_label_on_the_command_line_is_no_file_name():
    from phcle.cli.query_commands import labels_or_files

    assert labels_or_files(["x" * 5000, "a\0b"]) == ["x" * 5000, "a\0b"]


@pytest.mark.parametrize("character", [0x110000, 0xD800])
def test_text_arrays_with_numbers_that_are_no_characters_are_refused(
    tmp_path, character
):
    data = bytearray(npy(np.array(["ab"])))
    data[-4:] = character.to_bytes(4, "little")
    refused(*write(tmp_path, "labels.npy", bytes(data)), match="text that is damaged")


@pytest.mark.filterwarnings(ENGINE)
def test_the_engine_and_our_own_reader_take_the_same_table(tmp_path):
    pytest.importorskip("duckdb", reason="the extra 'engine' is not installed")
    path = tmp_path / "a.csv"
    path.write_text('item,label\n1,"a, b"\n1,"c\nd"\n2,"a, b"\n2,é\n 2 , x \n')
    one = RelationalContext.from_annotations(readers.read_annotations(path))
    other = RelationalContext.from_annotation_table(path)
    order = [one.labels.index(label) for label in other.labels]
    assert sorted(one.labels) == list(other.labels)
    dense = one.counts.toarray()[np.ix_(order, order)]
    assert np.array_equal(dense, other.counts.toarray())


@pytest.mark.parametrize("key", ["features", "labels"])
def test_arrays_of_python_objects_are_refused(tmp_path, key):
    arrays = {"features": np.eye(2), "labels": np.array(["a", "b"])}
    arrays[key] = np.array([{}, []], dtype=object)
    refused(*write(tmp_path, "npz", npz(**arrays)), match="Python objects")


def test_reading_standard_input_does_not_wait(tmp_path):
    """A pipe that nobody writes to: the command must end by itself."""
    pipe = tmp_path / "tree.csv"
    os.mkfifo(pipe)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "phcle", "fit", "--hierarchy", str(pipe)),
            *("--out", str(tmp_path / "x.phcle")),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 2
    assert "is a pipe or a device" in done.stderr
