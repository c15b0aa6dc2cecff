"""A file whose pages have checksums."""

import threading

import apsw
import pytest

from hierbandits.service.sqlite_file import SqliteFile, faults
from hierbandits.service.storage import StorageDamaged, StorageFailed

TABLES = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT) STRICT;"


@pytest.fixture
def file(tmp_path):
    own = SqliteFile(tmp_path / "x.db", TABLES, 3)
    yield own
    own.close()


def put(file, *numbers):
    with file.writing() as db:
        db.executemany("INSERT INTO numbers VALUES (?, 'word')", [(n,) for n in numbers])


def test_what_is_written_is_read_in_any_thread(file):
    put(file, 1, 2)
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(file.read("SELECT n FROM numbers")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[(1,), (2,)]] * 3


def test_a_transaction_happens_wholly_or_not_at_all(file):
    put(file, 1)
    with pytest.raises(apsw.ConstraintError):
        put(file, 2, 1)
    assert file.read("SELECT n FROM numbers") == [(1,)]
    put(file, 3)  # and the next one works


def test_it_is_durable_and_erases_for_good(file):
    with file.writing() as db:
        assert db.pragma("synchronous") == 2  # FULL
        assert db.pragma("journal_mode") == "wal"
        assert db.pragma("secure_delete") == 1


def test_what_is_erased_is_nowhere_in_the_folder(file, tmp_path):
    with file.writing() as db:
        db.execute("INSERT INTO numbers VALUES (1, 'a secret word')")
    with file.writing() as db:
        db.execute("DELETE FROM numbers")
    file.empty_log()
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_reader_cannot_write_and_a_read_only_file_refuses(file, tmp_path):
    with pytest.raises(StorageFailed):
        file.read("INSERT INTO numbers VALUES (9, '')")
    other = SqliteFile(tmp_path / "x.db", TABLES, 3, read_only=True)
    with pytest.raises(StorageFailed, match="open for reading only"), other.writing():
        pass
    assert other.read("SELECT * FROM numbers") == []
    other.close()


def test_tables_of_another_format_are_refused(file, tmp_path):
    file.close()
    with pytest.raises(ValueError, match="format 4, got 3"):
        SqliteFile(tmp_path / "x.db", TABLES, 4)


def test_a_changed_byte_is_seen_whenever_its_page_is_read(file, tmp_path):
    put(file, *range(2000))
    file.close()
    path = tmp_path / "x.db"
    data = bytearray(path.read_bytes())
    place = data.rindex(b"word")
    data[place] ^= 2
    path.write_bytes(data)
    again = SqliteFile(path, TABLES, 3)
    with pytest.raises(StorageDamaged, match="the database is damaged"):
        again.read("SELECT word FROM numbers")
    again.close()


def test_what_is_no_database_is_damaged(tmp_path):
    (tmp_path / "x.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StorageDamaged):
        SqliteFile(tmp_path / "x.db", TABLES, 3)


def test_a_full_disk_is_a_failure_and_passes(file):
    put(file, 1)
    with file.writing() as db:
        db.pragma("max_page_count", 3)
    with pytest.raises(StorageFailed, match="cannot be written"):
        put(file, *range(2, 5000))
    with file.writing() as db:
        db.pragma("max_page_count", 100_000)
    put(file, 2)
    assert file.read("SELECT n FROM numbers") == [(1,), (2,)]


def test_other_errors_stay_what_they_are():
    with pytest.raises(KeyError), faults():
        raise KeyError("x")


def test_an_older_format_is_brought_to_this_one(file, tmp_path):
    put(file, 1)
    file.close()
    more = "CREATE TABLE others (number INTEGER) STRICT;"
    for _ in range(2):
        newer = SqliteFile(tmp_path / "x.db", TABLES + more, 4, {3: more})
        assert len(newer.read("SELECT * FROM numbers")) == 1
        assert newer.read("SELECT * FROM others") == []
        newer.close()
    with pytest.raises(ValueError, match="format 3, got 4"):
        SqliteFile(tmp_path / "x.db", TABLES, 3)
