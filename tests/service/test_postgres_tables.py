"""Tables of a database: steps forward, one program at a time, while older programs work."""

import threading

import psycopg
import pytest
from support.stores import put

from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.postgres_tables import MIGRATIONS, Migration, check_tables, migrate
from hierbandits.service.store_url import StoreUrl

LAST = MIGRATIONS[-1].number
MORE = Migration(LAST + 1, 1, "ALTER TABLE events ADD COLUMN note text NOT NULL DEFAULT ''")
BREAKING = Migration(LAST + 1, LAST + 1, "ALTER TABLE events RENAME COLUMN data TO content")


@pytest.fixture
def connected(store_url):
    with StoreUrl(store_url).connect() as connection:
        yield connection


def steps(connection):
    return [row[0] for row in connection.execute("SELECT number FROM migrations ORDER BY number")]


def test_programs_that_start_at_once_make_the_tables_once(store_url, connected):
    errors = []

    def start():
        try:
            with StoreUrl(store_url).connect() as own:
                migrate(own)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert steps(connected) == [one.number for one in MIGRATIONS]
    migrate(connected)
    assert check_tables(connected) == LAST


def test_an_older_program_works_on_while_a_newer_one_adds_to_the_tables(store_url, connected):
    old = PostgresStorage(store_url)
    policy = old.create_policy("a", b"{}", 0.0).id
    stop, failed, number = threading.Event(), [], 0

    def work():
        nonlocal number
        try:
            while not stop.is_set():
                put(old, policy, b"x")
                number += 1
        except Exception as error:
            failed.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    while number < 5:
        assert not failed
    migrate(connected, [*MIGRATIONS, MORE])
    reached = number
    while number < reached + 5:
        assert not failed
    stop.set()
    worker.join()
    assert failed == []
    assert old.last(policy) == number
    old.check()
    old.close()
    again = PostgresStorage(store_url)  # an old program that starts after the step
    put(again, policy, b"y")
    again.close()
    new = PostgresStorage(store_url, migrations=[*MIGRATIONS, MORE])
    assert new.last(policy) == number + 1
    new.close()


def rows_of(connection, sql):
    return connection.execute(sql).fetchall()


def test_indexes_are_made_while_others_write_and_again_if_one_was_left_half_made(
    store_url, connected
):
    migrate(connected)
    indexed = Migration(LAST + 1, 1, "SELECT 1", {"events_by_data": "events (data)"})
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'events_by_data'::regclass"
    with StoreUrl(store_url).connect() as other, StoreUrl(store_url).connect() as third:
        other.execute("BEGIN")
        other.execute("INSERT INTO events VALUES (1, 1, 'x', 'y')")
        errors, threads = [], []

        def take():
            try:
                with StoreUrl(store_url).connect(lock_timeout=200) as own:
                    migrate(own, [*MIGRATIONS, indexed])
            except Exception as error:
                errors.append(error)

        for _ in range(2):
            threads.append(threading.Thread(target=take))
            threads[-1].start()
        while rows_of(third, "SELECT to_regclass('events_by_data')") == [(None,)]:
            assert errors == []
        third.execute("INSERT INTO events VALUES (1, 2, 'x', 'y')")  # nobody waits who writes
        other.execute("INSERT INTO events VALUES (1, 3, 'x', 'y')")
        assert steps(third)[-1] == LAST  # it is not there yet
        other.execute("COMMIT")
        for thread in threads:
            thread.join()
    assert errors == []
    assert rows_of(connected, valid) == [(True,)]
    connected.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = "
                      "'events_by_data'::regclass")  # fmt: skip
    connected.execute(f"DELETE FROM migrations WHERE number = {LAST + 1}")
    migrate(connected, [*MIGRATIONS, indexed])
    assert rows_of(connected, valid) == [(True,)]
    assert rows_of(connected, "SHOW lock_timeout") == [("0",)]


def test_a_program_that_is_too_old_is_refused(store_url, connected):
    migrate(connected, [*MIGRATIONS, BREAKING])
    with pytest.raises(ValueError, match=f"must know step {LAST + 1}: use a newer hierbandits"):
        PostgresStorage(store_url)


def test_a_step_that_fails_leaves_nothing(connected):
    wrong = Migration(LAST + 1, 1, "CREATE TABLE half (x integer); SELECT 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(connected, [*MIGRATIONS, wrong])
    assert steps(connected) == [one.number for one in MIGRATIONS]
    assert connected.execute("SELECT to_regclass('half')").fetchone() == (None,)
    migrate(connected, [*MIGRATIONS, MORE])
    assert steps(connected)[-1] == MORE.number


def test_steps_are_numbered_in_order_and_never_ask_for_more_than_themselves():
    assert [one.number for one in MIGRATIONS] == list(range(1, LAST + 1))
    assert all(1 <= one.oldest <= one.number for one in MIGRATIONS)
