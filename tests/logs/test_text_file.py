"""Text files: separators, packings and columns."""

import gzip

import numpy as np
import polars as pl
import pytest
from support.log_sources import assert_same_sums
from support.messy_logs import HEADER, ROLES, as_text, rows_of, write

import hierbandits as hb
from hierbandits.logs.text_file import is_text_file, separator_of

COLUMNS = hb.Columns(**ROLES)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "LOG.TSV.GZ"])
def test_separators_are_told_by_the_header_and_files_may_be_packed(name, separator, tmp_path):
    rows = rows_of(np.random.default_rng(0), 50)
    plain = hb.Log.read(write(tmp_path / "plain.csv", as_text(rows)), COLUMNS).sums()
    text = as_text(rows, separator)
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if "gz" in name.lower() else text.encode())
    assert separator_of(str(path)) == separator
    assert_same_sums(hb.Log.read(path, COLUMNS).sums().sums, plain.sums)
    given = hb.Reading(separator=separator)
    assert_same_sums(hb.Log.read(path, COLUMNS, reading=given).sums().sums, plain.sums)
    other = hb.Reading(separator="#")
    with pytest.raises(ValueError, match="columns must be in the log, got 'store'"):
        hb.Log.read(path, COLUMNS, reading=other)


def test_zstandard_is_read_too(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow

    text = as_text(rows_of(np.random.default_rng(1), 50)).encode()
    with pyarrow.CompressedOutputStream(str(tmp_path / "log.csv.zst"), "zstd") as file:
        file.write(text)
    assert hb.Log.read(tmp_path / "log.csv.zst", COLUMNS).sums().num_rows == 50


def test_a_separator_inside_quotes_separates_nothing(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('"store, or shop; a|b;c;d";promo;revenue\ns;a;1\n')
    assert separator_of(str(path)) == ";"
    log = hb.Log.read(
        path, hb.Columns(task="store, or shop; a|b;c;d", arm="promo", reward="revenue")
    )
    assert log.sums().num_rows == 1


def test_decimal_commas_and_a_byte_order_mark(tmp_path):
    rows = rows_of(np.random.default_rng(2), 60)
    plain = hb.Log.read(write(tmp_path / "plain.csv", as_text(rows)), COLUMNS).sums()
    for row in rows:
        row[3], row[5] = row[3].replace(".", ","), row[5].replace(".", ",")
    path = tmp_path / "log.csv"
    path.write_bytes(as_text(rows, ";").encode("utf-8-sig"))
    with pytest.raises(ValueError, match=r"reward must be a number .*decimal=','.* at row 0$"):
        hb.Log.read(path, COLUMNS).sums()
    read = hb.Log.read(path, COLUMNS, reading=hb.Reading(decimal=","))
    assert_same_sums(read.sums().sums, plain.sums)
    inspection = hb.inspect(path, **ROLES)
    assert inspection.suggested == hb.Reading(decimal=",")
    assert "--decimal=," in inspection.commands[0]


def test_names_of_text_files():
    assert all(map(is_text_file, ("a.csv", "a.CSV.gz", "a.tsv", "a.tsv.zst")))
    assert not any(map(is_text_file, ("a.parquet", "a.txt", "a.gz", "csv", "a.csv.bz2")))


def test_columns_may_come_in_any_order_in_many_files(tmp_path):
    rows = rows_of(np.random.default_rng(3), 90)
    whole = hb.Log.read(write(tmp_path / "whole.csv", as_text(rows)), COLUMNS).sums()
    folder = tmp_path / "parts"
    folder.mkdir()
    order = [3, 0, 6, 5, 1, 2, 4]
    turned = [[row[place] for place in order] for row in rows[30:60]]
    longer = as_text([[*row, "new"] for row in rows[60:]], header=[*HEADER, "x"])
    parts = [
        write(folder / "1.csv", as_text(rows[:30])),
        write(folder / "2.csv", as_text(turned, ";", [HEADER[place] for place in order])),
        write(folder / "3.csv.gz", longer),
    ]  # fmt: skip
    for source in (folder, str(folder), str(folder / "*.csv*"), parts, [str(p) for p in parts]):
        log = hb.Log.read(source, COLUMNS, batch_rows=7)
        assert_same_sums(log.sums().sums, whole.sums)
        assert [d for b in log.batches() for d in b.decisions.tolist()] == [r[0] for r in rows]
    (folder / "1.csv").write_text("id,store,promo,revenue,day\nd0,s,none,1,2024-03-14\n")
    with pytest.raises(ValueError, match=r"propensity must not be missing, .* at row 0$"):
        hb.Log.read(folder, COLUMNS).sums()
    frame = pl.DataFrame({"id": ["a"]})
    frame.write_parquet(folder / "4.parquet")
    with pytest.raises(ValueError, match=r"files must be of one kind, got .*csv' and .*parquet'"):
        hb.Log.read(folder, COLUMNS)
