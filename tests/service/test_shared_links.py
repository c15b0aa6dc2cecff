"""Connections of a worker: transactions wholly or not at all, and new ones for those lost."""

import pytest

from hierbandits.service.shared_links import SharedLinks
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
