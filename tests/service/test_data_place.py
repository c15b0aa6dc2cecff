"""A folder or a store: what opens, what processes inherit, and what nobody sees."""

from pathlib import Path

from hierbandits.service.data_place import STORE, DataPlace
from hierbandits.service.postgres_storage import PostgresStorage
from hierbandits.service.sqlite_storage import SqliteStorage

URL = "postgresql://ann:hush@host/shop"


def test_secrets_are_in_no_words_of_a_place():
    place = DataPlace(Path("data"), URL)
    assert "hush" not in f"{place} {place!r}"
    assert str(place) == "postgresql://host/shop"
    assert str(DataPlace(Path("data"))) == "data"


def test_processes_inherit_the_store_or_none(monkeypatch, tmp_path):
    monkeypatch.setenv(STORE, "postgresql://elsewhere/other")
    assert DataPlace.of_process(tmp_path).store == "postgresql://elsewhere/other"
    assert DataPlace(tmp_path, URL).environment()[STORE] == URL
    assert STORE not in DataPlace(tmp_path).environment()


def test_each_place_opens_its_own_storage_and_tokens(tmp_path, store_url):
    for place, kind in (
        (DataPlace(tmp_path), SqliteStorage),
        (DataPlace(tmp_path, store_url), PostgresStorage),
    ):
        storage, tokens = place.storage(), place.tokens()
        assert isinstance(storage, kind)
        assert place.has_ledger
        tokens.create(kind.__name__, ["read"], None, now=0.0)
        tokens.close()
        again = place.tokens()
        assert [one.name for one in again.all()] == [kind.__name__]
        again.close()
        storage.close()
    assert not DataPlace(tmp_path / "empty").has_ledger
