"""What a report says of its log."""

from hashlib import sha256
from pathlib import Path

import polars as pl

from hierbandits.logs import Columns, Log
from hierbandits.logs.origin import facts_of_files, origin_of
from hierbandits.reporting import provenance

FRAME = pl.DataFrame({"store": ["a", "b"], "promo": ["x", "y"], "revenue": [1.0, 2.0]})
COLUMNS = Columns(task="store", arm="promo", reward="revenue")


def test_a_log_of_a_file_names_it_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_parquet("log.parquet")
    made_from = Log.read("log.parquet", COLUMNS).made_from()
    assert made_from["log"] == "log.parquet"  # and not where it lies
    assert str(tmp_path) not in str(made_from)
    assert made_from["columns"] == {"task": "store", "reward": "revenue", "arm": "promo"}
    (facts,) = made_from["files"]
    content = (tmp_path / "log.parquet").read_bytes()
    assert facts["name"] == "log.parquet"
    assert facts["sha256"] == sha256(content).hexdigest()
    assert facts["bytes"] == len(content)


def test_a_pattern_names_all_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv", "c.txt"):
        FRAME.write_csv(name)
    made_from = Log.read("*.csv", COLUMNS).made_from()
    assert made_from["log"] == "*.csv"
    assert [facts["name"] for facts in made_from["files"]] == ["a.csv", "b.csv"]


def test_digests_are_computed_until_so_much_was_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_bytes(b"12345" if name != "b.csv" else b"1" * 100)
    monkeypatch.setattr("hierbandits.logs.origin.MOST_BYTES", 12)
    files = ["a.csv", "b.csv", "c.csv"]
    digests = [facts["sha256"] is not None for facts in facts_of_files(files)]
    assert digests == [True, False, True]
    assert provenance.MOST_BYTES > 12


def test_a_frame_has_no_files():
    made_from = Log.read(FRAME, COLUMNS).made_from()
    assert (made_from["log"], made_from["files"]) == ("a polars DataFrame", [])
    assert origin_of(FRAME.lazy()) == "a polars LazyFrame"
    assert origin_of({"task": []}) == "a dict"


def test_a_folder_and_a_list_name_all_their_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    for name in ("logs/b.csv", "logs/a.csv", "c.csv"):
        FRAME.write_csv(name)
    folder = Log.read("logs", COLUMNS).made_from()
    assert folder["log"] == "logs"
    assert [facts["name"] for facts in folder["files"]] == ["logs/a.csv", "logs/b.csv"]
    several = Log.read([Path("c.csv"), "logs"], COLUMNS).made_from()
    assert several["log"] == "c.csv, logs"
    names = [facts["name"] for facts in several["files"]]
    assert names == ["c.csv", "logs/a.csv", "logs/b.csv"]


def test_features_are_listed():
    frame = FRAME.with_columns(x=1.0, y=2.0)
    log = Log.read(frame, Columns(task="store", features=["x", "y"], reward="revenue"))
    named = {"task": "store", "reward": "revenue", "features": ["x", "y"]}
    assert log.made_from()["columns"] == named
