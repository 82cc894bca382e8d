"""Pictures and an embedding: learn where pictures lie in it, and describe new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phcle.cli import options, output
from phcle.cli.options import have, option
from phcle.errors import OptionError, some

if TYPE_CHECKING:
    from phcle.answers import UnderstoodPicture
    from phcle.embedding import LabelEmbedding
    from phcle.images import FeatureNetwork, ImageData


def understand(
    file: options.EmbeddingFile,
    pictures: list[Path] | None = typer.Argument(
        None, metavar="PHOTO", help="Photos, or .npy files of features, one row each."
    ),
    model: Path | None = have(None, "FILE", "A map that --learn has written."),
    learn: Path | None = option(
        None, "FILE", "Learn a map from --features or --photos, and write it here."
    ),
    features: Path | None = have(
        None, "FOLDER|FILE", "Image features with labels: features.npz."
    ),
    photos: Path | None = have(
        None, "FOLDER", "Photos, in one sub-folder for each label."
    ),
    network: str | None = have(
        None,
        "FOLDER|NAME",
        "What makes features of photos: a folder that transformers' save_pretrained "
        "wrote, or a name that it downloads.",
    ),
    feature_ridge: float = option(
        100.0, "NUMBER", "γ of --learn: keeps the map's weights small."
    ),
    class_ridge: float = option(
        0.1, "NUMBER", "λ of --learn: blurs what tells classes apart."
    ),
    k: options.Count = 6,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Describe pictures by related labels and attributes, whatever class they are of.

    First learn a map from pictures whose labels the embedding knows, by id or by name:
    phcle understand labels.phcle --learn pictures.map --features features.npz

    Related labels are those that carry 80 % of the similarity of the nearest ones.

    Example: phcle understand labels.phcle photo.npy --model pictures.map
    """
    from phcle.embedding import load
    from phcle.images import ImageMap, match_classes

    if learn is None:
        if not pictures or model is None:
            raise OptionError(
                "give PHOTO and --model, a map of pictures, which --learn makes."
            )
        found = _understood(load(file), pictures, model, network, k, quiet=quiet)
        output.show(list(found), _show_pictures, as_json=as_json)
        return
    if pictures or model is not None:
        raise OptionError("--learn describes nothing; leave out PHOTO and --model.")
    if (features is None) == (photos is None) or (photos is None) != (network is None):
        raise OptionError(
            "give --features, or --photos together with --network, to learn from."
        )
    output.check_can_write(learn, [file, features])
    embedding = load(file)
    data = _training_data(features, photos, network, quiet=quiet)
    with output.progress_bar("learning the map", quiet=quiet):
        data, left_out = match_classes(embedding, data, fewest=2)
        card = None if network is None else {"name": network}
        ridges = {"feature_ridge": feature_ridge, "class_ridge": class_ridge}
        made = ImageMap.fit(
            data.features, data.labels, embedding, network=card, **ridges
        )
        made.save(learn)
    answer = {
        "file": str(learn),
        "images": made.n_images,
        "features": len(made.weights),
        "classes": len(made.classes),
        "left_out": left_out,
        "network": network,
    }
    output.show(answer, _show_learned, as_json=as_json)


def _training_data(
    features: Path | None, photos: Path | None, network: str | None, *, quiet: bool
) -> ImageData:
    """Features with labels: of a file, or of all photos below a folder."""
    from phcle.images import FeatureNetwork, load_feature_folder, load_photo_folder

    if photos is None or network is None:
        return load_feature_folder(str(features))
    with output.progress_bar("reading", "photos", quiet=quiet) as progress:
        return load_photo_folder(photos, FeatureNetwork.open(network), progress)


def _understood(
    embedding: LabelEmbedding,
    pictures: Sequence[Path],
    model: Path,
    network: str | None,
    k: int,
    *,
    quiet: bool,
) -> Iterator[UnderstoodPicture]:
    """Describe photos, and the rows of files of features."""
    from phcle.images import load_map, read_feature_rows, read_photo

    image_map = load_map(model)
    image_map.check_belongs_to(embedding)
    opened: FeatureNetwork | None = None
    with output.progress_bar("describing", quiet=quiet):
        for path in pictures:
            if path.suffix.lower() == ".npy":
                rows = read_feature_rows(path)
            else:
                opened = opened or image_map.open_network(network)
                rows = opened.features([read_photo(path)])
            for i, each in enumerate(image_map.understand(rows, embedding, k=k)):
                title = str(path) if len(rows) == 1 else f"{path}, row {i}"
                yield replace(each, picture=title)


def _show_learned(answer: dict[str, Any]) -> None:
    output.show_line(
        f"learned from {answer['images']:,} pictures of {answer['classes']} classes, "
        f"{answer['features']:,} features each"
    )
    if answer["left_out"]:
        output.show_line(f"left out, without a vector: {some(answer['left_out'])}")
    output.show_written(answer["file"])


def _show_pictures(found: Sequence[UnderstoodPicture]) -> None:
    from phcle.embedding.cell_texts import number_text

    for answer in found:
        output.show_table(
            ("share", "related label"),
            ((f"{x.share:.0%}", x.name) for x in answer.related),
            title=answer.picture,
        )
        rows = [(x.name, number_text(x.value), x.context) for x in answer.attributes]
        if rows:
            output.show_table(("attribute", "value", "context"), rows)
        else:
            output.show_line("No attribute stands out.")
