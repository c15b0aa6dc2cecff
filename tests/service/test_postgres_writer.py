"""One process writes: others wait, take over, and whoever was cut off cannot write any more."""

import threading
import time

import pytest
from support.socket_proxy import SocketProxy, through
from support.stores import put

from hierbandits.service import postgres_writer
from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.postgres_writer import InUse
from hierbandits.service.storage import Batch, StorageFailed


@pytest.fixture
def storage(store_url):
    own = PostgresStorage(store_url)
    yield own
    own.close()


@pytest.fixture
def proxied(store_url, postgres, tmp_path):
    """A proxy, and the address of the database through it."""
    if not postgres.is_own:
        pytest.skip("the socket of another server is not known")
    with SocketProxy(tmp_path, postgres.socket_folder) as proxy:
        yield proxy, through(store_url, tmp_path)


def settled(storage, seconds=30):
    """Wait until a storage can be written."""
    end = time.monotonic() + seconds
    while True:
        try:
            storage.try_writing()
            return
        except StorageFailed:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_a_second_process_is_refused_or_waits_and_takes_over(storage, store_url):
    policy = storage.create_policy("a", b"{}", 0.0).id
    with pytest.raises(InUse, match="store must not be in use"):
        PostgresStorage(store_url)
    opened = []
    waiting = threading.Thread(target=lambda: opened.append(PostgresStorage(store_url, waits=True)))
    waiting.start()
    put(storage, policy, b"x")
    time.sleep(0.7)
    assert opened == []
    storage.close()
    waiting.join(30)
    (other,) = opened
    assert other.owners == (storage.owners[1], other.owners[1])
    put(other, policy, b"y")
    assert list(other.events(policy)) == [(1, b"x"), (2, b"y")]
    other.close()


def test_one_that_waits_goes_on_waiting_while_the_server_is_gone(storage, postgres, store_url):
    opened = []
    waiting = threading.Thread(target=lambda: opened.append(PostgresStorage(store_url, waits=True)))
    waiting.start()
    time.sleep(0.7)
    if postgres.is_own:
        postgres.stop()
        storage.close()
        time.sleep(0.7)
        postgres.start()
    else:
        storage.close()
    waiting.join(30)
    opened[0].try_writing()
    opened[0].close()


def test_a_connection_that_was_cut_is_made_again_if_nobody_else_wrote(storage, postgres, store_url):
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x")
    assert postgres.cut(store_url) > 0
    with pytest.raises(StorageFailed):
        put(storage, policy, b"y")
    settled(storage)
    assert storage.last(policy) == 1
    put(storage, policy, b"y")
    assert not storage.is_over
    storage.check()


def test_who_was_cut_off_while_another_wrote_can_write_no_more(storage, postgres, store_url):
    policy = storage.create_policy("a", b"{}", 0.0).id
    storage.writer._turn.acquire()  # it is frozen: no sign of life
    try:
        postgres.cut(store_url, only="owner")
        other = PostgresStorage(store_url, waits=True)
        put(other, policy, b"by the other")
        other.close()
    finally:
        storage.writer._turn.release()
    for _ in range(3):
        with pytest.raises(StorageFailed):
            storage.commit(Batch(events=[(policy, 2, b"late")]))
    assert storage.is_over
    assert list(storage.events(policy)) == [(1, b"by the other")]


def test_a_process_behind_a_blocked_socket_fails_and_another_takes_over(
    proxied, store_url, monkeypatch
):
    monkeypatch.setitem(postgres_writer._SETTINGS, "idle_session_timeout", 1500)
    monkeypatch.setattr(postgres_writer, "PATIENCE", 1.0)
    monkeypatch.setattr(postgres_writer, "_BEAT", 0.2)
    proxy, url = proxied
    blocked = PostgresStorage(url)
    policy = blocked.create_policy("a", b"{}", 0.0).id
    put(blocked, policy, b"x")
    batch = Batch(events=[(policy, 2, b"lost")])
    proxy.block()
    with pytest.raises(StorageFailed):
        blocked.commit(batch)
    other = PostgresStorage(store_url, waits=True)  # when the server has given the first one up
    put(other, policy, b"y")
    proxy.unblock()
    for _ in range(600):
        with pytest.raises(StorageFailed):
            blocked.commit(batch)
        if blocked.is_over:
            break
        time.sleep(0.05)
    assert blocked.is_over  # though the other still holds the lock
    other.close()
    assert list(blocked.events(policy)) == [(1, b"x"), (2, b"y")]
    blocked.close()


def test_a_process_that_is_cut_off_in_the_middle_of_a_message_is_given_up(
    proxied, store_url, monkeypatch
):
    monkeypatch.setattr(postgres_writer, "_LONGEST_TRANSACTION", 2000)
    monkeypatch.setattr(postgres_writer, "PATIENCE", 1.0)
    proxy, url = proxied
    blocked = PostgresStorage(url)
    with blocked.writer.transaction() as db:
        if db.info.server_version < 170_000:
            pytest.skip("older servers have no limit for transactions")
    policy = blocked.create_policy("a", b"{}", 0.0).id
    proxy.cuts = lambda data: "block" if b"INSERT INTO events" in data else None
    with pytest.raises(StorageFailed):
        put(blocked, policy, bytes(1_000_000))
    start = time.monotonic()
    other = PostgresStorage(store_url, waits=True)
    assert time.monotonic() - start < 30
    assert other.last(policy) == 0
    other.close()
    proxy.unblock()
    blocked.close()


def test_an_owner_that_does_nothing_stays_the_owner(store_url, monkeypatch):
    monkeypatch.setitem(postgres_writer._SETTINGS, "idle_session_timeout", 1000)
    monkeypatch.setattr(postgres_writer, "_BEAT", 0.2)
    storage = PostgresStorage(store_url)
    time.sleep(2.5)
    storage.try_writing()
    with pytest.raises(InUse):
        PostgresStorage(store_url)
    storage.close()
