"""The class splits of the paper's zero-shot experiments, recovered from its counts.

The paper keeps the classes of AWA and aPY that are among the 1000 labels of ImageNet,
and prints how many there are and how many pictures they have (its Table 1).

**AWA.** Taking a class whenever its name is a word of one of the 1000 synsets gives
exactly the paper's counts: 20 seen classes with 11,090 pictures and 6 unseen ones with
4,019. Two of the 26 are false friends: *mole* is matched to the breakwater, *mouse* to
the computer mouse. `AWA_PAPER` has them, as the counts need them. WordNet does know the
animals (n01889520, n02330245), but neither they nor anything below them is among the
1000 labels. So `AWA_CORRECTED` drops the two: 24 classes, 18 of them seen.

**aPY.** An inference. The paper names no class; of all choices of 17 seen and 5 unseen
classes within the proposed split of Xian et al., only this one gives 6,925 and 1,333
pictures. (The older standard split has a choice too, with *jetski* unseen. The paper
uses the features of Xian et al., and calls jetski a novel class, outside the labels.)
Which ImageNet label stands for *cow* or *building* is not known, so there are no wnids.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["APY_PAPER", "AWA_CORRECTED", "AWA_PAPER", "PaperSplit"]


@dataclass(frozen=True)
class PaperSplit:
    """Classes to train on and to test on."""

    name: str
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    wnids: dict[str, str] = field(default_factory=dict)  # class -> ImageNet-1K label

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes, seen ones first."""
        return self.seen + self.unseen


_AWA_SEEN = {
    "killer whale": "n02071294",
    "beaver": "n02363005",
    "dalmatian": "n02110341",
    "german shepherd": "n02106662",
    "siamese cat": "n02123597",
    "skunk": "n02445715",
    "tiger": "n02129604",
    "spider monkey": "n02493793",
    "gorilla": "n02480855",
    "ox": "n02403003",
    "hamster": "n02342885",
    "chihuahua": "n02085620",
    "weasel": "n02441942",
    "otter": "n02444819",
    "zebra": "n02391049",
    "lion": "n02129165",
    "polar bear": "n02134084",
    "collie": "n02106030",
}
_AWA_FALSE_FRIENDS = {
    "mole": "n02894605",  # breakwater
    "mouse": "n03793489",  # computer mouse
}
_AWA_UNSEEN = {
    "chimpanzee": "n02481823",
    "giant panda": "n02510455",
    "hippopotamus": "n02398521",
    "leopard": "n02128385",
    "persian cat": "n02123394",
    "pig": "n02395406",
}

AWA_PAPER = PaperSplit(
    name="AWA, as in the paper",
    seen=(*_AWA_SEEN, *_AWA_FALSE_FRIENDS),
    unseen=tuple(_AWA_UNSEEN),
    wnids={**_AWA_SEEN, **_AWA_FALSE_FRIENDS, **_AWA_UNSEEN},
)

AWA_CORRECTED = PaperSplit(
    name="AWA, without mole and mouse",
    seen=tuple(_AWA_SEEN),
    unseen=tuple(_AWA_UNSEEN),
    wnids={**_AWA_SEEN, **_AWA_UNSEEN},
)

APY_PAPER = PaperSplit(
    name="aPY, as inferred from the paper",
    seen=(
        "aeroplane",
        "bicycle",
        "bird",
        "boat",
        "bottle",
        "bus",
        "car",
        "cat",
        "chair",
        "dog",
        "wolf",
        "zebra",
        "mug",
        "building",
        "bag",
        "carriage",
        "diningtable",
    ),
    unseen=("tvmonitor", "motorbike", "cow", "sheep", "horse"),
)
