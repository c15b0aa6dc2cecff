"""The file of a buffer: what was added is there after any end, and damage is never skipped."""

import os
import re
import resource
import signal
import threading

import pytest

from hierbandits.client import reward_file
from hierbandits.client.reward_file import RewardFile

ROWS = [(f"d{i}", i / 8) for i in range(20)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rewards.log"


def filled(path, rows=ROWS):
    file = RewardFile(path, "shop")
    for row in rows:
        file.add(row)
    return file


def held(path, policy="shop"):
    file = RewardFile(path, policy)
    try:
        return file.first(10**6)
    finally:
        file.close()


def test_what_was_added_and_not_settled_is_there_again(path):
    file = filled(path)
    assert file.first(3) == ROWS[:3]
    file.settle(5)
    assert (len(file), file.first(2)) == (15, ROWS[5:7])
    file.close()
    assert held(path) == ROWS[5:]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_forgets_what_is_settled(path, monkeypatch):
    file = filled(path)
    file.settle(20)
    empty = path.stat().st_size
    file.add(("more", 1.0))
    file.settle(1)
    assert path.stat().st_size == empty
    monkeypatch.setattr(reward_file, "MOST_SETTLED", 8)
    for row in ROWS:
        file.add(row)
    grown = path.stat().st_size
    file.settle(8)
    assert path.stat().st_size < grown
    file.add(("last", 2.0))
    file.close()
    assert held(path) == [*ROWS[8:], ("last", 2.0)]


def test_threads_add_together_and_each_reward_once(path):
    file = RewardFile(path, "shop")

    def add(name):
        for i in range(50):
            file.add((f"{name}-{i}", float(i)))

    threads = [threading.Thread(target=add, args=(str(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()
    assert sorted(held(path)) == sorted((f"{n}-{i}", float(i)) for n in range(8) for i in range(50))


def test_lines_of_several_threads_share_a_write(path, monkeypatch):
    file = RewardFile(path, "shop")
    begun, go, forced = threading.Event(), threading.Event(), []

    def slow(number):
        forced.append(number)
        begun.set()
        assert go.wait(60)

    monkeypatch.setattr(reward_file.os, "fsync", slow)
    threads = [threading.Thread(target=file.add, args=((str(i), 1.0),)) for i in range(10)]
    threads[0].start()
    assert begun.wait(60)
    for thread in threads[1:]:
        thread.start()
    while len(file._new) < 9:
        threads[1].join(0.01)
    go.set()
    for thread in threads:
        thread.join()
    assert len(forced) == 2
    assert len(file) == 10
    file.close()


def test_a_torn_last_line_was_never_added(path):
    filled(path).close()
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last + 1, last + 9, len(whole) - 1):
        path.write_bytes(whole[:cut])
        file = RewardFile(path, "shop")
        assert file.first(100) == ROWS[:-1]
        file.add(ROWS[-1])
        file.close()
        assert path.read_bytes() == whole


def test_every_flipped_byte_is_found(path):
    file = filled(path, ROWS[:6])
    file.settle(3)
    file.close()
    whole = path.read_bytes()
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        with pytest.raises(ValueError, match=re.escape(str(path))):
            held(path)


@pytest.mark.parametrize("text", [b"", b"hello\n", b"x"])
def test_another_file_is_left_as_it_is(path, text):
    path.write_bytes(text)
    with pytest.raises(ValueError, match="is not a file of rewards"):
        RewardFile(path, "shop")
    assert path.read_bytes() == text


def test_a_file_is_of_one_policy_and_one_buffer(path):
    file = filled(path)
    with pytest.raises(RuntimeError, match="must not be in use"):
        RewardFile(path, "shop")
    file.close()
    with pytest.raises(ValueError, match=r"policy must be that of .*, 'shop', got 'other'"):
        RewardFile(path, "other")
    with pytest.raises(ValueError, match="closed"):
        file.add(("late", 1.0))
    assert held(path) == ROWS


def test_a_full_disk_is_an_error_and_the_file_stays_sound(path):
    """A limit on the size of files stands for the disk: writes stop in the middle of a line."""
    file = filled(path)
    size, limits = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    earlier = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for room in (0, 1, 15):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, limits[1]))
            with pytest.raises(OSError, match="the reward of 'more' is not kept"):
                file.add(("more", 1.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, earlier)
    assert len(file) == 20
    file.add(("after", 2.0))
    file.close()
    assert held(path) == [*ROWS, ("after", 2.0)]


def test_descriptors_are_given_back(path):
    def opened():
        return len(os.listdir("/proc/self/fd"))

    filled(path).close()
    before = opened()
    for policy in ("shop", "other"):
        for _ in range(3):
            try:
                file = RewardFile(path, policy)
            except ValueError:
                continue
            file.settle(len(file))
            file.close()
    assert opened() == before
