"""The labels of a messy shop, and of job titles, are joined as they should be."""

import json
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from phcle.tables import LabelSource, match_labels

SHOP = Path(__file__).parents[3].parent / "shared" / "data" / "shop"

FILES = {
    "taxonomy_utf8.csv": ("child", "parent"),
    "baskets.csv": ("label",),
    "attributes.csv": ("category",),
    "tags.csv": ("label",),
}


def plain(label):
    """A label of the shop without case, double spaces and forms of letters."""
    folded = unicodedata.normalize("NFKC", label).casefold().replace("’", "'")
    return " ".join(folded.split())


@pytest.fixture
def shop():
    if not SHOP.is_dir():
        pytest.skip("shared/data/shop is not beside the checkout")
    tables = {name: pd.read_csv(SHOP / name, dtype=str) for name in FILES}
    truth = json.loads((SHOP / "truth.json").read_text(encoding="utf-8"))
    return truth, [
        LabelSource(name, tuple(table[[*FILES[name]]].stack().str.strip().unique()))
        for name, table in tables.items()
    ]


def test_labels_of_the_shop_are_joined_to_the_truth(shop):
    truth, sources = shop
    by_key = {plain(label): label for label in truth}
    found = match_labels(sources)
    assert found.spellings == {x: by_key[plain(x)] for x in found.spellings}
    assert len(found.spellings) == 35
    # What differs in case only, and is not joined, has a rival in its own file.
    left = {x for source in sources for x in source.labels} - found.spellings.keys()
    case = {x for x in left if plain(x) in by_key} - truth.keys()
    assert case == {x.spelling for x in found.suggestions if x.reason == "case"}


def test_suggestions_of_the_shop_lead_to_the_truth(shop):
    truth, sources = shop
    found = match_labels(sources)
    synonyms = {x.spelling: x.candidates[0] for x in found.suggestions}
    assert set(synonyms.values()) <= truth.keys()
    assert all(len(x.candidates) == 1 for x in found.suggestions)
    again = match_labels(sources, synonyms=synonyms)
    assert not again.suggestions
    own = {x.source: x.examples for x in again.own_labels}
    assert own["attributes.csv"] == ("Lawnmower robots",)
    assert own["tags.csv"] == ()
