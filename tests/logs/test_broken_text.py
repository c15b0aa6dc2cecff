"""Text files that cannot be read: which lines are at fault."""

import gzip

import pytest

import hierbandits as hb
from hierbandits.logs.broken_text import broken_text

ERROR = ValueError("source could not be read:\n  found more fields")


def _told(source, **reading):
    return broken_text(source, hb.Reading(**reading), ERROR)


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_rows_with_too_many_cells_are_named(name, tmp_path):
    text = 'a;b\n1;2\n"x;y";2\n1;2;3\n"two\nlines";2\n\n1;2;3;4\n'
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    for problem in (_told(path), _told(str(path), separator=";")):
        assert (problem.rows, problem.count) == ((2, 4), 2)
        assert problem.remedy == "Put quotes around cells that hold a ';'."


def test_lines_that_are_not_utf_8_are_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"a,b\n1,2\n\xe9,2\n" + b"\xff,1\n" * 9)
    problem = _told(path)
    assert problem.finding == (
        "10 lines are not UTF-8: the file's lines 3, 4, 5, 6, 7, counted from 1"
    )


def test_other_damage_is_told_as_it_is(tmp_path):
    (tmp_path / "log.csv").write_text("a,b\n1,2\n")
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 999)[:30])
    for source in ("log.csv", "log.parquet", "log.csv.gz", "nowhere.csv"):
        problem = _told(tmp_path / source)
        assert problem.finding == "source could not be read: found more fields"
        assert problem.stops
    assert _told(3).rows == ()
