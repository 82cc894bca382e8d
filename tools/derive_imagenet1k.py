"""Derive the embedded ImageNet-1K label data from WordNet 3.0.

Inputs: the noun file of Debian's ``wordnet-base`` package, and the list of the
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
from dataclasses import dataclass
from pathlib import Path

HYPERNYMS = {"@", "@i"}
PART_MERONYMS = {"%p", "%s"}  # parts, and substances a thing is made of
WNID_LIST = "timm/data/_info/imagenet_synsets.txt"
TARGET = Path(__file__).parents[1] / "src/phcle/datasets/data/imagenet1k.tsv.gz"


@dataclass
class Synset:
    """One noun sense of WordNet: its words, hypernyms, parts and definition."""

    lemmas: list[str]
    hypernyms: list[str]
    parts: list[str]
    gloss: str


def read_nouns(path: Path) -> dict[str, Synset]:
    """Every noun synset, keyed by wnid (format: man page wndb(5WN))."""
    nouns = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):  # licence lines at the top of the file
            continue
        fields, _, gloss = line.partition(" | ")
        words = fields.split(" ")
        n_lemmas = int(words[3], 16)
        lemmas = [words[4 + 2 * i].replace("_", " ") for i in range(n_lemmas)]
        first = 4 + 2 * n_lemmas
        hypernyms, parts = [], []
        for i in range(int(words[first])):
            symbol, offset, pos = words[first + 1 + 4 * i : first + 4 + 4 * i]
            if symbol in HYPERNYMS:
                hypernyms.append("n" + offset)
            elif symbol in PART_MERONYMS and pos == "n":
                parts.append("n" + offset)
        nouns["n" + words[0]] = Synset(lemmas, hypernyms, parts, gloss.strip())
    return nouns


def read_wnids(source: Path) -> list[str]:
    """The 1000 wnids in class order, from a timm wheel or a site-packages folder."""
    if source.is_dir():
        text = (source / WNID_LIST).read_text(encoding="utf-8")
    else:
        with zipfile.ZipFile(source) as wheel:
            text = wheel.read(WNID_LIST).decode("utf-8")
    return text.split()


def closure(wnids: list[str], nouns: dict[str, Synset]) -> list[str]:
    """The labels, then every ancestor of one of them, in order of discovery."""
    found = dict.fromkeys(wnids)
    queue = list(wnids)
    for wnid in queue:  # grows while we walk it
        for parent in nouns[wnid].hypernyms:
            if parent not in found:
                found[parent] = None
                queue.append(parent)
    return list(found)


def unique_names(
    labels: list[str], ancestors: list[str], nouns: dict[str, Synset]
) -> dict[str, str]:
    """First lemma of each synset, with its parent or its wnid in brackets if shared.

    Labels come first: one keeps its plain name unless another *label* has it too.
    """
    names: dict[str, str] = {}
    for wnids in (labels, ancestors):
        first = {wnid: nouns[wnid].lemmas[0] for wnid in wnids}
        count = Counter([*first.values(), *names.values()])
        for wnid, name in first.items():
            if count[name] > 1:
                parents = nouns[wnid].hypernyms
                name += f" ({nouns[parents[0]].lemmas[0]})" if parents else ""
            names[wnid] = f"{name} [{wnid}]" if name in names.values() else name
    return names


def table(wnids: list[str], nouns: dict[str, Synset]) -> str:
    """The rows of the embedded file as tab-separated text."""
    index = {wnid: str(i) for i, wnid in enumerate(wnids)}
    everything = closure(wnids, nouns)
    names = unique_names(wnids, everything[len(wnids) :], nouns)
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["wnid", "class", "name", "parents", "parts", "gloss"])
    for wnid in everything:
        synset = nouns[wnid]
        parts = dict.fromkeys(nouns[part].lemmas[0] for part in synset.parts)
        writer.writerow(
            [
                wnid,
                index.get(wnid, ""),
                names[wnid],
                "|".join(synset.hypernyms),
                "|".join(parts) if wnid in index else "",
                synset.gloss if wnid in index else "",
            ]
        )
    return text.getvalue()


def main() -> None:
    """Read both sources, write the table, say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timm", type=Path, required=True)
    parser.add_argument(
        "--wordnet", type=Path, default=Path("/usr/share/wordnet/data.noun")
    )
    parser.add_argument("--out", type=Path, default=TARGET)
    arguments = parser.parse_args()

    nouns = read_nouns(arguments.wordnet)
    text = table(read_wnids(arguments.timm), nouns)
    # No name and no time in the header: the same input gives the same bytes.
    with (
        arguments.out.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
    ):
        packed.write(text.encode("utf-8"))
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    labels = [row for row in rows if row["class"]]
    with_parts = sum(bool(row["parts"]) for row in labels)
    n_edges = sum(len(row["parents"].split("|")) for row in rows if row["parents"])
    size = arguments.out.stat().st_size
    print(
        f"{len(labels)} labels, {len(rows)} synsets, {n_edges} edges, "
        f"{with_parts} labels with own parts, {size:,} bytes"
    )


if __name__ == "__main__":
    main()
