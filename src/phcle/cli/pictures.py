"""Pictures and an embedding: learn where pictures lie in it, and describe new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phcle.cli.command_style import have, tuning, want
from phcle.cli.flags import Count, EmbeddingFile, Json
from phcle.cli.output import (
    check_can_write,
    progress_bar,
    show,
    show_each,
    show_table,
    show_written,
)
from phcle.errors import FileError, OptionError, some

if TYPE_CHECKING:
    from phcle.answers import LearnedImageMap, UnderstoodPicture
    from phcle.images import FeatureNetwork, ImageData, ImageMap


Network = Annotated[
    str | None,
    have(
        "FOLDER|NAME",
        "What makes features of photos: a folder that transformers' "
        "save_pretrained wrote, or a name that it downloads.",
        "--network",
    ),
]


def map(
    file: EmbeddingFile,
    out: Annotated[Path, want("FILE", "Where to write the map.")],
    features: Annotated[
        Path | None,
        have("FOLDER|FILE", "Image features: features.npz, or X.npy and labels.csv."),
    ] = None,
    photos: Annotated[
        Path | None,
        have("FOLDER", "Photos, in one sub-folder for each label."),
    ] = None,
    network: Network = None,
    feature_ridge: Annotated[
        float, tuning("NUMBER", "γ: keeps the map's weights small.")
    ] = 100.0,
    class_ridge: Annotated[
        float, tuning("NUMBER", "λ: blurs what tells classes apart.")
    ] = 0.1,
    as_json: Json = False,
) -> None:
    """Learn a map from features of pictures to the vectors of their labels.

    All pictures are learned from whose label the embedding knows, by id or by readable
    name. The map then describes pictures of any class with `phcle understand`.
    """
    from phcle.answers import LearnedImageMap
    from phcle.embedding import load
    from phcle.images import FeatureNetwork, ImageMap, match_classes

    if (features is None) == (photos is None) or (photos is None) != (network is None):
        raise OptionError(
            "give --features, or --photos together with --network, to learn from."
        )
    check_can_write(out, [file, features])
    embedding = load(file)
    if network is not None and photos is not None:
        opened = FeatureNetwork.open(network)
        data = _photo_data(photos, opened)
    else:
        from phcle.images import load_feature_folder

        data = load_feature_folder(str(features))
    data, left_out = match_classes(embedding, data, fewest=2)
    with progress_bar("learning the map"):
        found = ImageMap.fit(
            data.features,
            data.labels,
            embedding,
            feature_ridge=feature_ridge,
            class_ridge=class_ridge,
            network=None if network is None else {"name": network},
        )
    found.save(out)
    answer = LearnedImageMap(
        file=str(out),
        images=found.n_images,
        features=len(found.weights),
        classes=len(found.classes),
        left_out=left_out,
        network=network,
    )
    show(answer, _show_map, as_json=as_json)


def understand(
    file: EmbeddingFile,
    photos: Annotated[
        list[Path],
        typer.Argument(
            metavar="PHOTO", help="Photos, or .npy files of features, one row each."
        ),
    ],
    model: Annotated[Path, have("FILE", "A map that `phcle map` has written.")],
    network: Network = None,
    k: Count = 6,
    as_json: Json = False,
) -> None:
    """Describe pictures by related labels and attributes, whatever class they are of.

    Related labels are those that carry 80 % of the similarity of the nearest ones.
    """
    from phcle.embedding import load
    from phcle.images import load_map

    embedding, image_map = load(file), load_map(model)
    image_map.check_belongs_to(embedding)
    opened = None
    if any(path.suffix.lower() != ".npy" for path in photos):
        opened = network_of(image_map, model, network)
    found: list[UnderstoodPicture] = []
    with progress_bar("describing", "pictures") as progress:
        for path in _counted(photos, progress):
            rows = _features(path, opened)
            for i, each in enumerate(image_map.understand(rows, embedding, k=k)):
                title = str(path) if len(rows) == 1 else f"{path}, row {i}"
                found.append(replace(each, picture=title))
    show_each(found, _show_pictures, as_json=as_json)


def _photo_data(folder: Path, network: FeatureNetwork) -> ImageData:
    """Features of all photos below a folder; sub-folders are their labels."""
    from phcle.images import PHOTO_ENDINGS, ImageData, read_photo

    if not folder.is_dir():
        raise FileError(f"{folder}: no such folder; --photos names a folder of photos.")
    files = [
        path
        for path in sorted(folder.glob("*/*"))
        if path.suffix.lower() in PHOTO_ENDINGS
    ]
    if not files:
        raise FileError(
            f"{folder}: has no photos in sub-folders; put them into one sub-folder for "
            "each label, called like the label."
        )
    with progress_bar("reading", "photos") as progress:
        features = network.features(
            read_photo(path) for path in _counted(files, progress)
        )
    return ImageData(folder.name, features, [path.parent.name for path in files])  # type: ignore[arg-type]


def _counted(
    files: Sequence[Path], progress: Callable[[int, int], None]
) -> Iterator[Path]:
    """Pass files on, and count them."""
    for n_done, path in enumerate(files):
        progress(n_done, len(files))
        yield path


def network_of(image_map: ImageMap, model: Path, network: str | None) -> FeatureNetwork:
    """Open the network that a map was learned with.

    Parameters
    ----------
    image_map : ImageMap
        The map.
    model : Path
        File of the map, for messages.
    network : str or None
        Where the network is now; by default where it was.

    Returns
    -------
    FeatureNetwork
        The network.
    """
    from phcle.images import FeatureNetwork

    card = image_map.network
    if card is None:
        raise OptionError(
            f"{model}: was learned from features, not from photos, so give features "
            "(.npy) here too, or learn it again with `phcle map --photos --network`."
        )
    return FeatureNetwork.open(network or card["name"])


def _features(path: Path, network: FeatureNetwork | None) -> Any:
    """Features (rows, features) of a photo, or from a file."""
    if path.suffix.lower() == ".npy" or network is None:
        from phcle.images import read_feature_rows

        return read_feature_rows(path)
    from phcle.images import read_photo

    return network.features([read_photo(path)])


def _show_map(answer: LearnedImageMap) -> None:
    typer.echo(
        f"learned from {answer.images:,} pictures of {answer.classes} classes, "
        f"{answer.features:,} features each"
    )
    if answer.left_out:
        typer.echo(f"left out, without a vector: {some(answer.left_out)}")
    show_written(answer.file)


def _show_pictures(found: Sequence[UnderstoodPicture]) -> None:
    from phcle.embedding.cell_texts import number_text

    for answer in found:
        show_table(
            ("share", "related label"),
            ((f"{x.share:.0%}", x.name) for x in answer.related),
            title=answer.picture,
        )
        rows = [(x.name, number_text(x.value), x.context) for x in answer.attributes]
        if rows:
            show_table(("attribute", "value", "context"), rows)
        else:
            typer.echo("No attribute stands out.")
