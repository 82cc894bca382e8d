from __future__ import annotations

import pytest

from phcle.contexts import DescriptiveContext
from phcle.errors import ContextError
from phcle_paper.datasets import WordNetNouns, match_nouns


@pytest.fixture
def nouns():
    entity, beast, dog, rex, tail = (f"n0000000{i}" for i in range(1, 6))
    return WordNetNouns(
        lemmas={
            entity: ("entity",),
            beast: ("beast", "living thing"),
            dog: ("dog", "domestic dog"),
            rex: ("Rex",),
            tail: ("flag", "dog"),
        },
        hypernyms={
            entity: (),
            beast: (entity,),
            dog: (beast,),
            rex: (dog, beast),
            tail: (entity,),
        },
        parts={dog: (tail,)},
        glosses={},
        senses={"dog": (tail, dog), "flag": (tail,), "rex": (rex,)},
    )


def test_labels_are_matched_to_the_sense_in_their_part_of_the_hierarchy(nouns):
    tags = {"dog": ["tame"], "rex": ["good"], "flag": ["long"], "unicorn": ["rare"]}
    context = DescriptiveContext.from_tags(tags)
    below = dict.fromkeys(tags, ("n00000002",))
    matched = match_nouns(context, nouns, below=below)
    assert matched.labels == ("n00000003", "n00000004")
    assert matched.values.toarray()[:, matched.columns.index("tame")].tolist() == [1, 0]
    # Chiefly called dog is the animal, though the tail is the more frequent sense.
    anywhere = dict.fromkeys(tags, ("n00000001",))
    matched = match_nouns(context, nouns, below=anywhere, senses={"rex": None})
    assert matched.labels == ("n00000003", "n00000005")
    with pytest.raises(ContextError, match="none of its 4 labels"):
        match_nouns(context, nouns, below={})
