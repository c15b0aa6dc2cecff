"""Pictures of handwritten digits: MNIST from its files or fetched, and a small bundled set."""

import gzip
import hashlib
import struct
import zlib
from dataclasses import dataclass
from http.client import HTTPException
from math import isqrt
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from hierbandits.atomic_write import atomic_write
from hierbandits.checks import one_of
from hierbandits.types import Indices, Matrix

Bytes: TypeAlias = NDArray[np.uint8]

DATASETS = ("mnist", "digits8x8")
PICTURES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
TRAINING = 60_000  # MNIST's first images, which are its training set
SHA256 = {
    PICTURES: "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    LABELS: "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
}
"""Digests of MNIST's files, unpacked and without their headers."""

_HALVES_SEED = 0


class NotFetchedError(ValueError):
    """MNIST was to be fetched and could not be."""


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Square grey pictures, the digits they show, and what a learner sees of them."""

    pictures: Bytes  # (n, pixels, pixels)
    labels: Indices  # (n,)
    features: Matrix  # (n, d)

    @property
    def side(self) -> int:
        """Features of a picture in each direction; d is its square."""
        return isqrt(self.features.shape[1])

    def halves(self) -> tuple["Images", "Images"]:
        """A training and a test half: one random order, the same in every study, cut in two."""
        order = default_rng(_HALVES_SEED).permutation(len(self.labels))
        middle = len(order) // 2
        return self._part(order[:middle]), self._part(order[middle:])

    def sha256(self) -> str:
        """A digest of the pictures and their labels, which identifies the data."""
        return _digest(self.pictures.tobytes() + self.labels.astype(np.uint8).tobytes())

    def _part(self, rows: Indices) -> "Images":
        return Images(self.pictures[rows], self.labels[rows], self.features[rows])


def downsampled(pictures: Bytes, block: int, white: int) -> Matrix:
    """The means over blocks of pixels, row by row, from 0 (black) to 1 (white), (n, d)."""
    n, side = len(pictures), pictures.shape[1] // block
    blocks = pictures.reshape(n, side, block, side, block)
    means: Matrix = blocks.mean(axis=(2, 4)).reshape(n, side * side) / white
    return means


def load(dataset: str | None = None, folder: Path | None = None) -> Images:
    """The images of a data set: MNIST by default, from the idx files in `folder` if it is given.

    MNIST is down-sampled from 28 x 28 pixels to 7 x 7, as in the paper.  digits8x8 is kept as it
    is: its pixels are themselves counts over blocks of 4 x 4.
    """
    if dataset == "digits8x8":
        if folder is not None:
            raise ValueError(f"folder is for mnist; digits8x8 is in scikit-learn, got {folder}")
        bundled = _sklearn_datasets().load_digits()
        pictures = bundled.images.astype(np.uint8)
        return Images(pictures, bundled.target.astype(np.intp), downsampled(pictures, 1, white=16))
    if dataset is not None:
        one_of("dataset", dataset, DATASETS)
    return read_mnist(_fetched() if folder is None else Path(folder))


def read_mnist(folder: Path) -> Images:
    """MNIST's 60,000 training images from a folder with its two files, packed or not."""
    pictures, labels = (_read(folder, name) for name in (PICTURES, LABELS))
    return Images(pictures, labels.astype(np.intp), downsampled(pictures, 4, white=255))


def read_idx(path: Path, ndim: int) -> Bytes:
    """An array of unsigned bytes from an idx file, packed by gzip or not.

    The file begins with 0, 0, 8 (unsigned bytes) and the number of axes, and the length of each
    axis as a big-endian integer of four bytes.
    """
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    header = 4 + 4 * ndim
    if content[:4] != bytes([0, 0, 8, ndim]) or len(content) < header:
        raise ValueError(
            f"{path} must be an idx file of bytes with {ndim} axes, got a file that begins with "
            f"{content[:4].hex(' ') or 'nothing'}"
        )
    shape = struct.unpack(f">{ndim}I", content[4:header])
    size = int(np.prod(shape, dtype=object))
    if len(content) != header + size:
        raise ValueError(
            f"{path} must hold {size} bytes after its header for an array of shape {shape}, "
            f"got {len(content) - header}: is it complete?"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _read(folder: Path, name: str) -> Bytes:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return _verified(read_idx(path, 3 if name == PICTURES else 1), name, str(path))
    raise ValueError(
        f"folder must hold MNIST's {PICTURES} and {LABELS}, each as it is or with .gz, "
        f"got {folder}, which has no {name}"
    )


def _verified(array: Bytes, name: str, origin: str) -> Bytes:
    digest = _digest(array.tobytes())
    if digest != SHA256[name]:
        raise ValueError(
            f"{origin} is not MNIST's: the sha256 of its content must be {SHA256[name]}, "
            f"got {digest}"
        )
    return array


def _fetched() -> Path:
    """The folder of MNIST's files in scikit-learn's data home; the first call downloads them.

    Parsing OpenML's text is slow, so the arrays are kept as idx files.
    """
    datasets = _sklearn_datasets()
    home = Path(datasets.get_data_home())
    folder = home / "hierbandits-mnist"
    if all((folder / f"{name}.gz").is_file() for name in SHA256):
        return folder
    try:
        fetched = datasets.fetch_openml("mnist_784", version=1, as_frame=False, parser="liac-arff")
    except (OSError, ValueError, HTTPException) as error:
        raise NotFetchedError(
            f"MNIST could not be fetched from openml.org ({error}): give a folder with its files, "
            "or the dataset digits8x8, which needs no download"
        ) from None
    pictures = fetched.data[:TRAINING].astype(np.uint8).reshape(-1, 28, 28)
    labels = fetched.target[:TRAINING].astype(np.uint8)
    for name, array in ((PICTURES, pictures), (LABELS, labels)):
        origin = f"what openml.org sent to {home / 'openml'}"
        _keep(_verified(array, name, origin), folder / f"{name}.gz")
    return folder


def _keep(array: Bytes, path: Path) -> None:
    """Write an idx file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    with atomic_write(path) as file:
        file.write(gzip.compress(header + array.tobytes(), compresslevel=6))


def _sklearn_datasets() -> Any:
    try:
        from sklearn import datasets
    except ImportError:
        raise ValueError(
            "scikit-learn is needed to fetch MNIST and for digits8x8: pip install "
            "'hierbandits[digits]', or give a folder with MNIST's files"
        ) from None
    return datasets


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
