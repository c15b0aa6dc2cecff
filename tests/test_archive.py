"""Saved state: read back exactly, and refused if it is not sound."""

import json
import zipfile

import numpy as np
import pytest

from hierbandits.archive import read_archive, write_archive

META = {"seed": 3, "names": ["a", None, "é"], "nested": {"x": 0.1}}
ARRAYS = {
    "mean": np.array([[0.1, -0.0], [np.nan, np.inf]]),
    "count": np.arange(3, dtype=np.int32),
    "mask": np.array([True, False]),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "none": np.empty((0, 4)),
    "number": np.array(2.5),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    write_archive(path, "belief", 2, META, ARRAYS)
    return path


def _replace(path, **members):
    """Write some members of the archive anew, with the checksums of their new bytes."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {name.replace("_", "."): data for name, data in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)


def _refused(path, message="is not a sound belief file of version 2"):
    with pytest.raises(ValueError, match=message) as error:
        read_archive(path, "belief", 2)
    assert str(error.value).startswith(f"{path} is not a sound belief file of version 2: ")


def test_what_was_written_is_read_bit_for_bit(path):
    meta, arrays = read_archive(path, "belief", 2)
    assert meta == META
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        read = arrays[name]
        assert (read.dtype, read.shape) == (array.dtype, array.shape)
        assert read.tobytes() == np.ascontiguousarray(array).tobytes()
        assert read.flags.c_contiguous
        assert read.flags.writeable


def test_the_file_is_a_zip_of_json_and_arrays(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {"hierbandits.json", *(f"{name}.npy" for name in ARRAYS)}
        header = json.loads(archive.read("hierbandits.json"))
    assert header == {"kind": "belief", "version": 2, "arrays": sorted(ARRAYS), "meta": META}


def test_the_same_state_is_the_same_members(path, tmp_path):
    write_archive(tmp_path / "again", "belief", 2, META, ARRAYS)
    with zipfile.ZipFile(path) as one, zipfile.ZipFile(tmp_path / "again") as other:
        assert one.namelist() == other.namelist()
        assert all(one.read(name) == other.read(name) for name in one.namelist())


@pytest.mark.parametrize(
    ("meta", "arrays", "error"),
    [
        ({"x": float("nan")}, {}, ValueError),
        ({"x": object()}, {}, TypeError),
        ({}, {"a": np.array([object()])}, ValueError),  # it would be a pickle
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(meta, arrays, error, path):
    before = path.read_bytes()
    with pytest.raises(error):
        write_archive(path, "belief", 2, meta, arrays)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_another_kind_or_version_is_refused_by_name(path):
    with pytest.raises(ValueError, match=r"not a sound agent file of version 2: it holds belief v"):
        read_archive(path, "agent", 2)
    with pytest.raises(ValueError, match="of version 3: it holds belief version 2"):
        read_archive(path, "belief", 3)


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "nowhere", "belief", 2)


def test_a_file_cut_anywhere_is_refused(path):
    whole = path.read_bytes()
    for size in [*range(0, len(whole), 31), len(whole) - 1]:
        path.write_bytes(whole[:size])
        _refused(path)


def test_flipped_bits_are_refused_or_harmless(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(whole), 400):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            meta, arrays = read_archive(path, "belief", 2)
        except ValueError:
            refused += 1
        else:  # a bit of the container that carries nothing
            assert meta == META
            assert all(arrays[n].tobytes() == ARRAYS[n].tobytes("C") for n in ARRAYS)
    assert refused > 200


def test_a_changed_number_is_seen_by_its_checksum(path):
    whole = path.read_bytes()
    place = whole.index(np.float64(0.1).tobytes())
    path.write_bytes(whole[:place] + np.float64(0.2).tobytes() + whole[place + 8 :])
    _refused(path, "Bad CRC-32")


def test_a_smaller_shape_is_seen_by_the_checksum(path):
    """Although the array is then read before the end of its member."""
    write_archive(path, "belief", 2, META, {"large": np.zeros((9, 5000))})
    whole = path.read_bytes()
    assert whole.count(b"(9, 5000)") == 1
    path.write_bytes(whole.replace(b"(9, 5000)", b"(1, 5000)"))
    _refused(path, "Bad CRC-32")


@pytest.mark.parametrize(
    "header",
    [None, b"{", b"[]", b"3", b"{}", b'{"kind": "belief"}', b"\xff",
     b'{"kind": "belief", "version": 2, "arrays": ["nowhere"], "meta": {}}',
     b'{"kind": "belief", "version": 2, "arrays": 3, "meta": {}}',
     b'{"kind": "belief", "version": 2, "arrays": [], "meta": 3}'],
)  # fmt: skip
def test_a_header_that_makes_no_sense_is_refused(header, path):
    _replace(path, hierbandits_json=header)
    _refused(path)


@pytest.mark.parametrize("array", [None, b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00v\x00{}"])
def test_an_array_that_makes_no_sense_is_refused(array, path):
    _replace(path, mean_npy=array)
    _refused(path)


def test_a_pickle_is_not_opened(path, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    _replace(path, mean_npy=(tmp_path / "objects.npy").read_bytes())
    _refused(path, "allow_pickle=False")


def test_a_folder_is_no_file(tmp_path):
    _refused(tmp_path)
