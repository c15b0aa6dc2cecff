"""Saved state in one file: JSON and arrays in a zip, versioned, never pickled."""

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.atomic_write import atomic_write

_HEADER = "hierbandits.json"

# What the readers of zip, JSON and arrays raise at damage, wherever it is.
_UNSOUND = (
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error, RuntimeError),
    *(KeyError, ValueError, TypeError, OverflowError, MemoryError),
)


def write_archive(
    path: str | PathLike[str],
    kind: str,
    version: int,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write the whole file or none of it."""
    header = {"kind": kind, "version": version, "arrays": sorted(arrays), "meta": meta}
    text = json.dumps(header, allow_nan=False)
    with (
        atomic_write(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        archive.writestr(_HEADER, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_archive(
    path: str | PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The meta data and arrays of a file that `write_archive` wrote; checksums are verified."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(_HEADER))
            held = header["kind"], header["version"]
            if held != (kind, version):
                raise ValueError(f"it holds {held[0]} version {held[1]}")
            arrays = {name: _read_array(archive, name) for name in header["arrays"]}
            meta = dict(header["meta"])
    except FileNotFoundError:
        raise
    except _UNSOUND as error:
        raise ValueError(
            f"{os.fspath(path)} is not a sound {kind} file of version {version}: {error}"
        ) from error
    return meta, arrays


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
        member.read()  # to the end, where the checksum is compared
    return np.asarray(array, order="C")
