"""Which labels of several files are one, and which are not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phcle.tables import LabelSource, match_labels

JOINED = [
    ("Babygrows", "BABYGROWS"), ("Kids' T-shirts", "kids' t-shirts"),
    ("Senior Data Engineer", "senior data engineer"),
    ("DevOps engineer", "Devops Engineer"), ("Élan vital", "élan VITAL"),
    ("ΟΔΟΣ", "οδος"), ("ЁЛКА", "ёлка"), ("ẞ", "ß"),
    ("Café tables", "Cafe\u0301 tables"), ("ﬁsh ﬁngers", "fish fingers"),
    ("ＣＤ players", "CD players"), ("Kids’ bikes", "Kids' bikes"),
    ("“Other” goods", '"Other" goods'), ("µm", "μm"), ("re\u00adtail", "retail"),
    ("Head\u2011torches", "Head-torches"), ("ｶﾒﾗ", "カメラ"), ("\ufeffBeds", "Beds"),
    ("Garden\u00a0tools", "Garden tools"), ("Garden  tools", "Garden tools"),
    ("Garden\ttools", "Garden tools"), ("日本\u3000語", "日本 語"),
    ("CAFÉ\u00a0 TABLES", "cafe\u0301 tables"),
]  # fmt: skip

APART = [
    ("C", "C++"), ("C", "C#"), ("C++", "C#"), ("F#", "F"), ("AT&T", "ATT"),
    ("St. John's", "St Johns"), ("resume", "résumé"), ("Ångström", "Angstrom"),
    ("Müller", "Muller"), ("I", "ı"), ("İzmir", "izmir"), ("Straße", "Strasse"),
    ("Maße", "Masse"), ("10²", "102"), ("H₂O", "H2O"), ("ℝ", "R"), ("½", "1/2"),
    ("①", "1"), ("Bed", "Beds"), ("T-shirt", "T shirt"), ("T-shirt", "Tshirt"),
    ("data_engineer", "data engineer"), ("Bookcases", "Book cases"), ("1,5", "1.5"),
    ("1–2", "1-2"), ("Model 3", "Model 5"), ("Men's jeans", "Women's jeans"),
    ("a", "а"), ("Data analyst", "Data analysts"), ("Java", "JavaScript"),
    ("Nurse (RN)", "Nurse"), ("R&D manager", "RD manager"),
    (".NET developer", "NET developer"), ("+1", "1"), ("-1", "1"), ("नदी", "नद"),
]  # fmt: skip


def match(*files, **options):
    sources = [LabelSource(f"{x}.csv", own) for x, own in zip("abcdef", files)]  # noqa: B905
    return match_labels(sources, **options)


def suggested(found):
    return {x.spelling: (x.candidates, x.reason) for x in found.suggestions}


@pytest.mark.parametrize(("a", "b"), JOINED)
def test_case_spaces_and_form_do_not_make_another_label(a, b):
    assert match([a], [b]).spellings == {b: a}
    assert match([b], [a]).spellings == {a: b}
    assert match([a], [b], mode="exact").spellings == {}


@pytest.mark.parametrize(("a", "b"), APART)
def test_anything_else_makes_another_label(a, b):
    assert match([a], [b]).spellings == {}
    assert match([b], [a]).spellings == {}


@pytest.mark.parametrize(
    ("a", "b"), [("Polish", "polish"), ("US", "us"), ("May", "may"), *JOINED]
)
def test_two_labels_of_one_file_are_never_joined(a, b):
    assert match([a, b], ["other"]).spellings == {}
    assert match([a, b], [a, b]).spellings == {}
    assert match([a, b], [a]).spellings == {}
    assert match([a], [b, a]).spellings == {}
    assert not match([a, b], [b, a]).suggestions


def test_label_with_two_candidates_is_listed_and_not_joined():
    found = match(["foo"], ["Foo", "FOO"])
    assert found.spellings == {}
    assert suggested(found) == {"Foo": (("foo",), "case"), "FOO": (("foo",), "case")}
    found = match(["Polish", "polish"], ["POLISH"])
    assert found.spellings == {}
    assert suggested(found) == {"POLISH": (("Polish", "polish"), "case")}


def test_first_spelling_wins_over_a_chain_of_files():
    assert match(["Foo"], ["FOO"], ["foo"]).spellings == {"FOO": "Foo", "foo": "Foo"}
    assert match(["x"], ["FOO"], ["foo"]).spellings == {"foo": "FOO"}


def test_join_says_in_what_labels_differ():
    found = match(["Café tables", "Beds"], ["CAFÉ  tables", "BEDS"])
    assert [x.differs for x in found.joined] == [("case", "spaces"), ("case",)]
    assert {(x.source, x.first) for x in found.joined} == {("b.csv", "a.csv")}


@pytest.mark.parametrize(
    ("known", "written", "reason"),
    [
        ("Nightstands", "Nightstand", "plural"),
        ("Category", "Categories", "plural"),
        ("Knife", "knives", "plural"),
        ("Dresses", "Dress", "plural"),
        ("St. John's", "St Johns", "punctuation"),
        ("data_engineer", "Data engineer", "punctuation"),
        ("Bookcases", "Book cases", "punctuation"),
        ("1–2 persons", "1-2 persons", "punctuation"),
        ("Jewellery", "Jewelry", "spelling"),
        ("Beds", "Bedz", "spelling"),
        ("Straße", "STRASSE", "accents"),
        ("résumé", "resume", "accents"),
    ],
)
def test_near_spellings_are_suggested(known, written, reason):
    found = match([known, "Sofas"], [written])
    assert found.spellings == {}
    assert suggested(found) == {written: ((known,), reason)}


DIFFERENT = [
    ("C", "C++"), ("Model 3", "Model 5"), ("n02123045", "n02123046"), ("cat", "cut"),
    ("Men's jeans", "Women's jeans"), ("Dog food", "Cat food"), ("Glas", "Glass plate"),
]  # fmt: skip


@pytest.mark.parametrize(("known", "written"), DIFFERENT)
def test_different_things_are_not_suggested(known, written):
    assert not match([known], [written]).suggestions


def test_a_file_that_has_both_labels_tells_them_apart():
    assert not match(["Statistics", "Statics"], ["Statistics", "Statics"]).suggestions
    assert not match(["Statistics"], ["Statistics", "Statistica"]).suggestions
    # But of a plural that no other file has, it is worth asking.
    found = match(["Tomatoes"], ["Tomatoes", "Tomatoe"])
    assert suggested(found) == {"Tomatoe": (("Tomatoes",), "plural")}


def test_synonyms_join_even_in_one_file():
    files = ["Kettles", "Beds"], ["Kettles", "KETTLES", "Bedz"]
    synonyms = {"KETTLES": "Kettles", "Bedz": "beds", "Sofaz": "Sofas"}
    found = match(*files, synonyms=synonyms)
    assert found.spellings == {"KETTLES": "Kettles", "Bedz": "Beds", "beds": "Beds"}
    assert found.unused_synonyms == ("Sofaz",)
    assert not found.suggestions
    exact = match(*files, synonyms=synonyms, mode="exact")
    assert exact.spellings == {"KETTLES": "Kettles", "Bedz": "beds"}


def test_synonyms_of_synonyms_are_followed_and_cycles_end():
    found = match(["a"], ["b"], ["c"], synonyms={"c": "b", "b": "a"})
    assert found.spellings == {"c": "a", "b": "a"}
    assert len(match(["a"], ["b"], synonyms={"a": "b", "b": "a"}).spellings) < 2


def test_labels_of_one_file_only_are_counted():
    found = match(list("abcdefgh"), ["a", "b", "c", "X"], ["Y", "a"])
    counts = {x.source[0]: (x.count, x.total) for x in found.own_labels}
    assert counts == {"a": (5, 8), "b": (1, 4), "c": (1, 2)}
    assert found.own_labels[2].examples == ("Y",)


def test_inner_nodes_of_a_taxonomy_can_be_meant():
    tree = LabelSource("tree.csv", ["Beds"], nodes=["Beds", "Home"])
    found = match_labels([tree, LabelSource("looks.csv", ["HOME", "beds"])])
    assert found.spellings == {"HOME": "Home", "beds": "Beds"}
    assert all(not x.count for x in found.own_labels)


def test_labels_to_embed_and_names_are_matched_with_all_files():
    tree = LabelSource("tree.csv", ["Beds", "Sofas", "Cups"])
    asked = LabelSource("labels.txt", ["beds", "Sofaz"], role="labels")
    names = LabelSource("names.csv", ["BEDS", "Nix"], role="names")
    found = match_labels([asked, tree, names])
    assert found.spellings == {"Beds": "beds", "BEDS": "beds"}
    assert suggested(found) == {"Sofaz": (("Sofas",), "spelling")}
    own = {x.source: x.examples for x in found.own_labels}
    assert own == {"labels.txt": ("Sofaz",), "names.csv": ("Nix",)}


def test_near_spellings_of_too_many_labels_are_not_searched():
    one, other = ([f"B{x} {i}" for i in range(4_600)] for x in ("in", "ox"))
    found = match(["Beds", *one], ["Bedz", *other], ["Bed"])
    assert not found.near_are_complete
    assert suggested(found) == {"Bed": (("Beds",), "plural")}


LETTERS = "aAbBß éÉ\u00a0-\u0301s’'"
LABELS = st.lists(
    st.text(LETTERS, min_size=1, max_size=3)
    .map(lambda x: unicodedata.normalize("NFC", x).strip())
    .filter(bool),
    max_size=6,
    unique=True,
)


@given(st.lists(LABELS, min_size=1, max_size=4), st.randoms())
def test_any_files_are_matched_soundly(files, random):
    found = match(*files)
    spellings = found.spellings
    for own in files:
        # No two labels of one file become one.
        assert len({spellings.get(x, x) for x in own}) == len(own)
    for other, label in spellings.items():
        assert match([other], [label]).spellings == {label: other}
        assert label not in spellings
        firsts = [own for own in files if other in own or label in own]
        assert label in firsts[0]
    # Matched labels match: nothing is left to join.
    renamed = [[spellings.get(x, x) for x in own] for own in files]
    assert match(*renamed).spellings == {}
    # The order of rows does not matter.
    shuffled = [random.sample(own, len(own)) for own in files]
    assert match(*shuffled).spellings == spellings
    for each in found.suggestions:
        assert each.spelling not in spellings
        assert each.spelling not in each.candidates
