"""A deletion of a shared policy that waits in the middle of its transaction."""

import threading
import time
from contextlib import contextmanager

from hierbandits.service import shared_book
from hierbandits.service.postgres_tables import OF_A_SHARED_POLICY


@contextmanager
def half_deleted(book, name, after, monkeypatch):
    """The rows of a policy are gone, up to those of a table, and nobody else sees that yet."""
    is_half, may_end = threading.Event(), threading.Event()

    def tables():
        for table in OF_A_SHARED_POLICY:
            yield table
            if table == after:
                is_half.set()
                assert may_end.wait(30)

    monkeypatch.setattr(shared_book, "OF_A_SHARED_POLICY", tables())
    deleting = threading.Thread(target=book.delete, args=(name,))
    deleting.start()
    assert is_half.wait(30)
    try:
        yield may_end.set
    finally:
        may_end.set()
        deleting.join()


def outcome_meanwhile(do, links, go_on):
    """What is done in the middle of a deletion: its result or error, after it has to wait."""
    told = []

    def run():
        try:
            told.append(do())
        except Exception as error:
            told.append(error)

    doing = threading.Thread(target=run)
    doing.start()
    wait_for_a_lock(doing, links)
    go_on()
    doing.join()
    return told[0]


def wait_for_a_lock(doing, links):
    """Until what a thread does waits for others, or is done."""
    sql = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    deadline = time.monotonic() + 30
    while doing.is_alive() and links.read(sql) == [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
