"""Addresses of databases: what is refused, and what nobody is shown."""

import secrets

import psycopg
import pytest

from hierbandits.service.storage import StorageDamaged, StorageFailed
from hierbandits.service.store_url import SCHEMA, StoreUrl

SECRET = "pa/ss wörd"
URL = "postgresql://ann:pa%2Fss%20w%C3%B6rd@db.example:6432/shop?sslpassword=other-secret"


def test_an_address_is_shown_without_user_and_secrets():
    url = StoreUrl(URL)
    assert str(url) == "postgresql://db.example:6432/shop"
    assert "secret" not in repr(url) + str(url)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://ann:hidden@host/db",
        "postgresql://ann:hidden@[::1/db",
        "postgresql://ann:hidden@host/db?unknown=1",
        "postgresql://ann:hidden@host/db?password",
        "hidden",
        "",
    ],
)
def test_a_wrong_address_is_refused_and_not_shown(text):
    with pytest.raises(ValueError, match="store must be an address such as") as raised:
        StoreUrl(text)
    assert "hidden@" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_secrets_are_hidden_in_every_form():
    url = StoreUrl(URL)
    text = f"{SECRET}; pa%2Fss%20w%C3%B6rd; pa/ss%20w%C3%B6rd; other-secret; db.example"
    assert url.hide(text) == "***; ***; ***; ***; db.example"


def test_a_server_that_is_not_there_is_a_failure_without_secrets(tmp_path):
    url = StoreUrl(f"postgresql://ann:hush@/shop?host={tmp_path}")
    with pytest.raises(StorageFailed, match="cannot be read or written") as raised:
        url.connect()
    assert "hush" not in str(raised.value)


def test_damage_is_told_from_failure():
    url = StoreUrl("postgresql://host/db")
    with pytest.raises(StorageDamaged, match="page 7"), url.faults():
        raise psycopg.errors.DataCorrupted("invalid page 7")
    with pytest.raises(StorageFailed, match="no space"), url.faults():
        raise psycopg.errors.DiskFull("no space left")
    with pytest.raises(KeyError), url.faults():
        raise KeyError


def test_rows_are_in_no_words_of_a_failure(store_url):
    url = StoreUrl(store_url)
    with url.connect() as connection:
        connection.execute("CREATE TEMP TABLE x (task text PRIMARY KEY CHECK (task <> 'bob'))")
        connection.execute("INSERT INTO x VALUES ('ada')")
        for task in ("ada", "bob"):
            with pytest.raises(StorageFailed, match="violates") as raised, url.faults():
                connection.execute("INSERT INTO x VALUES (%s)", (task,))
            assert task not in str(raised.value)


def test_settings_and_those_of_the_address_reach_the_server(store_url):
    url = StoreUrl(store_url + "&options=-c%20work_mem%3D7MB")
    with url.connect(lock_timeout=1234) as connection:
        shown = [
            connection.execute(f"SHOW {name}").fetchone()[0]
            for name in ("work_mem", "lock_timeout", "search_path", "application_name")
        ]
    assert shown == ["7MB", "1234ms", "hierbandits", "hierbandits"]


def test_a_right_that_is_missing_is_named(postgres, store_url):
    name = f"poor_{secrets.token_hex(4)}"
    with psycopg.connect(store_url, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {SCHEMA}")
        db.execute(f"CREATE TABLE {SCHEMA}.migrations (number int, oldest int)")
        db.execute(f"CREATE ROLE {name}")
    try:
        url = StoreUrl(f"{store_url}&options=-c%20role%3D{name}")
        with url.connect() as db:
            for sql in ("SELECT * FROM migrations", "CREATE TABLE more (a int)"):
                words = f"right USAGE on the schema {SCHEMA}"
                with pytest.raises(StorageFailed, match=words), url.faults():
                    db.execute(sql)
            with psycopg.connect(store_url, autocommit=True) as admin:
                admin.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {name}")
            for sql in ("SELECT * FROM migrations", "CREATE TABLE more (a int)"):
                words = "rights USAGE and CREATE on the schema"
                with pytest.raises(StorageFailed, match=words), url.faults():
                    db.execute(sql)
    finally:
        with psycopg.connect(store_url, autocommit=True) as db:
            db.execute(f"DROP OWNED BY {name}")
            db.execute(f"DROP ROLE {name}")
