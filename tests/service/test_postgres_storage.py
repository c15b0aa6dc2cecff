"""A ledger in PostgreSQL: commits whose outcome nobody hears, and backups."""

import time

import pytest
from support.socket_proxy import SocketProxy, through
from support.stores import put

from hierbandits.service import postgres_writer
from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.storage import Batch, NotOurs, StorageFailed


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_that_is_cut_off_is_there_once_or_not_at_all(
    store_url, postgres, tmp_path, monkeypatch, when
):
    monkeypatch.setitem(postgres_writer._SETTINGS, "idle_in_transaction_session_timeout", 1500)
    if not postgres.is_own:
        pytest.skip("the socket of another server is not known")
    with SocketProxy(tmp_path, postgres.socket_folder) as proxy:
        storage = PostgresStorage(through(store_url, tmp_path))
        policy = storage.create_policy("a", b"{}", 0.0).id
        put(storage, policy, b"x")
        batch = Batch(events=[(policy, 2, b"y")], ids=[(policy, "id", 2, 0)])
        cuts = iter([when])
        proxy.cuts = lambda data: next(cuts, None) if b"COMMIT" in data else None
        with pytest.raises(StorageFailed):
            storage.commit(batch)
        assert next(cuts, None) is None
        write_again(storage)
        if when == "after":
            assert storage.last(policy) == 2
            with pytest.raises(StorageFailed, match="must come after event 2"):
                storage.commit(batch)
        else:
            assert storage.last(policy) == 1
            storage.commit(batch)
        assert list(storage.events(policy)) == [(1, b"x"), (2, b"y")]
        storage.check()
        storage.close()


def write_again(storage):
    """Wait until the server has given up the connection that was cut."""
    for _ in range(600):
        try:
            storage.try_writing()
            return
        except StorageFailed:
            time.sleep(0.05)
    raise AssertionError("the storage cannot be written any more")


def test_a_backup_is_left_to_programs_of_the_server(store_url, tmp_path):
    storage = PostgresStorage(store_url)
    with pytest.raises(NotOurs, match="use pg_dump"):
        storage.backup(str(tmp_path / "copy.db"))
    storage.close()
