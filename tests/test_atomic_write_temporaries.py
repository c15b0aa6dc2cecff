"""Many writers at once, dead ones too: each has a temporary file of its own."""

import fcntl
import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

from support.processes import in_child

from hierbandits import atomic_write as atomic_write_module
from hierbandits.atomic_write import atomic_write


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_several_writers_leave_the_whole_file_of_one(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([65 + number]) * 300_000 for number in range(8)]

    def write(content):
        with atomic_write(path) as file:
            for start in range(0, len(content), 50_000):
                file.write(content[start : start + 50_000])
        return path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        seen = [*pool.map(write, contents * 5)]
    assert set(seen) <= set(contents)  # whoever was last
    assert path.read_bytes() in contents
    assert _names(tmp_path) == ["file"]


def test_a_new_file_that_another_takes_for_a_dead_writers_is_made_again(tmp_path, monkeypatch):
    made = []

    def opened(name, mode):
        file = open(name, mode)  # noqa: SIM115
        if not made:
            other = os.open(name, os.O_RDWR)
            fcntl.flock(other, fcntl.LOCK_EX)

            def remove():
                os.unlink(name)
                os.close(other)

            threading.Timer(0.2, remove).start()
        made.append(name)
        return file

    monkeypatch.setattr(atomic_write_module, "open", opened, raising=False)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"whole")
        time.sleep(0.4)
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert len(made) == 2
    assert _names(tmp_path) == ["file"]


def test_two_open_writers_do_not_meet(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first:
        with atomic_write(path) as second:
            first.write(b"first")
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert _names(tmp_path) == ["file"]


def _killed(action):
    """Run an action in a child that is killed once it has said that it is ready."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where threads run
        child = os.fork()
    if child == 0:
        try:
            action(lambda: os.write(write, b"x"))
        finally:
            os._exit(0)
    os.close(write)
    assert os.read(read, 1) == b"x"
    os.close(read)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_what_killed_writers_leave_is_removed_by_the_next_writer_of_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write(ready):
        with atomic_write(path) as file:
            file.write(b"new" * 1000)
            file.flush()
            ready()
            signal.pause()

    for _ in range(3):
        _killed(write)
    assert len(_names(tmp_path)) == 2  # each writer removes what the one before it left
    assert path.read_bytes() == b"old"
    for kept in (".file.part", ".file.0123456789abcdef", ".other.0123456789abcdef.part"):
        (tmp_path / kept).touch()
    with atomic_write(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    kept = [".file.0123456789abcdef", ".file.part", ".other.0123456789abcdef.part"]
    assert _names(tmp_path) == [*kept, "file"]


def test_the_temporary_file_of_a_living_writer_stays(tmp_path):
    path = tmp_path / "file"

    def another():
        with atomic_write(path) as file:
            file.write(b"another's")

    with atomic_write(path) as file:
        file.write(b"mine")
        in_child(another)
        assert os.path.exists(file.name)
        assert path.read_bytes() == b"another's"
    assert path.read_bytes() == b"mine"
    assert _names(tmp_path) == ["file"]


def test_a_link_that_looks_like_a_temporary_file_is_not_followed_or_removed(tmp_path):
    (tmp_path / "deep").mkdir()
    mine = tmp_path / "deep" / "mine"
    mine.write_bytes(b"mine")
    link = tmp_path / "deep" / ".file.0123456789abcdef.part"
    link.symlink_to(mine)
    with atomic_write(tmp_path / "deep" / "file") as file:
        file.write(b"new")
    assert link.is_symlink()
    assert mine.read_bytes() == b"mine"


def test_a_file_that_is_removed_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    lock = atomic_write_module._take_lock
    calls = []

    def late(number, **how):
        calls.append(number)
        if len(calls) == 1:
            (name,) = _names(tmp_path)
            (tmp_path / name).unlink()
        return lock(number, **how)

    monkeypatch.setattr(atomic_write_module, "_take_lock", late)
    with atomic_write(tmp_path / "file") as file:
        file.write(b"whole")
    assert len(calls) == 2
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert _names(tmp_path) == ["file"]
