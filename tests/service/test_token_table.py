"""Tokens in a database: there before the first service is, and without any secret."""

import pytest

from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.token_book import TokenBook
from hierbandits.service.token_table import TokenTable


@pytest.fixture
def table(store_url):
    own = TokenTable(store_url)
    yield own
    own.close()


def test_the_first_token_may_come_before_the_first_service(table, store_url):
    book = TokenBook(table)
    assert (len(book), table.mark()) == (0, None)
    secret = book.create("shop", ["read"], None, now=0.0)
    storage = PostgresStorage(store_url)
    assert storage.policies() == []
    book.create("other", ["read"], None, now=0.0)  # while a service runs
    assert book.find(secret, now=1.0).name == "shop"
    storage.close()


def test_no_secret_is_kept(table):
    secret = TokenBook(table).create("shop", ["read"], None, now=0.0)
    assert secret.partition(".")[2].encode() not in table.read()


def test_a_change_that_fails_changes_nothing(table):
    book = TokenBook(table)
    book.create("shop", ["read"], None, now=0.0)
    before = table.mark(), table.read()
    with pytest.raises(ValueError, match="new token"):
        book.create("shop", ["read"], None, now=0.0)
    assert (table.mark(), table.read()) == before
