"""Saved state: read back exactly, and refused if it is not sound."""

import json
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

import hierbandits
from hierbandits.archive import mark_of, read_archive, sound, write_archive

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
    named = {"kind": "belief", "version": 2, "written_by": hierbandits.__version__}
    assert header == named | {"arrays": sorted(ARRAYS), "meta": META}


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
    own = hierbandits.__version__
    message = f"of version 3: it holds belief version 2, written by hierbandits {own}, and hierb"
    with pytest.raises(ValueError, match=message):
        read_archive(path, "belief", 3)


@pytest.mark.parametrize(("writer", "named"), [("9.1", "9.1"), (None, "before 0.1.0")])
def test_a_file_of_another_version_says_who_can_read_it(writer, named, path, monkeypatch):
    monkeypatch.setattr(hierbandits, "__version__", "0.1.0")
    header = {"kind": "belief", "version": 1, "arrays": [], "meta": {}}
    header |= {} if writer is None else {"written_by": writer}
    _replace(path, hierbandits_json=json.dumps(header))
    _refused(path, f"and hierbandits 0.1.0 reads version 2: load it with hierbandits {named}")


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


def test_a_changed_shape_of_the_same_size_is_seen_by_the_checksum(path):
    write_archive(path, "belief", 2, META, {"large": np.zeros((9, 5000))})
    whole = path.read_bytes()
    assert whole.count(b"(9, 5000)") == 1
    path.write_bytes(whole.replace(b"(9, 5000)", b"(5000, 9)"))
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
    _refused(path, "mean must be an array of numbers, got object")


def test_a_folder_is_no_file(tmp_path):
    _refused(tmp_path)


def _peak(action):
    """The most memory that an action held at once, in bytes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _packed(path, members, compression):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("bomb", ["hierbandits.json", "mean.npy"])
def test_what_is_packed_is_refused_before_it_is_unpacked(bomb, compression, path):
    file = BytesIO()
    np.save(file, np.zeros(1_000_000))
    header = json.dumps({"kind": "belief", "version": 2, "arrays": ["mean"], "meta": {}})
    if bomb == "hierbandits.json":
        header = header[:-1] + " " * 8_000_000 + "}"
    _packed(path, {"hierbandits.json": header, "mean.npy": file.getvalue()}, compression)
    del file, header
    assert path.stat().st_size < 100_000
    peak = _peak(lambda: _refused(path, "its parts must not be compressed"))
    assert peak < 1_000_000


def test_parts_that_share_their_bytes_are_refused_before_they_are_read(path):
    arrays = [f"a{number}" for number in range(3)]
    header = {"kind": "belief", "version": 2, "arrays": arrays, "meta": {}}
    file = BytesIO()
    np.save(file, np.zeros(100_000))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hierbandits.json", json.dumps(header))
        for name in arrays:
            archive.writestr(f"{name}.npy", file.getvalue() if name == "a0" else b"")
        for name in arrays[1:]:  # each says that the bytes of all are its own
            whole, part = archive.getinfo("a0.npy"), archive.getinfo(f"{name}.npy")
            part.file_size, part.compress_size = whole.file_size, whole.compress_size
    _refused(path, r"its parts must fit into its 8\d+ bytes, got 24\d+ bytes")


@pytest.mark.parametrize(
    "shape", [(10**10,), (3, 0), (0,), (), (-1, -3), (1, 10**10, 1), (3, 2**61, 2), (2**70, 2**70)]
)
def test_a_shape_that_its_bytes_do_not_fill_is_refused_before_there_is_room_for_it(shape, path):
    file = BytesIO()
    parts = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, parts)
    _replace(path, mean_npy=file.getvalue() + bytes(24))
    assert _peak(lambda: _refused(path, "mean must ")) < 1_000_000


@pytest.mark.parametrize("dtype", ["S8", "U2", "c16", "V8", "M8[s]", "f8,i4"])
def test_an_array_of_anything_but_numbers_is_refused(dtype, path):
    file = BytesIO()
    np.save(file, np.zeros(3, dtype))
    _replace(path, mean_npy=file.getvalue())
    _refused(path, "mean must be an array of numbers")


def test_a_part_that_the_header_does_not_name_or_names_twice_is_refused(path):
    _replace(path, more_npy=b"")
    _refused(path, "its parts must be those that its header names")
    header = {"kind": "belief", "version": 2, "arrays": ["mean", "mean"], "meta": {}}
    _replace(path, hierbandits_json=json.dumps(header))
    _refused(path, "its parts must be those that its header names")


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"a":' * 100_000, "[" * 9000 + "]" * 9000])
def test_json_that_is_nested_deeply_is_refused(nested, path):
    _replace(path, hierbandits_json=nested)
    _refused(path)


def test_a_mark_tells_files_apart(path, tmp_path):
    assert mark_of(path) is None
    write_archive(path, "belief", 2, META, ARRAYS, mark="one")
    assert mark_of(path) == "one"
    assert read_archive(path, "belief", 2)[0] == META
    assert mark_of(tmp_path / "nowhere") is None
    path.write_bytes(b"no archive")
    assert mark_of(path) is None


def test_a_file_that_must_not_be_replaced_stays(path):
    before = path.read_bytes()

    def refuse(target):
        raise FileExistsError(f"{target.name} stays")

    with pytest.raises(FileExistsError, match="file stays"):
        write_archive(path, "belief", 2, META, ARRAYS, check=refuse)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "error", [KeyError("a"), TypeError("b"), AttributeError("c"), OverflowError("d"),
              RecursionError("e"), MemoryError("f"), IndexError("g")],
)  # fmt: skip
def test_what_is_wrong_with_the_contents_names_the_file(error):
    with (
        pytest.raises(ValueError, match="here is not a sound belief file: ") as raised,
        sound("here", "belief"),
    ):
        raise error
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    ("old", "new"), [(b"), }", b",   "), (b"{'", b"  "), (b"'descr'", b"'descr ")]
)
def test_a_header_of_an_array_that_python_cannot_read_is_refused(old, new, path):
    """numpy reads such headers as Python text, whose errors are of many kinds."""
    with zipfile.ZipFile(path) as archive:
        array = archive.read("mean.npy")
    _replace(path, mean_npy=array.replace(old, new, 1))
    with pytest.raises(ValueError, match="is not a sound belief file of version 2"):
        read_archive(path, "belief", 2)
