"""Small files that would cost minutes or gigabytes if they were read naively."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from phcle import PHCLE, DescriptiveContext, read_contexts
from phcle.errors import ContextWarning, FileError
from phcle.files import parse_toml
from phcle.tables import from_owl, from_skos


@contextmanager
def within(seconds):
    """Bound the processor time, several times above what is needed."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


# Wide tables


def wide(n_columns, path):
    header = ",".join(["label", *(f"c{i}" for i in range(n_columns))])
    path.write_text(f"{header}\ncat{',1' * n_columns}\n")
    return path


def test_forty_thousand_columns_are_read_in_linear_time(tmp_path):
    path = wide(40_000, tmp_path / "wide.csv")
    assert path.stat().st_size < 350_000
    with within(10):  # 16 s where the time grows with the square of the columns
        assert len(read_contexts(attributes=path)[0].columns) == 40_000


# TOML

LONG = "a." * 1_001 + "a = 1"


@pytest.mark.parametrize(
    "text",
    [LONG, f"[{LONG[:-4]}]", "x = { " + LONG + " }", '"a" . ' * 1_001 + "b = 1"],
    ids=lambda text: text[:6],
)
def test_a_line_of_too_many_dots_is_refused(text):
    with within(1), pytest.raises(FileError, match="at most 1,000 dots in a line"):
        parse_toml(text, "run.toml")


@pytest.mark.parametrize(
    "piece", ["a", '"', "'", '"a\\', "\"'", '"""a', "'''a'", "a.a ", "'.\n", "a={"]
)
def test_toml_is_refused_in_little_time(piece):
    text = piece * (100_000 // len(piece))
    with within(5), pytest.raises(FileError):
        parse_toml(text, "run.toml")


def test_keys_of_many_parts_take_little_time():
    lines = (f"{f'k{i}.' + 'a.' * 990}a = 1\n" for i in range(50))
    with within(20):
        parse_toml("".join(lines), "run.toml")


def test_a_toml_file_that_is_too_long_is_refused():
    with pytest.raises(FileError, match=r"run\.toml: must have at most 100,000 char"):
        parse_toml("#" * 100_001, "run.toml")


# XML

NAMESPACE = '<!ENTITY ex "http://example.org/">'
NESTED = '<!ENTITY l0 "lol">' + "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 9)
)


def ontology(path, declarations, name="cat"):
    path.write_text(
        f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [{declarations}]>\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">'
        '<rdf:Description rdf:about="http://example.org/cat">'
        '<rdfs:subClassOf rdf:resource="http://example.org/pet"/>'
        f"<rdfs:label>{name}</rdfs:label></rdf:Description></rdf:RDF>"
    )
    return path


@pytest.mark.parametrize(
    ("declarations", "name", "message"),
    [
        (NESTED, "&l8;", "declares the XML entity 'l1' from a file or from other"),
        ('<!ENTITY a "b"><!ENTITY c "&#38;a;">', "&c;", "declares the XML entity 'c'"),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;", "XML entity 'a' from a"),
        ('<!ENTITY % a "b">', "cat", "declares the XML entity 'a'"),
        (f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 1_000, "amplification"),
    ],
    ids=["nested", "disguised", "external", "parameter", "repeated"],
)
def test_xml_entities_that_grow_or_read_files_are_refused(
    tmp_path, declarations, name, message
):
    pytest.importorskip("rdflib", reason="rdflib is not installed")
    path = ontology(tmp_path / "bomb.owl", declarations, name)
    with within(5), pytest.raises(FileError, match=message) as caught:
        from_owl(path)
    assert str(caught.value).startswith(str(path))


def test_an_old_parser_of_xml_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("rdflib", reason="rdflib is not installed")
    path = ontology(tmp_path / "zoo.owl", "")
    assert from_owl(path).names["cat"] == "cat"
    monkeypatch.setattr("xml.parsers.expat.version_info", (2, 3, 0))
    with pytest.raises(FileError, match=r"zoo\.owl: this Python has expat_.*update"):
        from_owl(path)


def test_xml_entities_for_namespaces_are_read(tmp_path):
    pytest.importorskip("rdflib", reason="rdflib is not installed")
    path = ontology(tmp_path / "zoo.owl", NAMESPACE, "&ex;cat &amp; co")
    assert from_owl(path).names["cat"] == "http://example.org/cat & co"


def test_json_that_is_nested_too_deeply_is_refused_by_name(tmp_path):
    pytest.importorskip("rdflib", reason="rdflib is not installed")
    path = tmp_path / "deep.jsonld"
    path.write_text("[" * 100_000)
    with pytest.raises(FileError, match=r"deep\.jsonld: is not JSON"):
        from_skos(path)


# Text columns with distinct values


def table(n, **columns):
    labels = tuple(f"label {i}" for i in range(n))
    cells = {title: [cell(i) for i in range(n)] for title, cell in columns.items()}
    return DescriptiveContext.from_cells(labels, cells, "items")


def fit_columns(context):
    """Columns of the context inside a fit."""
    model = PHCLE(dim=2, choose=False, completion="none", max_iter=9, tol=0.5)
    (fitted,) = model.fit(context).embedding_.contexts
    return fitted.columns


def test_a_column_of_identifiers_is_left_out_and_takes_no_memory():
    tracemalloc.start()
    try:
        context = table(5_000, sku=lambda i: f"no. {i}", weight=lambda i: i % 9)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # one-hot would be 200 MB
    finally:
        tracemalloc.stop()
    with pytest.warns(ContextWarning, match="'sku' is left out.*--texts") as caught:
        assert fit_columns(context) == ("weight",)
    assert len(caught) == 1
    assert "5000 of its 5000 known cells differ" in str(caught[0].message)


def test_a_category_that_would_fill_the_memory_is_left_out():
    context = table(11_000, city=lambda i: f"city {i % 5_000}", weight=lambda i: i)
    with pytest.warns(ContextWarning, match=r"take 55,000,000 cells; give it as --tag"):
        assert fit_columns(context) == ("weight",)
    np.testing.assert_array_equal(context.rows_for(["label 2"]).values, [[2.0]])
