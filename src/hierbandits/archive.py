"""Saved state in one file: a zip archive of JSON and arrays, with a version and no pickles."""

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

# What the readers of zip archives, JSON and arrays raise if a file is damaged.
_SIGNS_OF_DAMAGE = (
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
    """Write meta data and arrays to a file of this kind and version: all of it, or nothing."""
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
    """The meta data and the arrays of a file that `write_archive` wrote.

    Checksums are verified, and a file of another kind or version is refused.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(_HEADER))
            if (header["kind"], header["version"]) != (kind, version):
                raise ValueError(f"it holds {header['kind']} version {header['version']}")
            arrays = {name: _read_array(archive, name) for name in header["arrays"]}
            meta = dict(header["meta"])
    except FileNotFoundError:
        raise
    except _SIGNS_OF_DAMAGE as error:
        raise ValueError(
            f"{os.fspath(path)} is not a sound {kind} file of version {version}: {error}"
        ) from error
    return meta, arrays


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        array = np.lib.format.read_array(member, allow_pickle=False)
        member.read()  # the checksum is compared at the end
    return np.asarray(array, order="C")
