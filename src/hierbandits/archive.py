"""Saved state in one file: a zip archive of JSON and arrays, with a version and no pickles."""

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from os import PathLike
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.atomic_write import atomic_write
from hierbandits.checks import file_path

_HEADER, _MARK = "hierbandits.json", "mark.json"

# What the readers of zip archives, JSON and arrays raise if a file is damaged.
_SIGNS_OF_DAMAGE = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, RuntimeError),
    *(LookupError, ValueError, TypeError, ArithmeticError, MemoryError),
    *(SyntaxError, TokenError),  # of the headers of arrays, which numpy reads as Python text
)


def write_archive(
    path: str | PathLike[str],
    kind: str,
    version: int,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    mark: str = "",
    check: Callable[[Path], object] | None = None,
) -> None:
    """Write meta data and arrays to a file of this kind and version: all of it, or nothing.

    `mark` tells this file from others, see `mark_of`, and `check` may refuse to replace an earlier
    file, see `atomic_write`.
    """
    from hierbandits import __version__

    header = {"kind": kind, "version": version, "written_by": __version__}
    text = json.dumps(header | {"arrays": sorted(arrays), "meta": meta}, allow_nan=False)
    with (
        atomic_write(path, check) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        archive.writestr(_HEADER, text)
        if mark:  # apart from the header, which may be large
            archive.writestr(_MARK, json.dumps(mark))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def read_archive(
    path: str | PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The meta data and the arrays of a file that `write_archive` wrote.

    Checksums are verified, and a file of another kind or version is refused.  No part is read
    before its size is known to be that of the file at most, so that reading takes memory in
    proportion to the file.
    """
    path = file_path("path", path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, os.stat(path).st_size)
            header = json.loads(archive.read(_HEADER))
            if (header["kind"], header["version"]) != (kind, version):
                raise ValueError(_what_it_holds(header, kind, version))
            names = list(map(str, header["arrays"]))
            present = [name for name in archive.namelist() if name != _MARK]
            if sorted(present) != sorted([_HEADER, *(f"{name}.npy" for name in names)]):
                raise ValueError("its parts must be those that its header names")
            arrays = {name: _read_array(archive, name) for name in names}
            meta = dict(header["meta"])
    except FileNotFoundError:
        raise
    except _SIGNS_OF_DAMAGE as error:
        raise ValueError(
            f"{os.fspath(path)} is not a sound {kind} file of version {version}: {error}"
        ) from error
    return meta, arrays


def mark_of(path: str | PathLike[str]) -> str | None:
    """The mark of a file that `write_archive` wrote; None if no file with a mark is there."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, os.stat(path).st_size)
            return str(json.loads(archive.read(_MARK)))
    except _SIGNS_OF_DAMAGE:
        return None


@contextmanager
def sound(path: str | PathLike[str], kind: str) -> Iterator[None]:
    """Whatever is wrong with the contents of a file becomes an error that names the file."""
    try:
        yield
    except (*_SIGNS_OF_DAMAGE, AttributeError) as error:
        raise ValueError(f"{os.fspath(path)} is not a sound {kind} file: {error}") from error


def _check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Raise an error if the parts of an archive would take more room than the archive."""
    parts = archive.infolist()
    if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
        raise ValueError("its parts must not be compressed")
    whole = sum(part.file_size for part in parts)
    if whole > size:
        raise ValueError(f"its parts must fit into its {size} bytes, got {whole} bytes")


def _what_it_holds(header: dict[str, Any], kind: str, version: int) -> str:
    """Why a file of another kind or version is refused, and who can read it."""
    from hierbandits import __version__

    held = f"it holds {header['kind']!s:.80} version {header['version']!s:.20}"
    if header["kind"] != kind:
        return held
    writer = header.get("written_by")
    writer = f"{writer!s:.40}" if writer is not None else f"before {__version__}"
    return (
        f"{held}, written by hierbandits {writer}, and hierbandits {__version__} reads version "
        f"{version}: load it with hierbandits {writer}"
    )


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError(f"{name} must be an array of format 1.0")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        size = archive.getinfo(f"{name}.npy").file_size - member.tell()
        if dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise ValueError(f"{name} must be an array of numbers, got {dtype} of shape {shape}")
        if prod(shape) * dtype.itemsize != size:
            raise ValueError(f"{name} must have the numbers of shape {shape}, got {size} bytes")
        member.seek(0)
        array = np.lib.format.read_array(member, allow_pickle=False)
        member.read()  # the checksum is compared at the end
    return np.asarray(array, order="C")
