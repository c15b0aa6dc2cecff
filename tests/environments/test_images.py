"""Pictures of digits: MNIST's files, down-sampling, halves, and the bundled set."""

import gzip
import sys

import numpy as np
import pytest
from support.digit_images import assert_loaded, bundled, idx, pass_for_mnist

from hierbandits.environments.images import LABELS, PICTURES, Images, downsampled, load, read_idx


@pytest.fixture
def tiny(monkeypatch):
    return pass_for_mnist(monkeypatch)


@pytest.mark.parametrize("packed", [True, False])
def test_idx_files_are_read_packed_or_not(tiny, tmp_path, packed):
    for name, array in tiny.items():
        path = tmp_path / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))
    assert_loaded(load(None, tmp_path), tiny)
    assert_loaded(load("mnist", tmp_path), tiny)


GOOD = idx(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(GOOD, mtime=0)[:-10], "cannot be read: .*end-of-stream"),
        (gzip.compress(GOOD, mtime=0)[:10] + b"\xff" * 30, "cannot be read: .*invalid"),
        (GOOD[:-1], r"must hold 24 bytes after its header .* \(2, 3, 4\), got 23: is it complete"),
        (GOOD + b"x", "must hold 24 bytes .* got 25"),
        (GOOD[:10], "must be an idx file of bytes with 3 axes, got .* 00 00 08 03"),
        (b"", "begins with nothing"),
        (b"\x89PNG and more", "begins with 89 50 4e 47"),
        (idx(np.arange(24, dtype=np.uint8)), "with 3 axes, got .* 00 00 08 01"),
        (b"\x00\x00\x0d\x03" + GOOD[4:], "begins with 00 00 0d 03"),
    ],
)
def test_damaged_and_foreign_files_are_named(content, message, tmp_path):
    path = tmp_path / "some-file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"some-file .*{message}"):
        read_idx(path, 3)


def test_other_images_are_refused(tiny, tmp_path):
    other = tiny[PICTURES].copy()
    other[7, 3, 3] ^= 1
    (tmp_path / PICTURES).write_bytes(idx(other))
    (tmp_path / LABELS).write_bytes(idx(tiny[LABELS]))
    with pytest.raises(ValueError, match=f"{PICTURES} is not MNIST's: the sha256"):
        load(None, tmp_path)


def test_what_cannot_be_loaded_is_said(tiny, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"folder must hold MNIST's .* which has no {PICTURES}"):
        load(None, tmp_path / "nowhere")
    (tmp_path / PICTURES).write_bytes(idx(tiny[PICTURES]))
    with pytest.raises(ValueError, match=f"which has no {LABELS}"):
        load(None, tmp_path)
    with pytest.raises(ValueError, match="dataset must be one of mnist, digits8x8, got 'cifar'"):
        load("cifar")
    with pytest.raises(ValueError, match="folder is for mnist; digits8x8 is in scikit-learn"):
        load("digits8x8", tmp_path)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ValueError, match=r"scikit-learn is needed .* give a folder"):
        load("digits8x8")


def test_down_sampling_by_hand():
    picture = np.zeros((1, 4, 4), np.uint8)
    picture[0, 0] = [255, 255, 0, 51]
    picture[0, 1] = [255, 255, 0, 0]
    picture[0, 3] = [0, 102, 204, 204]
    expected = [[1.0, 51 / 4 / 255, 102 / 4 / 255, 408 / 4 / 255]]
    np.testing.assert_allclose(downsampled(picture, 2, white=255), expected, rtol=1e-15)
    np.testing.assert_allclose(downsampled(picture, 1, white=255)[0, :4], [1, 1, 0, 0.2])


def test_halves_share_no_picture():
    numbers = np.arange(101)
    whole = Images(numbers.astype(np.uint8).reshape(-1, 1, 1), numbers, numbers[:, None] / 101)
    train, test = whole.halves()
    assert (len(train.labels), len(test.labels)) == (50, 51)
    assert set(train.labels) | set(test.labels) == set(numbers)
    assert set(train.labels) != set(range(50))
    for half in (train, test):  # the parts of a picture stay together
        np.testing.assert_array_equal(half.pictures[:, 0, 0], half.labels)
        np.testing.assert_array_equal(half.features[:, 0], half.labels / 101)
    np.testing.assert_array_equal(whole.halves()[0].labels, train.labels)


def test_the_bundled_digits():
    small = bundled()
    assert small.pictures.shape == (1797, 8, 8)
    assert small.features.shape == (1797, 64)
    assert (small.features.min(), small.features.max(), small.side) == (0.0, 1.0, 8)
    assert np.unique(small.labels).tolist() == list(range(10))
