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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
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


@dataclass
class Variant:
    """A file and what must be seen when it is read."""

    name: str
    file: str
    content: bytes
    kind: str = "attributes"
    argument: str = ""  # what the user types behind the file
    reading: dict[str, Any] = field(default_factory=dict)
    changed: tuple[tuple[str, str, float], ...] = ()  # cells with another value
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
            "sold": draw.choice(
                [draw.randint(10, 999), draw.randint(10_000, 9_999_999)]
            ),
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
TRUTHS = {
    "yes": ("yes", "no"),
    "Yes": ("Yes", "No"),
    "Y": ("Y", "N"),
    "TRUE": ("TRUE", "FALSE"),
    "t": ("t", "f"),
    "on": ("on", "off"),
    "1": ("1", "0"),
    "mixed": None,
}
SEASONS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "case": lambda x: x,
    "spaces": lambda x: f" {x} ",
}
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
    found = []
    for row in rows:
        truths = TRUTHS[plan["truth"]] or draw.choice(
            [("yes", "no"), ("Y", "N"), ("1", "0"), ("TRUE", "FALSE")]
        )
        write: dict[str, Callable[[Any], str]] = {
            "price": PRICES[plan["price"]],
            "sold": COUNTS[plan["sold"]],
            "share": SHARES[plan["share"]],
            "organic": lambda x, both=truths: both[0] if x else both[1],
            "season": lambda x: (
                x.upper() if plan["season"] == "case" and draw.random() < 0.1 else x
            ),
            "opened": DATES[plan["date"]],
        }
        texts = {"label": row["label"]}
        for title in TITLES:
            value = row[title]
            marker = plan["marker"]
            if marker == "mixed":
                marker = draw.choice(MARKERS[:-1])
            texts[title] = marker if value is None else write[title](value)
        found.append(texts)
    return found


Changed = tuple[tuple[str, str, float], ...]
SEVERAL = ("3 labels have several rows",)


def _repeat(
    rows: list[Row], how: str, draw: random.Random
) -> tuple[list[Row], Changed]:
    """Repeated rows, and the means of cells that contradict each other."""
    if how == "identical":
        return rows + draw.sample(rows, 5), ()
    if how == "complementary":
        halves = []
        for row in draw.sample(rows, 4):
            title = draw.choice([x for x in TITLES if row[x] is not None])
            halves.append({**row, title: None})
        return rows + halves, ()
    if how == "contradictory":
        wrong = [{**row, "price": 999.5} for row in rows[:3]]
        means = ((row["label"], (row["price"] + 999.5) / 2) for row in rows[:3])
        return rows + wrong, tuple((label, "price", mean) for label, mean in means)
    return rows, ()


def _table(
    rows: list[Row], titles: list[str], delimiter: str, end: str, dress: str
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


def _plan(draw: random.Random) -> dict[str, str]:
    parts = {
        "price": PRICES,
        "sold": COUNTS,
        "share": SHARES,
        "truth": TRUTHS,
        "season": SEASONS,
        "date": DATES,
        "marker": MARKERS,
        "encoding": ENCODINGS,
        "delimiter": DELIMITERS,
        "end": ENDS,
        "dress": DRESSES,
        "repeat": ("none", "none", "identical", "complementary", "contradictory"),
        "order": ("same", "rows", "columns", "both"),
        "case": ("same", "same", "upper", "lower", "plural"),
        "ending": (".csv", ".csv", ".csv", ".txt", ".tsv", ".data"),
    }
    return {name: draw.choice(list(values)) for name, values in parts.items()}


def _text_variants(draw: random.Random) -> Iterator[Variant]:
    """Tables of text, dirty in many ways at once."""
    number = 0
    while True:
        number += 1
        plan = _plan(draw)
        rows, changed = _repeat(clean_rows(), plan["repeat"], draw)
        texts = _texts(rows, draw, plan)
        titles = ["label", *TITLES]
        if plan["order"] in ("rows", "both"):
            draw.shuffle(texts)
        if plan["order"] in ("columns", "both"):
            draw.shuffle(titles)
        if plan["case"] in ("upper", "lower"):
            some = set(draw.sample(FOODS, 9))
            change = str.upper if plan["case"] == "upper" else str.lower
            for row in texts:
                if row["label"] in some:
                    row["label"] = change(row["label"])
        if plan["case"] == "plural":
            for row in texts:
                if row["label"] in ("Sofas", "Kayaks"):
                    row["label"] = row["label"][:-1]
        delimiter, end = DELIMITERS[plan["delimiter"]], ENDS[plan["end"]]
        text = _table(texts, titles, delimiter, end, plan["dress"])
        try:
            content = text.encode(plan["encoding"])
        except UnicodeEncodeError:
            continue
        yield Variant(
            f"text {number}: " + ", ".join(f"{k} {v!r}" for k, v in plan.items()),
            f"foods{plan['ending']}",
            content,
            changed=changed,
            said=SEVERAL if changed else (),
            plural=plan["case"] == "plural",
        )


def _formats(draw: random.Random) -> Iterator[Variant]:
    """The table in other formats than text."""
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    for how in ("none", "identical", "complementary", "contradictory"):
        rows, changed = _repeat(clean_rows(), how, draw)
        plain = [
            {k: x.isoformat() if isinstance(x, date) else x for k, x in row.items()}
            for row in rows
        ]
        listed = json.dumps(plain, ensure_ascii=how == "none").encode()
        yield Variant(f"JSON, {how}", "foods.json", listed, changed=changed)
        lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in plain)
        yield Variant(
            f"JSON lines, {how}", "foods.jsonl", lines.encode(), changed=changed
        )
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(["label", *TITLES])
        for row in rows:
            sheet.append([row[x] for x in ("label", *TITLES)])
        if how == "identical":
            book.create_sheet("Notes", 0).append(["nothing"])
        file = io.BytesIO()
        book.save(file)
        argument = f"#{sheet.title}" if how == "identical" else ""
        yield Variant(
            f"Excel, {how}", "foods.xlsx", file.getvalue(), "attributes", argument,
            changed=changed,
        )  # fmt: skip
        table = pa.table({x: [row[x] for row in rows] for x in ("label", *TITLES)})
        sink = io.BytesIO()
        pq.write_table(table, sink)
        yield Variant(
            f"Parquet, {how}", "foods.parquet", sink.getvalue(), changed=changed
        )
    by_label = {}
    for row in clean_rows():
        opened = row["opened"] and row["opened"].isoformat()
        by_label[row.pop("label")] = {**row, "opened": opened}
    content = json.dumps(by_label).encode()
    yield Variant("JSON by label", "foods.json", content)


def _flagged(draw: random.Random) -> Iterator[Variant]:
    """What only the user can know, and says with a flag."""
    plan = {"price": "plain", "sold": "plain", "share": "plain", "truth": "yes"}
    plan |= {"season": "plain", "date": "ISO", "marker": "-99"}
    texts = _texts(clean_rows(), draw, plan)
    content = _table(texts, ["label", *TITLES], ",", "\n", "plain").encode()
    yield Variant("-99 is unknown", "foods.csv", content, reading={"na": ["-99"]})
    texts = _texts(clean_rows(), draw, {**plan, "marker": ""})
    text = _table(texts, ["label", *TITLES], "~", "\n", "plain")
    yield Variant("odd delimiter", "f.csv", text.encode(), reading={"delimiter": "~"})
    text = _table(texts, ["label", *TITLES], ",", "\n", "plain")
    yield Variant("cp037", "f.csv", text.encode("cp037"), reading={"encoding": "cp037"})
    for row in texts:
        row["thing"] = row.pop("label")
    text = _table(texts, [*TITLES, "thing"], ",", "\n", "plain")
    yield Variant("named label", "f.csv", text.encode(), argument=":label=thing")


def _trees() -> Iterator[Variant]:
    """The taxonomy with other titles and in other orders."""
    edges = clean_edges()
    for titles, argument in (
        ("child,parent", ""),
        ("Child;Parent", ""),
        ("CHILD\tPARENT", ""),
        ("child |parent ", ""),
        ("narrower,broader", ""),
        ("category,parent_category", ""),
        ("Category;Parent Category", ""),
        ("product,parent", ""),
        ("job,sector", ""),
        ("x,y", ":child=x,parent=y"),
        ("sub class,super class", ":child=sub class,parent=super class"),
    ):
        mark = next(x for x in ",;\t|" if x in titles)
        for flip in (False, True):
            for extra in ("plain", "dirty"):
                pairs = [*edges, *edges[:4], ("Everything", ""), ("Mugs", "Mugs")]
                pairs = edges if extra == "plain" else pairs
                lines = [titles.split(mark), *pairs]
                rows = [line[::-1] if flip else line for line in lines]
                file = io.StringIO()
                csv.writer(file, delimiter=mark, lineterminator="\n").writerows(rows)
                encoding = "utf-8" if extra == "plain" else "cp1252"
                yield Variant(
                    f"tree {titles!r}, flipped {flip}, {extra}",
                    "tree.csv",
                    file.getvalue().encode(encoding),
                    "hierarchy",
                    argument,
                )


def _faulty() -> Iterator[Variant]:
    """Files that must be refused, with every fault named."""
    draw = random.Random(SEED)
    plan = {"price": "plain", "sold": "plain", "share": "plain", "truth": "yes"}
    plan |= {"season": "plain", "date": "ISO", "marker": ""}

    def texts(**other: str) -> list[Row]:
        return _texts(clean_rows(), draw, {**plan, **other})

    def table(rows: list[Row], titles: str = ",".join(("label", *TITLES))) -> str:
        found = _table(rows, ["label", *TITLES], ",", "\n", "plain")
        return titles + "\n" + found.split("\n", 1)[1]

    rows = texts()
    for i, word in ((2, "cheap"), (5, "about 5"), (9, "see list")):
        rows[i]["price"] = word
    rows[7]["opened"] = "last summer"
    cells = [(FOODS[i], "price", math.nan) for i in (2, 5, 9)]
    cells.append((FOODS[7], "opened", math.nan))
    odd = ("line 4: 'price': 'cheap'", "line 7: 'price'", "line 11: 'price'")
    odd += ("line 9: 'opened': 'last summer' is no date",)
    content = table(rows).encode()
    yield Variant("words in numbers", "f.csv", content, changed=tuple(cells), odd=odd)
    rows[12]["label"] = ""
    found = ("line 14: the label is empty",)
    yield Variant("no label", "f.csv", table(rows).encode(), faults=found)
    lines = table(texts()).split("\n")
    lines[3] += ",more"
    lines[8] = "Saws,1"
    found = ("line 4: has 8 cells", "line 9: has 2 cells")
    yield Variant("ragged rows", "f.csv", "\n".join(lines).encode(), faults=found)
    titles = "label,price,sold,price,organic,season,opened"
    found = ("two columns are called 'price'",)
    yield Variant("same title", "f.csv", table(texts(), titles).encode(), faults=found)
    titles = "label,price,sold,,organic,season,opened"
    found = ("column 4 has no name",)
    yield Variant("no title", "f.csv", table(texts(), titles).encode(), faults=found)
    rows = texts(price="mixed")
    rows[4]["price"], rows[5]["price"], rows[6]["price"] = "1.299", "1.299,00", "605.57"
    prices = zip(FOODS[4:7], ("price",) * 3, (math.nan, 1299, 605.57), strict=True)
    odd = ("line 6: 'price': '1.299' may be 1.299 or 1299",)
    content = table(rows).encode()
    yield Variant("open number", "f.csv", content, changed=tuple(prices), odd=odd)
    rows = texts(price="pounds")
    rows[4]["price"], rows[8]["price"] = "€5.50", "$7.25"
    both = tuple((FOODS[i], "price", math.nan) for i in (4, 8))
    odd = ("line 6: 'price': '\u20ac5.50' is not in GBP", "line 10: 'price'")
    yield Variant("currencies", "f.csv", table(rows).encode(), changed=both, odd=odd)
    rows = texts(date="day first")
    rows[4]["opened"], rows[6]["opened"] = "12/31/2020", "31/02/2020"
    both = tuple((FOODS[i], "opened", math.nan) for i in (4, 6))
    odd = ("line 6: 'opened': '12/31/2020' has not the day first", "no such day")
    content = table(rows).encode()
    yield Variant("orders of dates", "f.csv", content, changed=both, odd=odd)
    text = table(texts()).replace("Mugs", '"Mugs')
    found = ("is a quotation mark missing",)
    yield Variant("open quote", "f.csv", text.encode(), faults=found)
    text = table(texts()).replace("Mugs", "\u043a\u0440\u0443\u0436\u043a\u0438")
    for x in ("è", "û", "é", "ñ", "â", "ö", "å"):
        text = text.replace(x, "")
    found = ("its letters are not Western", "--encoding cp1251 reads")
    yield Variant("Cyrillic", "f.csv", text.encode("cp1251"), faults=found)
    text = table(texts()).replace("Mugs", "Mu\0gs")
    yield Variant("NUL", "f.csv", text.encode(), faults=("holds a NUL",))
    yield Variant("header only", "f.csv", b"label,price\n", faults=("no rows",))
    yield Variant("nothing", "f.csv", b"", faults=("is empty",))
    yield Variant("not Excel", "f.xlsx", b"label,price\n", faults=("is not an Excel",))
    yield Variant(
        "old Excel", "f.xls", b"\xd0\xcf\x11\xe0", faults=("save it as .xlsx",)
    )
    yield Variant("JSON number", "f.json", b"17", faults=("a list of records",))
    broken = b'{"label": "cat", "kg": 4}\n{"label": "dog", "kg": [1, 2]}\n'
    yield Variant("nested JSON", "f.jsonl", broken, faults=("one text or number",))
    tree = b"a1,b1\nMugs,Bowls\nBowls,Plates\n"
    found = ("--hierarchy f.csv:child=a1,parent=b1",)
    yield Variant("which is the child", "f.csv", tree, "hierarchy", faults=found)
    tree = b"child,parent\n,Kitchen\nMugs,Kitchen\n,Garden\n"
    found = ("line 2: child is empty", "line 4: child is empty")
    yield Variant("no children", "f.csv", tree, "hierarchy", faults=found)


def variants() -> list[Variant]:
    """All variants: those that are listed, and tables of text up to the number."""
    draw = random.Random(SEED)
    found = [*_faulty(), *_trees(), *_formats(draw), *_flagged(draw)]
    texts = _text_variants(draw)
    while len(found) < N_VARIANTS:
        found.append(next(texts))
    return found


def write_clean(folder: Path) -> tuple[Path, Path]:
    """The clean table and the clean taxonomy."""
    plan = {"price": "plain", "sold": "plain", "share": "plain", "truth": "yes"}
    plan |= {"season": "plain", "date": "ISO", "marker": ""}
    texts = _texts(clean_rows(), random.Random(SEED), plan)
    table, tree = folder / "clean.csv", folder / "clean_tree.csv"
    text = _table(texts, ["label", *TITLES], ",", "\n", "plain")
    table.write_text(text, encoding="utf-8")
    lines = ["child,parent", *(f"{child},{parent}" for child, parent in clean_edges())]
    tree.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table, tree
