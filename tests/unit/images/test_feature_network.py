"""Features of photos by small networks that are made here, without any download."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from picture_networks import save_network

from phcle.errors import FileError
from phcle.images import FeatureNetwork, read_photo

pytest.importorskip("PIL", reason="Pillow is not installed")


@pytest.fixture(scope="module")
def network_folder(tmp_path_factory):
    return save_network(tmp_path_factory.mktemp("network"))


@pytest.fixture
def photo(tmp_path):
    from PIL import Image

    path = tmp_path / "photo.png"
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def test_features_are_the_means_of_the_last_layer(network_folder, photo):
    network = FeatureNetwork.open(str(network_folder))
    found = network.features([read_photo(photo)] * 17)  # more than a batch
    assert found.shape == (17, 16)
    np.testing.assert_allclose(found, found[[0] * 17], rtol=1e-4)
    # The library's own pooling is the mean too.
    inputs = network.processor(images=[read_photo(photo)], return_tensors="pt")
    pooled = network.model(**inputs).pooler_output.numpy().reshape(-1)
    np.testing.assert_allclose(found[0], pooled, rtol=1e-4, atol=1e-6)


def test_folder_that_is_no_network_is_refused(tmp_path, photo):
    for path in (tmp_path, photo):
        with pytest.raises(FileError, match="is not a network that can be read"):
            FeatureNetwork.open(str(path))


def test_network_with_damaged_or_pickled_weights_is_refused(network_folder, tmp_path):
    import shutil

    folder = shutil.copytree(network_folder, tmp_path / "net")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(FileError, match="is not a network that can be read"):
        FeatureNetwork.open(str(folder))
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(FileError, match="is not a network that can be read"):
        FeatureNetwork.open(str(folder))


def test_name_that_cannot_be_downloaded_is_refused(monkeypatch):
    transformers = pytest.importorskip("transformers")

    def refuse(*_arguments, **_options):
        raise OSError("no connection\nand more lines")

    monkeypatch.setattr(transformers.AutoImageProcessor, "from_pretrained", refuse)
    with pytest.raises(FileError, match=r"by this name \(no connection\); give"):
        FeatureNetwork.open("nobody/no-such-network")


def test_photos_are_turned_the_right_way_up_and_become_rgb(tmp_path):
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    for mode in ("RGB", "CMYK", "L"):
        Image.new(mode, (30, 20)).save(tmp_path / "turned.jpg", exif=exif)
        found = read_photo(tmp_path / "turned.jpg")
        assert (found.size, found.mode) == ((20, 30), "RGB")


def test_damaged_and_missing_photos_are_refused(tmp_path, photo):
    with pytest.raises(FileError, match="no such file"):
        read_photo(tmp_path / "none.jpg")
    (tmp_path / "text.jpg").write_text("not a picture")
    with pytest.raises(FileError, match="is not a picture that can be read"):
        read_photo(tmp_path / "text.jpg")
    (tmp_path / "cut.png").write_bytes(photo.read_bytes()[:300])
    with pytest.raises(
        FileError, match=r"cut\.png: is not a picture that can be read \(.*trunc"
    ):
        read_photo(tmp_path / "cut.png")


@pytest.mark.parametrize(("width", "height"), [(10_000, 9_000), (50_000, 50_000)])
def test_giant_photo_is_refused_before_it_is_unpacked(tmp_path, width, height):
    def chunk(kind, data):
        whole = kind + data
        return (
            struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    small = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"")
    (tmp_path / "bomb.png").write_bytes(small)
    with pytest.raises(
        FileError, match=r"at most 80 million pixels|exceeds limit of 178956970 pixels"
    ):
        read_photo(tmp_path / "bomb.png")
    assert width * height > 80_000_000
