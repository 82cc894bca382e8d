"""Dirty variants of one clean table, as files come from people and programs.

`variants` makes them with a fixed seed: encodings, delimiters, line ends, markers of
the unknown, notations of numbers, dates and truth values, repeated rows, orders,
spellings of labels and titles, file formats, and faults. Each says how it must be read.
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import chain, count, islice, product
from pathlib import Path
from typing import Any

SEED = 17
N_VARIANTS = 200

FOODS = [
    *("Crème brûlée", "Café tables", "Jalapeños", "Women's coats", "Wine coolers"),
    *("Rice (brown)", "Salt & pepper", "T-shirts", "USB-C cables", "Pâtisserie"),
    *("Smörgåsbord", "Garden tools", "Mugs", "Sofas", "Desks"),
    *("Fridges", "Kettles", "Whisks", "Rugs", "Lamps"),
    *("Tents", "Skis", "Kayaks", "Drills", "Saws"),
    *("Bulbs", "Seeds", "Spades", "Rakes", "Hoses"),
    *("Plates", "Bowls", "Forks", "Knives", "Pans"),
    *("Woks", "Ovens", "Hobs"),
]
GROUPS = ("Kitchen", "Garden", "Clothing", "Tools", "Food")
TITLES = ("price", "sold", "share", "organic", "season", "opened")

Row = dict[str, Any]
Changed = tuple[tuple[str, str, float], ...]
PLAIN = {"price": "plain", "sold": "plain", "share": "plain", "truth": "yes"}
PLAIN |= {"season": "plain", "date": "ISO", "marker": ""}
"""How the clean table is written."""


@dataclass
class Variant:
    """A file and what must be seen when it is read."""

    name: str
    file: str
    content: bytes
    kind: str = "attributes"
    argument: str = ""  # what the user types behind the file
    reading: dict[str, Any] = field(default_factory=dict)
    changed: Changed = ()  # cells with another value
    odd: tuple[str, ...] = ()  # cells that are listed, and unknown
    said: tuple[str, ...] = ()  # remarks
    faults: tuple[str, ...] = ()  # the messages, if the file must be refused
    plural: bool = False


def clean_rows() -> list[Row]:
    """The truth: values by label, None where unknown."""
    draw = random.Random(SEED)
    rows = []
    for i, label in enumerate(FOODS):
        row: Row = {
            "label": label,
            "price": round(draw.uniform(1, 3000), 2),
            "sold": draw.choice([draw.randint(10, 999), draw.randint(10_000, 9999999)]),
            "share": round(draw.uniform(0, 100), 1),
            "organic": draw.random() < 0.4,
            "season": draw.choice(["summer", "winter", "all year"]),
            "opened": date(2001, 1, 1) + timedelta(draw.randint(0, 8000)),
        }
        for title in TITLES:
            if draw.random() < 0.15 and i > 3:
                row[title] = None
        rows.append(row)
    return rows


def clean_edges() -> list[tuple[str, str]]:
    draw = random.Random(SEED)
    edges = [(label, draw.choice(GROUPS)) for label in FOODS]
    return edges + [(group, "Everything") for group in GROUPS]


PRICES: dict[str, Callable[[float], str]] = {
    "plain": lambda x: f"{x:.2f}",
    "decimal comma": lambda x: f"{x:.2f}".replace(".", ","),
    "thousands": lambda x: f"{x:,.2f}",
    "German": lambda x: f"{x:,.2f}".translate(str.maketrans(",.", ".,")),
    "pounds": lambda x: f"£{x:,.2f}",
    "euros": lambda x: f"{x:,.2f}".replace(",", " ").replace(".", ",") + " €",
    "Swiss": lambda x: f"CHF {x:,.2f}".replace(",", "'"),
    "unit": lambda x: f"{x:.2f} kg",
    "some pounds": lambda x: f"£{x:.2f}" if x > 1000 else f"{x:.2f}",
    "mixed": lambda x: PRICES["German"](x) if x > 2500 else f"{x:.2f}",
}
COUNTS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "thousands": lambda x: f"{x:,}",
    "German": lambda x: f"{x:,}".replace(",", "."),
    "spaces": lambda x: f"{x:,}".replace(",", "\u00a0"),
    "decimals": lambda x: f"{x}.0",
}
SHARES: dict[str, Callable[[float], str]] = {
    "plain": str,
    "percent": lambda x: f"{x}%",
    "percent apart": lambda x: f"{x} %".replace(".", ","),
}
PAIRS = [("yes", "no"), ("Yes", "No"), ("Y", "N"), ("TRUE", "FALSE")]
PAIRS += [("t", "f"), ("on", "off"), ("1", "0")]
TRUTHS = {pair[0]: pair for pair in PAIRS} | {"mixed": None}
MIXED = [PAIRS[i] for i in (0, 2, 6, 3)]
DATES: dict[str, Callable[[date], str]] = {
    "ISO": date.isoformat,
    "German": lambda x: f"{x.day:02}.{x.month:02}.{x.year}",
    "day first": lambda x: f"{x.day}/{x.month}/{x.year}",
    "month first": lambda x: f"{x.month:02}/{x.day:02}/{x.year}",
    "words": lambda x: f"{x.day} {x:%B} {x.year}",
    "American": lambda x: f"{x:%b} {x.day}, {x.year}",
    "time": lambda x: f"{x.isoformat()} 00:00:00",
}
MARKERS = (
    *("", "NA", "N/A", "n/a", "nan", "NULL", "None", "-", "--", "?", "unknown"),
    *("Not available", "#N/A", ".", "\u2014", "missing", "tbd", "mixed"),
)
ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1"),
    *("mac_roman", "cp1252", "cp850"),
)
DELIMITERS = {"commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|"}
ENDS = {"Unix": "\n", "Windows": "\r\n", "old Mac": "\r"}


def _texts(rows: list[Row], draw: random.Random, plan: dict[str, str]) -> list[Row]:
    """The rows as texts, in the spellings that a plan names."""

    def season(word: str) -> str:
        return (
            word.upper() if plan["season"] == "case" and draw.random() < 0.1 else word
        )

    found = []
    for row in rows:
        yes, no = TRUTHS[plan["truth"]] or draw.choice(MIXED)
        write: dict[str, Callable[[Any], str]] = {
            "price": PRICES[plan["price"]],
            "sold": COUNTS[plan["sold"]],
            "share": SHARES[plan["share"]],
            "organic": {True: yes, False: no}.__getitem__,
            "season": season,
            "opened": DATES[plan["date"]],
        }
        texts = {"label": row["label"]}
        for title in TITLES:
            value, marker = row[title], plan["marker"]
            marker = draw.choice(MARKERS[:-1]) if marker == "mixed" else marker
            texts[title] = marker if value is None else write[title](value)
        found.append(texts)
    return found


def _repeat(rows: list[Row], how: str, draw: random.Random) -> list[Row]:
    """Some rows again; of those that contradict each other the mean counts."""
    if how == "identical":
        return rows + draw.sample(rows, 5)
    if how == "contradictory":
        return rows + [{**row, "price": 999.5} for row in rows[:3]]
    if how == "none":
        return rows
    halves = []
    for row in draw.sample(rows, 4):
        title = draw.choice([x for x in TITLES if row[x] is not None])
        halves.append({**row, title: None})
    return rows + halves


def _means(rows: list[Row], how: str) -> Changed:
    """The cells of contradictory rows as they must be read."""
    some = rows[:3] if how == "contradictory" else ()
    return tuple((x["label"], "price", (x["price"] + 999.5) / 2) for x in some)


def _table(
    rows: list[Row],
    titles: Sequence[str] = ("label", *TITLES),
    delimiter: str = ",",
    end: str = "\n",
    dress: str = "plain",
) -> str:
    """A table of text in one of several dresses."""
    file = io.StringIO()
    quoting = csv.QUOTE_ALL if dress == "quoted" else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    extra = ["", ""] if dress == "trailing" else []
    if dress == "sep line":
        file.write(f"sep={delimiter}{end}")
    if dress == "blank lines":
        file.write(end + delimiter * (len(titles) - 1) + end)
    writer.writerow([*titles, *extra])
    for i, row in enumerate(rows):
        cells = [row[title] for title in titles]
        if dress == "spaces":
            cells = [f" {cell} " for cell in cells]
        writer.writerow([*cells, *extra])
        if dress == "blank lines" and i % 7 == 0:
            file.write(end)
    text = file.getvalue()
    return text.removesuffix(end) if dress == "no last end" else text


DRESSES = ("plain", "quoted", "trailing", "sep line", "blank lines", "spaces")
DRESSES += ("no last end",)


PARTS: dict[str, Any] = {
    **{"price": PRICES, "sold": COUNTS, "share": SHARES, "truth": TRUTHS},
    **{"season": ("plain", "case", "spaces"), "date": DATES, "marker": MARKERS},
    **{"encoding": ENCODINGS, "delimiter": DELIMITERS, "end": ENDS, "dress": DRESSES},
    "repeat": ("none", "none", "identical", "complementary", "contradictory"),
    "order": ("same", "rows", "columns", "both"),
    "case": ("same", "same", "upper", "lower", "plural"),
    "ending": (".csv", ".csv", ".csv", ".txt", ".tsv", ".data"),
}
"""What a plan draws from."""


def _text_variants(draw: random.Random) -> Iterator[Variant]:
    """Tables of text, dirty in many ways at once."""
    for number in count(1):
        plan = {name: draw.choice(list(values)) for name, values in PARTS.items()}
        rows = _repeat(clean_rows(), plan["repeat"], draw)
        texts, titles = _texts(rows, draw, plan), ["label", *TITLES]
        if plan["order"] in ("rows", "both"):
            draw.shuffle(texts)
        if plan["order"] in ("columns", "both"):
            draw.shuffle(titles)
        respelled: dict[str, str] = {}
        if plan["case"] in ("upper", "lower"):
            change = getattr(str, plan["case"])
            respelled = {x: change(x) for x in draw.sample(FOODS, 9)}
        elif plan["case"] == "plural":
            respelled = {"Sofas": "Sofa", "Kayaks": "Kayak"}
        for row in texts:
            row["label"] = respelled.get(row["label"], row["label"])
        delimiter, end = DELIMITERS[plan["delimiter"]], ENDS[plan["end"]]
        text = _table(texts, titles, delimiter, end, plan["dress"])
        changed = _means(rows, plan["repeat"])
        with suppress(UnicodeEncodeError):
            yield Variant(
                f"text {number}: " + ", ".join(f"{k} {v!r}" for k, v in plan.items()),
                f"foods{plan['ending']}",
                text.encode(plan["encoding"]),
                changed=changed,
                said=("3 labels have several rows",) if changed else (),
                plural=plan["case"] == "plural",
            )


def _formats(draw: random.Random) -> Iterator[Variant]:
    """The table in other formats than text."""
    import openpyxl
    import pandas as pd

    for how in ("none", "identical", "complementary", "contradictory"):
        rows = _repeat(clean_rows(), how, draw)
        seen: dict[str, Any] = {"changed": _means(rows, how)}
        plain = [
            {k: x.isoformat() if isinstance(x, date) else x for k, x in row.items()}
            for row in rows
        ]
        text = json.dumps(plain, ensure_ascii=how == "none")
        yield Variant(f"JSON, {how}", "foods.json", text.encode(), **seen)
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in plain)
        yield Variant(f"JSON lines, {how}", "foods.jsonl", text.encode(), **seen)
        sink = io.BytesIO()
        pd.DataFrame(rows, dtype=object).convert_dtypes().to_parquet(sink)
        yield Variant(f"Parquet, {how}", "foods.parquet", sink.getvalue(), **seen)
        book = openpyxl.Workbook()
        sheet = book.active
        for cells in (rows[0], *(row.values() for row in rows)):
            sheet.append(list(cells))
        if how == "identical":
            book.create_sheet("Notes", 0).append(["nothing"])
            seen["argument"] = f"#{sheet.title}"
        sink = io.BytesIO()
        book.save(sink)
        yield Variant(f"Excel, {how}", "foods.xlsx", sink.getvalue(), **seen)
    by_label = {}
    for row in clean_rows():
        opened = row["opened"] and row["opened"].isoformat()
        by_label[row.pop("label")] = {**row, "opened": opened}
    yield Variant("JSON by label", "foods.json", json.dumps(by_label).encode())


def _flagged(draw: random.Random) -> Iterator[Variant]:
    """What only the user can know, and says with a flag."""
    text = _table(_texts(clean_rows(), draw, {**PLAIN, "marker": "-99"}))
    reading: dict[str, Any] = {"na": ["-99"]}
    yield Variant("-99 is unknown", "foods.csv", text.encode(), reading=reading)
    texts = _texts(clean_rows(), draw, PLAIN)
    content, reading = _table(texts, delimiter="~").encode(), {"delimiter": "~"}
    yield Variant("odd delimiter", "f.csv", content, reading=reading)
    content, reading = _table(texts).encode("cp037"), {"encoding": "cp037"}
    yield Variant("cp037", "f.csv", content, reading=reading)
    for row in texts:
        row["thing"] = row.pop("label")
    content = _table(texts, [*TITLES, "thing"]).encode()
    yield Variant("named label", "f.csv", content, argument=":label=thing")


TREE_TITLES = {
    **dict.fromkeys(("child,parent", "Child;Parent", "CHILD\tPARENT"), ""),
    **dict.fromkeys(("child |parent ", "narrower,broader", "product,parent"), ""),
    **dict.fromkeys(("category,parent_category", "Category;Parent Category"), ""),
    **{"job,sector": "", "x,y": ":child=x,parent=y"},
    "sub class,super class": ":child=sub class,parent=super class",
}
"""Titles of a taxonomy, and what the user types behind the file."""


def _trees() -> Iterator[Variant]:
    """The taxonomy with other titles and in other orders."""
    edges = clean_edges()
    dirty = [*edges, *edges[:4], ("Everything", ""), ("Mugs", "Mugs")]
    kinds = {"plain": (edges, "utf-8"), "dirty": (dirty, "cp1252")}
    for titles, order, kind in product(TREE_TITLES, (1, -1), kinds):
        mark = next(x for x in ",;\t|" if x in titles)
        pairs, encoding = kinds[kind]
        rows = [line[::order] for line in (titles.split(mark), *pairs)]
        file = io.StringIO()
        csv.writer(file, delimiter=mark, lineterminator="\n").writerows(rows)
        name = f"tree {titles!r}, order {order}, {kind}"
        content = file.getvalue().encode(encoding)
        yield Variant(name, "tree.csv", content, "hierarchy", TREE_TITLES[titles])


ODD_CELLS: dict[str, tuple[str, dict[tuple[int, str], str], tuple[str, ...]]] = {
    "words in numbers": (
        "price plain",
        {
            **{
                (2, "price"): "cheap",
                (5, "price"): "about 5",
                (9, "price"): "see list",
            },
            (7, "opened"): "last summer",
        },
        (
            *("line 4: 'price': 'cheap'", "line 7: 'price'", "line 11: 'price'"),
            "line 9: 'opened': 'last summer' is no date",
        ),
    ),
    "open number": (
        "price mixed",
        {(4, "price"): "1.299"},
        ("line 6: 'price': '1.299' may be 1.299 or 1299",),
    ),
    "currencies": (
        "price pounds",
        {(4, "price"): "\u20ac5.50", (8, "price"): "$7.25"},
        ("line 6: 'price': '\u20ac5.50' has another unit", "line 10: 'price'"),
    ),
    "orders of dates": (
        "date day first",
        {(4, "opened"): "12/31/2020", (6, "opened"): "31/02/2020"},
        ("line 6: 'opened': '12/31/2020' is no date with the", "02/2020' is no"),
    ),
}
"""How a table is written, its odd cells, and how they are listed; they are unknown."""


def _odd_cells() -> Iterator[Variant]:
    """Tables with odd cells."""
    for name, (how, cells, odd) in ODD_CELLS.items():
        part, _, spelled = how.partition(" ")
        texts = _texts(clean_rows(), random.Random(SEED), {**PLAIN, part: spelled})
        for (i, title), text in cells.items():
            texts[i][title] = text
        changed = [(FOODS[i], title, math.nan) for i, title in cells]
        if name == "open number":
            texts[5]["price"], texts[6]["price"] = "1.299,00", "605.57"
            changed += [(FOODS[5], "price", 1299), (FOODS[6], "price", 605.57)]
        content = _table(texts).encode()
        yield Variant(name, "f.csv", content, changed=tuple(changed), odd=odd)


def _faulty() -> Iterator[Variant]:
    """Files that must be refused, with every fault named."""
    whole = _table(_texts(clean_rows(), random.Random(SEED), PLAIN))
    head, *lines = whole.split("\n")
    unnamed, ragged = list(lines), list(lines)
    unnamed[12] = "," + unnamed[12].partition(",")[2]
    ragged[2] += ",more"
    ragged[7] = "Saws,1"
    other = whole.replace("Mugs", "\u043a\u0440\u0443\u0436\u043a\u0438")
    cyrillic = re.sub("[èûéñâöå]", "", other).encode("cp1251")
    broken = b'{"label": "cat", "kg": 4}\n{"label": "dog", "kg": [1, 2]}\n'
    found: dict[str, tuple[str | bytes, str]] = {
        "no label.csv": ("\n".join([head, *unnamed]), "line 14: the label is empty"),
        "ragged rows.csv": (
            "\n".join([head, *ragged]),
            "line 4: has 8 cells|line 9: has 2 cells",
        ),
        "same title.csv": (whole.replace("share", "price", 1), "are called 'price'"),
        "no title.csv": (whole.replace("share", "", 1), "column 4 has no name"),
        "open quote.csv": (whole.replace("Mugs", '"Mugs'), "quotation mark missing"),
        "Cyrillic.csv": (
            cyrillic,
            "its letters are not Western|--encoding cp1251 reads",
        ),
        "NUL.csv": (whole.replace("Mugs", "Mu\0gs"), "holds a NUL"),
        "header only.csv": ("label,price\n", "no rows"),
        "nothing.csv": ("", "is empty"),
        "not Excel.xlsx": ("label,price\n", "is not an Excel"),
        "old Excel.xls": (b"\xd0\xcf\x11\xe0", "save it as .xlsx"),
        "a number.json": ("17", "a list of records"),
        "nested.jsonl": (broken, "one text or number"),
    }
    for name, (text, faults) in found.items():
        content = text.encode() if isinstance(text, str) else text
        yield Variant(name, name, content, faults=tuple(faults.split("|")))
    for text, faults in {
        "a1,b1\nMugs,Bowls\nBowls,Plates\n": "--hierarchy f.csv:child=a1,parent=b1",
        "child,parent\n,Kitchen\nMugs,Kitchen\n,Garden\n": (
            "line 2: child is empty|line 4: child is empty"
        ),
    }.items():
        content, lines = text.encode(), faults.split("|")
        yield Variant(faults, "f.csv", content, "hierarchy", faults=tuple(lines))


def variants() -> list[Variant]:
    """All variants: those that are listed, and tables of text up to the number."""
    draw = random.Random(SEED)
    listed = (_faulty(), _odd_cells(), _trees(), _formats(draw), _flagged(draw))
    return list(islice(chain(*listed, _text_variants(draw)), N_VARIANTS))


def write_clean(folder: Path) -> tuple[Path, Path]:
    """The clean table and the clean taxonomy."""
    texts = _texts(clean_rows(), random.Random(SEED), PLAIN)
    table, tree = folder / "clean.csv", folder / "clean_tree.csv"
    table.write_text(_table(texts), encoding="utf-8")
    lines = ["child,parent", *(f"{child},{parent}" for child, parent in clean_edges())]
    tree.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table, tree
