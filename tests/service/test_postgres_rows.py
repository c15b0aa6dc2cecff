"""Rows of a batch as columns, and keys of long names."""

import pytest
from support.stores import PostgresStore, put

from hierbandits.service.postgres_rows import columns, locked_heads, task_key
from hierbandits.service.storage import StorageFailed


def test_rows_become_columns_also_where_there_are_none():
    assert columns([(1, "a"), (2, "b")], 2) == [[1, 2], ["a", "b"]]
    assert columns([], 3) == [[], [], []]


def test_keys_of_tasks_are_short_and_different():
    tasks = ['"a"', '"b"', "1", '"1"', '"' + "x" * 10_000 + '"']
    assert len({task_key(task) for task in tasks}) == len(tasks)
    assert {len(task_key(task)) for task in tasks} == {16}


def test_heads_are_those_of_policies_that_are_there(store_url):
    store = PostgresStore(store_url)
    storage = store.open()
    policy = storage.create_policy("a", b"{}", 0.0).id
    put(storage, policy, b"x")
    with storage.writer.transaction() as db:
        assert locked_heads(db, [policy])[policy].last == 1
        with pytest.raises(StorageFailed, match="policy 5 is deleted"):
            locked_heads(db, [policy, 5])
    store.close()
