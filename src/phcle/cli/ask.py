"""The commands that ask an embedding: info, nearest, describe, explain, clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phcle.cli import options, output
from phcle.cli.options import Several, have, option
from phcle.errors import OptionError

if TYPE_CHECKING:
    from phcle import answers

Row = tuple[object, ...]

SHOWN = ("what", "options", "versions", "run", "files", "format_version")
"""What is printed of an embedding below its summary."""


def info(file: options.EmbeddingFile, as_json: options.Json = False) -> None:
    """Show what an embedding, a map or a checkpoint holds and how it was made.

    Example: phcle info labels.phcle
    """
    from phcle.files.container import format_of

    about = {"phcle.checkpoint": _about_checkpoint, "phcle.image-map": _about_map}
    held = about.get(format_of(file) or "")
    if held is not None:
        output.show({"file": str(file), **held(file)}, _show_info, as_json=as_json)
        return
    from phcle.embedding import load
    from phcle.embedding.summary import summarise

    summary = summarise(load(file))
    answer = {"file": str(file), "what": "embedding", **summary.to_dict()}
    if not as_json:
        output.show_summary(summary)
        answer = {title: answer[title] for title in SHOWN}
    output.show(answer, _show_info, as_json=as_json)


def _about_checkpoint(path: Path) -> dict[str, Any]:
    from phcle.model.checkpoint import VERSION, look_into

    found = look_into(path)
    return {"what": "checkpoint of a fit", **found, "format_version": VERSION}


def _about_map(path: Path) -> dict[str, Any]:
    from phcle.images.image_map import VERSION, load_map

    found = load_map(path)
    return {
        "what": "map of pictures",
        "features": len(found.weights),
        "dim": found.weights.shape[1],
        "images": found.n_images,
        "classes": list(found.classes),
        "penalties": dict(found.penalties),
        "network": None if found.network is None else found.network["name"],
        "format_version": VERSION,
    }


def _show_info(answer: dict[str, Any]) -> None:
    for title, value in answer.items():
        if title not in ("file", "format_version") and value not in ({}, [], None):
            output.show_line(f"{title}: {_one_line(value)}")
    output.show_line(f"format version: {answer['format_version']}")


def _one_line(value: object) -> str:
    """Write a dictionary or a list on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={each}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_one_line, value))
    return str(value)


def nearest(
    file: options.EmbeddingFile,
    labels: options.Labels = None,
    k: options.Count = 10,
    among: Several = option(
        None, "LABEL|FILE", "Choose neighbours from these only; may be repeated."
    ),
    vector: Path | None = have(None, "FILE", "An .npy file of vectors to ask about."),
    out: options.AnswersFile = None,
    as_json: options.Json = False,
) -> None:
    """List the labels most similar to each given label or vector.

    Example: phcle nearest labels.phcle coffeepot violin -k 5 --out near.csv
    """
    from phcle.embedding import load_vectors

    if not labels and vector is None:
        raise OptionError("nothing to look up; give labels, or --vector with a file.")
    output.check_answers_file(out, [file, vector])
    vectors = {}
    if vector is not None:
        from phcle.images import read_feature_rows

        rows = read_feature_rows(vector)
        vectors = {f"{vector.name}, row {i}": row for i, row in enumerate(rows, 1)}
        if len(rows) == 1:
            vectors = {vector.name: rows[0]}
    embedding = load_vectors(file)
    asked = options.labels_or_files(labels) or []
    every: list[Any] = [*asked, *vectors.values()]
    found = list(embedding.neighbours(every, k, among=options.labels_or_files(among)))
    for at, name in enumerate(vectors, len(asked)):
        found[at] = replace(found[at], name=name)
    output.show(
        found, output.show_nearest, as_json=as_json, out=out, rows=_nearest_rows(found)
    )


def _nearest_rows(found: Sequence[answers.Nearest]) -> Iterator[Row]:
    """A table with a row for each neighbour."""
    yield "label", "name", "nearest", "nearest_name", "similarity", "percentile"
    for answer in found:
        for x in answer.neighbours:
            how_near = map(_digits, (x.similarity, x.percentile))
            yield answer.label, answer.name, x.label, x.name, *how_near


def _digits(number: float | None) -> str | None:
    return None if number is None else f"{number:.6g}"


def describe(
    file: options.EmbeddingFile,
    labels: options.Labels = None,
    k: options.Count = 6,
    as_json: options.Json = False,
) -> None:
    """Describe labels: related labels, and attributes known or predicted.

    --count is the number of related labels, and of attributes of each kind.

    Example: phcle describe labels.phcle coffeepot
    """
    from phcle.embedding import load

    if not labels:
        raise OptionError("nothing to describe; give one label or more.")
    embedding = load(file)
    asked = options.labels_or_files(labels) or []
    found = [embedding.describe(label, k) for label in asked]
    output.show(found, _show_described, as_json=as_json)


def _show_described(found: Sequence[answers.Description]) -> None:
    """Print each label with related labels and their shares, then attributes."""
    for answer in found:
        known = [name for name, known in answer.contexts.items() if known]
        output.show_line(
            f"{output.title_of(answer)}: known in {', '.join(known) or 'no context'}"
        )
        output.show_table(
            ("share", "similarity", "nearer than", "related label"),
            (
                (f"{x.share:.0%}", *output.shown_similarity(x), output.title_of(x))
                for x in answer.related
            ),
        )
        rows = [
            (kind, x.name, *_value(x), x.context)
            for kind, own in (
                ("observed", answer.observed),
                ("predicted", answer.predicted),
            )
            for x in own
        ]
        if rows:
            output.show_table(("", "attribute", "value", output.SURE, "context"), rows)
        if answer.not_predictable:
            unknown = ", ".join(answer.not_predictable)
            output.show_line(f"Too little is known to predict {unknown}.")


def _value(attribute: answers.Attribute) -> tuple[str, str]:
    """A value, and how sure it is: in percent, as an interval, or nothing."""
    from phcle.embedding.cell_texts import interval_text, number_text

    sure = attribute.confidence
    if sure is None:
        interval = interval_text(attribute.low, attribute.high)
        return number_text(attribute.value), interval
    # A value that is its own probability is shown once.
    value = "" if attribute.value == sure else number_text(attribute.value)
    return value, f"{sure:.0%}"


def explain(
    file: options.EmbeddingFile,
    a: options.Label,
    b: options.Label,
    k: options.Count = 5,
    as_json: options.Json = False,
) -> None:
    """Explain why two labels are similar, context by context.

    --count is the number of columns that are named in each group.

    Example: phcle explain labels.phcle coffeepot teapot
    """
    from phcle.embedding import load

    output.show(load(file).explain(a, b, k), _show_explanation, as_json=as_json)


def _show_explanation(answer: answers.Explanation) -> None:
    """Print the common ancestors, and the parts of a similarity."""
    from phcle.embedding.search import shown_percentile

    output.show_line(
        f"{answer.a.name} and {answer.b.name}: similarity {answer.similarity:.3f}, "
        f"nearer than {shown_percentile(answer.percentile)} of pairs"
    )
    shared = (part.shared for part in answer.parts if part.shared)
    for nodes in dict.fromkeys(shared):  # once, though a hierarchy may have two parts
        names = ", ".join(node.name for node in nodes)
        output.show_line(f"Both are below (most specific first): {names}")
    output.show_line("The similarity is the sum of")
    output.show_table(
        ("part", "context", "of it", "what", "columns"),
        (
            (x.part, x.context, x.group_part, x.words, ", ".join(x.columns))
            for x in answer.lines
        ),
    )


def clusters(
    file: options.EmbeddingFile,
    labels: options.Labels = None,
    k: options.Count = 8,
    out: Path | None = option(None, "FILE", "Write a .csv, .tsv or .json file."),
    as_json: options.Json = False,
) -> None:
    """Group similar labels: all, or those that are given.

    --count is the number of clusters.

    Example: phcle clusters labels.phcle --count 12 --out clusters.csv
    """
    from phcle.embedding import load

    output.check_answers_file(out, [file])
    answer = load(file).groups(k, options.labels_or_files(labels))
    rows = _clustered_rows(answer)
    output.show(answer, _show_clusters, as_json=as_json, out=out, rows=rows)


def _clustered_rows(answer: answers.Groups) -> Iterator[Row]:
    """A table with a row for each label."""
    yield "cluster", "cluster_name", "label", "name"
    named = zip(answer.names, answer.clusters, strict=True)
    for number, (name, group) in enumerate(named, 1):
        for x in group:
            yield number, name, x.label, x.name


def _show_clusters(answer: answers.Groups) -> None:
    named = zip(answer.names, answer.clusters, strict=True)
    output.show_table(
        ("cluster", "labels"),
        (
            (f"{number}  {name}", ", ".join(x.name for x in group))
            for number, (name, group) in enumerate(named, 1)
        ),
    )
