"""Derive the embedded ImageNet-1K label data from WordNet 3.0.

Inputs: the noun files of Debian's ``wordnet-base`` package, and the list of the
1000 wnids inside the PyPI package ``timm`` (a wheel or an installed copy). A wnid
is the letter ``n`` and a noun's byte offset in WordNet 3.0, so the two join directly.

    apt-get install wordnet-base
    pip download --no-deps timm
    python tools/derive_imagenet1k.py --timm timm-*.whl

It writes one gzipped table, a row per synset, in the hypernym closure of the labels:
``wnid, class index or empty, name, parents, parts, gloss`` (lists are joined by ``|``).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from phcle_paper.datasets import WORDNET_FOLDER, WordNetNouns, load_wordnet_nouns

WNID_LIST = "timm/data/_info/imagenet_synsets.txt"
TARGET = Path(__file__).parents[1] / "src/phcle/datasets/data/imagenet1k.tsv.gz"


def read_wnids(source: Path) -> list[str]:
    """The 1000 wnids in class order, from a timm wheel or a site-packages folder."""
    if source.is_dir():
        text = (source / WNID_LIST).read_text(encoding="utf-8")
    else:
        with zipfile.ZipFile(source) as wheel:
            text = wheel.read(WNID_LIST).decode("utf-8")
    return text.split()


def unique_names(
    labels: Sequence[str], ancestors: Sequence[str], nouns: WordNetNouns
) -> dict[str, str]:
    """First lemma of each synset, with its parent or its wnid in brackets if shared.

    Labels come first: one keeps its plain name unless another *label* has it too.
    """
    names: dict[str, str] = {}
    for wnids in (labels, ancestors):
        first = {wnid: nouns.name_of(wnid) for wnid in wnids}
        count = Counter([*first.values(), *names.values()])
        for wnid, name in first.items():
            if count[name] > 1:
                parents = nouns.hypernyms[wnid]
                name += f" ({nouns.name_of(parents[0])})" if parents else ""
            names[wnid] = f"{name} [{wnid}]" if name in names.values() else name
    return names


def table(wnids: list[str], nouns: WordNetNouns) -> str:
    """The rows of the embedded file as tab-separated text."""
    index = {wnid: str(i) for i, wnid in enumerate(wnids)}
    everything = nouns.closure(wnids)
    names = unique_names(wnids, everything[len(wnids) :], nouns)
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["wnid", "class", "name", "parents", "parts", "gloss"])
    for wnid in everything:
        parts = dict.fromkeys(map(nouns.name_of, nouns.parts.get(wnid, ())))
        writer.writerow(
            [
                wnid,
                index.get(wnid, ""),
                names[wnid],
                "|".join(nouns.hypernyms[wnid]),
                "|".join(parts) if wnid in index else "",
                nouns.glosses[wnid] if wnid in index else "",
            ]
        )
    return text.getvalue()


def main() -> None:
    """Read both sources and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timm", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, default=WORDNET_FOLDER)
    parser.add_argument("--out", type=Path, default=TARGET)
    arguments = parser.parse_args()

    nouns = load_wordnet_nouns(arguments.wordnet)
    text = table(read_wnids(arguments.timm), nouns)
    # No name and no time in the header: the same input gives the same bytes.
    with (
        arguments.out.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
    ):
        packed.write(text.encode("utf-8"))


if __name__ == "__main__":
    main()
