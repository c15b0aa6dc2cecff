"""Connections of a worker: transactions wholly or not at all, and new ones for those lost."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from support.postgres_servers import database_of

from hierbandits.service import postgres_writer, shared_links
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.storage import StorageFailed


@pytest.fixture
def links(store_url):
    own = SharedLinks(store_url)
    yield own
    own.close()


def mark(db, name):
    db.execute("INSERT INTO documents (name, data, change) VALUES (%s, '', 0)", (name,))


def fail_after(links, name, fail):
    """Write a name, and then fail before the end of the transaction."""
    with links.transaction() as db:
        mark(db, name)
        fail()


def names(links):
    return [row[0] for row in links.read("SELECT name FROM documents ORDER BY name")]


def test_what_fails_has_not_happened_and_its_connection_is_gone(links):
    with links.transaction() as db:
        mark(db, "a")
    first = db
    with pytest.raises(KeyError):
        fail_after(links, "b", {}.popitem)
    assert names(links) == ["a"]
    assert first.closed
    with pytest.raises(StorageFailed, match="duplicate key"), links.transaction() as db:
        mark(db, "a")


def test_connections_that_were_cut_at_rest_are_made_anew(links, postgres, store_url):
    with links.transaction(100.0) as db:
        mark(db, "a")
    assert postgres.cut(store_url) == 1
    with links.transaction() as db:
        mark(db, "b")
    assert names(links) == ["a", "b"]


def test_who_is_cut_off_in_the_middle_hears_of_it(links, postgres, store_url):
    with pytest.raises(StorageFailed):
        fail_after(links, "a", lambda: postgres.cut(store_url))
    assert names(links) == []


def test_transactions_of_two_threads_have_connections_of_their_own(links):
    with links.transaction() as one, links.transaction() as two:
        assert one is not two
    with links.transaction() as db:
        assert db in (one, two)


def connections(postgres, url):
    sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    with postgres.admin() as admin:
        return admin.execute(sql, (database_of(url),)).fetchone()[0]


def set_default(postgres, url, words):
    with postgres.admin() as admin:
        admin.execute(f"ALTER DATABASE {database_of(url)} {words}")


@contextmanager
def limited(url, bound):
    """Connections of which there are few, and nobody waits for long."""
    own = SharedLinks(url, bound, patience=0.2)
    try:
        yield own
    finally:
        own.close()


@contextmanager
def used_elsewhere(links, longest=20.0):
    """A transaction in another thread."""
    has_begun, may_end = threading.Event(), threading.Event()

    def hold():
        with links.transaction(longest):
            has_begun.set()
            may_end.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert has_begun.wait(30)
        yield
    finally:
        may_end.set()
        holder.join()


def test_a_long_transaction_may_take_longer_than_the_server_allows_others(store_url, monkeypatch):
    monkeypatch.setattr(postgres_writer, "_LONGEST_TRANSACTION", 200)
    with limited(store_url, 1) as links:
        for name in ("a", "b"):
            with links.transaction(100.0) as db:
                db.execute("SELECT pg_sleep(0.5)")
                mark(db, name)
        assert names(links) == ["a", "b"]
        if db.info.server_version >= 170_000:
            with pytest.raises(StorageFailed, match="timeout"), links.transaction() as db:
                db.execute("SELECT pg_sleep(0.5)")


def test_who_finds_all_connections_in_use_waits_for_one_and_not_for_ever(store_url, postgres):
    with limited(store_url, 2) as links:
        with used_elsewhere(links):
            with used_elsewhere(links):
                for use in (links.transaction().__enter__, lambda: names(links)):
                    with pytest.raises(StorageFailed, match="all connections"):
                        use()
            assert names(links) == []
        links._patience = 30.0
        with ThreadPoolExecutor(20) as threads:
            list(threads.map(lambda i: fail_after(links, f"{i}", lambda: None), range(40)))
        assert len(names(links)) == 40
        assert connections(postgres, store_url) <= 2


def test_a_thread_that_has_a_connection_does_not_wait_for_another(store_url):
    with limited(store_url, 1) as links:
        with links.transaction() as db:
            mark(db, "a")
            assert names(links) == []
        assert names(links) == ["a"]


def test_whole_logs_leave_connections_to_others(store_url):
    with limited(store_url, 2) as links, used_elsewhere(links, LONG):
        with pytest.raises(StorageFailed, match="all connections"), links.transaction(LONG):
            pass
        assert names(links) == []


def test_connections_that_nobody_has_needed_for_long_are_closed(
    links, postgres, store_url, monkeypatch
):
    with used_elsewhere(links), used_elsewhere(links), used_elsewhere(links):
        pass
    assert connections(postgres, store_url) == 3
    monkeypatch.setattr(shared_links, "_REST", 0.0)
    names(links)
    deadline = time.monotonic() + 30
    while connections(postgres, store_url) > 1:
        assert time.monotonic() < deadline
        names(links)


def test_tables_that_have_become_too_new_are_no_fault_of_who_asks(links, store_url):
    with links.transaction() as db:
        db.execute("INSERT INTO migrations (number, oldest) VALUES (99, 99)")
    links._let_go()
    with pytest.raises(StorageFailed, match="use a newer hierbandits"):
        names(links)
    with pytest.raises(ValueError, match="use a newer hierbandits"):
        SharedLinks(store_url)


def test_a_store_that_takes_nothing_is_seen_and_that_it_does_again(links, postgres, store_url):
    assert links.is_open()
    set_default(postgres, store_url, "SET default_transaction_read_only = on")
    links._let_go()
    assert not links.is_open()
    set_default(postgres, store_url, "RESET default_transaction_read_only")
    assert links.is_open()


def test_a_connection_that_is_given_back_late_is_closed(store_url):
    links = SharedLinks(store_url)
    with links.transaction() as db:
        links.close()
    assert db.closed
