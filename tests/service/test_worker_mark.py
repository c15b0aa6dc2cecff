"""Workers hold a lock together, and a move holds it alone."""

import psycopg
import pytest

from hierbandits.service.postgres_writer import InUse
from hierbandits.service.worker_mark import WorkerMark


def test_workers_hold_it_together_and_a_move_alone(store_url):
    one, two = WorkerMark(store_url), WorkerMark(store_url)
    for worker in (one, two):
        with pytest.raises(InUse, match=r"no worker may serve .*: stop all workers"):
            WorkerMark(store_url, alone=True)
        worker.release()
    move = WorkerMark(store_url, alone=True)
    with pytest.raises(InUse, match="must not be served while its policies are moved"):
        WorkerMark(store_url)
    move.release()
    WorkerMark(store_url).release()


def test_a_mark_that_was_lost_is_made_anew(store_url):
    worker = WorkerMark(store_url)
    worker.keep()
    with psycopg.connect(store_url, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    worker.keep()
    with pytest.raises(InUse):
        WorkerMark(store_url, alone=True)
    worker.release()
