"""Connections that read: they cannot write, and come back when they were cut."""

import threading

import pytest

from hierbandits.service.postgres_readers import PostgresReaders
from hierbandits.service.socket_watch import SocketWatch
from hierbandits.service.storage import StorageFailed
from hierbandits.service.store_url import StoreUrl


@pytest.fixture
def readers(store_url):
    watch = SocketWatch()
    own = PostgresReaders(StoreUrl(store_url), watch)
    yield own
    own.close()
    watch.close()


def test_bytes_and_numbers_come_back(readers):
    assert readers.read("SELECT %s::bytea, %s::bigint", b"\x00\xff", 1 << 62) == [
        (b"\x00\xff", 1 << 62)
    ]


def test_nothing_can_be_written(readers):
    with pytest.raises(StorageFailed, match="read-only"):
        readers.read("CREATE TABLE x (y integer)")
    assert readers.read("SELECT 1") == [(1,)]


def test_connections_that_were_cut_are_made_anew(readers, postgres, store_url):
    barrier = threading.Barrier(3)

    def read():
        barrier.wait()
        readers.read("SELECT pg_sleep(0.2)")

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert postgres.cut(store_url) >= 2
    assert readers.read("SELECT 1") == [(1,)]


def test_a_connection_is_used_again(readers):
    (first,), (second,) = (readers.read("SELECT pg_backend_pid()") for _ in range(2))
    assert first == second
