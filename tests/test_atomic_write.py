"""Files are there whole or not at all."""

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_ISDIR

import pytest

from hierbandits.atomic_write import atomic_write


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("form", [str, Path])
def test_a_file_appears_when_the_block_ends(form, tmp_path):
    path = tmp_path / "file.json"
    with atomic_write(form(path)) as file:
        file.write(b"one, ")
        file.write(b"two")
        assert not path.exists()
        assert len(_names(tmp_path)) == 1  # the temporary file, in the same folder
    assert path.read_bytes() == b"one, two"
    assert _names(tmp_path) == ["file.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("earlier", [None, b"old"])
def test_an_error_in_the_block_leaves_things_as_they_were(error, earlier, tmp_path):
    path = tmp_path / "file"
    if earlier is not None:
        path.write_bytes(earlier)

    def write():
        with atomic_write(path) as file:
            file.write(b"new" * 100_000)
            raise error

    with pytest.raises(error):
        write()
    assert _names(tmp_path) == ([] if earlier is None else ["file"])
    assert earlier is None or path.read_bytes() == earlier


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_at_the_end_leaves_the_earlier_file(step, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    def write():
        with atomic_write(path) as file:
            file.write(b"new")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, full_disk)
        with pytest.raises(OSError, match="No space left"):
            write()
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == ["file"]
    write()
    assert path.read_bytes() == b"new"


def test_all_bytes_are_on_disk_before_the_rename_and_the_rename_after_it(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(number):
        status = os.fstat(number)
        calls.append(("fsync", "folder" if S_ISDIR(status.st_mode) else status.st_size))
        fsync(number)

    def watched_replace(old, new):
        calls.append(("replace", Path(new).name))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"12345")
    assert calls == [("fsync", 5), ("replace", "file"), ("fsync", "folder")]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_permissions_are_those_of_the_umask(umask, mode, tmp_path):
    def write(number):
        with atomic_write(tmp_path / f"file-{number}") as file:
            file.write(b"x")

    before = os.umask(umask)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(40)))
        assert os.umask(umask) == umask  # it is as it was
    finally:
        os.umask(before)
    assert len(_names(tmp_path)) == 40
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {mode}


def test_a_folder_in_the_way_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()

    def write(path):
        with atomic_write(path) as file:
            file.write(b"x")

    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder")
    assert _names(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "file")
    assert _names(tmp_path) == ["folder"]


def test_an_earlier_files_permissions_stay(tmp_path):
    target = tmp_path / "secret"
    target.write_bytes(b"old")
    target.chmod(0o600)
    with atomic_write(target) as file:
        assert os.stat(file.name).st_mode & 0o777 == 0o600  # from the first byte on
        file.write(b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_link_keeps_pointing_where_it_did(tmp_path):
    (tmp_path / "deep").mkdir()
    real, link = tmp_path / "deep" / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_missing_folder_is_named_and_a_long_name_is_fine(tmp_path):
    lost = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError, match=f"{lost} must be in a folder that exists"):
        atomic_write(lost).__enter__()
    long = tmp_path / ("x" * 250)
    with atomic_write(long) as file:
        file.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == [long.name]


def test_the_blocks_own_error_is_seen_if_the_temporary_file_is_gone(tmp_path):
    writer = atomic_write(tmp_path / "file")
    os.unlink(writer.__enter__().name)
    error = ValueError("mine")
    assert not writer.__exit__(ValueError, error, None)  # it is raised as it is
    assert list(tmp_path.iterdir()) == []


def test_the_check_sees_the_file_that_would_be_replaced_and_nobody_replaces_it_meanwhile(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path)
    seen = []

    def check(target):
        seen.append((target, target.read_bytes()))
        folder = os.open(tmp_path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):  # another writer waits here
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(folder)

    with atomic_write(link, check) as file:
        file.write(b"new")
    assert seen == [(Path(os.path.realpath(path)), b"old")]
    assert path.read_bytes() == b"new"

    def refuse(target):
        raise ValueError(f"not {target.name}")

    writer = atomic_write(path, refuse)
    writer.__enter__()
    with pytest.raises(ValueError, match="not file"):
        writer.__exit__(None, None, None)
    assert path.read_bytes() == b"new"
    assert _names(tmp_path) == ["file", "link"]


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe must be a file, got a folder or a device"):
        atomic_write(tmp_path / "pipe").__enter__()
    assert _names(tmp_path) == ["pipe"]


def test_nobody_touches_the_umask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"x")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_folder_that_cannot_be_listed_can_be_written_to(tmp_path, monkeypatch):
    listing, opening = os.scandir, os.open

    def forbidden(path, *rest):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *rest) if rest else listing(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    monkeypatch.setattr(os, "open", forbidden)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"x")
    assert (tmp_path / "file").read_bytes() == b"x"
