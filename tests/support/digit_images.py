"""Pictures of digits for tests: scikit-learn's, MNIST's, and a few that pass for MNIST's."""

import hashlib
import os
import struct
from functools import cache
from pathlib import Path

import numpy as np

from hierbandits.environments import DigitBandit, images
from hierbandits.environments.images import LABELS, PICTURES, load

BESIDE = Path(__file__).parents[3] / "shared" / "data" / "mnist"
MNIST = Path(os.environ.get("MNIST", BESIDE))  # a folder with MNIST's idx files


@cache
def bundled():
    """The digits that come with scikit-learn."""
    return load("digits8x8")


@cache
def bundled_bandit():
    """The digit 3 as the positive class of the bundled digits."""
    return DigitBandit.of(*bundled().halves(), 3)


def idx(array):
    """The bytes of an idx file."""
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.data


def pass_for_mnist(monkeypatch):
    """Forty random pictures and their labels, which `load` then takes for MNIST's."""
    rng = np.random.default_rng(0)
    arrays = {
        PICTURES: rng.integers(0, 256, (40, 28, 28), np.uint8),
        LABELS: rng.integers(0, 10, 40, np.uint8),
    }
    for name, array in arrays.items():
        monkeypatch.setitem(images.SHA256, name, hashlib.sha256(array.data).hexdigest())
    monkeypatch.setattr(images, "TRAINING", 40)
    return arrays


def assert_loaded(loaded, arrays):
    """What `load` returned are the pictures that pass for MNIST's."""
    np.testing.assert_array_equal(loaded.pictures, arrays[PICTURES])
    np.testing.assert_array_equal(loaded.labels, arrays[LABELS])
    assert loaded.features.shape == (40, 49)
    assert loaded.side == 7
